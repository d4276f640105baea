#!/usr/bin/perl

# Each limit of a session, passed: one plain line on stderr and the return code
# that belongs to it, and the session goes on.

use strict;
use warnings;
use Test::More;
use Sandbox;

my $s = Sandbox->new(set => { 'sandbox.workspace_bytes' => 4 << 20,
    'sandbox.session_memory_bytes' => 128 << 20, 'sandbox.cpu_seconds' => 2,
    'sandbox.processes' => 32 });
my $id = $s->session;
$s->bash($id, 'echo kept >kept');

# The whole answer: [tool, program, timeout, return code, stderr].
my $lost = 'variables were lost, files kept';
my $kept = 'files were kept';
my $grow = "import os, time\nfor i in range(4):\n    if os.fork() == 0:\n"
    . "        b = bytearray(60 << 20)\n"
    . "        for i in range(0, len(b), 4096): b[i] = 1\n"
    . "        time.sleep(30)\ntime.sleep(30)";
for (['wall time', 'python', 'import time; time.sleep(60)', 1, 124,
	"sandbox: wall limit of 1 s reached; $lost\n"],
    ['wall time', 'bash', 'sleep 60', 1, 124,
	"sandbox: wall limit of 1 s reached; $kept\n"],
    ['CPU time', 'python', 'while True: pass', 30, 152,
	"sandbox: CPU limit of 2 s reached; $lost\n"],
    ['CPU time', 'bash', 'while :; do :; done', 30, 152,
	"sandbox: CPU limit of 2 s reached; $kept\n"],
    ['CPU time of several', 'bash', 'for i in 1 2 3 4; do'
	. ' (for j in 1 2 3 4 5 6 7 8 9; do (for ((k = 0; k < 200000; k++)); do'
	. ' :; done); done) & done; wait', 30, 152,
	"sandbox: CPU limit of 2 s reached; $kept\n"],
    ['memory', 'python', $grow, 30, 137,
	"sandbox: memory limit of 128 MiB reached; $lost\n"],
    ['memory', 'bash', "python3 -c '$grow'", 30, 137,
	"sandbox: memory limit of 128 MiB reached; $kept\n"],
    ['an end by signal', 'python', 'import os; os.kill(os.getpid(), 15)', 30,
	143, "sandbox: the interpreter was ended by signal 15; $lost\n"],
    ['an end by signal', 'bash', 'kill -15 $$', 30, 143, ''],
    ['an exit', 'python', 'import os; os._exit(3)', 30, 3,
	"sandbox: the interpreter exited with status 3; $lost\n"]) {
	my ($what, $tool, $text, $timeout, $code, $err) = @$_;
	my $c = $s->can($tool)->($s, $id, $text, timeout => $timeout);
	is("$c->{return_code} $c->{stderr}", "$code $err", "$what in $tool");
	is($s->bash($id, 'cat kept')->{stdout}, "kept\n", '... files stay');
	is($s->python($id, 'print(1)')->{stdout}, "1\n", '... programs run');
}

# CPU time is a call's, not the session's.
for (1 .. 3) {
	my $c = $s->python($id, "import time\nt = time.process_time()\n"
	    . 'while time.process_time() < t + 0.9: pass');
	is("$c->{return_code} $c->{stderr}", '0 ', "less CPU time, call $_");
}
is($s->bash($id, 'sleep 3; echo ok')->{stdout}, "ok\n",
    'waiting takes no CPU time');

# What a program is told itself.
for (['a file', 'bash', 'truncate -s 9M f', 153, ''],
    ['space', 'python', "for i in range(9): open('f%d' % i, 'wb', 0)"
	. ".write(b'x' * (1 << 20))\nopen('f9', 'wb', 0).write(b'x')", 1,
	qr/\nOSError: \[Errno 28\] No space left on device\n\z/],
    ['memory of one process', 'python', 'bytearray(1 << 30)', 1,
	qr/\nMemoryError\n\z/],
    ['processes', 'python', "import os\nfor i in range(60):\n"
	. "    if os.fork() == 0: os.execv('/bin/sleep', ['sleep', '9'])", 1,
	qr/\nBlockingIOError: \[Errno 11\] Resource temporarily unavailable\n\z/],
    ['descriptors', 'python', "l = [open('/dev/null') for i in range(300)]", 1,
	qr/\nOSError: \[Errno 24\] Too many open files: '\/dev\/null'\n\z/]) {
	my ($what, $tool, $text, $code, $err) = @$_;
	my $c = $s->can($tool)->($s, $id, $text, timeout => 30);
	is($c->{return_code}, $code, "$what: a program's own failure");
	ref $err ? like($c->{stderr}, $err, '... as it sees it')
	    : is($c->{stderr}, $err, '... as it sees it');
	$s->bash($id, 'rm -f f*');
	is($s->python($id, 'print(1)')->{stdout}, "1\n", '... programs run');
}
undef $s;
# What programs have in the kernel.
$s = Sandbox->new(set => { 'sandbox.session_memory_bytes' => 64 << 20,
    'sandbox.session_watches' => 1024 });
$id = $s->session;
my $c = $s->python($id, <<'PY', timeout => 30);
import fcntl, os, struct, time
for k in range(2):
    if os.fork() == 0:
        for i in range(120):
            f = os.open('lock%d.%d' % (k, i), os.O_CREAT | os.O_RDWR)
            for j in range(1000):
                fcntl.fcntl(f, fcntl.F_SETLK,
                    struct.pack('hhqqi', fcntl.F_WRLCK, 0, 2 * j, 1, 0))
        time.sleep(30)
time.sleep(30)
PY
is("$c->{return_code} $c->{stderr}",
    "137 sandbox: memory limit of 64 MiB reached; $lost\n", 'locks of files');
for ([32, "0 \n"], [33, "137 sandbox: limit of 1024 epoll watches reached;"
    . " $lost\n"]) {
	$c = $s->python($id, <<"PY", timeout => 10);
import os, select, time
all = [select.epoll() for i in range($_->[0])]
many = [os.eventfd(0) for i in range(32)]
for e in all:
    for x in many: e.register(x)
time.sleep(0.3 if $_->[0] == 32 else 10)
PY
	is("$c->{return_code} $c->{stderr}" =~ s/^0 \z/0 \n/r, $_->[1],
	    "$_->[0] times 32 watches");
}
$s->done;
done_testing();
