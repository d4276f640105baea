package Bench;

# What the benchmarks share: a bare system beside the stack, load by wrk and
# curl, and the table of results.

use strict;
use warnings;
use Exporter qw(import);
use POSIX ();
use Time::HiRes qw(sleep time);

our @EXPORT_OK = qw(wrk median seconds row failures max_memory bare_start sh
    fill expire);

my ($failed, $expired) = (0, 0);
my (@running, $owner);

# However a benchmark ends, the bare system goes with it.
$owner = $$;
END { kill('TERM', @running) if @running && $$ == $owner }

sub median {
	my @v = sort { $a <=> $b } @_;
	my $mid = int(@v / 2);
	return @v % 2 ? $v[$mid] : ($v[$mid - 1] + $v[$mid]) / 2;
}

sub sh {
	my $out = qx{@_};
	die "bench: @_: exit $?\n" if $?;
	return $out;
}

# Run wrk; return (requests a second, p50 ms, p99 ms).
sub wrk {
	my ($url, %o) = @_;
	my @head = map { "-H '$_'" } @{$o{head} || []};
	push(@head, "-s $o{script}") if $o{script};
	my $c = $o{connections} // 64;
	my $s = $o{seconds} // 4;
	my $out = sh("wrk -t1 -c$c -d${s}s --latency @head '$url'");
	my ($n) = $out =~ /(\d+) requests in/ or die "bench: $url: $out";
	my $bad = $out =~ /Non-2xx or 3xx responses: (\d+)/ ? $1 : 0;
	# nginx loses a kept connection now and then to a worker that is just
	# closing it.
	die "bench: $url: $out" if $bad > $n / 1000;
	my ($rate) = $out =~ /Requests\/sec:\s+([\d.]+)/;
	my %unit = (us => 0.001, ms => 1, s => 1000);
	my ($p50) = map { $_->[0] * $unit{$_->[1]} } [$out =~ /50%\s+([\d.]+)(us|ms|s)/];
	my ($p99) = map { $_->[0] * $unit{$_->[1]} } [$out =~ /99%\s+([\d.]+)(us|ms|s)/];
	return ($rate, $p50, $p99);
}

# How long a command takes.
sub seconds {
	my $t = time();
	sh(@_);
	return time() - $t;
}

# One line of the table.  ${ok} compares ${got} to ${target} by ${op}.
sub row {
	my ($what, $measured, $limit, $got, $op, $target) = @_;
	my $ok = $op eq '>=' ? $got >= $target : $got <= $target;
	$failed++ if !$ok;
	printf("%-44s %-26s %-26s %8.2f  %s %-7s %s\n", $what, $measured, $limit,
	    $got, $op, $target, $ok ? 'ok' : 'MISSED');
}

sub failures { return $failed }

# The most memory a process has had resident, in bytes; and forget it.
sub max_memory {
	my ($pid) = @_;
	open(my $f, '<', "/proc/$pid/status") or die "bench: $pid: $!";
	my ($kb) = map { /^VmHWM:\s+(\d+)/ ? $1 : () } <$f>;
	if (open(my $c, '>', "/proc/$pid/clear_refs")) {
		print $c "5\n";
	}
	return $kb * 1024;
}

# A bare worker and a plain nginx of the same shape as the stack's.  Returns
# {url, dir, stop}.
sub bare_start {
	my ($s, $binary) = @_;
	my $dir = "$s->{tmp}/bare";
	mkdir($_) for $dir, "$dir/www", "$dir/out";
	my $port = 20000 + $$ % 10000;
	# The stack's own database server, in a schema of our own.
	my $mysql = $s->{env}{SATCHEL_MYSQL};
	sh(qq{$mysql -e 'CREATE DATABASE bench; CREATE TABLE bench.bench_file (id INT PRIMARY KEY, name VARCHAR(255), bytes BIGINT)'});
	my $rows = join(',', map { "($_,''file$_.csv'',$_)" } 1 .. 1000);
	$rows =~ s/''/'/g;
	sh(qq{$mysql -e "INSERT INTO bench.bench_file VALUES $rows"});
	open(my $f, '>', "$dir/nginx.conf") or die $!;
	print $f <<"END";
user root;
daemon off; worker_processes 2; worker_rlimit_nofile 8192;
pid $dir/nginx.pid; error_log $dir/nginx.log warn;
events { worker_connections 4000; }
http {
	access_log off; sendfile on; client_max_body_size 0;
	keepalive_requests 1000000;
	client_body_temp_path $dir/t1; fastcgi_temp_path $dir/t2; proxy_temp_path $dir/t3;
	uwsgi_temp_path $dir/t4; scgi_temp_path $dir/t5;
	upstream kept { server unix:$dir/bare.sock; keepalive 32; }
	upstream fresh { server unix:$dir/bare.sock; }
	fastcgi_param REQUEST_METHOD \$request_method;
	fastcgi_param CONTENT_TYPE \$content_type;
	fastcgi_param CONTENT_LENGTH \$content_length;
	fastcgi_param DOCUMENT_URI \$document_uri;
	server {
		listen 127.0.0.1:$port backlog=4096;
		location / { fastcgi_keep_conn on; fastcgi_pass kept; }
		location /up { fastcgi_request_buffering off; fastcgi_pass fresh; }
		location /static/ { alias $dir/www/; }
		location /bench-files/ { internal; alias $dir/www/; }
	}
}
END
	close($f) or die $!;
	my @pids;
	for my $cmd ([$binary, "$dir/bare.sock", 64, "$s->{dir}/run/db.sock", 'bench', "$dir/out"],
	    ['nginx', '-c', "$dir/nginx.conf", '-p', $dir]) {
		my $pid = fork() // die $!;
		if ($pid == 0) {
			open(STDOUT, '>>', "$dir/log");
			open(STDERR, '>&', \*STDOUT);
			exec(@$cmd) or POSIX::_exit(1);
		}
		push(@pids, $pid);
		push(@running, $pid);
	}
	my $bare = { url => "http://127.0.0.1:$port", dir => $dir, pids => \@pids };
	for (1 .. 100) {
		return $bare if qx{curl -s $bare->{url}/db} =~ /"id"/;
		sleep(0.05);
	}
	die "bench: the bare worker did not start, see $dir/log\n";
}

# Rows for ${mine} live files of alice and ${others} of a hundred other users,
# without bytes, and no other rows.  File i of alice was created at
# 1,700,000,000,000 + i ms.
sub fill {
	my ($s, $mine, $others) = @_;
	my $insert = q{INSERT INTO file (pid, workspace_id, user_id, state, origin, bytes, name, mime, purpose, created)};
	my $columns = q{'live', 'upload', 1, 'bench.csv', 'text/csv', 'user_data'};
	my ($owner) = $s->mysql(q{SELECT u.workspace_id, u.id FROM user u WHERE u.name = 'alice' LIMIT 1});
	$s->mysql('TRUNCATE TABLE file');
	$s->mysql("$insert SELECT CONCAT(LPAD(HEX(1700000000000 + seq), 12, '0'), LPAD(HEX(seq), 20, '0')),
	    $owner->[0], $owner->[1], $columns, 1700000000000 + seq FROM seq_1_to_$mine") if $mine;
	$s->mysql("$insert SELECT CONCAT(LPAD(HEX(1700000000000 + seq), 12, '0'), LPAD(HEX(seq), 20, '0')),
	    $owner->[0], 1000 + seq % 100, $columns, 1700000000000 + seq FROM seq_1_to_$others") if $others;
	$s->mysql('ANALYZE TABLE file');
}

# ${n} files of 1,000 bytes, rows and bytes, that have just expired.
sub expire {
	my ($s, $n) = @_;
	my $round = ++$expired;
	my ($uid, $gid) = (stat($s->{root}))[4, 5];
	my $bytes = 'x' x 1000;
	my @keys;
	for my $i (1 .. $n) {
		my $key = sprintf('%04x%04x%024x', $i * 40503 % 65536, $round, $i);
		my $dir = "$s->{root}/" . join('/', $key =~ /^(..)(..)/);
		if (!-d $dir) {
			for my $d ($dir =~ s{/..$}{}r, $dir) {
				chown($uid, $gid, $d) if mkdir($d);
			}
		}
		open(my $f, '>', "$dir/$key") or die "bench: $dir/$key: $!";
		print $f $bytes;
		close($f);
		push(@keys, $key);
	}
	# More than a command line holds, so by standard input.
	open(my $sql, '|-', "$s->{env}{SATCHEL_MYSQL}") or die "bench: $!";
	while (my @some = splice(@keys, 0, 500)) {
		print $sql 'INSERT INTO file (pid, workspace_id, user_id, state, origin, store_key, bytes, name, mime, purpose, created, expires, sweep_at) VALUES '
		    . join(',', map { "('$_',1,1,'live','upload','$_',1000,'x','text/plain','user_data',1,2,2)" } @some) . ";\n";
	}
	close($sql) or die "bench: the rows did not go in\n";
}

1;
