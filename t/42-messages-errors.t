#!/usr/bin/perl

# What a model request can be refused for, before and after the model is asked,
# and callers who leave.

use strict;
use warnings;
use Test::More;
use Time::HiRes qw(sleep time);
use Provider;
use Satchel qw(header);

sub bash {
	return { name => 'bash_code_execution', arguments =>
	    { command => $_[0] } };
}

my $html = '<html><h1>Bad Gateway at 10.9.8.7</h1></html>';
my %models = (
	plain => [{ text => 'Yes.' }],
	html => [{ status => 502, type => 'text/html', body => $html }],
	error200 => [{ body => '{"error":{"message":"boom"}}' }],
	nonsense => [{ body => '{"choices":"none"}' }],
	cut => [{ text => 'Yes and no and so on', cut => 1 }],
	closes => [{ close => 1 }],
	dies2 => [{ calls => [bash('echo ran')] },
	    { status => 500, body => '{}' }],
	sleeper => [{ calls => [bash('echo $$ >pid; sleep 86123')] },
	    { text => 'Never.' }],
	waiter => [{ delay => 5, text => 'Late.' }],
	dying => [
		{ calls => [bash('echo 1 >a.txt')] },
		{ calls => [bash('sleep 86123')] },
		{ expect => ['sandbox is not available'],
		    calls => [bash('ls; cat seed.csv')] },
		{ expect => ['seed\.csv\nseed\n.*others are gone'],
		    text => 'Survived.' },
	],
	files => [{ text => 'Seen.' }],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->yaml('scripted', 'openai-chat')
    . $p->yaml('hasty', 'openai-chat', timeout_s => 1, models => '["waiter"]')
    . "  - name: dead\n    wire: openai-chat\n    base_url: http://127.0.0.1:"
    . Provider::dead_port() . "/v1\n",
    set => { 'server.body_max_bytes' => 1 << 20 });
my @tool = ({ type => 'code_execution_20250825', name => 'code_execution' });

sub ask {
	my ($model, %o) = @_;
	$p->forget;
	return $s->post('/v1/messages', ant => 1, timeout => 60,
	    headers => $o{headers} // [], as => $o{as} // 'alice',
	    json => { model => $model, max_tokens => 1000, messages =>
	    [{ role => 'user', content => 'Go.' }], tools => \@tool,
	    %{ $o{with} // {} } });
}

# Status, type and message, in short.
sub short {
	my ($r) = @_;
	return "$r->{status} $r->{json}{error}{type}: "
	    . $r->{json}{error}{message};
}

sub health {
	return $s->get('/health', port => $s->{sandbox_port}, as => undef);
}

# Wait until $what is so; the seconds it took, or undef after $most.
sub until_so {
	my ($what, $most) = @_;
	my $begun = time;
	while (time - $begun < $most) {
		return time - $begun if $what->();
		sleep(0.02);
	}
	return undef;
}

my ($r, $id);

# --- the request itself ---

for (['{"model":', 'broken JSON'], ['', 'no JSON'], ['[]', 'a list'],
    ['{"model":"a","model":"b"}', 'a key twice'],
    ['{"model":"plain"} x', 'more after it'],
    ['{"a":' x 200 . '1' . '}' x 200, 'nested too deep']) {
	my ($body, $what) = @$_;
	$r = $s->post('/v1/messages', ant => 1, body => $body,
	    headers => ['Content-Type' => 'application/json']);
	is("$r->{status} $r->{json}{error}{type}",
	    '400 invalid_request_error', $what);
	is($r->{json}{type}, 'error', "$what: in the dialect");
	ok(defined(header($r, 'request-id')), "$what: with a request id");
}
$r = $s->post('/v1/messages', ant => 1, body => ' ' x (2 << 20), headers =>
    ['Content-Type' => 'application/json']);
is("$r->{status} $r->{json}{error}{type}", '413 request_too_large',
    'a body over the limit');
$r = ask('plain', with => { messages => [
    { role => 'user', content => [map { { type => 'container_upload', file_id =>
	sprintf('file-%032x', $_) } } 0 .. 1000] },
    { role => 'assistant', content => 'Yes.' },
    { role => 'user', content => 'Go.' }] });
is(short($r), '413 request_too_large: messages.0.content.1000: there '
    . 'are more than 1000 files', 'more references than are looked up');
$r = $s->post('/v1/messages', as => undef, json => {});
is("$r->{status} $r->{json}{error}{type}", '401 authentication_error',
    'no key: in the route\'s dialect without a word of it');
$r = $s->post('/v1/responses', as => undef, ant => 1, json => {});
is("$r->{status} $r->{json}{error}{code}", '401 invalid_api_key',
    'and so the other\'s');
is(short(ask(undef)), '400 invalid_request_error: model: is required',
    'no model');
is(short(ask('plain', with => { messages => [{ role => 'user',
    content => [{ type => 'text' }] }] })), '400 invalid_request_error: '
    . 'messages.0.content.0.text: is required', 'a position is named');
is(short(ask('plain', with => { max_tokens => 'many' })),
    '400 invalid_request_error: max_tokens: must be a whole number between '
    . '1 and 4294967295', 'a number that is none');
is(scalar($p->requests), 0, 'nothing of this reached the model');

# --- who runs code ---

for (['yes', 'no such word'], ['', undef], ['LOCAL', undef],
    ['otari', undef]) {
	my ($value, $bad) = @$_;
	$r = ask('plain', headers => ['X-Code-Execution' => $value]);
	is($r->{status}, $bad ? 400 : 200, "X-Code-Execution: '$value'");
}
$r = ask('plain', with => { tools => [] }, headers =>
    ['X-Code-Execution' => 'perhaps']);
is($r->{status}, 400, 'a bad word without any tool, too');
$r = ask('plain', headers => ['X-Code-Execution' => 'local',
    'X-Otari-Code-Execution' => 'provider']);
is($r->{status}, 400, 'two headers that differ');
$r = ask('plain', headers => ['X-Code-Execution' => 'provider']);
is(short($r), "400 invalid_request_error: The model 'plain' cannot be offered "
    . "the tool 'code_execution_20250825'.", 'a provider that cannot');

# --- models ---

is(short(ask('hasty:plain')), "404 not_found_error: The model 'hasty:plain' "
    . 'does not exist here', 'a provider without that model');
for my $route (qw(messages chat/completions responses)) {
	my %body = (model => 'x' x 513, max_tokens => 9, $route eq 'responses'
	    ? (input => 'x') : (messages => [{ role => 'user', content => 'x' }]));
	is($s->post("/v1/$route", json => \%body)->{status}, 404,
	    "$route: no model has a name of 513 bytes");
}
is(short(ask('dead:x')), '502 api_error: The model provider cannot be '
    . 'reached.', 'a provider that is down');
is(short(ask('hasty:waiter')), '504 timeout_error: The model provider did '
    . 'not answer in time.', 'a provider that is slow');
is(short(ask('html')), '502 api_error: The model provider answered with an '
    . 'error.', 'a provider that answers HTML');
is(short(ask('error200')), '502 api_error: The model provider answered with '
    . 'an error.', 'an error with status 200');
is(short(ask('nonsense')), '502 api_error: The model provider\'s answer '
    . 'could not be used.', 'an answer that is none');
is(short(ask('cut')), '502 api_error: The model provider broke the '
    . 'connection off.', 'an answer that breaks off');
is(short(ask('closes')), '502 api_error: The model provider broke the '
    . 'connection off.', 'no answer');
is(header($r = ask('html'), 'x-should-retry'), undef,
    'before code has run a client may retry');
$r = ask('dies2');
is($r->{status}, 502, 'a provider that fails in round 2');
is(header($r, 'x-should-retry'), 'false', 'code has run: no retry');

# --- files ---

sub with_file {
	my ($file, %o) = @_;
	my $upload = { type => 'container_upload', file_id => $file };
	return ask('files', %o, with => { messages => [
	    { role => 'user', content => [$upload] }, $o{older} ?
	    ({ role => 'assistant', content => 'A.' },
	    { role => 'user', content => 'B.' }) : () ] });
}

$id = $s->upload("x\n", name => 'x.csv')->{json}{id};
my $where = 'messages.0.content.0';
my $sessions = health()->{json}{session_count};
is(short(with_file('file-' . '0' x 32)), '404 not_found_error: '
    . "$where: there is no file file-" . '0' x 32,
    'executor row 53: an unknown file');
is(short(with_file('../../etc/passwd')), '404 not_found_error: '
    . "$where: there is no file ../../etc/passwd", 'an id that is none');
is(short(with_file($id, as => 'bob')), '404 not_found_error: '
    . "$where: there is no file $id", 'another workspace\'s');
is(short(with_file($id, as => 'carol')), '404 not_found_error: '
    . "$where: there is no file $id", 'another user\'s');
is(scalar($p->requests), 0, 'the model is not asked');
is(health()->{json}{session_count}, $sessions, 'nor a sandbox');
is(with_file($id)->{status}, 200, 'its owner\'s');
is(with_file($id =~ s/-/_/r)->{status}, 200, 'in the other spelling');
(my $hex = $id) =~ s/^file-//;
$s->mysql("UPDATE file SET expires = 1, sweep_at = 1 WHERE pid = '$hex'");
is(short(with_file($id)), "404 not_found_error: $where: the file $id has "
    . 'expired', 'executor row 53: an expired one');
$r = with_file($id, older => 1);
is($r->{status}, 200,
    'executor row 53: named in an older turn only, it is missed');
is(($p->requests)[0]{json}{messages}[0]{content},
    '[file "x.csv" is no longer available]', 'and said to be gone');
$r = with_file('file-' . '1' x 32, older => 1);
is(($p->requests)[0]{json}{messages}[0]{content},
    '[file "file-' . '1' x 32 . '" is no longer available]',
    'an unknown one too');
$r = ask('files', with => { tools => [], messages => [{ role => 'user',
    content => [{ type => 'container_upload', file_id => $id }] }] });
like(short($r), qr/^404 not_found_error: $where: /,
    'nor without code execution');

# --- a sandbox that dies under a run ---

# A request sent by hand, and the wait until it is under way.
sub begin {
	my ($model, $ready, @more) = @_;
	my $body = JSON::PP->new->encode({ model => $model,
	    max_tokens => 1000, messages => [{ role => 'user',
	    content => [{ type => 'text', text => 'Go.' }, @more] }],
	    tools => \@tool });
	$p->forget;
	my $sock = $s->sock;
	print $sock "POST /v1/messages HTTP/1.1\r\nHost: x\r\n"
	    . "Connection: close\r\n"
	    . "Authorization: Bearer $s->{key}{alice}\r\nContent-Type: "
	    . "application/json\r\nContent-Length: ", length($body),
	    "\r\n\r\n$body";
	ok(defined(until_so($ready, 10)), "$model: the request is under way");
	return $sock;
}

# The host's pids of "sleep 86123".
sub sleepers {
	return grep { Satchel::_slurp("/proc/$_/cmdline") =~ /^sleep\x{0}86123/ }
	    map { m{(\d+)} } glob('/proc/[0-9]*');
}

# The first process of the namespace that $pid is in.
sub init_of {
	my $ns = readlink("/proc/$_[0]/ns/pid") // '';
	return grep { (readlink("/proc/$_/ns/pid") // '') eq $ns &&
	    Satchel::_slurp("/proc/$_/status") =~ /^NSpid:.*\t1$/m }
	    map { m{(\d+)} } glob('/proc/[0-9]*');
}

$id = $s->upload("seed\n", name => 'seed.csv')->{json}{id};
$s->expect_log(qr/sandbox/);
my $sock = begin('dying', sub { sleepers() > 0 },
    { type => 'container_upload', file_id => $id });
kill('KILL', init_of((sleepers())[0]));
my $all = do { local $/; <$sock> };
$r = Satchel::answer($all);
is($r->{status}, 200, 'a sandbox that dies does not end the turn');
my @kinds = map { $_->{content}{error_code} // 'ran' } grep { $_->{content} }
    @{ $r->{json}{content} };
is_deeply(\@kinds, [qw(ran unavailable ran)], 'that run is unavailable, the '
    . 'next gets a sandbox with the uploaded files');
is($r->{json}{content}[-1]{text}, 'Survived.', 'and the model knows')
    or diag($r->{body});

# --- callers who leave ---

sub gone_after {
	my ($model, $ready) = @_;
	my $before = health()->{json}{session_count};
	close(begin($model, $ready));
	return until_so(sub { health()->{json}{session_count} == $before }, 5);
}

my $took = gone_after('sleeper', sub { sleepers() > 0 });
cmp_ok($took // 99, '<', 1, 'mid-run: the session is gone within a second');
is(scalar(sleepers()), 0, 'and the program with it');
is(scalar($p->requests), 1, 'the model is not asked again');
$took = gone_after('waiter', sub { scalar($p->requests) });
cmp_ok($took // 99, '<', 1, 'while the model thinks: within a second too');
ok(defined(until_so(sub { 2 == grep { $_->{aborted} }
    grep { $_->{level} eq 'access' } $s->log }, 5)),
    'both are logged as aborted');

# --- parts that are away ---

$s->stop('db');
$s->expect_log(qr/db|database|mysql|connect/i);
$r = ask('plain');
is("$r->{status} $r->{json}{error}{type}", '503 api_error',
    'no database');
ok(header($r, 'Retry-After'), 'come again');
$s->start;
$s->stop('sandbox');
$r = ask('plain');
is(short($r), '503 api_error: The code sandbox cannot take work right now.',
    'no sandbox');
is(header($r, 'Retry-After'), 5, 'come again');
is(scalar($p->requests), 0, 'the model is not asked');
is(ask('plain', with => { tools => [] })->{status}, 200,
    'without code there is no need for one');
is(ask('plain', with => { tool_choice => { type => 'none' } })->{status}, 200,
    'nor when it may not be called');
$s->restart(providers => $p->port, set => { 'sandbox.url' => '' });
$r = ask('plain');
is(short($r), "400 invalid_request_error: The model 'plain' cannot be offered the "
    . "tool 'code_execution_20250825': no sandbox is configured here.", 'none configured');
$r = ask('plain', headers => ['X-Code-Execution' => 'local']);
is(short($r), '400 invalid_request_error: No sandbox is configured here, so '
    . 'no code can be run.', 'none configured, and local asked for');
$r = ask('plain', with => { tools => [{ type => 'satchel_code_execution' }] });
is(short($r), '400 invalid_request_error: No sandbox is configured here, so '
    . 'no code can be run.', 'none configured, and ours declared');
$s->done;
done_testing();
