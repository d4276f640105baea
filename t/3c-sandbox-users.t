#!/usr/bin/perl

# The users of sessions.  What the kernel counts for each user, such as epoll
# watches, is each session's own: no two share a user, and none has its host's,
# let alone the gateway's.  Root takes users for them, an ordinary user has those
# of /etc/subuid, and where there are none, or no namespaces, that is said.

use strict;
use warnings;
use POSIX ();
use Test::More;
use Sandbox;
use Satchel;
use Time::HiRes qw(sleep time);

# The users, real to that of files, and the groups of the process $pid.
sub ids {
	my ($pid) = @_;
	my $text = Satchel::_slurp("/proc/$pid/status");
	my ($uids) = $text =~ /^Uid:\s*(.*)/m;
	my ($gids) = $text =~ /^Gid:\s*(.*)/m;
	my ($more) = $text =~ /^Groups:[ \t]*(.*?)\s*$/m;
	return map { s/\s+/ /gr } $uids, $gids, $more;
}

# The one user of all processes of the session $id, or what there is instead.
sub user_of {
	my ($s, $id) = @_;
	my %seen = map { $_ => 1 } map { split ' ', (ids($_))[0] }
	    $s->inside($id);
	return join ' ', sort keys %seen;
}

sub soon {
	my ($sub) = @_;
	my $until = time + 3;
	while (time < $until) {
		return 1 if $sub->();
		sleep 0.01;
	}
	return 0;
}

# Two sessions of $s, whose users are within $first .. $last.
sub apart {
	my ($name, $s, $first, $last) = @_;
	my $host = (stat $s->{sessions})[4];
	my @id = map { $s->session } 1 .. 2;
	my $own = 'import os; print(os.getuid(), os.getgid(), os.getgroups(),'
	    . ' os.stat(".").st_uid); open("a", "w").write("x")';
	is($s->python($_, $own)->{stdout}, "1000 1000 [] 1000\n",
	    "$name: who it is inside") for @id;
	is($s->bash($_, 'echo y >>a && cat a && sleep 0.01')->{stdout}, "xy\n",
	    '... and both tools are the same') for @id;
	my @user = map { user_of($s, $_) } @id;
	like($_, qr/^\d+$/, '... one user outside') for @user;
	isnt($user[0], $user[1], '... each its own');
	ok(!(grep { $_ < $first || $_ > $last } @user), '... from the range')
	    or diag "@user";
	ok(!(grep { $_ == $host } @user), '... and not its host\'s');
	my ($pid) = $s->inside($id[0]);
	is((ids($pid))[2], '', '... without further groups');

	# Its times are still told, and its end is its host's to bring about.
	my $used = $s->get("/sessions/$id[0]")->{json}{last_activity_at};
	sleep 0.05;
	$s->bash($id[0], 'true');
	# The supervisor notes it once the answer is out.
	my ($noted, $until) = ($used, time + 3);
	until ($noted > $used || time > $until) {
		sleep 0.01;
		$noted = $s->get("/sessions/$id[0]")->{json}{last_activity_at};
	}
	cmp_ok($noted, '>', $used, '... its last use is noted');
	my @pids = $s->inside($id[0]);
	is($s->del("/sessions/$id[0]")->{status}, 204, '... it is destroyed');
	ok(!-e "$s->{sessions}/$id[0]", '... without a trace');
	ok(soon(sub { !grep { Satchel::_alive($_) } @pids }),
	    '... and all its processes');

	# A supervisor that does not do as it is told is killed.
	@pids = $s->inside($id[1]);
	kill 'STOP', $pids[0];
	is($s->del("/sessions/$id[1]")->{status}, 204,
	    '... even if it has stopped');
	ok(soon(sub { !grep { Satchel::_alive($_) } @pids }), '... all of it');
	is($s->get('/health')->{json}{own_users}, JSON::PP::true(),
	    '... and the host says so');
}

my @root = (0x7f000000, 0x7f000000 + 0x3fffff);
if ($> == 0) {
	my $s = Sandbox->new(root => 1);
	apart('as root', $s, @root);
	undef $s;
	$s = Sandbox->new(root => 1, keeper => 1, set => {
	    'sandbox.ready' => 2 });
	apart('as root, ready sessions', $s, @root);
	undef $s;
	$s = Sandbox->new(root => 1, set => { 'sandbox.isolation' => 'bwrap' });
	apart('as root, bwrap', $s, @root);
	undef $s;
	my ($v1) = grep { defined } map { (split)[1] }
	    grep { /^\S+ \S+ cgroup \S*\bmemory\b/ }
	    split /\n/, Satchel::_slurp('/proc/self/mounts');
	if (defined $v1) {
		my $group = "$v1/satchel-users-$$";
		mkdir $group or die "$group: $!";
		chown 65534, 65534, $group, glob "$group/*";
		$s = Sandbox->new(root => 1, keeper => 1, set => {
		    'sandbox.isolation' => 'namespaces+cgroup',
		    'sandbox.cgroup' => $group, 'sandbox.ready' => 2 });
		apart('as root, namespaces+cgroup', $s, @root);
		undef $s;
		soon(sub { rmdir $_ for glob "$group/sbx-*"; rmdir $group });
	}

	# An ordinary user with ranges; those of the machine stay as they are.
	my $dir = File::Temp::tempdir(CLEANUP => 1);
	Satchel::_spew("$dir/ids", "nobody:300000:65536\n");
	$s = Sandbox->new(in => ['unshare', '-m', 'sh', '-ec',
	    "for f in subuid subgid; do mount --bind $dir/ids /etc/\$f; done;"
	    . ' exec "$@"', 'sh']);
	apart('by /etc/subuid', $s, 300000, 365535);
	undef $s;

	# The capabilities of the units do as well.
	$s = Sandbox->new(in => ['setpriv', '--inh-caps=+setuid,+setgid',
	    '--ambient-caps=+setuid,+setgid', '--reuid=65534',
	    '--regid=65534', '--clear-groups', '--no-new-privs', '--']);
	apart('by two capabilities', $s, @root);
	is(join(' ', Satchel::_slurp("/proc/$s->{sandbox}/status")
	    =~ /^Cap(?:Inh|Prm|Eff|Amb):\s*(\S+)/mg), join(' ', ('0' x 16) x 4),
	    '... which are given up');
	undef $s;
}

# Where there are none.
my $s = Sandbox->new;
my $id = $s->session;
is(user_of($s, $id), (stat $s->{sessions})[4], 'no range: its host\'s user');
is($s->get('/health')->{json}{own_users}, JSON::PP::false(), '... as it says');
undef $s;

# A whole system: what code does with its user is not the gateway's affair.
$s = Satchel->new;
my %user = map { $_ => (ids(($s->pids($_))[0]))[0] =~ s/ .*//r }
    qw(files run nginx sandbox keeper);
is(join(' ', @user{qw(run nginx)}), "$user{files} $user{files}",
    'a system: the gateway has one user');
is($user{keeper}, $user{sandbox}, '... the sandbox host another');
my $check = $s->admin('--json', 'check')->{json};
my ($said) = grep { $_->{item} eq 'sandbox.users' } @{$check->{checks}};
if ($> == 0) {
	isnt($user{sandbox}, $user{files}, '... which is not the same');
	is($said->{state}, 'ok', '... and check is content');
	my $r = $s->post('/v1/exec', json => { lang => 'py', code =>
	    'import os, select; e = select.epoll(); n = 0' . "\n"
	    . 'for i in range(100):' . "\n"
	    . '    r, w = os.pipe(); e.register(r); n += 1' . "\n"
	    . 'print(n)' });
	is($r->{json}{stdout}, "100\n", '... code has its own watches');
	is((stat "$s->{dir}/sandbox")[4], $user{sandbox},
	    '... and its sessions lie there');
} else {
	is($said->{state}, 'warn', '... or else check warns');
}
$s->done;
done_testing();
