#!/usr/bin/perl

# satchel-admin check: says what is wrong with a machine, and what to do.

use strict;
use warnings;
use Fcntl qw(:flock);
use FindBin;
use IO::Socket::INET;
use POSIX ();
use lib "$FindBin::Bin/lib";
use Test::More;
use Satchel;

# A model server that lists its models below /v1, wants a key below /key/v1, has
# no list below /odd/v1, and below /slow/v1 says nothing.
my $listen = IO::Socket::INET->new(Listen => 16, LocalAddr => '127.0.0.1')
    or die $!;
my $port = $listen->sockport;
my $server = fork // die $!;
if (!$server) {
	my @silent;
	$SIG{TERM} = 'DEFAULT';
	while (my $c = $listen->accept) {
		my $head = '';
		1 while sysread($c, $head, 4096, length $head)
		    && $head !~ /\r\n\r\n/;
		my ($path) = $head =~ /^GET (\S+)/;
		push(@silent, $c), next if $path =~ m{^/slow};
		my ($status, $body) = $path eq '/v1/models'
		    ? ('200 OK', '{"data":[' . join(',', map { qq({"id":"m$_"}) }
			1 .. 31) . ']}')
		    : $path eq '/key/v1/models' ? ('401 No', '{}')
		    : $path eq '/html/v1/models' ? ('200 OK', '<html>')
		    : ('404 Not Found', '{}');
		print $c "HTTP/1.1 $status\r\nContent-Length: "
		    . length($body) . "\r\nConnection: close\r\n\r\n$body";
		close $c;
	}
	POSIX::_exit(0);
}
END { kill 'KILL', $server if $server }

my $s = Satchel->new(providers => $port,
    set => { 'sandbox.host_memory_bytes' => 1 << 30 });
is($s->sweep->{exit}, 0, 'a sweep');

# Run check with more words; its exit status, and item => [state, saw, remedy].
sub check {
	my $r = $s->admin('--json', @_, 'check');
	return ($r, { map { $_->{item} => $_ } @{$r->{json}{checks}} });
}

my ($r, $is) = check();
is($r->{exit}, 0, 'a healthy system passes');
# Started by an ordinary user it has one user for all, of which check warns.
my $one = $> == 0 ? '' : 'sandbox.users';
is(join(' ', grep { $is->{$_}{state} ne 'ok' } sort keys %$is), $one,
    '... in every item');
for my $item (qw(host.isolation host.languages host.packages host.sockets
    host.descriptors host.backlog
    host.documents host.memory host.threads log.file sweep sandbox.health
    sandbox.users sandbox.keeper providers nginx.body nginx.time nginx.bytes store.publish store.space
    store.clock database database.schema database.charset database.clock
    database.connections database.durability)) {
	ok(exists $is->{$item}, "... $item is looked at");
}
is($is->{'store.publish'}{saw}, "$s->{root} publishes by link", 'how it stores');
my ($number) = map { $_->[0] } $s->mysql('SELECT MAX(number) FROM migration');
is($is->{'database.schema'}{saw}, "number $number", 'which schema');
ok($r->{json}{ok}, 'and all is well');
is(scalar(grep { $_->{name} eq 'code_execution.executor'
    && $_->{value} eq 'auto' && $_->{source} eq 'default' }
    @{$r->{json}{settings}}), 1, 'settings come with their source');

# For people: a line an item.
$r = $s->admin('check');
like($r->{out}, qr/^files\.max_bytes +536870912  \(default\)$/m,
    'a setting is one line');
like($r->{out}, qr/^ok    store\.publish +\Q$s->{root}\E publishes by link$/m,
    'an item is one line');
like($r->{out}, qr/\n0 warnings, 0 failures\n\z/, 'the last line sums up');

# Model servers: what is wrong with one is said, and one that is right too.
sub told {
	my ($yaml, @more) = @_;
	Satchel::_spew("$s->{dir}/p.yml", "providers:\n$yaml");
	my ($r, $is) = check('-c', "$s->{dir}/p.yml", @more);
	return "$is->{providers}{state} $is->{providers}{saw}";
}
my $closed = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1');
my $nobody = $closed->sockport;
close $closed;
for (['/v1', 'ok', ': 31 models'],
    ['', 'ok', ': 31 models'],
    ['/api', 'FAIL', ' answers 404: should it end in /v1?'],
    ['/odd/v1', 'warn', ' answers 404: it does not list its models'],
    ['/key/v1', 'FAIL', ' answers 401: is its api_key right?'],
    ['/html/v1', 'warn', ' answers /models, but not with a list'],
    ['/slow/v1', 'FAIL', ' does not answer within 3 s']) {
	my ($path, $state, $saw) = @$_;
	my $url = "http://127.0.0.1:$port$path";
	is(told("  - name: local\n    base_url: $url\n"), "$state local: $url$saw",
	    "a model server: $saw");
}
my $refuses = "http://127.0.0.1:$nobody/v1";
is(told("  - name: local\n    base_url: $refuses\n"), "FAIL local: $refuses "
    . 'refuses the connection, or there is no such host', 'nobody is there');
is(told("  - name: a\n    base_url: http://127.0.0.1:$port/v1\n"
    . "  - name: b\n    base_url: $refuses\n"),
    "warn a: http://127.0.0.1:$port/v1: 31 models; b: $refuses refuses the "
    . 'connection, or there is no such host', 'one of two');
is((check('-c', "$s->{dir}/p.yml", '-s', 'log.file=/nonexistent/dir/log'))[1]
    {'log.file'}{state}, 'FAIL', 'a log that cannot be written');

# Why the database does not let anybody in stands where it is told.
$r = $s->admin('-s', 'database.user=nobody-knows', 'check');
like($r->{out}, qr/^FAIL  database +\S+ cannot be used by nobody-knows in satchel: .*Access denied/m, 'the words of the server');
is($r->{err}, '', '... and no line of a log beside them');
like($r->{out}, qr/\n\d+ warnings?, 1 failure\n\z/, '... and one failure');

# The executor that is in force.
$s->admin(qw(executor set local));
($r, $is) = check();
is((grep { $_->{name} eq 'code_execution.executor' } @{$r->{json}{settings}})[0]
    {source}, 'database; the configuration says auto, default',
    'the executor has its source');
like($s->admin('check')->{out}, qr/^code_execution\.executor +local  \(database/m,
    '... and its value');
is($s->admin(qw(check --config-only))->{out} =~ /^code_execution\.executor +(\w+)/m
    && $1, 'auto', '... but the files have theirs');
$s->admin(qw(executor clear));

# When nobody sweeps.
$s->mysql("UPDATE setting SET updated = updated - 25 * 3600000"
    . " WHERE name = 'sweep.done'");
($r, $is) = check();
is("$is->{sweep}{state} $is->{sweep}{saw}", 'warn last done 1500 min ago',
    'a sweep long ago');
$s->mysql("DELETE FROM setting WHERE name = 'sweep.done'");
is((check())[1]{sweep}{saw}, 'never done yet', 'no sweep');
$s->sweep('--dry-run');
is((check())[1]{sweep}{saw}, 'never done yet', '... and a dry run is none');
$s->sweep;

# A table with one language whose compiler nobody has.
my $few = "$s->{dir}/languages.yml";
Satchel::_spew($few, <<'END');
languages:
  - name: bash
    file: a.sh
    run: [/usr/bin/bash, /tmp/program/a.sh]
    packages: bash
  - name: cobol
    file: a.cob
    compile: [/usr/bin/no-such-compiler, a.cob]
    run: [/tmp/program/a]
    packages: gnucobol
END
is((check('-s', "sandbox.languages=$few"))[1]{'host.languages'}{saw},
    'cobol lacks /usr/bin/no-such-compiler (Debian: gnucobol)',
    'which language lacks what');

# What is known of nginx is what is shipped, and that is said.
for my $item (qw(body time bytes)) {
	like($is->{"nginx.$item"}{saw},
	    qr{nginx/satchel\.conf as shipped .*; not looked at: what your server loads$},
	    "nginx.$item: no more than was looked at");
}

# What is wrong fails, and alone.
for my $case (
    [['-s', 'files.root=/nonexistent'], 'FAIL', 'store.publish'],
    [['-s', 'database.socket=/nonexistent'], 'FAIL', 'database'],
    [['-s', 'database.name=mysql'], 'FAIL', 'database'],
    [['-s', 'sandbox.url=http://127.0.0.1:1'], 'FAIL', 'sandbox.health'],
    [['-s', 'sandbox.url='], 'warn', 'sandbox.health'],
    [['-s', 'sandbox.host_memory_bytes=0', '-s', 'sandbox.sessions_max=100000'],
	'warn', 'host.memory'],
    [['-s', 'sandbox.ready=1'], 'warn', 'sandbox.keeper'],
    [['-s', "sandbox.languages=$few"], 'warn', 'host.languages'],
    [['-s', 'sandbox.languages=/nonexistent'], 'FAIL', 'host.languages'],
    [['-s', 'server.body_max_bytes=33554433'], 'warn', 'nginx.body'],
    # executor row 71: a turn longer than nginx waits.
    [['-s', 'code_execution.turn_budget_s=660'], 'warn', 'nginx.time'],
    [['-s', 'files.xaccel_prefix=/x'], 'warn', 'nginx.bytes'],
    [['-s', 'database.pool=1024'], 'warn', 'database.connections'],
    [['-s', 'files.max_bytes=1099511627776'], 'warn', 'store.space']) {
	my ($words, $state, $item) = @$case;
	($r, $is) = check(@$words);
	is(join(' ', map { "$is->{$_}{state} $_" }
	    grep { $is->{$_}{state} ne 'ok' && $_ ne $one } sort keys %$is),
	    "$state $item",
	    "@$words");
	ok(length $is->{$item}{remedy}, '... with what to do');
	is($r->{exit}, $state eq 'FAIL' ? 1 : 0, '... and the exit status');
}

# A keeper that has just begun is waited for: this one has its first session
# after a second, when it takes the second lock.
{
	my $host = "$s->{tmp}/host";
	mkdir($_, 0700) or die $! for $host, "$host/.idle";
	pipe(my $in, my $out) or die $!;
	my $pid = fork // die $!;
	if (!$pid) {
		my @lock = map { open(my $f, '>', "$host/.idle/$_") or die $!; $f }
		    qw(keeper served);
		flock($lock[0], LOCK_EX) or die $!;
		syswrite($out, 'x');
		sleep 1;
		flock($lock[1], LOCK_EX) or die $!;
		sleep 60;
		POSIX::_exit(0);
	}
	sysread($in, my $begun, 1);
	system('chown', '-R', join(':', (stat $s->{root})[4, 5]), $host);
	($r, $is) = check('-s', "sandbox.dir=$host", '-s', 'sandbox.ready=1');
	is("$is->{'sandbox.keeper'}{state} $is->{'sandbox.keeper'}{saw}",
	    'ok runs; 0 sessions are ready', 'a keeper that has just begun');
	kill 'KILL', $pid;
	waitpid $pid, 0;
	is((check('-s', "sandbox.dir=$host", '-s', 'sandbox.ready=1'))[1]
	    {'sandbox.keeper'}{saw}, 'does not run: each session begins cold',
	    'one that has ended');
}
is((check('-s', "sandbox.isolation=$_", '-s', 'sandbox.ready=1'))[1]
    {'sandbox.keeper'}{saw}, "makes none at the isolation level $_: each session"
    . ' begins cold', 'where a keeper makes none that is no fault')
    for 'bwrap', 'landlock';

# A store that is not there is told of at the start.
{
	my @words = map { s/satchel-admin$/satchel/r }
	    split ' ', $s->{env}{SATCHEL_ADMIN};
	my $r = Satchel::run('timeout', 5, @words, '-s', 'files.root=/nonexistent',
	    '-s', 'log.file=', '-l', "$s->{dir}/tmp/x.sock", '-p', 'files', '-n', 1);
	like($r->{err}, qr/"level":"warn".*the store \/nonexistent is not there/,
	    'a worker without a store says so at once');
}

# A schema that is behind.
$s->mysql("CREATE TABLE kept AS SELECT * FROM migration;"
    . " DELETE FROM migration WHERE number = $number");
($r, $is) = check();
is($is->{'database.schema'}{state}, 'FAIL', 'a schema that is behind');
is($is->{'database.schema'}{remedy}, 'satchel-admin migrate', '... what to run');
$s->mysql('REPLACE INTO migration SELECT * FROM kept; DROP TABLE kept');
($r) = check();
is($r->{exit}, 0, '... and done');
$s->done;
done_testing();
