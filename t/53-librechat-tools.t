#!/usr/bin/perl

# Programs that call the caller's tools, in Python and in bash (librechat
# contract section 10; cases ptc-error-words, ptc-token-owner, ptc-tool-names;
# edge cases 31, 32, 80 to 100).

use strict;
use warnings;
use utf8;
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use Test::More;
use Code;
use Satchel;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);
my $code = Code->new;
my $s = Satchel->new(set => {'librechat.jwt.pem_dir' => $code->{pem_dir},
    'librechat.execs_per_30s' => 0, 'librechat.exec_timeout_s' => 20});
my @u1 = $code->bearer(sub => 'u1');
my @u2 = $code->bearer(sub => 'u2');
my ($true, $false) = (JSON::PP::true, JSON::PP::false);

sub post { my ($who, $body, @o) = @_;
	return $s->post('/v1/exec/programmatic', @$who, json => $body,
	    timeout => 60, @o) }
my @tools = ({ name => 'get-weather', description => "Returns \"temp\"\nfor a city",
    parameters => { type => 'object', properties => { city => { type => 'string' },
    'unit-name' => { type => 'string' } }, required => ['city'] },
    allowed_callers => ['code_execution'] });
sub start { my ($text, %o) = @_;
	return post(\@u1, { code => $text, tools => \@tools, timeout => 15000, %o })->{json} }
sub go_on { my ($r, @results) = @_;
	return post(\@u1, { continuation_token => $r->{continuation_token},
	    tool_results => \@results })->{json} }
sub good { my ($id, $v) = @_;
	return { call_id => $id, result => $v, is_error => $false } }
sub calls { my ($r) = @_;
	return [map { [@$_{qw(id name input)}] } @{$r->{tool_calls} || []}] }

# --- Python ---

my $r = start('a, b = await asyncio.gather(get_weather(city="Rome"), '
    . 'get_weather(city="Oslo", unit_name="F"))' . "\nprint(a['temp'] - b['temp'])");
is($r->{status}, 'tool_call_required', 'two calls at once') or diag explain $r;
is_deeply(calls($r), [['call_001', 'get-weather', { city => 'Rome' }],
    ['call_002', 'get-weather', { city => 'Oslo', 'unit-name' => 'F' }]],
    '... by their original names');
like($r->{continuation_token}, qr/^pt_[0-9a-f]{64}$/, '... a token');
my $done = go_on($r, good('call_001', { temp => 21 }), good('call_002', { temp => 9 }));
is_deeply({ %$done, session_id => 1 }, { status => 'completed', stdout => "12\n",
    stderr => '', files => [], session_id => 1 }, '... and the end') or diag explain $done;
is($done->{session_id}, $r->{session_id}, '... of the same session');
is_deeply(go_on($r, good('call_001', { temp => 21 }), good('call_002', { temp => 9 })),
    $done, 'row 83: a repeated continuation gets the same answer');
like(go_on($r, good('call_001', 1), good('call_002', 2))->{stderr}, qr/not found or has expired/,
    '... but only that');

$r = start("print(await get_weather(city='x'))");
is(go_on($r, { call_id => 'call_001', result => undef, is_error => $true,
    error_message => 'station offline' })->{error}, 'Sandbox exited with code 1',
    'an error that nobody catches');
$r = start("try:\n    await get_weather(city='x')\nexcept ToolExecutionError as e:\n"
    . "    print('caught', e)");
is(go_on($r, { call_id => 'call_001', is_error => $true,
    error_message => 'station "offline"' })->{stdout}, "caught station \"offline\"\n",
    '... one that is caught (row 96)');
$r = start("try:\n    await get_weather(city='x')\nexcept BaseException as e:\n"
    . "    print('never', e)");
is($r->{status}, 'tool_call_required', 'row 91: a call that waits cannot be caught');
is(start('print(1)')->{stdout}, "1\n", 'row 97: no call');
is(start('print(1)', tools => [])->{stdout}, "1\n", 'no tools');
is(start('print(1)', tools => undef)->{stdout}, "1\n", '... not even a list');

$r = start("r = []\nfor i in range(3):\n    r.append(await get_weather(city=str(i)))\nprint(r)");
for my $i (1 .. 3) {
	is_deeply(calls($r), [["call_00$i", 'get-weather', { city => $i - 1 . '' }]], "call $i");
	$r = go_on($r, good("call_00$i", $i));
}
is($r->{stdout}, "[1, 2, 3]\n", '... one after the other');
$r = start("print(sum(await asyncio.gather(*[get_weather(city=str(i)) for i in range(30)])))");
is(scalar @{$r->{tool_calls}}, 30, 'row 94: thirty calls are one round');
is(go_on($r, map { good(sprintf('call_%03d', $_), $_) } 1 .. 30)->{stdout}, "465\n", '... and its end');
$r = start("import random\nprint(await get_weather(city=str(random.random())))\n");
$r = go_on($r, good('call_001', 1));
is_deeply([@$r{qw(status error)}], ['error', 'Execution failed or timed out'], 'a random argument');
like($r->{stderr}, qr/^call_001 was made with other arguments/, '... is told (row 95)');
$r = start("print('x' * 1048576)\nprint(await get_weather(city='x'))");
is($r->{status}, 'tool_call_required', 'row 93: much output does not hide a call');
$r = start("open('n.txt', 'a').write('line')\nawait get_weather(city='x')\nprint(open('n.txt').read())");
$r = go_on($r, good('call_001', 1));
is($r->{stdout}, "line\n", 'files of earlier rounds are not there');
is_deeply([map { $_->{name} } @{$r->{files}}], ['n.txt'], '... those of the last are kept');
is($r->{files}[0]{storage_session_id}, $r->{session_id}, '... in its session');
is(start("import os\nprint(sorted(os.listdir('/mnt/data')), __name__)\nX = 1\ndef f():\n"
    . "    global X\n    X += 1\nf()\nprint(X, '''a\n  b''')")->{stdout},
    "[] __main__\n2 a\n  b\n", 'the program is itself');
$r = start("x = 1\nprint('out')\n1 / 0");
is($r->{error}, 'Sandbox exited with code 1', 'an exception');
like($r->{stderr}, qr/^Traceback .*\n  File "<code>", line 3, in <module>\n.*ZeroDivisionError/s,
    '... at its line');
like($r->{stderr}, qr/out\n\z/, '... with the end of stdout');
is(start('exit(3)')->{error}, 'Sandbox exited with code 3', 'exit code 3');
is(start('import time; time.sleep(60)', timeout => 1000)->{error}, 'Time limit exceeded',
    'the time limit');
is(start('import os; os.write(200, b"\0\0\0\x18{\"name\":\"rm\",\"input\":{}}\0\0\0\0"); await asyncio.sleep(9)')
    ->{error}, 'Sandbox requested an unregistered tool: rm', 'a tool that is none');
is(start('import os; os.write(200, b"\0\0\0\0"); await asyncio.sleep(9)')->{error},
    'sandbox emitted an empty pending tool call block; aborting to avoid a tight retry loop',
    'an empty set');
for my $bad ('await get_weather()', 'await get_weather(town="x")',
    'await get_weather("a", "b", "c")', 'await get_weather(city=object())') {
	like(start($bad)->{stderr}, qr/TypeError/, $bad);
}
is_deeply(calls(start('await get_weather("Rome", None)')),
    [['call_001', 'get-weather', { city => 'Rome' }]], 'None of an optional one is left out');

# --- names and schemas ---

my %p = (type => 'object', properties => { 'user-name' => { type => 'string',
    default => 'x' } });
$r = start("await asyncio.gather(get_user(user_name='a'), class_tool(), _9lives(x=1), "
    . "a_b_c(), odd(**{'a b': 1}))", tools => [
	{ name => 'get-user', description => 'ends in "', parameters => \%p },
	{ name => 'class' }, { name => '9lives', parameters => undef },
	{ name => "a-b\tc", parameters => $true },
	{ name => 'odd', description => "'''\"\"\"\\\n\0{}%s", parameters => { properties => {} } }]);
is_deeply(calls($r), [['call_001', 'get-user', { 'user-name' => 'a' }],
    ['call_002', 'class', {}], ['call_003', '9lives', { x => 1 }],
    ['call_004', "a-b\tc", {}], ['call_005', 'odd', { 'a b' => 1 }]], 'row 86, row 88, row 89, row 90: odd names')
    or diag explain $r;
my %bad = (
	'a-b and a_b' => [tools => [{ name => 'a-b' }, { name => 'a_b' }]],
	'!!!' => [tools => [{ name => '!!!' }]], 'no name' => [tools => [{}]],
	'row 86: 日本' => [tools => [{ name => '日本' }]], 'empty' => [tools => [{ name => '' }]],
	'101 tools' => [tools => [map { { name => "t$_" } } 1 .. 101]],
	'tools as text' => [tools => 'x'], 'a tool as text' => [tools => ['x']],
	'two parameters of one name' => [tools => [{ name => 'x', parameters => {
	    properties => { 'a-b' => {}, 'a_b' => {} } } }]],
	'no code' => [code => ''], 'a language' => [lang => 'ruby'],
	'timeout 0' => [timeout => 0], 'timeout as text' => [timeout => 'x'],
	'row 31: a reserved name' => [files => [{ id => 'a' x 21, storage_session_id => 'a' x 21,
	    name => 'x/_ptc_history.json' }]],
);
for (sort keys %bad) {
	my $a = post(\@u1, { code => 'x', tools => \@tools, @{$bad{$_}} });
	is($a->{status}, 400, "$_: 400") or diag $a->{body};
	ok($a->{json}{error}, '... with a reason');
}
like(post(\@u1, { code => 'x', @{$bad{'a-b and a_b'}} })->{json}{error},
    qr/"a-b" and "a_b" become the same identifier "a_b"/, 'row 87: both are named');

# --- bash ---

my @b = (lang => 'bash');
$r = start(": &\nwait \"\$!\"\nset -euo pipefail\nr=\$(get_weather '{\"city\":\"Rome\"}')\n"
    . "echo \"\$r\" | jq .temp\n", @b);
is_deeply(calls($r), [['call_001', 'get-weather', { city => 'Rome' }]], 'row 98: bash: a call')
    or diag explain $r;
$r = go_on($r, good('call_001', { temp => 21 }));
is_deeply([@$r{qw(status stdout stderr)}], ['completed', "21\n", ''], '... and its answer')
    or diag explain $r;
$r = start("get_weather '{\"city\":\"a\"}' >a & get_weather '{\"city\":\"b\"}' >b & wait\n"
    . "cat a b", @b);
# On a busy machine the second may come too late for the first one's round.
my @made;
while ($r->{status} eq 'tool_call_required') {
	push @made, map { $_->{input}{city} } @{$r->{tool_calls}};
	$r = go_on($r, map { good($_->{id}, "of $_->{input}{city}") } @{$r->{tool_calls}});
}
is(join(' ', sort @made), 'a b', 'row 98: two in the background, each asked for once');
is($r->{stdout}, "\"of a\"\n\"of b\"\n", '... each has its own') or diag explain $r;
$r = start("set -euo pipefail\nget_weather '{\"city\":\"a\"}' | jq -r . ; bash -c "
    . "'get_weather \"{}\"'", @b, tools => [{ name => 'get.weather' }]);
$r = go_on($r, good('call_001', 'piped'));
is_deeply(calls($r), [['call_002', 'get.weather', {}]], 'row 98: in a pipe, and in another shell');
is(go_on($r, good('call_002', undef))->{stdout}, "piped\nnull\n", '... to the end');
$r = start("get_weather '{\"city\":\"a\"}' || echo failed", @b);
$r = go_on($r, { call_id => 'call_001', is_error => $true, error_message => 'offline' });
is_deeply([@$r{qw(stdout stderr)}], ["failed\n", "get_weather: offline\n"], 'an error');
like(start("get_weather not-json; exit 3", @b)->{stderr}, qr/a JSON object/, 'no JSON');
$r = start("get_weather \"{\\\"city\\\":\\\"\$RANDOM\$RANDOM\\\"}\"", @b);
$r = go_on($r, good('call_001', 1));
like($r->{stderr}, qr/^call_001 was made with other/m, 'a random argument');
is_deeply(calls(start('echo_tool "{}"', @b, tools => [{ name => 'echo' }])),
    [['call_001', 'echo', {}]], 'a word of the shell');

# --- tokens and results ---

my $unknown = { status => 'error', error => 'Execution failed or timed out',
    stderr => "The tool-calling session was not found or has expired; run the code again "
    . "from the start.\n" };
is_deeply(go_on({ continuation_token => 'unknown' }, good('call_001', 1)), $unknown,
    'an unknown token');
is_deeply(post(\@u1, { continuation_token => 'unknown', tool_results => [] })->{json},
    $unknown, '... without results');
$r = start("print(await get_weather(city='x'))");
my $t = $r->{continuation_token};
is_deeply(post($_, { continuation_token => $t, tool_results => [good('call_001', 1)] })
    ->{json}, $unknown, 'row 80: a stranger\'s token') for \@u2, [as => 'alice'],
    [$code->bearer(sub => 'u1', tenant_id => 'acme')];
for (['no results' => undef], ['none' => []], ['made up' => [good('made-up', 'x')]],
    ['not issued' => [good('call_002', 1)]], ['one too many' => [good('call_001', 1),
    good('call_002', 1)]], ['one twice' => [good('call_001', 1), good('call_001', 1)]],
    ['6 MB' => [good('call_001', 'x' x 6_000_000)]]) {
	my $a = post(\@u1, { continuation_token => $t, tool_results => $_->[1] });
	is_deeply([$a->{status}, $a->{json}{status}], [200, 'error'],
	    "row 81, row 82, row 85: $_->[0]: an error");
	like($a->{json}{stderr}, qr/\w/, '... with a reason');
}
is(post(\@u1, { continuation_token => $t })->{json}{stderr},
    "tool_results must list one result per pending call.\n", 'row 81: a token only is a continuation');
is(go_on($r, good('call_001', 'x' x 1_000_000))->{status}, 'completed',
    'row 82: after all that it goes on');
$r = start("print(await get_weather(city='x'))");
$s->mysql('UPDATE ptc_run SET sweep_at = 1');
is_deeply(go_on($r, good('call_001', 1)), $unknown, 'a token that has expired');
$s->sweep;
is_deeply([map { $s->mysql("SELECT COUNT(*) FROM $_") } qw(ptc_run ptc_call)],
    [[0], [0]], '... is swept away');
my $a = $s->post('/v1/exec/programmatic', as => undef, json => { tools => \@tools,
    code => 'await get_weather(city="x")', LIBRECHAT_CODE_API_KEY => $s->{key}{alice} });
is($a->{json}{status}, 'tool_call_required', 'a key in the body');
is_deeply([$s->mysql("SELECT COUNT(*) FROM ptc_run WHERE request LIKE '%sk-satchel%'")],
    [[0]], '... is not stored');

# Inputs are there in every round.
my $up = $s->post('/v1/upload', @u1, form => [[kind => 'user'], ['file', 'abc', 'in.txt']])->{json};
$r = start("d = open('in.txt').read()\nopen('in.txt', 'a').write('d')\nawait get_weather(city=d)\n"
    . "print(d)", files => [{ id => $up->{files}[0]{fileId}, name => 'in.txt', kind => 'user',
    storage_session_id => $up->{session_id}, resource_id => 'u1' }]);
is(calls($r)->[0][2]{city}, 'abc', 'an input');
$r = go_on($r, good('call_001', 1));
is($r->{stdout}, "abc\n", '... as it was, in the next round');
is($r->{files}[0]{modified_from}{id}, $up->{files}[0]{fileId}, '... changed by the last');

$r = start('await get_weather(city="x")', files => [{ id => $up->{files}[0]{fileId},
    name => 'in.txt', kind => 'user', storage_session_id => $up->{session_id} }]);
$s->del("/v1/files/$up->{session_id}/$up->{files}[0]{fileId}", @u1);
$r = go_on($r, good('call_001', 1));
is_deeply([@$r{qw(status stderr)}], ['error',
    "An input file of the program is not there any more.\n"], 'one that has been deleted');

# --- cancel ---

my $id = '2f0d3a52-6d1e-4b7a-9c55-0a1b2c3d4e5f';
sub cancel { my ($who, $rid) = @_;
	my $a = $s->post('/v1/exec/programmatic/cancel', @$who, json => { request_id => $rid });
	return "$a->{status} " . ($a->{json}{status} // $a->{json}{error}) }
sub with { my ($rid, $text) = @_;
	return post(\@u1, { code => $text, tools => [] }, headers => [@{$u1[3]},
	    'X-LibreChat-Code-Request-ID' => $rid]) }
is(with($id, 'print(1)')->{json}{stdout}, "1\n", 'a request with an id');
is(cancel(\@u1, $id), '200 already_completed', '... is over (row 100)');
is(cancel(\@u2, $id), '403 Programmatic request belongs to another principal', '... a stranger (row 100)');
is(cancel(\@u1, 'x'), '400 Invalid or missing request_id', 'no id');
is(with('x', 'print(1)')->{status}, 400, 'a bad id');
is(with($id, 'print(1)')->{status}, 409, 'an id in use');
$id =~ s/^2/3/;
is(cancel(\@u1, $id), '202 cancellation_requested', 'row 100: before it has come');
is(with($id, 'print(1)')->{json}{stderr}, "The request was cancelled.\n", '... it does not run');
$id =~ s/^3/4/;
my $pid = fork // die;
if (!$pid) {
	my $b = with($id, 'import time; time.sleep(40)');
	POSIX::_exit($b->{json}{status} eq 'error' ? 0 : 1);
}
my $until = time + 15;
select undef, undef, undef, 0.1 until time > $until || $s->mysql(
    "SELECT 1 FROM run_request WHERE request = '$id' AND sandbox <> ''");
is(cancel(\@u1, $id), '202 cancellation_requested', 'one that runs');
my $since = time;
waitpid $pid, 0;
is($?, 0, '... ends with an error');
cmp_ok(time - $since, '<', 20, '... long before its time');
$s->expect_log(qr/sandbox/);
$s->done;
done_testing;
