#!/usr/bin/perl

# The decision table of the executor's contract (1.3) row by row, over the
# dialects that a declaration can come in, and its refusals (1.4).

use strict;
use warnings;
use JSON::PP ();
use Test::More;
use Provider;
use Satchel qw(header);

my %models = (
	m => [{ calls => [{ name => 'code_execution', arguments => { code =>
	    "print('here')" } }] }, { text => 'Ran.' }],
	own => [{ calls => [{ name => 'code_execution', id => 'call_1',
	    arguments => { x => 1 } }] }, { text => 'No.' }],
	say => [{ text => 'Said.' }],
	refuse => [{ status => 400, type => 'application/json', body =>
	    '{"error":{"type":"invalid_request_error","message":"not here"}}'
	    }],
);
my $p = Provider->new(script => { models => \%models });
sub providers {
	return $p->yaml('chat', 'openai-chat') .
	    $p->yaml('ant', 'anthropic-messages', native_code => 'true') .
	    $p->yaml('resp', 'openai-responses', native_code => 'true') .
	    $p->yaml('plainant', 'anthropic-messages');
}
my $s = Satchel->new(providers => providers());
my $ws = ($s->mysql("SELECT workspace_name FROM api_key WHERE user_name ="
    . " 'alice'"))[0][0];

# What is declared.
my %tool = (
	E => { type => 'satchel_code_execution' },
	A => { type => 'code_execution_20250522', name => 'code_execution' },
	B => { type => 'code_execution', name => 'code_execution' },
	O => { type => 'code_interpreter', container => { type => 'auto' } },
);
my %own = (
	messages => { name => 'code_execution', input_schema =>
	    { type => 'object' } },
	responses => { type => 'function', name => 'code_execution',
	    parameters => { type => 'object' } },
	chat => { type => 'function', function => { name => 'code_execution',
	    parameters => { type => 'object' } } },
);

sub ask {
	my ($route, $model, $what, %o) = @_;
	my $ant = $route eq 'messages';
	my @user = ({ role => 'user', content => $o{content} // 'Go.' });
	$p->forget;
	return $s->post($route eq 'chat' ? '/v1/chat/completions' :
	    "/v1/$route", ant => $ant, timeout => 60, headers => $o{header} ?
	    ['X-Code-Execution' => $o{header}] : [], json => {
	    model => $model, $ant ? (max_tokens => 500) : (),
	    ($route eq 'responses' ? 'input' : 'messages') => \@user,
	    $what ? (tools => [$what eq 'F' ? $own{$route} : $tool{$what}]) :
	    (), %{ $o{with} // {} } });
}

# "STATUS who ran it", or "STATUS type" and the code, where there is one.
sub verdict {
	my ($r) = @_;
	my $e = $r->{json}{error};
	return "$r->{status} " . (header($r, 'X-Code-Execution-Ran') // '-')
	    if !$e;
	return join(' ', $r->{status}, $e->{type}, $e->{code} // ());
}

sub policy {
	my (%o) = @_;
	is($s->request('PUT', "/v1/workspaces/$ws/code-execution-policy",
	    as => 'admin', json => { enabled => JSON::PP::true, %o }
	    )->{status}, 200, '(a policy)');
}

# A row, on each route that it can come by: [route, model, declared, header].
sub row {
	my ($n, $want, @ways) = @_;
	for (@ways) {
		my ($route, $model, $what, $header) = @$_;
		my $r = ask($route, $model, $what, header => $header);
		is(verdict($r), ref($want) ? $want->{$route} : $want,
		    "decision row $n: $what over $route to $model")
		    or diag($r->{body});
		my @asked = $p->requests;
		ok($r->{status} < 400 ? @asked > 0 : @asked == 0,
		    '... and whether a model is asked') or diag(scalar(@asked));
	}
}

# What a refusal is in each dialect.
sub refusal {
	my ($status, $ant, $type, $code) = @_;
	return { messages => "$status $ant", map { $_ => "$status $type $code" }
	    qw(responses chat) };
}
my $none = refusal(400, ('invalid_request_error') x 2,
    'sandbox_not_configured');
my $cannot = refusal(400, ('invalid_request_error') x 2,
    'code_execution_unavailable');
my $off = refusal(403, ('permission_error') x 2, 'code_execution_disabled');
my @open = (['messages', 'chat:m', 'A'], ['messages', 'chat:m', 'B'],
    ['messages', 'chat:m', 'O'], ['responses', 'chat:m', 'O'],
    ['responses', 'chat:m', 'A'], ['chat', 'chat:m', 'O']);
my @native = (['messages', 'ant:say', 'A'], ['responses', 'resp:say', 'O']);
# The vendor knows dated types only, so this one is not native.
my @bare = (['messages', 'ant:say', 'B']);
sub with_header { my ($h, @ways) = @_; return map { [@$_, $h] } @ways }

my $r;

# --- a sandbox, and no policy ---

for (['messages', 'ant:own', ''], ['messages', 'chat:own', 'F'],
    ['responses', 'chat:own', 'F'], ['chat', 'chat:own', 'F']) {
	row(1, '200 -', $_);
	is(scalar($p->requests), 1, '... and nothing is run here');
}
my $id = $s->upload("read me\n", name => 'a.txt', type => 'text/plain')
    ->{json}{id};
$r = ask('messages', 'chat:say', '', content => [{ type => 'container_upload',
    file_id => $id }]);
like(($p->requests)[0]{json}{messages}[0]{content}, qr/\]\nread me\n/,
    'decision row 1: a container_upload is read as a document');
row(4, '200 local', (map { [$_, 'chat:m', 'E'] } qw(messages responses chat)),
    ['messages', 'ant:m', 'E']);
$r = ask('messages', 'chat:m', 'E');
is(join(' ', map { $_->{type} } @{ $r->{json}{content} }), 'text',
    'decision row 4: quiet');
row(8, '200 provider', with_header('provider', @native, @bare));
$r = ask('messages', 'ant:refuse', 'A');
is("$r->{status} $r->{json}{error}{message}", '400 not here',
    'decision row 8: with the provider\'s verdict');
row(9, $cannot, with_header('provider', grep { $_->[0] ne 'chat' } @open));
row(11, '200 local', with_header('local', @open, ['messages', 'ant:m', 'A'],
    ['responses', 'resp:m', 'O']));
row(12, '200 provider', @native);
row(14, '200 local', @open, ['messages', 'plainant:m', 'A'],
    ['messages', 'ant:m', 'B']);
$r = ask('messages', 'chat:m', 'A');
is(join(' ', map { $_->{type} } @{ $r->{json}{content} }),
    'server_tool_use code_execution_tool_result text',
    'decision row 14: native vocabulary');

# --- other refusals of what would run here ---

for (['chat', { n => 2 }, '400 invalid_request_error'],
    ['responses', { background => JSON::PP::true },
    '400 invalid_request_error'],
    ['messages', { container => { skills => [{ type => 'anthropic', skill_id
    => 'pptx', version => 'latest' }] } }, '400 invalid_request_error'],
    ['messages', { max_tool_iterations => 0 }, '400 invalid_request_error'],
    ['messages', { max_tool_iterations => 26 },
    '400 invalid_request_error']) {
	my ($route, $with, $want) = @$_;
	$r = ask($route, 'chat:m', 'O', with => $with);
	is(verdict($r), $want, "refused over $route: "
	    . JSON::PP->new->canonical->encode($with));
	is(scalar($p->requests), 0, '... before a model is asked');
}

# --- several declarations ---

$r = ask('messages', 'chat:m', '', with => { tools => [$tool{A}, $tool{E}] });
is(join(' ', map { $_->{type} } @{ $r->{json}{content} }),
    'server_tool_use code_execution_tool_result text',
    'the first native declaration decides the words');
$r = ask('messages', 'ant:m', '', with => { tools => [$tool{A}, $tool{E}] });
is(verdict($r), '200 local', 'any explicit one makes it local');
$r = ask('messages', 'ant:m', '', with => { tools => [$tool{A}, $tool{O}] });
is(verdict($r), '200 local', 'where two differ, local wins');

# --- policies ---

policy(executor => 'provider');
row(4, '200 local', (['messages', 'chat:m', 'E']));
row(8, '200 provider', @native, @bare);
my $pinned = refusal(403, ('permission_error') x 2, 'executor_pinned');
for (['messages', 'chat:m', 'A'], ['responses', 'resp:m', 'O'],
    ['chat', 'chat:m', 'O']) {
	$r = ask(@$_, header => 'local');
	is(verdict($r), $pinned->{ $_->[0] },
	    "executor row 6: a header against the pin over $_->[0]");
}
is(verdict(ask('messages', 'ant:m', 'E')), '200 local',
    'executor row 7: the pin is not for who names this gateway');
policy(enabled => JSON::PP::false);
is(verdict(ask('messages', 'ant:say', 'A')), '200 provider',
    'executor row 8: no policy of ours holds the provider back');
is(verdict(ask('messages', 'chat:say', '')), '200 -',
    'executor row 9: a request without the tool is not its matter');
row(3, $off, map { [$_, 'chat:m', 'E'] } qw(messages responses chat));
row(8, '200 provider', with_header('provider', @native, @bare));
row(10, $off, with_header('local', @open, @native, @bare));
row(12, '200 provider', @native);
row(13, $off, @open, @bare);
$r = ask('responses', 'chat:m', 'O');
is($r->{json}{error}{param}, 'tools', 'a refusal by policy names the tools');

# --- no sandbox ---

$s->restart(providers => providers(), set => { 'sandbox.url' => '' });
row(2, $none, map { [$_, 'chat:m', 'E'] } qw(messages responses chat));
row(5, $none, with_header('local', @open, @native, @bare));
row(6, '200 provider', @native, @bare, with_header('provider', @native,
    @bare));
row(7, $cannot, @open[0 .. 4]);
$r = ask('messages', 'chat:m', 'A');
like($r->{json}{error}{message}, qr/chat:m.*code_execution_20250522/,
    'decision row 7: naming model and tool');
$r = ask('messages', 'plainant:say', 'A');
is(verdict($r), '200 provider', 'decision row 6: whatever it makes of it');
is($s->admin(qw(executor set local))->{exit}, 0, '(local by default)');
row(6, '200 provider', @native);

$s->done;
done_testing();
