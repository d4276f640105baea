#!/usr/bin/perl

# Images and documents that come inside a request, or are named in it, towards a
# provider of the caller's own protocol that takes none: text on all routes, in
# all forms, and no answer at all where nothing can read them.

use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP;
use MIME::Base64;
use Test::More;
use Provider;
use Satchel;

my $dir = tempdir(CLEANUP => 1);
system('/usr/bin/python3', 't/tool/documents.py', $dir) == 0 or
    BAIL_OUT('t/tool/documents.py failed');

sub slurp {
	open(my $f, '<:raw', "$dir/$_[0]") or die "$_[0]: $!";
	local $/;
	return scalar(<$f>);
}

my %bytes = (png => slurp('scan.png'), pdf => slurp('text.pdf'),
    csv => "sku,qty\nA1,20\n");
my %mime = (png => 'image/png', pdf => 'application/pdf', csv => 'text/csv');
my %says = (png => qr/Receipt 2042/, pdf => qr/Invoice 4711/,
    csv => qr/A1,20/);
my %base64 = map { $_ => encode_base64($bytes{$_}, '') } keys %bytes;
my %data = map { $_ => "data:$mime{$_};base64,$base64{$_}" } keys %bytes;

my $p = Provider->new(script => { models => {
    m => [{ text => 'ok' }, { text => 'ok' }] } });
my $providers = join '', map {
	my $wire = $_;
	(map { $p->yaml("$_-$wire", $wire, vision => $_ eq 'eyes' ? 'true' :
	    'false', pdf => $_ eq 'eyes' ? 'true' : 'false') } qw(blind eyes));
} qw(openai-chat anthropic-messages openai-responses);
my $s = Satchel->new(providers => $providers);

my %id;
sub upload {
	$id{$_} = $s->upload($bytes{$_}, name => "a.$_", type => $mime{$_})
	    ->{json}{id} or BAIL_OUT("no $_") for keys %bytes;
	return;
}
upload();

# The parts of each protocol: an image or a document, in each form.
my %parts = (
	'openai-chat' => {
		data => sub { $_[0] eq 'png' ? { type => 'image_url', image_url
		    => { url => $data{png} } } : { type => 'file', file => {
		    filename => "a.$_[0]", file_data => $data{$_[0]} } } },
		bare => sub { { type => $_[0] eq 'png' ? 'image_url' : 'file',
		    $_[0] eq 'png' ? (image_url => $data{png}) : (file => {
		    filename => "a.$_[0]", file_data => $base64{$_[0]} }) } },
		id => sub { $_[0] eq 'png' ? () : { type => 'file', file => {
		    file_id => $id{$_[0]} } } },
		url => sub { $_[0] eq 'png' ? { type => 'image_url', image_url
		    => { url => 'https://x.example/a' } } : () },
	},
	'anthropic-messages' => {
		data => sub { { type => $_[0] eq 'png' ? 'image' : 'document',
		    source => { type => 'base64', media_type => $mime{$_[0]},
		    data => $base64{$_[0]} } } },
		id => sub { { type => $_[0] eq 'png' ? 'image' : 'document',
		    source => { type => 'file', file_id => $id{$_[0]} } } },
		url => sub { { type => $_[0] eq 'png' ? 'image' : 'document',
		    source => { type => 'url', url => 'https://x.example/a' }
		    } },
	},
	'openai-responses' => {
		data => sub { $_[0] eq 'png' ? { type => 'input_image',
		    image_url => $data{png} } : { type => 'input_file',
		    filename => "a.$_[0]", file_data => $data{$_[0]} } },
		id => sub { { type => $_[0] eq 'png' ? 'input_image' :
		    'input_file', file_id => $id{$_[0]} } },
		url => sub { $_[0] eq 'png' ? { type => 'input_image',
		    image_url => 'https://x.example/a' } : { type =>
		    'input_file', file_url => 'https://x.example/a' } },
	},
);

# Send turns of the user's, with an answer between each; what arrives.
sub send_turns {
	my ($wire, $sight, $turns, @more) = @_;
	my %route = ('openai-chat' => 'chat/completions', 'openai-responses' =>
	    'responses', 'anthropic-messages' => 'messages');
	my @said = map { ({ role => 'assistant', content => 'Yes.' },
	    { role => 'user', content => $_ }) } @$turns;
	shift @said;
	$p->forget;
	my $r = $s->post("/v1/$route{$wire}", $wire eq 'anthropic-messages' ?
	    (ant => 1) : (), timeout => 60, json => { model => "$sight-$wire:m",
	    $wire eq 'openai-responses' ? (input => \@said) : (max_tokens => 9,
	    messages => \@said), @more });
	my ($q) = grep { $_->{path} ne '/v1/models' } $p->requests;
	return ($r, $q ? $q->{json}{input} // $q->{json}{messages} : undef);
}

# The same of a call's result that shows an image, to a provider of that wire.
sub send_result {
	my ($wire) = @_;
	$p->forget;
	my $r = $s->post('/v1/messages', ant => 1, timeout => 60, json => {
	    model => "blind-$wire:m", max_tokens => 9, messages => [{ role =>
	    'user', content => 'Look' }, { role => 'assistant', content => [{
	    type => 'tool_use', id => 't1', name => 'shot', input => {} }] },
	    { role => 'user', content => [{ type => 'tool_result',
	    tool_use_id => 't1', content => [
	    $parts{'anthropic-messages'}{data}->('png')] }] }], tools => [{
	    name => 'shot', input_schema => { type => 'object' } }] });
	my ($q) = grep { $_->{path} ne '/v1/models' } $p->requests;
	return ($r, encode_json($q->{json}{messages}));
}

my @wires = sort keys %parts;

# --- text in their place ---

for my $wire (@wires) {
	for my $form (sort keys %{ $parts{$wire} }) {
		for my $kind (sort keys %bytes) {
			my $part = $parts{$wire}{$form}->($kind) or next;
			my $what = "$wire: $kind by $form";
			my ($r, $q) = send_turns($wire, 'blind', [[$part]]);
			is($r->{status}, 200, "$what: answered") or
			    diag($r->{body});
			my $got = $q->[0]{content}[0];
			my $text = $got->{text} // $got->{source}{data};
			like($text, $form eq 'url' ?
			    qr{^\[https://x\.example/a: is not fetched\]$} :
			    $says{$kind}, '... as text');
			unlike(encode_json($q), qr/base64|image_url|file_data/,
			    '... and nothing else');
			next if $form eq 'id';
			(undef, $q) = send_turns($wire, 'eyes', [[$part]]);
			is_deeply($q->[0]{content}[0], $part,
			    '... as it is to a provider that takes it');
		}
	}
}

# What a tool shows is no other thing than what the user shows.
my ($r, $q) = send_result('anthropic-messages');
is($r->{status}, 200, 'a tool\'s result with an image');
like($q, $says{png}, '... becomes text');

# So it is where the request is translated, from each of OpenAI's protocols.
for my $sight (qw(blind eyes)) {
	for my $way (['/v1/chat/completions', messages => [{ role => 'user',
	    content => 'Look' }, { role => 'assistant', tool_calls => [{ id =>
	    't1', type => 'function', function => { name => 'shot', arguments
	    => '{}' } }] }, { role => 'tool', tool_call_id => 't1', content =>
	    [{ type => 'text', text => 'Here:' },
	    $parts{'openai-chat'}{data}->('png')] }]],
	    ['/v1/responses', input => [{ role => 'user', content => 'Look' },
	    { type => 'function_call', call_id => 't1', name => 'shot',
	    arguments => '{}' }, { type => 'function_call_output', call_id =>
	    't1', output => [{ type => 'input_text', text => 'Here:' },
	    $parts{'openai-responses'}{data}->('png')] }]]) {
		my ($path, @asked) = @$way;
		$p->forget;
		$r = $s->post($path, timeout => 60, json => { model =>
		    "$sight-anthropic-messages:m", @asked });
		is($r->{status}, 200, "$sight: $path: answered") or
		    diag($r->{body});
		($q) = grep { $_->{path} ne '/v1/models' } $p->requests;
		my @got = @{ $q->{json}{messages}[-1]{content} };
		is($got[0]{type}, 'tool_result', '... the result comes first');
		like(encode_json($got[0]{content}), qr/Here:/,
		    '... with its text');
		like(encode_json([@got[1 .. $#got]]), $sight eq 'eyes' ?
		    qr/"image"/ : $says{png}, '... and then what it shows');
	}
}

# What only looks like one stays.
my @own = (tools => [{ type => 'function', function => { name => 'f',
    parameters => { type => 'object', properties => { a => { type => 'file',
    file => { file_data => 'x' } } } } } }]);
($r, $q) = send_turns('openai-chat', 'blind', ['Go'], @own);
is_deeply(($p->requests)[-1]{json}{tools}, $own[1], 'a function\'s schema');
my $block = { type => 'document', source => { type => 'text', media_type =>
    'text/plain', data => 'words' } };
($r, $q) = send_turns('anthropic-messages', 'blind', [[$block]]);
is_deeply($q->[0]{content}[0], $block, 'a document that is text');

($r, $q) = send_turns('openai-chat', 'blind', [[{ type => 'image_url',
    image_url => { url => 'data:image/png;base64,n o' } }]]);
is("$r->{status} $r->{json}{error}{param}", '400 messages[0].content[0]',
    'what is no base64');
($r, $q) = send_turns('openai-chat', 'blind', [[{ type => 'image_url',
    image_url => { url => 'ftp://x' } }]]);
is($r->{status}, 400, 'what is no address');

# --- a server that takes texts only, and the developer ---

for (['blind', 'system'], ['eyes', 'developer']) {
	my ($sight, $want) = @$_;
	$s->restart(providers => $p->yaml('eyes-openai-chat', 'openai-chat',
	    developer_role => 'true') . $p->yaml('blind-openai-chat',
	    'openai-chat', content_arrays => 'false')) if $sight eq 'blind';
	$p->forget;
	$r = $s->post('/v1/chat/completions', json => { model =>
	    "$sight-openai-chat:m", messages => [{ role => 'developer',
	    content => 'Be brief.' }, { role => 'user', content => 'Hi' }] });
	is(($p->requests)[-1]{json}{messages}[0]{role}, $want,
	    "the developer is the $want");
	next if $sight eq 'eyes';
	($r, $q) = send_turns('openai-chat', 'blind', [[{ type => 'text',
	    text => 'What is this?' }, $parts{'openai-chat'}{data}->('png')]]);
	is($r->{status}, 200, 'parts become one text') or diag($r->{body});
	like($q->[0]{content}, qr/^What is this\?\n.*Receipt 2042/s,
	    '... in their order');
}

# --- nothing that reads them ---

$s->done;
$s = Satchel->new(providers => $providers, set => { 'sandbox.url' => '' });
upload();
for my $wire (@wires) {
	for my $form (grep { $_ ne 'url' } sort keys %{ $parts{$wire} }) {
		for my $kind (qw(png pdf)) {
			my $part = $parts{$wire}{$form}->($kind) or next;
			my $what = "$wire: $kind by $form";
			($r, $q) = send_turns($wire, 'blind', [[$part]]);
			my $e = $r->{json}{error};
			is("$r->{status} $e->{type} " . ($e->{code} //
			    $e->{details}{error_code} // ''), '400 '
			    . 'invalid_request_error document_unreadable',
			    "$what: refused");
			is($q, undef, '... before anybody is asked');
			($r, $q) = send_turns($wire, 'blind',
			    [[$part], 'And?']);
			is($r->{status}, 200, '... but not for ever');
			my $got = $q->[0]{content}[0];
			like($got->{text} // $got->{source}{data}, qr/\ its
			    \ content\ cannot\ be\ shown\ to\ this\ model\]$/x,
			    '... it is said to be missing');
		}
		my $part = $parts{$wire}{$form}->('csv') or next;
		($r, $q) = send_turns($wire, 'blind', [[$part]]);
		is($r->{status}, 200, "$wire: text needs no reader");
	}
}
for my $wire (qw(anthropic-messages openai-chat)) {
	($r, $q) = send_result($wire);
	is($r->{status}, 200, "$wire: a tool's result ends no conversation") or
	    diag($r->{body});
	like($q, qr/cannot be shown/, '... its image is said to be missing');
}

# The same where the request is translated.
for (['/v1/messages', 'openai-chat', messages => 'anthropic-messages'],
    ['/v1/chat/completions', 'anthropic-messages', messages => 'openai-chat'],
    ['/v1/responses', 'openai-chat', input => 'openai-responses']) {
	my ($path, $to, $key, $from) = @$_;
	for my $turns (1, 2) {
		my $part = $parts{$from}{data}->('png');
		$p->forget;
		$r = $s->post($path, $path =~ /messages/ ? (ant => 1) : (),
		    json => { model => "blind-$to:m", $key eq 'input' ? () :
		    (max_tokens => 9), $key => [{ role => 'user', content =>
		    [$part] }, $turns == 1 ? () : ({ role => 'assistant',
		    content => 'Yes.' }, { role => 'user', content => '?' })] });
		is($r->{status}, $turns == 1 ? 400 : 200,
		    "$path to $to, turn $turns");
		like($r->{body}, $turns == 1 ? qr/document_unreadable/ :
		    qr/ok/, '... and why');
	}
}

$s->done;
done_testing();
