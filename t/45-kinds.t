#!/usr/bin/perl

# Documents of many kinds, and what a model that cannot read them is told that
# each says: whole, in a readable encoding, and quickly.

use strict;
use warnings;
use utf8;
use Encode qw(encode);
use File::Temp qw(tempdir);
use JSON::PP;
use MIME::Base64;
use Test::More;
use Provider;
use Satchel;

binmode $_, ':utf8' for map { Test::More->builder->$_ }
    qw(output failure_output todo_output);

my $dir = tempdir(CLEANUP => 1);
system('/usr/bin/python3', 't/tool/corpus.py', $dir) == 0 or
    BAIL_OUT('t/tool/corpus.py failed');

sub slurp {
	open(my $f, '<:raw', "$dir/$_[0]") or die "$_[0]: $!";
	local $/;
	return scalar(<$f>);
}

my $p = Provider->new(script => { models => { m => [{ text => 'ok' }] } });
my $s = Satchel->new(providers => $p->yaml('plain', 'openai-chat') .
    $p->yaml('eyes', 'openai-chat', vision => 'true', pdf => 'true'));

# What the model is told of a block: the line that names it, and the rest.
sub told {
	my ($block, $model) = @_;
	$p->forget;
	my $r = $s->post('/v1/messages', ant => 1, timeout => 90, json => {
	    model => $model // 'plain:m', max_tokens => 50, messages => [{
	    role => 'user', content => [$block] }] });
	my ($q) = grep { $_->{path} ne '/v1/models' } $p->requests;
	is($r->{status}, 200, 'answered') or diag($r->{body});
	my $said = $q->{json}{messages}[0]{content} // '';
	return ref($said) ? $said : split /\n/, $said, 2;
}

# Of a file that was uploaded; by all that is said, it might be anything.
sub stored {
	my ($name, %o) = @_;
	my $r = $s->upload($o{bytes} // slurp($name), name => $name,
	    type => $o{type} // 'application/octet-stream');
	my $id = $r->{json}{id} or BAIL_OUT("upload of $name: $r->{body}");
	return told({ type => $o{image} ? 'image' : 'document', source => {
	    type => 'file', file_id => $id } }, $o{model});
}

# Of one that came inside the request.
sub inline {
	my ($name, $type, $bytes) = @_;
	return told({ type => 'document', title => $name, source => {
	    type => 'base64', media_type => $type,
	    data => encode_base64($bytes // slurp($name), '') } });
}

# --- encodings ---

my $words = "Stadt;Umsatz\r\nKöln;5";
for my $name (qw(utf16le utf16be utf32 utf8 cp1252)) {
	my ($head, $said) = stored("$name.csv");
	is($said, $words, "$name: readable");
	unlike($head . $said, qr/\x{feff}/, '... without the mark');
}
is((stored('cp1252.csv', type => 'text/csv'))[1], $words, 'a CSV in cp1252');
is((stored('euro.txt', type => 'text/plain; charset=iso-8859-1'))[1],
    'Café 5 €é', 'what is called Latin-1 is what everybody takes it for');
is((inline('euro.txt', 'application/octet-stream'))[1], 'Café 5 €é',
    'an end that might go on in UTF-8');
is((stored('koi8.txt', type => 'text/plain; charset=koi8-r'))[1], 'Привет',
    'a declared charset');
is((inline('koi8.txt', 'text/plain; charset=KOI8-R'))[1], 'Привет',
    '... in the request');
is((inline('x.txt', 'text/plain; charset=utf-16le', encode('UTF-16LE',
    'Łódź')))[1], 'Łódź', '... with bytes of zero');
is((inline('x.txt', 'text/plain; charset=koi8-r', encode('UTF-8',
    'Łódź')))[1], 'Łódź', 'valid UTF-8 comes before it');
is((inline('x.txt', 'text/plain; charset=no/such//x', "K\xf6ln"))[1], 'Köln',
    'one that nobody knows');
is((inline('prolog.xml', 'application/xml'))[1],
    '<?xml version="1.0" encoding="iso-8859-2"?><a>Łódź</a>',
    'XML that declares its own');
is((stored('meta.html'))[1], "Привет **мир**\n", 'HTML that does');
is((stored('utf16.html', type => 'text/html'))[1], "Łódź\n", 'HTML by its mark');

# --- text, whatever it is called ---

my %program = (Dockerfile => "FROM scratch\n", 'app.tsx' => "let a = <b/>;\n",
    'main.kt' => "fun main() {}\n", 'notes.rst' => "Notes\n=====\n",
    'x.geojson' => '{"type":"Point"}', 'nb.ipynb' => '{"cells":[]}');
is((stored($_, bytes => $program{$_}))[1], $program{$_}, $_)
    for sort keys %program;
for my $type ('application/ld+json', 'application/atom+xml', 'image/svg+xml',
    'video/mp2t', 'application/vnd.ms-excel') {
	my ($head, $said) = inline('x', $type, '<a>1</a>');
	is($said, '<a>1</a>', $type);
	like($head, $type =~ /\+/ ? qr/, \Q$type\E,/ : qr/, text\/plain,/,
	    '... is what it is called, if that is a text');
}
like((stored('draw.svg'))[1], qr/^<svg.*Hi/, 'a drawing is text');
is((stored('core', bytes => "ELF\0\1\2"))[0], '[file "core", '
    . 'application/octet-stream, 6 bytes: its content cannot be shown to this '
    . 'model]', 'what is no text');
is((stored('noise', bytes => "\x81\x01\xff"))[1], undef, 'nor without a NUL');
my ($head, $said) = inline('none.docx', 'application/octet-stream', '');
like($head, qr/, 0 bytes: there is no text in it\]$/, 'nothing');

# --- workbooks ---

is((stored('dim.xlsx'))[1], "## S\n" . join('', map { "A$_,B$_,C$_\n" } 1 .. 5),
    'a workbook that is wrong about its size');
is((stored('far.xlsx'))[1], "## S\n[1048575 empty rows and 16383 empty columns"
    . " left out]\ncorner\n", 'one value in the last cell');
is((stored('ends.xlsx'))[1], "## S\n[1048574 empty rows left out]\ntop\nend\n",
    'one in the first row, one in the last');
is((stored('gaps.xlsx'))[1], "## S\n[1 empty row and 1 empty column left out]\n"
    . "a,c\n1,2.5\n", 'a small gap');
is((stored('facts.xlsx'))[1], <<'END', 'what a workbook may hold');
## Facts
when,what,true,sum
2024-03-01,first,TRUE,2
2024-03-01 09:30:00,second,FALSE,=A9
merged,,,
Comment on B2 by Ann: Look here
Text box: Drawn on it
## Secret (hidden)
kept quiet
END
is((stored('sheet.ods'))[1], <<'END', 'OpenDocument\'s');
## Sales
[1048573 empty rows left out]
sku,20,20
2024-03-01,,
Comment by ?: A note
## Quiet (hidden)
hidden
END

# --- texts and slides ---

is((stored('margins.docx'))[1] =~ s/\n+/\n/gr, <<'END', 'every part of Word\'s');
Header: At the top
First words
Beside the box
In the box
Disputed words
Comment by Ann: I doubt it
Last words
Footer: At the bottom
END
like((stored('large'))[1], qr/First words/, 'one whose end tells what it is');
is((stored('letter.odt'))[1] =~ s/\n+/\n/gr, <<'END', 'OpenDocument\'s');
Header: Our house
Dear all
Comment by ?: Too stiff
Footer: Page end
END
is((stored('show.pptx'))[1], <<'END', 'slides, tables, charts and notes');
## Slide 1
Shown first
New form
| sku | qty |
| --- | --- |
| A1 | 20 |
Chart: Growth
North: Q1 5, Q2 7
Notes: Speak slowly
## Slide 2 (hidden)
Stored first
END
is((stored('show.odp'))[1], "## Slide 1\nOpen slide\nNotes: Say it\n",
    'OpenDocument\'s');

# --- pictures ---

like((stored('turned.jpg', image => 1))[1], qr/Parcel number 4711/,
    'a photograph is turned as it was held');
like((stored('clear.png', image => 1))[1], qr/Clear glass/,
    'black on nothing is read');
like((stored('pages.tif'))[1], qr/Page one.*Page two/s, 'each page of a TIFF');
like((stored('clear.png', image => 1, type => 'image/jpeg', model =>
    'eyes:m'))[0][0]{image_url}{url}, qr{^data:image/png;base64,},
    'its bytes say of what type it is');

# --- what cannot be read ---

for (qw(locked.xlsx locked.ods locked.pdf flagged.docx)) {
	my ($line, $rest) = stored($_);
	like($line, qr/ bytes: it is protected by a password\]$/, $_);
	is($rest, undef, '... and nothing else');
}
like((stored('half.docx'))[0], qr/ bytes: its content could not be read\]$/,
    'half a file');
like((stored('old.doc'))[0],
    qr/ bytes: its content cannot be shown to this model\]$/, 'an old one');

$s->done;

# --- as much as a model is given ---

$s = Satchel->new(providers => $p->yaml('plain', 'openai-chat'),
    set => { 'documents.max_text_bytes' => 1024 });
($head, $said) = stored('long.txt', bytes => encode('UTF-16', 'aé' x 500));
is($said, ('aé' x 341) . "a\n[... 634 bytes left out]",
    'a text ends with a whole letter');
($head, $said) = stored('long.html', bytes => '<p>' . 'xyz ' x 500,
    type => 'text/html');
like($said, qr/^(xyz ){256}\n\[\.\.\. the rest is left out\]$/,
    'what was read is cut the same');
$s->done;
done_testing();
