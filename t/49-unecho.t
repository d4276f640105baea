#!/usr/bin/perl

# A conversation that began with code run here goes on with a provider who has
# never heard of this gateway: runs become text, ids and containers of ours go.

use strict;
use warnings;
use JSON::PP;
use Test::More;
use Provider;
use Satchel qw(header);

my $p = Provider->new(script => { models => { m => [({ text => 'ok' }) x 2],
    run => [{ calls => [{ name => 'bash_code_execution', arguments => {
    command => 'echo 42 | tee n.txt' } }] }, { text => 'It is 42.' }] } });
my $s = Satchel->new(providers => $p->yaml('open', 'openai-chat') .
    $p->yaml('ant', 'anthropic-messages', native_code => 'true') .
    $p->yaml('resp', 'openai-responses', native_code => 'true'));
my $head = "[earlier in this conversation this command was run in a "
    . "sandbox]\n";
my @tools = (tools => [{ type => 'code_execution_20250825', name =>
    'code_execution' }]);
my $go = { role => 'user', content => 'Go.' };

sub ask {
	my ($path, %body) = @_;
	$p->forget;
	my $r = $s->post($path, ant => $path =~ /messages/ ? 1 : 0,
	    timeout => 60, json => \%body);
	is($r->{status}, 200, 'answered') or diag($r->{body});
	return ($r->{json}, map { $_->{json} } $p->requests);
}

# --- Messages: an answer of ours, as it was given ---

my ($answer) = ask('/v1/messages', model => 'open:run', max_tokens => 500,
    messages => [$go], @tools);
my @blocks = @{ $answer->{content} };
is_deeply([map { $_->{type} } @blocks], [qw(server_tool_use
    bash_code_execution_tool_result text)], 'a run of ours');
my ($id) = $s->get('/v1/files')->{json}{data}[0]{id};
my (undef, $q) = ask('/v1/messages', model => 'ant:m', max_tokens => 50,
    @tools, container => $answer->{container}{id} // 'container_gw_' . '0' x 20,
    messages => [$go, { role => 'assistant', content => \@blocks },
    { role => 'user', content => 'And?' }]);
is_deeply($q->{messages}[1]{content}, [{ type => 'text', text => $head
    . "echo 42 | tee n.txt\n[its result]\nstdout:\n42\nexit code: 0\n"
    . "files written: /mnt/data/n.txt ($id, 3 bytes)" }, $blocks[2]],
    'is a text, and the rest is as it was') or
    diag(encode_json($q->{messages}[1]));
is($q->{container}, undef, 'our container is gone');
is_deeply($q->{tools}, $tools[1], 'the declaration is the provider\'s');

# --- what common clients leave of it ---

(undef, $q) = ask('/v1/messages', model => 'ant:m', max_tokens => 50,
    messages => [$go, { role => 'assistant', content => [
    { type => 'thinking', thinking => 'Hm', signature => 'gw_unsigned' },
    { type => 'tool_use', id => 'call_1', name => 'save', input => {} },
    { type => 'server_tool_use', id => 'srvtoolu_gw_' . '0' x 24, name =>
    'code_execution', input => { code => 'print("a")' } }] },
    { role => 'user', content => [{ type => 'tool_result', tool_use_id =>
    'call_1', content => 'ok' }] }], tools => [{ name => 'save',
    input_schema => { type => 'object' } }]);
is_deeply($q->{messages}[1]{content}, [{ type => 'text', text => $head
    . "print(\"a\")\n[its result]\n(result not available)" },
    { type => 'tool_use', id => 'call_1', name => 'save', input => {} }],
    'a run without its result, thoughts of an open model, a call last');

# As LangChain leaves a streamed run: what was run and its result are lost.
(undef, $q) = ask('/v1/messages', model => 'ant:m', max_tokens => 50,
    messages => [$go, { role => 'assistant', content => [
    { %{$blocks[0]}, input => {} }, $blocks[2]] },
    { role => 'user', content => 'And?' }]);
is_deeply($q->{messages}[1]{content}, [{ type => 'text', text => $head
    . "echo 42 | tee n.txt\n[its result]\nstdout:\n42\nexit code: 0\n"
    . "files written: /mnt/data/n.txt ($id, 3 bytes)" }, $blocks[2]],
    'and without what was run') or diag(encode_json($q->{messages}[1]));

# --- the provider's own is untouched ---

my $own = '[{"type":"server_tool_use","id":"srvtoolu_01","name":"x",'
    . '"input":{}},{"type":"x_tool_result","tool_use_id":"srvtoolu_01",'
    . '"content": {"a":1.0}},{"type":"thinking","thinking":"t","signature":'
    . '"EqQB_gw_x"}]';
my $body = '{"model":"ant:m","max_tokens":5,"messages":[{"role":"user",'
    . '"content":"x"},{"role":"assistant","content":' . $own . '},{"role":'
    . '"user","content":"y"}],"container":"container_01"}';
$p->forget;
$s->post('/v1/messages', ant => 1, body => $body, headers =>
    ['Content-Type' => 'application/json']);
is(($p->requests)[0]{body}, $body =~ s/ant:m/m/r, 'byte for byte');

# --- Responses ---

$id = $s->upload('a,b', name => 'a.csv', type => 'text/csv')->{json}{id};
(undef, $q) = ask('/v1/responses', model => 'resp:m', tools => [{ type =>
    'code_interpreter', container => 'cntr_gw_' . '0' x 20 }], input => [
    { type => 'reasoning', id => 'rs_gw_' . '0' x 20, summary => [] },
    { role => 'user', content => [{ type => 'input_file', file_id => $id }] },
    { type => 'code_interpreter_call', id => 'ci_gw_' . '0' x 20, status =>
    'completed', code => "print(1)\n", container_id => 'cntr_gw_' . '0' x 20,
    outputs => [{ type => 'logs', logs => "1\n" }] },
    { type => 'message', id => 'msg_gw_' . '0' x 20, status => 'completed',
    role => 'assistant', content => [{ type => 'output_text', text => 't',
    annotations => [{ type => 'container_file_citation', file_id => 'cfile_'
    . '0' x 32, container_id => 'cntr_gw_' . '0' x 20 }] }] },
    { type => 'function_call', id => 'fc_gw_' . '0' x 20, call_id => 'c1',
    name => 'f', arguments => '{}' }, { type => 'function_call_output',
    call_id => 'c1', output => 'x' }]);
is_deeply($q->{input}, [
    { role => 'user', content => [{ type => 'input_text', text =>
    "[file \"a.csv\", text/csv, 3 bytes]\na,b" }] },
    { type => 'message', role => 'assistant', content => [{ type =>
    'output_text', text => $head . "print(1)\n\n[its result]\n1\n" }] },
    { type => 'message', status => 'completed', role => 'assistant',
    content => [{ type => 'output_text', text => 't', annotations => [] }] },
    { type => 'function_call', call_id => 'c1', name => 'f', arguments =>
    '{}' }, { type => 'function_call_output', call_id => 'c1', output => 'x' }],
    'runs are text, ids of ours are gone, files are there') or
    diag(encode_json($q->{input}));
is_deeply($q->{tools}[0]{container}, { type => 'auto' },
    'the provider makes a container of its own');

$s->done;
done_testing();
