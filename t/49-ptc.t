#!/usr/bin/perl

# Programmatic tool calling on Messages: code that the model writes calls the
# functions of its caller, over requests that are each answered at once.

use strict;
use warnings;
use JSON::PP ();
use Test::More;
use Provider;
use Satchel qw(header);

# A model that runs this code, and then says what must have come of it.
sub code {
	my ($code, $expect, %more) = @_;
	return [{ calls => [{ name => 'code_execution', arguments =>
	    { code => $code } }], text => 'Let me see.', %more },
	    { expect => [$expect], text => 'So it is.' }];
}

my $p = Provider->new(script => { models => {
	one => code("r = await get_temp(city='Oslo')\nprint('it is', r)",
	    'it is 21'),
	many => code("rs = await asyncio.gather(*[get_temp(city=str(i)) "
	    . "for i in range(30)])\nprint(sum(int(r) for r in rs))", '435'),
	then => code("a = await get_temp(city='a')\nopen('log.txt', 'a')"
	    . ".write('once ')\nb = await get_temp(city='b' + a)\n"
	    . "print(a, b, open('log.txt').read())", '1 2 once'),
	fails => code("try:\n    await get_temp(city='x')\n"
	    . "except ToolExecutionError as e:\n    print('caught', e)",
	    'caught no such city'),
	uncaught => code("await get_temp(city='x')", 'ToolExecutionError'),
	chance => code("import random\na = await get_temp(city="
	    . "str(random.random()))\nb = await get_temp(city='b')", '.'),
	none => code("print(open('in.txt').read(), 6 * 7)", 'abc 42'),
	direct => [{ calls => [{ name => 'get_temp', id => 'call_1',
	    arguments => { city => 'Oslo' } }] }, { text => 'Warm.' }],
	nobody => [{ calls => [{ name => 'get_temp', arguments =>
	    { city => 'Oslo' } }] }, { expect => ['no tool named get_temp'],
	    text => 'I see.' }],
	mixed => [{ calls => [{ name => 'save', id => 'call_s',
	    arguments => { title => 'T' } }, { name => 'code_execution',
	    arguments => { code => "print(await get_temp(city='Oslo'))" } }] },
	    { text => 'Both.' }],
	writes => [{ calls => [{ name => 'code_execution', arguments => { code =>
	    "open('t.txt', 'w').write(await get_temp(city='Oslo'))" } }] },
	    { expect => ['t\.txt'], calls => [{ name =>
	    'bash_code_execution', arguments => { command => 'cat t.txt' } }] },
	    { expect => ['21'], text => 'There.' }],
} });
my $s = Satchel->new(providers => $p->yaml('open', 'openai-chat')
    . $p->yaml('ant', 'anthropic-messages')
    . $p->yaml('resp', 'openai-responses')
    . $p->yaml('native', 'anthropic-messages', native_code => 'true'));
my %temp = (name => 'get_temp', description => 'The temperature of a city.',
    input_schema => { type => 'object', properties => { city =>
    { type => 'string' } }, required => ['city'] });
my %execution = (type => 'code_execution_20260120', name => 'code_execution');
my @only = (\%execution,
    { %temp, allowed_callers => ['code_execution_20260120'] });
my @save = ({ name => 'save', input_schema => { type => 'object' } });
my @go = ({ role => 'user', content => 'Go.' });

sub ask {
	my ($model, %o) = @_;
	my $as = delete($o{as});
	$p->forget;
	return $s->post('/v1/messages', ant => 1, timeout => 60,
	    ($as ? (as => $as) : ()), json => { model => $model,
	    max_tokens => 4096, messages => [@go], tools => \@only, %o });
}

sub types { return join(' ', map { $_->{type} } @{ $_[0]{json}{content} }) }
sub uses { return grep { $_->{type} eq 'tool_use' } @{ $_[0]{json}{content} } }

# The conversation after an answer, with the results of its calls.
sub after {
	my ($messages, $r, @results) = @_;
	return [@$messages, { role => 'assistant', content =>
	    $r->{json}{content} }, { role => 'user', content => [map { {
	    type => 'tool_result', tool_use_id => $_->{id},
	    ref($results[0]) ? %{ shift(@results) }
		: (content => '' . shift(@results)) } } uses($r)] }];
}

# Give results to the code of an answer.
sub answer {
	my ($model, $messages, $r, $results, %o) = @_;
	return ask($model, messages => after($messages, $r, @$results),
	    container => $r->{json}{container}{id}, %o);
}

sub result {
	return (grep { $_->{type} eq 'code_execution_tool_result' }
	    @{ $_[0]{json}{content} })[0];
}

sub message { return $_[0]{json}{error}{message} // '' }

# --- one call ---

my $r = ask('one');
is($r->{status}, 200, 'code that calls a function') or diag($r->{body});
is(types($r), 'text server_tool_use tool_use', 'the blocks');
is($r->{json}{stop_reason}, 'tool_use', 'the caller is asked');
my ($use) = uses($r);
my $run = $r->{json}{content}[1];
like($use->{id}, qr/^[a-zA-Z0-9_-]{1,64}$/, 'an id that every client takes');
is_deeply($use, { type => 'tool_use', id => $use->{id}, name => 'get_temp',
    input => { city => 'Oslo' }, caller => { type =>
    'code_execution_20260120', tool_id => $run->{id} } }, 'the whole call');
like($r->{json}{container}{id}, qr/^container_gw_/, 'and the container');
my @tools = map { $_->{function} } @{ ($p->requests)[0]{json}{tools} };
is_deeply([map { $_->{name} } @tools], [qw(bash_code_execution
    text_editor_code_execution code_execution)],
    'the model cannot call it itself');
like($tools[2]{description}, qr/^async def get_temp\(city\) -> str$/m,
    'but is told how its code does');
like($tools[2]{description}, qr/The temperature of a city\./, 'and why');

my $first = $r;
$r = answer('one', \@go, $first, ['21']);
is($r->{status}, 200, 'the result') or diag($r->{body});
is(types($r), 'code_execution_tool_result text', 'what came of the code');
is_deeply(result($r), { type => 'code_execution_tool_result', tool_use_id =>
    $run->{id}, content => { type => 'code_execution_result', stdout =>
    "it is 21\n", stderr => '', return_code => 0, content => [] } },
    'the whole block');
is($r->{json}{content}[-1]{text}, 'So it is.', 'and the model goes on');
is($r->{json}{stop_reason}, 'end_turn', 'to its end');
is($r->{json}{container}{id}, $first->{json}{container}{id},
    'in that container');
is(header($r, 'X-Code-Execution-Ran'), 'local', 'it was run here');
my @up = @{ ($p->requests)[0]{json}{messages} };
is_deeply([map { $_->{role} } @up], [qw(user assistant tool)],
    'the model sees its own call alone');
my $history = [@{ after(\@go, $first, '21') }, { role => 'assistant', content =>
    $r->{json}{content} }, @go];
is(ask('one', messages => $history)->{status}, 200,
    'the whole conversation can be gone on with');
is_deeply([map { $_->{role} } @{ ($p->requests)[0]{json}{messages} }],
    [qw(user assistant tool assistant user)], 'which holds one call');
is(types(answer('one', \@go, $first, ['21'])),
    'code_execution_tool_result text', 'a lost answer can be asked for again');

# --- more of them ---

$r = ask('many');
is(scalar(uses($r)), 30, 'thirty calls at once');
is_deeply([map { $_->{input}{city} } uses($r)], [0 .. 29], 'each its own');
$r = answer('many', \@go, $r, [0 .. 29]);
is($r->{status}, 200, 'thirty results') or diag($r->{body});
is(result($r)->{content}{stdout}, "435\n", 'and thirty results');

$first = ask('then');
my $second = answer('then', \@go, $first, ['1']);
is(types($second), 'tool_use', 'a call that needs another');
is_deeply(($second->{json}{content}[0]{input}), { city => 'b1' },
    'has seen the first');
is(scalar($p->requests), 0, 'the model is not asked between them');
is_deeply([map { $_->{id} } uses(answer('then', \@go, $first, ['1']))],
    [map { $_->{id} } uses($second)], 'and can be asked for again');
my $messages = after(\@go, $first, '1');
$r = answer('then', $messages, $second, ['2']);
is(result($r)->{content}{stdout}, "1 2 once \n",
    'what it wrote before it was stopped is there once');
is(scalar(@{ result($r)->{content}{content} }), 1, 'and is given back');

# --- results that are errors, code that is not the same twice ---

for (['fails', 0, qr/^caught no such city$/m, 'stdout'],
    ['uncaught', 1, qr/ToolExecutionError: no such city/, 'stderr']) {
	my ($model, $code, $like, $where) = @$_;
	$r = answer($model, \@go, ask($model), [{ content => 'no such city',
	    is_error => JSON::PP::true }]);
	like(result($r)->{content}{$where}, $like, "$model: raised in the code");
	is(result($r)->{content}{return_code}, $code, "$model: its exit code");
}
$r = answer('chance', \@go, ask('chance'), ['1']);
like(result($r)->{content}{stderr}, qr/made with other arguments/,
    'code that is not the same twice is told so');
isnt(result($r)->{content}{return_code}, 0, 'as an error');
is($r->{json}{content}[-1]{text}, 'So it is.', 'and the model goes on');

# --- files ---

my $file = $s->upload('abc', name => 'in.txt', purpose => 'user_data')->{json};
$r = ask('none', messages => [{ role => 'user', content => [
    { type => 'container_upload', file_id => $file->{id} },
    { type => 'text', text => 'Go.' }] }]);
is(result($r)->{content}{stdout}, "abc 42\n", 'code that calls nothing');
$r = answer('writes', \@go, ask('writes'), ['21']);
is(types($r), 'code_execution_tool_result server_tool_use '
    . 'bash_code_execution_tool_result text', 'code and then a command');
is($r->{json}{content}[2]{content}{stdout}, '21',
    'which finds what the code wrote');

# --- with calls of the model's own ---

my @both = (\%execution, { %temp, allowed_callers =>
    ['direct', 'code_execution_20260120'] }, @save);
$r = ask('mixed', tools => \@both);
is_deeply([map { "$_->{name} $_->{caller}{type}" } uses($r)],
    ['save direct', 'get_temp code_execution_20260120'],
    'a call of the model and one of its code');
$r = answer('mixed', \@go, $r, ['stored', '21'], tools => \@both);
is(types($r), 'code_execution_tool_result text', 'both are answered');
$r = ask('direct', tools => \@both);
is_deeply([map { $_->{caller} } uses($r)], [{ type => 'direct' }],
    'the model may call what is not for code alone');
is(types(ask('nobody')), 'text', 'and not what is');

# --- a forced choice; a client that drops what it does not know ---

my @force = (tool_choice => { type => 'tool', name => 'get_temp' });
$first = ask('one', @force);
is(($p->requests)[0]{json}{tool_choice}{function}{name}, 'code_execution',
    'a choice of what only code can call is one of code');
$r = answer('one', \@go, $first, ['21'], @force);
is(($p->requests)[0]{json}{tool_choice} // 'auto', 'auto',
    'which holds until it has run');
$r->{json}{content} = [grep { $_->{type} eq 'text' } @{ $r->{json}{content} }];
$r = ask('one', messages => [@{ after(\@go, $first, '21') },
    { role => 'assistant', content => $r->{json}{content} }, @go]);
is($r->{status}, 200, 'a result that the client has dropped');
like(($p->requests)[0]{json}{messages}[2]{content}, qr/^stdout:\nit is 21$/m,
    'is told from memory');
$s->mysql('DELETE FROM code_call');
$messages = after(\@go, $first, '21');
$r = ask('one', messages => $messages, container => $first->{json}{container}{id},
    tools => [\%execution], tool_choice => { type => 'none' });
is(types($r), 'code_execution_tool_result text',
    'code goes on even where the model may call nothing');

# --- other declarations, other wires, other providers ---

for ('code_execution_20250825', 'code_execution_20250522') {
	my @tools = ({ type => $_, name => 'code_execution' },
	    { %temp, allowed_callers => [$_] });
	$r = ask('one', tools => \@tools);
	# By a word that the types of an answer know.
	is(((uses($r))[0] // {})->{caller}{type}, $_ eq 'code_execution_20250825'
	    ? $_ : 'code_execution_20260120', "$_: the code calls");
	$r = answer('one', \@go, $r, ['21'], tools => \@tools);
	is(result($r)->{content}{stdout}, "it is 21\n", 'and has its result');
}
for my $wire ('ant', 'resp') {
	$first = ask("$wire:one");
	is(types($first), 'text server_tool_use tool_use', "$wire: it asks");
	$r = answer("$wire:one", \@go, $first, ['21']);
	is(types($r), 'code_execution_tool_result text', 'and is answered');
}
@up = @{ ($p->requests)[0]{json}{input} };
is(scalar(grep { ($_->{name} // '') eq 'get_temp' } @up), 0,
    'the model is not told of the calls');
$first = ask('one');
$r = answer('one', \@go, $first, ['21']);
$history = [@{ after(\@go, $first, '21') }, { role => 'assistant', content =>
    $r->{json}{content} }, @go];
is(ask('native:direct', messages => $history)->{status}, 200,
    'another provider runs code itself');
@up = @{ ($p->requests)[0]{json}{messages} };
is_deeply([map { $_->{caller} } grep { $_->{type} eq 'tool_use' }
    map { ref($_->{content}) ? @{ $_->{content} } : () } @up],
    [{ type => 'direct' }], 'and is told of calls of its own');
unlike(($p->requests)[0]{body}, qr/_gw_[0-9a-z]{24}"/,
    'of no code that it never saw');

# --- streamed ---

$r = ask('one', stream => JSON::PP::true);
my @events = map { JSON::PP->new->utf8->decode($_) }
    $r->{body} =~ /^data: (.*)$/mg;
my @blocks = map { $_->{content_block} }
    grep { $_->{type} eq 'content_block_start' } @events;
is_deeply([map { $_->{type} } @blocks], [qw(text server_tool_use tool_use)],
    'streamed: the blocks');
is_deeply($blocks[2]{caller}, { type => 'code_execution_20260120', tool_id =>
    $blocks[1]{id} }, 'streamed: whose the call is');
is($events[-2]{delta}{stop_reason}, 'tool_use', 'streamed: the caller is asked');
is($events[0]{message}{container}{id}, $events[-2]{delta}{container}{id},
    'streamed: the container');
$r = ask('one', stream => JSON::PP::true, messages => after(\@go, $first, '21'));
is($r->{status}, 400, 'streamed: a refusal has its status');

# --- where it cannot be had ---

$r = ask('direct', tools => [$only[1]]);
is_deeply([map { $_->{caller} } uses($r)], [{ type => 'direct' }],
    'without code execution the model calls it');
$r = ask('direct', tools => [{ type => 'satchel_code_execution' }, $only[1]]);
is_deeply([map { $_->{caller} } uses($r)], [{ type => 'direct' }],
    'and where no runs are shown');
$r = ask('direct', tools => [@only, { %temp, name => 'get temp',
    allowed_callers => ['code_execution_20260120'] }]);
is_deeply([map { $_->{caller} } uses($r)], [{ type => 'direct' }],
    'and where two would have one name');

# --- what is refused ---

$first = ask('one');
my $id = $first->{json}{container}{id};
$messages = after(\@go, $first, '21');
$r = ask('one', messages => $messages);
is($r->{status}, 400, 'no container');
like(message($r), qr/^container: /, 'by its position');
my $other = ask('one')->{json}{container}{id};
$r = ask('one', messages => $messages, container => $other);
is($r->{status}, 400, 'another container');
like(message($r), qr/^container: /, 'by its position');
is(ask('one', messages => $messages, container => $id, as => 'bob')->{status},
    404, 'another owner');
$r = ask('one', messages => [@go, $messages->[1], { role => 'user', content =>
    [@{ $messages->[2]{content} }, { type => 'text', text => 'And?' }] }],
    container => $id);
is($r->{status}, 400, 'more than results');
like(message($r), qr/^messages\.2\.content\.1: /, 'by its position');
$r = ask('one', messages => [@go, $messages->[1], @go], container => $id);
is($r->{status}, 400, 'no result');
like(message($r), qr/^messages\.1\.content\.2: /, 'by its position');
$r = ask('one', messages => [@go, $messages->[1], { role => 'user', content =>
    [@{ $messages->[2]{content} }, @{ $messages->[2]{content} }] }],
    container => $id);
is($r->{status}, 400, 'two results');
$r = ask('one', messages => [@go, { role => 'assistant', content =>
    [$messages->[1]{content}[2]] }, $messages->[2]], container => $id);
is($r->{status}, 400, 'a call without its code');
$r = ask('one', tools => [\%execution, { %temp, allowed_callers => ['me'] }]);
is($r->{status}, 400, 'an unknown caller');
like(message($r), qr/^tools\.1\.allowed_callers\.0: /, 'by its position');
my $many = ask('many');
$r = ask('many', messages => [@go, { role => 'assistant', content => [
    grep { $_->{type} ne 'tool_use' || $_->{id} !~ /_30$/ }
    @{ $many->{json}{content} }] }, { role => 'user', content => [map { {
    type => 'tool_result', tool_use_id => $_->{id}, content => '1' } }
    (uses($many))[0 .. 28]] }], container => $many->{json}{container}{id});
is($r->{status}, 400, 'not all results');
like(message($r), qr/waits for the results of all/, 'and why');
is(types(answer('one', \@go, $first, ['21'])),
    'code_execution_tool_result text', 'and nothing of that has harmed it');
$s->mysql('UPDATE ptc_run SET sweep_at = 1');
$r = answer('one', \@go, $first, ['21']);
is($r->{status}, 400, 'code that has expired');
like(message($r), qr/^messages\.2\.content\.0: .*waits no longer/,
    'by its position');
$s->mysql('UPDATE container SET expires = 1, ends = 1');
$r = answer('one', \@go, $first, ['21']);
is($r->{status}, 400, 'a container that has expired, in which code waits');
is(message($r), "container: the container $id has expired.",
    'is named in the words of this dialect');
is(ask('one', container => $id)->{status}, 200,
    'another takes its place where nothing waits');

$s->done;
done_testing();
