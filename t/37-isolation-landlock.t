#!/usr/bin/perl

# The attacks on a session that Landlock and system call filters confine.

use strict;
use warnings;
use IO::Select;
use JSON::PP ();
use POSIX ();
use Socket;
use Test::More;
use Time::HiRes qw(sleep time);
use Attacks;
use Kernel;
use Sandbox;

Kernel::need('landlock');
attacks('landlock');

# What is forbidden to leave the session goes on within it.
my $s = Sandbox->new(set => { 'sandbox.isolation' => 'landlock' });
my $id = $s->session;
is($s->put($id, 'd/e/x.csv', "a\n")->{status}, 201,
    'a file is put into a directory of a directory');
is($s->fetch($id, 'd/e/x.csv')->{body}, "a\n", '... and got from there');
is($s->put($id, '/mnt/data/d/y.csv', "b\n")->{status}, 201,
    '... or by the path that a workspace has elsewhere');
my $c = $s->python($id, <<'PY');
import os
os.rename('d/e/x.csv', 'x.csv')
os.rename('x.csv', 'd/x.csv')
os.link('d/x.csv', 'l.csv')
print(sorted(os.listdir('d')), open('l.csv').read().strip())
PY
is("$c->{stdout}$c->{stderr}", "['e', 'x.csv', 'y.csv'] a\n",
    'files are moved and linked between directories');
is($s->bash($id, 'mv d/x.csv d/e && cat d/e/x.csv')->{stdout}, "a\n",
    '... by programs that are started too');

# No pair of sockets reaches anybody but itself.
socket my $mail, AF_UNIX, SOCK_DGRAM, 0 or die;
bind $mail, pack_sockaddr_un("$s->{dir}/mail") or die;
chmod 0777, "$s->{dir}/mail";
chmod 0755, $s->{dir};
my $prelude = "import array\n$Attacks::prelude";
sub py {
	my ($code) = @_;
	my $c = $s->python($id, "$prelude$code");
	return "$c->{stdout}$c->{stderr}";
}
is(py(<<"PY"), "[] 1 5\n", '36: pairs are streams or sequences of packets');
good = []
for kind in list(range(16)) + [0x800 | 3, 0x80000 | 2, 0x80800 | 3, 16 | 3]:
    if kind in (1, 5): continue
    try: good.append(socket.socketpair(socket.AF_UNIX, kind)[0])
    except OSError: pass
for a in good:
    print(kind, t(lambda: a.sendto(b'out', '$s->{dir}/mail')))
for kind in (1, 5):
    a, b = socket.socketpair(socket.AF_UNIX, kind | socket.SOCK_CLOEXEC)
    t(lambda: a.sendto(b'out', '$s->{dir}/mail'))
    good.append(kind)
print([a for a in good if a not in (1, 5)], *good)
PY
is(scalar IO::Select->new($mail)->can_read(0), undef,
    '36: and nothing has come from them');
is(py(<<'PY'), "EPERM EPERM b'x'\n", '7: no open file travels in one');
a, b = socket.socketpair()
f = os.open('sent', os.O_CREAT | os.O_RDWR)
way = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [f]))]
print(t(lambda: a.sendmsg([b'x'], way)), sc(307, a.fileno(), 0, 0, 0),
    a.send(b'x') and b.recv(9))
PY
is(py(<<'PY'), "[('own', 4)] ['from another'] b'heard'\n",
import asyncio, multiprocessing, subprocess
m = multiprocessing.get_context('fork')
a, b = m.Pipe()
def child(): b.send('from another')
p = m.Process(target=child); p.start()
async def main():
    q = await asyncio.create_subprocess_exec('cat', stdin=-1, stdout=-1)
    return (await q.communicate(b'heard'))[0]
print([('own', os.write(f, b'text'))], [a.recv()], asyncio.run(main()))
p.join()
PY
    '... while the work of several processes goes on');

# What a program is called as must not make it somebody else's.
is(py(<<'PY'), "EPERM EPERM EPERM EPERM EPERM EPERM EPERM ENOSYS done\n",
print(sc(2, b'm1', os.O_CREAT | os.O_WRONLY, 0o4755),
    sc(257, -100, b'm2', os.O_CREAT | os.O_WRONLY, 0o2755),
    sc(257, -100, b'.', os.O_TMPFILE | os.O_WRONLY, 0o6755),
    sc(85, b'm3', 0o6755), sc(91, f, 0o6755), sc(133, b'm4', 0o104755, 0),
    sc(259, -100, b'm5', 0o102755, 0), sc(437, -100, b'm6', 0, 0),
    sc(257, -100, b'sent', os.O_RDONLY, 0o6755))
PY
    '38: nobody makes a program that runs as another');
is(py(<<'PY'), "True 0o1755 []\n", '38: whatever else its mode is');
os.fchmod(f, 0o1755); os.chmod('sent', 0o7755)
print(oct(os.stat('sent').st_mode & 0o7777) == '0o1755',
    oct(os.fstat(f).st_mode & 0o7777),
    [n for n in os.listdir('.') if os.stat(n).st_mode & 0o6000])
PY
is(py(<<'PY'), "EPERM EPERM " . ("ENOTSUP " x 4) . "ENOSYS ENOSYS\n",
print(*[sc(n, b'/usr', 0, 0, 0) for n in (457, 458, 191, 192, 194, 195, 464,
    465)])
PY
    '33, 32: mounts, attributes of others\' files');
is($s->bash($id, 'ls -l sent && cp -p sent copy && cp -a sent more && sync;'
    . ' rm -f sent copy more')
    ->{stderr}, '', '... which programs can do without');

# What is done for a program's own modules reaches it.
my $r = $s->run($id, 'py', <<'PY');
import sys, matplotlib.pyplot as plt
plt.plot([1, 2])
plt.show()
print('sitecustomize' in sys.modules)
PY
is("$r->{content}{stdout}$r->{content}{stderr} @{$r->{content}{files}}",
    "True\n plot_1.png", 'a plot that a program of its own shows is saved');
is(join(' ', map { $_->{path} }
    @{JSON::PP::decode_json($s->list($id, '.')->{body})->{files}}),
    'l.csv plot_1.png', '... and what its libraries keep is not shown');

# Space is held by what was removed too, however it is held, and between calls.
my $over = qr/^sandbox: limit of \d+ files reached/;
my $hide = <<'PY';
import ctypes, os, time
f = open('gone', 'wb+'); f.write(bytes(1 << 20)); f.flush()
L = ctypes.CDLL(None); L.mmap.restype = ctypes.c_void_p
print(L.mmap(None, ctypes.c_size_t(4096), 1, 1, f.fileno(), ctypes.c_long(0)) > 4096)
os.unlink('gone')
PY
$c = $s->python($id, $hide . "f.close(); time.sleep(20)", timeout => 15);
is($c->{return_code}, 153, '7: a removed file of which a page is mapped');
like($c->{stderr}, $over, '7: says so');
$c = $s->python($id, $hide . "f.close()");
is($c->{return_code}, 153, '7: also if its call ends before anybody looks');
is($s->python($id, $hide . 'time.sleep(0.3); print(1)')->{stdout}, "True\n1\n",
    '7: one that is open as well is counted');
$s->python($id, 'import os; os._exit(0)');
$c = $s->python($id, <<'PY');
import mmap, multiprocessing.heap, time
f = open('kept (deleted)', 'wb+'); f.write(bytes(4096)); f.flush()
m = mmap.mmap(f.fileno(), 4096); f.close()
multiprocessing.heap.Arena._dir_candidates = []
heaps = [multiprocessing.heap.Arena(4096) for i in range(20)]
time.sleep(0.3)
print('here')
PY
is("$c->{stdout}$c->{stderr}", "here\n", '7: so are those of shared memory; and'
    . ' a name may end in "(deleted)"');
$c = $s->bash($id, 'cp /usr/bin/sleep s; ./s 0.4 & sleep 0.1; rm s; wait $!');
is("$c->{return_code}$c->{stderr}", '0', '7: a removed program runs on');
$s->bash($id, 'rm -f kept*');

# Both who look after a session may be killed from outside.
sub parent {
	my ($parent) = Satchel::_slurp("/proc/$_[0]/stat") =~ /\) \w (\d+)/;
	return $parent;
}
for my $killed ('warden', 'warden and supervisor') {
	my $victim = $s->session;
	my %its = $s->meta($victim);
	my $warden = parent($its{pid});
	my $busy = fork // die;
	if (!$busy) {
		eval { $s->bash($victim, '(setsid sh -c "sleep 600 & sleep 600"'
		    . ' &); sleep 600') };
		POSIX::_exit(0);
	}
	my ($until, @all) = time + 5;
	sleep 0.02 while (@all = $s->inside($victim)) < 5 && time < $until;
	cmp_ok(scalar @all, '>=', 5, "73: a session at work: $killed");
	like(Satchel::_slurp("/proc/$warden/stat"), qr/\(warden\)/,
	    '73: with a warden');
	if ($killed =~ /supervisor/) {
		kill 'STOP', $its{pid};
		kill 'KILL', $warden, $its{pid};
		$until = time + 5;
		sleep 0.01 while time < $until && grep { Satchel::_alive($_) }
		    $warden, $its{pid};
	} else {
		kill 'KILL', $warden;
	}
	is($s->del("/sessions/$victim")->{status}, 204, "73: destroyed: $killed");
	is(join(' ', grep { Satchel::_alive($_) } @all), '',
	    "73: when that is answered nothing runs on: $killed");
	ok(!-e "$s->{sessions}/$victim", "73: nor is a file left: $killed");
	waitpid $busy, 0;
}
is($s->python($id, 'print("on")')->{stdout}, "on\n",
    '73: and another session goes on');
$s->done;
done_testing();
