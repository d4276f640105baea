#!/usr/bin/perl

# What those without a key cost, and that no key and no user takes more than a
# share: threads of both pools and memory.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Select;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);
use Provider;
use Satchel qw(header);

# One process of 24 threads: one user has 16 of them at most, and two wait.
my $up = Provider->new(script => { models => {
    slow => [{ delay => 120, text => 'Late.' }], quick => [{ text => 'Here.' }] } });
my $s = Satchel->new(providers => $up->yaml('local', 'openai-chat'), set => {
    'workers.processes' => 1, 'workers.files_threads' => 24,
    'workers.run_threads' => 24, 'database.pool' => 24, 'workers.bodies_bytes' => 64 << 20 });
my $slack = Satchel::sanitizer('satchel') ? 3 : 1;
my $at_once = 3 * $slack;

# A request whose answer is looked for later.
sub begin {
	my ($path, $body, @headers) = @_;
	my $c = { sock => $s->sock, in => '', since => time };
	syswrite $c->{sock}, join "\r\n", "POST $path HTTP/1.1", 'Host: x',
	    'Connection: close', 'Content-Type: application/json',
	    'Content-Length: ' . length $body, @headers, '', $body;
	return $c;
}

sub ask {
	my ($as, $model, $query) = @_;
	return begin('/v1/messages' . ($query // ''), '{"model":"local:' . $model
	    . '","max_tokens":9,"messages":[{"role":"user","content":"x"}]}',
	    "x-api-key: $s->{key}{$as}", 'anthropic-version: 2023-06-01');
}

# The answers of those that have one, once ${n} have, or so many seconds are over;
# {after}: its time.
sub some {
	my ($n, $seconds, @all) = @_;
	my %left = map { fileno $_->{sock} => $_ } grep { !$_->{after} } @all;
	my $sel = IO::Select->new(map { $_->{sock} } values %left);
	for (my $until = time + $seconds; keys %left > @all - $n && time < $until;) {
		for my $sock ($sel->can_read($until - time)) {
			my $c = $left{fileno $sock};
			next if sysread $sock, $c->{in}, 65536, length $c->{in};
			$c->{after} = time - $c->{since};
			$c->{r} = Satchel::answer($c->{in});
			$sel->remove($sock);
			delete $left{fileno $sock};
		}
	}
	return map { $_->{r} } grep { $_->{after} } @all;
}

sub answers { my ($seconds, @all) = @_; return some(scalar @all, $seconds, @all) }
sub leave { close $_->{sock} for @_; sleep 0.5 * $slack }

sub quick {
	my ($as, $what) = @_;
	my $c = ask($as, 'quick');
	my ($r) = answers($at_once, $c);
	is($r->{status} // 'no answer', 200, $what);
}

# --- threads of the pool for model requests ---

# What ${all} slow requests that go beyond a share are told.
sub limited {
	my ($what, @all) = @_;
	my @now = some(22, 30, @all);
	is(@now, 22, "$what: those beyond a share are sent away");
	is((grep { $_->{after} && $_->{after} > 4.9 } @all), 0, '... at once');
	is((grep { $_->{status} != 429 } @now), 0, '... by 429');
	is($now[0]{json}{error}{type}, 'rate_limit_error', '... in the dialect');
	my @after = map { header($_, 'Retry-After') } @now;
	is((grep { !/^[1-5]$/ } @after), 0, '... to come again in 1 to 5 s');
	my %ms = map { header($_, 'retry-after-ms') => 1 } @now;
	cmp_ok(keys %ms, '>', 10, '... each at another time');
	quick('bob', 'meanwhile another user is served');
	my @late = some(24, 30, @all);
	is((grep { $_->{after} && $_->{after} > 4.9 } @all), 2,
	    'those who waited are sent away too, after 5 s');
	is((grep { $_->{status} != 429 } @late), 0, '... by 429');
	is(@all - @late, 16, 'two thirds of the threads are served');
}

my @all = map { ask('alice', 'slow') } 1 .. 40;
limited('one user', @all);
leave(@all);
quick('alice', 'once they have gone, that user is served again');

@all = map { ask('admin', 'slow', '?user=' . ($_ % 2 ? 'alice' : 'bob')
    . '&workspace_id=' . ($_ % 2 ? 'default' : 'other')) } 1 .. 40;
limited('one key that acts for two users', @all);
leave(@all);

# --- and of the pool for short requests, here with a table that is locked ---

$s->expect_log(qr{^db: away}); # On a busy machine it is locked for longer than that.

{
	my $lock = fork // die "fork: $!";
	if (!$lock) {
		eval { $s->mysql('LOCK TABLES file WRITE; SELECT SLEEP(7)') };
		POSIX::_exit(0);
	}
	sleep 1;
	my $files = sub { my $c = { sock => $s->sock, in => '', since => time };
		syswrite $c->{sock}, "GET $_[0] HTTP/1.1\r\nHost: x\r\n"
		    . "Connection: close\r\nX-API-Key: $s->{key}{alice}\r\n\r\n";
		return $c };
	my @all = map { $files->('/v1/files') } 1 .. 40;
	my @now = some(22, 30, @all);
	is((grep { $_->{status} == 429 } @now), 22,
	    'files: those beyond a share are sent away');
	is((grep { header($_, 'Retry-After') !~ /^[1-5]$/ } @now), 0,
	    '... and told when to come back');
	my ($r) = answers(20, $files->('/files/' . 'a' x 21 . '?kind=user'));
	is_deeply([$r->{status}, $r->{json}{error}, $r->{json}{retry_after_seconds}],
	    [429, 'rate_limited', header($r, 'Retry-After')],
	    'LibreChat is told in its own words');
	my $t = time;
	is($s->get('/v1/tools', as => 'bob')->{status}, 200, 'another is served');
	cmp_ok(time - $t, '<', $at_once, '... at once');
	waitpid $lock, 0;
	answers(20, @all);
	is($s->get('/v1/files')->{status}, 200, 'once they have gone, all is well');
}

# --- memory ---

# KiB of the workers of a pool.
sub memory {
	my ($sum, undef, @pids) = (0, $s->pids('run'));
	for my $pid (@pids) {
		open my $fh, '<', "/proc/$pid/status" or next;
		/^VmRSS:\s+(\d+)/ and $sum += $1 while <$fh>;
	}
	return $sum;
}

# What sanitizers keep of what was freed.
my $kept = $slack > 1 ? 1 << 20 : 0;
my $exec = '{"lang":"none","code":"x"';
quick('alice', 'a first request');
my $before = memory();
my $pad = ',"x":"' . 'x' x (4 << 20) . '"}';
for my $path ('/v1/exec', '/v1/exec/programmatic') {
	@all = map { begin($path, $exec . $pad) } 1 .. 12;
	my @r = answers(20 * $slack, @all);
	is((grep { $_->{status} == 401 } @r), 12, "$path: large bodies without a key");
	like($r[0]{json}{error}, qr/^Authentication is required: .*X-API-Key/,
	    '... are told where it belongs');
}
cmp_ok(memory() - $before, '<', (8 << 10) + $kept, '... and take no memory');

# Just as large as is searched, and one byte more.
my $key = qq($exec,"api_key":"$s->{key}{alice}","x":");
for ([65536, 400], [65537, 401]) {
	my ($n, $status) = @$_;
	my ($r) = answers(10, begin('/v1/exec',
	    $key . 'x' x ($n - 2 - length $key) . '"}'));
	is($r->{status}, $status, "a key in a body of $n bytes: $status");
}
for ('{"api_key":', '[]', '{"api_key":1}', '{"api_key":" "}', '', '{"api_key":"\u0000"}') {
	my ($r) = answers(10, begin('/v1/exec', $_));
	is($r->{status}, 401, "no key in a body of $_");
}

# Large requests of one user: a third of the memory is left to others.
my $large = $exec . ',"x":[' . join(',', ('{}') x 20_000) . ']}';
@all = map { begin('/v1/exec', $large, "X-API-Key: $s->{key}{alice}") } 1 .. 16;
my @r = answers(30 * $slack, @all);
is((grep { $_->{status} == 400 || $_->{status} == 429 } @r), 16,
    'large bodies of one user at once are read in turn, or sent away');
cmp_ok((grep { $_->{status} == 400 } @r), '>=', 5,
    '... as many at once as fit, and two more');
cmp_ok(memory() - $before, '<', (32 << 10) + $kept, 'the memory is given back');

$s->done;
done_testing();
