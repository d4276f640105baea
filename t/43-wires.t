#!/usr/bin/perl

# A Messages caller whose model is served over another wire than chat: plain
# answers, the caller's functions, and code that is run here.

use strict;
use warnings;
use JSON::PP;
use Test::More;
use Provider;
use Satchel qw(header);

my $py = { name => 'code_execution', arguments => { code => 'print(6 * 7)' } };
my %models = (
	plain => [{ text => "Yes \x{2028} \x{1F600}" }],
	caller => [{ text => 'Saving.', calls => [{ name => 'save', id =>
	    'call_b7f3', arguments => { title => 'T' } }] },
	    { expect => ['^done$'], text => 'Saved.' }],
	code => [{ text => 'Counting.', calls => [$py] },
	    { expect => ['stdout:\n42'], text => 'It is 42.' }],
	cut => [{ text => 'This will break off.', cut => 1 }],
	thinks => [{ reasoning => 'Hm.', text => 'Ah.' }],
	long => [{ text => 'Too lo', finish => 'max_tokens' }],
	rlong => [{ text => 'Too lo', finish => 'max_output_tokens' }],
	bad => [{ body => '{"content":7,"output":7}' }],
	rate => [{ status => 429, body => '{"error":{"message":"slow"}}',
	    headers => { 'Retry-After' => 17 } }],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers =>
    $p->yaml('resp', 'openai-responses') .
    $p->yaml('ant', 'anthropic-messages'));
my $declared = { type => 'code_execution_20250522', name => 'code_execution' };
my $save = { name => 'save', description => 'Save it.', input_schema =>
    { type => 'object', properties => { title => { type => 'string' } } } };

sub ask {
	my ($model, @more) = @_;
	$p->forget;
	return $s->post('/v1/messages', ant => 1, timeout => 60, json => {
	    model => $model, max_tokens => 500, messages => [{ role => 'user',
	    content => 'Go.' }], @more });
}

for my $way ('ant', 'resp') {
	# Code that runs here is what makes it the gateway's own affair.
	my $r = ask("$way:code", tools => [$declared]);
	is($r->{status}, 200, "$way: code is run") or diag($r->{body});
	is(header($r, 'X-Code-Execution-Ran'), 'local', "$way: here");
	is_deeply([map { $_->{type} } @{ $r->{json}{content} }], [qw(text
	    server_tool_use code_execution_tool_result text)],
	    "$way: the vendor's own blocks");
	is($r->{json}{content}[2]{content}{stdout}, "42\n", "$way: its output");
	is($r->{json}{content}[3]{text}, 'It is 42.', "$way: its answer");
	is($r->{json}{stop_reason}, 'end_turn', "$way: its end");
	is_deeply([@{ $r->{json}{usage} }{qw(input_tokens output_tokens)}],
	    [14, 10], "$way: the tokens of both rounds");
	my @q = $p->requests;
	is(scalar(@q), 2, "$way: two rounds");
	is($q[0]{path}, $way eq 'ant' ? '/v1/messages' : '/v1/responses',
	    "$way: where they belong");
	is($q[0]{json}{tools}[0]{name}, 'code_execution',
	    "$way: the function in place of the declaration");

	# The same as it comes.
	$r = ask("$way:code", tools => [$declared], stream => JSON::PP::true);
	like(header($r, 'Content-Type'), qr/event-stream/, "$way: streamed");
	is(($p->requests)[0]{json}{stream}, JSON::PP::true, "$way: there too");
	my @e = map { decode_json($_) } $r->{body} =~ /^data: (.*)$/mg;
	is_deeply([map { $_->{content_block}{type} // () } @e], [qw(text
	    server_tool_use code_execution_tool_result text)],
	    "$way: streamed: the same blocks");
	is(join('', map { $_->{delta}{text} // '' } @e),
	    'Counting.It is 42.', "$way: streamed: the same text");
	is(join('', map { $_->{delta}{partial_json} // '' } @e),
	    '{"code":"print(6 * 7)"}', "$way: streamed: the program");
	is($e[-1]{type}, 'message_stop', "$way: streamed: to its end");
	is_deeply([@{ $e[-2]{usage} }{qw(input_tokens output_tokens)}],
	    [14, 10], "$way: streamed: the tokens");
	$r = ask("$way:cut", tools => [$declared], stream => JSON::PP::true);
	like($r->{body}, qr/\nevent: error\n/, "$way: one that breaks off");
	unlike($r->{body}, qr/message_stop/, "$way: does not look whole");
	$r = ask("$way:thinks", tools => [$declared], stream =>
	    JSON::PP::true);
	like($r->{body}, qr/thinking_delta/, "$way: what it thought");

	$r = ask("$way:caller", tools => [$declared, $save]);
	is_deeply([map { @$_{qw(type name)} } grep { $_->{type} ne 'text' }
	    @{ $r->{json}{content} }], [qw(tool_use save)],
	    "$way: the caller's call is the caller's");
	is($r->{json}{stop_reason}, 'tool_use', "$way: and ends the turn");
	$r = ask("$way:caller", tools => [$declared, $save], messages => [
	    { role => 'user', content => 'Go.' },
	    { role => 'assistant', content => $r->{json}{content} },
	    { role => 'user', content => [{ type => 'tool_result',
	    tool_use_id => 'call_b7f3', content => 'done' }] }]);
	is($r->{json}{content}[0]{text}, 'Saved.', "$way: it gets its result")
	    or diag($r->{body});

	$r = ask($way eq 'ant' ? 'ant:long' : 'resp:rlong', tools =>
	    [$declared]);
	is($r->{json}{stop_reason}, 'max_tokens', "$way: the token limit");
	$r = ask("$way:bad", tools => [$declared]);
	is("$r->{status} $r->{json}{error}{type}", '502 api_error',
	    "$way: no answer");
	$r = ask("$way:rate", tools => [$declared]);
	is("$r->{status} " . header($r, 'Retry-After'), '429 17',
	    "$way: too many requests");
}

# What asks the vendor for what is done here is not asked for.
$p->forget;
my $r = $s->post('/v1/messages', ant => 1, timeout => 60, headers =>
    ['anthropic-beta' => 'code-execution-2025-08-25, context-1m-2025-08-07',
    'anthropic-beta' => 'files-api-2025-04-14', 'anthropic-version' =>
    '2023-06-01'], json => { model => 'ant:thinks', max_tokens => 50,
    messages => [{ role => 'user', content => 'x' }], tools => [$declared] });
is(($p->requests)[0]{header}{'anthropic-beta'}, 'context-1m-2025-08-07',
    'other betas go on');
$p->forget;
$r = $s->post('/v1/messages', ant => 1, timeout => 60, headers =>
    ['anthropic-beta' => 'context-1m-2025-08-07'], json => { model =>
    'resp:thinks', max_tokens => 50, messages => [{ role => 'user', content =>
    'x' }] });
is(($p->requests)[0]{header}{'anthropic-beta'}, undef,
    'to their own vendor only');

# Translated without any code.
$r = ask('resp:plain', system => 'Be brief.', temperature => 0.5);
is($r->{json}{content}[0]{text}, "Yes \x{2028} \x{1F600}",
    'a Messages caller of a Responses server') or diag($r->{body});
is_deeply(($p->requests)[0]{json}, { model => 'plain', store =>
    JSON::PP::false, instructions => 'Be brief.', temperature => 0.5,
    max_output_tokens => 500, input => [{ type => 'message', role => 'user',
    content => [{ type => 'input_text', text => 'Go.' }] }] },
    'is asked in its words');

$s->done;
done_testing();
