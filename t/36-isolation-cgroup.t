#!/usr/bin/perl

# namespaces+cgroup: the attacks, and what the control group adds.  To hand a
# group to the sandbox's user needs root; an ordinary user sees the refusals.

use strict;
use warnings;
use Test::More;
use Attacks;
use Kernel;
use Sandbox;

my $MiB = 1 << 20;
my @nobody = $> == 0 ? qw(setpriv --reuid=65534 --regid=65534 --clear-groups --)
    : ();

# What satchel-sandbox says where the group is $dir.
sub refusal {
	my ($dir, @as) = @_;
	@as = @nobody if !@as;
	my $tmp = File::Temp::tempdir(CLEANUP => 1);
	mkdir "$tmp/s", 0700;
	chmod 0755, $tmp;
	chown 65534, 65534, "$tmp/s" if $> == 0;
	my $r = Satchel::run(@as, Satchel::program('satchel-sandbox'), '-c',
	    '/dev/null', '-s', "files.root=$tmp/files", '-s',
	    "sandbox.dir=$tmp/s", '-l', "$tmp/s/sock", '-s',
	    'sandbox.isolation=namespaces+cgroup', '-s', "sandbox.cgroup=$dir");
	return "$r->{exit} " . ($r->{err}
	    =~ /this machine cannot make sandboxes: (.*?) -> /)[0];
}
is(refusal(''), '1 sandbox.cgroup: No such file or directory (ENOENT): it is'
    . ' not there', 'no group named: it does not start with less');
is(refusal('', 'env'), refusal(''), 'who gives up root is told the same');
is(refusal('/usr'), '1 cgroup version: Operation not supported (EOPNOTSUPP): it'
    . ' is no control group of version 2, nor of version 1 for memory',
    'a directory that is no control group');

# The hierarchies of this machine.
my $v1 = Kernel::cgroup_v1();
my ($v2) = Satchel::_slurp('/proc/self/mounts') =~ /^\S+ (\S+) cgroup2 /m;
my $ours = "satchel-test-$$";
like(refusal($v1 // $v2), qr/^1 cgroup: Permission denied \(EACCES\): it does not/,
    'a group of somebody else');

sub make {
	my ($dir) = @_;
	mkdir $dir or die "$dir: $!";
	chown 65534, 65534, $dir, glob "$dir/*";
	return $dir;
}
sub number {
	my ($file) = @_;
	return Satchel::_slurp($file) =~ /(\d+)/ ? $1 : undef;
}

if ($> == 0 && $v2) {
	# Alone it has its controllers only where version 1 has not taken them.
	my $dir = make("$v2/$ours");
	if (Satchel::_slurp("$v2/cgroup.controllers") !~ /\bmemory\b/) {
		is(refusal($dir), '1 cgroup memory: No such file or directory'
		    . ' (ENOENT): the memory controller is not handed on to its'
		    . ' groups', 'as root: version 2 without its controller');
	}
	is(join(' ', glob "$dir/sbx-*"), '', 'as root: nothing is left of it');
	rmdir $dir;
}
if (Kernel::has('cgroup')) {
	my $dir = make("$v1/$ours");
	attacks('namespaces+cgroup', 'sandbox.cgroup' => $dir);

	my $s = Sandbox->new(set => { 'sandbox.cgroup' => $dir,
	    'sandbox.isolation' => 'namespaces+cgroup',
	    'sandbox.session_memory_bytes' => 256 * $MiB,
	    'sandbox.workspace_bytes' => 16 * $MiB });
	my $id = $s->session;
	my %meta = $s->meta($id);
	my ($group) = grep { Satchel::_slurp("$_/cgroup.procs")
	    =~ /^$meta{pid}$/m } glob "$dir/sbx-*";
	ok($group, 'as root: a session has its group');
	is(number("$group/memory.limit_in_bytes") / $MiB, 256 + 16 + 64 + 16 + 16,
	    'as root: which holds its memory, its files and the supervisor');
	is(number("$group/memory.memsw.limit_in_bytes") / $MiB, 368,
	    'as root: without swap');
	$s->python($id, 'x = 1');
	my @in = split ' ', Satchel::_slurp("$group/cgroup.procs");
	is("@{[sort @in]}", "@{[sort $s->inside($id)]}",
	    'as root: all of it and nobody else is in there');
	is($s->bash($id, 'cat /proc/self/cgroup')->{stdout}
	    =~ /memory:(.*)/ && $1, '/', 'as root: which is all that it sees');

	# What no look of ours can catch, the kernel does.
	$s->bash($id, 'echo kept >kept');
	open my $fh, '>', "$group/memory.limit_in_bytes" or die;
	syswrite $fh, 64 * $MiB or die "limit: $!";
	close $fh;
	my $c = $s->python($id, 'b = bytearray(200 << 20)
for i in range(0, len(b), 4096): b[i] = 1');
	is("$c->{return_code} $c->{stderr}", '137 sandbox: memory limit of 256'
	    . " MiB reached; variables were lost, files kept\n",
	    '4: as root: the kernel ends who fills the group');
	is(($s->inside($id))[0], $meta{pid}, '4: as root: the supervisor lives');
	is($s->bash($id, 'cat kept')->{stdout}, "kept\n",
	    '4: as root: the session goes on');
	$c = $s->bash($id, 'python3 -c "b = bytearray(200 << 20)
for i in range(0, len(b), 4096): b[i] = 1"; sleep 60');
	like("$c->{return_code} $c->{stderr}",
	    qr/^137 (?:.*\n)?sandbox: memory limit of 256 MiB reached; .*\n\z/ms,
	    '4: as root: a child that it ends, ends the call');
	is($s->bash($id, 'echo on')->{stdout}, "on\n", '4: as root: and no other');

	# Files are memory as well.
	$c = $s->bash($id, 'head -c 15M /dev/zero >f; for i in 1 2 3 4; do'
	    . ' head -c 15M /dev/zero >/tmp/$i; done; sleep 60');
	is($c->{return_code}, 137, '6: as root: memory through files counts');
	is(($s->inside($id))[0], $meta{pid}, '6: as root: the supervisor lives');

	# The kernel has done with its processes a moment later.
	$s->del("/sessions/$id");
	my $until = time + 5;
	1 while Satchel::_slurp("$group/cgroup.procs") ne '' && time < $until;
	$id = $s->session;
	is(scalar(my @left = glob "$dir/sbx-*"), 1,
	    'as root: groups of ended sessions are removed');
	$s->done;
	$until = time + 5;
	1 while !rmdir((glob "$dir/sbx-*")[0]) && time < $until;
	ok(rmdir $dir, 'as root: and can be');
}
done_testing();
