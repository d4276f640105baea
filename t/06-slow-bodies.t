#!/usr/bin/perl

# Slow senders starve nobody (ruling 16): three quarters of the threads at most
# are inside bodies, never all of those for one user, and who sends too little
# for too long is told 408.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Select;
use Test::More;
use Time::HiRes qw(sleep time);
use Fcgi;
use Satchel qw(header);

my $window = 2;
my %set = ('workers.processes' => 1, 'workers.files_threads' => 16);
my $s = Satchel->new(set => { %set,
    'files.min_upload_bytes_per_second' => 0 });
my $slack = ($ENV{SATCHEL_BUILD} // '') =~ /san/ ? 3 : 1;

# A thread that waits for its user's share is held for five seconds: what is
# answered in half of that had a thread.
my $at_once = 2.5;
my $total = 100_000;

# A multipart upload of $total bytes whose head and first part header are sent.
sub begin {
	my $as = shift // 'alice';
	my ($type, $form) = Satchel::form(['file', '', 'slow.bin']);
	my ($front, $back) = $form =~ /^(.*?\r\n\r\n)(.*)$/s;
	my $u = { sock => $s->sock, left => $total, back => $back, in => '' };
	my $len = length($front) + $total + length $back;
	syswrite $u->{sock}, "POST /v1/files HTTP/1.1\r\nHost: x\r\n"
	    . "Authorization: Bearer $s->{key}{$as}\r\n"
	    . "Content-Type: $type\r\nContent-Length: $len\r\n\r\n$front";
	return $u;
}

sub feed {
	my ($u, $n) = @_;
	$n = $u->{left} if $n > $u->{left};
	$u->{left} -= $n;
	syswrite $u->{sock}, 'x' x $n;
}

sub finish {
	my ($u) = @_;
	feed($u, $u->{left});
	syswrite $u->{sock}, $u->{back};
}

# The answer, if one comes within that many seconds; its time goes to {at}.
sub answer {
	my ($u, $seconds) = @_;
	my $until = time + $seconds;
	while ((my $left = $until - time) > 0) {
		last unless IO::Select->new($u->{sock})->can_read($left);
		$u->{at} //= time;
		last unless sysread $u->{sock}, $u->{in}, 65536, length $u->{in};
		my $a = Satchel::answer($u->{in});
		return $a if $a->{status} && length $a->{body}
		    && length $a->{body} == header($a, 'Content-Length');
	}
	return $u->{in} eq '' ? { status => 0 } : Satchel::answer($u->{in});
}

sub timed { my $t = time; my $r = $_[0]->(); return ($r, time - $t) }

# --- too many at once ---

# One user may hold twice as many places as are free: of twelve the first has
# eight, the second three of the other four.
sub fill {
	my @all;
	for (['alice', 8], ['bob', 3], ['carol', 1]) {
		my ($as, $n) = @$_;
		push @all, map { begin($as) } 1 .. $n;
		sleep 0.3 * $slack;
	}
	return @all;
}
my @slow = fill();
my @more;
# Have them all send for a while, and do something every so often.
sub keep_going {
	my ($seconds, $each) = @_;
	for (my $until = time + $seconds; time < $until; sleep 0.1) {
		feed($_, 300) for @slow;
		$each->() if $each;
	}
}
keep_going(0.5);
# Who holds no share of the threads.
my @other = (as => 'carol');
my ($r, $t) = timed(sub { $s->get('/v1/files', @other) });
is($r->{status}, 200, 'twelve slow uploads on sixteen threads: a GET is answered');
cmp_ok($t, '<', $at_once, '... at once');

@more = map { begin() } 1, 2;
keep_going(0.5);
is(answer($_, 0.01)->{status}, 0, 'the next two wait for a place') for @more;
my $busy = begin();
my $a = answer($busy, $at_once);
is($a->{status}, 429, 'one more is sent away');
like(header($a, 'Retry-After'), qr/^[1-5]$/, '... to come again');
is($a->{json}{error}{type}, 'rate_limit_error', '... in the dialect');
my $worst = 0;
keep_going(1, sub {
	(my $r, $t) = timed(sub { $s->get('/v1/files', @other) });
	$worst = $t if $t > $worst;
	is($r->{status}, 200, 'meanwhile a GET is answered');
});
cmp_ok($worst, '<', $at_once, '... at once');
($r, $t) = timed(sub { $s->post('/v1/uploads', @other, json => { bytes => 3,
    filename => 'a.txt', mime_type => 'text/plain', purpose => 'user_data' }) });
is($r->{status}, 200, 'and a JSON body is read, which nginx has gathered');
cmp_ok($t, '<', $at_once, '... at once');

finish($_) for @more;
finish(shift @slow) for 1 .. 3;
is(answer($_, 5)->{status}, 200,
    'places that become free go to those who wait, in turn') for @more;
finish($_) for @slow;
is((grep { answer($_, 10)->{status} == 200 } @slow), 9,
    'the slow ones were all taken');

# A place is waited for half a minute.
@slow = fill();
keep_going(0.3);
my $late = begin('carol');
my $began = time;
keep_going(31, sub { answer($late, 0.01) });
$a = answer($late, 3 * $slack);
is($a->{status}, 503, 'no place after half a minute');
like(header($a, 'Retry-After'), qr/^[1-5]$/, '... to come again');
is($a->{json}{error}{type}, 'server_error', '... in the dialect');
cmp_ok($late->{at} - $began, '>', 29.9, '... not sooner');
cmp_ok($late->{at} - $began, '<', 30 + $slack, '... nor later');
finish($_) for @slow;
is((grep { answer($_, 10)->{status} == 200 } @slow), 12, 'all places still work');
@slow = ();

# --- one user alone ---

@slow = map { begin() } 1 .. 8;
keep_going(0.3);
@more = map { begin() } 1, 2;
keep_going(0.3);
$a = answer(begin(), $at_once);
is($a->{status}, 429, 'nobody gets more than two thirds of the places');
like(header($a, 'Retry-After'), qr/^[1-5]$/, '... told to come again');
is($a->{json}{error}{type}, 'rate_limit_error', '... in the dialect');
for my $n (1 .. 3) {
	my $u = begin('bob');
	finish($u);
	is(answer($u, $at_once)->{status}, 200, "another user's upload is taken at once");
}
($r, $t) = timed(sub { $s->get('/v1/files', as => 'bob') });
is($r->{status}, 200, '... and a GET answered');
finish(shift @slow);
finish($_) for @more;
is((grep { answer($_, 10)->{status} == 200 } $more[0]), 1,
    'a place of his own that becomes free goes to one of his who waits');
is(answer($more[1], 10)->{status}, 200, '... and then to the other');
finish($_) for @slow;
is((grep { answer($_, 10)->{status} == 200 } @slow), 7, 'his were all taken');
@slow = ();

# --- too slow ---

$s->restart(set => { %set, 'files.upload_window_seconds' => $window,
    'files.min_upload_bytes_per_second' => 1000 });
my ($before) = map { $_->[0] } $s->mysql('SELECT COUNT(*) FROM file');

for (['silent from the start', 0, 0], ['silent after a start', 5000, 0],
    ['a drop now and then', 500, 40]) {
	my ($name, $first, $drop) = @$_;
	my $u = begin();
	my $t = time;
	feed($u, $first);
	$a = undef;
	while (time - $t < 6 * $window * $slack) {
		$a = answer($u, 0.1);
		last if $a->{status};
		feed($u, $drop);
	}
	is($a->{status}, 408, "$name: 408");
	is($a->{json}{error}{code}, 'request_timeout', '... in the dialect');
	cmp_ok($u->{at} - $t, '>=', $window, '... not before its time');
	cmp_ok($u->{at} - $t, '<', $window * 3.5 * $slack, '... but soon');
}
is(($s->mysql('SELECT COUNT(*) FROM file'))[0][0], $before,
    'nothing of them is left');

# Just fast enough, for longer than the window.
{
	my $u = begin();
	my $t = time;
	while (time - $t < 2.5 * $window) {
		feed($u, 400);
		sleep 0.2;
	}
	finish($u);
	is(answer($u, 10)->{status}, 200, 'twice the least rate is enough');
}
# A pause shorter than the window, before and after plenty.
{
	my $u = begin();
	for (1 .. 3) {
		feed($u, 10_000);
		sleep $window * 0.4;
	}
	finish($u);
	is(answer($u, 10)->{status}, 200, 'pauses are forgiven to who sent enough');
}
# Slow in a JSON body, for who does not gather bodies: straight to the worker.
{
	my $c = Fcgi->connect("$s->{dir}/run/files.sock");
	my @params = (REQUEST_METHOD => 'POST', REQUEST_URI => '/v1/uploads',
	    HTTP_AUTHORIZATION => "Bearer $s->{key}{alice}",
	    CONTENT_TYPE => 'application/json', CONTENT_LENGTH => 50);
	$c->send(Fcgi::head(1, @params) . Fcgi::record(Fcgi::T_STDIN, '{"bytes'));
	my $t = time;
	like($c->answer(10 * $slack)->{out}, qr/^Status: 408 /,
	    'a JSON body that stops: 408');
	cmp_ok(time - $t, '<', $window * 2 * $slack, '... in its time');
	$c = Fcgi->connect("$s->{dir}/run/files.sock");
	$c->send(Fcgi::head(1, @params) . Fcgi::record(Fcgi::T_STDIN, '{"bytes')
	    . Fcgi::record(Fcgi::T_STDIN, ''));
	like($c->answer->{out}, qr/^Status: 400 .*"code":"incomplete_body"/s,
	    'a JSON body that ends too early: 400');
}

$s->done;
done_testing();
