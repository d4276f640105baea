#!/usr/bin/perl

# The keeper: sessions that are ready before anybody asks, and what becomes of
# them when something is killed.

use strict;
use warnings;
use Test::More;
use Time::HiRes qw(sleep time);
use Sandbox;

my $s = Sandbox->new(keeper => 1);
my ($c, $r, $id, @ids, $running);

# Wait until $what->() is true; is it, within $seconds?
sub soon {
	my ($seconds, $what) = @_;
	my $until = time + $seconds;
	sleep 0.02 until $what->() || time > $until;
	return !!$what->();
}

# The pids of sessions that wait.
sub waiting {
	my @all = map { Satchel::_slurp($_) =~ /^pid (\d+)/ ? $1 : () }
	    glob "$s->{sessions}/.idle/*.*.*/meta";
	return @all;
}

# The keeper's zygotes.
sub zygotes {
	my @all = grep { Satchel::_alive($_) } split ' ', Satchel::_slurp(
	    "/proc/$s->{keeper}/task/$s->{keeper}/children");
	return @all;
}

my $loaded = "import sys\nprint('pandas' in sys.modules)";

# --- claimed ---

is(scalar waiting(), 4, 'four sessions are ready');
my ($parent) = map { /\) \S (\d+)/ } Satchel::_slurp('/proc/'
    . (waiting())[0] . '/stat');
my @zygote = zygotes();
is("@zygote", $parent, 'children of one zygote');
my %titles = map { Satchel::_slurp("/proc/$_/cmdline") => 1 } waiting();
is(join(', ', Satchel::_slurp("/proc/$zygote[0]/cmdline"), keys %titles),
    "satchel: zygote\0, satchel: ready session\0", 'ps says what they are');
opendir my $d, "/proc/$zygote[0]/root" or die $!;
is(join(' ', sort grep { !/^\.|^opt$/ } readdir $d), 'bin dev etc lib lib32'
    . ' lib64 mnt proc run sbin tmp usr var',
    'which itself has no more of the machine than they');
my %before = map { $_ => 1 } waiting();
$id = $s->session;
my %meta = $s->meta($id);
ok($before{$meta{pid}}, 'a new session is one of them');
is($s->python($id, $loaded)->{stdout}, "True\n",
    'its interpreter has pandas already');
ok(soon(10, sub { waiting() == 4 }), 'there are four again');
ok(!(grep { $_ eq $meta{pid} } waiting()), 'another in its stead');
is($s->python($id, "import pandas\nx = 7\nprint(pandas.DataFrame({'a':"
    . " [1, 2]}).a.sum())")->{stdout}, "3\n", 'pandas works');
is($s->bash($id, 'echo $$ >f; cat f')->{return_code}, 0, 'so does bash');
is($s->python($id, "print(x, open('f').read() != '')")->{stdout}, "7 True\n",
    'with one workspace');
$c = $s->python($id, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)");
is($c->{return_code}, 137, 'the interpreter is killed');
is($s->python($id, $loaded . "\nprint('x' in globals())")->{stdout},
    "True\nFalse\n", 'the next has pandas, and nothing of the last');
$c = $s->python($id, "import os, signal\nos.kill(os.getpid(), signal.SIGINT)");
like($c->{stderr}, qr/KeyboardInterrupt/, 'SIGINT is KeyboardInterrupt');

my ($a, $b) = map { $s->session } 1 .. 2;
my $draw = "import random, numpy\nprint(random.random(), numpy.random.rand(),"
    . " numpy.random.default_rng().random())";
my @drawn = map { split ' ', $s->python($_, $draw)->{stdout} } $a, $b;
is(scalar(@drawn), 6, 'random numbers');
isnt($drawn[$_], $drawn[$_ + 3], 'others in each session') for 0 .. 2;
is($s->bash($a, 'echo mine >/tmp/f; ls /tmp /dev/shm /mnt/data')->{stdout},
    "/dev/shm:\n\n/mnt/data:\n\n/tmp:\nf\n", 'nothing lies there before');
is($s->bash($b, 'ls /tmp /mnt/data')->{stdout}, "/mnt/data:\n\n/tmp:\n",
    'and nothing of one in another');

# --- times are those of the caller ---

$id = $s->session(idle_timeout_seconds => 1, max_lifetime_seconds => 50);
$r = $s->get("/sessions/$id")->{json};
is("$r->{idle_timeout_seconds} $r->{max_lifetime_seconds}", '1 50',
    'hints count');
is($s->python($id, $loaded)->{stdout}, "True\n", 'in a ready session too');
cmp_ok(abs($r->{created_at} - time), '<', 5, 'it began when it was claimed');
ok(soon(5, sub { $s->get("/sessions/$id")->{status} == 404 }),
    'and ends when it was told to');
$id = $s->session(max_lifetime_seconds => 1);
ok(soon(5, sub { $s->get("/sessions/$id")->{status} == 404 }),
    'so with the lifetime');

# --- isolated like one that a worker has started ---

my $probe = <<'END';
import os, resource, json, signal, sys, socket
def tell(path):
    try: return open(path).read()
    except OSError as e: return e.strerror
def can(what, *args):
    try: return str(what(*args))
    except OSError as e: return e.strerror
status = [l for l in tell('/proc/self/status').split('\n') if l.split(':')[0] in
    ('Uid', 'Gid', 'Groups', 'NoNewPrivs', 'Seccomp', 'Seccomp_filters',
     'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'Threads', 'NSpid',
     'NStgid')]
print(json.dumps({
    'status': status, 'signals': [str(signal.getsignal(n)) for n in range(1, 32)],
    'blocked': str(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    'environ': dict(os.environ),
    'block': sorted(tell('/proc/self/environ').split('\0')),
    'limits': [resource.getrlimit(i) for i in range(16)],
    'mounts': tell('/proc/self/mounts'), 'fds': sorted(os.listdir('/proc/self/fd')),
    'proc': sorted(n for n in os.listdir('/proc') if not n.isdigit()),
    'pids': sum(n.isdigit() for n in os.listdir('/proc')),
    'root': sorted(os.listdir('/')), 'cwd': os.getcwd(), 'tty': can(os.ttyname, 0),
    'ids': [os.getuid(), os.getgid(), os.getppid(), os.getpgid(0) == os.getpid(),
        os.getsid(0) == os.getpid()],
    'one': [tell('/proc/1/' + n) for n in ('environ', 'maps', 'cgroup')],
    'links': [can(os.readlink, '/proc/1/' + n) for n in ('root', 'cwd', 'exe')],
    'maps': [l for l in tell('/proc/self/maps').split('\n') if ' rw-s' in l or
        '/home' in l or '/root' in l],
    'ours': [tell(p) for p in ('/etc/passwd', '/proc/sys/user/max_user_namespaces')],
    'shm': can(os.open, '/dev/shm/x', os.O_CREAT), 'usr': can(os.open, '/usr/x',
        os.O_CREAT), 'inet': can(socket.socket), 'umask': os.umask(0),
    'nice': os.nice(0), 'argv': sys.argv, 'path': sys.path, 'name': __name__,
    'exe': [sys.executable, os.readlink('/proc/self/exe')],
    'flags': [sys.flags.isolated, sys.flags.optimize], 'out': sys.stdout.encoding,
    'stdin': sys.stdin.read(), 'host': socket.gethostname()}))
END
my $cold = Sandbox->new;
my $cold_id = $cold->session;
is($cold->python($cold_id, $loaded)->{stdout}, "False\n",
    'without a keeper pandas is not loaded');
my @answers = map { JSON::PP->new->canonical->decode(
    $_->[0]->python($_->[1], $probe)->{stdout}) } [$cold, $cold_id],
    [$s, $s->session];
# RLIMIT_DATA: what is loaded already does not count as the program's.
my ($cold_data, $data) = map { $_->{limits}[2][0] } @answers;
cmp_ok($data - $cold_data, '>', 32 << 20, 'what is loaded comes on top');
cmp_ok($data - $cold_data, '<', 512 << 20, '... and nothing else');
$_->{limits}[2] = 'as told' for @answers;
is_deeply($answers[1]{$_}, $answers[0]{$_}, "seen from inside: $_")
    for sort keys %{$answers[0]};
cmp_ok(scalar keys %{$answers[0]}, '>', 20, 'all of that');
my $own = "import os\nprint(*(os.readlink('/proc/self/ns/' + n) for n in"
    . " ('user', 'mnt', 'pid', 'net', 'ipc', 'uts', 'cgroup')))";
my %names = map { $_ => 1 } (map { split ' ', $s->python($_, $own)->{stdout} }
    $a, $b), map { readlink "/proc/self/ns/$_" }
    qw(user mnt pid net ipc uts cgroup);
is(scalar keys %names, 7 * 3, 'namespaces: of a session, of'
    . ' another, of the machine, all apart');
undef $cold;

# --- a crowd ---

$s->ready(4);
my @socks = map { my $sock = $s->sock; print $sock "POST /sessions HTTP/1.1\r\n"
    . "Host: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    $sock->flush; $sock } 1 .. 24;
my @new = map { local $/; my $sock = $_;
    Satchel::answer(scalar <$sock>)->{json}{session_id} } @socks;
my %seen = map { $_ => 1 } grep { defined } @new;
is(scalar keys %seen, 24, '24 at once: each gets a session');
is(join(' ', map { $s->python($_, "print('$_')")->{stdout} =~ s/\n//r } @new),
    "@new", 'its own');
is(join('', map { $s->python($_, $loaded)->{stdout} } @new), "True\n" x 24,
    'all of them came from the zygote');
$s->del("/sessions/$_") for @new;

# --- killed ---

ok($s->ready(4) && soon(10, sub { waiting() == 4 }), 'four are ready');
kill 'KILL', waiting();
$id = $s->session;
is($s->python($id, 'print(1)')->{stdout}, "1\n", 'all that wait are killed:'
    . ' the next caller gets a session');
ok(soon(20, sub { my @w = waiting(); @w == 4 && !grep { !Satchel::_alive($_) }
    @w }), 'and there are four again');

$s->expect_log(qr/"keeper: (?:zygote|session): /);
kill 'KILL', zygotes();
$id = $s->session;
is($s->python($id, 'print(1)')->{stdout}, "1\n", 'the zygote is killed: the'
    . ' next caller gets a session');
ok(soon(30, sub { zygotes() == 1 && waiting() == 4 && (map { /\) \S (\d+)/ }
    Satchel::_slurp('/proc/' . (waiting())[0] . '/stat'))[0] == (zygotes())[0]
    }), 'another comes, and sessions of it');

my @left = waiting();
@zygote = zygotes();
kill 'KILL', $s->{keeper};
waitpid $s->{keeper}, 0;
ok(soon(5, sub { !grep { Satchel::_alive($_) } @zygote }),
    'the keeper is killed: its zygote goes too');
is(scalar(grep { Satchel::_alive($_) } @left), 4, 'what was ready stays');
@ids = map { $s->session } 1 .. 6;
is(join('', map { $s->python($_, $loaded)->{stdout} } @ids),
    "True\n" x 4 . "False\n" x 2, 'and is used up; then workers start their'
    . ' own');
$s->keep;
ok($s->ready(4), 'a keeper comes again');
is($s->python($s->session, $loaded)->{stdout}, "True\n", 'and is of use');
is($s->python($id, 'print(2)')->{stdout}, "2\n", 'older sessions live on');

$r = Satchel::run($> == 0 ? ('setpriv', '--reuid=65534', '--regid=65534',
    '--clear-groups') : (), Satchel::program('satchel-keeper'), $s->_words);
is($r->{exit}, 1, 'a second keeper ends');
like($r->{err}, qr/another one keeps/, 'and says why');

# --- other settings ---

ok($s->ready(4), 'four are ready');
@left = waiting();
Satchel::_spew("$s->{dir}/conf.yml",
    "sandbox:\n  session_memory_bytes: 402653184\n");
kill 'HUP', $s->{sandbox};
ok(soon(10, sub { my $i = $s->session; my $got = $s->python($i, $loaded);
    $s->del("/sessions/$i"); $got->{stdout} eq "False\n" }),
    'workers with other limits do not take them');
kill 'HUP', $s->{keeper};
ok(soon(30, sub { my $i = $s->session; my $got = $s->python($i, $loaded);
    $s->del("/sessions/$i"); $got->{stdout} eq "True\n" }),
    'the keeper with the same limits makes what they take');
ok(soon(10, sub { !grep { Satchel::_alive($_) } @left }),
    'and ends those of before');
Satchel::_spew("$s->{dir}/conf.yml", '');

# One whose directory goes before anybody calls it misses that soon.
{
	my ($ready) = glob "$s->{sessions}/.idle/*.*.*";
	my ($pid) = Satchel::_slurp("$ready/meta") =~ /^pid (\d+)/m;
	system('rm', '-rf', $ready);
	ok(soon(5, sub { !Satchel::_alive($pid) }),
	    'one that has lost its directory ends');
}

# --- the end ---

@ids = map { m{(sbx_\w+)$} } glob "$s->{sessions}/sbx_*";
@left = (waiting(), zygotes());
kill 'TERM', $s->{keeper};
waitpid $s->{keeper}, 0;
is($?, 0, 'SIGTERM: it ends');
delete $s->{keeper};
ok(soon(5, sub { !grep { Satchel::_alive($_) } @left }),
    'with its zygote and what was ready');
is(join(' ', glob "$s->{sessions}/.idle/*.*"), '', 'nothing is left there');
is(scalar(grep { $s->get("/sessions/$_")->{status} != 200 } @ids), 0,
    'sessions in use live on');
$s->done;

# --- recycled ---

$s = Sandbox->new(keeper => 1, set => { 'sandbox.zygote_seconds' => 3,
    'sandbox.ready' => 2 });
my ($first) = zygotes();
@left = waiting();
my $kept = $s->session;
ok(soon(90, sub { my @z = zygotes(); @z && !grep { $_ == $first } @z }),
    'an old zygote is replaced');
ok(soon(60, sub { !grep { Satchel::_alive($_) && $_ != {$s->meta($kept)}->{pid}
    } @left }), 'so is what it had made');
is($s->python($s->session, $loaded)->{stdout}, "True\n",
    'the new one is of use');
is($s->python($kept, 'print(3)')->{stdout}, "3\n",
    'a session in use does not notice');
$s->done;

# --- too much memory ---

$s = Sandbox->new(keeper => 1, set => { 'sandbox.ready' => 1,
    'sandbox.host_memory_bytes' => 160 << 20 });
$s->expect_log(qr/ended, unused/);
my $fill = 'head -c 60000000 /dev/zero >fill';
my ($old, $busy, $young) = map { $s->session } 1 .. 3;
is($s->bash($_, $fill)->{return_code}, 0, 'a session holds 60 MB')
    for $busy, $old;
$running = fork // die;
if (!$running) {
	my $c = eval { $s->bash($busy, 'sleep 20; echo done') };
	POSIX::_exit(defined $c && $c->{stdout} eq "done\n" ? 0 : 1);
}
sleep 7;
is($s->get("/sessions/$_")->{status}, 200, 'below the bound all stay')
    for $old, $busy, $young;
is($s->bash($young, $fill)->{return_code}, 0, 'a third one');
ok(soon(20, sub { $s->get("/sessions/$old")->{status} == 404 }),
    'above it, the one unused for longest ends');
is($s->get("/sessions/$young")->{status}, 200, 'not the youngest');
waitpid $running, 0;
is($?, 0, 'nor one that runs something, however long ago it was asked');
$s->done;
done_testing();
