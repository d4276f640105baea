#!/usr/bin/perl

# tools/stack: its interface as tests, demos and benchmarks rely on it.

use strict;
use warnings;
use Fcntl qw(:flock);
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Temp qw(tempdir);
use IO::Socket::INET;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);
use Satchel qw(run);

my $tmp = tempdir(CLEANUP => 1);
my $dir = "$tmp/one";
sub stack { return run('sh', 'tools/stack', shift, '--dir', $dir, @_) }
sub slurp { local (@ARGV, $/) = shift; return -e $ARGV[0] ? <> : '' }

# Each part's pid, from what status prints.
sub pids { return $_[0]{out} =~ /^(\w+): running, pid (\d+)$/mg }

sub status_of {
	my ($port, $path) = @_;
	return run('curl', '-s', '-o', '/dev/null', '-w', '%{http_code}',
	    '--noproxy', '*', "http://127.0.0.1:$port$path")->{out};
}

# --- up, env, status ---

is(stack('env')->{exit}, 1, 'env of nothing fails');
my $began = time;
my $r = stack('up', '--port', 0);
my $took = time - $began;
is($r->{exit}, 0, 'up') or diag($r->{err});
my ($port) = $r->{out} =~ m{http://127\.0\.0\.1:(\d+) is up};
# Two seconds on a machine with nothing else to do; tests share theirs.
cmp_ok($took, '<', 30, sprintf('... in %.2f s', $took));
is(status_of($port, '/healthz'), 200, '... answers through nginx');
my %env = stack('env')->{out} =~ /^(\w+)='(.*)'$/mg;
is(join(' ', sort keys %env), join(' ', qw(SATCHEL_ADMIN SATCHEL_ADMIN_KEY
    SATCHEL_DIR SATCHEL_FILES_ROOT SATCHEL_KEY SATCHEL_KEY_B
    SATCHEL_KEY_SAME_WS SATCHEL_LOG SATCHEL_MYSQL SATCHEL_SANDBOX_TOKEN
    SATCHEL_SANDBOX_URL SATCHEL_SWEEP SATCHEL_URL)), 'env names all');
is($env{SATCHEL_URL}, "http://127.0.0.1:$port", '... the origin');
is(run('sh', '-c', "eval \"\$(sh tools/stack env --dir $dir)\";"
    . ' printenv SATCHEL_URL')->{out}, "$env{SATCHEL_URL}\n",
    '... and exports them');
ok(-d $env{SATCHEL_FILES_ROOT}, '... the store');
is(run(split(' ', $env{SATCHEL_MYSQL}), '-N', '-e',
    'SELECT COUNT(*) FROM api_key')->{out}, "4\n", '... the database');
is(run(split(' ', $env{SATCHEL_ADMIN}), 'check', '--config-only')->{exit}, 0,
    '... the admin tool');
is(run(split(' ', $env{SATCHEL_SWEEP}), '--dry-run')->{exit}, 0,
    '... the sweep');
like(slurp($env{SATCHEL_LOG}), qr/^\{"time":.*\}\n/, '... the log');
is(sprintf('%04o', (stat "$dir/keys")[2] & 0777), '0600',
    'the keys are nobody else\'s to read');
like(run('curl', '-s', '--noproxy', '*', "$env{SATCHEL_SANDBOX_URL}/health")
    ->{out}, qr/"status": ?"ok"/, 'the sandbox has a listener of its own');
is(status_of($port, '/sessions'), 404, '... and is not on the public one');

my %before = pids(stack('status'));
is(join(' ', sort keys %before), 'db files keeper nginx run sandbox', 'status: all run');
my $key = slurp("$dir/keys");
$began = time;
is(stack('up')->{exit}, 0, 'up again');
cmp_ok(time - $began, '<', $took, '... in no time');
is_deeply({ pids(stack('status')) }, \%before, '... changes nothing');

# --- whom it runs as, where it listens ---

{
	my @uids = map { (stat "/proc/$_")[4] } values %before;
	is(scalar(grep { $_ == 0 } @uids), 0, 'nothing runs as root')
	    if $> == 0;
	is(scalar(grep { $_ != $> } @uids), 0, 'all runs as we do') if $> != 0;
}

# Sockets that the stack's processes and their children listen on.
sub listeners {
	my %inode;
	for my $pid (map { ($_, split ' ', slurp("/proc/$_/task/$_/children")) }
	    @_) {
		$inode{$1} = 1 for grep { defined } map { readlink($_) // '' }
		    glob "/proc/$pid/fd/*";
		for my $fd (glob "/proc/$pid/fd/*") {
			$inode{$1} = 1 if (readlink($fd) // '') =~
			    /^socket:\[(\d+)\]/;
		}
	}
	my @found;
	for my $table ('tcp', 'tcp6') {
		for (split /\n/, slurp("/proc/net/$table")) {
			my @f = split ' ';
			push @found, $f[1] if ($f[3] // '') eq '0A'
			    && $inode{$f[9]};
		}
	}
	return @found;
}
my @listen = listeners(values %before);
is(scalar(grep { !/^0100007F:/ } @listen), 0, 'every port is on loopback');
cmp_ok(scalar @listen, '>=', 2, '... and there are two');

# --- another beside it; settings ---

my $other = "$tmp/two";
$r = run('sh', 'tools/stack', 'up', '--dir', $other, '--port', 0,
    '--set', 'files.enabled=false', '--set', 'log.file=');
is($r->{exit}, 0, 'a second one beside it') or diag($r->{err});
my %env2 = run('sh', 'tools/stack', 'env', '--dir', $other)->{out}
    =~ /^(\w+)='(.*)'$/mg;
isnt($env2{SATCHEL_URL}, $env{SATCHEL_URL}, '... on another port');
my ($port2) = $env2{SATCHEL_URL} =~ /(\d+)$/;
my @auth = ('-H', "Authorization: Bearer $env2{SATCHEL_KEY}");
is(run('curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', @auth,
    "$env2{SATCHEL_URL}/v1/files")->{out}, 404, '... with its own settings');
is(run('sh', 'tools/stack', 'down', '--dir', $other)->{exit}, 0, '... goes down');
is(status_of($port, '/healthz'), 200, '... and the first one stays');

for my $bad (
    ['files.max_bytes=64MB', qr/files\.max_bytes: "64MB" is not valid/],
    ['files.max_byte=1', qr/files\.max_byte: .*nearest is files\.max_bytes/],
    ['store.kind=s3', qr/store\.kind: .*s3.* not built yet/],
    ['files.root', qr/not of the form KEY=VALUE/]) {
	$r = run('sh', 'tools/stack', 'up', '--dir', $other, '--port', 0,
	    '--set', $bad->[0]);
	ok($r->{exit} != 0, "--set $bad->[0] is refused");
	like($r->{err}, $bad->[1], '... and says why');
}
is(run('sh', 'tools/stack', 'status', '--dir', $other)->{exit}, 1,
    '... and nothing was left running');

# --- what does not start is named ---

my $taken = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1');
$r = run('sh', 'tools/stack', 'up', '--dir', $other, '--port',
    $taken->sockport);
ok($r->{exit} != 0, 'a port that is taken');
like($r->{err}, qr/nginx did not start: port \d+ .* in use; --port 0/,
    '... names the part, and what helps');
unlike(run('sh', 'tools/stack', 'status', '--dir', $other)->{out},
    qr/running, pid/, '... and leaves nothing behind');

# --- a part that died; a pid that is somebody else's ---

kill 'KILL', $before{files};
select undef, undef, undef, 0.3;
is(stack('status')->{exit}, 1, 'status notices a part that died');
is(stack('up')->{exit}, 0, 'up starts it again');
my %after = pids(stack('status'));
ok($after{files} && $after{files} != $before{files}
    && $after{db} == $before{db}, '... it alone');
is(slurp("$dir/keys"), $key, '... with the same keys');

my $run = "$dir/run/run.pid";
my $kept = slurp($run);
open my $fh, '>', $run or die $!;
print $fh "$$ 1\n";
close $fh;
unlike(stack('status')->{out}, qr/^run: running/m,
    'a pid of another start time is not ours');
open $fh, '>', $run or die $!;
print $fh $kept;
close $fh;

# --- down ---

# A session that a killed keeper has half made: a lock that its supervisor holds
# until it misses its directory, and nothing that says who that is.
my $half = "$dir/sandbox/.idle/new.0123456789abcdef";
run('mkdir', '-p', $half);
open my $lock, '>', "$half/lock" or die "$half: $!";
flock($lock, LOCK_EX) or die $!;
my $maker = fork // die $!;
if (!$maker) {
	sleep 0.05 while (stat $lock)[3] > 0;
	POSIX::_exit(0);
}
close $lock;
is(stack('down')->{exit}, 0, 'down');
ok(!-e $half, '... what was half made is gone');
ok(!Satchel::_alive($maker), '... and has ended');
waitpid $maker, 0;
is(stack('status')->{exit}, 1, '... nothing runs');
is(scalar(grep { Satchel::_alive($_) } values %after), 0, '... really');
ok(-d "$dir/db" && slurp("$dir/keys") eq $key, '... DIR stays');
is(stack('down')->{exit}, 0, 'down again');
$r = stack('up');
is($r->{exit}, 0, 'up after down') or diag($r->{err});
is(status_of($port, '/healthz'), 200, '... on the same port');

# What it has to build first takes long, so it says so.
{
	my $bin = "$tmp/bin";
	mkdir $bin or die $!;
	for my $stale (1, 0) {
		open my $fh, '>', "$bin/make" or die $!;
		print $fh "#!/bin/sh\n[ \"\$1\" != -sq ] || exit $stale\nexit 2\n";
		close $fh;
		chmod 0755, "$bin/make";
		local $ENV{PATH} = "$bin:$ENV{PATH}";
		delete local $ENV{SATCHEL_BUILD};
		$r = run('sh', 'tools/stack', 'up', '--dir', $other, '--port', 0);
		is($r->{err}, ($stale ? "stack: building, which takes minutes the first time\n"
		    : '') . "stack: make failed; sh tools/deps build says what is missing\n",
		    $stale ? 'a build is told' : '... and only one that is needed');
	}
}

# --- the packages for the tests ---

$r = run('sh', 'tools/sdk');
is($r->{exit}, 2, 'tools/sdk without a word installs nothing');
like($r->{err}, qr/^ *tools\/sdk node\|/m, '... and says what there is');
$r = run('sh', 'tools/sdk', 'python-none', "$tmp/sdk");
is("$r->{exit} " . (-e "$tmp/sdk" ? 'made' : 'nothing'), '2 nothing', 'nor for another');
like($r->{err}, qr/^sdk: python-none: no such set$/m, '... which is named');
like(run('sh', 'tools/stack', 'up', '--nonsense', 1, '--dir', $dir)->{err},
    qr/^stack: --nonsense: no option of up/, 'a wrong word is named');
is(run('sh', 'tools/stack', '--help')->{exit}, 0, '--help');
is(run('curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', '-H',
    "Authorization: Bearer $env{SATCHEL_KEY}", "$env{SATCHEL_URL}/v1/files")
    ->{out}, 200, '... with the same keys');
stack('down', '--discard');
for my $d ($dir, $other) {
	my $real = readlink $d;
	run('rm', '-rf', $real) if defined $real && $real =~ m{^/var/tmp/};
}
done_testing();
