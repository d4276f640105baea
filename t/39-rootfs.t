#!/usr/bin/perl

# sandbox.rootfs: a session sees that directory's files, and none of the
# machine's.  tools/make-rootfs needs root; an ordinary user sees a root made by
# hand.

use strict;
use warnings;
use File::Temp;
use FindBin;
use Test::More;
use Sandbox;

my $dir = File::Temp::tempdir('satchel-rt.XXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0755, $dir;

# --- by hand: a shell and two programs with what they are linked with ---

my $hand = "$dir/hand";
my @programs = map { "/usr/bin/$_" } qw(bash ls cat);
my %needed = map { $_ => 1 } @programs;
for my $line (split /\n/, `ldd @programs`) {
	$needed{$1} = 1 if $line =~ m{(/\S+)(?: \(0x|$)};
}
delete $needed{"$_:"} for @programs;
for my $file (sort keys %needed) {
	my $to = $file =~ m{^/usr/} ? $file : "/usr$file";
	system('install', '-D', '-m', 755, $file, "$hand$to") == 0 or die $file;
}
symlink '/etc', "$hand/usr/link";
mkdir "$hand/opt";
Satchel::_spew("$hand/opt/added", "added\n");
Satchel::_spew("$hand/mark", "not shown\n");

for my $level ('namespaces') {
	my $s = Sandbox->new(set => { 'sandbox.rootfs' => $hand,
	    'sandbox.isolation' => $level });
	my $id = $s->session;
	my $c = $s->bash($id, 'cd /usr; ls bin; ls -d /usr/*; cat /opt/added');
	is("$c->{stdout}$c->{stderr}", "bash\ncat\nls\n"
	    . join('', map { "/usr/$_\n" } sort map { m{/usr/([^/]+)$} }
	    glob "$hand/usr/*") . "added\n", "$level: its /usr, and no other");
	is($s->bash($id, 'ls / /mark /home /root /srv /boot 2>/dev/null')
	    ->{stdout} =~ s/\n/ /gr, '/: bin dev etc lib lib32 lib64 mnt opt proc'
	    . ' run sbin tmp usr var ', "$level: its root holds nothing else");
	is($s->bash($id, 'cat /usr/link/passwd')->{stdout},
	    "sandbox:x:1000:1000:sandbox:/mnt/data:/bin/bash\n",
	    "$level: a link out of it leads into the session");
	$c = $s->bash($id, 'echo x >/usr/x; echo x >/opt/x; echo $?');
	is($c->{stdout}, "1\n", "$level: it cannot be written to");
	is($s->bash($id, 'cat /proc/self/mountinfo')->{stdout}, '',
	    "$level: nor be found");
	is($s->python($id, 'print(1)')->{return_code}, 127,
	    "$level: what it has not, is not there");
	is($s->bash($id, 'echo on >f; cat f')->{stdout}, "on\n",
	    "$level: the session goes on");
}

# --- what make-rootfs refuses ---

my $tool = "$FindBin::Bin/../tools/make-rootfs";
for ([2, qr/^Make a root filesystem/m], [2, qr/begins with a slash/, 'x'],
    [1, qr/is there already/, $dir],
    [1, qr/none cannot be read/, '-r', "$dir/none", "$dir/new"],
    [2, qr/^Make a root/m, '-x', "$dir/new"]) {
	my ($exit, $says, @words) = @$_;
	my $r = Satchel::run('sh', $tool, @words);
	is($r->{exit}, $exit, "make-rootfs @words: exit status");
	like($r->{err}, $says, '... and why');
}

if ($> != 0) {
	my $r = Satchel::run('sh', $tool, "$dir/new");
	is($r->{exit}, 1, 'make-rootfs as an ordinary user');
	like($r->{err}, qr/root is needed/, '... says what it needs');
	done_testing();
	exit;
}

# --- made, with a Python package of our own ---

system('python3', '-c', <<'PY', "$dir/ours-1.0-py3-none-any.whl") == 0 or die;
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as z:
    z.writestr('ours.py', 'answer = 42\n')
    z.writestr('ours-1.0.dist-info/METADATA',
        'Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n')
    z.writestr('ours-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\n'
        'Generator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
    z.writestr('ours-1.0.dist-info/RECORD', '')
PY
Satchel::_spew("$dir/requirements.txt", "$dir/ours-1.0-py3-none-any.whl\n");
my $r = Satchel::run('sh', $tool, '-b', '-r', "$dir/requirements.txt",
    "$dir/made", 'python3', 'sl');
is($r->{exit}, 0, 'as root: make-rootfs') or diag $r->{err};
my $s = Sandbox->new(set => { 'sandbox.rootfs' => "$dir/made" });
my $id = $s->session;
is($s->python($id, "import sys, ours\nprint(ours.answer, sys.prefix)")->{stdout},
    "42 /usr\n", 'as root: Python there, with the package');
is($s->bash($id, 'ls /usr/games/sl; ls /usr/sbin/nginx /usr/bin/gcc 2>/dev/null')
    ->{stdout}, "/usr/games/sl\n", 'as root: what was asked for, and no more');
is($s->bash($id, 'ls /var/lib /etc/apt /etc/shadow /root 2>/dev/null')
    ->{stdout}, '', 'as root: nothing of it but /usr and parts of /etc is seen');
undef $s;
done_testing();
