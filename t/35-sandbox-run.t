#!/usr/bin/perl

# The protocol's extensions "run" and "manifest".

use strict;
use warnings;
use Test::More;
use Digest::SHA qw(sha256_hex);
use Time::HiRes qw(sleep time);
use Sandbox;

my $s = Sandbox->new;
my ($a, $c, $r);

$r = $s->get('/health');
my %has = map { $_ => 1 } @{$r->{json}{extensions}};
ok($has{run} && $has{manifest}, 'health announces both');

# --- run ---

my $id = $s->session;
$a = $s->run($id, 'py', "print('hi')", tool_use_id => 'toolu_9');
is($a->{tool_use_id}, 'toolu_9', 'tool_use_id is echoed');
is($a->{result_block}{type}, 'run_code_execution_tool_result', 'its type');
is($a->{content}{type}, 'code_execution_result', 'the common content');
is_deeply($a->{run}, { stage => 'run', ended => 'exit', signal => undef,
    note => undef, stdout_dropped_bytes => 0, stderr_dropped_bytes => 0 },
    'how it ended');
ok(!exists $a->{manifest}, 'no manifest unless asked for');

$s->python($id, 'x = 1');
like($s->run($id, 'py', 'print(x)')->{content}{stderr}, qr/NameError/,
    'it is a process of its own');
is($s->python($id, 'print(x)')->{stdout}, "1\n", 'and spares the interpreter');
$c = $s->run($id, 'bash', "pwd; echo hello >out.txt; ls -A")->{content};
is($c->{stdout}, "/mnt/data\nout.txt\n", 'it runs in the workspace, which'
    . ' does not hold its source');
is_deeply($c->{files}, ['out.txt'], 'what it writes is told');
is($s->bash($id, 'ls /tmp')->{stdout}, '', 'nothing of it stays in /tmp');

$c = $s->run($id, 'py', <<'PY', args => ['', "a\nb", "\x{e9}", '-v'])->{content};
import sys
print(ascii(sys.argv[1:]))
PY
is($c->{stdout}, "['', 'a\\nb', '\\xe9', '-v']\n", 'arguments as they are');
$c = $s->run($id, 'bash', 'echo "$LANG $FOO $(ls /proc/self/fd | wc -l)"',
    env => { LANG => 'C', FOO => 'b=r' })->{content};
is($c->{stdout}, "C b=r 4\n", 'the environment, and no other descriptor');
is($s->run($id, 'py', "# \x{20ac}\nprint(\"\"\"a\n  b\"\"\")")->{content}{stdout},
    "a\n  b\n", 'a source is run as it is');

# A directory that an earlier program has made hard to remove.
$s->bash($id, 'mkdir -p /tmp/program/a/b; echo x >/tmp/program/a/b/c;'
    . ' chmod 0 /tmp/program/a; ln -s /mnt/data /tmp/program/link');
is($s->run($id, 'c', "#include <stdio.h>\nint main(void){puts(\"ok\");}")
    ->{content}{stdout}, "ok\n", 'what lies in the way of the source');
is($s->bash($id, 'ls')->{stdout}, "out.txt\n", 'no link was followed');
$s->bash($id, 'rm -rf /tmp/program*; ln -s /mnt/data /tmp/program');
is($s->run($id, 'bash', 'echo ok')->{content}{stdout}, "ok\n",
    'a link in its place');
is($s->bash($id, 'ls')->{stdout}, "out.txt\n", 'neither');

# --- limits ---

$a = $s->run($id, 'bash', 'echo begun; sleep 60', timeout => 1);
is("$a->{content}{return_code} $a->{run}{ended} $a->{content}{stdout}",
    "124 timeout begun\n", 'the time limit');
is($a->{content}{stderr}, '', 'the program alone writes to stderr');
is($a->{run}{note}, "sandbox: wall limit of 1 s reached; files were kept\n",
    'the note says what happened');
$a = $s->run($id, 'cpp', "#include \"/dev/zero\"\nint main(){}", timeout => 60,
    compile_timeout_seconds => 1, memory_bytes => 512 << 20);
is("$a->{run}{stage} $a->{content}{return_code}",
    "compile $a->{content}{return_code}", 'a compiler that does not end');
like($a->{run}{ended}, qr/^(?:timeout|exit|signal|memory)$/, 'is ended');
isnt($a->{content}{return_code}, 0, 'which is a failure');
$a = $s->run($id, 'c', <<'C', timeout => 1, compile_timeout_seconds => 30);
#include <unistd.h>
int main(void) { pause(); }
C
is("$a->{run}{stage} $a->{run}{ended}", 'run timeout',
    'each stage has its own time');
$a = $s->run($id, 'py', "x = bytearray(200 << 20)", memory_bytes => 64 << 20);
like($a->{content}{stderr} . ($a->{run}{note} // ''),
    qr/MemoryError|memory limit of 64 MiB/, 'less memory than the session');
$a = $s->run($id, 'bash', <<'SH', memory_bytes => 64 << 20, timeout => 60);
for i in 1 2 3 4; do
	python3 -c 'import time; x = bytearray(b"1") * (30 << 20); time.sleep(30)' &
done
wait
SH
is("$a->{content}{return_code} $a->{run}{ended}", '137 memory',
    'of all its processes together');
is($a->{run}{note}, "sandbox: memory limit of 64 MiB reached; files were kept\n",
    'with its note');
$a = $s->run($id, 'bash', 'kill -SEGV $$');
is("$a->{content}{return_code} $a->{run}{ended} $a->{run}{signal}",
    '139 signal 11', 'a signal');
$a = $s->run($id, 'bash', 'printf 0123456789; printf abc >&2',
    output_bytes => 4);
is($a->{content}{stdout}, "01\n[... 6 bytes left out ...]\n89",
    'less output is kept');
is($a->{run}{stdout_dropped_bytes}, 6, 'and the rest counted');
is($a->{content}{stderr}, 'abc', 'each stream for itself');
is($s->bash($id, 'echo ok')->{stdout}, "ok\n", 'the session lives');

# --- manifest ---

sub input { return { path => $_[0], sha256 => sha256_hex($_[1]),
    $_[2] ? (read_only => JSON::PP::true) : () } }
sub line {
	my ($path, $state, $bytes) = @_;
	return { path => $path, state => $state } if !defined $bytes;
	return { path => $path, state => $state, size_bytes => length $bytes,
	    sha256 => sha256_hex($bytes) };
}

$id = $s->session;
$s->put($id, $_, $_) for qw(same.txt sub/changed.txt gone.txt read.txt
    read-changed.txt touched.txt plain.txt);
my @inputs = (input('same.txt', 'same.txt'),
    input('/mnt/data/sub/changed.txt', 'sub/changed.txt'),
    input('gone.txt', 'gone.txt'), input('./read.txt', 'read.txt', 1),
    input('read-changed.txt', 'read-changed.txt', 1),
    input('touched.txt', 'touched.txt'));
$a = $s->run($id, 'py', <<'PY', manifest => \@inputs);
import os
os.chmod('sub/changed.txt', 0o600)
open('sub/changed.txt', 'w').write('other')
os.unlink('gone.txt')
open('touched.txt', 'w').write('touched.txt')
try:
    open('read.txt', 'a')
except PermissionError:
    print('cannot write')
os.rename('read-changed.txt', 'moved.txt')
open('read-changed.txt', 'w').write('mine')
os.makedirs('new/dir'); open('new/dir/file.bin', 'wb').write(bytes(300))
open('empty', 'w')
open('plain.txt', 'a').write('+')
os.symlink('/etc/passwd', 'link'); open('.hidden', 'w').write('x')
PY
is($a->{content}{stdout}, "cannot write\n", 'a read-only input');
is_deeply($a->{files}, [line('empty', 'new', ''), line('gone.txt', 'deleted'),
    line('moved.txt', 'new', 'read-changed.txt'),
    line('new/dir/file.bin', 'new', "\0" x 300),
    line('plain.txt', 'changed', 'plain.txt+'),
    line('read-changed.txt', 'changed', 'mine'),
    line('sub/changed.txt', 'changed', 'other')],
    'new, changed and deleted files by content, in order');
is_deeply($a->{manifest}{truncated}, JSON::PP::false, 'all of them');
is_deeply($a->{content}{files}, [map { $_->{path} }
    grep { $_->{state} ne 'deleted' } @{$a->{files}}],
    'and the content lists the same');
$a = $s->run($id, 'bash', ':', manifest => [input('sub/changed.txt', 'was')]);
is_deeply($a->{files}, [line('sub/changed.txt', 'changed', 'other')],
    'an input is judged by its hash, whoever changed it');
$a = $s->run($id, 'bash', 'printf x >sub/changed.txt; touch -d @1 same.txt;'
    . ' rm -r new', manifest => []);
is_deeply($a->{files}, [line('new/dir/file.bin', 'deleted'),
    line('same.txt', 'changed', 'same.txt'), line('sub/changed.txt',
    'changed', 'x')], 'other files are, by their time');
$a = $s->exec($id, 'bash_code_execution', { command => 'echo 1 >by-bash' },
    manifest => { inputs => [input('same.txt', 'same.txt')] });
is_deeply($a->{json}{manifest}{files}, [line('by-bash', 'new', "1\n")],
    'with the other tools too');
$a = $s->run($id, 'py', "open('a\\nb', 'w').write('1')", manifest => []);
is_deeply($a->{files}, [line('a%0Ab', 'new', '1')], 'an odd name, escaped');
$a = $s->run($id, 'bash', 'rm a*', manifest => [input('a%0Ab', '1')]);
is_deeply($a->{files}, [line('a%0Ab', 'deleted')],
    'and known by that name');

$a = $s->run($id, 'bash', 'mkdir many; cd many;'
    . ' for i in {1..10050}; do : >$i; done', manifest => [], timeout => 60);
is($a->{manifest}{truncated}, JSON::PP::true, 'more files than are told');
cmp_ok(scalar @{$a->{files}}, '<=', 10000, 'up to the bound');
cmp_ok(scalar @{$a->{files}}, '>', 9000, 'and not less');
$s->bash($id, 'rm -rf many');
$a = $s->run($id, 'bash', 'truncate -s 200M s1; cp --sparse=always'
    . ' s1 s2; cp --sparse=always s1 s3', manifest => [], timeout => 60);
my ($hashed) = grep { $_->{path} eq 's1' } @{$a->{files}};
my ($not) = grep { $_->{path} eq 's3' } @{$a->{files}};
is($hashed->{sha256}, sha256_hex("\0" x (200 << 20)), 'large files are hashed');
ok(exists $not->{sha256} && !defined $not->{sha256}
    && $not->{size_bytes} == 200 << 20,
    'but no more bytes than a workspace has');

# --- what makes no sense ---

$id = $s->session;
my $url = "/sessions/$id/exec";
my $good = '"language":"py","source":"1"';
my $hash = '0' x 64;
my @refused = (
	['no language', '{"source":"1"}', qr/language/],
	['language of another type', '{"language":1,"source":"1"}',
	    qr/language/],
	['unknown language', '{"language":"cobol","source":"1"}', qr/cobol/],
	['no source', '{"language":"py"}', qr/source/],
	['source empty', '{"language":"py","source":""}', qr/source/],
	['source with NUL', '{"language":"py","source":"\u0000"}', qr/NUL/],
	['source of 1 MiB and a byte',
	    '{"language":"py","source":"' . '#' x ((1 << 20) + 1) . '"}',
	    qr/1 MiB/],
	map({ ["args $_", "{$good,\"args\":$_}", qr/args/] } '"a"', '[1]',
	    '["a\u0000"]', '[null]', '{}', '[' . join(',', ('""') x 513) . ']',
	    '["' . 'a' x 100001 . '"]'),
	map({ ["env $_", "{$good,\"env\":$_}", qr/env/] } '[]', '{"A":1}',
	    '{"":"a"}', '{"A=B":"c"}', '{"1A":"c"}', '{"A":"\u0000"}',
	    '{"A":"' . 'a' x 100001 . '"}'),
	map({ my $key = $_; map { ["$key $_", "{$good,\"$key\":$_}", qr/$key/] }
	    '0', '-1', '"1"', '1.5', 'true' } qw(compile_timeout_seconds
	    memory_bytes output_bytes)),
	['memory_bytes of 1 MiB', "{$good,\"memory_bytes\":1048576}",
	    qr/8388608/],
);
for (@refused) {
	my ($what, $input, $said) = @$_;
	$what = substr($what, 0, 60);
	$r = $s->post($url, body =>
	    "{\"tool\":\"run_code_execution\",\"input\":$input}");
	is($r->{status}, 422, $what);
	like($r->{json}{detail}, $said, '... and it says which');
}
my @manifests = ('[]', '"a"', '{"inputs":{}}', '{"inputs":[1]}',
	'{"inputs":[{"path":"a"}]}', "{\"inputs\":[{\"sha256\":\"$hash\"}]}",
	"{\"inputs\":[{\"path\":\"\",\"sha256\":\"$hash\"}]}",
	"{\"inputs\":[{\"path\":\"a\\u0000\",\"sha256\":\"$hash\"}]}",
	'{"inputs":[{"path":"a","sha256":"abc"}]}',
	'{"inputs":[{"path":"a","sha256":"' . 'G' x 64 . '"}]}',
	"{\"inputs\":[{\"path\":\"a\",\"sha256\":\"$hash\",\"read_only\":1}]}",
	"{\"inputs\":[{\"path\":\"none\",\"sha256\":\"$hash\"}]}",
	"{\"inputs\":[{\"path\":\"../a\",\"sha256\":\"$hash\"}]}",
	"{\"inputs\":[{\"path\":\"/etc/passwd\",\"sha256\":\"$hash\"}]}",
	"{\"inputs\":[{\"path\":\"dir\",\"sha256\":\"$hash\"}]}",
	"{\"inputs\":[{\"path\":\"link\",\"sha256\":\"$hash\"}]}",
	"{\"inputs\":[{\"path\":\"f\",\"sha256\":\"$hash\"},"
	    . "{\"path\":\"./f\",\"sha256\":\"$hash\"}]}");
$s->bash($id, 'mkdir dir; ln -s /etc/passwd link; echo 1 >f');
for (@manifests) {
	$r = $s->post($url, body => '{"tool":"bash_code_execution","input":'
	    . "{\"command\":\"echo ran >ran\"},\"manifest\":$_}");
	is($r->{status}, 422, 'manifest ' . substr($_, 0, 90));
	like($r->{json}{detail}, qr/manifest/, '... and it says so');
}
is($s->bash($id, 'ls')->{stdout}, "dir\nf\nlink\n", 'nothing of it was run');
is($s->run_request('sbx_00nosuchsession0000000', 'py', '1')->{status}, 404,
    'unknown session');
$s->bash($id, 'head -c 70000000 /dev/zero >/tmp/full');
$r = $s->run_request($id, 'py', '#' x 100000);
is("$r->{status} $r->{json}{code}", '413 too_large', 'no room for the source');
$s->bash($id, 'rm /tmp/full');
is($s->run($id, 'py', 'print(1)')->{content}{stdout}, "1\n", 'until there is');

# --- a client that leaves ---

sub runs {
	my ($what) = @_;
	return scalar grep { Satchel::_slurp("/proc/$_/cmdline") =~ $what }
	    $s->inside($id);
}
my $body = JSON::PP->new->encode({ tool => 'run_code_execution',
    input => { language => 'bash', source => 'sleep 77 & sleep 78' },
    timeout_seconds => 90 });
my $sock = $s->sock;
print $sock "POST $url HTTP/1.1\r\nHost: x\r\nContent-Length: "
    . length($body) . "\r\n\r\n$body";
$sock->flush;
my $until = time + 10;
sleep 0.02 until runs(qr/sleep\x0078/) || time > $until;
ok(runs(qr/sleep\x0078/), 'a run has begun');
close $sock;
$until = time + 5;
sleep 0.02 until !runs(qr/sleep/) || time > $until;
is(runs(qr/sleep/), 0, 'its client leaves: its processes end');
is($s->bash($id, 'echo ok')->{stdout}, "ok\n", 'the session stays');

# --- the gateway's client of it ---

sub client {
	my $build = $ENV{SATCHEL_BUILD} // 'build';
	open my $fh, '-|', "$build/t/tool/program", @_ or die "program: $!";
	local $/;
	my $text = <$fh>;
	close $fh;
	return $text;
}
sub client_bits {
	my %bit = (run => 1, manifest => 2, calls => 4, stream => 8, edit => 16);
	my $bits = 0;
	$bits |= $bit{$_} for keys %has;
	return $bits;
}
my @to = ("http://127.0.0.1:$s->{port}");
my $in = sha256_hex("in\n");
is(client('-e', 'A=b c', '-i', "in.txt=$in,r", @to, 'bash',
    'echo "$A $1"; echo no >&2; echo 1 >new; rm -f in.txt; kill $$', "x\ty"),
    <<"END", 'a run and all that it says');
extensions @{[ sprintf '%x', client_bits() ]}
rc 0
out b c x\ty

err no

code 143
end 1 signal 15 compiling 0 dropped 0 0
- in.txt 0 
+ new 2 @{[ sha256_hex("1\n") ]}
END
like(client('-i', "in.txt=$in", '-o', 3, @to, 'c', 'int main(void) { x; }'),
    qr/^rc 0\nout \nerr co\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n\n\ncode 1\nend 0 signal 0 compiling 1 dropped 0 \1\n\z/m,
    'what does not compile');
like(client(@to, 'cobol', 'x'), qr/^rc 3\nwhy input\.language: cobol /m,
    'a language that it does not run');
like(client('-i', 'none=' . '0' x 64, @to, 'bash', 'x'),
    qr/^rc 2\nwhy manifest\.inputs/m, 'an input that is not there');

$s->done;
done_testing();
