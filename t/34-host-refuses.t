#!/usr/bin/perl

# satchel-admin check and satchel-sandbox on machines that refuse one step of
# what a session is confined by: which, why, and what to do.  All of it as an
# ordinary user: nobody, if we are root.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp;
use JSON::PP ();
use Test::More;
use Kernel;
use Satchel;

my $dir = File::Temp::tempdir('satchel-rf.XXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0755, $dir;
mkdir "$dir/sessions", 0700;
chown 65534, 65534, "$dir/sessions" if $> == 0;
my @nobody = $> == 0 ? qw(setpriv --reuid=65534 --regid=65534 --clear-groups --)
    : ();
my ($admin, $sandbox, $refuse) = map { abs_path(Satchel::program($_)) }
    'satchel-admin', 'satchel-sandbox', 't/tool/refuse';

# What check says of an item, host.isolation if none is named, when @in runs it.
my @level;
my $item = 'host.isolation';
sub look {
	my (@in) = @_;
	my $r = Satchel::run(@nobody, @in, $admin, '--json', '-c', '/dev/null',
	    '-s', "files.root=$dir", @level, 'check');
	my $json = eval { JSON::PP->new->decode($r->{out}) } || {};
	my ($i) = grep { $_->{item} eq $item } @{$json->{checks}};
	return $i || { state => '?', saw => "$r->{out}$r->{err}" };
}

my $i = look();
is("$i->{state} $i->{saw}", 'ok namespaces; no control group holds a'
    . " session's memory, which is looked at every 50 ms", 'this machine can');

# A system call filter, as container runtimes set one.
my @EPERM = ($refuse, 1);
my @ENOSYS = ($refuse, 38);
my @ENOSPC = ($refuse, 28);
my $filter = 'a system call filter is in force here, as container runtimes set'
    . ' one';
my $container = qr/^let the container make namespaces and mounts: its seccomp/;
for (['userns', 'unshare user'], ['mount', 'private mounts'],
    ['open_tree', 'open_tree'], ['umount2', 'empty root'],
    ['pivot_root', 'pivot_root'], ['chroot', 'chroot'],
    ['sethostname', 'sethostname'], ['seccomp', 'seccomp'],
    ['mount_setattr', '/usr']) {
	my ($call, $step) = @$_;
	$i = look(@EPERM, $call);
	is("$i->{state} $i->{saw}", "warn $step: Operation not permitted"
	    . " (EPERM): $filter", "a filter refuses $call");
	like($i->{remedy}, $container, '... and who must let it');
}

# An old kernel, which does not know a call.
for (['mount_setattr', '/usr'], ['open_tree', 'open_tree']) {
	my ($call, $step) = @$_;
	$i = look(@ENOSYS, $call);
	is("$i->{state} $i->{saw}", "warn $step: Function not implemented"
	    . ' (ENOSYS): the kernel is too old, or built without it',
	    "a kernel without $call");
	is($i->{remedy}, 'take Linux 5.14 or newer', '... and which has it');
}
$i = look(@ENOSYS, 'userns');
is($i->{remedy}, 'take a kernel with CONFIG_USER_NS',
    'a kernel without user namespaces');

# user.max_user_namespaces at 0, set in namespaces of our own.
my @own = qw(unshare -U --map-user=1000 --map-group=1000 --keep-caps);
$i = look(@own, 'sh', '-c',
    'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', 'sh');
is("$i->{state} $i->{saw}", 'warn unshare user: No space left on device'
    . ' (ENOSPC): user.max_user_namespaces is 0', 'the sysctl at 0');
is($i->{remedy}, 'sysctl user.max_user_namespaces=15000', '... and its remedy');
$i = look(@ENOSPC, 'userns');
like($i->{saw}, qr/: user\.max_user_namespaces, which is \d+, is used up/,
    'or used up');

# /proc with parts covered, as container runtimes leave it.
$i = look(qw(unshare -Urm sh -c),
    'mount -t tmpfs none /proc/irq && exec "$@"', 'sh');
is("$i->{state} $i->{saw}", 'warn proc: Operation not permitted (EPERM): parts'
    . ' of /proc are covered by other mounts, such as /proc/irq',
    'a masked /proc');
like($i->{remedy}, qr/^give the container an unmasked \/proc/,
    '... and its remedy');
$i = look(qw(unshare -Urm sh -c),
    'mount -t tmpfs none /proc/sys && exec "$@"', 'sh');
like($i->{saw}, qr/^user\.max_user_namespaces: .*: \/proc\/sys is read-only or/,
    'a covered /proc/sys');

# A chroot.
my $bin = dirname($admin);
$i = look(qw(unshare -Urm sh -c), <<"SH", 'sh');
for d in /usr /proc /dev /etc $bin; do
	mkdir -p $dir/sessions/root\$d && mount --rbind \$d $dir/sessions/root\$d
done
for l in bin lib lib64; do ln -s usr/\$l $dir/sessions/root/\$l; done
exec chroot $dir/sessions/root "\$@"
SH
is("$i->{state} $i->{saw}", 'warn unshare user: Operation not permitted'
    . ' (EPERM): this process is in a chroot, where none can be made',
    'a chroot');
is($i->{remedy}, 'start satchel-sandbox outside of the chroot',
    '... and its remedy');

# A root filesystem that is none.
my $r = Satchel::run(@nobody, $admin, '-c', '/dev/null', '-s',
    "files.root=$dir", '-s', "sandbox.rootfs=$dir/none", 'check');
like($r->{out}, qr{^FAIL[ ][ ]host\.isolation[ ]+/usr:[ ]No[ ]such[ ]file[ ]or[ ]directory
    [ ]\(ENOENT\):[ ]it[ ]is[ ]not[ ]there[ ]->[ ]set[ ]sandbox\.rootfs}mx,
    'a root filesystem that is not there');

# The same where bubblewrap is to do it.
@level = ('-s', 'sandbox.isolation=bwrap');
$i = look();
is("$i->{state} $i->{saw}", 'ok bwrap; nothing holds a session\'s memory and'
    . ' number of files, which are looked at every 50 ms', 'bubblewrap can');
$i = look(@EPERM, 'userns');
like("$i->{state} $i->{saw}", qr/^FAIL bwrap: No permissions to create.*: \Q$filter/,
    'bubblewrap: a filter refuses user namespaces');
like($i->{remedy}, $container, '... and who must let it');
$i = look(@EPERM, 'pivot_root');
like("$i->{state} $i->{saw}", qr/^FAIL bwrap: pivot_root.*: \Q$filter/,
    'bubblewrap: a filter refuses pivot_root');
$i = look(qw(unshare -Urm sh -c),
    'mount -t tmpfs none /proc/irq && exec "$@"', 'sh');
like("$i->{state} $i->{saw}", qr/^FAIL bwrap: Can't mount proc .*: parts of/,
    'bubblewrap: a masked /proc');
like($i->{remedy}, qr/^give the container an unmasked \/proc/,
    '... and its remedy');
# The same where there are rules alone: that is less, and said even where it can
# be had.
@level = ('-s', 'sandbox.isolation=landlock');
my $landlock = Kernel::has('landlock');
if ($landlock) {
	$i = look();
	like("$i->{state} $i->{saw}", qr/^warn[ ]landlock[ ]ABI[ ]\d+;[ ]nothing[ ]holds
	    .*memory,[ ]processes,[ ]files.*50[ ]ms;[ ]names[ ].*asked[ ]after.*
	    \/tmp,[ ]\/mnt\/data/x, 'Landlock can, with what it lacks');
	like($i->{remedy}, qr/^have namespaces where the machine allows them/,
	    '... and what would be better');
}
# What leads to the workspace there; in a tree of mounts of our own.
sub linked {
	my ($to) = @_;
	my $user = $> == 0 ? 'unshare -m' : 'unshare -Urm';
	my $r = Satchel::run(split(' ', $user), 'sh', '-c', 'mount -t tmpfs none'
	    . ' /mnt && { [ -z "$0" ] || ln -s "$0" /mnt/data; } && exec "$@"', $to,
	    @nobody, $admin, '--json', '-c', '/dev/null', '-s', "files.root=$dir",
	    @level, 'check');
	my ($i) = grep { $_->{item} eq 'host.isolation' }
	    @{JSON::PP::decode_json($r->{out})->{checks}};
	return $i->{remedy};
}
my $better = 'have namespaces where the machine allows them';
if ($landlock) {
	is(linked('/proc/self/cwd'), $better,
	    'Landlock: /mnt/data leads to the workspace');
	like(linked($_), qr/^$better, or at least make \/mnt\/data a link to/,
	    'Landlock: ' . ($_ eq '' ? 'nothing is' : 'another link is') . ' there')
	    for '', '/proc/self/root';
	$i = look(@EPERM, 'userns');
	like("$i->{state} $i->{saw}", qr/^warn landlock ABI \d+;/,
	    'Landlock: a filter that refuses user namespaces does not matter');
}
for ([38, 'Function not implemented (ENOSYS): the kernel is too old, or built'
    . ' without it', qr/6\.12 .*CONFIG_SECURITY_LANDLOCK/],
    [95, 'Operation not supported (EOPNOTSUPP): it was not switched on when the'
    . ' kernel started', qr/lsm=/]) {
	my ($error, $saw, $remedy) = @$_;
	$i = look($refuse, $error, 'landlock');
	is("$i->{state} $i->{saw}", "FAIL landlock: $saw", "a kernel without: $error");
	like($i->{remedy}, $remedy, '... and its remedy');
}
$i = look(@EPERM, 'seccomp');
like($i->{saw}, qr/^seccomp: .*: \Q$filter/, 'Landlock: no filter of our own');
push @level, '-s', "sandbox.rootfs=$dir";
$i = look();
is("$i->{state} $i->{saw}", 'FAIL sandbox.rootfs: Operation not supported'
    . " (EOPNOTSUPP): rules alone show no other root than the machine's",
    'Landlock: another root');
@level = ('-s', 'sandbox.isolation=remote');
$i = look(@EPERM, 'userns');
is("$i->{state} $i->{saw}", 'ok remote: no session of this machine',
    'a machine whose sandbox is another needs nothing');
@level = ();

# A level that was asked for and cannot be had is a failure, with its remedy: the
# sandbox would not start.
@level = ('-s', 'sandbox.isolation=namespaces+cgroup');
$i = look();
is("$i->{state} $i->{saw}", 'FAIL sandbox.cgroup: No such file or directory'
    . ' (ENOENT): it is not there', 'no control group');
like($i->{remedy}, qr/^give sandbox\.cgroup, a directory below/,
    '... and its remedy');
push @level, '-s', 'sandbox.cgroup=/usr';
$i = look();
like("$i->{state} $i->{saw}", qr/^FAIL cgroup version: /,
    'a directory that is none');
push @level, '-s', 'sandbox.dir=/';
$i = look();
is($i->{state}, $> == 0 || (stat '/')[4] != $> ? 'warn' : 'FAIL',
    'what is refused to us is perhaps not to the owner of sandbox.dir');
@level = ();

# A kernel that was built without a part.
$item = 'host.sockets';
@level = ('-s', "sandbox.dir=$dir/sessions");
$i = look();
is("$i->{state} $i->{saw}", 'ok the kernel shows what unix sockets hold',
    'unix sockets are shown');
$i = look($refuse, 93, 'netlink');
like("$i->{state} $i->{saw}", qr/^warn the kernel does not show .* have [1-9]\d*$/,
    '... or not');
like($i->{remedy}, qr/^take a kernel with CONFIG_UNIX_DIAG/, '... and its remedy');
@level = ();

# The sandbox does not start there, and says the same.
for ([[@EPERM, 'pivot_root'], 'pivot_root: Operation not permitted (EPERM): '
    . "$filter -> let the container"], [[@own, 'sh', '-c',
    'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', 'sh'],
    'unshare user: No space left on device (ENOSPC): user.max_user_namespaces'
    . ' is 0 -> sysctl user.max_user_namespaces=15000']) {
	my ($in, $says) = @$_;
	$r = Satchel::run(@nobody, @$in, $sandbox, '-c', '/dev/null', '-s',
	    "files.root=$dir/files", '-s', "sandbox.dir=$dir/sessions",
	    '-l', "$dir/sessions/sock");
	is($r->{exit}, 1, 'satchel-sandbox does not start');
	like($r->{err}, qr/this machine cannot make sandboxes: \Q$says\E/,
	    '... and says why');
}
done_testing();
