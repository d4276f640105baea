#!/usr/bin/perl

# The protocol's extension "calls": what a program asks its caller to do.

use strict;
use warnings;
use Test::More;
use Time::HiRes qw(time);
use Sandbox;

my $s = Sandbox->new;
my $id = $s->session;
my ($a, $r);

ok((grep { $_ eq 'calls' } @{$s->get('/health')->{json}{extensions}}),
    'health announces it');

# Python that asks for each of ${texts}, as a program's harness would.
sub asking {
	my ($then, @texts) = @_;
	return "import os, sys, struct, time\ndef put(b):\n"
	    . "    b = struct.pack('>I', len(b)) + b\n"
	    . "    while b: b = b[os.write(3, b):]\n"
	    . join('', map { "put($_)\n" } @texts) . "$then\n";
}
my $end = "put(b'')\ntime.sleep(60)";

$a = $s->run($id, 'py', asking($end, q(b'{"id":"1","input":{"n":1}}'),
    q(b'{ "id" : "2" }')), calls => {});
is_deeply($a->{calls}, { pending => [{ id => '1', input => { n => 1 } },
    { id => '2' }], error => undef }, 'a batch, ended by an empty one');
is("$a->{run}{ended} $a->{content}{return_code}", 'calls 0',
    'which ends the program');
is($a->{run}{note}, undef, 'without a note');
my $odd = '{"n":123456789012345678901234567890,"x":1.50,"s":"\u00e9\/"}';
isnt(index($s->run_request($id, 'py', asking($end, "br'$odd'"), calls => {})
    ->{body}, $odd), -1, 'they are told as they were written');
$a = $s->run($id, 'py', asking("print('x' * 3000000, file=sys.stderr)\n"
    . 'print("seen", flush=True)' . "\n$end", q(b'{"id":"1"}')), calls => {});
is($a->{content}{stdout}, "seen\n", 'what it printed is told too');
is(scalar @{$a->{calls}{pending}}, 1, 'and has no bearing on its calls');

# Who cannot tell that a call is the last.
my $began = time;
$a = $s->run($id, 'bash', <<'SH', calls => { settle_ms => 300 });
ask() {
	local text="$1" n=${#1}
	printf "\\x$(printf %02x $((n >> 24)))\\x$(printf %02x $((n >> 16 & 255)))$(
	    )\\x$(printf %02x $((n >> 8 & 255)))\\x$(printf %02x $((n & 255)))%s" \
	    "$text" >&3
	sleep 60
}
ask '{"id":"a"}' & (sleep 0.1; ask '{"id":"b"}') &
wait
SH
is_deeply([sort map { $_->{id} } @{$a->{calls}{pending}}], ['a', 'b'],
    'two at once from bash, without an end');
is($a->{run}{ended}, 'calls', 'it is ended once it has settled');
cmp_ok(time - $began, '<', 30, 'long before it would have');

# What is asked for and what is not.
$a = $s->run($id, 'py', 'print(1)', calls => {});
is_deeply($a->{calls}, { pending => [], error => undef }, 'nothing asked');
is("$a->{run}{ended} $a->{content}{stdout}", "exit 1\n", 'it ran to its end');
$a = $s->run($id, 'py', asking('sys.exit(3)', q(b'{"id":1}')), calls => {});
is_deeply($a->{calls}{pending}, [{ id => 1 }], 'it ends by itself');
is("$a->{run}{ended} $a->{content}{return_code}", 'exit 3', 'with its code');
$a = $s->run($id, 'py', asking('os.close(3); time.sleep(0.2); print("on")',
    q(b'{"id":1}')), calls => { settle_ms => 10000 });
is("$a->{run}{ended} $a->{content}{stdout}", "exit on\n",
    'it closes the descriptor and goes on');
ok(!exists $s->run($id, 'py', '1')->{calls}, 'no calls unless they are wanted');
like($s->run($id, 'py', asking('', "b'{}'"))->{content}{stderr},
    qr/Bad file descriptor/, 'nor a descriptor');
$a = $s->run($id, 'c', <<'C', calls => {}, compile_timeout_seconds => 60);
#include <unistd.h>
int main(void) { write(3, "\0\0\0\2{}", 6); write(3, "\0\0\0\0", 4); pause(); }
C
is_deeply($a->{calls}{pending}, [{}], 'from a program that is compiled');
$a = $s->run($id, 'py', asking('time.sleep(60)', q(b'{"id":1}')), timeout => 1,
    calls => { settle_ms => 10000 });
is("$a->{run}{ended} $a->{content}{return_code}", 'timeout 124',
    'its time is up before');

# What is no batch.
for my $row (['a text', 'put(b\'"a"\')', qr/no JSON object/],
    ['a list', "put(b'[]')", qr/no JSON object/],
    ['no JSON', "put(b'{')", qr/no JSON object/],
    ['two values', "put(b'{}{}')", qr/no JSON object/],
    ['no UTF-8', 'put(b\'{"a":"\xff"}\')', qr/no JSON object/],
    ['nested deep', 'put(b\'{"a":\' * 65 + b"1" + b"}" * 65)',
	qr/no JSON object/],
    ['more than 1 MiB', 'put(b\'{"a":"\' + b"x" * 1048576 + b\'"}\')',
	qr/longer than 1 MiB/],
    ['an absurd length', 'os.write(3, b"\xff" * 4)', qr/longer than 1 MiB/],
    ['more than 1000', 'put(b"{}")' . "\n" . 'for i in range(1000): put(b"{}")',
	qr/more than 1000/],
    ['more than 10 MiB', 'for i in range(11): put(b\'{"a":"\' + b"x" * 1000000'
	. ' + b\'"}\')', qr/longer than 10 MiB/],
    ['cut', 'os.write(3, b"\0\0\0\x09{}"); sys.exit(0)', qr/not whole/],
    ['a head cut', 'os.write(3, b"\0\0"); sys.exit(0)', qr/not whole/]) {
	my ($what, $code, $said) = @$row;
	$a = $s->run($id, 'py', asking("$code\n$end"), calls => {});
	is_deeply($a->{calls}{pending}, [], "$what: no calls");
	like($a->{calls}{error}, $said, '... and why');
}
is($s->bash($id, 'echo ok')->{stdout}, "ok\n", 'the session lives');

for my $bad ('[]', '1', '"a"', '{"settle_ms":0}', '{"settle_ms":10001}',
    '{"settle_ms":"1"}') {
	$r = $s->post("/sessions/$id/exec", body => '{"tool":'
	    . '"run_code_execution","input":{"language":"py","source":"1",'
	    . "\"calls\":$bad}}");
	is($r->{status}, 422, "calls $bad");
	like($r->{json}{detail}, qr/calls/, '... and it says which');
}

# --- the gateway's client of it ---

my $build = $ENV{SATCHEL_BUILD} // 'build';
sub client {
	open my $fh, '-|', "$build/t/tool/program", @_ or die "program: $!";
	local $/;
	return scalar <$fh>;
}
my @to = ("http://127.0.0.1:$s->{port}", 'py');
like(client('-c', @to, asking($end, q(b'{"id":"1","n":1.0}'), q(b'{}'))),
    qr/^code 0\nend 6 .*\ncall \{"id":"1","n":1\.0\}\ncall \{\}\n\z/m,
    'calls reach it');
like(client('-c', @to, asking($end, q(b'7'))),
    qr/^broken a call is no JSON object\n\z/m, 'or why they do not');

$s->done;
done_testing();
