#!/usr/bin/perl

# The code-execution protocol, version 1: sessions and executions.

use strict;
use warnings;
use Test::More;
use Time::HiRes qw(time);
use Sandbox;

my $s = Sandbox->new;
my ($r, $c, $id);

# --- the conformance sequence ---

$r = $s->post('/sessions', json => { idle_timeout_seconds => 300 });
is($r->{status}, 201, 'create');
$id = $r->{json}{session_id};
like($id, qr/^sbx_[0-9A-Za-z]{24}$/, 'its id');
is_deeply([sort keys %{$r->{json}}], [sort qw(session_id created_at
    last_activity_at idle_timeout_seconds max_lifetime_seconds)],
    'five fields');
is($r->{json}{idle_timeout_seconds}, 300, 'the hint is taken');
is($r->{json}{max_lifetime_seconds}, 86400, 'the lifetime is the configured');
cmp_ok(abs($r->{json}{created_at} - time), '<', 5, 'created_at is now');

$r = $s->exec($id, 'code_execution', { code => "print('marker')" },
    tool_use_id => 'toolu_1');
is($r->{status}, 200, 'python');
is($r->{json}{tool_use_id}, 'toolu_1', 'tool_use_id is echoed');
is($r->{json}{result_block}{tool_use_id}, 'toolu_1', 'at both levels');
is($r->{json}{result_block}{type}, 'code_execution_tool_result', 'type');
like($r->{json}{execution_time_ms}, qr/^\d+$/, 'execution_time_ms');
is_deeply($r->{json}{result_block}{content}, {
    type => 'code_execution_result', stdout => "marker\n", stderr => '',
    return_code => 0, content => [] }, 'content');

$r = $s->exec($id, 'bash_code_execution', { command => 'echo marker' },
    tool_use_id => undef);
is($r->{json}{result_block}{type}, 'bash_code_execution_tool_result', 'bash');
is($r->{json}{result_block}{content}{stdout}, "marker\n", 'its output');
like($r->{json}{tool_use_id}, qr/./, 'a tool_use_id is made for null');
is($r->{json}{result_block}{tool_use_id}, $r->{json}{tool_use_id},
    'the same at both levels');

$r = $s->exec($id, 'text_editor_code_execution', { command => 'create',
    path => 'n.txt', file_text => "needle\n" });
is($r->{json}{result_block}{type},
    'text_editor_code_execution_tool_result', 'editor');
is($r->{json}{result_block}{content}{type}, 'code_execution_result',
    'the content is the common one');
unlike($r->{json}{result_block}{content}{stdout}, qr/needle/,
    'create does not echo');
is($s->edit($id, command => 'view', path => 'n.txt')->{stdout}, "needle\n",
    'view');
is($s->exec($id, 'no_such_tool', {})->{status}, 422, 'unknown tool');
$r = $s->post("/sessions/$id/files", form => [['path', 'up/c.bin'],
    ['file', "\x00\xff\r\n--x", 'ignored.bin', 'text/plain']]);
is($r->{status}, 201, 'PutFile');
is_deeply($r->{json}, { path => 'up/c.bin', size_bytes => 7 }, 'its answer');
$r = $s->list($id, 'up');
is_deeply([map { $_->{path} } @{$r->{json}{files}}], ['up/c.bin'],
    'ListFiles names it from the root');
is($s->fetch($id, 'up/c.bin')->{body}, "\x00\xff\r\n--x", 'GetFile');
is($s->fetch($id, '../../etc/passwd')->{status}, 403, 'escape');
is($s->del("/sessions/$id")->{status}, 204, 'destroy');
is($s->del("/sessions/$id")->{status}, 204, 'destroy again');
is($s->exec($id, 'bash_code_execution', { command => 'x' })->{status}, 404,
    'execute after that');
is($s->list($id)->{status}, 404, 'list after that');
is($s->fetch($id, 'n.txt')->{status}, 404, 'get after that');
is($s->put($id, 'n.txt', 'x')->{status}, 404, 'put after that');
is($s->get("/sessions/$id")->{status}, 404, 'retrieve after that');

# --- CreateSession ---

is($s->post('/sessions')->{status}, 201, 'no body at all');
$r = $s->post('/sessions', json => {});
is($r->{json}{idle_timeout_seconds}, 1200, 'default idle time');
$r = $s->post('/sessions', json => { idle_timeout_seconds => 99999999,
    max_lifetime_seconds => 100, extra => [] });
is($r->{status}, 201, 'large hints are clamped, extra fields ignored');
is_deeply([@{$r->{json}}{qw(idle_timeout_seconds max_lifetime_seconds)}],
    [1200, 100], 'to the configured');
is($s->post('/sessions', body => '{"idle_timeout_seconds":null}')->{status},
    201, 'null is no hint');
is($s->post('/sessions', body => '{"idle_timeout_seconds":7.0}')
    ->{json}{idle_timeout_seconds}, 7, 'a whole float');
for my $bad ('0', '-1', '"5"', 'true', '1.5', '[]', '1e-3') {
	is($s->post('/sessions',
	    body => qq({"idle_timeout_seconds":$bad}))->{status}, 422,
	    "idle_timeout_seconds $bad");
	is($s->post('/sessions',
	    body => qq({"max_lifetime_seconds":$bad}))->{status}, 422,
	    "max_lifetime_seconds $bad");
}
for my $bad ('{', "{}x", '{"a":1,"a":2}', "\xff") {
	is($s->post('/sessions', body => $bad)->{status}, 400,
	    'broken JSON: ' . Sandbox::escape($bad));
}
is($s->post('/sessions', body => $_)->{status}, 422, "body $_")
    for '[]', 'null', '3';
is($s->post('/sessions', body => '[' x 5000)->{status}, 400, 'nested deep');
is($s->post('/sessions', body => ' ' x 100000)->{status}, 413, 'a large body');

# --- Execute: what it asks for ---

$id = $s->session;
my $url = "/sessions/$id/exec";
my @refused = (
	['no body', ''], ['array', '[]'], ['no tool', '{"input":{}}'],
	['tool null', '{"tool":null,"input":{"code":"1"}}'],
	['no input', '{"tool":"code_execution"}'],
	['input text', '{"tool":"code_execution","input":"1"}'],
	['no code', '{"tool":"code_execution","input":{"command":"1"}}'],
	['code empty', '{"tool":"code_execution","input":{"code":""}}'],
	['code number', '{"tool":"code_execution","input":{"code":1}}'],
	['code with NUL',
	    '{"tool":"code_execution","input":{"code":"1\u0000"}}'],
	['no command', '{"tool":"bash_code_execution","input":{"code":"1"}}'],
	['command empty',
	    '{"tool":"bash_code_execution","input":{"command":""}}'],
	['command with NUL',
	    '{"tool":"bash_code_execution","input":{"command":"a\u0000b"}}'],
	['editor without command',
	    '{"tool":"text_editor_code_execution","input":{"path":"a"}}'],
	['editor without path',
	    '{"tool":"text_editor_code_execution","input":{"command":"view"}}'],
	['unknown editor command', '{"tool":"text_editor_code_execution",'
	    . '"input":{"command":"delete","path":"a"}}'],
	['editor path with NUL', '{"tool":"text_editor_code_execution",'
	    . '"input":{"command":"view","path":"a\u0000"}}'],
	['code of 200001 characters', '{"tool":"code_execution","input":'
	    . '{"code":"' . '#' x 200001 . '"}}'],
	map({ [ "timeout_seconds $_", '{"tool":"code_execution","input":'
	    . qq({"code":"1"},"timeout_seconds":$_}) ] }
	    '0', '-5', '"9"', '1.5', 'true', '{}'),
	map({ [ "tool_use_id $_", '{"tool":"code_execution","input":'
	    . qq({"code":"1"},"tool_use_id":$_}) ] } '1', '[]', '"\u0000"'),
);
is($s->post($url, body => $_->[1])->{status}, 422, $_->[0]) for @refused;
is($s->post($url, body => '{"tool":')->{status}, 400, 'broken JSON');
is($s->post($url, body => "{\"tool\":\"\xff\"}")->{status}, 400,
    'invalid UTF-8');
is($s->post($url, body => '{' . ' ' x 9000000 . '}')->{status}, 413,
    'a body of 9 MB');
$r = $s->post($url, body => '{"tool":"bash_code_execution","x":1,"input":'
    . '{"command":"echo ok","restart":true},"timeout_seconds":100000000}');
is($r->{status}, 200, 'extra fields are ignored, a long timeout clamped');
is($s->exec('sbx_00nosuchsession0000000', 'code_execution',
    { code => '1' })->{status}, 404, 'unknown session');
is($s->exec('no%2fid', 'code_execution', { code => '1' })->{status}, 404,
    'an id that is none');
like($s->exec('x' x 64, 'code_execution', { code => '1' })->{body},
    qr/^\{"detail":/, 'errors are JSON with a detail');

# --- Execute: what it does ---

$c = $s->python($id, "x = 41\nimport json\ndef f(): return x + 1");
is("$c->{return_code}$c->{stdout}$c->{stderr}", '0', 'a silent run');
is($s->python($id, 'print(f(), json.dumps([1]))')->{stdout}, "42 [1]\n",
    'variables, functions and imports stay');
is($s->bash($id, 'v=1; cd /tmp; echo $v')->{stdout}, "1\n", 'bash');
is($s->bash($id, 'echo "[$v]"; pwd')->{stdout}, "[]\n/mnt/data\n",
    'bash calls share no shell');
$s->python($id, "open('shared.txt', 'w').write('from python')");
is($s->bash($id, 'cat shared.txt; echo -n " and bash" >>shared.txt')->{stdout},
    'from python', 'bash sees what python wrote');
is($s->python($id, "print(open('shared.txt').read(), end='')")->{stdout},
    'from python and bash', 'and the other way round; no newline is added');

$c = $s->python($id, "print('before')\n1/0\n");
is($c->{return_code}, 1, 'an exception');
is($c->{stdout}, "before\n", 'what was printed before it');
like($c->{stderr}, qr{\ATraceback [^\n]*\n  File "<cell \d+>", line 2, in <module>
    1/0\n.*ZeroDivisionError: division by zero\n\z}s, 'its traceback');
unlike($c->{stderr}, qr/serve|exec\(/, 'nothing of ours in it');
is($s->python($id, 'print(x)')->{stdout}, "41\n", 'variables survive it');
like($s->python($id, "x = (\n")->{stderr}, qr/SyntaxError/, 'a syntax error');
is($s->python($id, 'import sys; sys.exit(7)')->{return_code}, 7, 'sys.exit');
is($s->python($id, 'sys.exit()')->{return_code}, 0, 'sys.exit()');
$c = $s->python($id, 'sys.exit("why")');
is("$c->{return_code} $c->{stderr}", "1 why\n", 'sys.exit with a text');
is($s->python($id, 'print(x)')->{stdout}, "41\n", 'variables survive that');
is($s->bash($id, 'exit 3')->{return_code}, 3, 'exit status of bash');
is($s->bash($id, 'kill -TERM $$')->{return_code}, 143, '128 + signal');
$c = $s->bash($id, 'nosuchprogram');
is($c->{return_code}, 127, 'a program that is not there');
is($c->{stderr}, "bash: line 1: nosuchprogram: command not found\n",
    'what bash says of it');
$c = $s->bash($id, 'echo out; echo err >&2');
is("$c->{stdout}|$c->{stderr}|$c->{return_code}", "out\n|err\n|0",
    'streams are apart');
is($s->bash($id, 'cat; echo "end"')->{stdout}, "end\n", 'stdin is at its end');
is($s->python($id, 'print(repr(sys.stdin.read()))')->{stdout}, "''\n",
    'in python too');

is($s->bash($id, "cat <(echo a) && printf %s \"\$BASH_VERSION\" | grep -c .")
    ->{stdout}, "a\n1\n", 'process substitution');
my $long = "x=1\n" . "# \xe2\x82\xac\n" x 40000 . "echo \$x; exit 5\n";
utf8::decode($long);
$c = $s->bash($id, $long);
is("$c->{return_code} $c->{stdout}", "5 1\n",
    'a command of 200000 characters, longer than an argument may be');
is($s->bash($id, ('#' x 120000) . "\nls /proc/self/fd | wc -l")->{stdout},
    $s->bash($id, 'ls /proc/self/fd | wc -l')->{stdout},
    'it leaves no descriptor behind');
is($s->python($id, "print('\x{20ac}' * 3)")->{stdout}, "\x{20ac}" x 3 . "\n",
    'UTF-8 both ways');

# A program may close or turn away what it prints to; the next one has its own.
for my $case ([ 'closes 1', 'import os; os.close(1)' ],
    [ 'closes all three', 'import os; os.closerange(0, 3)' ],
    [ 'closes its files', 'import sys; sys.stdout.close(); sys.stderr.close()' ],
    [ 'closes and prints', 'import os; os.close(1); print("lost")' ],
    [ 'turns 1 away', 'import os; f = open("away", "w");'
    . ' os.dup2(f.fileno(), 1)' ],
    [ 'leaves a closed file', "import sys\nwith open('away', 'w') as f:\n"
    . '    sys.stdout = f' ],
    [ 'leaves none', 'import sys; sys.stdout = sys.stderr = None' ]) {
	my ($name, $program) = @$case;
	$s->python($id, "kept = 7\n$program");
	$c = $s->python($id, "import sys, os\nprint('out', kept)\n"
	    . "print('err', file=sys.stderr)\nos.write(1, b'raw\\n')\n"
	    . 'os.system("echo child"); print(repr(sys.stdin.read()))');
	is("$c->{stdout}$c->{stderr}", "out 7\nraw\nchild\n''\nerr\n",
	    "a program $name: the next one prints");
}
$s->python($id, 'import io, sys; sys.stdout = io.StringIO()');
is($s->python($id, 'print("held")')->{stdout}, '', 'one that holds its output');
is($s->python($id, 'v = sys.stdout.getvalue(); sys.stdout = sys.__stdout__;'
    . ' print(v, end="")')->{stdout}, "held\n", '... has it later');
for (1 .. 3) {
	is($s->python($id, 'import os; print("said", flush=True);'
	    . ' os.closerange(0, 3); os.closerange(4, 256)')->{return_code}, 0,
	    'a program closes all that there is');
	is($s->python($id, 'print("new")')->{stdout}, "new\n",
	    '... another interpreter runs the next');
}
$s->python($id, 'x = 41');

# Bytes that are no text.
$c = $s->bash($id, q{printf 'a\0b\xffc\xe2\x82'});
is($c->{stdout}, "a\0b\x{fffd}c\x{fffd}\x{fffd}", 'NUL kept, the rest marked');

# Output is capped: the first and the last half of what is allowed, and between
# them a line with the number of bytes that are missing.
$c = $s->bash($id, q{yes 1234567 | head -c 3000000; echo the end; exit 4});
is($c->{return_code}, 4, 'a flood leaves the return code');
my $missing = 3000008 - (1 << 20);
my $all = substr('1234567' . "\n", 0, 8) x 375000 . "the end\n";
is($c->{stdout}, substr($all, 0, 1 << 19)
    . "\n[... $missing bytes left out ...]\n" . substr($all, -(1 << 19)),
    'half a MiB of its beginning and of its end are kept');
is_deeply($c->{stdout_left_out}, { bytes => $missing, line_begins => 1 << 19,
    line_bytes => length("\n[... $missing bytes left out ...]\n") },
    '... with where the rest is missing');
is($c->{stderr}, '', 'and stderr is left alone');
$c = $s->python($id,
    "import sys\nsys.stderr.write('\x{20ac}' * 400000)\nprint('ok')");
is($c->{stdout}, "ok\n", 'the other stream is whole');
is($c->{stderr}, "\x{20ac}" x 174762 . "\n[... 151428 bytes left out ...]\n"
    . "\x{20ac}" x 174762, 'the cut is between characters');

# --- produced files ---

$id = $s->session;
$c = $s->python($id, <<'PY');
import os
open('b.txt', 'w').write('1')
os.makedirs('sub/deep'); open('sub/deep/a.csv', 'w').write('2')
open('.hidden', 'w').write('3')
os.makedirs('__pycache__'); open('__pycache__/x', 'w').write('4')
os.makedirs('.git'); open('.git/x', 'w').write('5')
open('m.pyc', 'w').write('6')
os.mkfifo('fifo'); os.symlink('/etc/passwd', 'link'); os.symlink('b.txt', 'l2')
import socket; socket.socket(socket.AF_UNIX).bind('sock')
PY
is_deeply($c->{content}, [map { { type => 'code_execution_output',
    file_id => $_, filename => $_, size_bytes => 1 } }
    qw(b.txt sub/deep/a.csv)],
    'new files: regular ones, sorted, no hidden names, no caches');
is_deeply($s->python($id, 'open("b.txt").read()')->{files}, [],
    'reading is no change');
is_deeply($s->bash($id, 'cat b.txt; echo c >c.txt')->{files}, ['c.txt'],
    'only what this call has made');
is_deeply($s->bash($id, 'printf 9 >b.txt; rm c.txt')->{files}, ['b.txt'],
    'changed, the size being the same; deleted ones are not listed');
is_deeply($s->bash($id, 'mv sub moved')->{files}, ['moved/deep/a.csv'],
    'a moved directory');
is_deeply($s->bash($id, 'mkdir -p ' . join('/', 'd' x 1, 2 .. 9)
    . ' && cd d/2/3/4/5/6/7/8/9 && echo 1 >in && mkdir x && echo 1 >x/out')
    ->{files}, ['d/2/3/4/5/6/7/8/9/in'], 'ten levels deep, not more');
$s->put($id, 'seed.txt', 'seed');
is_deeply($s->bash($id, 'true')->{files}, [], 'an upload is no output');
is_deeply($s->bash($id, 'printf SEED >seed.txt')->{files}, ['seed.txt'],
    'an upload that is changed is one');
for my $try (1 .. 5) {
	$s->put($id, 'race.txt', "old$try");
	is_deeply($s->python($id, "open('race.txt', 'w').write('new$try')")
	    ->{files}, ['race.txt'], "changed at once, size the same ($try)");
}
for my $try (1 .. 5) {
	is_deeply($s->python($id, "open('race.txt', 'w').write('two$try')")
	    ->{files}, ['race.txt'], "changed by two calls in a row ($try)");
}
is_deeply($s->edit($id, command => 'create', path => 'ed.txt',
    file_text => 'x')->{files}, ['ed.txt'], "the editor's too");

# Names as they are, or escaped and to be had by that name.
$c = $s->python($id, <<'PY');
for n in (b'nl\nx', b'\xff\xfe', b'\xc3\xa9 \xc3\xbc.txt', b'100%', b"q\"'<b>", b'-rf',
          b'tab\t%41'):
    open(n, 'wb').write(n)
PY
is_deeply([sort @{$c->{files}}], [sort '%FF%FE', '-rf', '100%', "q\"'<b>",
    'nl%0Ax', 'tab%09%2541', "\x{e9} \x{fc}.txt"],
    'odd names: as they are if clean, else escaped');
for my $name (@{$c->{files}}) {
	my $bytes = $name;
	utf8::encode($bytes);
	my $want = $bytes;
	$want =~ s/%([0-9A-F]{2})/chr hex $1/ge if $name =~ /%(?:FF|0A|09)/;
	is($s->fetch($id, $bytes)->{body}, $want,
	    'fetched by its listed name: ' . Sandbox::escape($bytes));
}

$id = $s->session;
$c = $s->python($id, "for i in range(12000): open('f%05d' % i, 'w').close()");
is(scalar @{$c->{files}}, 10000, 'ten thousand files are listed');
$r = $s->exec($id, 'bash_code_execution', { command => 'echo 1 >f00000' });
ok($r->{json}{result_block}{content}{truncated}, 'and truncated says so');
is($s->bash($id, 'rm -f f*; echo 1 >one')->{truncated}, JSON::PP::true,
    'the looks before and after both count');
is($s->bash($id, 'echo 2 >two')->{truncated}, undef, 'then no more');

# --- addresses, methods, credentials ---

$r = $s->get('/health');
is_deeply({ %{$r->{json}}, session_count => 0 }, { status => 'ok',
    session_count => 0, max_sessions => 256, workspace => '/mnt/data',
    own_users => JSON::PP::false(),
    keeper => { runs => JSON::PP::false(), serves => JSON::PP::false(),
    ready => 0 },
    map({ $_ => $r->{json}{$_} } qw(extensions languages packages)) }, 'health');
is(ref $r->{json}{$_}, 'ARRAY', "its $_") for qw(extensions languages
    packages);
my $count = $r->{json}{session_count};
my $extra = $s->session;
is($s->get('/health')->{json}{session_count}, $count + 1,
    'health counts sessions');
$r = $s->get("/sessions/$extra");
is($r->{json}{session_id}, $extra, 'retrieve');
cmp_ok($r->{json}{last_activity_at}, '>=', $r->{json}{created_at},
    'last_activity_at');
is($s->get('/nothing')->{status}, 404, 'an unknown address');
is($s->request('PUT', '/sessions')->{status}, 405, 'a wrong method');
is($s->request('PATCH', "/sessions/$extra")->{status}, 405, 'of a session');
is($s->get("/sessions/$extra/")->{status}, 404, 'a slash too many');
is($s->get('/sessions/')->{status}, 404, 'no id');
is($s->get('/health?a=%zz')->{status}, 400, 'a broken query');
is(Satchel::header($s->get('/health'), 'X-Content-Type-Options'), 'nosniff',
    'nosniff');
is($s->get('/health', token => 'whatever')->{status}, 200,
    'a token nobody asks for');
undef $s;

my $t = Sandbox->new(set => { 'sandbox.token' => 'the-right-token' });
$id = $t->session;
for my $bad (undef, '', 'the-wrong-token', 'the-right-toke',
    'the-right-token2') {
	my $name = defined $bad ? "token '$bad'" : 'no token';
	is($t->get('/health', token => $bad)->{status}, 401, "health, $name");
	is($t->exec($id, 'bash_code_execution', { command => 'true' },
	    token => $bad)->{status}, 401, "execute, $name");
}
is($t->post('/sessions', token => undef)->{status}, 401, 'create, no token');
is($t->del("/sessions/$id", token => undef)->{status}, 401,
    'destroy, no token');
is($t->list($id)->{status}, 200, 'and it has destroyed nothing');
is($t->get('/nothing', token => undef)->{status}, 401,
    'an unknown address, no token');
undef $t;
done_testing();
