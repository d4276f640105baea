#!/usr/bin/perl

# What is kept of runs for the requests that follow: results that clients drop,
# calls that callers are never shown.  And what is counted: GET /v1/usage.

use strict;
use warnings;
use Test::More;
use Provider;
use Satchel qw(header);

sub bash {
	my ($command, %more) = @_;
	return { name => 'bash_code_execution', arguments =>
	    { command => $command }, %more };
}
sub code {
	my ($code, %more) = @_;
	return { name => 'code_execution', arguments => { code => $code }, %more };
}

my %usage = (usage => { prompt_tokens => 100, completion_tokens => 10,
    prompt_tokens_details => { cached_tokens => 40 } });
my %models = (
	run => [{ text => 'Let me see.', calls => [bash('echo out; echo err >&2; '
	    . 'echo x >made.txt; exit 3')], %usage }, { text => 'Seen.', %usage }],
	long => [{ calls => [map { bash("head -c 20000 /dev/zero | tr '\\0' $_") }
	    qw(a b c)] }, { text => 'Long.' }],
	plain => [({ text => 'Yes.' }) x 5],
	mixed => [{ calls => [code('print(6*7)', id => 'call_ours'),
	    { name => 'save', id => 'call_theirs', arguments => { t => 1 } }] }],
	bad => [{ calls => [bash('sleep 9')] }, { calls => [{ name =>
	    'bash_code_execution', raw => '{' }] }, { text => 'Bad.' }],
	vast => [({ text => 'Much.', usage => { prompt_tokens => ~0,
	    completion_tokens => ~0 } }) x 2],
	much => [{ text => 'Much.', usage => { prompt_tokens => 1 << 40,
	    completion_tokens => 7 } }],
	dead => [{ status => 500, body => '{"error":{"message":"x"}}' }],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->yaml('chat', 'openai-chat', models =>
    '["*"]') . $p->yaml('ant', 'anthropic-messages', native_code => 'true'),
    set => { 'code_execution.exec_timeout_s' => 2,
    'code_execution.price_per_run' => '0.0125' });
my @tools = ({ type => 'code_execution_20250825', name => 'code_execution' });

sub ask {
	my ($model, %o) = @_;
	$p->forget;
	return $s->post('/v1/messages', ant => 1, as => $o{as} // 'alice',
	    timeout => 60, json => { model => $model, max_tokens => 5000,
	    tools => $o{tools} // \@tools, messages => $o{messages}
	    // [{ role => 'user', content => 'Go.' }] });
}

# What the model was told as results of calls, in their order.
sub told {
	return map { $_->{content} } grep { $_->{role} eq 'tool' }
	    @{(($p->requests)[0]{json} // {})->{messages} // []};
}
sub history {
	my ($content) = @_;
	return [{ role => 'user', content => 'Go.' }, { role => 'assistant',
	    content => [grep { $_->{type} !~ /_tool_result$/ } @$content] },
	    { role => 'user', content => 'And?' }];
}

my ($r, @q);

# --- results that were dropped ---

$r = ask('run');
my @content = @{$r->{json}{content}};
my ($file) = map { $_->{content}{content}[0]{file_id} }
    grep { $_->{type} =~ /_tool_result$/ } @content;
my $want = "[tool error] exit code: 3\nstdout:\nout\nstderr:\nerr";
my ($was) = map { $_->{content} } grep { $_->{role} eq 'tool' }
    @{($p->requests)[1]{json}{messages}};
ask('plain', messages => history(\@content));
my ($now) = told();
like($now, qr/\[tool error\] exit code 3\nstdout:\nout\nstderr:\nerr/,
    'a result that the client dropped is told from what is kept');
like($now, qr{made\.txt \($file, 2 bytes\)}, '... its files too');
is($now, $was, '... in the words of the first time');
for my $who (qw(carol bob)) {
	ask('plain', as => $who, messages => history(\@content));
	is((told())[0], '(result not available)', "... not to $who");
}
my ($use) = grep { $_->{type} eq 'server_tool_use' } @content;
my @row = $s->mysql("SELECT c.pid IS NOT NULL, k.input, k.expires > c.ends FROM code_call k"
    . " LEFT JOIN container c ON c.pid = k.container WHERE k.pid = '$use->{id}'");
is_deeply([$row[0][0], JSON::PP::decode_json($row[0][1]), $row[0][2]],
    [1, $use->{input}, 1], 'kept past the end of its container');
$s->mysql("UPDATE code_call SET expires = 1 WHERE pid = '$use->{id}'");
ask('plain', messages => history(\@content));
is((told())[0], '(result not available)', 'not after its time');

$r = ask('long');
is(scalar(grep { $_->{type} =~ /_tool_result$/ } @{$r->{json}{content}}), 3, 'three long results');
ask('plain', messages => history($r->{json}{content}));
my @len = map { length } told();
cmp_ok($len[0], '<', 8192 + 200, 'all but the last two are cut short');
cmp_ok($len[0], '>', 8000, '... not shorter');
is(scalar(grep { $_ > 20000 } @len[1, 2]), 2, '... those are told whole');
is($s->sweep->{json}{calls}, 1, 'the sweep takes what has expired, and nothing else');

# --- calls that were hidden ---

my @save = ({ type => 'function', function => { name => 'save', parameters =>
    { type => 'object', properties => {} } } });
sub chat {
	my ($model, %o) = @_;
	$p->forget;
	return $s->post('/v1/chat/completions', as => $o{as} // 'alice', json =>
	    { model => $model, tools => [{ type => 'code_interpreter' }, @save],
	    messages => $o{messages} // [{ role => 'user', content => 'Go.' }] });
}
$r = chat('mixed');
my $m = $r->{json}{choices}[0]{message};
is_deeply([map { $_->{function}{name} } @{$m->{tool_calls}}], ['save'],
    'chat: the caller sees their own call');
my $own = $m->{tool_calls}[0]{id};
like($own, qr/^toolu_gw_[0-9a-z]{24}$/, '... under an id that is minted here');
my @talk = ({ role => 'user', content => 'Go.' }, $m, { role => 'tool',
    tool_call_id => $own, content => 'saved' });
chat('plain', messages => \@talk);
@q = @{($p->requests)[0]{json}{messages}};
is_deeply([map { $_->{function}{name} } @{$q[1]{tool_calls}}],
    ['code_execution', 'save'], '... the model again both of its calls');
is_deeply([map { $_->{content} } @q[2, 3]], ["stdout:\n42\nexit code: 0", 'saved'],
    '... and their results, ours first');
is_deeply([map { $_->{tool_call_id} } @q[2, 3]], [map { $_->{id} }
    @{$q[1]{tool_calls}}], '... each by its id');
is(JSON::PP::decode_json($q[1]{tool_calls}[0]{function}{arguments})->{code},
    'print(6*7)', '... with what was run');
chat('plain', messages => \@talk, as => 'carol');
is(scalar(@{($p->requests)[0]{json}{messages}[1]{tool_calls}}), 1,
    'by the same id somebody else gets nothing');
# Another conversation of the same key, whose upstream gives the same ids.
my @other = ({ role => 'user', content => 'Go.' }, { role => 'assistant',
    content => undef, tool_calls => [{ id => 'call_theirs', type => 'function',
    function => { name => 'save', arguments => '{}' } }] }, { role => 'tool',
    tool_call_id => 'call_theirs', content => 'saved' });
chat('plain', messages => \@other);
unlike(($p->requests)[0]{body}, qr/print|42/,
    'a conversation with the same ids of the upstream gets nothing of it');
$s->mysql('DELETE FROM code_call');
$r = chat('plain', messages => \@talk);
is($r->{status}, 200,
    'executor row 38: without the row the conversation goes on');
is(scalar(@{($p->requests)[0]{json}{messages}[1]{tool_calls}}), 1, '... without it');

# Ids that callers make up.
$r = ask('plain', messages => history([map { { %$_, $_->{id} ? (id =>
    "srvtoolu_gw_\x{e9}") : () } } @content]));
is("$r->{status} " . (told())[0], '200 (result not available)', 'a call of an id'
    . ' that no column holds is not looked for');

# --- usage ---

$s->mysql('DELETE FROM model_usage; DELETE FROM run_usage');
$r = ask('run');
$r = $s->get('/v1/usage');
is($r->{status}, 200, 'GET /v1/usage') or diag($r->{body});
my ($u) = @{$r->{json}{data}};
my ($key) = map { $_->[0] } $s->mysql("SELECT id FROM api_key WHERE user_name = 'alice' ORDER BY id DESC LIMIT 1");
ok((grep { $_->{request} eq $u->{request_id} }
    grep { ($_->{route} // '') eq '/v1/messages' } $s->log),
    'a usage row has the id of its request');
ok((grep { /"request":"\Q$u->{request_id}\E".*"route":"\/sessions\/\{id\}\/exec"/ }
    split /^/, Satchel::_slurp("$s->{dir}/log/sandbox.log")),
    '... as has the sandbox\'s line of its run');
like(Satchel::_slurp("$s->{dir}/log/access.log"),
    qr{"POST /v1/messages HTTP/1.1" 200 .* \Q$u->{request_id}\E$}m,
    '... and the web server\'s');
is_deeply({ %$u, id => 0, created_at => 0, duration_ms => 0, run_ms => 0,
    request_id => 0 },
    { id => 0, request_id => 0, object => 'usage', created_at => 0, key_id => $key, user => 'alice',
    route => 'messages', model => 'run', provider => 'chat',
    code_execution_ran => 'local', status => 200, error => undef,
    duration_ms => 0, input_tokens => 120, output_tokens => 20,
    cached_tokens => 80, reasoning_tokens => 0, rounds => 2, runs => 1,
    priced_runs => 1, run_ms => 0, output_bytes => 2, price => '0.012500' },
    'a request: its tokens, rounds and runs') or diag(explain($u));
like($u->{id}, qr/^[0-9a-z]{24}$/, '... its id');
is_deeply([$s->mysql("SELECT tool, exit_code, error, files, bytes, container IS NOT NULL,"
    . " created = (SELECT created FROM model_usage) FROM run_usage")],
    [['bash_code_execution', 3, undef, 1, 2, 1, 1]], 'a run: what came of it');
ask('bad');
($u) = @{$s->get('/v1/usage?limit=1')->{json}{data}};
is_deeply([@$u{qw(rounds runs priced_runs price)}], [3, 2, 0, '0.000000'],
    'runs that failed by a tool error cost nothing');
is_deeply([map { $_->[0] } $s->mysql("SELECT error FROM run_usage WHERE error IS NOT NULL ORDER BY id")],
    ['execution_time_exceeded', 'invalid_tool_input'], '... and say why');
ask('dead');
($u) = @{$s->get('/v1/usage?limit=1')->{json}{data}};
is_deeply([@$u{qw(status rounds input_tokens)}], [502, 0, undef],
    'an upstream that fails');
ok(defined($u->{error}), '... with a word for it');
ask('ant:plain');
($u) = @{$s->get('/v1/usage?limit=1')->{json}{data}};
is_deeply([@$u{qw(code_execution_ran provider status rounds)}],
    ['provider', 'ant', 200, 0], 'what is passed on is counted');
ask('plain', tools => []);
chat('plain');
is_deeply([map { "$_->{route} $_->{code_execution_ran}" }
    @{$s->get('/v1/usage?limit=2')->{json}{data}}], ['chat local', 'messages nobody'],
    'each route');

my @all = @{$s->get('/v1/usage')->{json}{data}};
is(scalar(@all), 6, 'six requests');
my @seen;
my $after = '';
for (1 .. 10) {
	$r = $s->get("/v1/usage?limit=2$after");
	push @seen, map { $_->{id} } @{$r->{json}{data}};
	last unless $r->{json}{has_more};
	$after = "&after=$r->{json}{last_id}";
}
is_deeply(\@seen, [map { $_->{id} } @all], 'a page at a time');
is_deeply([map { $_->{id} } @{$s->get('/v1/usage?order=asc')->{json}{data}}],
    [reverse @seen], 'oldest first');
my $sum = $s->get('/v1/usage?limit=1')->{json}{total};
is_deeply([@$sum{qw(requests runs priced_runs price output_bytes)}],
    [6, 3, 1, '0.012500', 2], 'the sums are of all pages');
is($s->get('/v1/usage?until=1')->{json}{total}{requests}, 0, 'before our time: none');
is($s->get("/v1/usage?since=$all[0]{created_at}")->{json}{data}[0]{id}, $all[0]{id}, 'since');
for my $bad ('limit=0', 'limit=1000', 'order=up', 'since=x', 'until=-1') {
	is($s->get("/v1/usage?$bad")->{status}, 400, "refused: $bad");
}
is($s->get("/v1/usage?after=$_")->{status}, 404, "no such cursor: $_")
    for 'nope', '%ff' x 24, '%C3%A9' x 12;
is($s->get("/v1/usage?after=$seen[0]", as => 'carol')->{status}, 404, '... nor another\'s');
is($s->get('/v1/usage', as => 'carol')->{json}{total}{requests}, 0, 'another key\'s is not shown');
my ($ws) = map { $_->[0] } $s->mysql("SELECT workspace_name FROM api_key WHERE user_name = 'alice' ORDER BY id DESC LIMIT 1");
my ($theirs) = map { $_->[0] } $s->mysql("SELECT workspace_name FROM api_key WHERE user_name = 'bob'");
is($s->get("/v1/usage?workspace=$ws")->{status}, 403, 'the workspace\'s is for its administrator');
$s->{key}{boss} = $s->admin('--json', 'key', 'create', $ws, 'carol', '--role',
    'workspace-admin')->{json}{key};
is($s->get("/v1/usage?workspace=$ws", as => 'boss')->{json}{total}{requests}, 6, '... who sees it');
is($s->get("/v1/usage?workspace=$theirs", as => 'boss')->{status}, 404, '... and no other');
is($s->get("/v1/usage?workspace=$theirs", as => 'admin')->{json}{total}{requests}, 0,
    'a management key may see any');
is($s->get("/v1/usage?workspace=nope", as => 'admin')->{status}, 404, '... that there is');
is($s->get('/v1/usage', as => 'admin')->{status}, 400, '... and must name it');

# --- numbers of tokens that nobody's requests have ---

$s->mysql('DELETE FROM model_usage');
$r = chat('vast') for 1 .. 2;
like($r->{body}, qr/"prompt_tokens": ?\d{1,4}\D/, 'too many tokens are as good as'
    . ' none told: they are estimated') or diag($r->{body});
$sum = $s->get('/v1/usage')->{json}{total};
is($sum->{requests}, 2, '... and spoil no sum');
cmp_ok($sum->{$_}, '<', 10000, "... of $_") for qw(input_tokens output_tokens);
chat('much');
($u) = @{$s->get('/v1/usage?limit=1')->{json}{data}};
is("$u->{input_tokens} $u->{output_tokens}", '1099511627776 7', 'as many as 2^40'
    . ' are believed');
$s->mysql('UPDATE model_usage SET input = 18446744073709551615,'
    . ' price = 99999999999999');
$r = $s->get('/v1/usage');
is($r->{status}, 200, 'sums past what a number in an answer holds') or diag($r->{body});
like($r->{body}, qr/"total":.*"input_tokens": ?9223372036854775807\D/s,
    '... stay at its end');
$s->done;
done_testing();
