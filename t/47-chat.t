#!/usr/bin/perl

# The Chat route over a chat upstream with code run here: what of it the caller
# sees, whole and streamed; his own functions, old and new; refusals, failures.

use strict;
use warnings;
use JSON::PP ();
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
my %models = (
	job => [
		{ text => 'Let me see.', calls => [code($sum, id => 'call_u1')],
		    usage => { prompt_tokens => 760,
		    completion_tokens => 120 } },
		{ expect => ['data\.csv 42'], text => 'The table is in '
		    . 'totals.csv.', usage => { prompt_tokens => 1116,
		    completion_tokens => 51, prompt_tokens_details =>
		    { cached_tokens => 512 } } },
	],
	caller => [{ text => 'I save.', calls => [{ name => 'save',
	    id => 'call_b7f3', arguments => { title => 'T' } }] },
	    { expect => ['R-9'], text => 'Saved.' }],
	mixed => [{ calls => [code("print('mine')"), map { { name => 'save',
	    id => "call_$_", arguments => { title => $_ } } } 'a', 'b'] },
	    { text => 'Both.' }],
	forced => [{ calls => [code("print('forced')")] }, { text => 'Free.' }],
	long => [{ text => 'I will', finish => 'length' }],
	later => [{ text => 'So far', calls => [code("print('ran')")] },
	    { status => 500, body => '{}' }],
	leave => [{ calls => [code("open('left.txt','w').write('x')")] },
	    { text => 'Left.' }],
	look => [{ calls => [code("import os; print(os.listdir())")] },
	    [map { { expect => ["'$_'"], text => $_ } } 'left.txt',
	    'data.csv']],
	first => [{ status => 500, body => '{}' }],
	plain => [{ text => 'Yes.', reasoning => 'Hm.' }],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->port, set => {
	'server.public_url' => 'https://gateway.example' });
my @tool = ({ type => 'code_interpreter' });
my $save = { name => 'save', description => 'Store a report.', parameters =>
    { type => 'object', properties => { title => { type => 'string' } } } };
my @save = ({ type => 'function', function => $save });

sub ask {
	my ($model, %o) = @_;
	$p->forget;
	return $s->post('/v1/chat/completions', timeout => 60, headers =>
	    $o{headers} // [], json => { model => $model, messages =>
	    [{ role => 'user', content => 'Go.' }], tools => \@tool,
	    %{ $o{with} // {} } });
}

# The same, streamed; its chunks, and the choice they make, as the vendor's
# clients put it together.
sub stream {
	my ($model, %o) = @_;
	my $r = ask($model, %o, with => { %{ $o{with} // {} },
	    stream => JSON::PP::true });
	my $body = $r->{body};
	is_deeply([Streams::faults('/v1/chat/completions', $body)], [],
	    "$model: no client fails at it");
	$body =~ s/^: keepalive\n\n//mg;
	$r->{chunks} = [];
	while ($body =~ s/\Adata: (\{.*)\n\n//) {
		push @{ $r->{chunks} }, JSON::PP->new->utf8->decode($1);
	}
	is($body, "data: [DONE]\n\n", "$model: chunks and their end");
	my (%m, $why);
	for my $c (map { @{ $_->{choices} // [] } } @{ $r->{chunks} }) {
		is($why, undef, "$model: nothing after its reason");
		my $d = $c->{delta};
		$why = $c->{finish_reason};
		$m{role} = $d->{role} if $d->{role};
		$m{$_} .= $d->{$_} for grep { defined($d->{$_}) }
		    qw(content reasoning_content);
		push @{ $m{annotations} }, @{ $d->{annotations} // [] };
		for my $call (@{ $d->{tool_calls} // [] }) {
			my $f = delete($call->{function});
			my $i = delete($call->{index});
			my $all = $m{tool_calls}[$i] //= { %$call,
			    function => { name => $f->{name} } };
			$all->{function}{arguments} .= $f->{arguments};
		}
		for ($d->{function_call} // ()) {
			$m{function_call}{name} //= $_->{name};
			$m{function_call}{arguments} .= $_->{arguments};
		}
	}
	$m{content} = undef if ($m{content} // '') eq '' && ($m{tool_calls} ||
	    $m{function_call});
	$r->{json}{choices}[0] = { message => { refusal => undef, %m },
	    finish_reason => $why };
	return $r;
}

sub short {
	my ($r) = @_;
	my $e = $r->{json}{error};
	return join(' ', $r->{status}, map { $_ // '-' } @$e{qw(type code
	    param)});
}

my ($r, $m, @q);
my @up = map { $s->upload($_, name => 'data.csv', type => 'text/csv',
    purpose => 'user_data')->{json}{id} } "qty\n20\n22\n", "qty\n17\n";
my @go = (messages => [{ role => 'user', content => [{ type => 'text',
    text => 'Add up.' }, map { { type => 'file', file => { file_id => $_ } } }
    @up] }]);
my $usage = { prompt_tokens => 1876, completion_tokens => 171, total_tokens =>
    2047, prompt_tokens_details => { cached_tokens => 512 },
    completion_tokens_details => { reasoning_tokens => 0 } };

# --- the job ---

$r = ask('job', with => { @go, tools => [@tool, @save], seed => 7 });
is($r->{status}, 200, 'the job is done') or diag($r->{body});
is(header($r, 'X-Code-Execution-Ran'), 'local', 'and who ran the code');
like($r->{json}{id}, qr/^chatcmpl-gw-[0-9a-z]{20}$/, 'id of the answer');
cmp_ok(abs($r->{json}{created} - time), '<', 100, 'when it was made');
my $note = $r->{json}{choices}[0]{message}{annotations}[0]{url_citation};
like($note->{url}, qr{^https://gateway\.example/v1/files/file-[0-9a-f]{32}/content$},
    'where the file is');
my $cited = { type => 'url_citation', url_citation => { url => $note->{url},
    title => 'totals.csv', start_index => 29, end_index => 39 } };
is_deeply($r->{json}, { id => $r->{json}{id}, object => 'chat.completion',
    created => $r->{json}{created}, model => 'job', choices => [{ index => 0,
    message => { role => 'assistant', content =>
    "Let me see.\n\nThe table is in totals.csv.", refusal => undef,
    annotations => [$cited] }, logprobs => undef, finish_reason => 'stop' }],
    usage => $usage }, 'the whole answer') or diag($r->{body});
(my $path = $note->{url}) =~ s{^https://gateway\.example}{};
is($s->get($path)->{body}, "a,b\n", 'the file can be fetched there');
@q = map { $_->{json} } $p->requests;
like($q[0]{messages}[0]{content}, qr{^Add\ up\.\n.*
    \[file\ /mnt/data/data\.csv\ -\ uploaded\ as\ "data\.csv",\ text/csv,
    \ 10\ bytes\].*\[file\ /mnt/data/data_2\.csv\ -\ uploaded\ as\ "data\.csv",
    \ text/csv,\ 7\ bytes\]}sx, 'the model was told of both files');
like($q[0]{messages}[0]{content}, qr/qty\n20\n22\n.*qty\n17/s,
    'and what they say');
like($q[0]{messages}[0]{content}, qr{qty\n17\n+\[file /mnt/data/data_2},
    'before where they are');
is_deeply([map { $_->{function}{name} } @{ $q[0]{tools} }],
    [qw(save code_execution)], 'and of both functions');
is_deeply([map { $_->{seed} } @q], [7, 7], 'what is not ours goes on');
is($q[1]{messages}[-1]{tool_call_id}, 'call_u1', 'the run is told');

$r = stream('job', with => { @go, stream_options => { include_usage =>
    JSON::PP::true } });
is($r->{status}, 200, 'streamed');
like(header($r, 'Content-Type'), qr{^text/event-stream}, 'as a stream');
$m = $r->{json}{choices}[0]{message};
is($m->{content}, "Let me see.\n\nThe table is in totals.csv.",
    'the same text');
like($m->{annotations}[0]{url_citation}{url}, qr{/v1/files/}, 'and file');
is(scalar(grep { $_->{choices}[0] && $_->{choices}[0]{delta}{annotations} }
    @{ $r->{chunks} }), 1, 'told once');
my %same;
$same{join(' ', @$_{qw(id created model object)})}++ for @{ $r->{chunks} };
is(scalar(keys(%same)), 1, 'all chunks are of one answer');
is_deeply($r->{chunks}[-1]{choices}, [], 'the last has no choice');
is_deeply($r->{chunks}[-1]{usage}, $usage, 'but the usage');
is(scalar(grep { exists($_->{usage}) } @{ $r->{chunks} }),
    scalar(@{ $r->{chunks} }), 'which is null in the others');
$r = stream('job', with => { @go });
is(scalar(grep { exists($_->{usage}) } @{ $r->{chunks} }), 0,
    'or nowhere, if it was not asked for');

# --- the caller's own functions ---

for my $way (\&ask, \&stream) {
	$r = $way->('caller', with => { tools => [@tool, @save] });
	$m = $r->{json}{choices}[0];
	is($m->{finish_reason}, 'tool_calls', 'a function\'s call');
	is("$m->{message}{content} $m->{message}{tool_calls}[0]{id} "
	    . "$m->{message}{tool_calls}[0]{type} "
	    . $m->{message}{tool_calls}[0]{function}{name},
	    'I save. call_b7f3 function save', 'as it was made');
	is_deeply(JSON::PP->new->decode($m->{message}{tool_calls}[0]{function}
	    {arguments}), { title => 'T' }, 'with its arguments');
	$r = $way->('caller', with => { tools => [@tool, @save], messages => [
	    { role => 'user', content => 'Go.' }, $m->{message},
	    { role => 'tool', tool_call_id => 'call_b7f3',
	    content => 'stored as R-9' }] });
	is($r->{json}{choices}[0]{message}{content}, 'Saved.',
	    'which goes on with its result');

	$r = $way->('mixed', with => { tools => [@tool, @save] });
	$m = $r->{json}{choices}[0]{message};
	is_deeply([map { $_->{function}{arguments} } @{ $m->{tool_calls} }],
	    ['{"title":"a"}', '{"title":"b"}'],
	    'mixed: the caller\'s calls, ours hidden');
	my @own = map { $_->{id} } @{ $m->{tool_calls} };
	is(scalar(grep { /^toolu_gw_[0-9a-z]{24}$/ } @own), 2,
	    'under ids that are minted here');
	is(scalar($p->requests), 1, 'the model is not asked again');
	$r = $way->('mixed', with => { tools => [@tool, @save], messages => [
	    { role => 'user', content => 'Go.' }, $m, map { { role => 'tool',
	    tool_call_id => $_, content => 'ok' } } @own] });
	@q = @{ ($p->requests)[0]{json}{messages} };
	is(join(' ', map { $_->{role} } @q), 'user assistant tool tool tool',
	    'given back: ours is there again');
	like($q[2]{content}, qr/^stdout:\nmine\n/, 'with its result first');

	$r = $way->('caller', with => { tools => \@tool,
	    functions => [$save] });
	$m = $r->{json}{choices}[0];
	is("$m->{finish_reason} $m->{message}{function_call}{name}",
	    'function_call save', 'a function of old');
	$r = $way->('caller', with => { tools => \@tool, functions => [$save],
	    messages => [{ role => 'user', content => 'Go.' }, $m->{message},
	    { role => 'function', name => 'save', content => 'R-9' }] });
	is($r->{json}{choices}[0]{message}{content}, 'Saved.',
	    'goes on as of old');

	$r = $way->('forced', with => { tool_choice =>
	    { type => 'code_interpreter' } });
	@q = map { $_->{json}{tool_choice} } $p->requests;
	is($q[0]{function}{name}, 'code_execution', 'a forced run');
	is($q[1], 'auto', 'is forced once');
	$r = $way->('long');
	is($r->{json}{choices}[0]{finish_reason}, 'length',
	    'the token limit');
	$r = $way->('plain');
	$m = $r->{json}{choices}[0]{message};
	is("$m->{reasoning_content} $m->{content}", 'Hm. Yes.',
	    'what the model thought');
}

# --- what a declaration says of its container ---

sub interpreter { return [{ type => 'code_interpreter', container => $_[0] }] }
for my $way (\&ask, \&stream) {
	$r = $way->('job', with => { tools => interpreter({ type => 'auto',
	    file_ids => \@up }) });
	is($r->{json}{choices}[0]{message}{content}, "Let me see.\n\nThe table "
	    . 'is in totals.csv.', 'files that it names are there') or
	    diag($r->{body});
	my %id;
	for my $which (qw(declared body)) {
		$id{$which} = $s->post('/v1/containers', json => { name =>
		    $which, file_ids => $which eq 'body' ? [$up[0]] : [] })
		    ->{json}{id};
	}
	ask('leave', with => { tools => interpreter($id{declared}) });
	$r = $way->('look', with => { tools => interpreter($id{declared}) });
	is($r->{json}{choices}[0]{message}{content}, 'left.txt',
	    'a container that it names is used') or diag($r->{body});
	$r = $way->('look', with => { tools => interpreter($id{declared}),
	    container => $id{body} });
	is($r->{json}{choices}[0]{message}{content}, 'data.csv',
	    'but the request\'s own goes before it') or diag($r->{body});
}

# --- refusals, before the model is asked ---

my @bad = (
	['a file of a declaration that is not there', { tools => interpreter({
	    file_ids => ['file_1'] }) }, '404 invalid_request_error '
	    . 'file_not_found tools[0].container.file_ids'],
	['files that are no list', { tools => interpreter({ file_ids =>
	    'file_1' }) }, '400 invalid_request_error - '
	    . 'tools[0].container.file_ids'],
	['a declared container of ours that is not there', { tools =>
	    interpreter('cntr_gw_3n8p5r1s6t2v9w4x8y1z') },
	    '404 invalid_request_error container_not_found '
	    . 'tools[0].container'],
	['a declared container that is no id', { tools => interpreter(5) },
	    '400 invalid_request_error - tools[0].container'],
	['two choices', { n => 2 }, '400 invalid_request_error - n'],
	['a file that is not there', { messages => [{ role => 'user',
	    content => [{ type => 'file', file => { file_id => 'file_1' } }]
	    }] }, '404 invalid_request_error file_not_found '
	    . 'messages[0].content[0].file.file_id'],
	['a container of ours that is not there', { container =>
	    'cntr_gw_3n8p5r1s6t2v9w4x8y1z' }, '404 invalid_request_error '
	    . 'container_not_found container'],
	['a voice', { modalities => ['audio'] },
	    '400 invalid_request_error - modalities'],
	['a hosted tool', { tools => [@tool, { type => 'web_search' }] },
	    '400 invalid_request_error - tools[1]'],
	['an odd role', { messages => [{ role => 'god', content => 'x' }] },
	    '400 invalid_request_error - messages[0]'],
);
for (@bad) {
	my ($what, $with, $want) = @$_;
	$r = ask('job', with => $with);
	is(short($r), $want, $what) or diag($r->{body});
	is(scalar($p->requests), 0, '... before the model is asked');
}

# --- failures ---

$s->expect_log(qr/500/);
$r = ask('first');
is(short($r), '502 server_error - -', 'an upstream that fails at once');
$r = ask('later');
is(short($r), '502 server_error - -', 'a failure after a run');
is(header($r, 'x-should-retry'), 'false', 'runs no code twice');
$r = stream('later');
is($r->{status}, 200, 'streamed, it has begun well');
is($r->{chunks}[-1]{error}{type}, 'server_error', 'and ends with an error');
is($r->{json}{choices}[0]{finish_reason}, undef, 'with no reason before');
$s->done;
done_testing();
