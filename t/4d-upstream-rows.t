#!/usr/bin/perl

# What model servers do wrong, and how it looks to callers on every route: the
# rows of the executor's table of edge cases that are about the upstream, sent
# by the bytes, and upstreams that fail in the midst of an answer.

use strict;
use warnings;
use JSON::PP ();
use Test::More;
use Provider;
use Satchel qw(header);
use Streams;

my $json = JSON::PP->new->utf8->canonical;

# A chat stream of these deltas, with that reason; no [DONE], no reason: undef.
sub stream {
	my ($why, @deltas) = @_;
	return { type => 'text/event-stream', body => join('', map {
	    'data: ' . $json->encode({ id => 'c', object =>
	    'chat.completion.chunk', created => 1, model => 'm', choices =>
	    [$_] }) . "\n\n" } (map { { index => 0, delta => $_, finish_reason
	    => undef } } { role => 'assistant', content => '' }, @deltas),
	    defined($why) ? { index => 0, delta => {}, finish_reason => $why } :
	    ()) };
}
sub call {
	my ($index, $id, $name, $arguments) = @_;
	return { tool_calls => [{ index => $index, type => 'function',
	    defined($id) ? (id => $id) : (), function => { defined($name) ?
	    (name => $name) : (), arguments => $arguments } }] };
}
# A stream that ends with an error beside that delta of an ended choice.
sub fails {
	my ($delta, @before) = @_;
	my $r = stream(undef, @before);
	$r->{body} .= 'data: ' . $json->encode({ id => 'c', choices => [{ index
	    => 0, delta => $delta, finish_reason => 'error' }], error => { code
	    => 502, message => 'gone' } }) . "\n\n";
	return $r;
}
sub done { my ($r) = @_; $r->{body} .= "data: [DONE]\n\n"; return $r }
sub whole {
	return { type => 'application/json', body => $json->encode({ id => 'c',
	    object => 'chat.completion', created => 1, model => 'm', choices =>
	    [{ index => 0, message => { role => 'assistant', @_ },
	    finish_reason => 'stop' }], usage => { prompt_tokens => 5,
	    completion_tokens => 2, total_tokens => 7 } }) };
}
my %then = (text => 'Then.');
my $run = { text => 'I run it.', calls => [{ name => 'code_execution', arguments => { code =>
    'print(1)' } }] };
my %models = (
	noarguments => [done(stream('tool_calls', call(0, 'c1',
	    'code_execution', ''))), \%then],
	truncated => [done(stream('length', call(0, 'c1', 'code_execution',
	    '{"code": "pri')))],
	stops => [done(stream('stop', call(0, 'c1', 'code_execution',
	    '{"code":"print(27)"}'))), \%then],
	sameid => [done(stream('tool_calls', map { call($_, 'c1',
	    'code_execution', "{\"code\":\"print($_)\"}") } 0, 1)), \%then],
	noid => [done(stream('tool_calls', call(0, undef, 'code_execution',
	    '{"code":"print(28)"}'))), \%then],
	nameagain => [done(stream('tool_calls', call(0, 'c1', 'code_execution',
	    '{"code":'), call(0, 'c1', 'code_execution', '"print(29)"}'))),
	    \%then],
	allzero => [done(stream('tool_calls', call(0, 'c1', 'code_execution',
	    '{"code":"print(1)"}'), call(0, 'c2', 'code_execution',
	    '{"code":"print(2)"}'))), \%then],
	nodone => [stream('stop', { content => 'Whole.' })],
	noreason => [stream(undef, { content => 'Half.' })],
	json => [whole(content => 'As JSON.')],
	error200 => [{ type => 'application/json', body =>
	    '{"error":{"message":"boom"}}' }],
	errorlate => [done(fails({ content => '' }, { role => 'assistant',
	    content => 'Hel' }))],
	erroronly => [done(fails({ content => '' }))],
	errorwhole => [{ type => 'application/json', body => $json->encode({
	    error => { message => 'gone', code => 502 }, choices => [{ message
	    => { content => '' }, finish_reason => 'error' }] }) }],
	toolong => [done({ type => 'text/event-stream', body => 'data: '
	    . '{"error":{"message":"maximum context length is 8","code":400}}'
	    . "\n\n" })],
	toofast => [done({ type => 'text/event-stream', body => 'data: '
	    . '{"error":{"message":"slow","code":429}}' . "\n\n",
	    headers => { 'Retry-After' => 17 } })],
	overlong => [done({ type => 'text/event-stream', body => stream(undef,
	    { content => 'Hel' })->{body} . 'data: {"object":"error",'
	    . '"message":"too long","type":"BadRequestError","code":400}'
	    . "\n\n" })],
	page => [{ type => 'text/html', body => "<html>Welcome</html>" }],
	thinks => [done(stream('stop', { content => '<think>Hm' }, { content =>
	    '.</think>So.' }))],
	later => [$run, { status => 500, body => '{}' }],
	refuses => [{ status => 400, type => 'application/json', body =>
	    '{"error":{"message":"too long"}}' }],
	dies => [{ text => 'This is cut off here', cut => 1 }],
	halfevent => [do {
		my $r = stream(undef, { content => 'Whole.' }, { content =>
		    'Never seen.' });
		$r->{body} = substr($r->{body}, 0, -30);
		$r }],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->yaml('chat', 'openai-chat', models =>
    '["*"]') . $p->yaml('tags', 'openai-chat', reasoning_out => 'think_tags'));
my %route = (
	messages => [{ type => 'code_execution_20250522', name =>
	    'code_execution' }],
	responses => [{ type => 'code_interpreter', container => { type =>
	    'auto' } }],
	'chat/completions' => [{ type => 'code_interpreter' }],
);

sub ask {
	my ($route, $model, $streamed) = @_;
	my $talk = [{ role => 'user', content => 'Go.' }];
	$p->forget;
	my $r = $s->post("/v1/$route", ant => $route eq 'messages', timeout =>
	    60, json => { model => $model, tools => $route{$route}, stream =>
	    $streamed ? JSON::PP::true : JSON::PP::false, $route eq 'responses'
	    ? (input => $talk, include => ['code_interpreter_call.outputs']) :
	    (messages => $talk), $route eq 'messages' ?
	    (max_tokens => 500) : () });
	is_deeply([Streams::faults($route, $r->{body})], [],
	    "$route: $model: no client fails at it")
	    if $streamed && $r->{status} == 200;
	return $r;
}

# What came of a streamed answer, as a line: on Messages and Responses what its
# runs printed or why they did not; its text; its end.
sub line {
	my ($r) = @_;
	my ($frames) = Streams::frames($r->{body});
	my (@runs, $text, $why);
	for my $e (grep { ref } map { $_->[1] } @$frames) {
		my $type = $e->{type} // '';
		my $x = $e->{content_block}{content};
		push @runs, $x->{error_code} // $x->{stdout} =~ s/\n//r
		    if ref($x);
		push @runs, $e->{item}{status} eq 'failed' ? 'failed' :
		    $e->{item}{outputs}[0]{logs} =~ s/\n//r if
		    $type eq 'response.output_item.done' &&
		    $e->{item}{type} eq 'code_interpreter_call';
		my $d = $e->{choices} ? $e->{choices}[0]{delta}{content} :
		    $type eq 'response.output_text.delta' ? $e->{delta} :
		    $type eq 'content_block_delta' ? $e->{delta}{text} : undef;
		$text .= $d if defined($d);
		$why = $e->{choices}[0]{finish_reason} if $e->{choices} &&
		    $e->{choices}[0];
		$why = $e->{delta}{stop_reason} if $type eq 'message_delta';
		$why = $e->{response}{status} if $e->{response};
	}
	return join(' ', "$r->{status}:", @runs, $text || (), $why // ());
}

my $r;

# [row, model, runs, text, [how it ends over each route]]
my @end = ('end_turn', 'completed', 'stop');
for ([25, 'noarguments', 'invalid_tool_input', 'Then.'],
    [26, 'truncated', 'invalid_tool_input', '', 'max_tokens', 'incomplete',
    'length'],
    [27, 'stops', '27', 'Then.'], [28, 'sameid', '0 1', 'Then.'],
    [28, 'noid', '28', 'Then.'], [29, 'nameagain', '29', 'Then.'],
    [30, 'allzero', '1 2', 'Then.'], [31, 'nodone', '', 'Whole.'],
    [32, 'json', '', 'As JSON.']) {
	my ($n, $model, $runs, $text, @how) = @$_;
	@how = @end if !@how;
	for my $route ('messages', 'responses', 'chat/completions') {
		my $shown = $route eq 'messages' ? $runs :
		    $route eq 'responses' ? $runs =~ s/invalid_.*/failed/r : '';
		$r = ask($route, $model, 1);
		is(line($r), join(' ', grep { $_ ne '' } '200:', $shown, $text,
		    shift(@how)), "executor row $n: $model over $route")
		    or diag($r->{body});
	}
}
ask('messages', 'sameid', 1);
my @ids = map { map { $_->{id} } @{ $_->{tool_calls} // [] } }
    @{ ($p->requests)[-1]{json}{messages} };
is(scalar(@ids), 2, 'executor row 28: both calls are given back');
isnt($ids[0], $ids[1], 'executor row 28: each under an id of its own');

# An upstream that fails: before anything came, with whole events behind it, in
# a later round.
my %error = (
	messages => ['502 api_error', qr/\nevent:\ error\ndata:\ \{"type":"error",
	    "error":\{"type":"api_error".*\n\n\z/x],
	responses => ['502 server_error', qr/\nevent:\ response\.failed\ndata:
	    \ \{.*"code":"server_error".*\n\n\z/x],
	'chat/completions' => ['502 server_error', qr/\ndata:\ \{"error":\{.*
	    "type":"server_error".*\n\ndata:\ \[DONE\]\n\n\z/x],
);
for my $route (sort(keys(%error))) {
	my ($status, $end) = @{ $error{$route} };
	for my $streamed (0, 1) {
		$r = ask($route, 'error200', $streamed);
		is("$r->{status} $r->{json}{error}{type}", $status,
		    "executor row 33: an error with status 200 over $route");
	}
	$r = ask($route, 'noreason', 0);
	is("$r->{status} $r->{json}{error}{type}", $status,
	    "executor row 31: no reason, over $route") or diag($r->{body});
	$r = ask($route, 'noreason', 1);
	like($r->{body}, $end, "executor row 31: streamed over $route");
	$r = ask($route, 'refuses', 1);
	is("$r->{status} $r->{json}{error}{message}", '400 too long',
	    "executor row 73: refused before a byte came, over $route");
	like(header($r, 'Content-Type'), qr{^application/json},
	    'executor row 73: as JSON');
	$r = ask($route, 'later', 0);
	is("$r->{status} $r->{json}{error}{type} "
	    . (header($r, 'x-should-retry') // '-'), "$status false",
	    "executor row 69: a failure in a later round over $route");
	$r = ask($route, 'later', 1);
	is($r->{status}, 200, "executor row 70: the same, streamed");
	like($r->{body}, $end, "executor row 70: ends so over $route");
	for my $model ('dies', 'halfevent') {
		$r = ask($route, $model, 1);
		is($r->{status}, 200, "st-upstream-dies: $model over $route");
		like($r->{body}, $end, 'st-upstream-dies: an error at its end');
		unlike($r->{body}, qr/Never|"stop"|message_stop|completed"/,
		    'st-upstream-dies: not as if it were whole')
		    or diag($r->{body});
	}
}
# An error inside a 200 counts as if the provider had answered with its status,
# with no tool declared as well as with one.
for my $route (sort(keys(%error))) {
	my ($status, $end) = @{ $error{$route} };
	for my $tools (1, $route eq 'chat/completions' ? () : 0) {
		local $route{$route} = $tools ? $route{$route} : [];
		my $how = "over $route, " . ($tools ? 'code' : 'text only');
		for my $model ('erroronly', 'errorwhole') {
			$r = ask($route, $model, $_);
			is("$r->{status} $r->{json}{error}{type}", $status,
			    "an error with status 200: $model $how")
			    for 0, 1;
		}
		$r = ask($route, 'errorlate', 0);
		is("$r->{status} $r->{json}{error}{type}", $status,
		    "an error after text $how");
		$r = ask($route, 'errorlate', 1);
		is($r->{status}, 200, "an error after text, streamed $how");
		like($r->{body}, $end, '... ends in one');
		unlike($r->{body}, qr/end_turn|_stop|"completed"|"stop"/,
		    '... and in no other way');
		for (0, 1) {
			$r = ask($route, 'toolong', $_);
			is("$r->{status} $r->{json}{error}{message}",
			    '400 maximum context length is 8',
			    "its words where they are the caller's $how");
			$r = ask($route, 'toofast', $_);
			is("$r->{status} " . header($r, 'Retry-After'),
			    '429 17', "a rate limit $how");
			$r = ask($route, 'page', $_);
			is($r->{status}, 502, "a web page $how");
			like($r->{json}{error}{message}, qr/web page/,
			    '... is called one');
		}
		$r = ask($route, 'overlong', 1);
		like($r->{body}, qr/too long/, "its words in a stream $how");
	}
}
$r = ask('responses', 'later', 1);
like(($r->{body} =~ /event: response\.failed\n(.*)/)[0],
    qr/"output":\[\{"type":"message".*\{"type":"code_interpreter_call"/,
    'executor row 70: with the items so far');

$r = ask('messages', 'tags:thinks', 1);
like($r->{body}, qr/thinking_delta.*text_delta","text":"So\."/s,
    'executor row 35: what is thought in tags, where the server does so');
unlike($r->{body}, qr/<think>/, 'executor row 35: without them');
$r = ask('messages', 'thinks', 1);
like($r->{body}, qr/text_delta","text":"<think>Hm"/,
    'executor row 35: text elsewhere');
$s->done;
done_testing();
