package Attacks;

# The attacks of the protocol's checklist (section 6), by their numbers there,
# each looked at from outside where that is possible; t/README lists them.
#
#	attacks($level, %settings)   all of them on a sandbox of that isolation;
#	  keeper => 1 among the settings: on sessions that a keeper has made;
#	  the file that calls it has one test more a name that begins with the
#	  attack's number.

use strict;
use warnings;
use Exporter qw(import);
use Test::More;
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use Socket;
use Time::HiRes qw(sleep time);
use Sandbox;

our @EXPORT = qw(attacks);

my $MiB = 1 << 20;
my $ready_kib;	# Memory of a supervisor that a keeper has made; else 0.
my ($level, $s, $id, $c, $r, $n, $before, %meta, $other);

my $work;	# The workspace, as programs name it,
my $tmp;	# and the directory for what is not to stay.

# What is the answer at the level landlock, and what at the others.
sub lone {
	my ($there, $elsewhere) = @_;
	return $level eq 'landlock' ? $there : $elsewhere;
}

# What there is on the machine to be found.
my ($tcp, $port, $abstract, $hidden);
sub bait {
	$tcp = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 5) or die;
	$port = $tcp->sockport;
	socket($abstract, AF_UNIX, SOCK_STREAM, 0) or die;
	$hidden = "satchel-test-$$";
	bind $abstract, pack_sockaddr_un("\0$hidden") or die "abstract: $!";
	listen $abstract, 5 or die;
	open my $secret, '>', "$s->{dir}/secret" or die;
	print $secret 'HOSTSECRET';
	close $secret;
	chmod 0644, "$s->{dir}/secret";
	return;
}

# What code inside begins with.
our $prelude = <<'PY';
import os, sys, ctypes, errno, socket, signal, resource, subprocess, time, mmap
L = ctypes.CDLL(None, use_errno=True)
def sc(n, *a):
    r = L.syscall(ctypes.c_long(n), *a)
    return 'done' if r >= 0 else errno.errorcode[ctypes.get_errno()]
def t(f):
    try: return f()
    except OSError as e: return errno.errorcode[e.errno]
    except BaseException as e: return type(e).__name__
def opens(p, m='rb'):
    with open(p, m) as f: return len(f.read(1)) if m == 'rb' else 'done'
PY

# Run python with the prelude; what it prints, without the last newline.
sub py {
	my ($code, %o) = @_;
	$c = $s->python($id, "$prelude$code", %o);
	my $out = $c->{stdout};
	chomp $out;
	return $c->{stderr} eq '' ? $out : "$out|$c->{stderr}";
}

# Is the session as it should be between calls: its supervisor, at most the
# interpreter besides, and that stopped?  A thread stops when it next runs.
sub quiet {
	my ($name) = @_;
	my ($until, @names) = time + 2;
	do {
		sleep 0.01 if @names;
		my (undef, @rest) = $s->inside($id);
		@names = map { Satchel::_slurp("/proc/$_/stat")
		    =~ /\((.*)\) (\w)/ ? "$1 $2" : () } @rest;
		# Its dead children are the interpreter's to wait for.
		@names = grep { !/ Z$/ } @names;
	} while (time < $until && "@names" =~ /[^T]$/);
	is(join(', ', @names), @names ? 'python3 T' : '', $name);
	return;
}

sub same_supervisor {
	my ($name) = @_;
	is(($s->inside($id))[0], $meta{pid}, $name);
}

# --- processes and memory ---

sub processes {
$n = py(<<'PY');
n = 0
for i in range(400):
    try: p = os.fork()
    except OSError as e: print(errno.errorcode[e.errno], n); break
    if p == 0:
        time.sleep(60); os._exit(0)
    n += 1
    if n > 128: time.sleep(0.05)
else: print('never', n)
PY
# Without a namespace the kernel's count is the user's: the supervisor looks, for
# which the loop leaves it time, before memory is at its limit too.
my $many = "sandbox: limit of 128 processes reached;";
like($n, lone(qr/^\|\Q$many\E variables/, qr/^EAGAIN 1[12]\d$/),
    '1: fork fails at the limit');
quiet('1: and nothing is left of them');
is(py('print(1)'), '1', '1: the next call works');
is(py('print(os.waitpid(os.fork() or os._exit(0), 0)[1])'), '0',
    '1: and can fork');
$c = $s->bash($id, ':(){ :|:& };: ; sleep 60', timeout => 2);
is("$c->{return_code} $c->{stderr}" =~ /^(\d+).*\Q$many/s ? $1
    : $c->{return_code}, lone(137, 124),
    '1: a fork bomb runs into the wall limit');
quiet('1: and nothing is left of it');
is($s->bash($id, 'echo $((1+1))')->{stdout}, "2\n", '1: the next call works');

$n = py(<<'PY');
import threading
l = []
def start():
    for i in range(10000):
        x = threading.Thread(target=time.sleep, args=(1,)); x.start(); l.append(x)
print(t(start), len(l) < 128)
for x in l: x.join()
PY
is($n, 'RuntimeError True', '2: threads are limited alike');

py('os.kill(os.getpid(), 9)');
$n = py(<<'PY');
kept = 'kept'
most = 0
def grow():
    global most
    l = []
    while True: l.append(bytearray(b'x' * (1 << 20))); most = len(l)
print(t(grow), 150 < most < 256)
PY
is($n, 'MemoryError True', '3: memory of one process');
is(py('print(kept)'), 'kept', '3: the interpreter lives on');

$s->bash($id, 'echo here >file');
$c = $s->python($id, "$prelude" . <<'PY', timeout => 30);
for i in range(10):
    if os.fork() == 0:
        b = bytearray(60 << 20)
        for i in range(0, len(b), 4096): b[i] = 1
        time.sleep(30); os._exit(0)
time.sleep(30)
PY
is($c->{return_code}, 137, '4: memory of many processes');
like($c->{stderr}, qr/^sandbox: memory limit of 256 MiB reached; .*\n\z/m,
    '4: says so');
cmp_ok($c->{ms}, '<', 10000, '4: before the wall limit');
same_supervisor('4: the supervisor survives');
quiet('4: and nothing else does');
is($s->bash($id, 'cat file')->{stdout}, "here\n", '4: files are kept');
$c = $s->bash($id, <<'SH', timeout => 30);
for i in 1 2 3 4 5 6 7 8; do
  python3 -c 'import time
b = bytearray(60 << 20)
for i in range(0, len(b), 4096): b[i] = 1
time.sleep(30)' &
done; wait
SH
is($c->{return_code}, 137, '4: the same from bash');

py('print(1)');
is(join(' ', map { Satchel::_slurp("/proc/$_/oom_score_adj") + 0 }
    $s->inside($id)), Satchel::_slurp('/proc/self/oom_score_adj') + 0
    . ' 1000', '4: the kernel takes the interpreter before the supervisor');

# Shared pages are counted once: forked children of a large process.
is(py(<<'PY'), 'done', '4: pages shared by fork count once');
b = bytearray(100 << 20)
for i in range(0, len(b), 4096): b[i] = 1
for i in range(8):
    if os.fork() == 0: time.sleep(1); os._exit(0)
time.sleep(0.5); print('done')
PY

is(py('print([sc(n, 0, 0, 0, 0) for n in (319, 447, 29, 30, 68, 64, 240)])'),
    "['EPERM', 'EPERM', 'EPERM', 'EPERM', 'EPERM', 'EPERM', 'EPERM']",
    '5: memfd, shm, msg, sem, mq');
	return;
}

# --- files ---

# Where no filesystem is the session's own, the supervisor looks.
sub space {
my $full = "sandbox: space limit of 16 MiB reached; files were kept\n";
is(py("print([t(lambda: opens(d + '/x', 'w')) for d in ('/tmp', '/var/tmp',"
    . " '/dev/shm', '/', '/run')])"), "['" . join("', '", ('EACCES') x 5)
    . "']", '8: nothing but the workspace and TMPDIR is written to');
$s->bash($id, 'rm -rf ./*');
for (['TMPDIR', 'head -c 12000000 /dev/zero >$TMPDIR/a; cp $TMPDIR/a b'],
    ['many', 'for i in 1 2 3 4 5 6; do head -c 4000000 /dev/zero >f$i; done'],
    ['removed', 'exec 5>gone1 6>gone2; rm gone1 gone2; for f in 5 6; do'
    . ' head -c 12000000 /dev/zero >&$f; done']) {
	$c = $s->bash($id, "$_->[1]; sleep 20", timeout => 15);
	is("$c->{return_code} $c->{stderr}", "153 $full", "6, 7: $_->[0]");
	$s->bash($id, 'rm -rf ./* $TMPDIR/*');
}
# What hides what it holds open is not let run on.
$c = $s->bash($id, 'cp /usr/bin/sleep s; chmod 111 s; ./s 20', timeout => 10);
is($c->{return_code}, 153, '7: a program that cannot be looked at');
$s->bash($id, 'rm -f s; head -c 16000000 /dev/zero >most');
is($s->put($id, 'more', 'x' x 1_000_000)->{status}, 413,
    '7: PutFile is held to it too');
is($s->put($id, 'less', 'x' x 1000)->{status}, 201, '7: up to it');
$c = $s->edit($id, command => 'create', path => 'text',
    file_text => 'x' x 1_000_000);
like($c->{stderr}, qr/workspace is full/, '7: and so is the editor');
$s->bash($id, 'rm -rf ./*');
	return;
}

sub files {
$n = py(<<'PY');
def fill(d):
    for i in range(100):
        with open('%s/big%d' % (d, i), 'wb', 0) as f:
            for i in range(32): f.write(b'x' * 65536)
for d in ('.', '/tmp', '/dev/shm'):
    print(t(lambda: fill(d)), end=' ')
    n = 0
    for f in os.listdir(d):
        n += os.path.getsize(d + '/' + f)
        os.unlink(d + '/' + f)
    print((n + 65536) >> 20)
print(t(lambda: fill('/')))
PY
is($n, lone("|sandbox: space limit of 16 MiB reached; variables were lost,"
    . " files kept\n", "ENOSPC 16\nENOSPC 64\nENOSPC 16\nEROFS"),
    '6, 7, 8: the workspace, /tmp, /dev/shm and / are bounded');
space() if $level eq 'landlock';
is(py("print(t(lambda: os.truncate(os.open('sp', os.O_CREAT|os.O_RDWR), 1<<40)))"),
    'EFBIG', '9: a sparse file of 1 TiB');
$n = py(<<'PY');
def make():
    for i in range(1000000): open('i%d' % i, 'w').close()
print(t(make), 1000 < len(os.listdir('.')) < 2100)
for f in os.listdir('.'): os.unlink(f)
PY
# Where nothing can bound that, the supervisor looks at it.
is($n, $level =~ /bwrap|landlock/ ? '|sandbox: limit of 2048 files reached; variables'
    . " were lost, files kept\n" : 'ENOSPC True', '10: inodes');
is($s->bash($id, "rm -rf $work" . '/*; ls')->{stdout}, '',
    '10: the session goes on');
$n = py(<<'PY');
l = []
def take():
    while True: l.append(open('/dev/null'))
print(t(take), len(l) < 256); l.clear()
PY
is($n, 'EMFILE True', '11: descriptors');
is($s->bash($id, 'echo ok')->{stdout}, "ok\n", '11: the next call works');
is(py("p = os.fork() or os.abort()\nprint(os.waitpid(p, 0)[1], os.listdir('.'))"),
    '6 []', '12: no core dump');
	return;
}

# --- output ---

sub output {
$before = time;
$c = $s->python($id, "import sys\nfor _ in range(200):"
    . " sys.stdout.write('x' * (1 << 20))\nprint()", timeout => 60);
is("$c->{return_code} $c->{stderr}", '0 ', '13: 200 MiB are swallowed');
like($c->{stdout}, qr/\Ax+\n\[\.\.\. 208666625 bytes left out \.\.\.\]\nx+\n\z/,
    '13: one is kept, the rest counted');
my ($peak) = Satchel::_slurp("/proc/$meta{pid}/status") =~ /VmHWM:\s*(\d+)/;
# One that came from a zygote had that much from the start.
$peak -= $ready_kib;
cmp_ok($peak, '<', Satchel::sanitizer('satchel-sandbox') ? 128 << 10 : 32 << 10,
    "13: the supervisor never held more: $peak KiB");
$c = $s->python($id, "import os, sys\nos.write(2, b'a\\0b\\xff\\n')\n"
    . "sys.stderr.write('e' * (3 << 20))");
like($c->{stderr}, qr/\Aa\0b\x{fffd}\ne+\n\[\.\.\. \d+ bytes left out \.\.\.\]\ne+\z/,
    '14: of stderr too, NUL kept, what is no UTF-8 marked');
$c = $s->python($id, "import os\nwhile True: os.write(1, b'y' * 65536)",
    timeout => 2);
is($c->{return_code}, 124, '13: an endless flood ends at the wall limit');
	return;
}

# --- time ---

sub endless {
my @endless = (
	['15: spin', 'while True: pass'],
	['16: sleep', 'import time; time.sleep(60)'],
	['17: stop itself', 'import os; os.kill(os.getpid(), 19)'],
	['18: block all signals and spin', "import signal\n"
	    . "for i in range(1, 65):\n  try: signal.signal(i, signal.SIG_IGN)\n"
	    . "  except (OSError, ValueError): pass\n"
	    . "signal.pthread_sigmask(0, signal.valid_signals())\nwhile True: pass"],
);
for (@endless) {
	my ($name, $code) = @$_;
	$s->bash($id, 'echo kept >kept');
	$before = time;
	$c = $s->python($id, "print('part')\n$code", timeout => 1);
	cmp_ok(time - $before, '<', 4, "$name: ends in its time");
	is("$c->{return_code}$c->{stdout}", "124part\n",
	    "$name: 124, with what was printed");
	is($c->{stderr}, "sandbox: wall limit of 1 s reached;"
	    . " variables were lost, files kept\n", "$name: says so");
	quiet("$name: nothing is left");
	is($s->bash($id, 'cat kept')->{stdout}, "kept\n", "$name: files stay");
	is(py('print(1)'), '1', "$name: a fresh interpreter");
}
$c = $s->bash($id, 'echo part; trap "" TERM INT HUP; while :; do :; done',
    timeout => 1);
is("$c->{return_code}$c->{stdout}$c->{stderr}", "124part\nsandbox: wall limit"
    . " of 1 s reached; files were kept\n", '15: the same in bash');

is(py('print(repr(sys.stdin.read()))'), "''", '48: nothing to read');
is($s->bash($id, 'cat | wc -c')->{stdout}, "0\n", '48: in bash');

py("import threading\nv = 'kept'\ndef spin():\n    while True: pass\n"
    . 'threading.Thread(target=spin, daemon=True).start()');
quiet('15: a thread does not go on between calls');
is(py('print(v)'), 'kept', '15: and the interpreter does when it is called');
py('os.kill(os.getpid(), 9)');

$c = $s->bash($id, '(setsid sh -c "sleep 600 & sleep 600" >/dev/null 2>&1 &);'
    . ' nohup sleep 600 >/dev/null 2>&1 & echo done');
is($c->{stdout}, "done\n", '19: a daemon');
quiet('19: does not outlive its call');
py(<<'PY');
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(600)
    os._exit(0)
os.wait()
PY
quiet('19: nor one made by python');
$before = time;
is($s->bash($id, 'sleep 600 & echo done')->{stdout}, "done\n",
    '20: a child that holds the pipe');
cmp_ok(time - $before, '<', 3, '20: delays nothing');
	return;
}

# --- the supervisor ---

# What ps shows: the session and who it is a child of.
sub titles {
	my @pids = $s->inside($id);
	my ($parent) = Satchel::_slurp("/proc/$pids[0]/stat") =~ /\) \S (\d+)/;
	my $above = $ready_kib ? qr/satchel: zygote/
	    : $level eq 'landlock' ? qr/satchel: warden \Q$id\E/
	    : $level eq 'bwrap' ? qr/bwrap\0.*/ : undef;
	my %title = map { $_ => Satchel::_slurp("/proc/$_/cmdline") =~ s/\0\z//r }
	    @pids, $above ? $parent : ();
	is($title{$pids[0]}, "satchel: session $id",
	    '25: the words of the supervisor are its title');
	like($title{$parent}, qr/\A$above\z/, '25: its parent has one too')
	    if $above;
	is(scalar(grep { /\Apython3(?:\0|\z)/ } @title{@pids}), 1,
	    '25: there is one interpreter');
	is(join("\n", grep { length > 200 } values %title), '',
	    '25: no line is long');
	return;
}
sub supervisor {
is(py('print([t(lambda: os.kill(' . lone($meta{pid}, 1)
    . ', n)) for n in (9, 19, 15, 2, 1, 17)])'), lone("['"
    . join("', '", ('EPERM') x 6) . "']",
    '[None, None, None, None, None, None]'), '21: signals to the supervisor');
is(py('print(1)'), '1', '21: have no effect');
same_supervisor('21: at all');
$c = $s->python($id, "import os\nif os.fork() == 0: os.kill(-1, 9)\nos.wait()");
is($c->{return_code}, 137, '22: kill -1 takes the interpreter');
like($c->{stderr}, qr/^sandbox: the interpreter was ended by signal 9;/m,
    '22: and says so');
is(py('print(1)'), '1', '22: a fresh one comes');
is($s->bash($id, '(kill -9 -1); sleep 60')->{return_code}, 137, '22: in bash');
is($s->bash($id, 'kill -STOP -1; sleep 60', timeout => 1)->{return_code}, 124,
    '22: kill -STOP -1');
is($s->bash($id, 'kill -CONT -1; echo ok')->{stdout}, "ok\n",
    '22: nothing is wedged');
same_supervisor('22: the supervisor is the same');
my $above = lone($meta{pid}, 1);
is(py('print([sc(101, 16, 1, 0, 0), sc(310, 1, 0, 0, 0, 0, 0), sc(311, 1, 0,'
    . ' 0, 0, 0, 0), sc(438, pf := os.pidfd_open(1), 0, 0), sc(312, 1, 1, 0, 0, 0)])
'
    . 'os.close(pf)'),
    "['EPERM', 'EPERM', 'EPERM', 'EPERM', 'EPERM']",
    '23: ptrace, process_vm_*, pidfd_getfd, kcmp');
is(py("print([t(lambda: opens('/proc/1/' + x)) for x in"
    . " ('environ', 'mem', 'maps')], t(lambda: os.listdir('/proc/1/fd')),"
    . " t(lambda: os.listdir('/proc/1/root')), t(lambda:"
    . " os.readlink('/proc/1/exe')))" =~ s{/proc/1/}{/proc/$above/}gr),
    "['EACCES', 'EACCES', 'EACCES'] EACCES EACCES EACCES",
    '24: what /proc says of the supervisor');
is(py('print(sorted(os.environ))'), "['HOME', 'LANG', 'MPLBACKEND', "
    . "'MPLCONFIGDIR', 'OPENBLAS_NUM_THREADS', 'PATH'" . lone(", 'TMPDIR']",
    ']'), '25: six variables');
is($s->bash($id, 'cat /proc/[0-9]*/environ 2>/dev/null | tr "\0" "\n"'
    . ' | grep -c of-the-service')->{stdout}, "0\n", '25: no secret in any');
is(join(' ', sort map { /^(\w+)/ } split /\0/,
    # An ordinary user cannot look at all.
    Satchel::_slurp("/proc/$meta{pid}/environ")), $> != 0 ? ''
    : $level eq 'bwrap' ? 'PWD'
    : $ready_kib ? 'HOME LANG MPLBACKEND MPLCONFIGDIR OPENBLAS_NUM_THREADS PATH'
    : '', '25: nor in the supervisor');
titles();

# Without a look at /proc: those that are open.
is(py("print([n for n in range(256) if t(lambda: os.fstat(n)) != 'EBADF'])"),
    '[0, 1, 2, 3, 100, 101, 102]',
    "26: python's descriptors, with the copies that it keeps of its first three");
is($s->bash($id, 'for f in {0..250}; do test -e /proc/$$/fd/$f && echo $f; done;'
    . ' for f in 0 1 2; do readlink /proc/$$/fd/$f | cut -c1-5; done')->{stdout},
    "0\n1\n2\n/dev/\npipe:\npipe:\n", "26: bash's descriptors");
if ($> == 0) {
	my @fds = map { readlink } glob "/proc/$meta{pid}/fd/*";
	is(join(' ', grep { m{^/} && !m{^/dev/null$}
	    && !m{/lock$} && !m{^/(?:mnt/data)?$}
	    && !($level eq 'landlock' && m{/\Q$id\E/work$})
	    && !m{/memory\.(?:oom_control|events)$} } @fds), '',
	    "26: as root: the supervisor's lead to no file but its lock");
}

is(py("os.write(3, b'0\\n' * 100000)\nos.write(3, b'0' * 100 + b'\\n' + b'f' *"
    . " 16 + b' 0\\n')\nprint('own')"), 'own', '27: forged answers');
is(py("print('next')"), 'next', '27: belong to no call');
$c = $s->python($id, "import os\nos.write(3, b'f' * 16 + b' 99\\n')");
is($c->{return_code}, 0, '27: and decide nothing');
like(py("os.fork(); print(1)"), qr/^1(\n1)?$/, '28: a child that runs off its cell');
is(py("print('two')"), 'two', '28: answers nothing');
for (['29: close everything', 'os.closerange(0, 256)', 137],
    ['29: segfault', 'ctypes.string_at(0)', 139],
    ['29: os._exit', 'os._exit(5)', 5]) {
	my ($name, $code, $rc) = @$_;
	py($code);
	is($c->{return_code}, $rc, $name);
	like($c->{stderr}, qr/^sandbox: the interpreter .*variables were lost/m,
	    "$name: says so");
	is(py("print('fresh')"), 'fresh', "$name: a fresh interpreter");
}
	return;
}

# --- what is visible ---

sub visible {
$other = $s->session;
$s->bash($other, 'echo OTHERSECRET >secret');
$s->python($other, 'x = 1');
is($s->bash($id, 'grep -r OTHERSECRET /mnt /tmp /dev/shm 2>/dev/null'
    . ' | grep -c .')->{stdout}, "0\n", "30: another session's files");
my @mine = $s->inside($id);
my $seen = () = $s->bash($id, 'cd /proc; echo [0-9]*')->{stdout} =~ /\d+/g;
cmp_ok($seen, '<=', @mine + 1, "30: another session's processes");
py('print(1)');
my ($kernel) = grep { Satchel::_slurp("/proc/$_/stat") =~ /\(python3\)/ }
    $s->inside($id);
for ($level eq 'landlock' ? () : qw(user pid mnt net ipc uts cgroup)) {
	like(readlink("/proc/$kernel/ns/$_"), qr/^$_:/, "30: a $_ namespace");
	isnt(readlink("/proc/$kernel/ns/$_"), readlink("/proc/$$/ns/$_"),
	    '30: of its own');
}
is(join(',', map { sprintf '%o', (stat "$s->{sessions}/$_")[2] & 07777 }
    $id, $other), '700,700', '30: directories are closed to others');

# Without a root of its own names are answered for, but nothing opens.
my $none = lone("'EACCES'", '[]');
my $there = lone("'EACCES' != t(lambda: os.listdir(p) if os.path.isdir(p) else"
    . " opens(p)) != 'ENOENT'", 'os.path.lexists(p)');
is(py("print([p for p in ('$s->{dir}', '$s->{dir}/secret', '/root', '/home',"
    . " '/srv', '/opt', '/boot', '/media', '/sys', '/var/lib', '/var/log',"
    . " '/etc/shadow', '/etc/hostname', '/etc/machine-id', '/etc/ssl',"
    . " '/run/systemd', '/usr/local/etc/x', '/lost+found') if"
    . " $there])"), '[]', '31: files of the machine');
is(py("print(t(lambda: open('/etc/passwd').read().count(chr(10))))"),
    lone('EACCES', 1), '31: one user is known');
is(py("print(t(lambda: os.listdir('/usr/local/etc')) in ($none, 'ENOENT'),"
    . " t(lambda: os.listdir('/usr/src')) in ($none, 'ENOENT'))"), 'True True',
    '31: parts of /usr that are the machine\'s own are empty');
is(py("print([t(lambda: opens(p, 'w')) for p in ('/x', '/usr/x', '/etc/x',"
    . " '/etc/passwd', '/usr/bin/env', '/dev/x', '/mnt/x', '/run/x', '/var/x',"
    . " '/etc/alternatives/x')])"), "['" . join("', '", (lone('EACCES',
    'EROFS')) x 10) . "']",
    '32: everything else is read-only');
is(py("print([t(lambda: os.rename('/dev/null', '/dev/n')),"
    . " t(lambda: os.chmod('/usr', 0o777))])"), lone("['EACCES', 'EACCES']",
    "['EROFS', 'EROFS']"), '32: and cannot be changed');
# bubblewrap covers them one by one.
is(py("print([p for p in ('sys', 'sysrq-trigger', 'kcore', 'kmsg', 'cmdline',"
    . " 'version', 'cpuinfo', 'meminfo', 'mounts', 'net', 'kallsyms', 'bus',"
    . " 'fs', 'keys') if p not in ('mounts', 'net') and"
    . " t(lambda: os.listdir('/proc/' + p)) not in ([], 'ENOENT') and"
    . " t(lambda: opens('/proc/' + p)) not in ('ENOENT', 'EACCES')])"), '[]',
    '33: /proc tells of processes only');
if ($level eq 'bwrap') {
	# Where / itself is a directory of another system, that one's name shows.
	is(py("m = open('/proc/self/mountinfo').read()\nprint([p for p in"
	    . " ('$s->{dir}', '$s->{sessions}') if p in m])"),
	    '[]', '33: no path of the machine among the mounts');
} else {
	is(py("print([t(lambda: open('/proc/self/' + f).read()) for f in"
	    . " ('mountinfo', 'mounts', 'mountstats')])"), "['"
	    . join("', '", (lone('EACCES', '')) x 3) . "']",
	    '33: no device and no path of the machine among the mounts');
}
	return;
}

# --- the network ---

sub network {
is(py('print([t(lambda: socket.socket(f, k)) for f, k in ((2, 1), (2, 2),'
    . ' (10, 1), (16, 3), (17, 3), (40, 1), (38, 5), (31, 3), (44, 3))])'),
    "['" . join("', '", ('EAFNOSUPPORT') x 9) . "']",
    '34, 35: no sockets but unix ones');
is($s->bash($id, "exec 3<>/dev/tcp/127.0.0.1/$port && echo in")->{stdout}, '',
    "34: the machine's own services");
is($s->bash($id, 'ls -d /sys /proc/net /proc/$$/net/dev 2>/dev/null; cat'
    . ' /proc/$$/net/dev 2>/dev/null | grep -c eth')->{stdout}
    =~ /^[1-9]\d*$/m ? 'eth' : '', '', '34: no interface of the machine');
# Or there is no socket that could be connected to them: see below.
is(py("print([os.path.exists(p) for p in ('$s->{dir}/sock',"
    . " '$s->{sessions}/$id/sock', '/run/mysqld/mysqld.sock')])"),
    '[False, False, False]', '36: unix sockets of the machine')
    if $level ne 'landlock';
is(py("print(t(lambda: socket.socket(socket.AF_UNIX).connect('\\0$hidden')))"),
    lone('EPERM', 'ECONNREFUSED'),
    '37: abstract unix sockets of the machine');
is(scalar IO::Select->new($tcp, $abstract)->can_read(0), undef,
    '34, 37: nobody has come to either');
	return;
}

# --- privileges ---

sub privileges {
py('print(1)');
my ($kernel) = grep { Satchel::_slurp("/proc/$_/stat") =~ /\(python3\)/ }
    $s->inside($id);
my $status = Satchel::_slurp("/proc/$kernel/status");
for (['CapInh', '0000000000000000'], ['CapPrm', '0000000000000000'],
    ['CapEff', '0000000000000000'], 
    # Only root could take that from itself; NoNewPrivs makes it worthless.
    $level eq 'landlock' ? () : ['CapBnd', '0000000000000000'],
    ['CapAmb', '0000000000000000'], ['NoNewPrivs', '1'], ['Seccomp', '2']) {
	my ($what, $is) = @$_;
	my ($value) = $status =~ /^$what:\s*(\w+)/m;
	is($value, $is, "38: $what of the interpreter, from outside");
}
$status = Satchel::_slurp("/proc/$meta{pid}/status");
for (['CapEff', '0000000000000000'],
    $level eq 'landlock' ? () : ['CapBnd', '0000000000000000'],
    ['NoNewPrivs', '1']) {
	my ($what, $is) = @$_;
	my ($value) = $status =~ /^$what:\s*(\w+)/m;
	is($value, $is, "38: $what of the supervisor, from outside");
}
my ($uids) = $status =~ /^Uid:\s*(.*)/m;
is($uids, join("\t", ((stat $s->{sessions})[4]) x 4),
    "38: all of it runs as the service's user");
is($s->bash($id, 'su -c id 2>/dev/null; sudo -n id 2>/dev/null; id -u')
    ->{stdout}, lone((stat $s->{sessions})[4], 1000) . "\n", '38: setuid programs');
is(py("print([sc(133, b'dev', 0o20666, 0x103), sc(133, b'blk', 0o60666, 0x800),"
    . " sc(259, -100, b'dev', ctypes.c_long(0o20666), 0x103),"
    . " t(lambda: os.mkfifo('ff'))])"), "['EPERM', 'EPERM', 'EPERM', None]",
    '39: devices cannot be made, FIFOs can');
is(py("print(t(lambda: sorted(os.listdir('/dev'))))"), lone('EACCES', "['fd', 'full', 'null', 'random', "
    . "'shm', 'stderr', 'stdin', 'stdout', 'urandom', 'zero']"),
    '39: the devices there are');
is(py('print([sc(n, 0, 0, 0, 0, 0) for n in (165, 166, 155, 161, 428, 429,'
    . ' 430, 431, 432, 433, 442)])'), "['" . join("', '", ('EPERM') x 11)
    . "']", '40: mounts');
is(py('print([sc(272, 0x10000000), sc(272, 0x40000000), sc(56, 0x10000011, 0,'
    . ' 0, 0, 0), sc(56, 0x20000011, 0, 0, 0, 0), sc(308, 0, 0), sc(435, 0,'
    . ' 0)])'), "['EPERM', 'EPERM', 'EPERM', 'EPERM', 'EPERM', 'ENOSYS']",
    '41: namespaces');
is(py('print([sc(n, 0, 0, 0, 0, 0) for n in (425, 426, 427)])'),
    "['ENOSYS', 'ENOSYS', 'ENOSYS']", '42: io_uring');
is(py('print([sc(n, 0, 0, 0, 0, 0) for n in (321, 298, 323, 135, 103, 300)])'),
    "['" . join("', '", ('EPERM') x 6) . "']",
    '43: bpf, perf, userfaultfd, personality, syslog, fanotify');
is(py('print([sc(n, 0, 0, 0, 0, 0) for n in (248, 249, 250)])'),
    "['EPERM', 'EPERM', 'EPERM']", '44: keyrings');
is(py('print(sc(0x40000000 | 39))'), 'ENOSYS', '45: x32 system calls');
py(<<'PY');
m = mmap.mmap(-1, 4096, prot=7)
m.write(b'\xb8\x14\0\0\0\xcd\x80\xc3')   # getpid() by the 32-bit gate
a = ctypes.addressof(ctypes.c_char.from_buffer(m))
ctypes.CFUNCTYPE(ctypes.c_int)(a)()
PY
ok($c->{return_code} == 159 || $c->{return_code} == 139,
    "45: 32-bit system calls end the process: $c->{return_code}");
is(py('print([t(lambda: resource.setrlimit(r, (-1, -1))) for r in (resource.'
    . 'RLIMIT_NPROC, resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.'
    . 'RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE)])'),
    "['" . join("', '", ('ValueError') x 6) . "']", '46: limits stay');
is(py('print([t(lambda: os.nice(-5)), t(lambda: os.sched_setscheduler(0, 1,'
    . ' os.sched_param(50)))])'), "['EPERM', 'EPERM']", '46: priorities');
is(py("import fcntl\nprint([t(lambda: fcntl.ioctl(0, 0x5412, b'x')),"
    . " t(lambda: opens('/dev/tty'))], os.getsid(0) == os.getpid())"),
    "['ENOTTY', '" . lone('EACCES', 'ENOENT') . "'] True", '47: no terminal');
	return;
}

# --- what the machine shares ---

# Calls that change, use up or watch what is not the session's alone.
sub shared {
my $above = lone($meta{pid}, 1);
my @was = (Satchel::_slurp("/proc/$meta{pid}/limits"),
    getpriority(0, $meta{pid}));
is(py("print([sc(n, $above, 0, 0, 0) for n in (302, 203, 144, 142, 314, 440,"
    . " 448, 279, 256)], sc(251, 1, $above, 0), sc(251, 2, $above, 0),"
    . " sc(251, 3, 0, 0))"), "['" . join("', '", ('EPERM') x 9)
    . "'] EPERM EPERM EPERM",
    '76: limits, scheduling and memory of the supervisor');
is(py("print([t(lambda: os.setpriority(*a)) for a in ((os.PRIO_PROCESS,"
    . " $above, 19), (os.PRIO_PGRP, 0, 19), (os.PRIO_USER, 0, 19))])"),
    "['EPERM', 'EPERM', 'EPERM']", '76: and its priority');
is(py('print(sc(302, 0, 7, 0, 0), t(lambda: os.setpriority(0, 0, 1)),'
    . ' t(lambda: len(os.sched_getaffinity(0)) > 0))'), 'done None True',
    "76: a program's own can be read and lowered");
is(py('print(sc(157, 62, 0, 0, 0, 0), sc(157, 4, 0, 0, 0), sc(436, 200, 200,'
    . ' 2), sc(56, 0x10900, 0, 0, 0, 0))'), 'EPERM EPERM EINVAL EPERM',
    '76: nor is it kept from looking');
is(join('|', Satchel::_slurp("/proc/$meta{pid}/limits"),
    getpriority(0, $meta{pid})), join('|', @was), '76: seen from outside');
is(py('print([sc(n, 0, 0, 0, 0, 0) for n in (253, 294, 451)], sc(72, os.open('
    . "'.', os.O_RDONLY), 1026, 0x8000001f))"), "['ENOSYS', 'ENOSYS',"
    . " 'ENOSYS'] EINVAL", '77: watch what others do with files');
is(py('print([sc(n, 1, 0, 0, 0, 0) for n in (206, 207, 208, 209, 210, 333)])'),
    "['" . join("', '", ('ENOSYS') x 6) . "']", '78: AIO contexts');
is(py("f = os.open('own', os.O_CREAT | os.O_WRONLY)\nprint(sc(162),"
    . ' sc(306, f), sc(306, 99), os.fsync(f), os.fdatasync(f), sc(179, 0x80000100,'
    . ' 0, 0, 0), sc(443, f, 0, 0, 0))'), 'done done done None None EPERM EPERM',
    '79: sync and syncfs are answered, and do nothing');
is(py('print(sc(317, 1, 0, 0), sc(157, 22, 2, 0), [sc(n, 0, 0, 0, 0) for n in'
    . ' (444, 445, 446)], [t(lambda: socket.socketpair()[0].setsockopt(1, o,'
    . ' bytes(16))) for o in (26, 50, 51, 52)])'), "ENOSYS EPERM ['ENOSYS',"
    . " 'ENOSYS', 'ENOSYS'] ['EPERM', 'EPERM', 'EPERM', 'EPERM']",
    '80: filters and rules of its own');
is(py(<<'PY'), 'ENOMEM ENOMEM ENOSYS', '81: memory that stays when unmapped');
print(t(lambda: mmap.mmap(-1, (16 << 20) + 1)), t(lambda: mmap.mmap(-1, 2 << 20,
    flags=0x40022)), sc(278, 0, 0, 0, 0))
PY
is(py('print(len(mmap.mmap(-1, 16 << 20)), len(mmap.mmap(-1, 64 << 20,'
    . " flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)), opens('/dev/zero'))"),
    '16777216 67108864 1', '81: what programs use of it is there');
is(py("f = os.open('/dev/zero', os.O_RDONLY)\n"
    . "print(t(lambda: len(mmap.mmap(f, 4096, prot=1))))"),
    lone('4096', 'ENODEV'), '81: nor by a device');
	return;
}

# --- memory of the kernel, and how it is counted ---

my $too_much = "137 |sandbox: memory limit of 256 MiB reached; variables were"
    . " lost, files kept\n";

# Code that is ended as soon as what it holds is seen.
sub ended {
	my ($name, $code, $says) = @_;
	my $got = py("$code\ntime.sleep(20)", timeout => 20);
	is("$c->{return_code} $got", $says // $too_much, $name);
	return;
}

# In as many processes.
sub each_of {
	my ($n, $code) = @_;
	return "for k in range($n):\n    if os.fork() == 0:\n"
	    . ($code =~ s/^/        /mgr) . "\n        time.sleep(20)\n"
	    . '        os._exit(0)';
}

sub kernel_memory {
is(py(each_of(10, 'l = [socket.socketpair() for i in range(100)]'
    . "\ntime.sleep(0.5)\nos._exit(0)") . "\nfor k in range(10): os.wait()\n"
    . "print('done')"), 'done', '83: a thousand pairs of sockets');
my $fill = "a.setblocking(False)\ntry:\n    while 1: a.send(bytes(65536))\n"
    . "except BlockingIOError: pass\n";
ended('83: what sockets have sent', each_of(40, "l = []\nfor i in range(110):\n"
    . (("a, b = socket.socketpair()\n${fill}l.append((a, b))") =~ s/^/    /mgr)));
ended('83: though they are closed', each_of(40, "l = []\nfor i in range(200):\n"
    . ("a, b = socket.socketpair()\n${fill}a.close()\nl.append(b)"
    =~ s/^/    /mgr)));
if ($level ne 'landlock') {
	ended('83: though nobody has accepted them', "s = socket.socket(socket."
	    . "AF_UNIX)\ns.bind('/tmp/s')\ns.listen(4000)\nfor i in range(4000):\n"
	    . (("a = socket.socket(socket.AF_UNIX)\na.connect('/tmp/s')\n$fill"
	    . 'a.close()') =~ s/^/    /mgr));
	ended('83: messages to many', each_of(20, "l = []\nfor i in range(200):\n"
	    . (("p = '/tmp/%d.%d' % (k, i)\nb = socket.socket(socket.AF_UNIX,"
	    . " socket.SOCK_DGRAM)\nb.bind(p)\nl.append(b)\nfor j in range(11):\n"
	    . "    a = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
	    . "    a.setblocking(False)\n    t(lambda: a.sendto(bytes(200000), p))")
	    =~ s/^/    /mgr)));
	$s->bash($id, 'rm -rf /tmp/*');
}
ended('84: page tables', each_of(60, <<'PY'));
n = 3 << 30
m = mmap.mmap(-1, n, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000,
    prot=mmap.PROT_READ)
for i in range(0, n, 2 << 20): m[i]
PY
ended('84: numbers of mappings', <<'PY' . each_of(60, ''));
n = 30000
L.mmap.restype = ctypes.c_void_p
L.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
a = L.mmap(None, ctypes.c_size_t(4096 * n), 0, 0x4022, -1, 0)
for i in range(0, n, 2): L.mprotect(a + 4096 * i, 4096, 1)
PY
ended('85: memory of a process whose first thread has ended',
    "import threading\n" . each_of(12, <<'PY'));
def grow():
    time.sleep(0.1)
    b = bytearray(60 << 20)
    for i in range(0, len(b), 4096): b[i] = 1
    time.sleep(20)
threading.Thread(target=grow).start()
sc(60, 0)
PY
ended('86: pipes', each_of(100, <<'PY'));
l = []
for i in range(240):
    r, w = os.pipe()
    l.append(r)
    os.close(w)
PY
ended('87: shared memory that is not looked at any more', <<'PY');
l = []
for i in range(24):
    l.append(mmap.mmap(-1, 16 << 20))
    for j in range(0, 16 << 20, 4096): l[-1][j] = 1
    l[-1].madvise(mmap.MADV_DONTNEED)
PY
py('print(1)');
my ($kernel) = grep { Satchel::_slurp("/proc/$_/stat") =~ /\(python3\)/ }
    $s->inside($id);
is(py("def adj(x):\n    with open('/proc/self/' + x, 'w') as f: f.write('0')\n"
    . "print(t(lambda: adj('oom_score_adj')), t(lambda: adj('oom_adj')))\n"
    . 'time.sleep(0.3)'), lone('EACCES EACCES',
    $level eq 'bwrap' ? 'None None' : 'EROFS EROFS'),
    '88: to be the last to go');
is(Satchel::_slurp("/proc/$kernel/oom_score_adj"), "1000\n",
    '88: nobody is for long');
ended('89: watches', each_of(100, <<'PY'), '137 |sandbox: limit of 65536 epoll'
import select
l = [select.epoll() for i in range(120)]
f = [os.eventfd(0) for i in range(120)]
for e in l:
    for x in f: e.register(x)
PY
    . " watches reached; variables were lost, files kept\n");
is(py(<<'PY'), '12000', '89: as many as one program can have');
import select
l = [select.epoll() for i in range(100)]
f = [os.eventfd(0) for i in range(120)]
for e in l:
    for x in f: e.register(x)
time.sleep(0.2)
print(len(l) * len(f))
PY
is(py(<<'PY'), 'EAGAIN True', '92: timers and signals that wait');
n = 0
i = ctypes.c_int()
while (r := sc(222, 1, 0, ctypes.byref(i))) == 'done' and n < 5000: n += 1
print(r, n <= 1024)
PY
quiet('83 to 92: nothing is left of them');
same_supervisor('83 to 92: the supervisor survives');
	return;
}

# A supervisor that cannot look: as if the limit had been passed.
sub blind {
# Nor can it say how it went.
$s->expect_log(qr/a supervisor could not make a call/);
my $victim = $s->session;
my ($supervisor) = $s->inside($victim);
my $busy = fork // die;
if (!$busy) {
	eval { $s->bash($victim, 'sleep 600', timeout => 20) };
	POSIX::_exit(0);
}
my ($until, @all) = time + 5;
sleep 0.02 while (@all = grep { Satchel::_slurp("/proc/$_/stat") =~ /\(sleep\)/ }
    $s->inside($victim)) < 1 && time < $until;
is(scalar @all, 1, '82: a program runs');
my ($uid, $gid) = map { Satchel::_slurp("/proc/$supervisor/status")
    =~ /^$_:\s*(\d+)/m } 'Uid', 'Gid';
my @as = $> == 0 ? ('setpriv', "--reuid=$uid", "--regid=$gid",
    '--clear-groups') : ();
is(Satchel::run(@as, 'prlimit', "--pid=$supervisor", '--nofile=4')->{exit}, 0,
    '82: its supervisor cannot open anything any more');
$until = time + 10;
sleep 0.02 while grep({ Satchel::_alive($_) } @all) && time < $until;
is(join(' ', grep { Satchel::_alive($_) } @all), '', '82: the program is ended');
waitpid $busy, 0;
$s->del("/sessions/$victim");
	return;
}

# --- times ---

sub times {
my @far = map { $s->python($id, "$prelude" . "open('far', 'w').close()\n"
    . "os.utime('far', ($_, $_))"); $s->list($id, 'far')->{json}{files}[0]{modified_at} + 0 }
    '10413792000', '2**62', '-2**62', '7', '-7';
# The file system may know no such time either.
like("@far", lone(qr/^\d+(?:\.\d+)? \d+(?:\.\d+)? 0 7 0$/,
    qr/^10413792000 253402300799(?:\.999)? 0 7 0$/),
    '90: times that are far away: the nearest that can be said');
is_deeply($s->python($id, "import os\nopen('far', 'w').close()\n"
    . "os.utime('far', (2**61, 2**61))")->{files}, ['far'],
    '90: and a change is seen');
is($s->bash($id, 'touch -d 2300-01-01T00:00:00Z far; rm far')->{stderr}, '',
    '90: touch');
same_supervisor('90: the supervisor survives');
	return;
}

# --- links and odd files ---

sub links {
$s->bash($id, "rm -rf $work" . '/*');
$c = $s->bash($id, <<'SH');
ln -s /etc/passwd abs; ln -s ../../etc/passwd rel; ln -s / root
ln -s /proc/self/environ magic; ln -s plain inside; ln -s /tmp tmp
ln -s /tmp/made dangling
echo plain >plain; ln plain hard; mkfifo fifo; mkdir dir shut
chmod 000 shut; echo >unread; chmod 000 unread
truncate -s 10M sparse
SH
is_deeply($c->{files}, [qw(hard plain sparse unread)], '49, 53: what is listed');
is($s->fetch($id, $_->[0])->{status}, $_->[1], "49, 53: GetFile $_->[0]")
    for (['abs', 403], ['rel', 403], ['magic', 403], ['inside', 403],
    ['root/etc/passwd', 403], ['tmp/x', 403], ['fifo', 404], ['dir', 400],
    ['.', 400], ['hard', 200], ['sparse', 200], ['nosuch', 404],
    ['plain/x', 404], ['unread', 403], ['shut/x', 403]);
is($s->fetch($id, $_)->{status}, 403, "51: GetFile $_")
    for ('../x', 'a/../../x', '/etc/passwd', '/proc/self/environ',
    '/mnt/data/../data/plain', '/mnt/datax', '..', '/', '/tmp/x');
is($s->fetch($id, '/mnt/data/plain')->{body}, "plain\n",
    '51: an absolute path inside');
is($s->get("/sessions/$id/files?path=$_")->{status}, 400,
    "58: GetFile of a name with NUL: $_") for 'a%00b', '%00';
is($s->get("/sessions/$id/files")->{status}, 422, 'GetFile without path');
is($s->put($id, $_->[0], 'WRITTEN')->{status}, $_->[1],
    "50, 51: PutFile $_->[0]")
    for (['abs', 403], ['inside', 403], ['dangling', 403], ['tmp/made', 403],
    ['root/tmp/made', 403], ['../x', 403], ['/tmp/made', 403],
    ['a/../b', 403], ['.hidden', 403], ['sub/.hidden/x', 403], ['dir', 400],
    ['.', 400], ['plain/x', 404], ['x' x 300, 400], ['fifo', 201]);
$c = $s->bash($id, "cat plain; ls -A $tmp $work | grep -c made;"
    . ' find / -xdev -name "*.put-*" 2>/dev/null;'
    . " find $work -mindepth 1 -name '.*'");
is($c->{stdout}, "plain\n0\n", '50: and nothing has been written elsewhere');
# Without mounts of its own it may share their file system, or not.
like(py("print(t(lambda: os.link('/usr/bin/env', 'l')),"
    . " t(lambda: os.link('/etc/ld.so.cache', 'l')))"),
    lone(qr/^(?:EPERM|EXDEV) (?:EPERM|EXDEV)$/, qr/^EXDEV EXDEV$/),
    '54: hard links to files of the machine');
is(py("print(t(lambda: open('n' * 256, 'w')))"), 'ENAMETOOLONG',
    '57: names over 255 bytes');
$c = $s->python($id, "import os\nd = os.getcwd()\nfor i in range(2000):\n"
    . "    os.mkdir('d'); os.chdir('d')\nopen('f', 'w').close()\nos.chdir(d)");
is_deeply($c->{files}, [], '57: a file two thousand levels deep');
is($s->list($id)->{status}, 200, '57: and listing still works');
$s->bash($id, "chmod 000 $work");
is($s->bash($id, 'echo back >b; cat b')->{stdout}, "back\n",
    'a program that locks itself out of its workspace');
	return;
}

# --- files as traps ---

sub traps {
$s->bash($id, "rm -rf $work" . '/*; echo plain >plain');
# Between calls nothing runs that could swap them; in one, files wait for it.
py("import threading\ndef swap():\n    while True:\n"
    . "        os.symlink('/etc/passwd', 't'); os.rename('t', 'race')\n"
    . "        with open('t', 'w') as f: f.write('plain')\n"
    . "        os.rename('t', 'race')\n"
    . 'threading.Thread(target=swap, daemon=True).start(); time.sleep(0.2)');
my %got;
for (1 .. 100) {
	py('pass') if $_ % 10 == 0;
	$r = $s->fetch($id, 'race');
	$got{$r->{status} == 200 ? $r->{body} : $r->{status}}++;
}
is(join(' ', grep { !/^(?:403|404|plain|)\z/ } sort keys %got), '',
    '52: a file and a link that are swapped: never what it leads to');
py('os.kill(os.getpid(), 9)');

$s->bash($id, "rm -rf $work" . '/*');
$c = $s->bash($id, 'truncate -s 16M sparse');
is_deeply($c->{files}, ['sparse'], '55: a sparse file within the limit');
is(length $s->fetch($id, 'sparse')->{body}, 16 * $MiB, '55: comes whole');
$c = $s->python($id, "import os\nfor n in (b'a\\nb', b'\\xff', b'\\x1b[1m'):"
    . " open(n, 'w').write('x')");
is_deeply([sort @{$c->{files}}], ['%1B[1m', '%FF', 'a%0Ab'],
    '56: names with control bytes or no UTF-8 are escaped');
is($s->fetch($id, $_)->{body}, 'x', "56: and can be fetched so: $_")
    for @{$c->{files}};

$s->bash($id, "rm -rf $work" . '/*');
is(py(<<'PY'), lone('EFBIG []', 'ENOSPC []'), '59: a bomb is unpacked against the limits');
import zipfile
with zipfile.ZipFile('bomb.zip', 'w', zipfile.ZIP_DEFLATED) as z:
    with z.open('zeros', 'w') as f:
        for i in range(64): f.write(bytes(1 << 20))
os.mkdir('out')
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
print(t(lambda: zipfile.ZipFile('bomb.zip').extractall('out')), end=' ')
for f in os.listdir('out'): os.unlink('out/' + f)
print(os.listdir('out'))
PY
is_deeply([map { $_->{path} } @{$s->list($id)->{json}{files}}], ['bomb.zip'],
    '59: and never by us');
is($s->post("/sessions/$id/exec", body => '{"tool":' . '[' x 100000)->{status},
    400, '60: a request nested without end');
is($s->post("/sessions/$id/exec", body => ' ' x 9000000)->{status}, 413,
    '60: a request without end');
$s->put($id, 'page.html', '<script>alert(1)</script>');
is(Satchel::header($s->fetch($id, 'page.html'), 'X-Content-Type-Options'),
    'nosniff',
    '61: a page is no page to a browser that guesses');
$s->put($id, 'in.csv', 'a');
is_deeply($s->bash($id, 'cat in.csv; echo b >>in.csv')->{files}, ['in.csv'],
    '62: an input that was changed is an output of that name');
	return;
}

# --- sessions and their maker ---

sub makers {
my $first = $s->session;
$s->bash($first, 'echo left >left; echo left >' . "$tmp/left");
$s->python($first, 'left = 1; import os; os.left = 1');
$s->del("/sessions/$first");
my $next = $s->session;
isnt($next, $first, '63: a session comes but once');
is($s->bash($next, "ls $work $tmp | grep left")->{stdout}, '',
    '63: with nothing of another in its files');
is($s->python($next, "import os\nprint('left' in globals(), hasattr(os, 'left'))")
    ->{stdout}, "False False\n", '63: nor in its interpreter');
is($s->exec($_, 'bash_code_execution', { command => 'true' })->{status}, 404,
    "64: no session: $_") for $first, 'sbx_00' . 'A' x 22, '../' . $next, '.';

# Many makers at once.
my @many = map { my $sock = $s->sock;
    print $sock "POST /sessions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    . "Content-Length: 0\r\n\r\n"; $sock->flush; $sock } 1 .. 8;
my %pids;
for (@many) {
	local $/;
	my $a = Satchel::answer(scalar <$_>);
	my %m = $s->meta($a->{json}{session_id});
	$pids{$m{pid}}++;
	$s->del("/sessions/$a->{json}{session_id}");
}
is(scalar keys %pids, 8, '65: eight makers at once get eight sessions');
is(py('print([sc(272, f) for f in (0x10000000, 0x20000)],'
    . ' sc(56, 0x10000011, 0, 0, 0, 0))'), "['EPERM', 'EPERM'] EPERM",
    '74: no namespaces or mounts are used up inside');

# A start looks whether sessions can be made: with programs of ours alone.
$s->bash($next, 'for f in true bwrap satchel-sandbox python3 bash; do printf'
    . ' "#!/bin/sh\necho run >' . lone("$s->{sessions}/$next/work", '/mnt/data') . '/run\n" >$f; chmod 755 $f; done');
kill 'HUP', $s->{sandbox};
sleep 0.3;
is($s->get('/health')->{status}, 200, '75: another start, past hostile files');
is($s->fetch($next, 'run')->{status}, 404, '75: runs none of them');
	return;
}

# --- one user, no namespaces ---

# What namespaces forbid elsewhere, tried on a process of the same user.
sub one_user {
my $victim = $s->session;
$s->bash($victim, 'echo OTHERSECRET >secret; chmod 600 secret');
my %its = $s->meta($victim);
my $pid = $its{pid};
my $dir = "$s->{sessions}/$victim";
is(py("print([t(lambda: os.kill(p, n)) for p in ($pid, $meta{pid},"
    . " $s->{sandbox}) for n in (0, 9)])"), "['" . join("', '", ('EPERM') x 6)
    . "']", '30: signals to others of the user');
is(py("print([sc(n, $pid, 0, 0, 0) for n in (302, 203, 144, 142, 314)],"
    . " sc(302, 0, 7, 0, 0))"),
    "['EPERM', 'EPERM', 'EPERM', 'EPERM', 'EPERM'] done",
    '46: limits and scheduling of others, as one\'s own');
is(py("print([t(lambda: os.setpriority(*a)) for a in ((os.PRIO_PROCESS,"
    . " $pid, 19), (os.PRIO_USER, 0, 19), (os.PRIO_PGRP, 0, 19))],"
    . " sc(251, 1, $pid, 0), sc(251, 3, 0, 0))"),
    "['EPERM', 'EPERM', 'EPERM'] EPERM EPERM", '46: and priorities');
is(py("print([t(lambda: opens(p)) for p in ('$dir/work/secret', '$dir/meta',"
    . " '$dir/lock', '$s->{dir}/conf.yml', '/proc/$pid/environ',"
    . " '/proc/$pid/cmdline', '/proc/$pid/root$dir/work/secret')])"),
    "['" . join("', '", ('EACCES') x 7) . "']",
    "30: another session's files, by their paths");
my $mode = sprintf '%o', (stat $dir)[2] & 07777;
my @times = (stat "$dir/lock")[8, 9];
is(py("print([t(f) for f in (lambda: os.chmod('$dir', 0o777),"
    . " lambda: os.chmod('../../$victim', 0o777),"
    . " lambda: os.chmod('..', 0), lambda: os.chmod('$s->{sessions}', 0),"
    . " lambda: os.utime('$dir/lock', (1, 1)), lambda: os.chown('$dir', -1, -1),"
    . " lambda: os.setxattr('$dir', 'user.x', b'x'),"
    . " lambda: os.rename('$dir', '$dir.x'), lambda: os.unlink('$dir/lock'),"
    . " lambda: os.truncate('$dir/lock', 0), lambda: os.mkdir('$dir/x'),"
    . " lambda: os.link('$dir/work/secret', 'l'))])") =~ s/EPERM|EXDEV/EACCES/gr,
    "['" . join("', '", ('EACCES') x 12) . "']",
    '32: what belongs to the user, but not to the session, is not changed');
is(sprintf('%o', (stat $dir)[2] & 07777) . " @{[(stat qq($dir/lock))[8, 9]]}",
    "$mode @times", '32: seen from outside');
is(py(<<"PY"), "EACCES EACCES 0o644", '32: nor through links and descriptors');
os.symlink('$dir', 'victim')
f = os.open('.', os.O_RDONLY)
open('own', 'w').close()
print(t(lambda: os.chmod('victim', 0o777)), t(lambda: os.chmod('../../$victim',
    0o777, dir_fd=f)), oct(os.stat('own').st_mode & 0o777))
PY
is(py(<<'PY'), '0o711 True 0o500 0o1644', '32: one\'s own are');
os.mkdir('d'); os.chmod('d', 0o711); open('d/f', 'w').close()
f = os.open('d', os.O_RDONLY)
os.chmod('f', 0o500, dir_fd=f); os.utime('f', (7, 7), dir_fd=f)
os.chmod('own', 0o7644)
print(oct(os.stat('d').st_mode & 0o7777), os.stat('d/f').st_mtime == 7,
    oct(os.stat('d/f').st_mode & 0o7777), oct(os.stat('own').st_mode & 0o7777))
PY
is(py(<<"PY"), 'EPERM EPERM EPERM', '36: no socket leads to another');
a, b = socket.socketpair()
print(t(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)),
    t(lambda: a.connect('$s->{dir}/sock')), t(lambda: a.bind('x')))
PY
is(py('print([sc(n, 0, 0, 0, 0) for n in (31, 67, 69, 70, 71, 65, 66, 220, 241,'
    . ' 157)], sc(157, 4, 0, 0, 0))'), "['" . join("', '",
    ('EPERM') x 9, 'EINVAL') . "'] EPERM",
    '5: numbers that all of the user share; and nobody hides');
my $r = $s->bash($id, '(setsid setsid sh -c "sleep 600 & sleep 600" &); sleep 600',
    timeout => 1);
is($r->{return_code}, 124, '19: a daemon of daemons');
quiet('19: does not outlive its call');
my @before = $s->inside($victim);
my $busy = fork // die;
if (!$busy) {
	eval { $s->bash($victim, '(setsid setsid sleep 600 &); sleep 600') };
	POSIX::_exit(0);
}
my $until = time + 5;
my @all;
sleep 0.02 while (@all = $s->inside($victim)) < @before + 2 && time < $until;
cmp_ok(scalar @all, '>=', @before + 2, '73: a session in the middle of a call');
is($s->del("/sessions/$victim")->{status}, 204, '73: is destroyed');
is(join(' ', grep { Satchel::_alive($_) } @all), '',
    '73: when that is answered nothing of it is left');
ok(!-e $dir, '73: nor its directory');
waitpid $busy, 0;
	return;
}

# --- the end ---

sub ending {
my @all = $s->inside($id);
cmp_ok(scalar @all, '>=', 2, '73: a session with processes');
kill 'KILL', $all[0];
my $until = time + 2;
sleep 0.01 while time < $until && grep { Satchel::_alive($_) } @all;
is(join(' ', grep { Satchel::_alive($_) } @all), '',
    '73: ends whole with its supervisor');
is($s->bash($other, 'cat secret')->{stdout}, "OTHERSECRET\n",
    '73: and takes no other along');
is($s->exec($id, 'bash_code_execution', { command => 'true' })->{status}, 404,
    '73: its id is unknown then');
	return;
}

sub attacks {
	my ($what, %set) = @_;
	$level = $what;
	$work = lone('.', '/mnt/data');
	$tmp = lone('$TMPDIR', '/tmp');
	$s = Sandbox->new(keeper => delete $set{keeper}, set => { 'sandbox.isolation' => $level,
	    'sandbox.workspace_bytes' => 16 * $MiB,
	    'sandbox.session_memory_bytes' => 256 * $MiB, %set });
	$id = $s->session;
	%meta = $s->meta($id);
	($ready_kib) = $s->{keeper} ? Satchel::_slurp("/proc/$meta{pid}/status")
	    =~ /VmHWM:\s*(\d+)/ : 0;
	bait();
	$_->() for (\&processes, \&files, \&output, \&endless, \&supervisor, \&visible, \&network, \&privileges, \&shared, \&kernel_memory, \&blind,
	    \&times, \&links, \&traps, \&makers,
	    $level eq 'landlock' ? \&one_user : (), \&ending);
	undef $s;
	return;
}

1;
