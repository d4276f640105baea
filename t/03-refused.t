#!/usr/bin/perl

# The front and its pool on a machine that refuses them something for a while:
# whatever it is, they go on by themselves within a second of having it again.

use strict;
use warnings;
use Test::More;
use Errno qw(EAGAIN EMFILE ENFILE ENOMEM ENOSPC);
use File::Temp qw(tempdir);
use IPC::Open2;
use Time::HiRes qw(time sleep);
use Fcgi;
use Satchel;

my $build = $ENV{SATCHEL_BUILD} // 'build';
my $dir = tempdir(CLEANUP => 1);
my $patience = $build =~ /san/ ? 3 : 1;	# Sanitizers are slow.
my %running;

END { kill KILL => $_ for map { (children($_), $_) } keys %running }

sub slurp { local (@ARGV, $/) = @_; return scalar <> // '' }

# children($pid): the processes it has started.
sub children {
	my ($pid) = @_;
	return split ' ', eval { slurp("/proc/$pid/task/$pid/children") } // '';
}

# deny($name, $errno, $call): what the front of that name is refused; nothing
# without the rest.
sub deny {
	my ($name, $errno, $call) = @_;
	open my $fh, '+<', "$dir/$name.deny" or die $!;
	syswrite $fh, pack 'l Z60', $errno // 0, $call // '';
}

# start($name, \%env, @args): run a front that can be refused things.
sub start {
	my ($name, $env, @args) = @_;
	open my $fh, '>', "$dir/$name.deny" or die $!;
	syswrite $fh, "\0" x 64;
	my $pid = fork // die $!;
	if ($pid == 0) {
		open STDERR, '>>', "$dir/$name.log" or die $!;
		$ENV{SATCHEL_DENY} = "$dir/$name.deny";
		$ENV{LD_PRELOAD} = "$build/t/preload/deny.so";
		$ENV{ASAN_OPTIONS} = join ':', $ENV{ASAN_OPTIONS} // (),
		    'verify_asan_link_order=0';
		$ENV{$_} = $env->{$_} for keys %$env;
		exec "$build/t/tool/front", "$dir/$name.sock", @args or die $!;
	}
	$running{$pid} = 1;
	answered($name, 10) or die "$name does not answer";
	return $pid;
}

# answered($name, $seconds): does a new connection get an answer by then?
sub answered {
	my ($name, $seconds) = @_;
	for (my $until = time + $seconds; time < $until; sleep 0.01) {
		my $c = Fcgi->connect("$dir/$name.sock") or next;
		$c->request('/pid', '');
		return 1 if ($c->answer($until - time) // {})->{ended};
	}
	return 0;
}

# One front an error number; each has each call refused in turn, at the same
# time.  Meanwhile come more requests than there are threads, and kept
# connections are used.
{
	my %errno = (EAGAIN => EAGAIN, EMFILE => EMFILE, ENFILE => ENFILE,
	    ENOMEM => ENOMEM, ENOSPC => ENOSPC);
	my @names = sort keys %errno;
	my %pid = map { $_ => start($_, {}, 1, 4, 4, 600, 1) } @names;

	for my $call (qw(epoll_ctl epoll_add epoll_wait poll accept4
	    pthread_create read write recv send setsockopt ioctl shutdown
	    fork epoll_create1 eventfd signalfd fcntl calloc)) {
		# What is asked for at the start only: there must be one.
		my $anew = $call =~ /^(?:fork|epoll_create1|eventfd|signalfd|fcntl|calloc)$/;
		my (%kept, @more);
		for my $name (@names) {
			my $c = $kept{$name} = Fcgi->connect("$dir/$name.sock");
			$c->request('/pid', '');
			$c->answer;
			deny($name, $errno{$name}, $call);
			kill KILL => children($pid{$name}) if $anew;
		}
		for my $name (@names) {
			for (1 .. 12) {
				my $c = Fcgi->connect("$dir/$name.sock") or next;
				$c->request('/sleep/20', '');
				push @more, $c;
			}
			$kept{$name}->request('/pid', '');
		}
		sleep 0.25;
		deny($_) for @names;
		my @deaf = grep { !answered($_, 1 * $patience) } @names;
		is("@deaf", '', "$call refused: back within a second");
	}

	# Without one watch more the front goes on as if nothing were.
	for my $name ('ENOSPC') {
		my $kept = Fcgi->connect("$dir/$name.sock");
		deny($name, ENOSPC, 'epoll_add');
		my $good = 0;
		for (1 .. 20) {
			$kept->request('/pid', '');
			$good++ if ($kept->answer(2 * $patience) // {})->{ended};
			$good++ if answered($name, 2 * $patience);
		}
		is($good, 40, 'no watch to be had: all are answered, old and new');
		my @silent = map { Fcgi->connect("$dir/$name.sock") } 1 .. 8;
		ok(answered($name, 2 * $patience),
		    '... silent connections keep nobody out');
		$_->close for @silent;
		deny($name);
		$kept->request('/pid', '');
		ok(($kept->answer(1 * $patience) // {})->{ended},
		    '... and so when there are some again');
		like(slurp("$dir/$name.log"), qr/epoll: No space left on device: /,
		    '... and the log tells');
	}

	# What a worker cannot survive is over for the next one.
	for my $name ('ENOMEM') {
		my ($worker) = children($pid{$name});
		kill ABRT => $worker;
		ok(answered($name, 1 * $patience), 'a worker that ended is replaced');
		like(slurp("$dir/$name.log"), qr/process $worker killed by signal 6/,
		    '... and the log tells');
	}
	is(join('', map { slurp("$dir/$_.log") =~ /(Sanitizer|runtime error)/g } @names),
	    '', 'no sanitizer report');
}

# The watches really used up, by another program of the same user: one that only
# this test has, or other fronts and web servers would feel it.  Who is not root
# has no user to spare and is content with the above.
{
	note('not as root: the watches are not really used up'), last if $> != 0;
	chmod 0777, $dir;
	my @as = qw(setpriv --reuid=61234 --regid=61234 --clear-groups --);
	my ($front, $watches) = map { Satchel::program("t/tool/$_") } qw(front watches);
	my $sock = "$dir/real.sock";
	my $pid = fork // die $!;
	if ($pid == 0) {
		open STDERR, '>>', "$dir/real.log" or die $!;
		exec @as, $front, $sock, 2, 4 or die $!;
	}
	$running{$pid} = 1;
	answered('real', 10) or die 'the front does not answer';
	my @kept = map { Fcgi->connect($sock) } 1 .. 8;
	my $all = sub {
		my $n = 0;
		for my $c (@kept) {
			$c->request('/pid', '');
			$n++ if ($c->answer(2 * $patience) // {})->{ended};
		}
		return $n + grep { answered('real', 2 * $patience) } 1 .. 40;
	};
	is($all->(), 48, 'before: all are answered');

	my $user = open2(my $out, my $in, @as, $watches);
	is(<$out>, "full\n", 'another program of the user takes all watches');
	is($all->(), 48, '... and all are answered, on new connections too');
	# As many as no thread is there for shut the door, and it opens again.
	my @burst = map { Fcgi->connect($sock) } 1 .. 60;
	$_->request('/sleep/50', '') for @burst;
	is(scalar(grep { ($_->answer(10) // {})->{ended} } @burst), 60,
	    '... as is a burst beyond the threads');
	like(slurp("$dir/real.log"), qr/epoll: No space left on device/,
	    '... without a watch');
	close $in;
	waitpid $user, 0;
	ok(answered('real', 1 * $patience), 'that program gone, too');
	is($all->(), 48, '... all of them');
}

# threads($pid): those of a pool's processes; not counted are the front's own and
# TSan's two.
my $uncounted = Satchel::sanitizer('t/tool/front') eq 'tsan' ? 3 : 1;
sub threads {
	my ($pid) = @_;
	return map { scalar(my @t = glob "/proc/$_/task/*") - $uncounted } children($pid);
}

# Threads come when they are needed, and go.
{
	my $pid = start('threads', {}, 1, 64, 64, 600, 1);
	sleep 0.5;
	cmp_ok((threads($pid))[0], '<=', 2, 'at rest there are next to no threads');
	my @c = map { Fcgi->connect("$dir/threads.sock") } 1 .. 70;
	$_->request('/sleep/1500', '') for @c;
	my $most = 0;
	for (my $until = time + 1.2; time < $until; sleep 0.05) {
		my ($n) = threads($pid);
		$most = $n if $n > $most;
	}
	is($most, 64, 'as many as there may be, with more to do');
	is(scalar(grep { ($_->answer(10) // {})->{ended} } @c), 70,
	    '... and all is done');
	my $t = time;
	sleep 0.1 while (threads($pid))[0] > 1 && time - $t < 10;
	is((threads($pid))[0], 1, 'a second without a request ends all but one');
	ok(answered('threads', 1 * $patience), '... which answers');

	# One that may be quick at a time, the others asleep.
	$pid = start('quick', {}, 1, 16, 1, 600, 1);
	@c = map { Fcgi->connect("$dir/quick.sock") } 1 .. 8;
	$_->request('/sleep/600', '') for @c;
	my $n = grep { ($_->answer(10) // {})->{ended} } @c;
	cmp_ok((threads($pid))[0], '>=', 8, 'slow requests have a thread each');
	is($n, 8, '... and are answered');
	$t = time;
	sleep 0.1 while (threads($pid))[0] > 1 && time - $t < 10;
	is((threads($pid))[0], 1, 'those that sleep end too');
}

# A limit on processes far below what is set: as many threads as there can be
# answer.  It is no limit to root.
{
	note('not as root: no limit on processes'), last if $> != 0;
	chmod 0777, $dir;
	my $front = Satchel::program('t/tool/front');
	my $pid = fork // die $!;
	if ($pid == 0) {
		open STDERR, '>>', "$dir/nproc.log" or die $!;
		exec qw(setpriv --reuid=61235 --regid=61235 --clear-groups --),
		    qw(prlimit --nproc=20), $front, "$dir/nproc.sock", 2, 576
		    or die $!;
	}
	$running{$pid} = 1;
	ok(answered('nproc', 10), 'twenty threads for 1,152: the front starts');
	my @before = children($pid);
	my @c = map { Fcgi->connect("$dir/nproc.sock") } 1 .. 80;
	$_->request('/sleep/200', '') for @c;
	is(scalar(grep { ($_->answer(20) // {})->{ended} } @c), 80,
	    '... more requests than there can be threads are answered');
	is(join(' ', children($pid)), "@before", '... by the same processes');
	my @said = slurp("$dir/nproc.log") =~ /(no thread beside .*?)"/g;
	like($said[0], qr/^no thread beside the (\d+) .* Set THREADS to \1, .*ulimit -u: 20;/,
	    '... and the log says which setting to change, and to what');
	cmp_ok(scalar @said, '<=', 2, '... once a process and minute');
}

done_testing();
