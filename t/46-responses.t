#!/usr/bin/perl

# The Responses route over a chat upstream: files in, code run, files out and
# cited, whole and streamed; the caller's own functions; refusals and failures.

use strict;
use warnings;
use JSON::PP ();
use MIME::Base64;
use Test::More;
use Provider;
use Satchel qw(header);
use Streams;

sub code {
	my ($code, %more) = @_;
	return { name => 'code_execution', arguments => { code => $code },
	    %more };
}

my $sum = "import csv\n"
    . "for f in ('data.csv', 'data_2.csv'):\n"
    . "    print(f, sum(int(r['qty']) for r in csv.DictReader(open(f))))\n"
    . "open('totals.csv', 'w').write('a,b\\n')\n";

# The least of an image.
my $png = pack('H*', '89504e470d0a1a0a0000000d494844520000000100000001'
    . '0802000000907753de0000000c4944415478da63f8cfc0000003010100f7034143'
    . '0000000049454e44ae426082');
my $link = '[Download totals.csv](sandbox:/mnt/data/totals.csv)';
my %models = (
	job => [
		{ calls => [code($sum, id => 'call_u1')], usage => {
		    prompt_tokens => 760, completion_tokens => 120 } },
		{ expect => ['totals\.csv \(file-[0-9a-f]{32}, 4 bytes\)'],
		    text => "data.csv totals 42 and data_2.csv totals 17. "
		    . $link, usage => { prompt_tokens => 1116,
		    completion_tokens => 51, prompt_tokens_details =>
		    { cached_tokens => 512 } } },
		{ text => 'The first.' },
	],
	plain => [{ text => "Hello \x{2028} \x{1F600}", reasoning => 'Hm.' }],
	caller => [{ text => 'I save.', calls => [{ name => 'save',
	    id => 'call_b7f3', arguments => { title => 'T' } }] },
	    { expect => ['R-9'], text => 'Saved.' }],
	bare => [{ text => 'Bare.' }],
	three => [{ calls => [map { code("print('run', $_)") } 1 .. 3] },
	    { text => 'After one.' }],
	again => [(map { { calls => [code("print('run', $_)")] } } 1, 2),
	    { text => 'After two.' }],
	patch => [{ calls => [{ name => 'patch', id => 'call_p',
	    arguments => { input => "*** Begin\n" } }] },
	    { text => 'Patched.' }],
	mixed => [{ calls => [{ name => 'save', id => 'call_b7f3',
	    arguments => { title => 'T' } }, code("print('mine')\n"
	    . "open('m.txt','w').write('m')")] }, { text => 'Both.' }],
	slow => [{ calls => [code("print('partial', flush=True)\n"
	    . "import time; time.sleep(60)")] }, { text => 'Late.' }],
	forced => [{ calls => [code("print('forced')")] }, { text => 'Free.' }],
	long => [{ text => 'I will', finish => 'length' }],
	filtered => [{ text => 'I', finish => 'content_filter' }],
	later => [{ calls => [code("print('ran')")] },
	    { status => 500, body => '{}' }],
	first => [{ status => 500, body => '{}' }],
	rate => [{ status => 429, body => '{"error":{"message":"slow"}}',
	    headers => { 'Retry-After' => 17 } }],
	draw => [{ calls => [code("open('a.png','wb').write(bytes.fromhex('"
	    . unpack('H*', $png) . "'))\nopen('b.png','wb').write(b'b' * "
	    . '1048577)')] }, { text => 'Drawn.' }],
	json => [{ text => '{"a":1}' }],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->port, set => {
	'server.public_url' => 'https://gateway.example',
	'code_execution.exec_timeout_s' => 5 });
my @tool = ({ type => 'code_interpreter', container => { type => 'auto' } });
my @save = ({ type => 'function', name => 'save', description =>
    'Store a report.', strict => JSON::PP::false, parameters =>
    { type => 'object', properties => { title => { type => 'string' } } } });
my $outputs = ['code_interpreter_call.outputs'];

sub ask {
	my ($model, %o) = @_;
	$p->forget;
	return $s->post('/v1/responses', timeout => 60, headers =>
	    $o{headers} // [], json => { model => $model, input => 'Go.',
	    tools => \@tool, %{ $o{with} // {} } });
}

# The same, streamed; its events.
sub stream {
	my ($model, %o) = @_;
	my $r = ask($model, %o, with => { %{ $o{with} // {} },
	    stream => JSON::PP::true });
	my $body = $r->{body};
	is_deeply([Streams::faults('/v1/responses', $body)], [],
	    "$model: no client fails at it");
	$body =~ s/^: keepalive\n\n//mg;
	$r->{events} = [];
	while ($body =~ s/\Aevent: ([\w.]+)\ndata: (.*)\n\n//) {
		push @{ $r->{events} }, JSON::PP->new->utf8->decode($2);
		$r->{events}[-1]{type} eq $1 or fail("event $1 is not $2");
	}
	is($body, '', "$model: nothing but events");
	is_deeply([map { $_->{sequence_number} } @{ $r->{events} }],
	    [0 .. $#{ $r->{events} }], "$model: every number in its turn");
	return $r;
}

# What the vendor's clients make of the events: the items as they were when
# they were done, which the last event must repeat.
sub items {
	my ($r) = @_;
	my (@items, @open);
	for my $e (@{ $r->{events} }) {
		my $i = $e->{output_index} // next;
		if ($e->{type} eq 'response.output_item.added') {
			is($i, scalar(@open), "item $i is next");
			push @open, $e->{item}{id};
		} elsif ($e->{type} eq 'response.output_item.done') {
			is($e->{item}{id}, $open[$i], "item $i is the same");
			$items[$i] = $e->{item};
		} else {
			is($e->{item_id}, $open[$i], "$e->{type}: of its item");
		}
	}
	is_deeply($r->{events}[-1]{response}{output}, \@items,
	    'the last event repeats every item');
	return \@items;
}

sub types { return join(' ', map { $_->{type} } @{ $_[0] }) }

sub short {
	my ($r) = @_;
	my $e = $r->{json}{error};
	return join(' ', $r->{status}, map { $_ // '-' } @$e{qw(type code
	    param)});
}

my ($r, $m, @q);

# --- a container declared as the vendor documents it ---

$r = ask('bare', with => { tools => [{ type => 'code_interpreter', container =>
    { type => 'auto', network_policy => { type => 'disabled' } } }] });
is("$r->{status} $r->{json}{output}[-1]{content}[0]{text}", '200 Bare.',
    'network_policy names no file') or diag($r->{body});

# --- as many runs as the caller allows ---

for my $stream (0, 1) {
	my $ask = sub { my ($model, $n) = @_; my $r = $stream ? stream($model,
	    with => { max_tool_calls => $n }) : ask($model, with =>
	    { max_tool_calls => $n });
	    return $stream ? $r->{events}[-1]{response} : $r->{json} };
	my $how = $stream ? 'streamed' : 'whole';
	my $o = $ask->('three', 1);
	is(types($o->{output}), 'code_interpreter_call message',
	    "$how: one run where one is allowed and three are asked for");
	is($o->{max_tool_calls}, 1, '... and the answer says so');
	@q = $p->requests;
	is_deeply([map { $_->{content} } grep { $_->{role} eq 'tool' }
	    @{ $q[1]{json}{messages} }], ["stdout:\nrun 1\nexit code: 0",
	    ('[tool error] no calls are left') x 2], '... the model is told');
	is_deeply([scalar(@q), $q[1]{json}{tool_choice}], [2, 'none'],
	    '... and asked once more, without tools');
	$o = $ask->('again', 2);
	is(types($o->{output}), 'code_interpreter_call code_interpreter_call'
	    . ' message', "$how: over several rounds");
	is(($p->requests)[2]{json}{tool_choice}, 'none', '... the same');
}
ok(!exists(ask('bare')->{json}{max_tool_calls}), 'not said: not told');

# --- log probabilities, and what is to be included ---

for (['top_logprobs', { top_logprobs => 2 }], ['include[0]', { include =>
    ['message.output_text.logprobs'] }], ['include[1]', { include =>
    ['code_interpreter_call.outputs', 'nothing.known'] }],
    ['max_tool_calls', { max_tool_calls => 0 }]) {
	my ($param, $with) = @$_;
	$r = ask('bare', with => $with);
	is_deeply([$r->{status}, $r->{json}{error}{param}], [400, $param],
	    "$param: refused by its name") or diag($r->{body});
	is(scalar($p->requests), 0, '... and no model is asked');
}
for ({ include => ['reasoning.encrypted_content'] }, { include =>
    ['web_search_call.action.sources'] }, { top_logprobs => 0 },
    { include => [] }) {
	is(ask('bare', with => $_)->{status}, 200, 'accepted: '
	    . JSON::PP->new->canonical->encode($_));
}

# --- the job ---

my @up = map { $s->upload($_, name => 'data.csv', type => 'text/csv',
    purpose => 'user_data')->{json}{id} } "qty\n20\n22\n", "qty\n17\n";
my %job = (instructions => 'You are a careful analyst.', include => $outputs,
    metadata => { a => 'b' }, tools => [{ type => 'code_interpreter',
    container => { type => 'auto', file_ids => \@up } }, @save]);
$r = ask('job', with => \%job);
is($r->{status}, 200, 'the job is done') or diag($r->{body});
is(header($r, 'X-Code-Execution-Ran'), 'local', 'and who ran the code');
my $j = $r->{json};
like($j->{id}, qr/^resp_gw_[0-9a-z]{20}$/, 'id of the answer');
cmp_ok(abs($j->{created_at} - time), '<', 100, 'when it was made');
my ($run, $say) = @{ $j->{output} };
like($run->{id}, qr/^ci_gw_[0-9a-z]{20}$/, 'id of the run');
like($run->{container_id}, qr/^cntr_gw_/, 'its container');
like($say->{id}, qr/^msg_gw_[0-9a-z]{20}$/, 'id of the message');
my $cited = $say->{content}[0]{annotations}[0]{file_id};
like($cited, qr/^cfile_[0-9a-f]{32}$/, 'id of the file');
is_deeply($j, { id => $j->{id}, object => 'response', created_at =>
    $j->{created_at}, status => 'completed', background => JSON::PP::false,
    error => undef, incomplete_details => undef, instructions =>
    'You are a careful analyst.', max_output_tokens => undef, metadata =>
    { a => 'b' }, model => 'job', output => [
	{ type => 'code_interpreter_call', id => $run->{id}, status =>
	    'completed', code => $sum, container_id => $run->{container_id},
	    outputs => [{ type => 'logs', logs =>
	    "data.csv 42\ndata_2.csv 17\n" }] },
	{ type => 'message', id => $say->{id}, status => 'completed', role =>
	    'assistant', content => [{ type => 'output_text', text =>
	    "data.csv totals 42 and data_2.csv totals 17. $link",
	    annotations => [{ type => 'container_file_citation',
	    container_id => $run->{container_id}, file_id => $cited,
	    filename => 'totals.csv', start_index => 45, end_index => 96 }],
	    logprobs => [] }] } ],
    parallel_tool_calls => JSON::PP::true, previous_response_id => undef,
    reasoning => { effort => undef, summary => undef }, service_tier =>
    'default', temperature => 1, text => { format => { type => 'text' } },
    tool_choice => 'auto', tools => $job{tools}, top_p => 1, truncation =>
    'disabled', usage => { input_tokens => 1876, input_tokens_details =>
    { cached_tokens => 512, cache_write_tokens => 0 }, output_tokens => 171,
    output_tokens_details => { reasoning_tokens => 0 }, total_tokens => 2047 } },
    'the whole answer') or diag($r->{body});
is($s->get("/v1/files/$cited/content")->{body}, "a,b\n",
    'the cited file can be fetched');

@q = map { $_->{json} } $p->requests;
is_deeply($q[0]{messages}, [{ role => 'system', content =>
    'You are a careful analyst.' }, { role => 'user', content =>
    "Go.\n[file /mnt/data/data.csv - uploaded as \"data.csv\", text/csv, 10 "
    . "bytes]\n[file /mnt/data/data_2.csv - uploaded as \"data.csv\", "
    . 'text/csv, 7 bytes]' }], 'the model was told of both files');
is_deeply([map { $_->{function}{name} } @{ $q[0]{tools} }],
    [qw(save code_execution)], 'and of both functions');

$r = ask('job', with => { %job, input => [{ role => 'user', content => 'Go.' },
    @{ $j->{output} }, { role => 'user', content => 'Which was larger?' }] });
@q = map { $_->{json} } $p->requests;
is_deeply([map { $_->{role} } @{ $q[0]{messages} }],
    [qw(system user assistant tool assistant user)],
    'given back: the model\'s own call and its result');
is($q[0]{messages}[3]{content}, "stdout:\ndata.csv 42\ndata_2.csv 17\n"
    . 'exit code: 0' . "\nfiles written: /mnt/data/totals.csv ("
    . ($cited =~ s/^c?file_/file-/r) . ', 4 bytes)', 'with its file')
    or diag($q[0]{messages}[3]{content});

# --- streamed ---

$r = stream('job', with => \%job);
is($r->{status}, 200, 'streamed');
like(header($r, 'Content-Type'), qr{^text/event-stream}, 'as a stream');
is(header($r, 'X-Code-Execution-Ran'), 'local', 'and who ran the code');
$m = items($r);
is(types($m), 'code_interpreter_call message', 'the same items');
is($m->[0]{code}, $sum, 'the same code');
is_deeply($m->[0]{outputs}, $run->{outputs}, 'and what it printed');
is($m->[1]{content}[0]{annotations}[0]{filename}, 'totals.csv', 'cited');
is(join('', map { $_->{delta} } grep { $_->{type} eq
    'response.code_interpreter_call_code.delta' } @{ $r->{events} }), $sum,
    'the code came in deltas');
my @kinds = map { $_->{type} =~ s/^response\.//r } @{ $r->{events} };
my %seen;
is_deeply([grep { !$seen{$_}++ } @kinds], [qw(created in_progress
    output_item.added code_interpreter_call.in_progress
    code_interpreter_call_code.delta code_interpreter_call_code.done
    code_interpreter_call.interpreting code_interpreter_call.completed
    output_item.done content_part.added output_text.delta
    output_text.annotation.added output_text.done content_part.done
    completed)], 'in the contract\'s order');
is_deeply($r->{events}[-1]{response}{usage}, $j->{usage}, 'the same usage');

# --- plain conversation ---

$r = ask('plain', with => { tools => [], temperature => 0.25, user => 'me',
    max_output_tokens => 99, reasoning => { effort => 'low' } });
is(types($r->{json}{output}), 'reasoning message', 'without tools');
is($r->{json}{output}[0]{content}[0]{text}, 'Hm.', 'what it thought');
is($r->{json}{output}[1]{content}[0]{text}, "Hello \x{2028} \x{1F600}",
    'what it said');
is(header($r, 'X-Code-Execution-Ran'), undef, 'nobody ran anything');
is_deeply(($p->requests)[0]{json}, { model => 'plain', messages => [
    { role => 'user', content => 'Go.' }], max_tokens => 99, temperature =>
    0.25, reasoning_effort => 'low' }, 'the whole request');
is_deeply([@{ $r->{json} }{qw(temperature max_output_tokens user)}],
    [0.25, 99, 'me'], 'the answer repeats what was asked');
$r = stream('plain', with => { tools => [] });
is(types(items($r)), 'reasoning message', 'the same, streamed');
$r = ask('json', with => { tools => [], text => { format => { type =>
    'json_schema', name => 'n', schema => { type => 'object' } } } });
is($r->{json}{output}[0]{content}[0]{text}, '{"a":1}', 'an answer in a form');
like(($p->requests)[0]{body}, qr/\\?"type\\?":\s?\\?"object\\?"/,
    'of which the model is told');

# --- the caller's own functions ---

for my $way (\&ask, \&stream) {
	$r = $way->('caller', with => { tools => [@tool, @save] });
	$m = $r->{events} ? items($r) : $r->{json}{output};
	is(types($m), 'message function_call', 'a function\'s call');
	like($m->[1]{id}, qr/^fc_gw_[0-9a-z]{20}$/, 'its id');
	is_deeply($m->[1], { type => 'function_call', id => $m->[1]{id},
	    call_id => 'call_b7f3', name => 'save', arguments =>
	    $m->[1]{arguments}, status => 'completed' }, 'whole');
	is_deeply(JSON::PP->new->decode($m->[1]{arguments}), { title => 'T' },
	    'its arguments');
	$r = $way->('caller', with => { tools => [@tool, @save], input => [
	    { role => 'user', content => 'Go.' }, @$m,
	    { type => 'function_call_output', call_id => 'call_b7f3',
	    output => 'stored as R-9' }] });
	$m = $r->{events} ? items($r) : $r->{json}{output};
	is($m->[0]{content}[0]{text}, 'Saved.', 'which goes on with its '
	    . 'result');

	$r = $way->('patch', with => { tools => [{ type => 'custom',
	    name => 'patch' }] });
	$m = $r->{events} ? items($r) : $r->{json}{output};
	is("$m->[0]{type} $m->[0]{input}", "custom_tool_call *** Begin\n",
	    'a custom tool\'s call');
	$r = $way->('patch', with => { tools => [{ type => 'custom',
	    name => 'patch' }], input => [{ role => 'user', content => 'Go.' },
	    @$m, { type => 'custom_tool_call_output', call_id => 'call_p',
	    output => 'ok' }] });
	$m = $r->{events} ? items($r) : $r->{json}{output};
	is($m->[0]{content}[0]{text}, 'Patched.', 'and its result');

	$r = $way->('mixed', with => { include => $outputs,
	    tools => [@tool, @save] });
	$m = $r->{events} ? items($r) : $r->{json}{output};
	is(types($m), 'function_call code_interpreter_call message',
	    'mixed: the caller\'s call, ours, and what it wrote');
	is($m->[1]{outputs}[0]{logs}, "mine\n", 'ours has been run');
	is($m->[2]{content}[0]{text}, '', 'a message without words');
	is($m->[2]{content}[0]{annotations}[0]{filename}, 'm.txt', 'cites');
	is(scalar($p->requests), 1, 'the model is not asked again');
	$r = $way->('mixed', with => { tools => [@tool, @save], input => [
	    { role => 'user', content => 'Go.' }, @$m,
	    { type => 'function_call_output', call_id => 'call_b7f3',
	    output => 'ok' }] });
	is_deeply([map { $_->{role} } @{ ($p->requests)[0]{json}{messages} }],
	    [qw(user assistant tool tool)], 'mixed: given back');

	$r = $way->('slow', with => { include => $outputs });
	$m = $r->{events} ? items($r) : $r->{json}{output};
	is($m->[0]{status}, 'failed', 'a run over its time failed');
	like($m->[0]{outputs}[0]{logs}, qr/^partial\n.*\nstopped\ at\ the\ time
	    \ limit$/sx, 'and says so');
	is($m->[1]{content}[0]{text}, 'Late.', 'the turn goes on');

	$r = $way->('long', with => { tools => [] });
	my $end = $r->{events} ? $r->{events}[-1]{response} : $r->{json};
	is_deeply([@$end{qw(status incomplete_details)},
	    $end->{output}[0]{status}], ['incomplete', { reason =>
	    'max_output_tokens' }, 'incomplete'], 'the token limit');
	$r = $way->('filtered', with => { tools => [] });
	$end = $r->{events} ? $r->{events}[-1]{response} : $r->{json};
	is($end->{incomplete_details}{reason}, 'content_filter', 'a filter');

	$r = $way->('forced', with => { tool_choice =>
	    { type => 'code_interpreter' } });
	@q = map { $_->{json}{tool_choice} } $p->requests;
	is_deeply($q[0], { type => 'function', function => { name =>
	    'code_execution' } }, 'a forced run');
	is($q[1], 'auto', 'is forced once');

	$r = $way->('job', with => { %job, tools => [
	    { type => 'satchel_code_execution' }], input => [map { { type =>
	    'input_file', file_id => $_ } } @up] });
	$m = $r->{events} ? items($r) : $r->{json}{output};
	is(types($m), 'message', 'quiet: no runs are shown');
	is($m->[0]{content}[0]{annotations}[0]{filename}, 'totals.csv',
	    'but what they wrote is cited');
}

# --- images ---

$r = ask('draw', with => { include => $outputs });
$m = $r->{json}{output}[0];
is($m->{outputs}[1]{url}, 'data:image/png;base64,' . encode_base64($png, ''),
    'an image that a run made is shown');
like($m->{outputs}[2]{url}, qr{^https://gateway\.example/v1/containers/
    $m->{container_id}/files/cfile_[0-9a-f]{32}/content$}x,
    'one that is too large, by its address');
($r) = $m->{outputs}[2]{url} =~ m{^https://gateway\.example(.*)};
is(length($s->get($r)->{body}), 1048577, 'where it can be fetched');
is(scalar(@{ $m->{outputs} }), 3, 'and no other output');

# --- refusals, before the model is asked ---

my @bad = (
	['a container of ours that is not there', { tools => [{ type =>
	    'code_interpreter', container => 'cntr_gw_3n8p5r1s6t2v9w4x8y1z' }]
	    }, '404 invalid_request_error container_not_found '
	    . 'tools[0].container'],
	['a file that is not there', { tools => [{ type => 'code_interpreter',
	    container => { type => 'auto', file_ids => ['file_1'] } }] },
	    '404 invalid_request_error file_not_found '
	    . 'tools[0].container.file_ids'],
	['background', { background => JSON::PP::true },
	    '400 invalid_request_error - background'],
	['a conversation', { conversation => 'conv_1' },
	    '400 invalid_request_error - conversation'],
	['a prompt', { prompt => { id => 'pmpt_1' } },
	    '400 invalid_request_error - prompt'],
	['an answer that is not kept', { previous_response_id =>
	    'resp_gw_00000000000000000000' }, '400 invalid_request_error '
	    . 'previous_response_not_found previous_response_id'],
	['too many rounds', { max_tool_iterations => 26 },
	    '400 invalid_request_error - max_tool_iterations'],
	['a hosted tool', { tools => [@tool, { type => 'web_search' }] },
	    '400 invalid_request_error - tools[1]'],
	['nothing but an odd item', { input => [{ type => 'hologram' }] },
	    '400 invalid_request_error - input'],
);
for (@bad) {
	my ($what, $with, $want) = @$_;
	$r = ask('job', with => $with);
	is(short($r), $want, $what) or diag($r->{body});
	is(scalar($p->requests), 0, '... before the model is asked');
}
$r = ask('nope:x', with => {}, headers => ['X-Code-Execution' => 'sideways']);
is(short($r), '400 invalid_request_error invalid_executor -', 'a header');

# --- failures ---

for my $way (\&ask, \&stream) {
	$s->expect_log(qr/500|429/);
	$r = $way->('first') if $way == \&ask;
	$r = ask('first', with => { stream => JSON::PP::true })
	    if $way == \&stream;
	is(short($r), '502 server_error - -', 'an upstream that fails at once');
	is(header($r, 'x-should-retry'), undef, 'may be asked again');
	$r = ask('rate', with => { stream => $way == \&stream ?
	    JSON::PP::true : JSON::PP::false });
	is(short($r), '429 rate_limit_error rate_limit_exceeded -', 'too often');
	is(header($r, 'Retry-After'), 17, 'when to come again');
}
$r = ask('later');
is(short($r), '502 server_error - -', 'a failure after a run');
is(header($r, 'x-should-retry'), 'false', 'runs no code twice');
$r = stream('later');
is($r->{status}, 200, 'streamed, it has begun well');
$m = $r->{events}[-1];
is("$m->{type} $m->{response}{status} $m->{response}{error}{code}",
    'response.failed failed server_error', 'and ends as failed');
is(types(items($r)), 'code_interpreter_call', 'with the items so far');
$s->done;
done_testing();
