#!/usr/bin/perl

# satchel-admin check: says what is wrong with a machine, and what to do.

use strict;
use warnings;
use Fcntl qw(:flock);
use FindBin;
use POSIX ();
use lib "$FindBin::Bin/lib";
use Test::More;
use Satchel;

my $s = Satchel->new(providers => 1);

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
for my $item (qw(host.isolation host.languages host.descriptors host.backlog sandbox.health
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
