#!/usr/bin/perl

# The arguments of calls, as models write them, over every route and every
# wire: what goes back to a model is a JSON object, nothing is {}, and what a
# server says twice is taken once.

use strict;
use warnings;
use JSON::PP ();
use Test::More;
use Provider;
use Satchel;
use Streams;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my @wires = ([qw(chat openai-chat)], [qw(resp openai-responses)],
    [qw(ant anthropic-messages)]);
my %route = (messages => { type => 'code_execution_20250825', name =>
    'code_execution' }, responses => { type => 'code_interpreter', container =>
    { type => 'auto' } }, 'chat/completions' => { type =>
    'code_interpreter' });

# --- answers of each wire with one call, whose arguments are that text ---

sub sse { return join('', map { (ref($_) && $_->{type} ? "event: $_->{type}\n" :
    '') . 'data: ' . (ref($_) ? $json->encode($_) : $_) . "\n\n" } @_) }
sub stream { return { type => 'text/event-stream', body => sse(@_) } }
my %usage = (input_tokens => 5, output_tokens => 2, total_tokens => 7);
my %call = (
	chat => sub {
		my ($name, $args) = @_;
		return { body => $json->encode({ id => 'c', choices => [{ index =>
		    0, message => { role => 'assistant', content => undef,
		    tool_calls => [{ id => 'c1', type => 'function', function =>
		    { name => $name, @$args } }] }, finish_reason =>
		    'tool_calls' }] }) };
	},
	resp => sub {
		my ($name, $args) = @_;
		return { body => $json->encode({ id => 'r', object => 'response',
		    status => 'completed', output => [{ type => 'function_call',
		    id => 'f', call_id => 'c1', name => $name, @$args }],
		    usage => \%usage }) };
	},
	ant => sub {
		my ($name, $args) = @_;
		return { type => 'text/event-stream', body => sse({ type =>
		    'message_start', message => { id => 'm', usage => \%usage } },
		    { type => 'content_block_start', index => 0, content_block
		    => { type => 'tool_use', id => 'c1', name => $name, input =>
		    {} } }, @$args && defined($args->[1]) ? { type =>
		    'content_block_delta', index => 0, delta => { type =>
		    'input_json_delta', partial_json => $args->[1] } } : (),
		    { type => 'content_block_stop', index => 0 }, { type =>
		    'message_delta', delta => { stop_reason => 'tool_use' },
		    usage => { output_tokens => 2 } }, { type =>
		    'message_stop' }) };
	},
);
my $city = '{"city":"Oslo"}';
# The whole of the arguments where the item is begun, and again in pieces.
my %twice = (
	ant => stream({ type => 'message_start', message => { id => 'm', usage
	    => \%usage } }, { type => 'content_block_start', index => 0,
	    content_block => { type => 'tool_use', id => 'c1', name => 'NAME',
	    input => { city => 'Oslo' } } }, (map { { type =>
	    'content_block_delta', index => 0, delta => { type =>
	    'input_json_delta', partial_json => $_ } } } '{"city":', '"Oslo"}'),
	    { type => 'content_block_stop', index => 0 }, { type =>
	    'message_delta', delta => { stop_reason => 'tool_use' }, usage =>
	    { output_tokens => 2 } }, { type => 'message_stop' }),
	resp => stream({ type => 'response.created', response => { status =>
	    'in_progress' } }, { type => 'response.output_item.added',
	    output_index => 0, item => { type => 'function_call', call_id =>
	    'c1', name => 'NAME', arguments => $city } }, (map { { type =>
	    'response.function_call_arguments.delta', output_index => 0, delta
	    => $_ } } '{"city":', '"Oslo"}'), { type =>
	    'response.output_item.done', output_index => 0, item => { type =>
	    'function_call', call_id => 'c1', name => 'NAME', arguments =>
	    $city } }, { type => 'response.completed', response => { status =>
	    'completed', output => [], usage => \%usage } }),
);
my %models;
my %broken = (linefeed => "{\"code\": \"print(1)\nprint(2)\"}", half =>
    '{"value": ', list => '[1]', twice => $json->encode('{"code":"print(5)"}'));
my %none = (empty => ''); # Besides absent and null, where a wire can say so.
for my $w (map { $_->[0] } @wires) {
	my $key = 'arguments';
	$models{"$w-$_"} = [$call{$w}->('code_execution', [$key =>
	    $broken{$_}]), { text => 'Then.' }] for keys(%broken);
	$models{"$w-empty"} = [$call{$w}->('now', [$key => ''])];
	$models{"$w-null"} = [$call{$w}->('now', [$key => undef])];
	$models{"$w-absent"} = [$call{$w}->('now', [])];
	$models{"$w-says"} = [map { { text => $_ } } qw(One Two Three)];
	next unless $twice{$w};
	my %x = %{$twice{$w}};
	$x{body} =~ s/NAME/now/;
	$models{"$w-once"} = [\%x];
}
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => join('', map { $p->yaml(@$_, native_code =>
    'false', vision => 'false') } @wires));

# --- requests of each route ---

sub tool {
	my ($route) = @_;
	my $schema = { type => 'object', properties => {} };
	return $route eq 'messages' ? { name => 'now', input_schema => $schema } :
	    $route eq 'responses' ? { type => 'function', name => 'now',
	    parameters => $schema } : { type => 'function', function => { name
	    => 'now', parameters => $schema } };
}
# A history with calls of these [id, arguments], each answered.
sub history {
	my ($route, @calls) = @_;
	my @talk = ({ role => 'user', content => 'Go.' });
	for (@calls) {
		my ($id, $args, $result) = @$_;
		push @talk, $route eq 'messages' ? ({ role => 'assistant',
		    content => [{ type => 'tool_use', id => $id, name => 'now',
		    input => $args }] }, { role => 'user', content => [{ type =>
		    'tool_result', tool_use_id => $id, content => $result }] }) :
		    $route eq 'responses' ? ({ type => 'function_call', call_id
		    => $id, name => 'now', arguments => $args }, { type =>
		    'function_call_output', call_id => $id, output => $result }) :
		    ({ role => 'assistant', tool_calls => [{ id => $id, type =>
		    'function', function => { name => 'now', arguments => $args }
		    }] }, { role => 'tool', tool_call_id => $id, content =>
		    $result });
	}
	return \@talk;
}
sub ask {
	my ($route, $model, %o) = @_;
	$p->forget;
	my $r = $s->post("/v1/$route", ant => $route eq 'messages', timeout =>
	    60, json => { model => $model, stream => $o{stream} ?
	    JSON::PP::true : JSON::PP::false, tools => [$route{$route},
	    tool($route)], $route eq 'messages' ? (max_tokens => 500) : (),
	    ($route eq 'responses' ? 'input' : 'messages') => $o{talk} //
	    history($route) });
	is_deeply([Streams::faults($route, $r->{body})], [],
	    "$route: $model: no client fails at it")
	    if $o{stream} && $r->{status} == 200;
	return $r;
}
# The arguments of every call in the last request upstream, as it has them: of
# chat and Responses texts, of Messages values; and the ids of calls and results.
sub sent {
	my ($w) = @_;
	my $q = ($p->requests)[-1]{json};
	return (map { $_->{arguments} } grep { ($_->{type} // '') eq
	    'function_call' } @{$q->{input}}) if $w eq 'resp';
	return (map { map { $_->{function}{arguments} } @{$_->{tool_calls} //
	    []} } @{$q->{messages}}) if $w eq 'chat';
	return map { $json->encode($_->{input}) } grep { $_->{type} eq
	    'tool_use' } map { ref($_->{content}) ? @{$_->{content}} : () }
	    @{$q->{messages}};
}
# The arguments of the caller's call in an answer, as text.
sub got {
	my ($route, $r, $streamed) = @_;
	if (!$streamed) {
		my $o = $r->{json};
		return join('|', $route eq 'messages' ? map { $json->encode(
		    $_->{input}) } grep { $_->{type} eq 'tool_use' }
		    @{$o->{content}} : $route eq 'responses' ? map {
		    $_->{arguments} } grep { $_->{type} eq 'function_call' }
		    @{$o->{output}} : map { $_->{function}{arguments} }
		    @{$o->{choices}[0]{message}{tool_calls}});
	}
	my $args = '';
	my ($frames) = Streams::frames($r->{body});
	for my $e (grep { ref } map { $_->[1] } @$frames) {
		my $type = $e->{type} // '';
		$args .= $e->{choices} ? join('', map { $_->{function}{arguments}
		    // '' } @{$e->{choices}[0]{delta}{tool_calls} // []}) :
		    $type eq 'content_block_delta' ? $e->{delta}{partial_json}
		    // '' : $type eq 'response.function_call_arguments.delta' ?
		    $e->{delta} : '';
	}
	return $args;
}
sub object { return ref(eval { $json->decode($_[0]) } // '') eq 'HASH' }

for my $route (sort(keys(%route))) {
	for my $w (map { $_->[0] } @wires) {
		my $how = "$route over $w";
		my $r;
		# From our own loop: round 2 is told of what round 1 called.
		for my $streamed (0, 1) {
			for my $kind (sort(keys(%broken))) {
				$r = ask($route, "$w:$w-$kind", stream =>
				    $streamed);
				is($r->{status}, 200, "$how: $kind")
				    or diag($r->{body});
				is(scalar($p->requests), 2, '... two rounds');
				my @args = sent($w);
				is(scalar(@args), 1, '... with the call');
				ok(object($args[0]), '... and an object: '
				    . ($args[0] // 'none'));
				like(($p->requests)[-1]{body}, $kind eq
				    'linefeed' ? qr/1\\n2/ : $kind eq 'twice' ?
				    qr/stdout:\\n5/ : qr/tool error/,
				    '... and what came of it');
			}
		}
		# From the caller.
		for my $args ('{"value": ', '', '[1]', '"x"', "{\"a\":\"b\nc\"}",
		    $json->encode($city)) {
			my $given = $route eq 'messages' ? eval {
			    $json->decode($args) } // $args : $args;
			$r = ask($route, "$w:$w-says", talk => history($route,
			    ['c1', $given, 'ok']));
			is($r->{status}, 200, "$how: a history with $args")
			    or diag($r->{body});
			my ($sent) = sent($w);
			ok(object($sent), '... goes on as an object: '
			    . ($sent // 'none'));
			like($sent, $args =~ /Oslo/ ? qr/^\{"city":"Oslo"\}$/ :
			    $args eq '' ? $route eq 'messages' ? qr/^\{.*\}$/ :
			    qr/^\{\}$/ : $args =~ /b\nc/ ? qr/b\\\\?n?c?/ :
			    qr/__raw/, '... that says the same');
		}
		# Two calls of one id.
		$r = ask($route, "$w:$w-says", talk => history($route, ['c1',
		    $route eq 'messages' ? { n => 1 } : '{"n":1}', 'first'],
		    ['c1', $route eq 'messages' ? { n => 2 } : '{"n":2}',
		    'second']));
		is($r->{status}, 200, "$how: an id that stands twice")
		    or diag($r->{body});
		my $body = ($p->requests)[-1]{body};
		my @ids = $body =~ /"(?:call_id|tool_call_id|tool_use_id)":"
		    ([^"]*)"/gx;
		@ids = @ids[grep { $_ % 2 } 0 .. $#ids] if $w eq 'resp';
		is(scalar(@ids), 2, '... two results');
		isnt($ids[0], $ids[1], '... each of a call of its own');
		is_deeply([map { my $id = quotemeta($_); scalar(() = $body =~
		    /"$id"/g) } @ids], [2, 2], '... and each with its call');
		# An image in a result, for a model that does not see.
		my $png = 'data:image/png;base64,' . 'iVBORw0KGgoAAAANSUhEUgAA'
		    . 'AAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA'
		    . 'AABJRU5ErkJggg==';
		my ($base64) = $png =~ /,(.*)/;
		my $talk = history($route, ['c1', $route eq 'messages' ? {} :
		    '{}', $route eq 'messages' ? [{ type => 'image', source => {
		    type => 'base64', media_type => 'image/png', data => $base64
		    } }] : $route eq 'responses' ? [{ type => 'input_image',
		    image_url => $png }] : [{ type => 'image_url', image_url =>
		    { url => $png } }]]);
		$r = ask($route, "$w:$w-says", talk => $talk);
		is($r->{status}, 200, "$how: an image in a result")
		    or diag($r->{body});
		my $q = ($p->requests)[-1]{json};
		my ($said) = map { ref($_) ? $json->encode($_) : $_ } $w eq
		    'resp' ? map { $_->{output} } grep { ($_->{type} // '') eq
		    'function_call_output' } @{$q->{input}} : $w eq 'chat' ?
		    map { $_->{content} } grep { $_->{role} eq 'tool' }
		    @{$q->{messages}} : map { $_->{content} } grep { $_->{type}
		    eq 'tool_result' } map { ref($_->{content}) ?
		    @{$_->{content}} : () } @{$q->{messages}};
		like($said, qr/cannot see images.*\bvision\b/s, '... the result '
		    . 'says that the model is blind, and names the setting');
		# A call without arguments.
		for my $streamed (0, 1) {
			for my $kind ('empty', 'null', 'absent') {
				$r = ask($route, "$w:$w-$kind", stream =>
				    $streamed);
				is(got($route, $r, $streamed), '{}',
				    "$how: no arguments ($kind)")
				    or diag($r->{body});
			}
			next unless $twice{$w};
			$r = ask($route, "$w:$w-once", stream => $streamed);
			is(got($route, $r, $streamed), $city,
			    "$how: arguments that are said twice");
		}
	}
}
$s->done;
done_testing();
