#!/usr/bin/perl

# A turn whose time is up while the model is still speaking: what there is so
# far is the answer, in the words that each route has for that, and it can be
# gone on from.

use strict;
use warnings;
use JSON::PP;
use Test::More;
use Provider;
use Satchel;

my $budget = 3;
sub call {
	my ($name, $key, $text) = @_;
	return { name => $name, arguments => { $key => $text } };
}
my $first = { text => 'Let me see.', calls =>
    [call(bash_code_execution => command => 'echo 1')] };
my $code = { calls => [call(code_execution => code => 'print(1)')] };
my $endless = { text => join(' ', 1 .. 500), pause => 0.2 };
my %models = (
	mute => [$first, { delay => 30, text => 'Late.' }],
	speaks => [[{ expect => ['And now'], text => 'On.' }, $first],
	    $endless],
	writes => [$first, { calls => [call(bash_code_execution => command =>
	    'x' x 2000)], pause => 0.2 }],
	talks => [$code, $endless],
	plain => [$endless],
	silent => [{ delay => 30, text => 'Late.' }],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->port, set => {
    'code_execution.turn_budget_s' => $budget,
    'code_execution.exec_timeout_s' => $budget });
my %declared = (messages => 'code_execution_20250825', responses =>
    'code_interpreter', 'chat/completions' => 'code_interpreter');

sub ask {
	my ($route, $model, %with) = @_;
	my $go = [{ role => 'user', content => 'Go.' }];
	my $begun = time;
	my $r = $s->post("/v1/$route", ant => $route eq 'messages', timeout =>
	    60, json => { model => $model, tools => [{ type =>
	    $declared{$route}, name => 'code_execution' }],
	    $route eq 'messages' ? (max_tokens => 4096) : (),
	    $route eq 'responses' ? (input => $go) : (messages => $go),
	    %with });
	cmp_ok(time - $begun, '<', $budget + 3, "$route, $model: in time");
	return $r;
}

# The data of a stream's events.
sub events {
	my ($r) = @_;
	return map { JSON::PP->new->utf8->decode($_) }
	    $r->{body} =~ /^data: (\{.*)$/mg;
}

sub types { return join(' ', map { $_->{type} } @{$_[0]{json}{content}}) }

# --- Messages ---

my $pair = 'server_tool_use bash_code_execution_tool_result';
my $r = ask('messages', 'mute');
is("$r->{status} " . types($r), "200 text $pair",
    'a second round that says nothing: what has been run');
is($r->{json}{stop_reason}, 'pause_turn', '... is a pause');
cmp_ok($r->{json}{usage}{input_tokens}, '>', 0, '... with its usage');

my @e = events($r = ask('messages', 'speaks', stream => JSON::PP::true));
is(join(' ', map { $_->{content_block}{type} } grep { $_->{content_block} } @e),
    "text $pair text", 'streamed: and what the model said until then');
my $said = join('', map { $_->{delta}{text} // '' } grep {
    ($_->{index} // 0) == 3 } @e);
like($said, qr/^1 2 3/, '... from its beginning');
is($e[-2]{delta}{stop_reason}, 'pause_turn', '... is a pause too');
is($e[-1]{type}, 'message_stop', '... and whole');
my ($use, $result) = map { $_->{content_block} } grep { $_->{content_block} &&
    $_->{content_block}{type} =~ /^server_tool|_result$/ } @e;
$use->{input} = { command => 'echo 1' };
$r = ask('messages', 'speaks', messages => [{ role => 'user', content =>
    'Go.' }, { role => 'assistant', content => [{ type => 'text', text =>
    'Let me see.' }, $use, $result, { type => 'text', text => $said }] },
    { role => 'user', content => 'And now?' }]);
is($r->{json}{content}[0]{text}, 'On.', '... which can be gone on from') or
    diag($r->{body});

@e = events(ask('messages', 'writes', stream => JSON::PP::true));
is(join(' ', map { $_->{content_block}{type} } grep { $_->{content_block} } @e),
    "text $pair $pair", 'a call that is broken off has its result');
my ($cut) = grep { ref($_) eq 'HASH' && $_->{error_code} }
    map { $_->{content_block}{content} } grep { $_->{content_block} } @e;
is($cut->{error_code}, 'invalid_tool_input', '... which says so');
is($e[-2]{delta}{stop_reason}, 'pause_turn', '... and the turn is paused');

$r = ask('messages', 'silent');
is("$r->{status} $r->{json}{error}{type}", '504 timeout_error',
    'with nothing to show it is an error');
$r = ask('messages', 'plain', tools => [], stream => JSON::PP::true);
is((events($r))[-2]{delta}{stop_reason}, 'max_tokens',
    'where no code was declared there is nothing to pause');

# --- the others ---

@e = events(ask('responses', 'talks', stream => JSON::PP::true));
is($e[-1]{type}, 'response.incomplete', 'Responses: incomplete');
is($e[-1]{response}{incomplete_details}{reason}, 'max_output_tokens',
    '... for want of room');
is(join(' ', map { $_->{type} } @{$e[-1]{response}{output}}),
    'code_interpreter_call message', '... with all there is');
like($e[-1]{response}{output}[1]{content}[0]{text}, qr/^1 2 3/,
    '... and what was said');
@e = events(ask('chat/completions', 'talks', stream => JSON::PP::true));
is((grep { $_ } map { $_->{choices}[0]{finish_reason} } @e)[0], 'length',
    'Chat: length');
like(join('', map { $_->{choices}[0]{delta}{content} // '' } @e), qr/^1 2 3/,
    '... with what was said');

$s->done;
done_testing();
