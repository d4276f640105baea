# Forms as clients write them, names as they send them, and forms that nobody
# should send.

use strict;
use warnings;
use utf8;
use Encode qw(encode_utf8);
use Test::More;
use Files;

binmode Test::More->builder->$_, ':utf8'
    for qw(output failure_output todo_output);

my $c = Files->stack;
my $bytes = "q,amount\n1,20\n";

# named($parameters, %o): upload with these parameters after name="file"; the
# text holds characters, or bytes with raw => 1.
sub named {
	my ($params, %o) = @_;
	$params = encode_utf8($params) unless delete $o{raw};
	my $type = delete $o{mime} // 'text/plain';
	return $c->upload(form(part('file', $bytes,
	    qq(Content-Disposition: form-data; name="file"$params),
	    $type eq '' ? () : "Content-Type: $type")), %o);
}

# name_is($what, $parameters, $stored): in both dialects.
sub name_is {
	my ($what, $params, $want, %o) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $r;
	for my $d (@DIALECTS) {
		$r = named($params, %o, dialect => $d);
		is("$r->{status} " . ($r->{json}{filename} // ''), "200 $want",
		    "$what ($d)");
	}
	return $r->{json}{id};
}

# The headers of a download.
sub headers { return $c->get("/v1/files/$_[0]/content")->{header} }

# --- names ---

name_is('row 7: no filename', '', 'unnamed.txt');
name_is('row 8: an empty filename', '; filename=""', 'unnamed.txt');
name_is('row 9: a path', '; filename="../../etc/passwd"', 'passwd');
name_is('row 10: a Windows path', '; filename="C:\dir\a.txt"', 'a.txt');
{
	my $id = name_is('row 11: raw UTF-8', '; filename="é表.csv"', 'é表.csv');
	like(headers($id)->{'content-disposition'},
	    qr/; filename\*=UTF-8''%C3%A9%E8%A1%A8\.csv$/,
	    'row 11: the download has filename*');
}
name_is('row 12: filename* alone',
    "; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf", 'résumé.pdf');
name_is('row 13: filename* wins',
    "; filename=\"plain.txt\"; filename*=UTF-8''b%C3%A9.txt", 'bé.txt');
name_is('row 14: a broken percent in filename*',
    "; filename=\"plain.txt\"; filename*=UTF-8''b%C3%Q9.txt", 'plain.txt');
name_is('row 14: an unknown charset in filename*',
    "; filename*=KOI-99''b%C3%A9.txt", 'unnamed.txt');
name_is('row 15: continuations are not assembled',
    '; filename*0="a"; filename*1="b.txt"', 'unnamed.txt');
{
	my $id = name_is('row 16: browser escapes',
	    '; filename="a%22b%0D%0Ac.txt"', 'a"b__c.txt');
	like(headers($id)->{'content-disposition'},
	    qr/^attachment; filename="a_b__c\.txt"/,
	    'row 16: the header cannot be split');
	$id = name_is('row 17: an escaped quote', '; filename="a\"b.txt"',
	    'a"b.txt');
	like(headers($id)->{'content-disposition'},
	    qr/^attachment; filename="a_b\.txt"/,
	    'row 17: "_" in the ASCII form');
}
{
	my $long = '𝒜' x 255;
	my $id = name_is('row 20: 255 characters of 4 bytes',
	    qq(; filename="$long"), $long);
	is($c->get("/v1/files/$id")->{json}{filename}, $long,
	    'row 20: stored whole');
}
name_is('row 22: "."', '; filename="."', 'unnamed.txt');
name_is('row 22: ".."', '; filename=".."', 'unnamed.txt');
name_is('row 22: "/"', '; filename="/"', 'unnamed.txt');
name_is('row 22: only spaces', '; filename="   "', 'unnamed.txt');
name_is('row 22: spaces and others', '; filename=" a b .txt"', ' a b .txt');
name_is('row 23: Latin-1', "; filename=\"r\xe9sum\xe9.pdf\"", 'résumé.pdf',
    raw => 1);
{
	my $name = "a\x{202e}fdp.exe 📊";
	my $id = name_is('row 24: bidi override and emoji',
	    qq(; filename="$name"), $name);
	like(headers($id)->{'content-disposition'},
	    qr/filename\*=UTF-8''a%E2%80%AEfdp\.exe%20%F0%9F%93%8A$/,
	    'row 24: percent-encoded in the header');
}

# What real clients sent; the names stored are the contract's.
for (
    ['anthropic JS 1.14', 'filename="dir/a%22b%0D%0Ac\é.txt"', 'é.txt'],
    ['openai JS', 'filename="é%.txt"', 'é%.txt'],
    ['anthropic JS 0.122', 'filename="unknown_file"', 'unknown_file'],
    ['curl', 'filename="we%22ird\n.csv"', 'n.csv'],
    ['curl --form-escape', 'filename="a\"b.txt"', 'a"b.txt'],
    ['curl, a path', 'filename="../../etc/passwd"', 'passwd'],
    ['requests', 'filename="a%22b.txt"', 'a"b.txt'],
    ['requests, line ends', 'filename="a%0D%0Ab.txt"', 'a__b.txt'],
) {
	my ($who, $param, $want) = @$_;
	name_is("example 12: $who", "; $param", $want);
}

name_is('up-percent-in-name: a literal percent', '; filename="%41.txt"',
    '%41.txt');
name_is('up-percent-in-name: a form-data escape', '; filename="a%22b.txt"',
    'a"b.txt');
{
	my $name = 'Über 表 📊.csv';
	my $id = name_is('up-utf8-name', qq(; filename="$name"), $name);
	for my $d (@DIALECTS) {
		is($c->get("/v1/files/$id", dialect => $d)->{json}{filename},
		    $name, "up-utf8-name: metadata ($d)");
		is($c->get('/v1/files?limit=1', dialect => $d)
		    ->{json}{data}[0]{filename}, $name,
		    "up-utf8-name: list ($d)");
	}
}
for (['../../etc/x.txt', 'x.txt'], ['..\..\w.txt', 'w.txt'],
    ['/abs/y.txt', 'y.txt'], ['..', 'unnamed.txt']) {
	my ($sent, $want) = @$_;
	name_is("up-path-in-name: $sent", qq(; filename="$sent"), $want);
}
is(scalar(grep !m{/(?:[0-9a-f]{2}/){2}[0-9a-f]{32}$}, $c->on_disk), 0,
    'up-path-in-name: every name on disk is the store\'s own');
{
	my $r = named('', mime => 'application/octet-stream');
	is("$r->{status} " . ($r->{json}{filename} // ''), '200 unnamed.bin',
	    'up-no-filename: a stand-in name');
	my ($listed) = grep { $_->{id} eq $r->{json}{id} }
	    @{ $c->get('/v1/files')->{json}{data} };
	is($listed->{filename}, 'unnamed.bin', 'up-no-filename: in the list too');
	refused('up-no-filename: no file at all',
	    '400 O[ire|file|missing_required_parameter]', '400 A[ire]', sub {
		$c->upload(form(part(purpose => 'user_data')),
		dialect => shift) });
}

# --- types ---

for ('text/html', 'image/svg+xml') {
	my $r = named('; filename="x.bin"', mime => $_, dialect => 'anthropic');
	is($r->{json}{mime_type}, $_, "row 25: $_ is stored");
	my $h = headers($r->{json}{id});
	is($h->{'content-type'}, $_, "row 25: $_ is told");
	like($h->{'content-disposition'}, qr/^attachment;/,
	    "row 25: $_ downloads as an attachment");
	is("$h->{'x-content-type-options'} $h->{'content-security-policy'}",
	    "nosniff sandbox; default-src 'none'", "row 25: $_ cannot run");
}
for (['10 KiB', 'text/' . 'x' x 10240], ['a CR', "text/pl\rain"],
    ['no slash', 'text'], ['a space', 'text/pl ain']) {
	my ($what, $type) = @$_;
	my $r = named('; filename="x.zzz"', mime => $type,
	    dialect => 'anthropic');
	is(($r->{json}{mime_type} // $r->{status}),
	    $what eq 'a CR' && $r->{status} == 400 ? 400
	    : 'application/octet-stream', "row 26: a type with $what");
}
is(named('; filename="a.csv"', mime => 'application/octet-stream',
    dialect => 'anthropic')->{json}{mime_type}, 'text/csv',
    'octet-stream gives way to the extension');
is(named('; filename="a.csv"', mime => 'text/plain; charset=utf-8; x=y',
    dialect => 'anthropic')->{json}{mime_type}, 'text/plain; charset=utf-8',
    'parameters other than charset are dropped');

# --- forms that are refused ---

my $before = $c->stored;
refused('row 4: only the closing delimiter',
    '400 O[ire|file|missing_required_parameter]', '400 A[ire]',
    sub { $c->upload("--BB--\r\n", dialect => shift) });
for (['CR', "a\rb"], ['LF', "a\nb"], ['CR LF', "a\r\nb"]) {
	my ($what, $name) = @$_;
	refused("row 18: a raw $what in the name",
	    '400 O[ire|file|malformed_multipart]', '400 A[ire]',
	    sub { named(qq(; filename="$name"), dialect => shift) });
}
refused('row 19: a NUL in the name', '400 O[ire|file|invalid_filename]',
    '400 A[ire]', sub { named(qq(; filename="a\0b"), dialect => shift) });
refused('row 21: 256 characters',
    '400 O[ire|file|string_above_max_length]', '400 A[ire]',
    sub { named('; filename="' . 'é' x 256 . '"', dialect => shift) });
refused('row 38: no boundary', '400 O[ire|-|malformed_multipart]',
    '400 A[ire]', sub { $c->upload(form(file_part($bytes, 'a')),
	type => 'multipart/form-data', dialect => shift) });
for ('', 'b' x 71) {
	my $boundary = $_;
	refused('row 39: a boundary of ' . length($boundary) . ' characters',
	    '400 O[ire|-|malformed_multipart]', '400 A[ire]', sub {
		$c->upload(form(file_part($bytes, 'a')) =~ s/BB/$boundary/gr,
		type => "multipart/form-data; boundary=$boundary",
		dialect => shift) });
}
refused('row 42: no closing delimiter', '400 O[ire|-|incomplete_body]',
    '400 A[ire]', sub { $c->upload(form(file_part($bytes, 'a.txt'))
	=~ s/--BB--\r\n$//r, dialect => shift) });
refused('row 46: a part header over 16 KiB',
    '400 O[ire|-|malformed_multipart]', '400 A[ire]', sub {
	$c->upload(form(part('file', $bytes, 'Content-Disposition: form-data;'
	. ' name="file"; filename="a"', 'X-Pad: ' . 'p' x 17000)),
	dialect => shift) });
refused('row 46: more than 32 fields', '400 O[ire|-|malformed_multipart]',
    '400 A[ire]', sub { $c->upload(form((map { part("f$_", $_) } 1 .. 33),
	file_part($bytes, 'a')), dialect => shift) });
refused('a field over 64 KiB', '400 O[ire|-|malformed_multipart]',
    '400 A[ire]', sub { $c->upload(form(part('note', 'n' x 65537),
	file_part($bytes, 'a')), dialect => shift) });
refused('row 50: Content-Transfer-Encoding: base64',
    '400 O[ire|file|malformed_multipart]', '400 A[ire]', sub {
	$c->upload(form(part('file', 'YQ==', 'Content-Disposition: form-data;'
	. ' name="file"; filename="a"', 'Content-Transfer-Encoding: base64')),
	dialect => shift) });
is($c->stored, $before, 'refused forms leave nothing behind');

# --- forms that are taken ---

# whole($name, $body, %o): the form is taken and gives back $bytes.
sub whole {
	my ($name, $body, %o) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $want = delete $o{want} // $bytes;
	for my $d (@DIALECTS) {
		my $r = $c->upload($body, %o, dialect => $d);
		my $got = $r->{status} != 200 ? $r->{status}
		    : sha256_hex($c->get("/v1/files/$r->{json}{id}/content")
		    ->{body});
		is($got, sha256_hex($want), "$name ($d)");
	}
}

my $file = file_part($bytes, 'a.txt');
whole('row 40: a quoted boundary with spaces inside',
    form($file) =~ s/BB/B B:1/gr,
    type => 'multipart/form-data; boundary="B B:1"');
whole('row 41: a charset after the boundary', form($file),
    type => 'multipart/form-data; boundary=BB; charset=utf-8');
whole('row 44: spaces after a boundary', form($file) =~ s/--BB\r/--BB  \t\r/r);
whole('row 45: text before and after', "Hello\r\nthere\r\n" . form($file)
    . "Good\r\nbye");
whole('up-last-boundary-forms: nothing after the closing delimiter',
    form($file) =~ s/\r\n$//r);
whole('up-last-boundary-forms: charset first, quoted boundary',
    form($file) =~ s/BB/B B:1/gr,
    type => 'multipart/form-data; charset=utf-8; boundary="B B:1"');
whole('up-last-boundary-forms: padding, preamble and epilogue',
    "one\r\n" . form($file) =~ s/--BB\r/--BB  \r/r . 'two');
for my $long (['before', ('x' x 70000) . "\r\n" . form($file)],
    ['behind', form($file) . ('x' x 70000)]) {
	refused("70,000 bytes $long->[0] the parts",
	    '400 O[ire|-|malformed_multipart]', '400 A[ire]',
	    sub { $c->upload($long->[1], dialect => shift) });
}
refused('up-last-boundary-forms: no boundary parameter',
    '400 O[ire|-|malformed_multipart]', '400 A[ire]', sub {
	$c->upload(form($file), type => 'multipart/form-data',
	dialect => shift) });
like($c->upload(form($file), type => 'multipart/form-data')
    ->{json}{error}{message}, qr/boundary/i,
    'up-last-boundary-forms: the message names it');

# Content that looks like a boundary, at every distance from a buffer's edge.
{
	my $near = join '', map { "\r\n--B" . "\r\n--" . ('-' x $_) } 1 .. 40;
	my $content = $near . "\r\n--BC\r\n--B";
	whole('row 43: almost the boundary in the content',
	    form(file_part($content, 'near.bin')), want => $content);
	for my $edge (8192, 65536, 131072) {
		my $pad = 'p' x ($edge - 120);
		$content = $pad . "\r\n--B" x 40 . "\r\n--";
		whole("row 43: across $edge bytes",
		    form(file_part($content, 'edge.bin')), want => $content);
	}
}

# The awkward file: all byte values, then line ends; and two relatives.
{
	my $all = join('', map { chr } 0 .. 255) . "\r\n" x 3;
	my %files = ('all bytes' => $all, 'without its last LF' => $all =~ s/\n$//r,
	    'only CR LF' => "\r\n");
	for my $what (sort keys %files) {
		for my $piece (1, 7, 4096) {
			whole("up-crlf-tail: $what in pieces of $piece",
			    form(file_part($files{$what}, 'a.bin')),
			    piece => $piece, want => $files{$what});
		}
	}
}

$c->done;
done_testing;
