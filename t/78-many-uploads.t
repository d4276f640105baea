#!/usr/bin/perl

# Many uploads of 100 KB, a hundred at a time on kept connections: every answer is
# read within five seconds of its line in the log, and all are there in the end.
# SATCHEL_UPLOADS: 500, or 10,000 with SATCHEL_SOAK.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Errno qw(EAGAIN);
use IO::Select;
use JSON::PP ();
use Test::More;
use Time::HiRes qw(time);
use Time::Local qw(timegm);
use Satchel;

my $most = $ENV{SATCHEL_UPLOADS} // ($ENV{SATCHEL_SOAK} ? 10_000 : 500);
my $at_once = 100;
my $s = Satchel->new;
my ($type, $form) = Satchel::form([purpose => 'user_data'],
    ['file', join('', map { chr(33 + $_ % 90) } 1 .. 100_000), 'a.txt', 'text/plain']);
my $request = "POST /v1/files HTTP/1.1\r\nHost: x\r\n"
    . "Authorization: Bearer %s\r\nContent-Type: $type\r\n"
    . 'Content-Length: ' . length($form) . "\r\n\r\n";

# A connection: what is still to be sent, what has come, when it began.
my ($begun, $closed, %conn, %read, %status) = (0, 0);
my $sel = IO::Select->new;
my $out = IO::Select->new;

sub begin {
	my ($sock) = @_;
	if (!$sock) {
		$sock = $s->sock;
		$sock->blocking(0);
	}
	my $key = $s->{key}{qw(alice bob carol)[$begun++ % 3]};
	$conn{$sock} = { out => sprintf($request, $key) . $form, in => '',
	    at => time };
	$sel->add($sock);
	$out->add($sock);
}

# The answer on ${sock} is whole, or the connection has ended.
sub over {
	my ($sock, $whole) = @_;
	my $c = delete $conn{$sock};
	$out->remove($sock);
	my ($status) = $c->{in} =~ m{^HTTP/1.1 (\d+)};
	my ($id) = $c->{in} =~ /^X-Request-Id: (\S+)/mi;
	# The web server may close a connection that it kept, after an answer that
	# came before all of its request: then clients ask again, as SDKs do.
	if ($c->{in} eq '') {
		$begun--;
		$closed++;
	} else {
		$status{$whole ? $status : 'cut'}++;
	}
	$read{$id} = time if $whole && defined $id;
	my $kept = $whole && $c->{out} eq '' && $c->{in} !~ /^Connection: close/mi;
	if (!$kept) {
		$sel->remove($sock);
		close $sock;
	}
	begin($kept ? $sock : undef) if $begun < $most;
}

sub whole {
	my ($in) = @_;
	my $end = index $in, "\r\n\r\n";
	return $end >= 0 && $in =~ /^Content-Length: (\d+)/mi
	    && length($in) >= $end + 4 + $1;
}

begin() for 1 .. $at_once;
my $last = time;
while (%conn && time - $last < 60) {
	my ($r, $w) = IO::Select->select($sel, $out, undef, 1);
	for my $sock (@{ $w // [] }) {
		my $c = $conn{$sock} or next;
		my $n = syswrite $sock, $c->{out}, 65536;
		substr $c->{out}, 0, $n, '' if $n;
		$out->remove($sock) if $c->{out} eq '' || !defined $n && $! != EAGAIN;
	}
	for my $sock (@{ $r // [] }) {
		my $c = $conn{$sock} // ($sel->remove($sock), next);
		my $n = sysread $sock, $c->{in}, 65536, length $c->{in};
		next if !defined $n && $! == EAGAIN;
		$last = time;
		over($sock, whole($c->{in})) if !$n || whole($c->{in});
	}
}
is(scalar(keys %conn), 0, 'no answer is waited for in vain');
cmp_ok($closed, '<=', $most / 100, 'few kept connections are closed with a request on the way');
diag(join ', ', "$most uploads", "$closed asked again", map { "$_: $status{$_}" } sort keys %status);
is(join(' ', grep { !/^(?:200|429)$/ } sort keys %status), '',
    'uploads are taken, or told to come again');
cmp_ok($status{200} // 0, '>=', 0.5 * $most, '... and most are taken');

# The times of the log lines are this machine's, as ours are.
my ($seen, @late) = (0);
for my $line ($s->log) {
	next if $line->{level} ne 'access' || !exists $read{$line->{request} // ''};
	my ($y, $m, $d, $H, $M, $S) = $line->{time} =~
	    /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):([\d.]+)Z/;
	my $at = timegm(0, $M, $H, $d, $m - 1, $y) + $S;
	my $late = $read{$line->{request}} - $at;
	push @late, sprintf '%s %.1f s', $line->{request}, $late if $late > 5;
	$seen++;
}
is($seen, scalar(keys %read), 'each answer has its line in the log');
is("@late", '', '... and is read within five seconds of it');
my ($n) = map { $_->[0] } $s->mysql("SELECT COUNT(*) FROM file WHERE state = 'live'");
is($n, $status{200} // 0, 'as many files as were acknowledged');
$s->done;
done_testing();
