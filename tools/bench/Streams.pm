package Streams;
# For the bench: a chat server that answers without thinking, and clients of
# streams.
#
#	my $up = Streams->new(); $up->{port}; $up->stop;
#
# The model "one" says one event, "many" says $Streams::many of them as fast as
# it can, "slow" one every few seconds until it is stopped.  The others do not
# stream and keep the connection: "turn" has print(1) run before it answers,
# "say" just answers.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use Time::HiRes qw(time);

our $many = 100000;
our $pause = 5; # Of "slow", in seconds.

my $chunk = 'data: {"id":"x","object":"chat.completion.chunk","created":1,'
    . '"model":"m","choices":[{"index":0,"delta":{"content":"hello world "},'
    . '"finish_reason":null}]}' . "\n\n";
my $end = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'
    . "\n\ndata: [DONE]\n\n";
my $head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    . "Connection: close\r\n\r\n";

# A whole answer, of the message's members and its finish reason.
sub whole_answer {
	my $json = qq({"id":"x","object":"chat.completion","created":1,"model":"m",)
	    . qq("choices":[{"index":0,"message":{"role":"assistant",$_[0]},)
	    . qq("finish_reason":"$_[1]"}],"usage":{"prompt_tokens":9,)
	    . '"completion_tokens":3,"total_tokens":12}}';
	return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	    . 'Content-Length: ' . length($json) . "\r\n\r\n$json";
}

my $said = whole_answer('"content":"hello world"', 'stop');
my $call = whole_answer('"content":null,"tool_calls":[{"id":"call_1",'
    . '"type":"function","function":{"name":"code_execution",'
    . '"arguments":"{\"code\":\"print(1)\"}"}}]', 'tool_calls');

sub new {
	my ($class) = @_;
	my $l = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 4096,
	    ReuseAddr => 1) or die "bench: $!";
	my $pid = fork() // die "bench: $!";
	if ($pid == 0) {
		$SIG{PIPE} = 'IGNORE';
		$SIG{TERM} = sub { POSIX::_exit(0) };
		serve($l);
	}
	return bless({ pid => $pid, port => $l->sockport }, $class);
}

sub stop {
	my ($self) = @_;
	kill('TERM', $self->{pid});
	waitpid($self->{pid}, 0);
}

# Is this a whole request?
sub whole {
	my ($text) = @_;
	my $at = index($text, "\r\n\r\n");
	return 0 if $at < 0;
	my ($len) = $text =~ /content-length: *(\d+)/i;
	return length($text) - $at - 4 >= ($len // 0);
}

# Answer the request ${text} on ${c}.  True if the connection is kept.
sub reply {
	my ($c, $text, $slow) = @_;
	my ($model) = $text =~ /"model": ?"(\w+)"/;
	if ($model eq 'turn' || $model eq 'say') {
		# After the run its result is in the conversation.
		my $first = $model eq 'turn' && $text !~ /"role": ?"tool"/;
		syswrite($c, $first ? $call : $said);
		return 1;
	}
	if ($model eq 'slow') {
		syswrite($c, $head . $chunk);
		push(@$slow, $c);
	} else {
		print $c $head, $chunk x ($model eq 'many' ? $many : 1), $end;
		close($c);
	}
	return 0;
}

sub serve {
	my ($l) = @_;
	my ($sel, $next, %text, @slow) = (IO::Select->new($l), time + $pause);
	my $parent = getppid();
	while (getppid() == $parent) {
		for my $c ($sel->can_read(0.05)) {
			if ($c == $l) {
				$sel->add($l->accept // next);
				next;
			}
			$text{$c} //= '';
			if (!sysread($c, $text{$c}, 262144, length($text{$c}))) {
				$sel->remove($c);
				delete($text{$c});
				close($c);
				next;
			}
			next unless whole($text{$c});
			# Who is only written to needs no watching: thousands may.
			$sel->remove($c);
			$sel->add($c) if reply($c, delete($text{$c}), \@slow);
		}
		next if time < $next;
		$next = time + $pause;
		@slow = grep { syswrite($_, $chunk) } @slow;
	}
	POSIX::_exit(0);
}

# Begin a streamed request with these ${more} members; the socket.
sub ask {
	my ($port, $path, $model, $key, $more) = @_;
	my $said = $path =~ /responses/ ? '"input":"x"'
	    : '"max_tokens":100000,"messages":[{"role":"user","content":"x"}]';
	my $body = qq({"model":"$model","stream":true,) . ($more // '') . "$said}";
	my $c = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
	    PeerPort => $port) or die "bench: $!";
	print $c "POST $path HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer $key\r\n",
	    "Content-Type: application/json\r\nanthropic-version: 2023-06-01\r\n",
	    "Connection: close\r\nContent-Length: ", length($body), "\r\n\r\n", $body;
	$c->flush;
	return $c;
}

# Read until the first piece of text; false if none came.
sub first {
	my ($c) = @_;
	my $got = '';
	while ($got !~ /hello/) {
		IO::Select->new($c)->can_read(60) or return 0;
		sysread($c, $got, 65536, length($got)) or return 0;
	}
	return 1;
}

# Read until the event of OpenAI's protocols that ends the answer; false if none
# came.
sub last_event {
	my ($c) = @_;
	my $got = '';
	while ($got !~ /"response\.completed"|\[DONE\]/) {
		IO::Select->new($c)->can_read(60) or return 0;
		sysread($c, $got, 65536, length($got)) or return 0;
	}
	return 1;
}

# Read to the end; how many pieces of text there were.
sub rest {
	my ($c) = @_;
	my ($n, $line) = (0);
	while (defined($line = <$c>)) {
		$n++ if $line =~ /hello/;
	}
	return $n;
}

# Milliseconds of CPU that the processes have used.
sub cpu {
	my $ticks = 0;
	for my $pid (@_) {
		open(my $f, '<', "/proc/$pid/stat") or next;
		my @x = split(' ', <$f>);
		$ticks += $x[13] + $x[14];
	}
	return $ticks * 10;
}

# Kilobytes that are theirs alone.
sub private {
	my $kb = 0;
	for my $pid (@_) {
		open(my $f, '<', "/proc/$pid/smaps_rollup") or next;
		/^Private_Dirty:\s+(\d+)/ and $kb += $1 while <$f>;
	}
	return $kb;
}

1;
