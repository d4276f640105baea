#!/usr/bin/perl

# The front and the pool of processes under it, without web server or database:
# t/tool/front.c has one path a trait.

use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);
use POSIX qw(WNOHANG);
use Time::HiRes qw(time sleep);
use Fcgi;

my $bin = ($ENV{SATCHEL_BUILD} // 'build') . '/t/tool/front';
my $dir = tempdir(CLEANUP => 1);
my $patience = $bin =~ /san/ ? 3 : 1;	# Sanitizers are slow.
my %running;

# start($name, $processes, $threads, $quick): run it, and wait until it listens.
sub start {
	my ($name, @args) = @_;
	my $sock = "$dir/$name.sock";
	my $pid = fork // die $!;
	if ($pid == 0) {
		open STDERR, '>>', "$dir/$name.log" or die $!;
		exec $bin, $sock, @args or die "$bin: $!";
	}
	$running{$pid} = 1;
	for (1 .. 200) {
		last if Fcgi->connect($sock);
		sleep 0.05;
	}
	return ($sock, $pid);
}

# ended($pid, $seconds): its exit status once it has ended, or -1.
sub ended {
	my ($pid, $seconds) = @_;
	for (my $until = time + $seconds; time < $until; sleep 0.02) {
		next unless waitpid $pid, WNOHANG;
		delete $running{$pid};
		return $?;
	}
	return -1;
}

sub slurp { local (@ARGV, $/) = @_; return scalar <> // '' }

sub sum { my $s = 0; $s = ($s * 31 + $_) & 0xffffffff for unpack 'C*', $_[0]; $s }

# children($pid): the processes it has started.
sub children {
	my ($pid) = @_;
	my @c;
	for my $f (glob '/proc/[0-9]*/stat') {
		my $text = eval { open my $fh, '<', $f or die; <$fh> } // next;
		push @c, $1 if $text =~ /^(\d+) \(.*\) \S (\d+)/ && $2 == $pid;
	}
	return sort @c;
}

END { kill KILL => children($_), $_ for keys %running }

my ($sock, $pid) = start('two', 1, 2);

# Kept connections, silent ones and threads.
{
	my @kept = map { Fcgi->connect($sock) } 1 .. 40;
	my @silent = map { Fcgi->connect($sock) } 1 .. 20;
	my $good = 0;
	for my $round (1 .. 3) {
		$_->request('/pid', '') for @kept;
		$good += grep { ($_->answer // {})->{ended} } @kept;
	}
	is($good, 120, '2 threads answer 40 kept connections in turn, '
	    . 'with 20 silent ones there');

	$kept[0]->request('/sleep/700', '');
	my $t = time;
	$kept[1]->request('/pid', '');
	ok($kept[1]->answer, 'answered while another thread is busy');
	cmp_ok(time - $t, '<', 0.5 * $patience, 'and at once');
	is($kept[0]->answer->{body}, 'slept', 'the busy one too');

	$silent[0]->send(substr Fcgi::head(1), 0, 5);
	$kept[1]->request('/pid', '');
	ok($kept[1]->answer, 'half a header holds one thread, not both');
	ok(!$silent[1]->closed(0.1), 'silent connections are left open');
}

# One that may be quick at a time: slow ones step aside for it.
{
	my ($one, $parent) = start('one', 1, 4, 1);
	my @slow = map { Fcgi->connect($one) } 1 .. 3;
	$_->request('/sleep/2000', '') for @slow;
	my $c = Fcgi->connect($one);
	my $t = time;
	my $n = grep { $c->request('/pid', ''); ($c->answer // {})->{ended} } 1 .. 20;
	is($n, 20, 'three slow requests do not keep out quick ones');
	cmp_ok(time - $t, '<', 1 * $patience, 'nor keep them waiting');
	is(scalar(grep { ($_->answer // {})->{body} eq 'slept' } @slow), 3,
	    'the slow ones are answered');

	$_->request('/yield/300', '') for @slow;
	is(scalar(grep { ($_->answer // {})->{ended} } @slow), 3,
	    'so are those that say how slow they are, on the same connections');
	kill TERM => $parent;
	is(ended($parent, 10), 0, 'threads that sleep leave too');
}

# Several processes: as many long requests as there are threads in all, at once
# or one after the other, find a thread each.
{
	my ($shared, $parent) = start('shared', 3, 4);
	my @unserved;
	for my $gap (0, 0, 0.01) {
		# On a machine that is busy with something else, up to three times.
		my $said = '';
		for (1 .. 3) {
			my @c = map { Fcgi->connect($shared) } 1 .. 12;
			$_->request('/sleep/3000', ''), sleep $gap for @c;
			my $t = time;
			my $n = grep { ($_->answer // {})->{ended} } @c;
			# One that waits for another's thread is answered after six.
			last if $n == 12 && time - $t <= 5.5;
			$said .= sprintf '%d in %.1f s;', $n, time - $t;
			push @unserved, $said if $_ == 3;
		}
	}
	is("@unserved", '', 'no process takes more than it has threads for');
	kill TERM => $parent;
	is(ended($parent, 10), 0, 'they end');
}

# Bodies.
{
	my $c = Fcgi->connect($sock);
	my $body = join '', map { chr(($_ * 7) & 255) } 1 .. 300_000;
	$c->request('/sum', $body);
	like($c->answer->{body}, qr/^end 300000 @{[sum($body)]} /, 'a body whole');

	$c->send(Fcgi::head(1, REQUEST_URI => '/sum', CONTENT_LENGTH => '')
	    . Fcgi::body($body));
	like($c->answer->{body}, qr/^end 300000 @{[sum($body)]} /,
	    'and one of unknown length');

	# Eleven reads for eleven pieces would be one a piece; the point is that
	# no read waits for more than there is.
	$c->send(Fcgi::head(1, REQUEST_URI => '/sum', CONTENT_LENGTH => 6));
	for my $piece (qw(a b c d e f)) {
		$c->send(Fcgi::record(Fcgi::T_STDIN, $piece));
		sleep 0.05;
	}
	$c->send(Fcgi::record(Fcgi::T_STDIN, ''));
	is($c->answer->{body}, 'end 6 ' . sum('abcdef') . ' 6',
	    'slow pieces are handed on one by one');

	$c->send(Fcgi::head(1, REQUEST_URI => '/sum', CONTENT_LENGTH => 10)
	    . Fcgi::body('short'));
	like($c->answer->{body}, qr/^cut /, 'shorter than announced is cut');

	$c = Fcgi->connect($sock);
	$c->send(Fcgi::head(1, REQUEST_URI => '/sum', CONTENT_LENGTH => 3)
	    . Fcgi::body('longer'));
	like($c->answer->{body}, qr/^cut /, 'longer than announced is cut');

	$c = Fcgi->connect($sock);
	$c->send(Fcgi::head(1, REQUEST_URI => '/sum', CONTENT_LENGTH => 10)
	    . Fcgi::record(Fcgi::T_STDIN, 'abc'));
	shutdown $c->{s}, 1;
	like($c->answer->{body}, qr/^cut 3 /, 'a client that leaves is cut');
}

# Leftovers.
{
	my $c = Fcgi->connect($sock);
	for my $n (1, 5000, 60_000, 1_000_000) {
		$c->request('/ignore/0', 'x' x $n);
		is($c->answer->{body}, 'ignored', "$n bytes unread");
		$c->request('/sum', 'next');
		is(($c->answer // {})->{body}, 'end 4 ' . sum('next') . ' 1',
		    '... and the next request sees only its own');
	}
	# The record that ends an empty body in a packet of its own.
	$c->send(Fcgi::head(1, REQUEST_URI => '/pid'));
	sleep 0.05;
	$c->send(Fcgi::record(Fcgi::T_STDIN, ''));
	ok($c->answer, 'an end that comes late');
	$c->request('/pid', '');
	ok($c->answer, '... does not disturb the next request');

	for my $read (0, 100) {
		$c = Fcgi->connect($sock);
		$c->send(Fcgi::head(1, REQUEST_URI => "/ignore/$read",
		    CONTENT_LENGTH => 1 << 30)
		    . Fcgi::record(Fcgi::T_STDIN, 'y' x 30_000));
		is($c->answer->{body}, 'ignored', 'a huge body refused at once');
		ok($c->closed(3), '... and its connection closed');
	}
	# One that trickles must not hold a thread.
	$c = Fcgi->connect($sock);
	$c->send(Fcgi::head(1, REQUEST_URI => '/ignore/0', CONTENT_LENGTH => 60_000));
	my $began = time;
	$c->send(Fcgi::record(Fcgi::T_STDIN, 'y'))
	    until $c->closed(0.004) || time - $began > 5;
	cmp_ok(time - $began, '<', 1 * $patience, 'a body that trickles is not waited for');
	$c = Fcgi->connect($sock);
	$c->send(Fcgi::head(1, REQUEST_URI => '/ignore/0', CONTENT_LENGTH => 9)
	    . Fcgi::record(Fcgi::T_STDIN, 'stal'));
	my $t = time;
	is($c->answer->{body}, 'ignored', 'a small body that never comes');
	cmp_ok(time - $t, '<', 1 * $patience, '... is not waited for');
	ok($c->closed(3), '... and its connection closed');
}

# The last answer of a connection that its peer means to keep: what follows its
# end, in the same piece, has nginx not put the connection back.
sub last_records {
	my ($c) = @_;
	my ($in, @types) = ('');
	while (sysread $c->{s}, $in, 65536, length $in) { }
	while (length $in >= 8) {
		my (undef, $type, $id, $len, $pad) = unpack 'CCnnC', $in;
		push @types, "$type of $id";
		substr $in, 0, 8 + $len + $pad, '';
	}
	return join ', ', @types[-2, -1];
}
for my $n (100_000, 1 << 20) {
	my $c = Fcgi->connect($sock);
	$c->send(Fcgi::head(1, REQUEST_URI => '/ignore/0', CONTENT_LENGTH => $n)
	    . substr Fcgi::body('x' x $n), 0, 100_000);
	is(last_records($c), '3 of 1, 11 of 0', "$n bytes refused: the end is not the last");
}

# Not kept, left, broken off.
{
	my $c = Fcgi->connect($sock);
	$c->send(Fcgi::head(0, REQUEST_URI => '/pid') . Fcgi::body(''));
	ok($c->answer->{ended}, 'answered without keep-alive');
	ok($c->closed(1), '... and closed');

	$c = Fcgi->connect($sock);
	$c->request('/gone/3000', '');
	sleep 0.1;
	$c->close;
	for (1 .. 100) {
		last if slurp("$dir/two.log") =~ /client gone/;
		sleep 0.02;
	}
	like(slurp("$dir/two.log"), qr/client gone/, 'a client that left is seen');

	$c = Fcgi->connect($sock);
	$c->send(Fcgi::head(1, REQUEST_URI => '/gone/300', CONTENT_LENGTH => 5)
	    . Fcgi::body('there'));
	is($c->answer->{body}, 'there', 'an unread body is no leaving');

	$c = Fcgi->connect($sock);
	$c->request('/abort', '');
	my $r = $c->answer;
	like($r->{out}, qr/half$/, 'broken off after a part');
	is($r->{ended}, 0, '... without a proper end');

	$c = Fcgi->connect($sock);
	$c->request('/big/3000000', '');
	is(length $c->answer->{body}, 3_000_000, 'a big answer');
	$c->send('this is no FastCGI' x 10);
	ok($c->closed(3), 'nonsense is answered by closing');
	$c = Fcgi->connect($sock);
	$c->request('/pid', '');
	ok($c->answer, '... and hurts nobody else');
}

# Stopping.
{
	my $kept = Fcgi->connect($sock);
	$kept->request('/pid', '');
	$kept->answer;
	my $c = Fcgi->connect($sock);
	$c->request('/sleep/800', '');
	sleep 0.2;
	kill TERM => $pid;
	sleep 0.3;
	ok(!Fcgi->connect($sock), 'told to stop: nobody more can connect');
	ok(!-e $sock, '... and the socket is gone');
	is($c->answer->{body}, 'slept', 'what runs is finished');
	is(ended($pid, 3 * $patience), 0, '... and then it ends, with status 0');
	ok($kept->closed(1), 'idle connections are closed');
}

# Stopping with kept connections, on which a request may be on its way.
{
	my ($s, $parent) = start('kept', 1, 2);
	my @kept = map { Fcgi->connect($s) } 1 .. 3;
	for my $c (@kept) {
		$c->request('/pid', '');
		$c->{pid} = $c->answer->{body};
	}
	kill HUP => $parent;
	sleep 0.6;
	for my $c (@kept[0, 1]) {
		$c->request('/pid', '');
		is(($c->answer // {})->{body}, $c->{pid},
		    'a request on a kept connection is answered after a reload');
		ok($c->closed(0.5), '... and the connection closed with that');
		ok($c->{more}, '... which its end says');
	}
	ok(kill(0 => $kept[2]{pid}), 'one more may have one');
	$kept[2]->close;
	my $t = time;
	sleep 0.02 while kill(0 => $kept[2]{pid}) && time - $t < 10;
	cmp_ok(time - $t, '<', 0.7 * $patience, 'without any it ends at once');

	# The process that answers may itself be about to end, on a busy machine.
	my $idle;
	for (1 .. 3) {
		$idle = Fcgi->connect($s);
		$idle->request('/pid', '');
		my $old = $idle->answer->{body};
		$t = time;
		kill HUP => $parent;
		sleep 0.02 while kill(0 => $old) && time - $t < 20;
		last if time - $t > 1.4;
	}
	cmp_ok(time - $t, '>', 1.4, 'idle ones that stay open have their time');
	cmp_ok(time - $t, '<', 4 * $patience, '... and no more');
	ok($idle->closed(1), '... and are closed');
	kill TERM => $parent;
	is(ended($parent, 5), 0, 'it ends');
}

# Several processes.
($sock, $pid) = start('three', 3, 2);
{
	my @before;
	for (1 .. 100) {
		last if (@before = children($pid)) == 3;
		sleep 0.05;
	}
	is(scalar @before, 3, 'three processes');
	my $c = Fcgi->connect($sock);
	$c->request('/sleep/5000', '');
	sleep 0.1;
	kill KILL => @before;
	ok(!$c->answer(3), 'killed, a request is lost');
	my @after;
	for (1 .. 100) {
		@after = children($pid);
		last if @after == 3 && !grep { my $p = $_; grep { $_ == $p } @before } @after;
		sleep 0.05;
	}
	is(scalar @after, 3, 'killed processes are replaced');
	$c = Fcgi->connect($sock);
	$c->request('/pid', '');
	my $by = $c->answer->{body};
	ok((grep { $_ == $by } @after), '... and the new ones answer');

	# One whose threads are all busy leaves new connections to the others.
	my @busy;
	for (1 .. 6) {
		push @busy, Fcgi->connect($sock);
		$busy[-1]->request('/sleep/1000', '');
		sleep 0.05;
	}
	my $t = time;
	is(scalar(grep { ($_->answer // {})->{ended} } @busy), 6,
	    'six requests on three processes of two threads');
	cmp_ok(time - $t, '<', 1.9 * $patience, '... all at the same time');

	# New processes for old, with a request running.
	@before = children($pid);
	$c = Fcgi->connect($sock);
	$c->request('/sleep/600', '');
	sleep 0.1;
	kill HUP => $pid;
	my $lost = 0;
	for (my $until = time + 0.8; time < $until; ) {
		my $o = Fcgi->connect($sock);
		$lost++, next unless $o;
		$o->request('/pid', '');
		$lost++ unless ($o->answer // {})->{ended};
	}
	is($lost, 0, 'a reload loses no request');
	is($c->answer->{body}, 'slept', '... not even the one that runs');
	for (1 .. 100) {
		@after = children($pid);
		last unless grep { my $p = $_; grep { $_ == $p } @before } @after;
		sleep 0.05;
	}
	is(scalar @after, 3, '... and leaves three new processes');

	# A second one on the same socket.
	my $second = fork // die $!;
	if ($second == 0) {
		open STDERR, '>>', "$dir/second.log" or die $!;
		exec $bin, $sock, 1, 1 or die $!;
	}
	isnt(ended($second, 3), 0, 'a live socket is not stolen');
	like(slurp("$dir/second.log"), qr/in use/, '... and the log says so');

	kill KILL => $pid;
	ended($pid, 3);
	for (1 .. 100) {
		last unless grep { kill 0 => $_ } @after;
		sleep 0.05;
	}
	is((grep { kill 0 => $_ } @after), 0, 'without a parent they end');
}

# Reloads while those of before have requests still.
{
	my $log = "$dir/reloads.log";
	# Wait until the log has that many lines that match.
	my $logged = sub {
		my ($n, $what, $seconds) = @_;
		for (my $until = time + $seconds; time < $until; sleep 0.05) {
			my @lines = slurp($log) =~ /$what/g;
			return 1 if @lines >= $n;
		}
		return 0;
	};
	# As many processes as there may be: the third generation takes the last
	# free slots.
	my ($s, $parent) = start('reloads', 64, 1);
	my @slow;
	for my $n (1 .. 3) {
		push @slow, map { Fcgi->connect($s) } 1 .. 64;
		$_->request('/sleep/' . 15000 * $patience, '') for @slow[-64 .. -1];
		sleep 0.5 * $patience;
		kill HUP => $parent;
		last if $n == 3;
		ok($logged->($n, qr/reloaded, 64 processes/, 5 * $patience), "reload $n");
	}
	ok($logged->(1, qr/192 processes are there: the reload waits/, 5 * $patience),
	    'a reload waits while there is no room for the new processes');
	unlike(slurp($log), qr/killed/, '... and nobody is killed');
	is(scalar(grep { ($_->answer(30 * $patience) // {})->{ended} } @slow), 192,
	    '... all that run are answered');
	ok($logged->(3, qr/reloaded, 64 processes/, 5 * $patience),
	    '... then comes the reload');
	my $c = Fcgi->connect($s);
	$c->request('/pid', '');
	ok($c->answer, '... and the new ones answer');
	kill TERM => $parent;
	is(ended($parent, 10), 0, 'they end');
}

# Whoever does not finish in time is ended.
{
	my ($s, $parent) = start('drain', 1, 2, 2, 1);
	my @c = map { Fcgi->connect($s) } 1, 2;
	$c[0]->request('/pid', '');
	my $old = $c[0]->answer->{body};
	$c[0]->request('/sleep/60000', '');
	sleep 0.2;
	kill HUP => $parent;
	my $t = time;
	sleep 0.7;
	ok(kill(0 => $old), 'a process of before has its time');
	for (my $until = $t + 5; time < $until && kill 0 => $old; sleep 0.05) { }
	ok(!kill(0 => $old), '... and no more than that');
	cmp_ok(time - $t, '>=', 1, '... nor less');
	like(slurp("$dir/drain.log"), qr/process $old has requests still, 1 s after/,
	    '... and the log says so');
	my $c = Fcgi->connect($s);
	$c->request('/pid', '');
	isnt($c->answer->{body}, $old, 'another answers');
	$c->request('/sleep/60000', '');
	sleep 0.2;
	kill TERM => $parent;
	is(ended($parent, 5), 0, 'told to stop, it does not wait longer either');
}

# What a dead one left behind is replaced; other things are not.
{
	ok(-S $sock, 'a dead socket is there');
	(my $s, $pid) = start('three', 1, 1);
	my $c = Fcgi->connect($s);
	$c->request('/pid', '');
	ok($c->answer, '... and is replaced');
	is(sprintf('%o', (stat $s)[2] & 0777), '660', 'its mode is 0660');
	kill INT => $pid;
	is(ended($pid, 3), 0, 'SIGINT ends it too');

	open my $fh, '>', "$dir/file" or die $!;
	print $fh 'precious';
	close $fh;
	is(system("$bin $dir/file 1 1 2>>$dir/other.log") >> 8, 1,
	    'a file is not taken for a socket');
	is(slurp("$dir/file"), 'precious', '... and stays as it was');
}

# By TCP, and as started by others.
{
	my $port = 20_000 + $$ % 20_000;
	my $p = fork // die $!;
	if ($p == 0) {
		open STDERR, '>>', "$dir/tcp.log" or die $!;
		exec $bin, "127.0.0.1:$port", 1, 1 or die $!;
	}
	$running{$p} = 1;
	my $c;
	for (1 .. 100) {
		last if $c = Fcgi->connect("127.0.0.1:$port");
		sleep 0.05;
	}
	$c->request('/sum', 'z' x 200_000);
	like($c->answer->{body}, qr/^end 200000 /, 'by TCP');
	$c->request('/gone/3000', '');
	sleep 0.1;
	$c->close;
	for (1 .. 100) {
		last if slurp("$dir/tcp.log") =~ /client gone/;
		sleep 0.02;
	}
	like(slurp("$dir/tcp.log"), qr/client gone/, '... a client that left');
	kill TERM => $p;
	is(ended($p, 3), 0, '... and told to stop');
	is(system("$bin nonsense 1 1 2>>$dir/other.log") >> 8, 1, 'no address');

	my $l = IO::Socket::UNIX->new(Local => "$dir/given.sock", Listen => 9);
	$p = fork // die $!;
	if ($p == 0) {
		open STDIN, '<&', $l or die $!;
		exec $bin, '-', 1, 1 or die $!;
	}
	$running{$p} = 1;
	$c = Fcgi->connect("$dir/given.sock");
	$c->request('/pid', '');
	ok($c->answer, 'on a socket given as standard input');
	kill TERM => $p;
	is(ended($p, 3), 0, '... and told to stop');
}

# Plain CGI.
sub cgi {
	my ($uri, $in, %env) = @_;
	local %ENV = (%env, REQUEST_METHOD => 'POST', REQUEST_URI => $uri,
	    map { $_ => $ENV{$_} } grep { /SAN_OPTIONS/ } keys %ENV);
	open my $fh, '>', "$dir/in" or die $!;
	print $fh $in;
	close $fh;
	my $out = `$bin - 1 1 <$dir/in`;
	return (split /\r\n\r\n/, $out, 2)[1];
}
is(cgi('/sum', 'abcdef', CONTENT_LENGTH => 6), 'end 6 ' . sum('abcdef') . ' 1',
    'CGI: a body');
is(cgi('/sum', 'abcdefgh', CONTENT_LENGTH => 6), 'end 6 ' . sum('abcdef') . ' 1',
    'CGI: no byte beyond its length');
like(cgi('/sum', 'abcd', CONTENT_LENGTH => 6), qr/^cut 4 /, 'CGI: a short one');
like(cgi('/sum', 'x' x 200_000), qr/^end 200000 /, 'CGI: no length, so to the end');
is(length cgi('/big/500000', ''), 500_000, 'CGI: a big answer');

my $log = join '', map { slurp($_) } glob "$dir/{two,three,tcp}.log";
unlike($log, qr/Sanitizer|runtime error/, 'no sanitizer report');
done_testing();
