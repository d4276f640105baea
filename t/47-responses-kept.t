#!/usr/bin/perl

# Responses that are kept: asked for again, gone on from, forgotten; and that
# they are their owner's alone.

use strict;
use warnings;
use Test::More;
use Provider;
use Satchel qw(header);

my %models = (
	one => [{ text => 'First.' }],
	two => [({ text => 'Second.' }) x 8],
	run => [{ text => 'Let me.', calls => [{ name => 'code_execution', arguments =>
	    { code => "print('was', 6*7)\nopen('f.txt', 'w').write('f')" } }] },
	    { text => 'It is 42.' }, ({ text => 'As I said.' }) x 4],
	cut => [{ text => 'This is cu', finish => 'length' }],
	call => [{ calls => [{ name => 'save', id => 'call_1', arguments => { a => 1 } }] },
	    { text => 'Saved.' }],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->yaml('chat', 'openai-chat', models =>
    '["*"]') . $p->yaml('resp', 'openai-responses', native_code => 'true')
    . $p->yaml('ant', 'anthropic-messages', native_code => 'true'));

sub ask {
	my ($model, %o) = @_;
	$p->forget;
	return $s->post('/v1/responses', as => delete $o{as} // 'alice', timeout => 60,
	    json => { model => $model, input => 'Hello.', %o });
}

# What the model was asked: "role: text", a line each.
sub asked {
	return join("\n", map { "$_->{role}: " . (ref $_->{content} ? '[]' : $_->{content} // '-') }
	    @{(($p->requests)[0]{json} // {})->{messages} // []});
}

my ($r, $q);

# --- again ---

$r = ask('one', metadata => { k => 'v' });
is($r->{status}, 200, 'an answer') or diag($r->{body});
my $one = $r->{json};
like($one->{id}, qr/^resp_gw_[0-9a-z]{20}$/, '... with an id');
$q = $s->get("/v1/responses/$one->{id}");
is($q->{body}, $r->{body}, 'is given again as it was, byte for byte');
is($s->get("/v1/responses/$one->{id}?stream=true")->{status}, 400, '... not as a stream');
for my $who (qw(carol bob)) {
	is($s->get("/v1/responses/$one->{id}", as => $who)->{status}, 404, "... not to $who");
}
is($s->get('/v1/responses/resp_gw_' . '0' x 20)->{json}{error}{type}, 'invalid_request_error',
    'one never issued: 404 in the dialect');

# --- onwards ---

$r = ask('two', previous_response_id => $one->{id}, input => 'And then?');
is($r->{status}, 200, 'it can be gone on from') or diag($r->{body});
is(asked(), "user: Hello.\nassistant: First.\nuser: And then?", '... with all that was said');
my $two = $r->{json};
is($two->{previous_response_id}, $one->{id}, '... and says so');
ask('two', previous_response_id => $two->{id}, input => [{ role => 'user', content =>
    [{ type => 'input_text', text => 'More.' }] }]);
is(asked(), "user: Hello.\nassistant: First.\nuser: And then?\nassistant: Second.\nuser: More.",
    'and again');
$r = ask('two', previous_response_id => $one->{id}, input => 'Other.');
is(asked(), "user: Hello.\nassistant: First.\nuser: Other.", 'twice from the same');
for my $bad ('resp_gw_' . '0' x 20, 'resp_123', "resp_gw_' OR 1", "resp_gw_"
    . "\x{e9}" x 10) {
	$r = ask('two', previous_response_id => $bad);
	is_deeply([$r->{status}, @{$r->{json}{error}}{qw(param code)}],
	    [400, 'previous_response_id', 'previous_response_not_found'], "not from $bad");
}
is(ask('two', previous_response_id => 7)->{status}, 400, 'nor from a number');
is($s->$_('/v1/responses/resp_gw_' . '%C3%A9' x 10)->{status}, 404,
    "nor is there one of an id that is none: $_") for qw(get del);
is(ask('two', previous_response_id => $one->{id}, as => 'carol')->{json}{error}{code},
    'previous_response_not_found', 'nor from somebody else\'s');
is(scalar($p->requests), 0, '... and no model is asked');
is(ask('two', previous_response_id => undef)->{status}, 200, 'null is none');
is(ask('two', conversation => 'conv_1')->{status}, 400, 'conversations are not kept');

# --- what it answered ---

$r = $s->get("/v1/responses/$two->{id}/input_items?order=asc");
is($r->{status}, 200, 'its input') or diag($r->{body});
is_deeply([map { "$_->{type} $_->{role} $_->{content}[0]{type} $_->{content}[0]{text}" }
    @{$r->{json}{data}}], ['message user input_text Hello.',
    'message assistant output_text First.', 'message user input_text And then?'],
    '... all of it, in long form');
is_deeply($r->{json}{data}[1], { id => $r->{json}{data}[1]{id}, type => 'message',
    role => 'assistant', status => 'completed', content => [{ type => 'output_text',
    text => 'First.', annotations => [], logprobs => [] }] }, '... with all that the type requires');
my @ids = map { $_->{id} } @{$r->{json}{data}};
my ($after, @seen) = ('');
for (1 .. 5) {
	$r = $s->get("/v1/responses/$two->{id}/input_items?limit=1$after");
	push @seen, map { $_->{id} } @{$r->{json}{data}};
	last unless $r->{json}{has_more};
	$after = "&after=$r->{json}{last_id}";
}
is_deeply(\@seen, [reverse @ids], '... a page at a time, newest first');
is($s->get("/v1/responses/$two->{id}/input_items", as => 'bob')->{status}, 404, '... for its owner');

# What a request leaves out and the vendor's type requires.
$r = ask('two', input => [{ role => 'user', content => 'A' }, { role => 'assistant', content => 'B' },
    { type => 'message', role => 'assistant', status => undef, content => [{ type => 'output_text',
    text => 'C' }] }, { type => 'function_call', call_id => 'c1', name => 'f', arguments => '{}' },
    { type => 'function_call_output', call_id => 'c1', output => 'D' }]);
is($r->{status}, 200, 'short forms are answered') or diag($r->{body});
my $short = $s->get("/v1/responses/$r->{json}{id}/input_items?order=asc")->{json}{data};
like(delete $_->{id}, qr/^item_gw_[0-9a-z]{20}_\d$/, 'one gets an id') for @$short;
is_deeply($short, [{ type => 'message', role => 'user', content => [{ type => 'input_text',
    text => 'A' }] }, (map { { type => 'message', role => 'assistant', status => 'completed',
    content => [{ type => 'output_text', text => $_, annotations => [] }] } } qw(B C)),
    { type => 'function_call', call_id => 'c1', name => 'f', arguments => '{}', status => 'completed' },
    { type => 'function_call_output', call_id => 'c1', output => 'D', status => 'completed' }],
    '... and their long forms shown');

# --- items that are only named ---

my @said = ({ role => 'user', content => 'Hello.' });
sub ref_to { return { type => 'item_reference', id => $_[0] } }
$r = ask('one', input => \@said);
my $first = $r->{json}{output}[0]{id};
like($first, qr/^msg_gw_[0-9a-z]{20}$/, 'an item has an id');
is(substr($first, 7, 12), substr($r->{json}{id}, 8, 12), '... which tells its answer');
$r = ask('two', input => [@said, ref_to($first), { role => 'user', content => 'And then?' }]);
is($r->{status}, 200, 'an item named by its id') or diag($r->{body});
is(asked(), "user: Hello.\nassistant: First.\nuser: And then?", '... stands in its place');
my $second = $r->{json}{output}[0]{id};
$r = ask('two', input => [@said, { id => $first }, { role => 'user', content => 'And then?' },
    { id => $second, type => undef }, { role => 'user', content => 'More.' }]);
is(asked(), "user: Hello.\nassistant: First.\nuser: And then?\nassistant: Second.\nuser: More.",
    '... without a type too, and from several answers');
is_deeply([map { $_->{content}[0]{text} } @{$s->get("/v1/responses/$r->{json}{id}/input_items?order=asc")
    ->{json}{data}}], ['Hello.', 'First.', 'And then?', 'Second.', 'More.'], '... and is kept whole');
$r = ask('two', previous_response_id => $two->{id}, input => [ref_to($two->{output}[0]{id}),
    { role => 'user', content => 'More.' }]);
is(asked(), "user: Hello.\nassistant: First.\nuser: And then?\nassistant: Second.\nuser: More.",
    'one that is there already stands once');
$r = $s->post('/v1/responses/input_tokens', json => { model => 'one', input => [@said, ref_to($first)] });
is($r->{status}, 200, 'a count takes it too') or diag($r->{body});
$s->mysql("UPDATE response SET expires = created + 60000");
ask('two', input => [@said, ref_to($first)]);
cmp_ok(($s->mysql("SELECT MAX(expires - created) FROM response WHERE pid LIKE '" . substr($first, 7, 12)
    . "%'"))[0][0], '>', 86400000, 'a use keeps its answer for longer');
my %gone = (absent => 'msg_gw_' . '0' x 20, 'of another form' => 'msg_123', empty => '',
    'no letters' => "msg_gw_\x{e9}" . 'x' x 19, 'a response' => $two->{id});
for my $what (sort keys %gone) {
	$r = ask('two', input => [@said, ref_to($gone{$what})]);
	is_deeply([$r->{status}, @{$r->{json}{error}}{qw(type code param message)},
	    header($r, 'X-Should-Retry')], [404, 'invalid_request_error', 'item_not_found', 'input',
	    "Item with id '$gone{$what}' not found.", 'false'], "$what: not found") or diag($r->{body});
	is(scalar($p->requests), 0, '... and no model is asked');
}
is(ask('two', as => $_, input => [@said, ref_to($first)])->{json}{error}{code}, 'item_not_found',
    "nor somebody else's: $_") for qw(carol bob);
$r = ask('resp:one', input => [@said, ref_to($first), ref_to('msg_theirs'), { role => 'user',
    content => 'And?' }]);
is_deeply([map { $_->{type} // $_->{role} } @{($p->requests)[0]{json}{input}}],
    [qw(user message item_reference user)], 'a provider that speaks the same gets the item, and its own reference');
is(ask('resp:one', input => [ref_to('msg_gw_' . '0' x 20)])->{json}{error}{code}, 'item_not_found',
    '... but none of ours that is gone');

# --- code, calls, streams ---

my @tools = ({ type => 'code_interpreter', container => { type => 'auto' } });
$r = ask('run', tools => \@tools);
my $run = $r->{json};
my ($item) = grep { $_->{type} eq 'code_interpreter_call' } @{$run->{output}};
is($item->{outputs}, undef, 'a run, its output not asked for');
$r = ask('run', tools => \@tools, previous_response_id => $run->{id}, input => 'Again?');
my @m = @{($p->requests)[0]{json}{messages}};
is_deeply([map { $_->{role} } @m], [qw(user assistant tool assistant user)],
    'gone on from: the model has its call and the result');
like($m[2]{content}, qr{^stdout:\nwas 42\nexit code: 0\nfiles written: .*f\.txt},
    '... of which the caller was told nothing');
my @save = ({ type => 'function', name => 'save', parameters => { type => 'object',
    properties => {} } });
$r = ask('call', tools => \@save);
$r = ask('call', tools => \@save, previous_response_id => $r->{json}{id}, input =>
    [{ type => 'function_call_output', call_id => 'call_1', output => 'done' }]);
is($r->{status}, 200, 'only the output of a call') or diag($r->{body});
is($r->{json}{output}[0]{content}[0]{text}, 'Saved.', '... is enough');
$r = ask('one', stream => JSON::PP::true);
my ($last) = $r->{body} =~ /event: response\.completed\ndata: (.*)\n/;
my $streamed = JSON::PP::decode_json($last)->{response};
is_deeply($s->get("/v1/responses/$streamed->{id}")->{json}, $streamed,
    'a streamed answer is kept too');
$r = ask('cut');
is($s->get("/v1/responses/$r->{json}{id}")->{json}{status}, 'incomplete', 'and one that was cut');

# --- not kept, forgotten ---

$r = ask('one', store => JSON::PP::false);
is($s->get("/v1/responses/$r->{json}{id}")->{status}, 404, 'store false: not kept');
is($s->del("/v1/responses/$one->{id}", as => 'carol')->{status}, 404, 'somebody else cannot delete');
$q = $s->del("/v1/responses/$one->{id}");
is_deeply($q->{json}, { id => $one->{id}, object => 'response', deleted => JSON::PP::true },
    'deleted');
is($s->$_("/v1/responses/$one->{id}")->{status}, 404, "$_ then finds nothing") for qw(get del);
is(ask('two', previous_response_id => $two->{id})->{status}, 200,
    'what went on from it stands for itself');
$s->mysql('UPDATE response SET expires = 1');
is($s->get("/v1/responses/$two->{id}")->{status}, 404, 'expired');
cmp_ok($s->sweep->{json}{calls}, '>', 5, 'and swept');
is(($s->mysql('SELECT COUNT(*) FROM response'))[0][0], 0, '... all of them');

# --- to a provider that speaks the same ---

$r = ask('one');
$q = ask('resp:two', previous_response_id => $r->{json}{id}, input => 'On.');
is($q->{status}, 200, 'a conversation moves to another provider') or diag($q->{body});
my $sent = ($p->requests)[0]{json};
is($sent->{previous_response_id}, undef, '... which is not asked for what it does not have');
is_deeply([map { $_->{role} } @{$sent->{input}}], [qw(user assistant user)], '... but told');
ask('resp:two', previous_response_id => 'resp_68af');
is(($p->requests)[0]{json}{previous_response_id}, 'resp_68af', 'its own ids are passed on');
my $container = 'cntr_gw_' . '0' x 20;
my @there = (headers => ['X-Code-Execution' => 'provider']);
for my $case ([$container, { type => 'auto' }], ['cntr_68af', 'cntr_68af']) {
	$p->forget;
	$s->post('/v1/responses', @there, json => { model => 'resp:two', input => 'x',
	    tools => [{ type => 'web_search' }, { type => 'code_interpreter',
	    container => $case->[0] }] });
	is_deeply(($p->requests)[0]{json}{tools}[1]{container}, $case->[1],
	    "a provider that runs the code: $case->[0]");
}
for my $case (["container_gw_" . '0' x 20, undef], [{ id => $container }, undef],
    ['container_011', 'container_011'], [{ skills => [] }, { skills => [] }]) {
	$p->forget;
	$s->post('/v1/messages', ant => 1, @there, json => { model => 'ant:two',
	    max_tokens => 9, messages => [{ role => 'user', content => 'x' }],
	    tools => [{ type => 'code_execution_20250825', name => 'code_execution' }],
	    container => $case->[0] });
	is_deeply(($p->requests)[0]{json}{container}, $case->[1],
	    '... in the other protocol') or diag(explain($case->[0]));
	is(scalar($p->requests), 1, '... asked once');
}
$s->done;
done_testing();
