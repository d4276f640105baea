#!/usr/bin/perl

# Streamed Messages answers over a chat upstream: what of it comes when, the
# blocks of runs, errors, and clients that leave.

use strict;
use warnings;
use Encode ();
use JSON::PP ();
use Test::More;
use Provider;
use Satchel qw(header);
use Streams;
use Turns;

my @save = ({ name => 'save', description => 'Store a report.',
    input_schema => { type => 'object', properties =>
    { title => { type => 'string' } } } });
# The contract's example, as a server sends it and as the caller must get it.
sub fixture {
	my ($name) = @_;
	open(my $f, '<:encoding(UTF-8)', "t/fixture/executor/$name.sse") or
	    die "$name: $!";
	local $/;
	return scalar(<$f>);
}

my $p = Provider->new(script => { models => { Turns::models(),
    'qwen3-coder' => [map { { type => 'text/event-stream',
	body => fixture("upstream-chat-round$_") } } 1, 2] } });
my $s = Satchel->new(providers => $p->port);
my @tool = ({ type => 'code_execution_20250825', name => 'code_execution' });

# Ask, streamed; the answer with its events.
sub ask {
	my ($model, %o) = @_;
	$p->forget;
	my $r = $s->post('/v1/messages', ant => 1, timeout => 60, json => {
	    model => $model, max_tokens => 4096, stream => JSON::PP::true,
	    messages => [{ role => 'user', content => 'Go.' }],
	    tools => \@tool, %{ $o{with} // {} } });
	@$r{qw(events rest)} = events($r->{body});
	is_deeply([Streams::faults('/v1/messages', $r->{body})], [],
	    "$model: no client fails at it") if $r->{status} == 200;
	return $r;
}

# The events in a text, and what of it is none.
sub events {
	my ($body) = @_;
	my @events;
	while ($body =~ s/\Aevent: (\w+)\ndata: (.*)\n\n//) {
		push @events, JSON::PP->new->utf8->decode($2);
		$events[-1]{type} eq $1 or fail("event $1 is not $2");
	}
	return (\@events, $body);
}

# The message as the vendor's clients put it together.
sub message {
	my ($r) = @_;
	my ($m, @blocks);
	for my $e (@{ $r->{events} }) {
		my ($t, $d) = @$e{qw(type delta)};
		$m = $e->{message} if $t eq 'message_start';
		if ($t eq 'content_block_start') {
			push @blocks, $e->{content_block};
			$blocks[-1]{json} = '' if $blocks[-1]{input};
			is($e->{index}, $#blocks, "block $e->{index} is next");
		} elsif ($t eq 'content_block_delta') {
			my ($k) = grep { $_ ne 'type' } keys %$d;
			$k eq 'partial_json' ? $blocks[-1]{json} .= $d->{$k} :
			    ($blocks[-1]{$k} .= $d->{$k});
		} elsif ($t eq 'content_block_stop') {
			my $text = delete $blocks[-1]{json} // next;
			$blocks[-1]{input} = JSON::PP->new->decode($text);
		} elsif ($t eq 'message_delta') {
			@$m{keys %$d} = values %$d;
			@{ $m->{usage} }{keys %{ $e->{usage} }} =
			    values %{ $e->{usage} };
		}
	}
	$m->{content} = \@blocks;
	return $m;
}

sub types { return join(' ', map { $_->{type} } @{ $_[0]{content} }) }

my ($r, $m);

$r = ask('plain', with => { tools => [] });
is($r->{status}, 200, 'a streamed answer') or diag($r->{body});
is(header($r, 'Content-Type'), 'text/event-stream; charset=utf-8', 'its type');
is(header($r, 'Cache-Control'), 'no-cache', 'not to be kept');
is($r->{rest}, '', 'it is events and nothing else');
is($r->{events}[0]{type}, 'message_start', 'begins');
is($r->{events}[-1]{type}, 'message_stop', 'and ends');
$m = message($r);
is(types($m), 'thinking text', 'its blocks');
is($m->{content}[1]{text}, "Hello \x{2028} \x{1F600}, how are you today?",
    'the text as it is');
is($m->{content}[0]{signature}, 'gw_unsigned', 'what was thought is unsigned');
is($m->{stop_reason}, 'end_turn', 'why it stops');
my ($q) = map { $_->{json} } $p->requests;
is_deeply([$q->{stream}, $q->{stream_options}], [JSON::PP::true,
    { include_usage => JSON::PP::true }], 'the upstream streams too');

$r = ask('job');
$m = message($r);
is(header($r, 'X-Code-Execution-Ran'), 'local', 'who ran the code');
is(types($m), 'text server_tool_use bash_code_execution_tool_result text',
    'a run');
is_deeply($m->{content}[1]{input}, { command => 'echo a; echo b >&2;'
    . ' echo c >c.txt; exit 3' }, 'its command');
cmp_ok(scalar(grep { ($_->{delta}{type} // '') eq 'input_json_delta' }
    @{ $r->{events} }), '>', 2, 'as it was written');
my $c = $m->{content}[2]{content};
like($c->{content}[0]{file_id}, qr/^file-[0-9a-f]{32}$/, 'its file');
is_deeply($c, { type => 'bash_code_execution_result', stdout => "a\n",
    stderr => "b\n", return_code => 3, content => $c->{content} },
    'its result');
is($m->{content}[2]{tool_use_id}, $m->{content}[1]{id}, 'of that call');
is_deeply([@{ $m->{usage} }{qw(input_tokens output_tokens
    cache_read_input_tokens)}], [1364, 171, 512], 'usage of both rounds');

$m = message(ask('twice'));
is(types($m), join(' ', ('server_tool_use bash_code_execution_tool_result') x 2,
    'text'), 'two calls: two pairs');
is(join('', map { $_->{content}{stdout} // '' } grep { ref($_->{content}) }
    @{ $m->{content} }), "1\n2\n", 'in order');
$m = message(ask('mixed', with => { tools => [@tool, @save] }));
is(types($m), 'text tool_use server_tool_use bash_code_execution_tool_result',
    'mixed');
is("$m->{stop_reason} $m->{content}[1]{id}", 'tool_use call_b7f3',
    'stops for the caller');
$m = message(ask('ours', with => { tools => [@tool, @save] }));
is(types($m), 'text server_tool_use tool_use bash_code_execution_tool_result',
    'ours first: calls as the model makes them, then the result');
is($m->{stop_reason}, 'tool_use', 'which stops for the caller too');
$m = message(ask('odd'));
is(types($m), join(' ', ('server_tool_use bash_code_execution_tool_result') x 2,
    'text'), 'what models do wrong');
like($m->{content}[0]{input}{command}, qr/^python3 - <<.*print\(6\*7\)/s,
    'a call by another name is shown as what was declared');
is($m->{content}[3]{content}{error_code}, 'invalid_tool_input',
    'no arguments');
$m = message(ask('broken'));
is_deeply([$m->{content}[0]{input}, $m->{content}[1]{content}{error_code},
    $m->{stop_reason}], [{ command => 'ec' }, 'invalid_tool_input',
    'max_tokens'], 'a call that the token limit broke off');
$m = message(ask('empty'));
is(types($m), 'server_tool_use bash_code_execution_tool_result',
    'a last round that says nothing');
is($m->{stop_reason}, 'end_turn', 'ends the turn');

# --- the contract's example, from both upstream streams to the caller's ---

my @up = map { $s->upload($_, name => 'data.csv', type => 'text/csv',
    purpose => 'user_data')->{json}{id} } "qty\n20\n22\n", "qty\n17\n";
$r = ask('qwen3-coder', with => { tools => [@tool, @save], messages => [
    { role => 'user', content => [{ type => 'text', text => 'Add up.' },
    map { { type => 'container_upload', file_id => $_ } } @up] }] });
my ($want) = events(Encode::encode_utf8(fixture('messages-stream')));
my ($got, $ideal) = map { message({ events => $_ }) } $r->{events}, $want;
like($got->{id}, qr/^msg_gw_[0-9a-z]{20}$/, 'id of the message');
like($got->{content}[1]{id}, qr/^srvtoolu_gw_[0-9a-z]{24}$/, 'id of the use');
cmp_ok($r->{events}[0]{message}{usage}{input_tokens}, '>', 1,
    'an estimate of the input at its beginning');
$ideal->{id} = $got->{id};
$ideal->{content}[1]{id} = $ideal->{content}[2]{tool_use_id} =
    $got->{content}[1]{id};
$ideal->{content}[2]{content}{content}[0]{file_id} =
    $got->{content}[2]{content}{content}[0]{file_id};
is($r->{events}[0]{message}{container}{id},
    $r->{events}[-2]{delta}{container}{id}, 'the container first and last');
for ($got, $ideal) {
	like($_->{container}{id}, qr/^container_gw_[0-9a-z]{20}$/,
	    'a container');
	delete $_->{container};
}
is_deeply($got, $ideal, 'and all else as the contract has it');

# --- errors ---

$r = ask('refuses');
is("$r->{status} $r->{json}{error}{message}", '400 too long',
    'an error before the first byte has a status');
$r = ask('dies');
is($r->{rest}, '', 'an upstream that dies: whole events');
is_deeply($r->{events}[-1]{error}, { type => 'api_error', message =>
    'The model provider broke the connection off.' }, 'and an error');
is(scalar(grep { /message_(stop|delta)/ } map { $_->{type} }
    @{ $r->{events} }), 0, 'not as if it were complete');
$r = ask('later');
is($r->{events}[-1]{type}, 'error', 'an error in the second round');

$s->done;
done_testing();
