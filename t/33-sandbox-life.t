#!/usr/bin/perl

# The life of sessions: who ends them, what they survive, who waits for whom.

use strict;
use warnings;
use Test::More;
use IO::Select;
use IO::Socket::UNIX;
use Time::HiRes qw(sleep time);
use Sandbox;

my $build = $ENV{SATCHEL_BUILD} // 'build';
my $s = Sandbox->new(set => { 'sandbox.sessions_max' => 6 });
my ($c, $r, $before, @pids);

# Wait until $what->() is true; is it, within $seconds?
sub soon {
	my ($seconds, $what) = @_;
	my $until = time + $seconds;
	sleep 0.02 until $what->() || time > $until;
	return !!$what->();
}

# Send a call and do not wait for its answer; the connection.
sub begin {
	my ($id, $tool, $key, $text, $timeout) = @_;
	my $body = JSON::PP->new->encode({ tool => $tool,
	    input => { $key => $text }, timeout_seconds => $timeout });
	my $sock = $s->sock;
	print $sock "POST /sessions/$id/exec HTTP/1.1\r\nHost: x\r\nConnection:"
	    . " close\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
	$sock->flush;
	return $sock;
}
sub begin_bash { return begin($_[0], 'bash_code_execution', 'command',
    @_[1, 2]) }

# The answer on such a connection.
sub end {
	my ($sock) = @_;
	local $/;
	my $answer = Satchel::answer(scalar <$sock> // '');
	return $answer;
}

sub content { return $_[0]{json}{result_block}{content} }

# Does a process with this in its command line run in the session?
sub runs {
	my ($id, $what) = @_;
	return scalar grep { Satchel::_slurp("/proc/$_/cmdline") =~ $what }
	    $s->inside($id);
}

# The time, in ticks, that those of the processes have run in user mode that are
# still there.
sub cpu {
	my $sum = 0;
	for (@_) {
		my @f = split ' ', Satchel::_slurp("/proc/$_/stat") =~ s/.*\) //r;
		$sum += $f[11] if @f > 11;
	}
	return $sum;
}

# --- timers ---

my $idle = $s->session(idle_timeout_seconds => 1);
is($s->bash($idle, 'sleep 2; echo ok')->{stdout}, "ok\n",
    'a call may be longer than the idle time');
is($s->bash($idle, 'echo still')->{stdout}, "still\n",
    'which begins when it ends');
@pids = $s->inside($idle);
$before = time;
ok(soon(5, sub { $s->get("/sessions/$idle")->{status} == 404 }),
    'an unused session ends, and asking for it is no use');
cmp_ok(time - $before, '<', 2.5, 'at its time');
ok(soon(1, sub { !grep { Satchel::_alive($_) } @pids }), 'with all it had');
is($s->exec($idle, 'bash_code_execution', { command => 'true' })->{status},
    404, 'and is unknown');

my $short = $s->session(max_lifetime_seconds => 2);
$before = time;
1 while $s->exec($short, 'bash_code_execution', { command => 'sleep 0.1' })
    ->{status} == 200 && time - $before < 6;
cmp_ok(time - $before, '<', 3.5, 'a session in use ends at its lifetime');
ok(soon(1, sub { $s->get("/sessions/$short")->{status} == 404 }),
    'and is unknown');
$short = $s->session(max_lifetime_seconds => 1);
$c = $s->exec($short, 'bash_code_execution', { command => 'sleep 30' });
is($c->{status}, 404, 'a call ends with it too');

# --- how many ---

my @all = map { $s->session } 1 .. 6;
pass('directories of ended sessions take no room');
$r = $s->post('/sessions', json => {});
is($r->{status}, 503, 'one more than there may be');
is($r->{json}{code}, 'session_full', 'says so');
is($s->get('/health')->{json}{session_count}, 6, 'health counts them');
is($s->del("/sessions/$all[0]")->{status}, 204, 'one is destroyed');
ok(!-e "$s->{sessions}/$all[0]", 'its directory is gone at once');
ok(my $id = $s->session, 'and there is room again');
kill 'KILL', ($s->inside($all[1]))[0];
ok(soon(2, sub { $s->get("/sessions/$all[1]")->{status} == 404 }),
    'a supervisor is killed');
ok($s->session, 'and there is room again');
ok(!-e "$s->{sessions}/$all[1]", 'what it has left is removed');
$s->del("/sessions/$_") for map { m{(\w+)$} } glob "$s->{sessions}/sbx_*";
is(join(' ', glob "$s->{sessions}/*"), '', 'all are destroyed without a trace');

# --- destroy ---

$id = $s->session;
my $running = begin_bash($id, 'for i in 1 2 3; do yes >/dev/null & done; sleep 61', 30);
ok(soon(3, sub { runs($id, qr/^yes/) == 3 && runs($id, qr/sleep\0?61/) }),
    'a call runs');
@pids = $s->inside($id);
$before = time;
is($s->del("/sessions/$id")->{status}, 204, 'destroy ends it');
cmp_ok(time - $before, '<', 1.5, 'at once');
my $used = cpu(@pids);
sleep 0.2;
cmp_ok(cpu(@pids), '<=', $used, 'nothing of it runs any more');
ok(soon(1, sub { !grep { Satchel::_alive($_) } @pids }), 'all its processes end');
is(end($running)->{status}, 404, 'and its caller is told');

# A guest cannot have its session ended as destroy does: neither by a plain
# signal nor by one that claims to come from outside.
$id = $s->session;
$c = $s->python($id, <<'END');
import ctypes, os, signal, struct
os.kill(1, signal.SIGTERM)
libc = ctypes.CDLL(None, use_errno=True)
number = {'x86_64': 129, 'aarch64': 138}[os.uname().machine]  # rt_sigqueueinfo
for code in 0, -1, -6:
    info = struct.pack('iiiiiI', signal.SIGTERM, 0, code, 0, 0, 0).ljust(128, b'\0')
    rc = libc.syscall(number, 1, signal.SIGTERM, info)
    print(code, rc, ctypes.get_errno() if rc else '')
END
is($c->{stdout}, "0 -1 1\n-1 0 \n-6 -1 1\n", 'a guest sends SIGTERM in all ways');
is($s->bash($id, 'echo on')->{stdout}, "on\n", 'the session goes on');
is($s->del("/sessions/$id")->{status}, 204, 'and ends when it is told to');

# A supervisor that cannot do as it is told is killed.
$id = $s->session;
@pids = $s->inside($id);
kill 'STOP', $pids[0];
is($s->del("/sessions/$id")->{status}, 204, 'destroy with a stopped supervisor');
ok(!-e "$s->{sessions}/$id", 'removes the session');
ok(soon(1, sub { !grep { Satchel::_alive($_) } @pids }), 'which ends');

# --- pid reuse ---

$id = $s->session;
my %meta = $s->meta($id);
sleep 0.05; # A process begins in a tick of 10 ms.
my $bystander = fork // die;
if (!$bystander) {
	POSIX::setuid((stat $s->{sessions})[4]) if $> == 0;
	exec 'sleep', '60';
}
my $text = Satchel::_slurp("$s->{sessions}/$id/meta");
$text =~ s/^pid \d+/pid $bystander/m;
Satchel::_spew("$s->{sessions}/$id/meta", $text);
is($s->del("/sessions/$id")->{status}, 204, 'destroy with another pid in meta');
sleep 0.1;
ok(Satchel::_alive($bystander), 'kills nobody who began at another time');
kill 'KILL', $bystander, $meta{pid};
waitpid $bystander, 0;

# --- the caller leaves ---

$id = $s->session;
$s->python($id, 'x = 1');
$s->bash($id, 'echo kept >kept');
$running = begin_bash($id, 'sleep 62 & (setsid sleep 62 &); sleep 62', 60);
ok(soon(3, sub { runs($id, qr/sleep\0?62/) == 3 }), 'a call runs');
close $running;
$before = time;
ok(soon(3, sub { !runs($id, qr/sleep\0?62/) }), 'its caller leaves');
cmp_ok(time - $before, '<', 1, 'within a second it is stopped');
is($s->bash($id, 'cat kept')->{stdout}, "kept\n", 'the session goes on');
is($s->python($id, 'print(x)')->{stdout}, "1\n", 'so does the interpreter');
$running = begin($id, 'code_execution', 'code', "import time\nwhile True:"
    . " time.sleep(0.01)", 60);
ok(soon(3, sub { runs($id, qr/python3/) && Satchel::_slurp('/proc/'
    . (grep { Satchel::_slurp("/proc/$_/cmdline") =~ /python3/ }
    $s->inside($id))[0] . '/stat') =~ /\) [SR] / }), 'python runs');
close $running;
ok(soon(3, sub { !runs($id, qr/python3/) }), 'its caller leaves: it is stopped');
is($s->python($id, 'print(2)')->{stdout}, "2\n", 'and a fresh one comes');

my $first = begin_bash($id, 'sleep 1.5; echo first', 30);
ok(soon(3, sub { runs($id, qr/sleep\0?1.5/) }), 'a call runs');
my $second = begin_bash($id, 'echo ran >ghost', 30);
sleep 0.3;
close $second;
is(content(end($first))->{stdout}, "first\n", 'who left the queue disturbs nobody');
is($s->bash($id, 'ls')->{stdout}, "kept\n", 'and has not been run');

# --- turns ---

$before = time;
my @calls = map { begin_bash($id, "echo b$_ >>order; sleep 0.5;"
    . " echo e$_ >>order", 30) } 1 .. 3;
is(join(' ', map { content(end($_))->{return_code} } @calls), '0 0 0',
    'three calls at once');
cmp_ok(time - $before, '>', 1.4, 'one after the other');
like($s->bash($id, 'tr "\n" " " <order')->{stdout},
    qr/^b(\d) e\1 b(\d) e\2 b(\d) e\3 $/, 'none within another');
$first = begin_bash($id, 'sleep 2; echo first', 30);
ok(soon(3, sub { runs($id, qr/sleep\0?2/) }), 'a call runs');
$before = time;
$c = $s->bash($id, 'echo never >never', timeout => 1);
cmp_ok(time - $before, '<', 1.9, 'waiting counts');
is("$c->{return_code} $c->{stderr}", "124 sandbox: not run: it waited 1 s for"
    . " another call of this session\n", 'who waits too long is told');
is($s->get("/sessions/$id")->{status}, 200, 'meanwhile it can be asked for');
is($s->fetch($id, 'kept')->{body}, "kept\n", 'files wait their turn');
is(content(end($first))->{stdout}, "first\n", 'the first ends as it should');
is($s->fetch($id, 'never')->{status}, 404, 'the other was not run');

my @ids = map { $s->session } 1 .. 4;
@calls = map { begin($_, 'code_execution', 'code', "import time\nx = '$_'\n"
    . "time.sleep(0.3)\nprint(x)", 30) } @ids;
is(join(' ', map { content(end($_))->{stdout} =~ s/\n//r } @calls), "@ids",
    'sessions side by side answer each its own');
@calls = map { begin($_, 'code_execution', 'code', 'print(x)', 30) } @ids;
is(join(' ', map { content(end($_))->{stdout} =~ s/\n//r } @calls), "@ids",
    'and keep their variables apart');
$s->del("/sessions/$_") for @ids;

# --- workers die ---

$s->python($id, "y = 'kept'");
%meta = $s->meta($id);
my @workers = split ' ', Satchel::_slurp(
    "/proc/$s->{sandbox}/task/$s->{sandbox}/children");
is(scalar @workers, 2, 'two workers');
my ($pgrp, $session) = (split ' ', Satchel::_slurp("/proc/$meta{pid}/stat")
    =~ s/.*\) //r)[2, 3];
isnt($session, (split ' ', Satchel::_slurp("/proc/$workers[0]/stat")
    =~ s/.*\) //r)[3], "a session is not in its worker's process session");
$running = begin_bash($id, 'sleep 63', 60);
ok(soon(3, sub { runs($id, qr/sleep\0?63/) }), 'a call runs');
$s->expect_log(qr/killed by signal 9/);
kill 'KILL', @workers;
$before = time;
ok(soon(3, sub { !runs($id, qr/sleep\0?63/) }), 'its worker is killed');
cmp_ok(time - $before, '<', 1, 'within a second it is stopped');
close $running;
ok(soon(3, sub { $s->get('/health')->{status} == 200 }), 'others come');
is($s->python($id, 'print(y)')->{stdout}, "kept\n", 'and serve the session');
$s->down('KILL');
unlink "$s->{dir}/sock";
ok(Satchel::_alive($meta{pid}), 'all are killed: the session lives');
$s->up;
is($s->python($id, 'print(y)')->{stdout}, "kept\n", 'others serve it');
$s->down;
ok(Satchel::_alive($meta{pid}), 'all are stopped: the session lives');
$s->up;
is($s->python($id, 'print(y)')->{stdout}, "kept\n", 'others serve it');

# Other settings.
Satchel::_spew("$s->{dir}/conf.yml", "sandbox:\n  idle_seconds: 77\n");
kill 'HUP', $s->{sandbox};
ok(soon(5, sub { my $i = $s->session; my $r = $s->get("/sessions/$i");
    $s->del("/sessions/$i"); $r->{json}{idle_timeout_seconds} == 77 }),
    'SIGHUP: other settings');
is($s->python($id, 'print(y)')->{stdout}, "kept\n", 'SIGHUP: sessions live');
$s->expect_log(qr/not reloaded|sandbox\.nosuch/);
Satchel::_spew("$s->{dir}/conf.yml", "sandbox:\n  nosuch: 1\n");
kill 'HUP', $s->{sandbox};
sleep 0.3;
is($s->get('/health')->{status}, 200, 'SIGHUP: broken settings change nothing');
Satchel::_spew("$s->{dir}/conf.yml", '');

# A directory that is removed under it.
my $held = IO::Socket::UNIX->new(Peer => "$s->{sessions}/$id/sock");
system 'rm', '-rf', "$s->{sessions}/$id";
is($s->get("/sessions/$id")->{status}, 404, 'its directory is removed');
print $held 'rubbish';
close $held;
ok(soon(3, sub { !Satchel::_alive($meta{pid}) }),
    'a session whose directory is gone ends; rubbish is no harm');
undef $s;

# --- starting ---

sub start_fails {
	my ($name, $what, $exit, @words) = @_;
	my $dir = File::Temp::tempdir(CLEANUP => 1);
	my $r = Satchel::run(@{ref $words[0] ? shift @words : []},
	    Satchel::program('satchel-sandbox'), '-c', '/dev/null', '-s',
	    "files.root=$dir/files", @words);
	like("$r->{exit} $r->{out}$r->{err}", qr/^$exit .*$what/s, $name);
}
my @nobody = $> == 0 ? ['setpriv', '--reuid=65534', '--regid=65534',
    '--clear-groups'] : [];
my $tmp = File::Temp::tempdir(CLEANUP => 1);
chmod 0755, $tmp;
mkdir "$tmp/open";
mkdir "$tmp/open/usr";
chmod 0777, "$tmp/open";
mkdir "$tmp/mine", 0700;
chown 65534, 65534, "$tmp/mine", "$tmp/open" if $> == 0;
start_fails('a directory others may write to', 'writable by nobody else', 1,
    @nobody, '-s', "sandbox.dir=$tmp/open");
start_fails('a directory that sandboxes can read', 'below /usr', 1, @nobody,
    '-s', 'sandbox.dir=/usr/share');
start_fails('or in their own root', 'below .*/open/usr', 1, @nobody, '-s',
    "sandbox.rootfs=$tmp/open", '-s', "sandbox.dir=$tmp/open/usr");
start_fails('no socket', 'use -l', 1, @nobody, '-s', "sandbox.dir=$tmp/mine");
start_fails('a sandbox of another machine', 'isolation is remote', 1, @nobody,
    '-s', 'sandbox.isolation=remote');
start_fails('a wrong option', 'usage:', 2, '-x');
start_fails('a wrong number', '-n: 1 to', 2, '-n', 0);
start_fails('an unknown setting', 'sandbox.nosuch', 1, '-s',
    'sandbox.nosuch=1');
start_fails('--help', 'usage:', 0, '--help');

# A machine that refuses namespaces.
my $shell = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"';
my @without = ($> == 0 ? ('setpriv', '--reuid=65534', '--regid=65534',
    '--clear-groups') : (), 'unshare', '-U', '--map-user=1000',
    '--map-group=1000', '--keep-caps', 'sh', '-c', $shell, 'sh');
start_fails('a machine without user namespaces',
    'cannot make sandboxes: unshare user: ', 1, [@without],
    '-s', "sandbox.dir=$tmp/mine");

if ($> == 0) {
	start_fails('as root: a directory of root', 'belongs to root', 1,
	    '-s', "sandbox.dir=$tmp");
	start_fails('as root: a directory that is not there',
	    'runs as the owner', 1, '-s',
	    "sandbox.dir=$tmp/none");
	my $t = Sandbox->new(root => 1);
	is($t->bash($t->session, 'id -u')->{stdout}, "1000\n",
	    'as root: a session');
	my @uids = map { Satchel::_slurp("/proc/$_/status")
	    =~ /^Uid:\s*(.*)\nGid:\s*(.*)\n/m } $t->{sandbox}, split ' ',
	    Satchel::_slurp("/proc/$t->{sandbox}/task/$t->{sandbox}/children");
	is(join(' ', map { s/\t/ /gr } @uids), join(' ', map {
	    my @st = stat $t->{sessions}; ("$st[4] " x 4 . "$st[5] " x 4) =~
	    s/ $//r } 1 .. 3), 'as root: it has become the owner of the'
	    . ' directory');
	like(Satchel::_slurp("/proc/$t->{sandbox}/status"),
	    qr/^Groups:\s*$/m, 'as root: without groups');
	undef $t;
}
done_testing();
