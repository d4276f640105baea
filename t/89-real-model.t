#!/usr/bin/perl

# A real language model, if a very small one, behind llama.cpp's own server: it
# is shown how code is used, and writes and runs some over all three routes.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use IPC::Open2 qw(open2);
use JSON::PP;
use Test::More;
use Satchel;
use Sdk;
use Streams;

my $pid = open2(my $out, my $in, Sdk::python('model', 'model.py'));
chomp(my $url = <$out> // '');
like($url, qr{^http://127\.0\.0\.1:\d+$}, 'the model is there') or
    die('no model');
my $s = Satchel->new(providers => "providers:\n  - name: small\n"
    . "    wire: openai-chat\n    base_url: $url/v1\n    json_schema: true\n");
my $json = JSON::PP->new->utf8;

# What it is shown: question, code, what that printed, answer.
my @shown = (['Compute 2+3.', 'print(2+3)', '5', 'It is 5.'],
    ['Compute 9-4.', 'print(9-4)', '5', 'It is 5.'],
    ['Compute 8*3.', 'print(8*3)', '24', 'It is 24.']);
my $ask = 'Compute 6*7.';

sub user { return { role => 'user', content => $_[0] } }
sub said { return { role => 'assistant', content => $_[0] } }

# The same history in each route's words; runs are some provider's.
my %history = (
	messages => [(map { my ($q, $code, $n, $a) = @{$shown[$_]};
	    (user($q), said([{ type => 'server_tool_use', id =>
	    "srvtoolu_0$_", name => 'code_execution', input =>
	    { code => $code } }, { type => 'code_execution_tool_result',
	    tool_use_id => "srvtoolu_0$_", content => { type =>
	    'code_execution_result', stdout => "$n\n", stderr => '',
	    return_code => 0, content => [] } }, { type => 'text',
	    text => $a }])) } 0 .. $#shown), user($ask)],
	responses => [(map { my ($q, $code, $n, $a) = @{$shown[$_]};
	    (user($q), { type => 'code_interpreter_call', id => "ci_0$_",
	    status => 'completed', code => $code, container_id => 'cntr_0',
	    outputs => [{ type => 'logs', logs => "$n\n" }] }, said($a)) }
	    0 .. $#shown), user($ask)],
	'chat/completions' => [(map { my ($q, $code, $n, $a) = @{$shown[$_]};
	    (user($q), { role => 'assistant', content => undef, tool_calls =>
	    [{ id => "call_$_", type => 'function', function => { name =>
	    'code_execution', arguments => $json->encode({ code => $code })
	    } }] }, { role => 'tool', tool_call_id => "call_$_", content =>
	    "stdout:\n$n\nexit code: 0" }, said($a)) } 0 .. $#shown),
	    user($ask)],
);
my %with = (
	messages => { max_tokens => 96, tools => [{ type =>
	    'code_execution_20250522', name => 'code_execution' }] },
	responses => { max_output_tokens => 96, tools => [{ type =>
	    'code_interpreter', container => { type => 'auto' } }],
	    include => ['code_interpreter_call.outputs'] },
	'chat/completions' => { max_tokens => 96, tools => [{ type =>
	    'code_interpreter' }] },
);

sub ask {
	my ($route, %more) = @_;
	my $key = $route eq 'responses' ? 'input' : 'messages';
	my $r = $s->post("/v1/$route", ant => $route eq 'messages', timeout =>
	    240, json => { model => 'small:smollm2', temperature => 0,
	    $key => $history{$route}, %{$with{$route}}, %more });
	is($r->{status}, 200, "$route: answered") or diag($r->{body});
	is_deeply([Streams::faults("/v1/$route", $r->{body})], [],
	    "$route: no client fails at it") if $more{stream};
	return $r;
}

sub events {
	my ($r) = @_;
	return map { $json->decode($_) } $r->{body} =~ /^data: (\{.*)$/mg;
}

# --- code, over every route ---

my $m = ask('messages')->{json};
my ($use, $result) = @{$m->{content}};
is($use->{input}{code}, 'print(6*7)', 'Messages: the model writes code');
is($result->{content}{stdout}, "42\n", '... which is run');
is($m->{content}[-1]{text}, 'It is 42.', '... and answers with what it printed') or
    diag($json->encode($m->{content}));
my $usage = $m->{usage};
my @e = events(ask('messages', stream => JSON::PP::true));
is(join('', map { $_->{delta}{partial_json} // '' } @e) =~ s/\s//gr,
    '{"code":"print(6*7)"}', 'streamed: it comes as it is written');
cmp_ok(scalar(grep { defined($_->{delta}{partial_json}) } @e), '>', 2,
    '... in pieces');
my $last = $e[-2]{usage};
is($last->{input_tokens} + ($last->{cache_read_input_tokens} // 0),
    $usage->{input_tokens} + ($usage->{cache_read_input_tokens} // 0),
    '... the server counts the same tokens');

@e = events(ask('responses', stream => JSON::PP::true));
my ($run) = grep { $_->{type} eq 'code_interpreter_call' }
    @{$e[-1]{response}{output}};
is($run->{code}, 'print(6*7)', 'Responses: the model writes code');
is($run->{outputs}[0]{logs}, "42\n", '... which is run');
my $r = ask('chat/completions');
my $row = $s->get('/v1/usage')->{json}{data}[0];
is("$row->{route} $row->{runs}", 'chat 1', 'Chat: code is run too') or
    diag($json->encode($row));

# --- what else a server must take from us ---

$r = ask('responses', input => 'Is water wet?', tools => [], text =>
    { format => { type => 'json_schema', name => 'answer', strict =>
    JSON::PP::true, schema => { type => 'object', properties => { wet =>
    { enum => ['yes', 'no'] } }, required => ['wet'],
    additionalProperties => JSON::PP::false } } });
my ($text) = map { $_->{text} } map { @{$_->{content}} }
    grep { $_->{type} eq 'message' } @{$r->{json}{output}};
like(eval { $json->decode($text)->{wet} } // $text, qr/^(?:yes|no)$/,
    'an answer is held to a schema');
$r = ask('messages', messages => [user('Count from 1 to 100.')], tools => [],
    max_tokens => 9);
is($r->{json}{stop_reason}, 'max_tokens', 'and to its limit');
is($r->{json}{usage}{output_tokens}, 9, '... exactly');

$s->done;
close($in);
waitpid($pid, 0);
done_testing();
