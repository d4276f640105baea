#!/usr/bin/perl

# Stored files in requests that are passed on: the provider gets the file in
# the place of an id that only this gateway knows, and no other byte changes.

use strict;
use warnings;
use JSON::PP;
use MIME::Base64;
use Test::More;
use Provider;
use Satchel qw(header);

# A run at the provider's, of which this file is recorded as the caller's.
my $theirs = 'file_011CNha8iCJcU1wX';
my %models = (m => [({ text => 'ok' }) x 2], run => [{ body => encode_json({
    type => 'message', content => [{ type => 'bash_code_execution_tool_result',
    tool_use_id => 'srvtoolu_1', content => { type =>
    'bash_code_execution_result', stdout => '', stderr => '', return_code => 0,
    content => [{ type => 'bash_code_execution_output', file_id =>
    $theirs }] } }] }) }]);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->yaml('chat', 'openai-chat',
    vision => 'true', pdf => 'true') .
    $p->yaml('resp', 'openai-responses') .
    $p->yaml('ant', 'anthropic-messages', native_code => 'true') .
    $p->yaml('blind', 'anthropic-messages', vision => 'false') .
    $p->yaml('text', 'openai-chat') .
    $p->yaml('small', 'openai-responses', request_max_bytes => 70000));
my %route = (ant => '/v1/messages', blind => '/v1/messages', resp =>
    '/v1/responses', small => '/v1/responses', chat => '/v1/chat/completions',
    text => '/v1/chat/completions');

my $png = pack('H*', '89504e470d0a1a0a0000000d494844520000000100000001'
    . '0802000000907753de0000000c4944415478da63f8cfc0000003010100f7034143'
    . '0000000049454e44ae426082');
my %file = (
	png => [$png, 'dot.png', 'image/png'],
	pdf => ["%PDF-1.4 \0\xff", "r\xc3\xa9sum\xc3\xa9.pdf",
	    'application/pdf'],
	txt => ["Gr\xc3\xbc\xc3\x9fe \"x\"\n", 'notes.txt', 'text/plain'],
	csv => ["a,b\n1,2\n", 'data.csv', 'text/csv'],
	big => ['x' x 100000, 'big.pdf', 'application/pdf'],
);
my (%id, %b64);
for (keys(%file)) {
	my ($bytes, $name, $type) = @{ $file{$_} };
	$id{$_} = $s->upload($bytes, name => $name, type => $type)->{json}{id};
	$b64{$_} = encode_base64($bytes, '');
}
my $csv = '[file \"data.csv\", text/csv, 8 bytes]\na,b\n1,2\n';

sub ask {
	my ($way, $body, %o) = @_;
	$p->forget;
	my $r = $s->post($route{$way}, body => $body, ant =>
	    $route{$way} eq '/v1/messages', timeout => 60, headers =>
	    ['Content-Type' => 'application/json'], %o);
	my ($q) = $p->requests;
	return ($r, $q ? $q->{body} : undef);
}

# The request with ${in} where it says so arrives with ${out} there.
sub same {
	my ($way, $around, $in, $out, $name) = @_;
	my ($body, $want) = map { my $x = $_; $around =~ s/HERE/$x/r }
	    $in, $out;
	my ($r, $got) = ask($way, "{\"model\":\"$way:m\", $body}");
	is($r->{status}, 200, "$name: answered") or diag($r->{body});
	is($got, "{\"model\":\"m\", $want}", $name);
}

# --- Messages ---

is((ask('ant', '{"model":"ant:run","max_tokens":5,"tools":[{"type":'
    . '"code_execution_20250825","name":"code_execution"}],"messages":[{"role":'
    . '"user","content":"x"}]}'))[0]{status}, 200, '(a file of the provider\'s)');
my $ant = '"max_tokens":5,"messages":[{"role":"user", "content":[ HERE ,'
    . '{"type":"text","text":"a \u00e9 1.0e0"}]}]';
sub source {
	my ($id, $more) = @_;
	return "{\"type\":\"file\" , \"file_id\":\"$id\"}";
}
sub base64 {
	my ($type, $data) = @_;
	return "{\"type\":\"base64\",\"media_type\":\"$type\","
	    . "\"data\":\"$data\"}";
}
same('ant', $ant, '{"type":"image","source":' . source($id{png}) . '}',
    '{"type":"image","source":' . base64('image/png', $b64{png}) . '}',
    'an image');
my $kept = ', "title":"T","context":"C","citations":{"enabled":true},'
    . '"cache_control":{"type":"ephemeral"}}';
same('ant', $ant, '{"type":"document", "source" : ' . source($id{pdf}) . $kept,
    '{"type":"document", "source" : ' . base64('application/pdf', $b64{pdf})
    . $kept, 'a PDF, and what stands beside it');
same('ant', $ant, '{"type":"document","source":' . source($id{txt}) . '}',
    '{"type":"document","source":{"type":"text","media_type":"text/plain",'
    . "\"data\":\"Gr\xc3\xbc\xc3\x9fe \\\"x\\\"\\n\"}}", 'a text');
same('ant', $ant, '{"type":"document","source":' . source($id{csv}) . '}',
    '{"type":"document","source":{"type":"text","media_type":"text/plain",'
    . '"data":"a,b\n1,2\n"}}', 'a table, as the text it is');
same('ant', $ant, "{\"type\":\"container_upload\",\"file_id\":\"$id{pdf}\"}",
    "{\"type\":\"document\",\"title\":\"r\xc3\xa9sum\xc3\xa9.pdf\","
    . '"source":' . base64('application/pdf', $b64{pdf}) . '}',
    'what was for code, read');
same('ant', $ant, "{\"type\":\"container_upload\",\"file_id\":\"$id{png}\"}",
    '{"type":"image","source":' . base64('image/png', $b64{png}) . '}',
    'and an image shown');
same('ant', $ant . ',"x":[{"role":"user","content":[{"type":"tool_result",'
    . '"tool_use_id":"t","content":[]}]}]', '{"type":"document","source":'
    . '{"type":"content","content":[{"type":"image","source":'
    . source($id{png}) . '}]}}', '{"type":"document","source":{"type":'
    . '"content","content":[{"type":"image","source":'
    . base64('image/png', $b64{png}) . '}]}}', 'nested');
same('ant', $ant, '{"type":"image","source":' . source($theirs)
    . '}', '{"type":"image","source":' . source($theirs) . '}',
    'the provider\'s own id, of a file of this caller\'s');
same('ant', '"tools":[{"type":"code_execution_20250825","name":'
    . '"code_execution"}],' . $ant, "{\"type\":\"container_upload\","
    . "\"file_id\":\"$id{csv}\"}", '{"type":"document","title":"data.csv",'
    . '"source":{"type":"text","media_type":"text/plain","data":'
    . '"a,b\n1,2\n"}}', 'executor row 54: towards the provider\'s own code, what it does not know');
same('ant', '"tools":[{"type":"code_execution_20250825","name":'
    . '"code_execution"}],' . $ant, '{"type":"container_upload","file_id":'
    . '"file_011CNha8iCJcU1wX"}', '{"type":"container_upload","file_id":'
    . '"file_011CNha8iCJcU1wX"}', 'executor row 54: and what it does');
my ($r, $q) = ask('blind', '{"model":"blind:m", ' . ($ant =~ s/HERE/'{"type":'
    . '"image","source":' . source($id{png}) . '}'/er) . '}');
like(decode_json($q)->{messages}[0]{content}[0]{text},
    qr/^\[file "dot\.png", image\/png, 69 bytes/, 'an image told of');

# --- Responses ---

my $resp = '"input":[{"role":"user","content":[HERE]}]';
same('resp', $resp, "{\"type\":\"input_image\",\"detail\":\"low\", \"file_id\""
    . " : \"$id{png}\"}", '{"type":"input_image","detail":"low", "image_url":'
    . "\"data:image/png;base64,$b64{png}\"}", 'an image part');
same('resp', $resp, "{\"type\":\"input_file\",\"file_id\":\"$id{pdf}\"}",
    "{\"type\":\"input_file\",\"file_data\":\"data:application/pdf;base64,"
    . "$b64{pdf}\",\"filename\":\"r\xc3\xa9sum\xc3\xa9.pdf\"}", 'a file part');
same('resp', $resp, "{\"file_id\":\"$id{pdf}\",\"type\":\"input_file\","
    . '"filename":"x.pdf"}', '{"file_data":"data:application/pdf;base64,'
    . "$b64{pdf}\",\"type\":\"input_file\",\"filename\":\"x.pdf\"}",
    'under the name it was given');
same('resp', $resp, "{\"type\":\"input_file\",\"file_id\":\"$id{csv}\"}",
    "{\"type\":\"input_text\",\"text\":\"$csv\"}", 'a table');
same('resp', '"input":[ HERE ]', "{\"type\":\"input_file\",\"file_id\":"
    . "\"$id{pdf}\"}, {\"type\":\"input_text\",\"text\":\"?\"}",
    '{"type":"message","role":"user","content":[{"type":"input_file",'
    . "\"file_data\":\"data:application/pdf;base64,$b64{pdf}\",\"filename\":"
    . "\"r\xc3\xa9sum\xc3\xa9.pdf\"}, {\"type\":\"input_text\",\"text\":"
    . '"?"}]}', 'row 150: bare parts share a message');
same('resp', '"input":[HERE]', '{"type":"input_text","text":"a"},{"role":'
    . '"assistant","content":"b"},{"type":"input_text","text":"c"}',
    '{"type":"message","role":"user","content":[{"type":"input_text","text":'
    . '"a"}]},{"role":"assistant","content":"b"},{"type":"message","role":'
    . '"user","content":[{"type":"input_text","text":"c"}]}',
    'neighbours only');
same('resp', '"input":[HERE]', "{\"type\":\"input_file\",\"file_id\":"
    . "\"$id{csv}\"}", '{"type":"message","role":"user","content":[{"type":'
    . "\"input_text\",\"text\":\"$csv\"}]}", 'a bare one that becomes text');
same('resp', '"input":[{"type":"message","role":"assistant","content":[{"type'
    . '":"output_text","text":"t","annotations": HERE}]},{"role":"user",'
    . '"content":"And?"}]', '[{"type":"container_file_citation","file_id":'
    . '"cfile_' . '0' x 32 . '"}]', '[]', 'citations of ours go');

# --- Chat ---

my $chat = '"messages":[{"role":"user","content":[HERE]}]';
same('chat', $chat, "{\"type\":\"file\",\"file\":{\"file_id\":\"$id{pdf}\"}}",
    "{\"type\":\"file\",\"file\":{\"file_data\":\"data:application/pdf;base64,"
    . "$b64{pdf}\",\"filename\":\"r\xc3\xa9sum\xc3\xa9.pdf\"}}",
    'a file, to one that reads it');
same('text', $chat, "{\"type\":\"file\",\"file\":{\"file_id\":\"$id{csv}\"}}",
    "{\"type\":\"text\",\"text\":\"$csv\"}", 'text for one that does not');

# --- what cannot be ---

for (['chat', $chat, '{"type":"file","file":{"file_id":"ID"}}',
    'messages[0].content[0].file.file_id'], ['resp', $resp,
    '{"type":"input_file","file_id":"ID"}', 'input[0].content[0].file_id'],
    ['ant', $ant, '{"type":"document","source":{"type":"file","file_id":'
    . '"ID"}}', undef]) {
	my ($way, $around, $part, $where) = @$_;
	for (['file-' . '0' x 32, {}, 'absent'], [$id{pdf}, { as => 'bob' },
	    'another\'s']) {
		my ($id, $with, $what) = @$_;
		my $body = $around =~ s/HERE/$part/r =~ s/ID/$id/r;
		($r, $q) = ask($way, "{\"model\":\"$way:m\",$body}", %$with);
		is("$r->{status} " . ($where ? "$r->{json}{error}{code} "
		    . $r->{json}{error}{param} : $r->{json}{error}{type}),
		    $where ? "404 file_not_found $where" :
		    '404 not_found_error', "row 147: $way: $what");
		is($q, undef, "$way: $what: no provider is asked");
	}
}
($r, $q) = ask('ant', '{"model":"ant:m",' . ($ant =~ s/HERE/'{"type":'
    . '"document","source":' . source($id{png}) . '}'/er) . '}');
is("$r->{status} $r->{json}{error}{type}", '400 invalid_request_error',
    'row 148: an image called a document');
($r, $q) = ask('small', '{"model":"small:m",' . ($resp =~ s/HERE/'{"type":'
    . "\"input_file\",\"file_id\":\"$id{big}\"}"/er) . '}');
is("$r->{status} $r->{json}{error}{type}", '400 invalid_request_error',
    'more than the provider takes');
is($q, undef, 'it is not asked');
# An id is no key to a file of somebody else's: what is not recorded for the
# caller is not there, whatever the form of its id, and nobody is asked.
my $upload = '{"type":"container_upload","file_id":"ID"}';
my $run = '"tools":[{"type":"code_execution_20250825","name":'
    . '"code_execution"}],';
my $auto = '"input":"x","tools":[{"type":"code_interpreter","container":'
    . '{"type":"auto","file_ids":["ID"]}}]';
for (['ant', $ant, '{"type":"image","source":' . source('ID') . '}'],
    ['ant', $ant, '{"type":"document","source":' . source('ID') . '}'],
    ['ant', $ant, $upload], ['ant', $run . $ant, $upload],
    ['ant', $ant, '{"type":"tool_result","tool_use_id":"t","content":[{"type":'
    . '"image","source":' . source('ID') . '}]}'],
    ['ant', $ant, '{"type":"image","source":{"type":"file",'
    . '"file\u005fi\u0064":"ID"}}'],
    ['ant', '"type":"tool_use",' . $ant, $upload],
    ['blind', $ant, '{"type":"document","source":' . source('ID') . '}'],
    ['resp', $resp, '{"type":"input_file","file_id":"ID"}'],
    ['resp', $resp, '{"type":"input_image","file_id":"ID"}'],
    ['resp', '"input":[HERE]', '{"type":"input_file","file_id":"ID"}'],
    ['resp', '"input":[HERE]', '{"type":"function_call","call_id":"c","name":'
    . '"f","arguments":"{}"},{"type":"function_call_output","call_id":"c",'
    . '"output":[{"type":"input_file","file_id":"ID"}]}'],
    ['resp', '"type":"tool_use","input":[HERE]',
    '{"type":"input_file","file_id":"ID"}'],
    ['resp', $auto, ''], ['resp', '"input":"x","tools":[{"type":'
    . '"image_generation","input_image_mask":{"file_id":"ID"}}]', ''],
    ['chat', $chat, '{"type":"file","file":{"file_id":"ID"}}'],
    ['text', $chat, '{"type":"file","file":{"file_id":"ID"}}']) {
	my ($way, $around, $part) = @$_;
	for (['file_011Cother'], ['file-AbCd123'], ['assistant'], ['a b'],
	    ['file\u002dx'], ['0' x 32], [$theirs, as => 'bob'],
	    ['x' x 200]) {
		my ($id, %with) = @$_;
		my $body = $around =~ s/HERE/$part/r =~ s/ID/$id/r;
		($r, $q) = ask($way, "{\"model\":\"$way:m\",$body}", %with);
		my $e = $r->{json}{error};
		is("$r->{status} " . ($route{$way} eq '/v1/messages'
		    ? $e->{type} : $e->{code}), $route{$way} eq '/v1/messages'
		    ? '404 not_found_error' : '404 file_not_found',
		    "$way: $part: $id is not there") or diag($r->{body});
		is($q, undef, '... and no provider is asked');
	}
}
same('ant', '"max_tokens":5,"messages":[{"role":"user","content":"x"},{"role":'
    . '"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":'
    . ' HERE }]},{"role":"user","content":[{"type":"tool_result","tool_use_id":'
    . '"t"}]}]', ('{"file_id":"x","a":{"file_ids":["y"]}}') x 2,
    'what a function of the caller\'s is given names no file');
same('ant', '"tools":[{"name":"f","input_schema":{"type":"object","default":'
    . '{"file_id":"x"}}}],' . $ant, '{"type":"text","text":"a"}',
    '{"type":"text","text":"a"}', '... nor does its schema');

# An answer given back that tells of files: those of the caller's stay.
my $made = '"max_tokens":5,"messages":[{"role":"user","content":"x"},{"role":'
    . '"assistant","content":[{"type":"bash_code_execution_tool_result",'
    . '"tool_use_id":"srvtoolu_1","content":{"type":'
    . '"bash_code_execution_result","stdout":"","stderr":"","return_code":0,'
    . '"content": HERE }}]},{"role":"user","content":"y"}]';
sub output { return "[{\"type\":\"bash_code_execution_output\",\"file_id\":"
    . "\"$_[0]\"}]" }
same('ant', $made, output($theirs), output($theirs),
    'what a run at the provider\'s wrote is told of again');
same('ant', $made, output('file_011Cother'), '[]', '... another\'s is not');
same('resp', '"input":[{"type":"message","role":"assistant","content":[{"type'
    . '":"output_text","text":"t","annotations": HERE}]},{"role":"user",'
    . '"content":"And?"}]', '[{"type":"file_citation","file_id":"file-x"}]',
    '[]', '... nor cited');
($r, $q) = ask('resp', '{"model":"resp:m","input":"x","x":[{"container":'
    . "{\"file_ids\":[\"$id{csv}\"]}}]}");
is("$r->{status} $r->{json}{error}{param}", '400 x[0].container.file_ids[0]',
    'where a provider cannot be given one');
($r, $q) = ask('ant', '{"model":"ant:m","max_tokens":5,"messages":[{"role":'
    . '"user","content":[{"type":"document","source":' . source('file_' . '0'
    x 32) . '}]},{"role":"assistant","content":"Y"},{"role":"user","content":'
    . '"And?"}]}');
is(decode_json($q)->{messages}[0]{content}[0]{text},
    '[a file that is no longer available]', 'one of an older turn is told of');

$s->done;
done_testing();
