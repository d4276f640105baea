#!/usr/bin/perl

# The code-execution protocol: files of a session, and the editor.

use strict;
use warnings;
use Test::More;
use Digest::SHA qw(sha256_hex);
use Time::HiRes qw(time);
use Sandbox;

my $MiB = 1 << 20;
my $s = Sandbox->new(set => { 'sandbox.workspace_bytes' => 24 * $MiB });
my $id = $s->session;
my ($r, $c);

# --- PutFile ---

is_deeply($s->put($id, 'a.txt', 'one')->{json},
    { path => 'a.txt', size_bytes => 3 }, 'put');
is($s->put($id, 'a.txt', 'two')->{status}, 201, 'an existing file is replaced');
is($s->fetch($id, 'a.txt')->{body}, 'two', 'by the new one');
is($s->put($id, './x//y/./z.txt', '')->{json}{path}, 'x/y/z.txt',
    'parents are made, the path is tidied');
is($s->fetch($id, 'x/y/z.txt')->{body}, '', 'an empty file');
is($s->put($id, '/mnt/data/abs.txt', 'a')->{json}{path}, 'abs.txt',
    'an absolute path inside');
$r = $s->post("/sessions/$id/files", form => [['file', 'abc', 'na me.csv']]);
is($r->{json}{path}, 'na me.csv', 'without path: the name of the part');
$r = $s->post("/sessions/$id/files",
    form => [['file', 'late', 'x.bin'], ['path', 'late/r.txt']]);
is_deeply($r->{json}, { path => 'late/r.txt', size_bytes => 4 },
    'path may come after the file');
$r = $s->post("/sessions/$id/files", form => [['other', 'x' x 5000],
    ['file', 'abc', 'o.txt'], ['more', 'y']]);
is($r->{status}, 201, 'other fields are ignored');
$r = $s->post("/sessions/$id/files", form => [['other', 'x' x 40000],
    ['more', 'x' x 40000], ['file', 'abc', 'o.txt']]);
is($r->{status}, 422, '... but not 80,000 bytes of them');
is($s->put($id, "\xc3\xa9t\xc3\xa9/\xe2\x82\xac.txt", 'u')->{json}{path},
    "\x{e9}t\x{e9}/\x{20ac}.txt", 'UTF-8 in a path');
is($s->fetch($id, "\xc3\xa9t\xc3\xa9/\xe2\x82\xac.txt")->{body}, 'u',
    'to be fetched by it');
my $stat = $s->bash($id, 'stat -c "%a %U" a.txt x')->{stdout};
is($stat, "644 sandbox\n755 sandbox\n", "files belong to the session's user");

my $big = pack('N*', map { $_ * 2654435761 % 2 ** 32 } 1 .. 2 * $MiB);
my $sum = sha256_hex($big);
is($s->put($id, 'big.bin', $big)->{json}{size_bytes}, 8 * $MiB, '8 MiB');
is($s->bash($id, 'sha256sum <big.bin')->{stdout}, "$sum  -\n", 'arrive whole');
is(sha256_hex($s->fetch($id, 'big.bin')->{body}), $sum, 'and come back so');
$r = $s->post("/sessions/$id/files", chunked => 1,
    form => [['path', 'chunked.bin'], ['file', $big, 'b']]);
is($r->{status}, 201, 'a chunked body');
is($s->bash($id, 'sha256sum <chunked.bin; rm chunked.bin')->{stdout},
    "$sum  -\n", 'arrives whole too');

is($s->post("/sessions/$id/files", form => [['path', 'x']])->{status}, 422,
    'no file');
is($s->post("/sessions/$id/files", form => [['file', 'x']])->{status}, 422,
    'no name');
is($s->post("/sessions/$id/files", form => [['path', ''],
    ['file', 'x', 'y']])->{status}, 422, 'an empty path');
is($s->post("/sessions/$id/files", form => [['path', "a\0b"],
    ['file', 'x', 'y']])->{status}, 422, 'a path with NUL');
is($s->post("/sessions/$id/files", form => [['path', 'x' x 5000],
    ['file', 'x', 'y']])->{status}, 422, 'a path of 5000 bytes');
is($s->post("/sessions/$id/files", form => [['file', '1', 'y'],
    ['file', '2', 'z']])->{status}, 422, 'two files');
is($s->post("/sessions/$id/files", json => {})->{status}, 422, 'no form');
for (["--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"cut\""
    . "\r\n\r\nhalf", 'an unfinished form'], ['', 'an empty form'],
    ['rubbish', 'no form at all']) {
	is($s->post("/sessions/$id/files", body => $_->[0], headers =>
	    ['Content-Type' => 'multipart/form-data; boundary=b'])->{status},
	    400, $_->[1]);
}
is($s->put('sbx_00nosuchsession0000000', 'a', 'b')->{status}, 404,
    'no such session');
is($s->fetch($id, 'cut')->{status}, 404, 'nothing of the unfinished one');
is($s->bash($id, 'find . -name ".put*"')->{stdout}, '', 'nor a part of it');

# Over the cap.
my $sent = 0;
$r = $s->post("/sessions/$id/files", headers => ['Content-Type' =>
    'multipart/form-data; boundary=b', 'Content-Length' => 1 << 30],
    body => sub { $sent += $MiB; $sent <= 1 << 30 ? 'x' x $MiB : undef });
is($r->{status}, 413, 'a declared length over the cap');
cmp_ok($sent, '<', 16 * $MiB, 'is refused before it is read');
is($s->put($id, 'huge', 'x' x (25 * $MiB), chunked => 1)->{status}, 413,
    'a file over the cap');
is($s->put($id, 'much', 'x' x (20 * $MiB))->{status}, 413,
    'a file for which there is no room left');
is($s->fetch($id, $_)->{status}, 404, "nothing is left of $_")
    for qw(huge much);
is($s->put($id, 'some', 'x' x (12 * $MiB))->{status}, 201,
    'and its room is free again');
$s->bash($id, 'rm some');

# --- GetFile and ListFiles ---

$r = $s->fetch($id, 'na me.csv');
is(Satchel::header($r, 'Content-Type'), 'text/csv', 'the type is by the name');
is(Satchel::header($r, 'Content-Length'), 3, 'the length is told');
is(Satchel::header($r, 'X-Content-Type-Options'), 'nosniff', 'nosniff');
is(Satchel::header($s->fetch($id, 'big.bin'), 'Content-Type'),
    'application/octet-stream', 'or none');
$r = $s->list($id);
is_deeply([map { $_->{path} } @{$r->{json}{files}}],
    ['a.txt', 'abs.txt', 'big.bin', 'na me.csv', 'o.txt'],
    'files of the root, not of directories, sorted');
my ($a) = @{$r->{json}{files}};
is_deeply([@$a{qw(path size_bytes mime_type)}], ['a.txt', 3, 'text/plain'],
    'an entry');
cmp_ok(abs($a->{modified_at} - time), '<', 60, 'modified_at');
is_deeply([map { $_->{path} } @{$s->list($id, 'x/y')->{json}{files}}],
    ['x/y/z.txt'], 'a subdirectory, from the root');
is_deeply([map { $_->{path} } @{$s->list($id, '/mnt/data/x/y')
    ->{json}{files}}], ['x/y/z.txt'], 'by its absolute path');
is_deeply([map { $_->{path} } @{$s->list($id, 'x/y/z.txt')->{json}{files}}],
    ['x/y/z.txt'], 'a file lists itself');
is_deeply($s->list($id, 'x')->{json}, { files => [] }, 'only directories');
is($s->list($id, 'nosuch')->{status}, 404, 'no such directory');
is($s->list($id, '../..')->{status}, 403, 'outside');
is($s->get("/sessions/$id/files/list?path=")->{status}, 422, 'an empty path');
is($s->get("/sessions/$id/files/list?path=a&path=b")->{status}, 422,
    'two paths');
$s->bash($id, 'echo 1 >.dot; ln -s a.txt link');
is_deeply([grep { /dot|link/ } map { $_->{path} }
    @{$s->list($id)->{json}{files}}], [], 'hidden names and links are left out');

# --- the editor ---

sub ed { my ($command, $path, %o) = @_;
	$c = $s->edit($id, command => $command, path => $path, %o);
	return $c->{return_code};
}
sub text { return $s->fetch($id, $_[0])->{body} }

is(ed('create', 'e/new.txt', file_text => "one\ntwo\nthree\n"), 0, 'create');
is(text('e/new.txt'), "one\ntwo\nthree\n", 'its text, its directory');
is(ed('create', 'e/new.txt', file_text => 'x'), 1, 'create over a file');
like($c->{stderr}, qr/exists/, 'says why');
is(text('e/new.txt'), "one\ntwo\nthree\n", 'and leaves it');
is(ed('create', 'e/none.txt'), 1, 'create without file_text');
is(ed('create', 'empty.txt', file_text => ''), 0, 'create an empty file');
is(ed('view', 'empty.txt') . $c->{stdout}, '0', 'and view it');

is(ed('view', 'e/new.txt'), 0, 'view');
is($c->{stdout}, "one\ntwo\nthree\n", 'the text, no line numbers');
is(ed('view', '/mnt/data/e/new.txt'), 0, 'by its absolute path');
my @ranges = ([[1, 1], "one\n"], [[2, 3], "two\nthree\n"],
    [[2, -1], "two\nthree\n"], [[3, 99], "three\n"]);
for (@ranges) {
	my ($range, $want) = @$_;
	is(ed('view', 'e/new.txt', view_range => $range) . $c->{stdout},
	    "0$want", "view_range @$range");
}
is(ed('view', 'e/new.txt', view_range => $_), 1, "view_range @$_")
    for [0, 1], [3, 2], [4, 5], [-1, 1], [1, 0];
is($s->exec($id, 'text_editor_code_execution', { command => 'view',
    path => 'a', view_range => $_ })->{status}, 422, 'a broken view_range')
    for 'x', [1], [1, 2, 3], ['1', '2'];
$s->put($id, 'nonl.txt', "a\nb");
is(ed('view', 'nonl.txt', view_range => [2, -1]) . $c->{stdout}, '0b',
    'a last line without newline');
is(ed('view', 'nonl.txt', view_range => [3, -1]), 1, 'past it');
is(ed('view', 'e'), 0, 'view of a directory');
is($c->{stdout}, "new.txt\n", 'lists it');
$s->bash($id, 'mkdir -p t/u/v/w; touch t/f t/u/g t/u/v/h t/u/v/w/i t/.hid');
is(ed('view', 't') . $c->{stdout}, "0f\nu/\nu/g\nu/v/\n", 'to depth two');
is(ed('view', 'nosuch'), 1, 'view of what is not there');
is(ed('view', '../../etc/passwd'), 1, 'view outside');
like($c->{stderr}, qr/outside/, 'says why');
$s->bash($id, 'ln -s /etc/passwd pw; mkfifo ff; head -c 3000000 /dev/zero |'
    . ' tr "\0" "\n" >many; printf "ok\xff\n" >latin');
is(ed('view', 'pw'), 1, 'view of a link');
is(ed('view', 'ff'), 1, 'view of a FIFO does not wait');
is(ed('view', 'latin') . $c->{stdout}, "0ok\x{fffd}\n",
    'view marks bytes that are no UTF-8');
is(ed('view', 'many'), 0, 'view of 3 MB');
is($c->{stdout}, "\n" x ($MiB / 2) . "\n[... " . (3000000 - $MiB)
    . " bytes left out ...]\n" . "\n" x ($MiB / 2), 'is cut to one');
is(ed('view', 'many', view_range => [2999999, -1]) . $c->{stdout}, "0\n\n",
    'but its end can be had');

is(ed('str_replace', 'e/new.txt', old_str => "two\n", new_str => "2\n2\n"), 0,
    'str_replace');
is(text('e/new.txt'), "one\n2\n2\nthree\n", 'the text then');
is(ed('str_replace', 'e/new.txt', old_str => '2', new_str => 'x'), 1,
    'two occurrences');
like($c->{stderr}, qr{more than once}, 'says so');
is(ed('str_replace', 'e/new.txt', old_str => 'nosuch', new_str => 'x'), 1,
    'none');
is(ed('str_replace', 'e/new.txt', old_str => '', new_str => 'x'), 1, 'empty');
is(ed('str_replace', 'e/new.txt', old_str => 'one'), 1, 'without new_str');
is(ed('str_replace', 'e/new.txt', old_str => "one\n", new_str => ''), 0,
    'by nothing');
is(ed('str_replace', 'latin', old_str => 'ok', new_str => 'x'), 1,
    'in what is no UTF-8');
is(ed('str_replace', 'nosuch', old_str => 'a', new_str => 'x'), 1,
    'in what is not there');
is(ed('str_replace', 'pw', old_str => 'root', new_str => 'x'), 1, 'in a link');
is(text('e/new.txt'), "2\n2\nthree\n", 'the text then');
$s->put($id, 'aaa', 'aaa');
is(ed('str_replace', 'aaa', old_str => 'aa', new_str => 'x'), 1,
    'occurrences that overlap are two');

is(ed('insert', 'e/new.txt', insert_line => 0, new_str => 'top'), 0,
    'insert at the top');
is(ed('insert', 'e/new.txt', insert_line => 4, new_str => "end\n"), 0,
    'at the end');
is(ed('insert', 'e/new.txt', insert_line => 1, new_str => 'a'), 0, 'between');
is(text('e/new.txt'), "top\na\n2\n2\nthree\nend\n", 'the text then');
is(ed('insert', 'e/new.txt', insert_line => 7, new_str => 'x'), 1,
    'past the end');
is(ed('insert', 'e/new.txt', insert_line => -1, new_str => 'x'), 1,
    'before the beginning');
is(ed('insert', 'e/new.txt', new_str => 'x'), 1, 'nowhere');
is(ed('insert', 'nonl.txt', insert_line => 2, new_str => 'c') . text('nonl.txt'),
    "0a\nb\nc\n", 'after a last line without newline');
is(ed('insert', 'empty.txt', insert_line => 0, new_str => 'x')
    . text('empty.txt'), "0x\n", 'into an empty file');

is(ed('undo_edit', 'e/new.txt'), 0, 'undo');
is(text('e/new.txt'), "top\n2\n2\nthree\nend\n", 'one edit');
is(ed('undo_edit', 'e/new.txt'), 0, 'undo again') for 1 .. 4;
is(text('e/new.txt'), "one\ntwo\nthree\n", 'all of them');
is(ed('undo_edit', 'e/new.txt'), 1, 'then there is nothing to undo');
is(ed('undo_edit', 'e/none.txt'), 1, 'nor of a file never edited');
is(ed('create', 'cr.txt', file_text => 'x') . ed('undo_edit', 'cr.txt'), '01',
    'create cannot be undone');
is(ed('undo_edit', 'empty.txt') . text('empty.txt'), '0',
    'back to an empty file');
is($s->bash($id, 'chmod 600 e/new.txt')->{return_code}
    . ed('insert', 'e/new.txt', insert_line => 0, new_str => 'x')
    . $s->bash($id, 'stat -c %a e/new.txt')->{stdout}, "00600\n",
    'the mode is kept');
is(ed('create', 'mega', file_text => 'x' x $MiB), 0, 'a text of 1 MiB');
is($s->exec($id, 'text_editor_code_execution', { command => 'create',
    path => 'mega2', file_text => 'x' x ($MiB + 1) })->{status}, 422,
    'not of more');
$s->bash($id, 'head -c 5000000 /dev/zero | tr "\0" x >large');
is(ed('insert', 'large', insert_line => 0, new_str => 'x'), 1,
    'files over 4 MiB are not edited');
undef $s;
done_testing();
