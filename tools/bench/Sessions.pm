package Sessions;

# The benchmark of the sandbox: what a caller of the protocol waits for, through
# nginx, and what sessions hold.

use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(dirname);
use IO::Socket::INET;
use IO::Socket::UNIX;
use JSON::PP qw(decode_json encode_json);
use POSIX ();
use Time::HiRes qw(sleep time);
use Bench qw(median row seconds sh);

our @EXPORT_OK = qw(sessions);

my $here = dirname(__FILE__);
my ($port, $dir, $sock);

# One request on a connection that is kept; {status, json}.
sub request {
	my ($method, $path, $json) = @_;
	my $body = defined $json ? encode_json($json) : '';
	$sock //= IO::Socket::INET->new(PeerAddr => '127.0.0.1',
	    PeerPort => $port) // die "bench: port $port: $!";
	syswrite($sock, "$method $path HTTP/1.1\r\nHost: x\r\nContent-Length: "
	    . length($body) . "\r\n\r\n$body");
	my $in = '';
	while (1) {
		sysread($sock, $in, 65536, length($in)) or do {
			undef $sock;
			die "bench: $method $path: the connection broke off";
		};
		my ($head, $rest) = split(/\r\n\r\n/, $in, 2);
		next if !defined $rest;
		my ($len) = $head =~ /^content-length: (\d+)/mi;
		next if length($rest) < ($len // 0);
		undef $sock if $head =~ /^connection: close/mi;
		my ($status) = $head =~ /^HTTP\/1.1 (\d+)/;
		return { status => $status,
		    json => $len ? decode_json($rest) : undef };
	}
}

sub create {
	my $r = request('POST', '/sessions', {});
	die "bench: no session: $r->{status}" if $r->{status} != 201;
	return $r->{json}{session_id};
}

sub destroy { return request('DELETE', "/sessions/$_[0]") }

# Run it, and see that it printed ${want}.
sub run_text {
	my ($id, $tool, $key, $text, $want) = @_;
	my $r = request('POST', "/sessions/$id/exec",
	    { tool => $tool, input => { $key => $text } });
	my $c = $r->{json}{result_block}{content};
	die "bench: $text: $r->{status} $c->{stderr}" if $r->{status} != 200
	    || $c->{return_code} || $c->{stdout} !~ $want;
	return;
}

sub python { my ($id, $code, $want) = @_; return run_text($id, 'code_execution', 'code', $code, $want) }
sub bash { return run_text($_[0], 'bash_code_execution', 'command', $_[1], $_[2]) }

sub ms (&) {
	my ($what) = @_;
	my $t = time();
	$what->();
	return 1000 * (time() - $t);
}

# Wait until ${n} sessions are ready.
sub settle {
	my ($n) = @_;
	my $until = time() + 60;
	while ((() = glob("$dir/.idle/*.*.*")) < $n) {
		die "bench: the keeper makes no sessions\n" if time() > $until;
		sleep(0.005);
	}
	return;
}

sub limit { # a median in ms against its limit
	my ($what, $limit, @v) = @_;
	return row($what, sprintf('%.2f ms', median(@v)), '-', median(@v), '<=', $limit);
}

my $frame = "import pandas\nprint(pandas.DataFrame({'a': [1, 2]}))";
my $plot = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.savefig('p.png')\nprint('ok')";

# What one caller waits for.
sub waits {
	my ($n) = @_;
	my %v;
	for (1 .. $n) {
		my $id;
		settle(4);
		push(@{$v{first}}, ms { $id = create(); python($id, 'print(1)', qr/^1$/) });
		push(@{$v{later}}, ms { python($id, 'print(1)', qr/^1$/) }) for 1 .. 5;
		push(@{$v{bash}}, ms { bash($id, 'true', qr/^$/) });
		push(@{$v{destroy}}, ms { destroy($id) });
		settle(4);
		$id = create();
		push(@{$v{frame}}, ms { python($id, $frame, qr/a/) });
		destroy($id);
		settle(4);
		$id = create();
		push(@{$v{plot}}, ms { python($id, $plot, qr/ok/) });
		destroy($id);
	}
	return \%v;
}

# Fields of smaps_rollup of the processes, in MiB, summed.
sub held {
	my ($fields, @pids) = @_;
	my $kb = 0;
	for my $pid (@pids) {
		open(my $f, '<', "/proc/$pid/smaps_rollup") or die "bench: only root can look at sessions\n";
		while (my $line = <$f>) {
			my ($field, $n) = $line =~ /^(\w+):\s+(\d+)/ or next;
			$kb += $n if $field =~ $fields;
		}
	}
	return $kb / 1024;
}

# The kernel's own for them: page tables.
sub tables {
	my $kb = 0;
	for my $pid (@_) {
		open(my $f, '<', "/proc/$pid/status") or next;
		while (my $line = <$f>) {
			$kb += $1 if $line =~ /^VmPTE:\s+(\d+)/;
		}
	}
	return $kb / 1024;
}

# All processes below ${pid}, itself included.
sub below {
	my ($pid) = @_;
	open(my $f, '<', "/proc/$pid/task/$pid/children") or return;
	return ($pid, map { below($_) } split(' ', <$f> // ''));
}

sub inside {
	my ($id) = @_;
	open(my $f, '<', "$dir/$id/meta") or die "bench: $id: $!";
	my ($pid) = map { /^pid (\d+)/ ? $1 : () } <$f>;
	return below($pid);
}

sub memory {
	my ($s) = @_;
	my @ids = map { settle(1); create() } 1 .. 200;
	for my $id (@ids) {
		python($id, 'print(1)', qr/^1$/);
	}
	row('idle pandas session, private MiB', '-', '-', median(map { held(qr/^Private_/, inside($_)) } @ids), '<=', 3);
	my @all = ((map { inside($_) } @ids), map { $s->pids($_) } qw(sandbox keeper));
	push(@all, map { below($_) } ($s->pids('keeper'))[0]);
	my %all = map { $_ => 1 } @all;
	row('200 idle sessions, keeper, workers, MiB', sprintf('page tables %.0f', tables(keys(%all))), '-',
	    held(qr/^Pss$/, keys(%all)) + tables(keys(%all)), '<=', 1024);
	destroy($_) for @ids;
	return;
}

# Do ${what} over and over in ${clients} processes; how often a second.
sub rate {
	my ($clients, $seconds, $what) = @_;
	my (@from, @pids);
	for my $i (1 .. $clients) {
		pipe(my $in, my $out) or die $!;
		my $pid = fork() // die $!;
		if ($pid == 0) {
			undef $sock;
			my ($n, $until) = (0, time() + $seconds);
			$n++, eval { $what->($i - 1); 1 } || die($@) while time() < $until;
			syswrite($out, $n);
			POSIX::_exit(0);
		}
		close($out);
		push(@from, $in);
		push(@pids, $pid);
	}
	my $sum = 0;
	for my $in (@from) {
		$sum += <$in> // die "bench: a client failed\n";
	}
	waitpid($_, 0) for @pids;
	return $sum / $seconds;
}

# print(1) in sessions that live, by wrk.
sub live {
	my @ids = map { settle(1); create() } 1 .. 16;
	python($_, 'print(1)', qr/^1$/) for @ids;
	my $lua = "$dir/../bench.lua";
	open(my $f, '>', $lua) or die $!;
	print $f 'local ids = {' . join(',', map { "'$_'" } @ids) . "}\nlocal n = 0\n",
	    "wrk.method = 'POST'\nwrk.body = '{\"tool\":\"code_execution\",\"input\":{\"code\":\"print(1)\"}}'\n",
	    "request = function() n = n + 1; return wrk.format(nil, '/sessions/' .. ids[n % #ids + 1] .. '/exec') end\n";
	close($f);
	my $out = sh("wrk -t1 -c16 -d4s -s $lua http://127.0.0.1:$port/");
	die "bench: $out" if $out =~ /Non-2xx/;
	my ($rate) = $out =~ /Requests\/sec:\s+([\d.]+)/;
	destroy($_) for @ids;
	return $rate;
}

sub yardstick {
	my ($s) = @_;
	my $path = "$s->{tmp}/yardstick";
	my $pid = fork() // die $!;
	if ($pid == 0) {
		exec('/usr/bin/python3', "$here/zygote.py", $path) or POSIX::_exit(1);
	}
	for (1 .. 600) {
		last if -S $path && IO::Socket::UNIX->new(Peer => $path);
		sleep(0.05);
	}
	sleep(0.2);
	my $rate = rate(2, 4, sub {
		my $c = IO::Socket::UNIX->new(Peer => $path) // die $!;
		syswrite($c, 'print(1)');
		my $in = '';
		1 while sysread($c, $in, 100, length($in));
		die "bench: the yardstick says nothing" if $in ne "1\n";
	});
	kill('KILL', $pid);
	waitpid($pid, 0);
	return $rate;
}

sub sessions {
	my ($s) = @_;
	($port, $dir, $sock) = ($s->{sandbox_port}, "$s->{dir}/sandbox", undef);
	my ($plain, $import) = map {
		my $code = $_;
		median(map { 1000 * seconds("/usr/bin/python3 -c '$code'") } 1 .. 7)
	} 'pass', 'import pandas';
	printf("%-44s %.1f ms; cold import pandas %.0f ms\n", 'for scale: fork+exec python3 -c pass', $plain, $import);
	settle(4);
	my $v = waits(40);
	limit('create + first print(1)', 3, @{$v->{first}});
	limit('later print(1)', 0.8, @{$v->{later}});
	limit('first DataFrame', 8, @{$v->{frame}});
	limit('first saved plot', 100, @{$v->{plot}});
	limit('bash -c true', 6, @{$v->{bash}});
	limit('destroy', 2, @{$v->{destroy}});
	row('print(1) in 16 live sessions', '-', '-', live(), '>=', 2000);
	settle(4);
	my $bare = yardstick($s);
	my $ours = rate(2, 4, sub { my $id = create(); python($id, 'print(1)', qr/^1$/); destroy($id) });
	row('print(1) in fresh sessions, 2 callers', sprintf('%.0f/s', $ours),
	    sprintf('bare zygote %.0f/s', $bare), $ours / $bare, '>=', 0.8);
	settle(4);
	memory($s);
	$s->stop('keeper');
	limit('keeper down: create + first print(1)', 40, map {
		my $id;
		my $t = ms(sub { $id = create(); python($id, "print(1)", qr/^1$/) });
		destroy($id);
		$t;
	} 1 .. 20);
	return;
}

1;
