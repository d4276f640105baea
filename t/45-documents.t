#!/usr/bin/perl

# Images and documents towards models that cannot take them as they are: text,
# read in the sandbox, where there is any; the bytes where they can.

use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP;
use MIME::Base64;
use Test::More;
use Provider;
use Satchel qw(header);

my $dir = tempdir(CLEANUP => 1);
system('/usr/bin/python3', 't/tool/documents.py', $dir) == 0 or
    die('t/tool/documents.py failed');

sub slurp {
	open(my $f, '<:raw', "$dir/$_[0]") or die "$_[0]: $!";
	local $/;
	return scalar(<$f>);
}

my %models = (
	m => [{ text => 'ok' }],
	seer => [{ text => 'A receipt with the number 2042.' }],
	code => [{ calls => [{ name => 'bash_code_execution', arguments =>
	    { command => 'cat data.csv' } }] }, { expect => ['A1,20'],
	    text => 'Seen.' }],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers =>
    $p->yaml('plain', 'openai-chat') .
    $p->yaml('eyes', 'openai-chat', vision => 'true', pdf => 'true',
    request_max_bytes => 100000) .
    $p->yaml('texts', 'openai-chat', vision => 'true', content_arrays =>
    'false') .
    $p->yaml('ant', 'anthropic-messages') .
    $p->yaml('blind', 'openai-responses', vision => 'false',
    pdf => 'false') . $p->yaml('resp', 'openai-responses'),
    set => { 'documents.max_text_bytes' => 2000 });

my $office = 'application/vnd.openxmlformats-officedocument.';
my %id;
for (['data.csv', 'text/csv', "sku,qty\nA1,20\n"],
    ['notes.txt', 'text/plain', "Gr\xc3\xbc\xc3\x9fe\n"],
    ['latin.txt', 'text/plain', "Gr\xfc\xdfe\n"],
    ['long.log', 'application/octet-stream', 'x' x 5000],
    ['main.py', 'text/x-python', "print('hi')\n"],
    ['a.json', 'application/json', '{"a":1}'],
    ['bin.dat', 'application/octet-stream', "\0\1\2"],
    ['broken.docx', "${office}wordprocessingml.document", 'no zip'],
    ['text.pdf', 'application/pdf'], ['scan.pdf', 'application/pdf'],
    ['scan.png', 'image/png'], ['blank.png', 'image/png'],
    ['doc.html', 'text/html'],
    ['doc.docx', "${office}wordprocessingml.document"],
    ['doc.xlsx', 'application/octet-stream'],
    ['doc.pptx', "${office}presentationml.presentation"],
    ['doc.odt', 'application/vnd.oasis.opendocument.text'],
    ['doc.rtf', 'application/rtf'],
    ['doc.epub', 'application/epub+zip']) {
	my ($name, $type, $bytes) = @$_;
	my $r = $s->upload($bytes // slurp($name), name => $name,
	    type => $type);
	$id{$name} = $r->{json}{id} or die("upload of $name failed");
}

# What the provider got in its last message from a Messages caller.
sub shown {
	my ($model, $blocks, @more) = @_;
	$p->forget;
	my $r = $s->post('/v1/messages', ant => 1, timeout => 90, json => {
	    model => $model, max_tokens => 500, messages => [{ role => 'user',
	    content => $blocks }], @more });
	my ($q) = grep { $_->{path} ne '/v1/models' } $p->requests;
	return ($r, $q ? $q->{json} : undef);
}

sub document {
	my ($name, @more) = @_;
	return { type => $name =~ /png/ ? 'image' : 'document', source => {
	    type => 'file', file_id => $id{$name} }, @more };
}

sub text_of {
	my ($name) = @_;
	my ($r, $q) = shown('plain:m', [document($name)]);
	is($r->{status}, 200, "$name: answered") or diag($r->{body});
	my $c = $q->{messages}[0]{content} // '';
	return ref($c) ? encode_json($c) : $c;
}

# --- reading ---

is(text_of('data.csv'), qq([file "data.csv", text/csv, 14 bytes]\n)
    . "sku,qty\nA1,20\n", 'a table is text');
is(text_of('notes.txt'), qq([file "notes.txt", text/plain, 8 bytes]\n)
    . "Gr\x{fc}\x{df}e\n", 'text is text');
is(text_of('latin.txt'), qq([file "latin.txt", text/plain, 6 bytes]\n)
    . "Gr\x{fc}\x{df}e\n", 'whatever its encoding');
like(text_of('long.log'), qr/\]\nx{2000}\n\[\.\.\. 3000 bytes left out\]$/,
    'not more than a model is given');
like(text_of('main.py'), qr/\nprint\('hi'\)/, 'a program');
like(text_of('a.json'), qr/\n\{"a":1\}$/, 'JSON');
is(text_of('bin.dat'), '[file "bin.dat", application/octet-stream, 3 bytes: '
    . 'its content cannot be shown to this model]', 'what nothing reads');
is(text_of('broken.docx') =~ s/\d+ bytes/N bytes/r, '[file "broken.docx", '
    . "${office}wordprocessingml.document, N bytes: its content could not be "
    . 'read]', 'what is broken');
like(text_of('text.pdf'), qr/\[file "text\.pdf".*\n.*Invoice 4711/s, 'a PDF');
like(text_of('scan.pdf'), qr/Receipt 2042/, 'a PDF that was scanned');
like(text_of('scan.png'), qr/\[file "scan\.png", image\/png.*Receipt 2042/s,
    'the text in an image');
like(text_of('blank.png'), qr/: there is no text in it\]$/, 'or none');
like(text_of("doc.$_"), qr/Hello \*\*\x{d6}sterreich\*\*/, $_)
    for qw(docx odt rtf html epub);
like(text_of('doc.docx'), qr/\| *a *\| *b *\|/, 'tables stay tables');
like(text_of('doc.xlsx'), qr/## Sales\nsku,qty\nA1,20/, 'a sheet');
like(text_of('doc.pptx'), qr/## Slide 2\nFirst slide\n## Slide 10\nLast slide/,
    'slides, in their order');

my $rows = ($s->mysql('SELECT COUNT(*) FROM document_text'))[0][0];
text_of('doc.docx');
is(($s->mysql('SELECT COUNT(*) FROM document_text'))[0][0], $rows,
    'a document is read once');
$s->mysql("UPDATE document_text SET said = 'as it was kept' WHERE said LIKE"
    . " '%Invoice 4711%'");
like(text_of('text.pdf'), qr/\]\nas it was kept$/, 'and then known');

# --- bytes for models that can ---

my $png = encode_base64(slurp('scan.png'), '');
my $pdf = encode_base64(slurp('text.pdf'), '');
my ($r, $q) = shown('eyes:m', [document('scan.png'), { type => 'text',
    text => '?' }]);
is_deeply($q->{messages}[0]{content}, [{ type => 'image_url', image_url =>
    { url => "data:image/png;base64,$png" } }, { type => 'text',
    text => '?' }], 'an image, to a chat model with eyes');
($r, $q) = shown('eyes:m', [document('text.pdf')]);
is_deeply($q->{messages}[0]{content}, [{ type => 'file', file => {
    filename => 'text.pdf', file_data =>
    "data:application/pdf;base64,$pdf" } }], 'a PDF to one that reads');
($r, $q) = shown('resp:m', [document('scan.png')]);
is($q->{input}[0]{content}[0]{image_url}, "data:image/png;base64,$png",
    'an image over the other wire');
($r, $q) = shown('eyes:m', [(document('scan.png')) x 9]);
is("$r->{status} $r->{json}{error}{type}", '400 invalid_request_error',
    'more than the provider takes');
like($r->{json}{error}{message}, qr/^messages\.0\.content\.\d+\.source: /,
    'naming the place');
is($q, undef, 'before it is asked');

# --- what comes in the request itself ---

($r, $q) = shown('plain:m', [{ type => 'document', title => 'data.csv',
    source => { type => 'base64', media_type => 'text/csv',
    data => encode_base64("a,b\n", '') } }]);
is($q->{messages}[0]{content}, qq([file "data.csv", text/csv, 4 bytes]\na,b\n),
    'an inline document');
($r, $q) = shown('plain:m', [{ type => 'image', source => { type => 'base64',
    media_type => 'image/png', data => $png } }]);
like($q->{messages}[0]{content}, qr/Receipt 2042/, 'an inline image');
($r, $q) = shown('plain:m', [{ type => 'image', source => { type => 'base64',
    media_type => 'image/png', data => 'n o' } }]);
is($r->{status}, 400, 'that is no base64');
($r, $q) = shown('plain:m', [{ type => 'image', source => { type => 'url',
    url => 'https://x.example/a.png' } }]);
is($q->{messages}[0]{content}, '[https://x.example/a.png: is not fetched]',
    'an address is not fetched');
($r, $q) = shown('eyes:m', [{ type => 'image', source => { type => 'url',
    url => 'https://x.example/a.png' } }]);
is($q->{messages}[0]{content}[0]{image_url}{url}, 'https://x.example/a.png',
    'but passed on to who can');
($r, $q) = shown('texts:m', [document('scan.png'), { type => 'image',
    source => { type => 'url', url => 'https://x.example/a.png' } }]);
like($q->{messages}[0]{content}, qr{^\[file\ "scan\.png".*Receipt\ 2042.*
    \[https://x\.example/a\.png:\ is\ not\ fetched\]$}sx,
    'a server that takes no parts gets texts');
($r, $q) = shown('plain:m', 'x', messages => [{ role => 'user', content =>
    'Go' }, { role => 'assistant', content => [{ type => 'tool_use', id =>
    'c1', name => 'shot', input => {} }] }, { role => 'user', content => [
    { type => 'tool_result', tool_use_id => 'c1', content => [{ type => 'text',
    text => 'Here:' }, document('scan.png')] }] }], tools => [{ name =>
    'shot', input_schema => { type => 'object' } }]);
is($q->{messages}[2]{content}, 'Here:', 'a result\'s text');
like($q->{messages}[3]{content}, qr/^\[from the result of c1\]\n.*Receipt/s,
    'what it shows follows it');

# --- references that are wrong ---

($r, $q) = shown('plain:m', [{ type => 'document', source => { type => 'file',
    file_id => 'file_' . '0' x 32 } }]);
is("$r->{status} $r->{json}{error}{type}", '404 not_found_error',
    'no such file');
is($q, undef, 'and nobody is asked');
($r, $q) = shown('plain:m', [{ type => 'document', source => { type => 'file',
    file_id => $id{'scan.png'} } }]);
is("$r->{status} $r->{json}{error}{type}", '400 invalid_request_error',
    'an image called a document');
($r, $q) = shown('plain:m', 'x', messages => [{ role => 'user', content => [
    { type => 'document', source => { type => 'file', file_id => 'file_'
    . '0' x 32 } }] }, { role => 'assistant', content => 'Yes' }, { role =>
    'user', content => 'And?' }]);
is($q->{messages}[0]{content}, '[a file that is no longer available]',
    'one of an older turn is only said to be gone');

# --- together with code ---

($r, $q) = shown('plain:code', [document('data.csv')], tools => [{ type =>
    'code_execution_20250825', name => 'code_execution' }]);
is($r->{json}{content}[-1]{text}, 'Seen.', 'code has the file') or
    diag($r->{body});
like($q->{messages}[-1]{content}, qr{^\[file\ "data\.csv"[^\n]*\]\nsku.*\n\[file
    \ /mnt/data/data\.csv\ [^\n]*\]$}sx,
    'and the model has read it, and then where it is');
($r, $q) = shown('plain:code', [{ type => 'container_upload', file_id =>
    $id{'data.csv'} }], tools => [{ type => 'code_execution_20250825',
    name => 'code_execution' }]);
unlike($q->{messages}[-1]{content}, qr/sku/, 'but not what is for code only');
($r, $q) = shown('plain:m', [{ type => 'container_upload', file_id =>
    $id{'data.csv'} }]);
like($q->{messages}[0]{content}, qr/sku,qty/, 'unless there is none');

$s->done;

# --- a vision model ---

$s = Satchel->new(providers => $p->yaml('plain', 'openai-chat') .
    $p->yaml('eyes', 'openai-chat'),
    set => { 'documents.vision_model' => 'eyes:seer' });
$id{'scan.png'} = $s->upload(slurp('scan.png'), name => 'scan.png',
    type => 'image/png')->{json}{id};
for my $n (1, 2) {
	$p->forget;
	$r = $s->post('/v1/messages', ant => 1, timeout => 30, json => {
	    model => 'plain:m', max_tokens => 50, messages => [{ role =>
	    'user', content => [document('scan.png')] }] });
	my @q = $p->requests;
	is(scalar(@q), 3 - $n, $n == 1 ? 'the model that sees is asked' :
	    'once');
	like($q[-1]{json}{messages}[0]{content}, qr/\]\nA receipt with the /,
	    'and the other told');
}

# What one workspace has had read is not known to another.
$r = $s->upload(slurp('scan.png'), as => 'bob', name => 'scan.png',
    type => 'image/png');
is($r->{status}, 200, 'another workspace has an equal image') or
    diag($r->{body});
$p->forget;
$r = $s->post('/v1/messages', ant => 1, as => 'bob', timeout => 30, json => {
    model => 'plain:m', max_tokens => 50, messages => [{ role => 'user',
    content => [document('scan.png', source => { type => 'file', file_id =>
    $r->{json}{id} })] }] });
is($r->{status}, 200, 'and asks about it') or diag($r->{body});
is(scalar($p->requests), 2, 'it is looked at again');

# A PDF that was scanned is a few such images; one with text is none.
for my $name ('scan.pdf', 'text.pdf') {
	$id{$name} = $s->upload(slurp($name), name => $name, type =>
	    'application/pdf')->{json}{id};
	for my $n (1, 2) {
		$p->forget;
		$s->post('/v1/messages', ant => 1, timeout => 60, json => {
		    model => 'plain:m', max_tokens => 50, messages => [{ role =>
		    'user', content => [document($name)] }] });
		my @q = $p->requests;
		my $scan = $name eq 'scan.pdf';
		is(scalar(@q), $scan && $n == 1 ? 2 : 1, "$name: asked");
		like($q[-1]{json}{messages}[0]{content}, $scan ?
		    qr/\]\n\[page 1\]\nA receipt with/ : qr/Invoice 4711/,
		    "$name: told");
	}
}
$s->done;
done_testing();
