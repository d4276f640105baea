#!/usr/bin/perl

# LibreChat runs code: languages, inputs, outputs, ends, bad requests (librechat
# contract sections 6.1, 7 and 8; cases lc-all-files-each-run and
# lc-inherited-inputs; edge cases 1 to 53, 100 to 105).

use strict;
use warnings;
use utf8;
use Encode qw(encode_utf8);
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use POSIX ();
use Test::More;
use Code;
use Satchel;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);
my $code = Code->new;
# The languages that there are, without PHP's program.
my $table = "$code->{pem_dir}/languages.yml";
Satchel::_spew($table, Satchel::_slurp("$FindBin::Bin/../conf/languages.yml")
    =~ s{/usr/bin/php,}{/usr/bin/no-such-php,}r);
chmod 0644, $table;
my $s = Satchel->new(set => {'librechat.jwt.pem_dir' => $code->{pem_dir},
    'librechat.execs_per_30s' => 0, 'librechat.exec_timeout_s' => 20,
    'librechat.output_max_bytes' => 1000000});
my @u1 = $code->bearer(sub => 'u1');
my @u2 = $code->bearer(sub => 'u2');
my $id21 = qr/^[A-Za-z0-9_-]{21}$/;
my $true = JSON::PP::true;

sub exec_ { my ($who, %body) = @_;
	return $s->post('/v1/exec', @$who, json => \%body, timeout => 60) }
sub bash { my ($text, %o) = @_; return exec_(\@u1, lang => 'bash', code => $text, %o) }
sub py { my ($text, %o) = @_; return exec_(\@u1, lang => 'py', code => $text, %o) }
sub put {
	my ($who, $bytes, $name, @fields) = @_;
	@fields = ([kind => 'user']) if !@fields;
	my $r = $s->post('/v1/upload', @$who, form => [@fields,
	    ['file', $bytes, encode_utf8($name)]]);
	$r->{status} == 200 or die("upload: $r->{body}");
	return { id => $r->{json}{files}[0]{fileId}, name => $name,
	    storage_session_id => $r->{json}{storage_session_id} };
}
sub ref_ { my ($f, %o) = @_; return { %$f, kind => 'user', resource_id => 'u1', %o } }
sub bytes_of {
	my ($e, $q) = @_;
	my $r = $s->get("/v1/download/$e->{storage_session_id}/$e->{id}?"
	    . ($q // 'kind=user'), @u1);
	return $r->{status} == 200 ? $r->{body} : $r->{status};
}

# Where a file's bytes lie.
sub inode_of {
	my ($e) = @_;
	my ($key) = map { $_->[0] } $s->mysql("SELECT store_key FROM file WHERE lc_object = '$e->{id}'");
	return defined $key ? (stat "$s->{root}/" . join('/',
	    substr($key, 0, 2), substr($key, 2, 2), $key))[1] : undef;
}

# --- the simplest ---

my $r = py('print(6 * 7)');
is($r->{status}, 200, 'python') or diag $r->{body};
my $w = delete $r->{json}{wall_time};
like($w, qr/^\d+$/, '... took a time');
like(delete $r->{json}{session_id}, $id21, '... has a session');
is_deeply($r->{json}, { stdout => "42\n", stderr => '', files => [], code => 0,
    signal => undef, message => undef, status => undef }, '... and nothing else');
is(Satchel::header($r, 'X-CodeAPI-Execution-Profile'), 'default', '... the profile');
is(bash('echo hi')->{json}{stdout}, "hi\n", 'bash');
my %hello = (
	js => 'console.log("hi")', ts => 'const a: string = "hi"; console.log(a)',
	c => "#include <stdio.h>\nint main(void) { puts(\"hi\"); }",
	cpp => "#include <iostream>\nint main() { std::cout << \"hi\\n\"; }",
	java => 'class Any { public static void main(String[] a) {'
	    . ' System.out.println("hi"); } }',
	php => '<?php echo "hi\n";', rs => 'fn main() { println!("hi"); }',
	go => "package main\nimport \"fmt\"\nfunc main() { fmt.Println(\"hi\") }",
	d => 'import std.stdio; void main() { writeln("hi"); }',
	f90 => "program h\nprint '(a)', 'hi'\nend program", r => 'cat("hi\n")',
);
for (sort keys %hello) {
	$r = exec_(\@u1, lang => $_, code => $hello{$_}, timeout => 20000);
	is_deeply([@{$r->{json}}{qw(stdout code files)}], ["hi\n", 0, []], $_) or diag $r->{body};
}
$r = exec_(\@u1, lang => 'c', code => 'int main(void) { return x; }');
isnt($r->{json}{code}, 0, 'what does not compile has run');
like($r->{json}{stderr}, qr/error/, '... and says why');
is(bash("echo a\r\necho b\r\n")->{json}{stdout}, "a\nb\n", 'row 4: bash with CRLF');
is(exec_(\@u1, lang => 'Python3', code => 'print(1)')->{json}{stdout}, "1\n", 'row 2: an alias');
is(py('import os; print(os.getcwd())')->{json}{stdout}, "/mnt/data\n", 'where it runs');
is(py('import sys; print(sys.argv[1:])', args => ['--fast', 7])->{json}{stdout},
    "['--fast', '7']\n", 'arguments');
is(py('import sys; print(sys.argv[1:])', args => 'one')->{json}{stdout},
    "['one']\n", '... one');
is(py('print(1)', args => undef)->{status}, 200, '... null (row 5)');
is(py('import sys; print(repr(sys.stdin.read()))')->{json}{stdout}, "''\n",
    'row 12: standard input is empty');
is($s->post('//exec', @u1, json => { lang => 'py', code => 'print(1)' })
    ->{json}{stdout}, "1\n", 'row 101: //exec');
is($s->post('/exec/', @u1, json => { lang => 'py', code => 'print(1)' })
    ->{json}{stdout}, "1\n", 'row 101: /exec/');
$r = $s->post('/exec', as => undef, json => { lang => 'py', code => 'print(1)',
    LIBRECHAT_CODE_API_KEY => $s->{key}{alice} });
is($r->{json}{stdout}, "1\n", 'a key in the body');
is($s->post('/exec', as => undef, json => { lang => 'py', code => 'print(1)',
    api_key => 'x' })->{status}, 401, '... a wrong one');
is($s->post('/exec', as => undef, headers => ['X-API-Key' => 'x'],
    json => { lang => 'py', code => 'print(1)', api_key => $s->{key}{alice} })
    ->{status}, 401, '... the header decides (row 77)');

# --- what the program prints, and how it ends ---

is(py(q{import sys; sys.stdout.write("\x1b[1m tab\t no end")})->{json}{stdout},
    "\e[1m tab\t no end", 'text is as it was');
is(py(q{import sys; sys.stdout.buffer.write(b"a\xffb\x00c")})->{json}{stdout},
    "a\x{fffd}bc", 'row 10: broken UTF-8 and NUL');
$r = py('print("before"); 1/0');
is($r->{json}{code}, 1, 'an exception: its code');
like($r->{json}{stderr}, qr/ZeroDivisionError/, '... its text');
is($r->{json}{stdout}, "before\n", '... what came before');
is(py('exit(3)')->{json}{stderr}, "Process exited with code 3\n", 'row 6: a silent failure');
is(bash('cat /mnt/data/nope')->{json}{stderr},
    "cat: /mnt/data/nope: No such file or directory\n", 'one that speaks');
is(bash('kill -SEGV $$')->{json}{stderr}, "Killed by signal 11\n", 'a signal');
$r = py('import time; print("tick", flush=True); time.sleep(60)', timeout => 1500);
is_deeply([@{$r->{json}}{qw(stdout stderr code signal status)}],
    ["tick\n", "Time limit exceeded (2 s)\n", undef, 'SIGKILL', 'TO'],
    'row 7: the time limit');
$r = py('print("x" * 200000)');
is($r->{json}{code}, 0, 'row 9: much output does not end it');
is($r->{json}{stdout}, 'x' x 32768 . "\n[... 134465 bytes left out ...]\n"
    . 'x' x 32767 . "\n", '... and its first and last half are kept');
is(py('print("é" * 100000)')->{json}{stdout}, "\x{e9}" x 16384
    . "\n[... 134466 bytes left out ...]\n" . "\x{e9}" x 16383 . "\n",
    '... cut between characters (row 11)');
is(bash('sleep 100 & echo done')->{json}{stdout}, "done\n",
    'row 8: a background child that holds stdout');
is(bash('(sleep 1; echo late) & ')->{json}{stdout}, '', '... ends with the program');

# --- inputs ---

my $in = put(\@u1, "a,b\n", 'ventes été 2026.csv');
$r = bash('cat "ventes été 2026.csv"', files => [ref_($in)]);
is($r->{json}{stdout}, "a,b\n", 'an input');
is_deeply($r->{json}{files}, [{ id => $in->{id}, name => $in->{name},
    storage_session_id => $in->{storage_session_id},
    session_id => $in->{storage_session_id}, kind => 'user',
    resource_id => 'u1', inherited => $true }], '... echoed as inherited (row 33)');
$r = bash('cat other/name.txt', files => [ref_($in, name => 'other/name.txt')]);
is($r->{json}{stdout}, "a,b\n", 'the name is the request\'s');
is(bash('cat a', files => [{ id => $in->{id}, name => 'a',
    session_id => $in->{storage_session_id} }])->{json}{stdout}, "a,b\n",
    'row 15, row 16: an old client\'s reference');
is(bash('cat a', files => [ref_($in, name => 'a', session_id => 'x' x 21)])
    ->{json}{stdout}, "a,b\n", 'row 17: storage_session_id wins');
is(bash("cat \"it's\"", files => [ref_($in, name => "it's")])->{json}{stdout},
    "a,b\n", 'a quote in a name');
is(bash('touch a; echo -n "a,b" > b; echo >> b; mv b a',
    files => [ref_($in, name => 'a')])->{json}{files}[0]{inherited}, $true,
    'row 34, row 35: equal bytes are no change');
$r = bash('echo more >> a', files => [ref_($in, name => 'a')]);
my ($new) = @{$r->{json}{files}};
is_deeply({ %$new, id => 1 }, { id => 1, name => 'a', kind => 'user',
    resource_id => 'u1', storage_session_id => $r->{json}{session_id},
    session_id => $r->{json}{session_id}, modified_from => { id => $in->{id},
    storage_session_id => $in->{storage_session_id} } }, 'row 36: a changed input');
is(bytes_of($new), "a,b\nmore\n", '... is a new object');
is(bytes_of($in), "a,b\n", '... the old one is as it was');
$r = bash('rm a; mv b c', files => [ref_($in, name => 'a'), ref_($in, name => 'b')]);
is_deeply($r->{json}{deleted_files}, ['a', 'b'], 'row 37: deleted and renamed inputs');
is_deeply([map { $_->{name} } @{$r->{json}{files}}], ['c'], '... the new name');
$r = bash('rm a; ln -s /etc/passwd a', files => [ref_($in, name => 'a')]);
is_deeply([$r->{json}{files}, $r->{json}{deleted_files}], [[], ['a']],
    'row 39: an input made a link');

my @skill = ([kind => 'skill'], [id => 's1'], [version => '7'], [read_only => 'true']);
my $sk = put(\@u1, "# skill\n", 'pptx/SKILL.md', @skill);
my %sk = (%$sk, kind => 'skill', resource_id => 's1', version => 7);
for my $do ('true', 'chmod 644 pptx/SKILL.md; echo x > pptx/SKILL.md',
    'rm -f pptx/SKILL.md', 'rm -rf pptx/SKILL.md; mkdir pptx/SKILL.md') {
	$r = bash("cat pptx/SKILL.md; $do", files => [\%sk]);
	is($r->{json}{stdout}, "# skill\n", "row 38: a read-only skill: $do");
	is_deeply([$r->{json}{files}, $r->{json}{deleted_files}], [[{ id => $sk->{id},
	    name => 'pptx/SKILL.md', storage_session_id => $sk->{storage_session_id},
	    session_id => $sk->{storage_session_id}, kind => 'skill',
	    resource_id => 's1', version => 7, inherited => $true }], undef],
	    '... is what it was');
}
is(bytes_of(\%sk, 'kind=skill&id=s1&version=7'), "# skill\n", '... and stored so');
is(exec_(\@u2, lang => 'bash', code => 'cat pptx/SKILL.md', files => [\%sk])
    ->{json}{stdout}, "# skill\n", 'row 22: a skill is shared');

my $two = put(\@u1, 'second', 'a.txt');
my $three = put(\@u1, 'third', 'c.txt');
for my $run (1, 2) {
	$r = bash('cat a.txt c.txt "ventes été 2026.csv"',
	    files => [ref_($in), ref_($two), ref_($three)]);
	is($r->{json}{stdout}, "secondthirda,b\n", "all files in run $run");
}
$r = bash('ls; cat x.txt', files => [ref_($two, name => 'x.txt'),
    ref_($three, name => 'x.txt'), ref_($three, name => 'x.txt')]);
is($r->{json}{stdout}, 'x-' . substr($two->{id}, 0, 6) . ".txt\nx.txt\nthird",
    'row 24, row 25: two of one name: the last has it');
is(bash('cat main.py script.sh', files => [ref_($two, name => 'main.py'),
    ref_($three, name => 'script.sh')])->{json}{stdout}, 'secondthird',
    'row 29: names of our own sources');
is(bash('cat _ptc_history.json', files => [ref_($two, name => '_ptc_history.json')])
    ->{json}{stdout}, 'second', 'row 32: a name that is reserved elsewhere');
$r = bash("ls -1 | tr '\\n' ' '", files => [map { ref_($two, name => $_) }
    'sp ace', '"q"', '😀', "e\x{301}", 'é']);
is($r->{json}{stdout}, join('', map { "$_ " } sort { encode_utf8($a) cmp encode_utf8($b) }
    '"q"', "e\x{301}", 'sp ace', 'é', '😀'), 'row 30: odd names stay as they are');

# --- outputs ---

$r = py(q{
import os
os.makedirs('out/deep'); os.makedirs('.git'); os.makedirs('__pycache__')
os.makedirs('empty')
for n in ['b.txt', 'a.txt', 'out/deep/x.png', 'Makefile', 'run.sh', 'no ext',
    '.hidden', '.git/x', '__pycache__/y']:
	open(n, 'w').write('of ' + n)
open('zero', 'w')
os.symlink('/etc/passwd', 'link'); os.mkfifo('pipe'); os.link('b.txt', 'hard')
open('/tmp/gone', 'w').write('x')
});
my %out = map { $_->{name} => $_ } @{$r->{json}{files}};
is_deeply([map { $_->{name} } @{$r->{json}{files}}], ['Makefile', 'a.txt', 'b.txt',
    'hard', 'no ext', 'out/deep/x.png', 'run.sh', 'zero'],
    'row 40, row 48, row 49: files, by path; no caches, links or pipes') or diag $r->{body};
is(bytes_of($out{'out/deep/x.png'}), 'of out/deep/x.png', '... with their bytes');
is(bytes_of($out{zero}), '', '... one of none (row 44)');
is(bytes_of($out{hard}), 'of b.txt', '... a second name (row 41)');
is(inode_of($out{hard}), inode_of($out{'b.txt'}), '... whose bytes are stored once');
isnt(inode_of($out{'a.txt'}), inode_of($out{'b.txt'}), '... as others are not');
my $seed = put(\@u1, 'seed bytes', 'seed.txt');
my ($link) = grep { $_->{name} eq 'link' }
    @{bash('ln seed.txt link', files => [ref_($seed)])->{json}{files}};
isnt($link->{id}, $seed->{id}, 'a second name of an input is a file of its own (row 41)');
is($link->{inherited}, undef, '... not inherited');
is(inode_of($link), inode_of($seed), '... whose bytes are stored once');
is($s->del("/v1/files/$seed->{storage_session_id}/$seed->{id}?kind=user", @u1)->{status},
    200, '... the input being deleted');
is($s->sweep('-s', 'files.grace_seconds=0')->{exit}, 0, '... and swept');
is(inode_of($seed), undef, '... so that its bytes have gone');
is(bytes_of($link), 'seed bytes', '... it is there');
is_deeply([map { exists $_->{inherited} ? 1 : 0 } values %out], [(0) x 8],
    '... none of them inherited');
my $show = py("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()");
is_deeply([map { $_->{name} } @{$show->{json}{files}}], ['plot_1.png'],
    'a plot that is shown (section 7)') or diag $show->{body};
like(bytes_of($show->{json}{files}[0]), qr/\A\x89PNG\r\n/, '... as an image');
$r = bash('cat hello.py', files => [ref_($out{'a.txt'}, name => 'hello.py')]);
is($r->{json}{stdout}, 'of a.txt', 'an output is an input of the next run');

sub commits_of {
	my ($files) = @_;
	my $count = sub { return ($s->mysql(q{SELECT count FROM
	    information_schema.innodb_metrics WHERE name = 'trx_rw_commits'}))[0][0] };
	my $before = $count->();
	bash("for i in {1..$files}; do echo \$i >\$i; done");
	return $count->() - $before;
}
$s->mysql(q{SET GLOBAL innodb_monitor_enable = 'trx_rw_commits'});
is(commits_of(12), commits_of(2), 'the rows of all outputs are committed together');

$r = py('[open(f"f{i:02}.txt", "w").write("x") for i in range(53)]');
is(scalar @{$r->{json}{files}}, 50, 'row 43: 53 outputs: 50 are kept');
is_deeply($r->{json}{artifact_truncation}, { reasons => { max_output_files => 3 },
    skipped_count => 3, skipped => ['f50.txt', 'f51.txt', 'f52.txt'] },
    '... and said so');
$r = py(q{
import os
f = open('big', 'wb'); f.truncate(2 << 20); f.close()
os.makedirs('/'.join('d' * 10)); open('/'.join('d' * 10) + '/f', 'w').write('x')
open('ok', 'w').write('x')
});
is_deeply([map { $_->{name} } @{$r->{json}{files}}], ['ok'], 'row 42: too large, too deep');
is($r->{json}{artifact_truncation}{reasons}{max_file_size}, 1, '... said so')
    or diag explain $r->{json};
$r = py('open("x.txt", "w").write("kept"); raise SystemExit(2)');
is($r->{json}{files}[0]{name}, 'x.txt', 'a failed run\'s files are kept');

# --- what may not be ---

my $foreign = put(\@u2, 'secret', 's.txt');
my $far = put([$code->bearer(sub => 'u1', tenant_id => 'acme')], 'secret', 's.txt');
my $gone = put(\@u1, 'x', 'gone.txt');
$s->del("/v1/sessions/$gone->{storage_session_id}/objects/$gone->{id}", @u1);
my %unauthorized = (
	'row 20: another user\'s' => ref_($foreign),
	'another user\'s, as he names it' => ref_($foreign, resource_id => 'u2'),
	'another tenant\'s' => ref_($far),
	'row 21: a deleted one' => ref_($gone),
	'none' => ref_($in, id => 'z' x 21),
	'a file as a skill' => { %$in, kind => 'skill', resource_id => 'x', version => 1 },
	'a skill of another version' => { %sk, version => 8 },
	'a skill as a file' => ref_($sk),
	'another session' => ref_($in, storage_session_id => $two->{storage_session_id}),
	'no file of the other name' => { id => 'file-' . '0' x 32, name => 'x' },
);
for (sort keys %unauthorized) {
	$r = bash('echo ran', files => [ref_($two), $unauthorized{$_}]);
	is("$r->{status} $r->{json}{error}", '403 Unauthorized file reference', $_);
	like($r->{json}{message}, qr/files\[1\]/, '... says which');
}
my %bad = (
	'no code' => [lang => 'py'], 'row 3: blank code' => [lang => 'py', code => " \n"],
	'row 3: code as number' => [lang => 'py', code => 1],
	'no language' => [code => 'x'],
	'an unknown language' => [lang => 'cobol', code => 'x'],
	'row 5: arguments as object' => [lang => 'py', code => 'x', args => {}],
	'row 14: files as object' => [lang => 'py', code => 'x', files => {}],
	'row 14: a file as text' => [lang => 'py', code => 'x', files => ['x']],
	'row 18: a skill without version' => [lang => 'py', code => 'x', files => [{ %$sk,
	    kind => 'skill', resource_id => 's1' }]],
	'row 18: a user with version' => [lang => 'py', code => 'x', files => [ref_($in, version => 1)]],
	'a timeout of 0' => [lang => 'py', code => 'x', timeout => 0],
	'row 26: a file where a directory is' => [lang => 'py', code => 'x',
	    files => [ref_($in, name => 'a'), ref_($two, name => 'a/b')]],
	(map { ("row 27, row 28: the name $_", [lang => 'py', code => 'x', files => [ref_($in, name => $_)]]) }
	    '../x', '/x', 'a//b', 'a/./b', 'a\\b', 'dir/', '', '.hidden', 'a/.b',
	    'n' x 257, join('/', ('d') x 11)),
);
for (sort keys %bad) {
	$r = exec_(\@u1, @{$bad{$_}});
	is($r->{status}, 400, substr "$_: 400", 0, 60);
	ok($r->{json}{error}, '... with a reason');
}
is(exec_(\@u1, lang => 'cobol', code => 'x')->{json}{error},
    'Unsupported language: cobol', 'row 1: the word for a language');
$r = $s->get('/v1/exec', @u1);
is("$r->{status} " . Satchel::header($r, 'Allow'), '405 POST', 'row 102: GET');
is($s->post('/v1/exec', @u1, body => '{}', headers => [@{$u1[3]},
    'Content-Type' => 'text/plain'])->{status}, 415, 'row 103: another media type');
is($s->post('/v1/exec', @u1, body => '{"lang":"py","code":"print(1)"}',
    headers => [@{$u1[3]}, 'Content-Type' => 'application/json; charset=utf-8'])
    ->{json}{stdout}, "1\n", '... with a charset (row 103)');
is($s->post('/v1/exec', @u1, body => '[' x 70 . ']' x 70,
    headers => [@{$u1[3]}, 'Content-Type' => 'application/json'])->{status}, 400, 'row 104: deep JSON');

# --- two names of one row, for one owner ---

$r = $s->admin('--json', 'key', 'create', '--tenant', 'legacy', '--user', 'u1');
$s->{key}{u1} = $r->{json}{key} or diag $r->{err};
my $sdk = $s->upload('by the SDK', as => 'u1', name => 'sdk.txt')->{json};
$r = bash('cat sdk.txt; echo out > made.txt', files => [{ id => $sdk->{id}, name => 'sdk.txt' }]);
is($r->{json}{stdout}, 'by the SDK', 'a file of the SDK is an input') or diag $r->{body};
my ($made, $echo) = @{$r->{json}{files}};
is(bytes_of($echo), 'by the SDK', '... by the pair it was given');
is(bash('cat x', files => [ref_($echo, name => 'x')])->{json}{stdout}, 'by the SDK',
    '... which is an input too');
my %sdk = map { $_->{filename} => $_ } @{$s->get('/v1/files', as => 'u1')->{json}{data}};
is($sdk{'made.txt'}{purpose}, 'assistants_output', 'an output is in the SDK\'s list');
is($s->get("/v1/files/$sdk{'made.txt'}{id}/content", as => 'u1')->{body}, "out\n",
    '... with its bytes');
is(bash('cat x', files => [{ id => $sdk->{id}, name => 'x' }])->{status}, 200,
    'the pair is made once');
is_deeply([$s->mysql("SELECT COUNT(*) FROM storage_object WHERE place = 'sdk.txt'")],
    [[1]], '... and kept');

# --- the user of a key is who the call says ---

$r = $s->post('/v1/exec', as => 'alice', json => { lang => 'bash', user_id => 'lc1',
    code => 'echo x > y' });
my ($y) = @{$r->{json}{files}};
is($y->{resource_id}, 'lc1', 'a key\'s caller names the user');
my $p = "/v1/sessions/$y->{storage_session_id}/objects/$y->{id}?kind=user&id=";
is($s->get("${p}lc1", as => 'alice')->{status}, 200, '... whose the output is');
is($s->get("${p}lc2", as => 'alice')->{status}, 403, '... and nobody else\'s');
is($s->get("${p}lc1", as => 'bob')->{status}, 403, '... under another key');

# --- a client that leaves ---

{
	my $body = JSON::PP->new->utf8->encode({ lang => 'bash',
	    code => 'sleep 45.125; echo x > y' });
	my $sock = $s->sock;
	print $sock "POST /v1/exec HTTP/1.1\r\nHost: x\r\n$u1[3][0]: $u1[3][1]\r\n"
	    . "Content-Type: application/json\r\nContent-Length: "
	    . length($body) . "\r\n\r\n$body";
	my $there = sub {
		local $/;
		my $n = 0;
		for (glob '/proc/[0-9]*/cmdline') {
			open my $fh, '<', $_ or next;
			$n++ if (scalar(<$fh>) // '') =~ /^sleep\0?45\.125/;
		}
		return $n;
	};
	my $until = time + 10;
	select undef, undef, undef, 0.05 while !$there->() && time < $until;
	ok($there->(), 'a run is under way');
	close $sock;
	$until = time + 10;
	select undef, undef, undef, 0.05 while $there->() && time < $until;
	ok(!$there->(), '... and ends when its client leaves (row 53)');
}
my $until = time + 10;
my $left;
do { ($left) = map { $_->[0] } $s->mysql(q{SELECT COUNT(*) FROM file
    WHERE state = 'uploading'}) } while $left && time < $until;
is($left, 0, 'row 53: nothing half stored is left');
# --- as many as one user may have ---

$s->restart(set => { 'sandbox.sessions_per_user' => 2,
    'sandbox.languages' => $table,
    'librechat.jwt.pem_dir' => $code->{pem_dir}, 'librechat.execs_per_30s' => 0 });
$r = exec_(\@u1, lang => 'php', code => 'x');
is("$r->{status} $r->{json}{error}", '400 php is not installed on this host'
    . ' (Debian: php-cli php-mbstring)', 'a language that is not installed');
ok((grep { /"level":"warn".*php is not installed on this host/ }
    split /^/, Satchel::_slurp("$s->{dir}/log/gateway.log")), '... which is logged');
my @at_work = map {
	my $pid = fork // die $!;
	POSIX::_exit(bash('sleep 9; echo done')->{json}{stdout} eq "done\n" ? 0 : 1)
	    if !$pid;
	$pid;
} 1 .. 2;
sleep 2;
$r = bash('echo late');
is_deeply([$r->{status}, @{$r->{json}}{qw(error message retry_after_seconds)},
    Satchel::header($r, 'Retry-After')], [429, 'rate_limited', 'Code of yours runs'
    . ' in 2 sessions, which is as many as may run at once.', 5, 5],
    'one more than he may is told to come back, as by the rate');
is(exec_(\@u2, lang => 'bash', code => 'echo hi')->{json}{stdout}, "hi\n",
    'others are not');
is(join(' ', map { waitpid($_, 0); $? } @at_work), '0 0', 'the two end');
is(bash('echo hi')->{json}{stdout}, "hi\n", 'and make room');
$s->done;
done_testing;
