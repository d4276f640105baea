#!/usr/bin/perl

# Many sessions: made and ended without a trace, and one that is right while
# others are attacked.  SATCHEL_SOAK=1 makes 10,000 of them, else 300.

use strict;
use warnings;
use Test::More;
use JSON::PP;
use Time::HiRes qw(sleep time);
use Sandbox;

my $many = $ENV{SATCHEL_SOAK} ? 10_000 : 300;
my $s = Sandbox->new(keeper => 1);

sub slurp { return Satchel::_slurp($_[0]) }

# Wait until $what->() is true; is it, within $seconds?
sub soon {
	my ($seconds, $what) = @_;
	my $until = time + $seconds;
	sleep 0.05 until $what->() || time > $until;
	return !!$what->();
}

# Every process of ours: the keeper, its zygote, workers, and sessions by their
# place in the tree of processes.
sub ours {
	my %children;
	for (map { slurp("$_/stat") } glob '/proc/[0-9]*') {
		my ($pid, $parent) = /^(\d+) \(.*\) \w (\d+)/s or next;
		push @{$children{$parent}}, $pid;
	}
	my @all = grep { defined } @$s{qw(sandbox keeper nginx)};
	push @all, map { slurp($_) =~ /^pid (\d+)/ ? $1 : () }
	    glob("$s->{sessions}/sbx_*/meta"),
	    glob("$s->{sessions}/.idle/*.*.*/meta");
	my (%seen, @found);
	while (defined(my $pid = shift @all)) {
		next if $seen{$pid}++;
		push @found, $pid if -e "/proc/$pid";
		push @all, @{$children{$pid} || []};
	}
	return scalar @found;
}

# Descriptors of the keeper, its zygote and the workers.
sub descriptors {
	my $n = 0;
	for my $pid (map { ($_, split ' ', slurp("/proc/$_/task/$_/children")) }
	    @$s{qw(sandbox keeper)}) {
		$n += () = glob "/proc/$pid/fd/*"
		    if slurp("/proc/$pid/comm") !~ /supervisor/;
	}
	return $n;
}

sub mounts { return scalar(() = slurp('/proc/self/mounts') =~ /\n/g) }
sub places { return scalar(() = glob "$s->{sessions}/{sbx_*,.idle/*.*}") }
sub zygote { return slurp("/proc/$s->{keeper}/task/$s->{keeper}/children") }
sub held {
	return slurp("/proc/$_[0]/status") =~ /^VmRSS:\s+(\d+)/m ? $1 : 0;
}

# --- no trace ---

# Some first, so that all that is made once has been made.
for (1 .. 20) {
	my $id = $s->session;
	$s->bash($id, 'sleep 100 & echo x >f');
	$s->del("/sessions/$id");
}
$s->ready(4);
ok(soon(10, sub { places() == 4 }), 'it begins with what is ready');
my %before = (processes => ours(), mounts => mounts(), fds => descriptors());
my $rss = held($s->{keeper});
my ($wrong, $n) = (0, 0);
for my $i (1 .. $many) {
	my $id = $s->session;
	# A third is used, another third left with something running inside.
	$wrong++ if $i % 3 == 0 && $s->python($id, "print($i)")->{stdout} ne "$i\n";
	$wrong++ if $i % 3 == 1
	    && $s->bash($id, "echo $i >f; cat f")->{stdout} ne "$i\n";
	$n++ if $s->del("/sessions/$id")->{status} == 204;
}
is($n, $many, "$many sessions are made and ended");
is($wrong, 0, 'each was right');
$s->ready(4);
ok(soon(20, sub { places() == 4 }), 'no directory is left');
ok(soon(20, sub { ours() == $before{processes} }), 'no process')
    or diag(ours() . " instead of $before{processes}");
is(mounts(), $before{mounts}, 'no mount');
ok(soon(10, sub { descriptors() <= $before{fds} }), 'no descriptor')
    or diag(descriptors() . " instead of $before{fds}");
cmp_ok(held($s->{keeper}) - $rss, '<',
    Satchel::sanitizer('satchel-keeper') ? 16384 : 2048,
    'the keeper has not grown by 2 MiB (16 under a sanitizer)');
$s->done;

# --- one among the attacked ---

my @attacks = (
    [bash => ':(){ :|:& };:; sleep 9'],
    [python => "x = []\nwhile True: x.append(bytearray(1 << 20))"],
    [bash => 'cat /dev/zero >fill; cat /dev/zero >/tmp/fill'],
    [bash => 'yes'],
    [python => 'while True: pass'],
    [python => "import os\nf = [os.open('/', 0) for i in range(100000)]"],
    [bash => 'kill -9 -1; while :; do :; done'],
    [python => "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"],
);
$s = Sandbox->new(set => { 'sandbox.session_memory_bytes' => 96 << 20,
    'sandbox.workspace_bytes' => 16 << 20, 'sandbox.processes' => 24 });
my $calm = $s->session;
my @ids = map { $s->session } 1 .. 64;
my %tool = (bash => ['bash_code_execution', 'command'],
    python => ['code_execution', 'code']);
my @running;
for my $i (0 .. $#ids) {
	my ($kind, $text) = @{$attacks[$i % @attacks]};
	my $body = JSON::PP->new->encode({ tool => $tool{$kind}[0],
	    input => { $tool{$kind}[1] => $text }, timeout_seconds => 4 });
	my $sock = $s->sock;
	print $sock "POST /sessions/$ids[$i]/exec HTTP/1.1\r\nHost: x\r\n"
	    . "Connection: close\r\nContent-Length: " . length($body)
	    . "\r\n\r\n$body";
	$sock->flush;
	push @running, $sock;
}
my ($right, $asked, $until) = (0, 0, time + 5);
$s->python($calm, "total = 0");
while (time < $until) {
	$asked++;
	my $c = $s->python($calm, "total += $asked\nprint(total)", timeout => 60);
	$right++ if $c->{stdout} eq $asked * ($asked + 1) / 2 . "\n";
}
cmp_ok($asked, '>', 2, 'a session is asked while 64 others are attacked');
is($right, $asked, 'its answers are right');
is(join(' ', map { local $/; my $sock = $_;
    Satchel::answer(scalar <$sock>)->{status} } @running),
    join(' ', (200) x 64), 'every attack comes to its end');
is(join(' ', map { $s->bash($_, 'rm -f fill; echo ok', timeout => 60)->{stdout}
    =~ s/\n//r } @ids), join(' ', ('ok') x 64), 'and its session goes on');
$s->del("/sessions/$_") for @ids, $calm;
is(places(), 0, 'all are ended without a trace');
$s->done;
done_testing();
