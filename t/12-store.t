# The store over filesystems that are full, read-only, late, dead, or FUSE.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use IPC::Open2;
use POSIX qw(WNOHANG);
use Test::More;

my $BUILD = abs_path($ENV{SATCHEL_BUILD} || 'build');

# Everything is mounted in a mount namespace of our own, so that a test which
# dies leaves nothing behind; an ordinary user gets one inside a user namespace.
if (!$ENV{STORE_TEST_INSIDE}) {
	$ENV{STORE_TEST_INSIDE} = 1;
	$ENV{STORE_TEST_USER} = 1 if $> != 0;
	exec 'unshare', ($> == 0 ? '-m' : '-Urm'), '--', $^X, $0;
	die "unshare: $!";
}

my $dir = tempdir(CLEANUP => 1);
my @fuse;

sub run { system(@_) == 0 or die "@_ failed" }
sub mount_tmpfs { run('mount', '-t', 'tmpfs', '-o', $_[0], 'tmpfs', $_[1]) }

# A store over $root; ask(words) sends a line and returns the answer.
sub store {
	my ($root, @before) = @_;
	my $pid = open2(my $out, my $in, @before, "$BUILD/t/tool/store", $root);
	return sub {
		if (!@_) {
			close $in;
			waitpid $pid, 0;
			return $? >> 8;
		}
		print {$in} "@_\n";
		chomp(my $answer = <$out> // 'died');
		return $answer;
	};
}

# Every regular file below, for "nothing is left".
sub files {
	my ($root) = @_;
	return join ' ', sort map { chomp; $_ }
	    qx(find '$root' -type f -printf '%P\\n');
}

sub bindfs {
	my ($from, $to, @opt) = @_;
	my $pid = fork // die $!;
	if ($pid == 0) {
		exec 'bindfs', '-f', @opt, $from, $to;
		die "bindfs: $!";
	}
	push @fuse, $pid;
	for (1 .. 100) {
		return $pid if (stat $to)[0] != (stat $dir)[0];
		select undef, undef, undef, 0.05;
		last if waitpid($pid, WNOHANG) == $pid;
	}
	die 'bindfs did not mount';
}

# A full filesystem.
{
	my $root = "$dir/small";
	mkdir $root;
	mount_tmpfs('size=1m', $root);
	my $s = store($root);
	is($s->('ready'), 'ok', 'an empty small filesystem is ready');
	my ($rc, $kept) = split / /, $s->('put 300000');
	is($rc, 'ok', '300 kB fit');
	like($s->('put 2000000'), qr/^full /, '2 MB do not: full');
	my ($a, $b) = $kept =~ /^(..)(..)/;
	is(files($root), "$a/$b/$kept", 'nothing is left of it');
	is($s->("get $kept"), 'ok 300000', 'what was there is intact');

	open my $fh, '>', "$root/ballast" or die $!;
	1 while syswrite $fh, 'x' x 4096;
	close $fh;
	is($s->('ready'), 'full', 'to the last byte: not ready, full');
	like($s->('put 1'), qr/^full /, 'not even one byte');
	like($s->('probe'), qr/^full /, 'the probe says so too');
	is($s->("rm $kept"), 'ok', 'removing needs no room');
	unlink "$root/ballast";
	is($s->('ready'), 'ok', 'room again: ready');
	is(files($root), '', 'and nothing left of all that');
	is($s->(), 0, 'ended well');
}
{
	my $root = "$dir/inodes";
	mkdir $root;
	mount_tmpfs('size=1m,nr_inodes=4', $root);
	my $s = store($root);
	like($s->('put 1'), qr/^full /, 'no inodes for the shard: full');
	is(files($root), '', 'nothing is left');
	$s->();
}

# A filesystem that becomes read-only.
{
	my $root = "$dir/ro";
	mkdir $root;
	mount_tmpfs('size=1m', $root);
	my $s = store($root);
	my (undef, $key) = split / /, $s->('put 1000');
	run('mount', '-o', 'remount,bind,ro', $root);
	like($s->('put 1'), qr/^away /, 'read-only: away');
	is($s->('ready'), 'away', 'not ready');
	is($s->("rm $key"), 'away', 'a removal that failed is not one');
	is($s->("get $key"), 'ok 1000', 'reading goes on');
	run('mount', '-o', 'remount,bind,rw', $root);
	is($s->('ready'), 'ok', 'writable again: ready');
	$s->();
}

# Root looks at a store that is somebody else's.
if (!defined $ENV{STORE_TEST_USER}) {
	my $root = "$dir/owned";
	mkdir $root;
	chown 65534, 65534, $root;
	my $s = store($root);
	like($s->('probe'), qr/^ok /, 'root probes');
	$s->();
	is(join(' ', grep { (lstat)[4] != 65534 } glob "$root/* $root/*/*"), '',
	    'and all that is left belongs to the owner of the root');
}

# A directory we may not write in, whoever we are.
{
	my $root = "$dir/denied";
	mkdir $root;
	chmod 0500, $root;
	my $s = store($root, 'setpriv', '--bounding-set=-all',
	    '--inh-caps=-all', '--');
	like($s->('put 1'), qr/^away /, 'permission denied: away');
	is($s->('ready'), 'away', 'not ready');
	$s->();
	chmod 0700, $root;
}

# A mount that comes after the workers.
{
	my $root = "$dir/late";
	my $s = store($root);
	is($s->('ready'), 'away', 'no mount point yet: away');
	mkdir $root;
	is($s->('ready'), 'ok', 'an empty mount point is a directory');
	mount_tmpfs('size=1m', $root);
	sleep 2;
	my ($rc, $key) = split / /, $s->('put 5');
	is($rc, 'ok', 'the mount came late');
	like(files($root), qr/\b$key$/, 'and is what is written to');
	$s->();
}

# FUSE, which knows link() but no RENAME_NOREPLACE.
{
	my ($under, $root) = ("$dir/under", "$dir/fuse");
	mkdir $_ for $under, $root;
	my $pid = bindfs($under, $root);
	my $s = store($root);
	my ($rc, $how, $dirsync, $clock, $bytes, $inodes) =
	    split / /, $s->('probe');
	is("$rc $how $dirsync $clock", 'ok link 1 1', 'bindfs: probed');
	ok($bytes > 0 && $inodes > 0, 'room is counted');
	is(files($under), '', 'the probe leaves nothing');
	my (undef, $key) = split / /, $s->('put 3000000');
	is($s->("get $key"), 'ok 3000000', 'written and read back');
	like(files($under), qr{^../../$key$}, 'under its final name alone');
	is($s->("rm $key"), 'ok', 'removed');
	is(files($under), '', 'really');
	(undef, $key) = split / /, $s->('put 10');
	kill 'KILL', $pid;
	waitpid $pid, 0;
	like($s->('put 1'), qr/^away /, 'the FUSE server died: away');
	is($s->("get $key"), 'away 0', 'its blobs are away, not gone');
	is($s->("rm $key"), 'away', 'nor taken for removed');
	run('umount', '-l', $root);
	bindfs($under, $root);
	sleep 2;
	is($s->("get $key"), 'ok 10', 'mounted again: there');
	$s->();
	run('umount', $root);
}

# FUSE, read-only.
{
	my ($under, $root) = ("$dir/under2", "$dir/fuse2");
	mkdir $_ for $under, $root;
	bindfs($under, $root, '-r');
	my $s = store($root);
	like($s->('put 1'), qr/^away /, 'bindfs -r: away');
	$s->();
	run('umount', $root);
}

done_testing();

END {
	if ($dir) {
		local $?;
		system "umount -l '$dir'/* 2>/dev/null";
		kill 'TERM', @fuse;
		waitpid $_, 0 for @fuse;
	}
}
