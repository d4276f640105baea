#!/usr/bin/perl

# What has gone wrong in other sandboxes, each with a look from outside: output
# floods, fork bombs, children that stay behind, programs that stop themselves,
# kill all they can or close what they were given, links among the outputs.

use strict;
use warnings;
use Test::More;
use Digest::SHA qw(sha256_hex);
use Time::HiRes qw(sleep time);
use Sandbox;

my $s = Sandbox->new(set => { 'sandbox.processes' => 64 });
my $id = $s->session;
my ($a, $c, @before);

# How a tool is asked to run shell commands, or Python.
my %by = (
	bash => sub { $s->bash($id, $_[0], %{$_[1] || {}}) },
	run => sub { $s->run($id, 'bash', $_[0], %{$_[1] || {}})->{content} },
	python => sub {
		my $code = "import subprocess, sys\nr = subprocess.run(['bash',"
		    . " '-c', sys.stdin_text], stdin=subprocess.DEVNULL)\n"
		    . "sys.stdout.flush()\nif r.returncode: sys.exit("
		    . "r.returncode if r.returncode > 0 else"
		    . " 128 - r.returncode)\n";
		my $text = JSON::PP->new->ascii->allow_nonref->encode($_[0]);
		$code =~ s/sys\.stdin_text/$text/;
		return $s->python($id, $code, %{$_[1] || {}});
	},
);

# The session's processes besides its supervisor and a stopped interpreter.
sub strays {
	my @all = $s->inside($id);
	shift @all;
	return grep { my $stat = Satchel::_slurp("/proc/$_/stat");
	    $stat =~ /^\d+ \(.*\) [^TZX]/s } @all;
}
sub gone {
	my $until = time + 5;
	sleep 0.01 while strays() && time < $until;
	return !strays();
}

# --- sb-background-child: none outlives its call ---

for my $tool (sort keys %by) {
	for my $child ('sleep 600 &', '(setsid sleep 600 >/dev/null 2>&1 &)',
	    'setsid nohup sleep 600 &', 'sleep 600 & disown',
	    '(trap "" TERM HUP INT; exec sleep 600) &',
	    '(sleep 600 & sleep 600 &) & (sleep 600 | sleep 600) &') {
		my $began = time;
		$c = $by{$tool}->("$child\necho done", { timeout => 60 });
		is("$c->{stdout}$c->{stderr}$c->{return_code}", "done\n0",
		    "$tool: $child: the answer");
		cmp_ok(time - $began, '<', 50, '... does not wait for it');
		ok(gone(), '... and it has gone');
	}
}
$c = $s->python($id, <<'PY', timeout => 60);
import os, time
for i in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: time.sleep(600)
        os._exit(0)
print('done')
PY
is($c->{stdout}, "done\n", 'python: children of children');
ok(gone(), '... are gone');

# --- stopping, killing, closing ---

$s->python($id, 'kept = 5');
for my $tool (qw(bash run)) {
	$c = $by{$tool}->('echo a; kill -STOP $$; echo b', { timeout => 1 });
	is("$c->{return_code} $c->{stdout}", "124 a\n",
	    "$tool: SIGSTOP ends with the time limit");
	$c = $by{$tool}->('echo a; (kill -KILL -1; echo b >f); sleep 60',
	    { timeout => 30 });
	is("$c->{return_code} $c->{stdout}", "137 a\n",
	    "$tool: kill -1 of a child ends its parent, and the call");
	$c = $by{$tool}->('kill -KILL -1; echo survived', { timeout => 30 });
	is("$c->{return_code} $c->{stdout}", "0 survived\n",
	    "$tool: kill -1 spares who calls it, and the supervisor");
	$c = $by{$tool}->('exec 1>&- 2>&-; sleep 0.2; exit 4',
	    { timeout => 30 });
	is($c->{return_code}, 4, "$tool: without output descriptors");
	$c = $by{$tool}->('for i in {0..20}; do eval "exec $i>&-"; done;'
	    . ' exit 5', { timeout => 30 });
	is($c->{return_code}, 5, "$tool: without any descriptor");
	$c = $by{$tool}->('trap "" TERM INT HUP QUIT TSTP TTIN TTOU USR1 USR2;'
	    . ' while :; do :; done', { timeout => 1 });
	is($c->{return_code}, 124, "$tool: deaf and busy");
	is($by{$tool}->('echo ok')->{stdout}, "ok\n",
	    "$tool: the next call runs");
	ok(gone(), "$tool: nothing stays");
}
for (['SIGSTOP', 'import os, signal; os.kill(os.getpid(), signal.SIGSTOP)',
	124],
    ['every descriptor closed', 'import os; os.closerange(0, 256)', undef],
    ['its channel closed', 'import os; os.close(3)', undef],
    ['kill -1', 'import os, time; os.kill(-1, 9); time.sleep(60)', undef],
    ['_exit', 'import os; os._exit(9)', 9]) {
	my ($what, $code, $rc) = @$_;
	$c = $s->python($id, $code, timeout => 2);
	is($c->{return_code}, $rc, "python: $what") if defined $rc;
	is($s->python($id, 'print(6 * 7)', timeout => 30)->{stdout}, "42\n",
	    "python: after $what a program runs");
	is($s->bash($id, 'echo ok', timeout => 30)->{stdout}, "ok\n",
	    '... and a command');
	ok(gone(), '... and nothing stays');
}

# --- sb-fork-bomb: while others work ---

my $other = $s->session;
for (['fork', 'run_code_execution', { language => 'py', source =>
	"import os, time\nwhile True:\n    try:\n        if os.fork() == 0:"
	. " time.sleep(600)\n    except OSError: pass\n" }],
    ['memory', 'run_code_execution', { language => 'py', source =>
	"x = []\nwhile True: x.append(bytearray(1 << 24))\n" }],
    [':(){ :|:& };:', 'bash_code_execution', { command =>
	':(){ :|:& };: 2>/dev/null; sleep 60' }]) {
	my ($what, $tool, $input) = @$_;
	my $pid = fork // die;
	if (!$pid) {
		my $r = $s->exec($id, $tool, $input, timeout => 3);
		POSIX::_exit($r->{status} == 200
		    && $r->{json}{result_block}{content}{return_code} ? 0 : 1);
	}
	sleep 0.5;
	is($s->bash($other, 'echo ok', timeout => 30)->{stdout}, "ok\n",
	    "$what: another session works meanwhile");
	is($s->get('/health')->{status}, 200, '... and the host answers');
	waitpid $pid, 0;
	is($?, 0, '... it ends, and says that it failed');
	ok(gone(), '... and leaves no process');
	is($s->bash($id, 'echo ok')->{stdout}, "ok\n", '... the session lives');
}

# --- sb-output-flood ---

$a = $s->run($id, 'py', 'while True: print("x" * 1000)', timeout => 2,
    output_bytes => 65536);
is("$a->{content}{return_code} $a->{run}{ended}", '124 timeout',
    'endless output: the time limit');
cmp_ok(length $a->{content}{stdout}, '<', 66000, '... the answer stays small');
cmp_ok($a->{run}{stdout_dropped_bytes}, '>', 1 << 20,
    '... the rest is counted');
$a = $s->run($id, 'py', "import time\nfor i in range(130): "
    . "print('\x{20ac}' * 333, flush=True); time.sleep(0.002)\n",
    output_bytes => 65536);
my ($kept, $last) = $a->{content}{stdout}
    =~ /\A(.*)\n\[\.\.\. \d+ bytes left out \.\.\.\]\n(.*)\z/s;
is($a->{content}{return_code}, 0, 'twice the cap: the exit status is kept');
for my $half ($kept, $last) {
	utf8::encode(my $bytes = $half);
	cmp_ok(length $bytes, '>', 32760,
	    '... the first and the last half are kept');
}
is(index($kept . $last, "\x{fffd}"), -1, '... without half a character');
$a = $s->run($id, 'py', 'for i in range(1626): print(i)');
is($a->{content}{stdout}, join('', map { "$_\n" } 0 .. 1625),
    '1626 short lines are whole');

# --- outputs ---

$id = $s->session;
$a = $s->run($id, 'py', <<'PY', manifest => []);
import os, hashlib
os.symlink('/etc/passwd', 'leak.txt'); os.symlink('/proc/self', 'hop')
os.symlink('..', 'sub'); open('ok.txt', 'w').write('fine')
os.mkfifo('fifo')
for name, data in ('out.bin', bytes(range(256)) * 8 + b'\r\n\x1a\0\xff\xfe'), \
        ('big.png', b'\x89PNG\r\n\x1a\n' + os.urandom(300 << 10)):
    open(name, 'wb').write(data)
    print(name, hashlib.sha256(data).hexdigest())
PY
is_deeply([map { $_->{path} } @{$a->{files}}], [qw(big.png ok.txt out.bin)],
    'files alone are told, no link');
is_deeply($a->{content}{files}, [qw(big.png ok.txt out.bin)], '... twice');
my %said = $a->{content}{stdout} =~ /^(\S+) (\w+)$/mg;
for my $name (sort keys %said) {
	is(sha256_hex($s->fetch($id, $name)->{body}), $said{$name},
	    "$name arrives byte for byte");
	my ($line) = grep { $_->{path} eq $name } @{$a->{files}};
	is($line->{sha256}, $said{$name}, '... and its hash is told');
}
for my $path (qw(leak.txt hop/environ sub/etc/passwd hop fifo)) {
	isnt($s->fetch($id, $path)->{status}, 200, "$path cannot be had");
}

$s->done;
done_testing();
