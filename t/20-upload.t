# POST /v1/files: what is taken whole, and what leaves nothing behind.

use strict;
use warnings;
use Time::HiRes qw(time sleep);
use Test::More;
use Files;

my $MAX = 4194304;
my $c = Files->stack(set => { 'files.max_bytes' => $MAX });
my $buffered = Files->stack(set => { 'files.max_bytes' => $MAX },
    nginx_sed => 's/fastcgi_request_buffering off/fastcgi_request_buffering on/');

my $csv = "q,amount\n1,20\n\n";

# What a download of the file $id gives.
sub content {
	my ($client, $id, %o) = @_;
	return $client->get("/v1/files/$id/content", %o)->{body};
}

for my $d (@DIALECTS) {
	my $r = $c->upload(form(file_part($csv, 'sales.csv', 'text/csv')),
	    dialect => $d);
	is($r->{status}, 200, "row 1: plain upload: 200 ($d)");
	is(shape($r->{json}, $d), '', "row 1: the file object ($d)");
	is($r->{json}{filename}, 'sales.csv', "row 1: its name ($d)");
	is($r->{json}{bytes} // $r->{json}{size_bytes}, length $csv,
	    "row 1: its size ($d)");
	is(content($c, $r->{json}{id}), $csv, "row 1: its bytes ($d)");
}

# The two examples of the contract, byte for byte.
{
	my $body = "--b1\r\nContent-Disposition: form-data; name=\"file\"; "
	    . "filename=\"sales.csv\"\r\nContent-Type: application/octet-stream"
	    . "\r\n\r\nq,amount\n1,20\n\r\n--b1\r\nContent-Disposition: "
	    . "form-data; name=\"purpose\"\r\n\r\nuser_data\r\n--b1\r\n"
	    . "Content-Disposition: form-data; name=\"expires_after[anchor]\""
	    . "\r\n\r\ncreated_at\r\n--b1\r\nContent-Disposition: form-data; "
	    . "name=\"expires_after[seconds]\"\r\n\r\n3600\r\n--b1--\r\n";
	my $r = $c->upload($body, type => 'multipart/form-data; boundary=b1',
	    chunked => 64);
	my ($id, $at) = @{ $r->{json} }{qw(id created_at)};
	is_deeply($r->{json}, { id => $id, object => 'file', bytes => 14,
	    created_at => $at, expires_at => $at + 3600,
	    filename => 'sales.csv', purpose => 'user_data',
	    status => 'processed' },
	    'example 01: an OpenAI read stream');
	like($r->{header}{'request-id'}, qr/^req_\w{24,}$/, 'a request id');
	is($r->{header}{'x-request-id'}, $r->{header}{'request-id'},
	    'for both vendors');
	$body = "--b2\r\nContent-Disposition: form-data; "
	    . "name=\"expires_in_seconds\"\r\n\r\n3600\r\n--b2\r\n"
	    . "Content-Disposition: form-data; name=\"file\"; "
	    . "filename=\"sales.csv\"\r\nContent-Type: "
	    . "application/octet-stream\r\n\r\nq,amount\n1,20\n\r\n--b2--\r\n";
	$r = $c->upload($body, type => 'multipart/form-data; boundary=b2',
	    dialect => 'anthropic');
	is(shape($r->{json}, 'anthropic'), '', 'example 02: Anthropic');
	is("@{$r->{json}}{qw(filename mime_type size_bytes)}",
	    'sales.csv text/csv 14', 'example 02: name, type and size');
	is($r->{json}{downloadable} ? 1 : 0, 1, 'example 02: downloadable');
}

my $before = $c->stored;

refused('row 2: empty file part', '400 O[ire|file|empty_file]', '400 A[ire]',
    sub { $c->upload(form(file_part('', 'a.txt')), dialect => shift) });
refused('row 3: no part named file',
    '400 O[ire|file|missing_required_parameter]', '400 A[ire]',
    sub { $c->upload(form(part(purpose => 'user_data')), dialect => shift) });
refused('row 5: two parts named file', '400 O[ire|file|invalid_value]',
    '400 A[ire]', sub { $c->upload(form(file_part('a', 'a.txt'),
	file_part('b', 'b.txt')), dialect => shift) });
refused('row 6: the file under another name',
    '400 O[ire|file|missing_required_parameter]', '400 A[ire]', sub {
	$c->upload(form(part('upload', $csv, 'Content-Disposition: form-data;'
	. ' name="upload"; filename="a.csv"')), dialect => shift) });
refused('row 31: Content-Length: 0',
    '400 O[ire|file|missing_required_parameter]', '400 A[ire]',
    sub { $c->upload('', length => 0, dialect => shift) });
refused('row 47: a JSON body', '415 O[ire|-|unsupported_media_type]',
    '415 A[ire]', sub { $c->upload('{"file":"x","purpose":"user_data"}',
	type => 'application/json', dialect => shift) });
refused('row 48: a form without files', '415 O[ire|-|unsupported_media_type]',
    '415 A[ire]', sub { $c->upload('file=x',
	type => 'application/x-www-form-urlencoded', dialect => shift) });
refused('row 49: Content-Encoding: gzip',
    '400 O[ire|-|request_body_encoding_unsupported]',
    '400 A[ire|request_body_encoding_unsupported]', sub {
	$c->upload(form(file_part($csv, 'a')), dialect => shift,
	headers => ['Content-Encoding' => 'gzip']) });
is($c->stored, $before, 'rows 2 to 49: nothing was stored');

for (['JSON', '{"file":"x"}', 'application/json'],
    ['urlencoded', 'file=x', 'application/x-www-form-urlencoded']) {
	my ($what, $body, $type) = @$_;
	like($c->upload($body, type => $type)->{json}{error}{message},
	    qr{multipart/form-data},
	    "up-wrong-content-type: $what is told what to send");
}
refused('up-wrong-content-type: two files', '400 O[ire|file|invalid_value]',
    '400 A[ire]', sub { $c->upload(form(file_part('a', 'a'),
	file_part('b', 'b')), dialect => shift) });
refused('up-wrong-content-type: base64',
    '400 O[ire|file|malformed_multipart]', '400 A[ire]', sub {
	$c->upload(form(part('file', 'YQ==', 'Content-Disposition: form-data;'
	. ' name="file"; filename="a"', 'Content-Transfer-Encoding: base64')),
	dialect => shift) });

# --- the limit ---

my $full = 'x' x $MAX;
for my $d (@DIALECTS) {
	my $r = $c->upload(form(file_part($full, 'full.bin')), dialect => $d);
	is("$r->{status} " . ($r->{json}{bytes} // $r->{json}{size_bytes} // ''),
	    "200 $MAX", "row 27: a file of exactly the limit: 200 ($d)");
	$c->request('DELETE', "/v1/files/$r->{json}{id}");
}
$before = $c->stored;
my $large = qr/limit of $MAX bytes/;
for my $d (@DIALECTS) {
	my $want = $d eq 'openai' ? '413 O[ire|file|file_too_large]'
	    : '413 A[request_too_large]';
	my $r = $c->upload('', length => $MAX + 1048577, dialect => $d);
	is(said($r, $d), $want,
	    "row 28: Content-Length over the limit: refused unread ($d)");
	like($r->{json}{error}{message}, $large,
	    "row 28: the message names the limit ($d)");
	for my $how ([], [chunked => 8192]) {
		my $r = $c->upload(form(file_part($full . 'y', 'over.bin')),
		    dialect => $d, early => 1, @$how);
		is(said($r, $d), $want, 'row 29: one byte over, with'
		    . (@$how ? 'out' : '') . " a length: 413 ($d)");
	}
}
is($c->stored, $before, 'row 29: no row and no bytes');
{
	my $r = $c->upload(sub { 'z' x 65536 }, early => 1, length => 1 << 30);
	is($r->{status}, 413, 'a body of 1 GiB is refused');
	my ($line) = grep { ($_->{request} // '')
	    eq $r->{header}{'request-id'} } $c->{s}->log;
	cmp_ok($line->{in}, '<', 1048576, 'before 1 MiB of it was read');
}

# --- lengths ---

for (['buffering off', $c], ['buffering on', $buffered]) {
	my ($mode, $client) = @$_;
	my $seven = "\7" x 3145728;
	for my $d (@DIALECTS) {
		my $r = $client->upload(form(file_part($seven, 'seven.bin')),
		    chunked => 30000, dialect => $d);
		is($r->{status}, 200,
		    "row 30: chunked without a length: 200, $mode ($d)");
		is($r->{json}{bytes} // $r->{json}{size_bytes}, 3145728,
		    "up-chunked-no-length: its size, $mode ($d)");
		is(sha256_hex(content($client, $r->{json}{id})),
		    sha256_hex($seven),
		    "up-chunked-no-length: its bytes, $mode ($d)");
	}
	my $r = $client->upload(form(file_part($csv, 'e.csv')),
	    headers => [Expect => '100-continue']);
	is($r->{status}, 200, "row 35: Expect: 100-continue, $mode");
}
{
	my $body = form(file_part($csv, 'x.csv'));
	my $r = $c->upload($body . 'GET /surplus HTTP/1.1', length => length $body);
	is("$r->{status} $r->{json}{bytes}", '200 ' . length $csv,
	    'row 33: what follows the announced length is no part of the file');
	is(content($c, $r->{json}{id}), $csv, 'row 33: its bytes');
}
for ('-5', 'many') {
	my $r = $c->upload(form(file_part($csv, 'x.csv')), length => $_);
	is($r->{status}, 400, "row 34: Content-Length: $_: 400");
}
for my $d (@DIALECTS) {
	my $r = $c->cgi(REQUEST_METHOD => 'POST', REQUEST_URI => '/v1/files',
	    CONTENT_TYPE => 'multipart/form-data; boundary=BB',
	    CONTENT_LENGTH => '-5', dialect => $d);
	is(said($r, $d), $d eq 'openai' ? '400 O[ire|-|-]' : '400 A[ire]',
	    "row 34: as plain CGI: 400 ($d)");
}

# --- clients that leave ---

$before = $c->stored;
my $access = $c->logged(qr{"POST"});
my $body = form(file_part('x' x 300000, 'half.bin'));
$c->upload($body, length => length($body) + 1000, cut => length $body);
$c->upload($body, cut => 100000);
$c->upload($body, chunked => 100000, cut => 100000);
ok($c->wait_for(sub { $c->logged(qr{"POST"}) == $access + 3 }),
    'row 32: three uploads cut short are three lines in the log');
is($c->stored, $before, 'row 32: longer announced than sent: nothing stored');
is($c->stored, $before,
    'row 37: a client gone in the middle, buffering off: no row, no bytes');
is(scalar(grep m{^\Q$c->{s}{root}\E/tmp/}, $c->on_disk), 0, 'row 37: the temporary file is gone');

$before = $buffered->stored;
$access = $buffered->logged(qr{"POST"});
$buffered->upload($body, cut => 100000);
$buffered->upload(form(file_part('y', 'after.txt')));
is($buffered->logged(qr{"POST"}), $access + 1,
    'row 36: a client gone in the middle, buffering on: no worker starts');

# --- two rules of the field ---

{
	my $user = 'same';
	my $r = $c->upload(form(file_part('x' x 100000, 'h.bin')), cut => 100000,
	    key => $user, length => 300000);
	$c->upload(form(file_part('x' x 100000, 'h.bin')), cut => 100000,
	    key => $user, chunked => 100000);
	$r = $c->get('/v1/files', key => $user);
	is("$r->{status} " . @{ $r->{json}{data} }, '200 0',
	    'up-truncated-body: neither a row nor a listing of half a file');
}
{
	my @same = map { $c->file($csv, 'again.csv') } 1, 2;
	isnt($same[0], $same[1],
	    'row 78: the same upload again is a second file with its own id');
}

$c->done;
$buffered->done;
done_testing;
