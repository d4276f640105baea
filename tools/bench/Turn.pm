package Turn;

# The benchmark of turns that do not stream: what the gateway adds to the model
# server's own time, over connections that are kept.

use strict;
use warnings;
use Exporter qw(import);
use IO::Socket::INET;
use JSON::PP qw(encode_json);
use Time::HiRes qw(time);
use Bench qw(median row);
use Streams;

our @EXPORT_OK = qw(turn);

my %kept;

# One request on the port's kept connection; the answer's body.
sub ask {
	my ($port, $path, $key, $body) = @_;
	my $sock = delete($kept{$port}) // IO::Socket::INET->new(
	    PeerAddr => '127.0.0.1', PeerPort => $port) // die "bench: port $port: $!";
	my $text = "POST $path HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $key\r\n"
	    . "Content-Type: application/json\r\nanthropic-version: 2023-06-01\r\n"
	    . 'Content-Length: ' . length($body) . "\r\n\r\n$body";
	my ($at, $in) = (0, '');
	$at += syswrite($sock, $text, length($text), $at) // die "bench: $!"
	    while $at < length($text);
	while (sysread($sock, $in, 65536, length($in))) {
		my ($head, $rest) = split(/\r\n\r\n/, $in, 2);
		next if !defined($rest);
		my ($len) = $head =~ /^content-length: (\d+)/mi;
		next if length($rest) < ($len // die "bench: $head");
		$head =~ m{^HTTP/1.1 200} or die "bench: $in";
		$kept{$port} = $sock if $head !~ /^connection: close/mi;
		return $rest;
	}
	die "bench: $path: the connection broke off";
}

sub ms {
	my (@request) = @_;
	my $t = time();
	my $body = ask(@request);
	return ((time() - $t) * 1000, $body);
}

# A conversation of ${n} messages and some ${bytes}, in the caller's dialect
# and as the model server is asked.
sub conversation {
	my ($n, $bytes) = @_;
	my $text = join('', map { chr(32 + $_ % 90) } 1 .. $bytes / $n);
	my @messages = map { { role => $_ % 2 ? 'user' : 'assistant',
	    content => [{ type => 'text', text => "$_ $text" }] } } 1 .. $n - 1;
	push(@messages, { role => 'user', content => 'So?' });
	return encode_json({ model => 'say', max_tokens => 10,
	    messages => \@messages });
}

# The time of two rounds and the run between them.
sub tool_turn {
	my ($s, $up) = @_;
	my $body = encode_json({ model => 'turn', max_tokens => 100,
	    tools => [{ type => 'code_execution_20260120',
	    name => 'code_execution' }],
	    messages => [{ role => 'user', content => 'Print 1.' }] });
	my $say = encode_json({ model => 'say', messages => [] });
	my $ours = sub {
		my ($ms, $got) = ms($s->{port}, '/v1/messages', $s->{key}{alice}, $body);
		$got =~ /"stdout": ?"1\\n"/ && $got =~ /hello world/ or die "bench: $got";
		return $ms;
	};
	my $theirs = sub {
		my $sum = 0;
		$sum += (ms($up->{port}, '/v1/chat/completions', 'x', $say))[0] for 1, 2;
		return $sum;
	};
	$ours->() for 1 .. 5;
	my (@a, @b);
	for (1 .. 100) {
		push(@b, $theirs->());
		push(@a, $ours->());
	}
	row('tool turn: two rounds and a run, added', sprintf('%.2f ms', median(@a)),
	    sprintf('upstream %.2f ms', median(@b)), median(@a) - median(@b), '<=', 8);
	return;
}

# What a long conversation takes more than a short one, less what its bytes
# take the model server to read.
sub long_talk {
	my ($s, $up) = @_;
	my ($long, $short) = (conversation(400, 2_000_000), conversation(1, 1));
	my (%ms, %of);
	%of = (ours => [$s->{port}, '/v1/messages', $s->{key}{alice}],
	    theirs => [$up->{port}, '/v1/chat/completions', 'x']);
	for (1 .. 40) {
		for my $who (keys(%of)) {
			my ($a) = ms(@{$of{$who}}, $long);
			my ($b) = ms(@{$of{$who}}, $short);
			push(@{$ms{$who}}, $a - $b);
		}
	}
	my ($ours, $theirs) = map { median(@{$ms{$_}}) } 'ours', 'theirs';
	row(sprintf('talk of 400 messages, %.1f MB, added', length($long) / 1e6),
	    sprintf('%.1f ms', $ours), sprintf('upstream %.1f ms', $theirs),
	    $ours - $theirs, '<=', 25);
	return;
}

sub turn {
	my ($s) = @_;
	my $up = Streams->new;
	$s->restart(providers => $up->{port}, set => { 'sandbox.ready' => 4 });
	tool_turn($s, $up);
	long_talk($s, $up);
	$up->stop;
	return;
}

1;
