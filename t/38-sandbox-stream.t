#!/usr/bin/perl

# The protocol's extension "stream": output as it comes, and the same answer.

use strict;
use warnings;
use Test::More;
use IO::Select;
use Time::HiRes qw(sleep time);
use Sandbox;

my $s = Sandbox->new;
my $id = $s->session;
my (@e, $a, $r);

ok((grep { $_ eq 'stream' } @{$s->get('/health')->{json}{extensions}}),
    'health announces it');

# Ask for a stream; what reads its events one by one.
sub begin {
	my ($session, $tool, $input, %more) = @_;
	my $body = JSON::PP->new->utf8->encode({ tool => $tool, input => $input,
	    stream => JSON::PP::true, %more });
	my $sock = $s->sock;
	print $sock "POST /sessions/$session/exec HTTP/1.1\r\nHost: x\r\n"
	    . "Connection: close\r\nContent-Length: " . length($body)
	    . "\r\n\r\n$body";
	$sock->flush;
	return { sock => $sock, text => '' };
}

# Read more of it; false at its end.
sub more {
	my ($st) = @_;
	IO::Select->new($st->{sock})->can_read(30) or die 'nothing for 30 s';
	return sysread $st->{sock}, $st->{text}, 65536, length $st->{text};
}

sub head {
	my ($st) = @_;
	my $end;
	until (($end = index $st->{text}, "\r\n\r\n") >= 0) {
		more($st) or die "no head: $st->{text}";
	}
	$st->{head} = substr $st->{text}, 0, $end + 4, '';
	$st->{chunked} = $st->{head} =~ /^transfer-encoding: chunked/mi;
	return $st->{head};
}

# Take what has come out of its chunks.
sub unchunk {
	my ($st) = @_;
	return $st->{plain} = $st->{text} if !$st->{chunked};
	while ($st->{text} =~ /\A([0-9a-f]+)\r\n/i
	    && length $st->{text} >= $+[0] + hex($1) + 2) {
		$st->{plain} .= substr $st->{text}, $+[0], hex $1;
		substr $st->{text}, 0, $+[0] + hex($1) + 2, '';
	}
	return;
}

# The next event: [name, data]; nothing at the end.
sub event {
	my ($st) = @_;
	head($st) if !$st->{head};
	$st->{plain} //= '';
	while (1) {
		unchunk($st);
		if ($st->{plain} =~ s/\A(?:event: (\w+)\n)((?:data: .*\n)+)\n//) {
			my ($name, $data) = ($1, $2);
			$data =~ s/^data: //mg;
			return [$name, JSON::PP->new->utf8->decode($data)];
		}
		more($st) or return;
	}
}

sub events {
	my ($st) = @_;
	my @all;
	while (my $e = event($st)) {
		push @all, $e;
	}
	return @all;
}

sub text_of {
	my ($name, @events) = @_;
	return join '', map { $_->[1]{text} } grep { $_->[0] eq $name } @events;
}

# --- output as it comes ---

# Each waits for a process that is killed from outside.
my %wait = (bash => ['bash_code_execution', { command =>
	'echo one; sleep 99 & wait $!; echo two >&2; exit 3' }],
    python => ['code_execution', { code => "import subprocess, sys\n"
	. "print('one')\nsubprocess.run(['sleep', '99'])\n"
	. "print('two', file=sys.stderr)\nsys.exit(3)" }],
    run => ['run_code_execution', { language => 'c',
	compile_timeout_seconds => 60, source => <<'C' }]);
#include <stdio.h>
#include <stdlib.h>
int main(void) {
	puts("one"); fflush(stdout);
	(void)!system("exec sleep 99");
	fputs("two\n", stderr);
	return 3;
}
C
sub sleepers {
	my ($session) = @_;
	return grep { Satchel::_slurp("/proc/$_/cmdline") =~ /^sleep\0/ }
	    $s->inside($session);
}
for my $kind (sort keys %wait) {
	my $own = $s->session;
	my $st = begin($own, @{$wait{$kind}}, tool_use_id => 'toolu_x',
	    timeout_seconds => 60);
	like(head($st), qr{^HTTP/1\.1 200 .*^Content-Type: text/event-stream\r$}msi,
	    "$kind: a stream of events");
	is_deeply(event($st), ['stdout', { text => "one\n" }],
	    "$kind: output is sent while the program waits");
	my @pids;
	until (@pids = sleepers($own)) { sleep 0.02 }
	kill 'TERM', @pids;
	@e = events($st);
	is_deeply($e[0], ['stderr', { text => "two\n" }], "$kind: and the rest");
	is(scalar @e, 2, "$kind: then the result");
	is($e[1][0], 'result', "$kind: by its name");
	my $c = $e[1][1]{result_block}{content};
	is("$e[1][1]{tool_use_id} $c->{stdout}$c->{stderr}$c->{return_code}",
	    "toolu_x one\ntwo\n3", "$kind: which is the usual answer");
}

# --- the same object ---

for my $q (['bash_code_execution', { command => 'echo a; echo b >&2; >f' }],
    ['bash_code_execution', { command => 'true' }],
    ['text_editor_code_execution', { command => 'view', path => 'f' }],
    ['run_code_execution', { language => 'py', source => "print(1)" },
	manifest => {}],
    ['run_code_execution', { language => 'c', source => 'x' }],
    ['run_code_execution', { language => 'py', calls => {},
	source => 'import os; os.write(3, b"\0\0\0\4{\r\n}")' }]) {
	my ($tool, $input, %more) = @$q;
	my $plain = $s->exec($id, $tool, $input, %more, tool_use_id => 'x');
	@e = events(begin($id, $tool, $input, %more, tool_use_id => 'x'));
	my $last = pop @e;
	for ($plain->{json}, $last->[1]) {
		$_->{execution_time_ms} = 0;
	}
	is_deeply($last, ['result', $plain->{json}],
	    "$tool: the result is the answer without a stream");
	is(text_of('stdout', @e) . text_of('stderr', @e),
	    $plain->{json}{result_block}{content}{stdout}
	    . $plain->{json}{result_block}{content}{stderr},
	    '... and the deltas add up to its output');
}

# --- odd output ---

@e = events(begin($id, 'code_execution', { code => <<'PY' }));
import os, time
for b in '\u20ac\U0001f600x\u00e9'.encode():
    os.write(1, bytes([b])); time.sleep(0.03)
os.write(1, b'\xff\xe2\x82'); time.sleep(0.05); os.write(1, b'z\0\r\n')
os.write(2, b'\xf0\x9f')
PY
is(text_of('stdout', @e), "\x{20ac}\x{1f600}x\x{e9}\x{fffd}\x{fffd}\x{fffd}z\0\r\n",
    'characters are never cut, whatever is none is marked');
is(text_of('stderr', @e), "\x{fffd}\x{fffd}", 'to the very end');
is($e[-1][1]{result_block}{content}{stdout}, text_of('stdout', @e),
    'as in the result');
@e = events(begin($id, 'bash_code_execution', { command =>
    'yes 1234567 | head -c 3000000; echo end >&2' }));
is(text_of('stdout', @e), $e[-1][1]{result_block}{content}{stdout},
    'a flood: the deltas are the result, whose middle is missing');
is(text_of('stderr', @e), "end\n", 'the other stream is whole');
is($e[-1][1]{result_block}{content}{stdout}, "1234567\n" x 65536
    . "\n[... " . (3000000 - (1 << 20)) . " bytes left out ...]\n"
    . "1234567\n" x 65536, '... and counted');
@e = events(begin($id, 'bash_code_execution', { command => 'echo a; sleep 60' },
    timeout_seconds => 1));
is_deeply($e[0], ['stdout', { text => "a\n" }], 'a run that takes too long');
is($e[-1][1]{result_block}{content}{return_code}, 124, 'ends as usual');

# A client that does not read does not stop the clock.
my $slow = begin($id, 'bash_code_execution', { command =>
    'echo begun; sleep 0.3; yes | head -c 900000; sleep 88' },
    timeout_seconds => 2);
sleep 4;
ok(!sleepers($id), 'a client that does not read gains no time');
@e = events($slow);
is(length text_of('stdout', @e), 900006, 'nor does it lose anything');

# --- errors ---

for my $bad ('1', '"true"', '[]') {
	$r = $s->post("/sessions/$id/exec", body =>
	    "{\"tool\":\"bash_code_execution\",\"input\":{\"command\":\"x\"},"
	    . "\"stream\":$bad}");
	is($r->{status}, 422, "stream $bad");
}
like(head(begin('sbx_00nosuchsession0000000', 'bash_code_execution',
    { command => 'x' })), qr{^HTTP/1\.1 404 }, 'unknown session: no stream');
like(head(begin($id, 'bash_code_execution', {})), qr{^HTTP/1\.1 422 },
    'bad input: no stream');
my $doomed = $s->session;
my $st = begin($doomed, 'bash_code_execution',
    { command => 'echo a; sleep 60' });
is_deeply(event($st), ['stdout', { text => "a\n" }], 'a session');
$s->del("/sessions/$doomed");
@e = events($st);
is("$e[-1][0] $e[-1][1]{code}", 'error not_found',
    'destroyed meanwhile: the last event says so');

# --- a client that leaves ---

$st = begin($id, 'bash_code_execution', { command => 'echo a; sleep 77' },
    timeout_seconds => 60);
event($st);
close $st->{sock};
my $left = time;
my $gone = 0;
until ($gone || time > $left + 10) {
	$gone = !sleepers($id);
	sleep 0.02;
}
ok($gone, 'its processes end');
diag(sprintf 'after %.3f s', time - $left);
is($s->bash($id, 'echo ok')->{stdout}, "ok\n", 'the session stays');

$s->done;
done_testing();
