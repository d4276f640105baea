#!/usr/bin/perl

# What the log says of a provider that answers with an error, and of the model
# requests that were answered: enough to know where to look.

use strict;
use warnings;
use JSON::PP ();
use Test::More;
use Provider;
use Satchel;

my $long = 'words ' x 100;
my %sse = (type => 'text/event-stream', body => 'data: {"choices":[{"index":0,'
    . '"delta":{"content":"Hi"},"finish_reason":null}]}' . "\n\n");
my $p = Provider->new(script => { models => {
	bad => [{ status => 500, body => '{"error":{"message":"' . $long
	    . '"}}' }],
	html => [{ type => 'text/html', body => '<html>Welcome to nginx' }],
	secret => [{ status => 401, body =>
	    '{"error":{"message":"Wrong key upstream-secret"}}' }],
	inside => [{ %sse, body => 'data: {"error":{"message":"no slot",'
	    . '"code":503}}' . "\n\n" }],
	ends => [{ %sse }], cut => [{ %sse, cut => 1 }],
	closes => [{ close => 1 }],
	fine => [{ text => 'Yes.', usage => { prompt_tokens => 9,
	    completion_tokens => 2 } }],
	'llama3:8b' => [{ text => 'Yes.' }], 'named:1' => [{ text => 'Yes.' }],
	runs => [{ calls => [{ name => 'code_execution', arguments => { code =>
	    'print(1)' } }] }, { text => 'One.' }],
} });
my $dead = Provider::dead_port();
my $s = Satchel->new(providers => $p->yaml('chat', 'openai-chat') . "  - name: gone\n    wire: openai-chat\n    models: [\"g*\"]\n"
    . "    base_url: http://127.0.0.1:$dead/v1\n"
    . $p->yaml('other', 'openai-chat', models => '["named:1", "*"]'));

# The lines that asking ${model} over ${route} has made, besides access ones.
sub lines {
	my ($route, $model, $stream) = @_;
	my $before = () = $s->log;
	$s->post("/v1/$route", ant => $route eq 'messages', json => { model =>
	    $model, max_tokens => 50, stream => $stream ? JSON::PP::true :
	    JSON::PP::false, messages => [{ role => 'user', content => 'Go.' }]
	    }, timeout => 30);
	my @all = $s->log;
	return grep { $_->{level} ne 'access' } @all[$before .. $#all];
}
my $where = quotemeta($p->url);
my %want = (bad => qr/status 500 .*words/, html => qr/status 200 .*<html>Welcome/,
    secret => qr/status 401/, inside => qr/status 200 .*no slot/,
    ends => qr/status 200 .*Hi/, cut => qr/partial file/,
    closes => qr/returned nothing/);
for my $route ('messages', 'chat/completions') {
	for my $model (sort(keys(%want))) {
		for my $stream (0, 1) {
			next if !$stream && $model =~ /^(?:ends|cut|inside)$/;
			my @l = lines($route, "chat:$model", $stream);
			is(scalar(@l), 1, "$route: $model: one line")
			    or diag(explain(\@l));
			is($l[0]{level}, 'warn', '... a warning');
			my $msg = $l[0]{msg};
			like($msg, qr{^upstream\ chat:\ $where/chat/completions:
			    \ .*after\ \d+\ ms}x, '... provider, URL, time');
			like($msg, $want{$model}, '... and what it was');
			unlike($msg, qr/upstream-secret/,
			    '... no credential');
			like($l[0]{request}, qr/^req_/, '... of that request');
			next if $model ne 'bad';
			my ($words) = $msg =~ / ms: (.*)/s;
			is(length($words), 200, '... 200 bytes of its words');
		}
	}
}
my @l = lines('messages', 'gone:gx');
is(scalar(@l), 1, 'a provider that cannot be reached: one line');
like($l[0]{msg}, qr{^upstream gone: http://127\.0\.0\.1:$dead/v1/chat/completions},
    '... that names it');

# --- the list of models ---

for (1 .. 4) { $s->get('/v1/models') }
@l = grep { $_->{msg} =~ m{/models} } grep { $_->{level} eq 'warn' } $s->log;
is(scalar(grep { $_->{msg} =~ /^upstream gone: / } @l), 1,
    'a list that cannot be had: one line a minute');

# --- names with a colon ---

for (1 .. 3) {
	is($s->post('/v1/chat/completions', json => { model => 'llama3:8b',
	    messages => [{ role => 'user', content => 'Go.' }] })->{status}, 200,
	    'a prefix that names no provider');
}
is(($p->requests)[-1]{json}{model}, 'llama3:8b', '... is part of the name');
is(scalar(grep { ($_->{msg} // '') =~ /no provider is called llama3/ } $s->log),
    1, '... which the log says once a minute');

# --- access lines ---

sub access {
	my ($route, %body) = @_;
	$s->post("/v1/$route", ant => $route eq 'messages', json => { max_tokens
	    => 50, messages => [{ role => 'user', content => 'Go.' }], %body },
	    timeout => 60);
	return (grep { $_->{level} eq 'access' } $s->log)[-1];
}
my $a = access('chat/completions', model => 'chat:fine');
is_deeply([@$a{qw(model provider user input_tokens output_tokens runs)}],
    ['chat:fine', 'chat', 'alice', 9, 2, 0], 'the access line of a request');
ok(defined($a->{workspace}) && $a->{upstream_ms} =~ /^\d+$/,
    '... its workspace, and the time of the provider');
$a = access('messages', model => 'chat:runs', tools => [{ type =>
    'code_execution_20250825', name => 'code_execution' }]);
is($a->{runs}, 1, '... its runs');
$s->get('/v1/files');
$a = (grep { $_->{level} eq 'access' } $s->log)[-1];
is_deeply([$a->{user}, exists($a->{model}) ? 1 : 0], ['alice', 0],
    'one without a model');
$s->done;
done_testing();
