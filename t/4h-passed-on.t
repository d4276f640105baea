#!/usr/bin/perl

# What is changed in answers that are passed on: a stream that breaks off ends
# with an error of our own, the model has the caller's name for it, members that
# the vendor's schema requires are there.  Unmodified clients see the first.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use Test::More;
use Provider;
use Satchel qw(header);
use Sdk;
use Streams;

my $json = JSON::PP->new->utf8->canonical;
sub event { my ($e) = @_; return (ref($e) && $e->{type} ? "event: $e->{type}\n" : '')
    . 'data: ' . (ref($e) ? $json->encode($e) : $e) . "\n\n" }
sub chunk { return { id => 'c', object => 'chat.completion.chunk', created => 1,
    model => 'up', choices => [{ index => 0, delta => $_[0], finish_reason =>
    $_[1] }] } }
my %response = (id => 'resp_1', object => 'response', created_at => 1, model =>
    'up', status => 'in_progress', error => undef, output => []);
my $message = { type => 'message', id => 'msg_1', role => 'assistant', content =>
    [{ type => 'output_text', text => 'the whole' }] };
my @begin = (
	[chunk({ role => 'assistant', content => 'the ' })],
	[{ type => 'response.created', sequence_number => 0, response =>
	    \%response }, { type => 'response.output_item.added',
	    sequence_number => 1, output_index => 0, item => { %$message,
	    content => [] } }, { type => 'response.content_part.added',
	    sequence_number => 2, item_id => 'msg_1', output_index => 0,
	    content_index => 0, part => { type => 'output_text', text => '',
	    annotations => [] } }, { type => 'response.output_text.delta',
	    sequence_number => 3, item_id => 'msg_1', output_index => 0,
	    content_index => 0, delta => 'the ' }],
	[{ type => 'message_start', message => { id => 'm', type => 'message',
	    role => 'assistant', model => 'up', content => [], stop_reason =>
	    undef, stop_sequence => undef, usage => { input_tokens => 5,
	    output_tokens => 0 } } }, { type => 'content_block_start', index =>
	    0, content_block => { type => 'text', text => '' } }, { type =>
	    'content_block_delta', index => 0, delta => { type => 'text_delta',
	    text => 'the ' } }],
);
my @end = (
	[chunk({ content => 'whole' }), chunk({}, 'stop'), '[DONE]'],
	[{ type => 'response.output_text.delta', sequence_number => 4, item_id =>
	    'msg_1', output_index => 0, content_index => 0, delta => 'whole' },
	    { type => 'response.output_text.done', sequence_number => 5, item_id
	    => 'msg_1', output_index => 0, content_index => 0, text => 'the '
	    . 'whole' }, { type => 'response.output_item.done', sequence_number
	    => 6, output_index => 0, item => { %$message, status => 'completed'
	    } }, { type => 'response.completed', sequence_number => 7, response
	    => { %response, status => 'completed', output => [$message], usage
	    => { input_tokens => 5, input_tokens_details => { cached_tokens =>
	    0 }, output_tokens => 2, output_tokens_details => {}, total_tokens
	    => 7 } } }],
	[{ type => 'content_block_delta', index => 0, delta => { type =>
	    'text_delta', text => 'whole' } }, { type => 'content_block_stop',
	    index => 0 }, { type => 'message_delta', delta => { stop_reason =>
	    'end_turn', stop_sequence => undef }, usage => { output_tokens => 2
	    } }, { type => 'message_stop' }],
);
my @wires = ([qw(chat openai-chat chat/completions)],
    [qw(resp openai-responses responses)], [qw(ant anthropic-messages messages)]);
my (@p, $yaml);
for my $i (0 .. 2) {
	my ($name, $wire) = @{$wires[$i]};
	my ($begin, $end) = map { join('', map { event($_) } @{$_->[$i]} ) }
	    \@begin, \@end;
	my $half = substr(event($end[$i][0]), 0, -20);
	my %sse = (type => 'text/event-stream');
	my $why = 'data: {"error":{"code":400,"message":"too long"}}';
	my %whole = (
		chat => { id => 'c', object => 'chat.completion', created => 1,
		    model => 'up', choices => [{ index => 0, message => { role =>
		    'assistant', content => 'x' }, finish_reason => 'stop' }] },
		resp => { %response, status => 'completed', output => [$message,
		    { type => 'file_search_call', id => 'fs_1', status =>
		    'completed' }], usage => { input_tokens => 5, output_tokens
		    => 2, total_tokens => 7, input_tokens_details => {},
		    output_tokens_details => { reasoning_tokens => 0 } } },
		ant => { id => 'm', type => 'message', role => 'assistant', model
		    => 'up', content => [{ type => 'text', text => 'x' }],
		    stop_reason => 'end_turn', stop_sequence => undef, usage => {
		    input_tokens => 1, output_tokens => 1 } },
	);
	my %models = (
		whole => [{ %sse, body => $begin . $end }],
		cut => [{ %sse, body => $begin, cut => 1 }],
		half => [{ %sse, body => $begin . $half, cut => 1 }],
		closed => [{ %sse, body => $begin . $half, unsized => 1 }],
		notends => [{ %sse, body => $begin }],
		onlyhalf => [{ %sse, body => $half, cut => 1 }],
		onlyerror => [{ %sse, body => "$why\n\ndata: [DONE]\n\n" }],
		comment => [{ %sse, body => ": hello\r\n\r\nid: 7\r\n"
		    . $begin . $end }],
		odd => [{ %sse, body => join("\r\ndata:", split(/(?<=,)(?=")/, event(
		    $begin[$i][0]) =~ s/\n\z//r =~ s/\n/\r\n/gr)) . "\r\n" .
		    join('', map { event($_) } @{$begin[$i]}[1 .. $#{$begin[$i]}
		    ]) . $end }],
		nolastline => [{ %sse, body => ($begin . $end) =~ s/\n\n\z//r }],
		json => [{ body => " " . $json->encode($whole{$name}) . "\n" }],
		errorjson => [{ body => $json->encode({ %{$whole{$name}}, error
		    => { code => 429, message => 'slow' } }), headers =>
		    { 'Retry-After' => 9 } }],
		failed => [{ %sse, body => $begin . ($i == 0 ? event(chunk({
		    content => '' }, 'error')) . event('[DONE]') : $i == 1 ?
		    event({ type => 'response.completed', response => {
		    %response, status => 'cancelled' } }) : event({ object =>
		    'error', message => 'gone' })) }],
	);
	my $p = Provider->new(script => { models => \%models, paths => {
	    '/audio/speech' => { type => 'audio/mpeg', body => 'x' x 5000,
	    cut => 1 } } });
	push @p, $p;
	$yaml .= $p->yaml($name, $wire, native_code => 'false', $i == 0 ?
	    (forward_other => 'true') : ());
}
my $s = Satchel->new(providers => $yaml);
my @h = ('Content-Type' => 'application/json');

sub ask {
	my ($i, $model, $stream) = @_;
	my ($name, undef, $route) = @{$wires[$i]};
	return $s->post("/v1/$route", ant => $i == 2, timeout => 30, json => {
	    model => "$name:$model", stream => $stream ? JSON::PP::true :
	    JSON::PP::false, $i == 1 ? (input => 'Go.') : (messages => [{ role
	    => 'user', content => 'Go.' }], max_tokens => 50) });
}
my @broken = (qr/\ndata:\ \{"error":\{"message":"[^"]*broke\ the\ connection
    [^"]*","type":"server_error".*\}\n\ndata:\ \[DONE\]\n\n\z/x,
    qr/\nevent:\ response\.failed\ndata:\ (\{.*\})\n\n\z/x,
    qr/\nevent:\ error\ndata:\ \{"type":"error","error":\{"type":"api_error",
    "message":"[^"]*broke\ the\ connection.*\}\n\n\z/x);

for my $i (0 .. 2) {
	my $name = $wires[$i][0];
	my $want = join('', map { event($_) } @{$begin[$i]}, @{$end[$i]})
	    =~ s/"up"/"$name:whole"/gr;
	my $r = ask($i, 'whole', 1);
	is($r->{status}, 200, "$name: a whole stream");
	$i == 1 or is($r->{body}, $want,
	    '... every byte but the name of the model');
	$r = ask($i, 'odd', 1);
	my ($frames) = Streams::frames($r->{body});
	unlike($r->{body}, qr/"up"/, "$name: an event of several lines");
	$r = ask($i, 'comment', 1);
	like($r->{body}, qr/\A: hello\r\n\r\nid: 7\r\n/,
	    '... comments and ids pass');
	$r = ask($i, 'nolastline', 1);
	unlike($r->{body}, $broken[$i], "$name: a last line without its end");
	for my $model ('cut', 'half', 'closed', 'notends') {
		$r = ask($i, $model, 1);
		is($r->{status}, 200, "$name: $model");
		like($r->{body}, $broken[$i], '... ends with an error');
		my $sent = $r->{body} =~ s/$broken[$i]//r;
		($frames) = Streams::frames($r->{body});
		is(scalar(grep { !ref($_->[1]) && $_->[1] ne '[DONE]' }
		    @$frames), 0, '... and holds no half of an event');
		next if $i != 1;
		my $last = $frames->[-1][1];
		is_deeply([@{$last->{response}}{qw(id status model)},
		    $last->{response}{error}{code}, $last->{sequence_number}],
		    ['resp_1', 'failed', "resp:$model", 'server_error', 4],
		    '... which is that response, numbered on');
	}
	$r = ask($i, 'failed', 1);
	($frames) = Streams::frames($r->{body});
	my $e = $r->{status} == 502 ? $r->{json} :
	    (grep { ref } map { $_->[1] } @$frames)[-1];
	ok($e->{error} || ($e->{response}{status} // '') eq 'failed',
	    "$name: a failure that no client looks for becomes one")
	    or diag($r->{body});
	$r = ask($i, 'onlyhalf', 1);
	is($r->{status}, 502, "$name: half an event is no answer");
	$r = ask($i, 'onlyerror', 1);
	is("$r->{status} $r->{json}{error}{message}", '400 too long',
	    "$name: an error and nothing else");
	$r = ask($i, 'errorjson', 0);
	is("$r->{status} " . header($r, 'Retry-After'), '429 9',
	    "$name: an error beside a whole answer");
	$r = ask($i, 'json', 0);
	is($r->{json}{model}, "$name:json", "$name: a whole answer's model");
	is(header($r, 'Content-Length'), length($r->{body}), '... its length');
	my ($u) = @{$s->get('/v1/usage?limit=1')->{json}{data}};
	is($u->{model}, "$name:json", '... and in the usage');
}

# --- what Responses requires ---

sub filled {
	my ($o, $how) = @_;
	is_deeply([grep { !exists($o->{$_}) } qw(id object created_at error
	    incomplete_details instructions metadata model output
	    parallel_tool_calls temperature tool_choice tools top_p)], [],
	    "$how: every member that must be there");
	is_deeply($o->{usage}{input_tokens_details}, { cached_tokens => 0,
	    cache_write_tokens => 0 }, "$how: of the tokens too")
	    if $o->{usage};
	is_deeply($o->{usage}{output_tokens_details}, { reasoning_tokens => 0 },
	    "$how: and of those of the answer") if $o->{usage};
	for (@{$o->{output}}) {
		is($_->{status}, 'completed', "$how: $_->{type}: a status");
		is_deeply($_->{queries}, [], "$how: queries")
		    if $_->{type} eq 'file_search_call';
		is_deeply([map { [@$_{qw(annotations logprobs)}] }
		    @{$_->{content}}], [[[], []]], "$how: its parts")
		    if $_->{content};
	}
}
my $r = ask(1, 'json', 0);
filled($r->{json}, 'a response');
is($r->{json}{output}[0]{content}[0]{text}, 'the whole', '... with its text');
$r = ask(1, 'whole', 1);
my ($frames) = Streams::frames($r->{body});
for my $e (map { $_->[1] } @$frames) {
	filled($e->{response}, $e->{type}) if $e->{response};
	is($e->{item}{status}, $e->{type} =~ /added/ ? 'in_progress' :
	    'completed', "$e->{type}: a status") if $e->{item};
	is_deeply($e->{logprobs}, [], "$e->{type}: logprobs")
	    if $e->{type} =~ /output_text\.(delta|done)/;
}
is_deeply([map { $_->[1]{sequence_number} } @$frames], [0 .. 7],
    'the numbers of its events');

# --- another path: its length is not known, so it is cut short ---

my $body = '{"model":"chat:x","input":"Hi"}';
my $sock = $s->sock;
print $sock "POST /v1/audio/speech HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
    . "$s->{key}{alice}\r\nContent-Type: application/json\r\nConnection: close\r\n"
    . 'Content-Length: ' . length($body) . "\r\n\r\n$body";
my $in = '';
1 while sysread($sock, $in, 65536, length($in));
like($in, qr{^HTTP/1.1 200 }, 'another path that breaks off');
like($in, qr/x{100}/, '... what came of it');
unlike($in, qr/\r\n0\r\n\r\n\z/, '... has no proper end');

# --- as unmodified clients see it ---

for my $age ('old', 'new') {
	Sdk::check($s, "Python, $age", Sdk::python($age, 'broken.py'));
}
for my $packages (['openai-6', 'anthropic-0-92'],
    ['openai-7', 'anthropic-1-14']) {
	Sdk::check($s, "Node, $packages->[0]", Sdk::node('broken.mjs',
	    @$packages));
}
$s->done;
done_testing();
