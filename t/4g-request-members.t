#!/usr/bin/perl

# docs/requests.md says what becomes of each member of a request: it has every
# member that the newest SDKs declare, and each does as the page says.

use strict;
use warnings;
use FindBin;
use JSON::PP ();
use Test::More;
use Provider;
use Satchel;
use Sdk;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

sub slurp {
	my ($path) = @_;
	open(my $fh, '<', $path) or die "$path: $!";
	local $/;
	return <$fh>;
}

# The rows of each route: {member => [fate, example]}.
my (%rows, $route);
for (split /\n/, slurp("$FindBin::Bin/../docs/requests.md")) {
	$route = $1 if m{^## (/v1/\S+)};
	next unless /^\| `(\w+)` \| (\w+) \| `(.*?)` \|/;
	ok(!$rows{$route}{$1}, "$route: $1 stands once");
	$rows{$route}{$1} = [$2, $json->decode($3)];
}

# The members that the types of an SDK declare, but for its headers.
sub declared {
	my ($file, $type) = @_;
	my $text = slurp("$Sdk::dir/node_modules/$file");
	my ($body) = $text =~ /^export interface \Q$type\E \{\n(.*?)^\}/ms
	    or die("$file: no $type");
	my @all;
	for (split m{^ {4}(?=/\*\*)}m, $body) {
		push @all, /^ {4}(\w+)\??:/m unless /Header param/;
	}
	return @all;
}
for (['/v1/messages', 'anthropic-1-14/resources/messages/messages.d.ts',
    'MessageCreateParamsBase'], ['/v1/messages',
    'anthropic-1-14/resources/beta/messages/messages.d.ts',
    'MessageCreateParamsBase'], ['/v1/responses',
    'openai-7/resources/responses/responses.d.ts',
    'ResponseCreateParamsBase'], ['/v1/chat/completions',
    'openai-7/resources/chat/completions/completions.d.ts',
    'ChatCompletionCreateParamsBase']) {
	my ($route, @where) = @$_;
	my @all = declared(@where);
	cmp_ok(scalar(@all), '>', 15, "$where[0]: its members");
	is_deeply([grep { !$rows{$route}{$_} } @all], [],
	    "$route: each of them has a row");
}

my $p = Provider->new(script => { models => { m => [{ text => 'ok' }] } });
my $s = Satchel->new(providers => $p->yaml('open', 'openai-chat')
    . $p->yaml('resp', 'openai-responses'));
for my $route (sort keys %rows) {
	my $chat = $route =~ /chat/;
	my %base = (model => $chat ? 'resp:m' : 'open:m', $route eq
	    '/v1/responses' ? (input => 'x') : (messages =>
	    [{ role => 'user', content => 'x' }]), $route eq '/v1/messages' ?
	    (max_tokens => 9) : ());
	for my $member (sort keys %{ $rows{$route} }) {
		my ($fate, $example) = @{ $rows{$route}{$member} };
		my %with = ($member => $member eq 'model' ? $base{model}
		    : $example);
		$with{tools} = $rows{$route}{tools}[1] if $member eq 'tool_choice';
		$with{functions} = $rows{$route}{functions}[1]
		    if $member eq 'function_call';
		$p->forget;
		my $r = $s->post($route, ant => $route eq '/v1/messages', json =>
		    { %base, %with });
		my $e = $r->{json}{error};
		is($r->{status}, $fate eq 'refused' ? 400 : 200,
		    "$route: $member is $fate") or diag($r->{body});
		is(scalar($p->requests), $fate eq 'refused' ? 0 : 1,
		    '... and whether a model is asked');
		like($e->{message}, qr/^$member\b/, '... by its name')
		    if $fate eq 'refused';
		my $null = $s->post($route, ant => $route eq '/v1/messages',
		    json => { %base, $member => undef });
		is($null->{status}, 200, '... null is absent')
		    if !exists $base{$member};
	}
}

# What the SDK of Anthropic needs to send whole histories instead.
my $r = $s->post('/v1/messages', ant => 1, json => { model => 'open:m',
    max_tokens => 9, messages => [{ role => 'user', content => 'x' }],
    thread => { type => 'continue', previous_message_id => 'msg_gw_1' } });
is_deeply($r->{json}{error}{details}, { error_code =>
    'thread_unsupported_request', unsupported => ['thread'] },
    'a thread: what is not supported');

# What has no conversation is not worth a provider's round.
$p->forget;
for (['/v1/chat/completions', { model => 'open:m' }], ['/v1/chat/completions',
    { model => 'open:m', messages => [] }], ['/v1/chat/completions',
    { model => 'open:m', messages => 'x' }], ['/v1/messages',
    { model => 'open:m', max_tokens => 9 }]) {
	$r = $s->post($_->[0], ant => $_->[0] eq '/v1/messages', json => $_->[1]);
	is($r->{status}, 400, "$_->[0]: no messages: "
	    . $json->encode($_->[1]{messages}));
	like($r->{json}{error}{message}, qr/^messages: /, '... by their name');
}
is(scalar($p->requests), 0, '... and nobody is asked');
$s->done;
done_testing();
