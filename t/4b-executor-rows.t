#!/usr/bin/perl

# The executor's table of edge cases (contract, section 9), row by row, and the
# cases of the field about code execution and what it writes.  What needs a
# scene of its own is in the tests that t/4c-executor-contract.t finds.

use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use JSON::PP ();
use Test::More;
use Provider;
use Satchel qw(header);
use Streams;

sub code { return { name => 'code_execution', arguments => { code => $_[0] },
    @_[1 .. $#_] } }
sub bash { return { name => 'bash_code_execution', arguments => { command =>
    $_[0] }, @_[1 .. $#_] } }
# A model that makes these calls, then says so.
sub turn { return [{ calls => [@_] }, { text => 'Done.' }] }

my $save = { name => 'save', id => 'call_s', arguments => { t => 1 } };
my %models = (
	say => [{ text => 'Said.' }],
	one => turn(code("print('one')")),
	sh => turn(bash('echo one')),
	gw => turn({ name => 'gw_code_execution', arguments => { code =>
	    "print('gw')" } }),
	own => [{ calls => [{ name => 'code_execution', id => 'call_o',
	    arguments => { x => 1 } }] }],
	two => turn(code("print('a')"), code("print('b')")),
	nine => turn(map { code("print($_)") } 1 .. 9),
	unknown => [{ calls => [{ name => 'nosuch', arguments => {} }] },
	    { expect => ['\[tool error\] no tool named nosuch'],
	    text => 'None.' }],
	python => turn({ name => 'python', arguments => { code =>
	    'print(6*7)' } }),
	usageless => [{ text => 'Counted?', no_usage => 1 }],
	silent => [{ calls => [code('print(1)')] }, { text => '' }],
	failmixed => [{ calls => [{ name => 'code_execution', raw => '{' },
	    $save] }],
	look => turn(bash('cat data*.csv; ls')),
	lookpy => turn(code("import glob,os\nfor f in sorted(glob.glob('data*"
	    . ".csv')): print(open(f).read(), end='')\nprint('\\n'.join("
	    . "sorted(os.listdir('.'))))")),
	stdin => turn(bash('cat; echo end of input')),
	forks => turn(bash("sleep 86477 >/dev/null 2>&1 & echo left behind")),
	signal => turn(bash('kill -TERM $$')),
	sparse => turn(bash('truncate -s 10G big.bin; echo small >small.txt; '
	    . 'stat -c %s big.bin')),
	over => turn(bash('truncate -s 100M big.bin; echo small >small.txt')),
	grows => turn(bash('(while :; do echo x >>grow.txt; done) & sleep 0.3; '
	    . 'echo started')),
	many => turn(bash('for i in $(seq 30); do head -c 1024 /dev/zero '
	    . '>f$i.bin; done')),
	huge => turn(bash('head -c 1100000000 /dev/zero >huge.bin; '
	    . 'head -c 1024 /dev/zero >small.bin; stat -c %s huge.bin')),
	odd => turn(bash('printf x >$\'a\nb.txt\'; printf y >$\'c\xff.txt\'')),
	links => turn(bash('ln -s /etc/passwd leak.txt; ln -s /proc/self hop; '
	    . 'ln -s .. sub; echo fine >ok.txt')),
	flood => turn(bash("head -c 104857600 /dev/zero | tr '\\0' x")),
	binary => turn(bash('cp awkward-bytes.bin out.bin; python3 -c "'
	    . 'import os;open(\'r.png\',\'wb\').write(bytes.fromhex('
	    . '\'89504e470d0a1a0a\')+os.urandom(307192))"; '
	    . 'sha256sum out.bin r.png')),
	rewrite => turn(bash('echo more >>data.csv')),
	wide => [{ calls => [code("open('t.csv','w').write('x')")] },
	    { text => "\x{2028}\x{1F600} \"q\" see t.csv now" }],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->yaml('chat', 'openai-chat', models =>
    '["*"]') . $p->yaml('ant', 'anthropic-messages', native_code => 'true') .
    $p->yaml('few', 'openai-chat', models => '["a"]') .
    $p->yaml('msg', 'anthropic-messages') .
    $p->yaml('resp', 'openai-responses', native_code => 'true'),
    set => { 'server.public_url' => 'https://gateway.example',
    'server.body_max_bytes' => 1 << 20 });
my $A = { type => 'code_execution_20250522', name => 'code_execution' };
my $A2 = { type => 'code_execution_20250825', name => 'code_execution' };
my $E = { type => 'satchel_code_execution' };
my $O = { type => 'code_interpreter', container => { type => 'auto' } };
my $schema = { type => 'object', properties => { t => { type => 'integer' } } };
my %path = (m => '/v1/messages', r => '/v1/responses',
    c => '/v1/chat/completions');

# Ask over a route (m, r, c): (route, model, tools, %more of the body).
sub ask {
	my ($route, $model, $tools, %more) = @_;
	my $o = delete($more{''}) // {};
	$p->forget;
	my $r = $s->post($path{$route}, ant => $route eq 'm', timeout => 90,
	    headers => $o->{headers} // [], as => $o->{as} // 'alice', json =>
	    { model => $model, $route eq 'm' ? (max_tokens => 4096) : (),
	    $route eq 'r' ? (input => 'Go.') : (messages => [{ role => 'user',
	    content => 'Go.' }]), $tools ? (tools => $tools) : (), %more });
	is_deeply([Streams::faults($path{$route}, $r->{body})], [],
	    "$model: no client fails at it")
	    if $more{stream} && $r->{status} == 200;
	return $r;
}

sub who {
	my ($r) = @_;
	my $e = $r->{json}{error};
	return "$r->{status} " . ($e ? $e->{code} // $e->{type} :
	    header($r, 'X-Code-Execution-Ran') // '-');
}
sub headed { return ('' => { headers => [@_] }) }
sub sent { return ($p->requests)[$_[0] // 0]{json} }
sub names { return join(' ', map { $_->{function}{name} }
    @{ sent()->{tools} // [] }) }
sub types { return join(' ', map { $_->{type} } @{ $_[0]{json}{content} //
    $_[0]{json}{output} // [] }) }
sub results { return map { $_->{content} } grep { $_->{type} =~
    /_tool_result$/ } @{ $_[0]{json}{content} // [] } }
sub told { return join("\n", map { $_->{content} } grep { $_->{role} eq 'tool' }
    @{ sent(-1)->{messages} }) }
sub called { return names() . ': ' . join(' ', map { ref($_) ?
    $_->{function}{name} // $_->{type} : $_ // '-' } map {
    $_->{json}{tool_choice} } $p->requests) }
sub user { return (messages => [{ role => 'user', content => [@_] }]) }
sub uploads { return map { { type => 'container_upload', file_id => $_ } } @_ }
sub name_of { return $s->get("/v1/files/$_[0]")->{json}{filename} }
sub outputs { return map { $_->{file_id} } map { @{ $_->{content} // [] } }
    results($_[0]) }

my ($r, @f);
my $bytes = join('', map { chr } 0 .. 255) . "\r\n" x 3;

# [row, what, how, what must come of it (a string or a pattern)]
my @rows = (
[1, 'LOCAL', sub { who(ask('m', 'ant:one', [$A], headed('X-Code-Execution' =>
    ' LOCAL '))) }, '200 local'],
[2, 'an empty header', sub { who(ask('m', 'ant:say', [$A], headed(
    'X-Code-Execution' => ''))) }, '200 provider'],
[3, 'otari', sub { who(ask('m', 'ant:one', [$A], headed('X-Code-Execution' =>
    'otari'))) }, '200 local'],
[4, 'twice, different', sub { who(ask('m', 'one', [$A], headed(
    'X-Code-Execution' => 'local', 'X-Code-Execution' => 'auto'))) },
    '400 invalid_request_error'],
[4, 'twice, different, OpenAI', sub { who(ask('r', 'one', [$O], headed(
    'X-Code-Execution' => 'local', 'X-Code-Execution' => 'auto'))) },
    '400 invalid_executor'],
[5, 'no tool', sub { who(ask('m', 'say', undef, headed('X-Code-Execution' =>
    'local'))) }, '200 -'],
[10, 'Anthropic\'s declaration on chat', sub { $r = ask('c', 'one', [$A]);
    who($r) . " $r->{json}{choices}[0]{message}{content}" },
    '200 local Done.'],
[11, 'OpenAI\'s on Messages', sub { types(ask('m', 'one', [$O])) },
    'server_tool_use code_execution_tool_result text'],
[12, 'an unknown suffix', sub { ask('m', 'say', [{ %$A, type =>
    'code_execution_20991231' }]); names() }, 'bash_code_execution '
    . 'text_editor_code_execution code_execution'],
[13, 'a function of that name', sub { $r = ask('c', 'own', [{ type =>
    'function', function => { name => 'code_execution', parameters => $schema
    } }]); who($r) . ' '
    . $r->{json}{choices}[0]{message}{tool_calls}[0]{id} }, '200 - call_o'],
[14, 'and a declaration', sub { $r = ask('m', 'gw', [$A, { name =>
    'code_execution', input_schema => $schema }]); names() . ' '
    . (results($r))[0]{stdout} }, "code_execution gw_code_execution gw\n"],
[14, 'and the caller\'s is his', sub { $r = ask('m', 'own', [$A, { name =>
    'code_execution', input_schema => $schema }]); types($r) . ' '
    . $r->{json}{stop_reason} }, 'tool_use tool_use'],
[15, 'no name', sub { who(ask('m', 'one', [{ type => $A->{type} }])) },
    '200 local'],
[16, 'no tool is left', sub { ask('m', 'say', [$A], tool_choice => { type =>
    'none' }); my $q = sent(); exists($q->{tools}) && !@{ $q->{tools} } ?
    'empty' : 'not empty' }, 'not empty'],
[16, 'an empty list', sub { ask('m', 'say', []); exists(sent()->{tools}) ?
    'sent' : 'omitted' }, 'omitted'],
[17, 'a choice that names it', sub { ask('m', 'one', [$A], tool_choice =>
    { type => 'tool', name => 'code_execution' }); called() },
    'code_execution: code_execution auto'],
[18, 'none', sub { $r = ask('m', 'say', [$A2], tool_choice => { type => 'none'
    }); called() . ' ' . ($r->{json}{container} // 'no container') },
    'bash_code_execution text_editor_code_execution: none no container'],
[19, 'any', sub { ask('m', 'one', [$A], tool_choice => { type => 'any' });
    called() }, 'code_execution: required auto'],
[19, 'required', sub { ask('c', 'one', [$O], tool_choice => 'required');
    called() }, 'code_execution: required auto'],
[20, 'two choices', sub { who(ask('c', 'one', [$O], n => 2)) },
    '400 invalid_request_error'],
[21, 'two calls', sub { $r = ask('m', 'two', [$A]); types($r) . ' ' . join('',
    map { $_->{stdout} } results($r)) }, join(' ', ('server_tool_use '
    . 'code_execution_tool_result') x 2, "text a\nb\n")],
[22, 'nine calls', sub { join(' ', map { $_->{error_code} // $_->{stdout} =~
    s/\n//r } results(ask('m', 'nine', [$A]))) },
    '1 2 3 4 5 6 7 8 too_many_requests'],
[23, 'an undeclared name', sub { $r = ask('m', 'unknown', [$A]); types($r)
    . " $r->{json}{content}[0]{text} " . $p->requests }, 'text None. 2'],
[24, 'python', sub { (results(ask('m', 'python', [$A])))[0]{stdout} }, "42\n"],
[34, 'no usage', sub { $r = ask('m', 'usageless', undef); join(' ', map {
    $r->{json}{usage}{$_} > 0 ? 1 : 0 } qw(input_tokens output_tokens)) },
    '1 1'],
[34, 'no usage, streamed', sub { ask('r', 'usageless', undef, stream =>
    JSON::PP::true)->{body} =~ /"input_tokens":([1-9]\d*).*"output_tokens":
    ([1-9]\d*)/x ? 'counted' : 'not' }, 'counted'],
[36, 'nothing at all', sub { $r = ask('m', 'silent', [$E]); types($r)
    . $r->{json}{stop_reason} }, 'end_turn'],
[36, 'nothing at all, Responses', sub { $r = ask('r', 'silent', [$O]);
    types($r) . " $r->{json}{status}" }, 'code_interpreter_call completed'],
[37, 'mixed, ours fails', sub { $r = ask('m', 'failmixed', [$A, { name =>
    'save', input_schema => $schema }]); types($r) . ' '
    . (results($r))[0]{error_code} . " $r->{json}{stop_reason}" },
    'tool_use server_tool_use code_execution_tool_result '
    . 'invalid_tool_input tool_use'],
[63, 'stdin', sub { (results(ask('m', 'stdin', [$A2])))[0]{stdout} },
    "end of input\n"],
[64, 'a child that stays', sub { (results(ask('m', 'forks', [$A2])))[0]{stdout}
    . scalar(grep { Satchel::_slurp($_) =~ /^sleep\x{0}86477/ }
    glob('/proc/[0-9]*/cmdline')) }, "left behind\n0"],
[65, 'a signal', sub { (results(ask('m', 'signal', [$A2])))[0]{return_code} },
    143],
[55, '25 files and more', sub { $r = ask('m', 'many', [$A2]); outputs($r)
    . ' ' . (told() =~ /(not kept: .*)/)[0] },
    '20 not kept: 10 files over the limit of 20'],
[56, 'a file of 10 GiB', sub { $r = ask('m', 'sparse', [$A2]); join(' ', map {
    name_of($_) } outputs($r)) . ' ' . (results($r))[0]{stdout} },
    "small.txt 0\n"],
[56, 'a sparse file over the bound', sub { $r = ask('m', 'over', [$A2]);
    join(' ', map { name_of($_) } outputs($r)) . ' '
    . (told() =~ /(not kept: 1 file over the limit)/ ? $1 : told())
    . ' ' . join('', glob("$s->{root}/tmp/*")) },
    'small.txt not kept: 1 file over the limit '],
[57, 'a file that grows', sub { $r = ask('m', 'grows', [$A2]);
    my @f = outputs($r); my $f = $s->get("/v1/files/$f[0]")->{json};
    "$r->{status} $f->{filename} " . ($f->{bytes} == length($s->get(
    "/v1/files/$f[0]/content")->{body}) ? 'as long as it says' : 'not') },
    '200 grow.txt as long as it says'],
[58, 'a link', sub { $r = ask('m', 'links', [$A2]); join(' ', map {
    name_of($_) } outputs($r)) }, 'ok.txt'],
[59, 'odd names', sub { $r = ask('m', 'odd', [$A2]); join(' ', sort(map {
    name_of($_) . '=' . $s->get("/v1/files/$_/content")->{body} } outputs($r)))
    }, 'a%0Ab.txt=x c%FF.txt=y'],
[62, '100 MiB of output', sub { $r = ask('m', 'flood', [$A2]);
    my ($x) = results($r); "$x->{return_code} "
    . (length($x->{stdout}) <= 262144 + 200 ? 'cut' : length($x->{stdout}))
    . (length(told()) < 34000 ? ' cut' : length(told())) }, '0 cut cut'],
[75, 'U+2028, emoji, quotes', sub { $r = ask('r', 'wide', [$O]);
    my ($m) = grep { $_->{type} eq 'message' } @{ $r->{json}{output} };
    my $c = $m->{content}[0]; my $a = $c->{annotations}[0];
    substr($c->{text}, $a->{start_index}, $a->{end_index} - $a->{start_index})
    . " of $c->{text}" }, "t.csv of \x{2028}\x{1F600} \"q\" see t.csv now"],
[74, 'no include', sub { $r = ask('r', 'one', [$O]);
    JSON::PP->new->encode([$r->{json}{output}[0]{outputs}]) }, '[null]'],
[76, 'count_tokens', sub { $r = $s->post('/v1/messages/count_tokens', ant => 1,
    json => { model => 'say', tools => [$A2], messages => [{ role => 'user',
    content => 'Go.' }] }); "$r->{status} " . ($r->{json}{input_tokens} > 1) },
    '200 1'],
[77, 'too long', sub { join(' ', map { $r = $s->post($path{$_}, ant =>
    $_ eq 'm', body => ' ' x (2 << 20), headers => ['Content-Type' =>
    'application/json']); "$r->{status} $r->{json}{error}{type}" } qw(m r c)) },
    '413 request_too_large 413 invalid_request_error '
    . '413 invalid_request_error'],
[78, 'no JSON', sub { join(' ', map { $r = $s->post($path{$_}, ant =>
    $_ eq 'm', body => '{"model"', headers => ['Content-Type' =>
    'application/json']); "$r->{status} $r->{json}{error}{type} "
    . ($r->{json}{type} // '-') } qw(m r c)) }, '400 invalid_request_error '
    . 'error 400 invalid_request_error - 400 invalid_request_error -'],
[79, 'an unknown upstream', sub { join(' ', map { who(ask($_, 'few:x', undef))
    } qw(m r c)) }, '404 not_found_error 404 model_not_found '
    . '404 model_not_found'],
[80, 'forwarded', sub { join(' ', who(ask('m', 'ant:say', [$A])),
    who(ask('r', 'resp:say', [$O]))) }, '200 provider 200 provider'],
);
for (@rows) {
	my ($n, $what, $how, $want) = @$_;
	is($how->(), $want, "executor row $n: $what") or
	    diag(substr($r->{body} // '', 0, 600));
}

# --- what outlives a request ---

sub scene { my ($n, $got, $want, $what) = @_;
	is($got, $want, "executor row $n: $what") or
	    diag(substr($r->{body} // '', 0, 600)) }
@f = map { $s->upload($_, name => 'data.csv', type => 'text/csv')->{json}{id} }
    "1\n", "2\n";
$r = ask('m', 'look', [$A2], user(uploads(@f[0, 0, 0])));
scene(49, (results($r))[0]{stdout}, "1\ndata.csv\n",
    'one file three times is there once');
my $both = "1\n2\ndata.csv\ndata_2.csv\n";
for my $case ('executor row 50', 'row 149', 'ce-same-name-inputs') {
	$r = ask('m', 'look', [$A2], user(uploads(@f)));
	is((results($r))[0]{stdout}, $both, "$case: two of one name");
	my @lines = sent()->{messages}[0]{content} =~
	    m{^\[file /mnt/data/(\S+) - uploaded as "data\.csv"}mg;
	is("@lines", 'data.csv data_2.csv', "$case: and the model knows which");
}
$r = ask('r', 'lookpy', [{ %$O, container => { type => 'auto', file_ids =>
    \@f } }], include => ['code_interpreter_call.outputs']);
is($r->{json}{output}[0]{outputs}[0]{logs}, $both,
    'ce-same-name-inputs: over Responses') or diag($r->{body});
my $third = $s->upload("3\n", name => 'data_2.csv')->{json}{id};
$r = ask('m', 'look', [$A2], user(uploads(@f, $third)));
scene(52, (results($r))[0]{stdout}, "1\n2\n3\ndata.csv\ndata_2.csv\n"
    . "data_2_2.csv\n", 'a name that a second one has taken');
my $bad = $s->upload("root\n", name => '../../etc/passwd')->{json}{id};
$r = ask('m', 'look', [$A2], user(uploads($bad)));
scene(51, (results($r))[0]{stdout}, "passwd\n", 'a name with a path');
$r = ask('m', 'rewrite', [$A2], user(uploads($f[0])));
my ($new) = outputs($r);
scene(60, name_of($new) . ' ' . $s->get("/v1/files/$new/content")->{body}
    . $s->get("/v1/files/$f[0]/content")->{body}, "data.csv 1\nmore\n1\n",
    'an input that is written over is an output');

# An upload that only the first of three turns names, and no container.
$r = ask('m', 'look', [$A2], messages => [
    { role => 'user', content => [uploads($f[0], $f[0])] },
    { role => 'assistant', content => 'One.' },
    { role => 'user', content => [uploads($f[0]), { type => 'text', text =>
    'Two?' }] }, { role => 'assistant', content => 'Two.' },
    { role => 'user', content => 'Three?' }]);
is((results($r))[0]{stdout}, "1\ndata.csv\n",
    'ce-upload-in-old-turn: is there before code runs, once')
    or diag($r->{body});

# --- what is given back ---

my $go = { role => 'user', content => 'Go.' };
$r = ask('m', 'sh', [$A2]);
my @said = @{ $r->{json}{content} };
my ($use) = grep { $_->{type} eq 'server_tool_use' } @said;
my ($first) = $r->{json}{container}{id};
sub back { return (messages => [$go, { role => 'assistant', content =>
    [@said] }, { role => 'user', content => [@_, { type => 'text', text =>
    'And?' }] }]) }
sub roles { return join(' ', map { $_->{role} } @{ sent()->{messages} }) }
$r = ask('m', 'say', [$A2], back({ type => 'tool_result', tool_use_id =>
    $use->{id}, content => 'mine' }));
scene(39, roles() . ' ' . ($p->requests)[0]{body} =~ /mine/,
    'user assistant tool assistant user ',
    'a tool_result for ours is dropped');
for my $case ('executor row 41', 'ce-replayed-blocks') {
	$r = ask('m', 'say', [$A2], back());
	is(roles(), 'user assistant tool assistant user', "$case: given back");
	like(sent()->{messages}[2]{content}, qr/^stdout:\none\nexit code: 0/,
	    "$case: with what it printed");
}
$r = ask('m', 'say', undef, back());
is("$r->{status} " . roles(), '200 user assistant user',
    'ce-replayed-blocks: without the declaration it is text')
    or diag($r->{body});
like(JSON::PP->new->encode(sent()->{messages}[1]), qr/echo one.*stdout/,
    'ce-replayed-blocks: that tells command and output');
{
	my @was = @said;
	@said = map { my %b = %$_; $b{content} = { %{ $b{content} }, stdout =>
	    'edited' . 'x' x 300000 } if $b{type} =~ /_result$/; \%b } @said;
	$r = ask('m', 'say', [$A2], back());
	like(sent()->{messages}[2]{content}, qr/edited/,
	    'executor row 41: an edited result is context');
	cmp_ok(length(sent()->{messages}[2]{content}), '<', 262144 + 200,
	    'executor row 41: of limited size');
	@said = @was;
}
$r = ask('m', 'say', [$A2], back(), '' => { as => 'bob' });
like(sent()->{messages}[2]{content}, qr/^stdout:\none\n/,
    'executor row 42: another\'s ids are shown as they were sent');
@said = grep { $_->{type} !~ /_result$/ } @said;
$r = ask('m', 'say', [$A2], back(), '' => { as => 'bob' });
like(sent()->{messages}[2]{content}, qr/^\(result not available\)$/,
    'executor row 42: and not looked up');
$r = ask('m', 'say', [$A2], back());
like(sent()->{messages}[2]{content}, qr/^stdout:\none\n/,
    'executor row 40: a use without its result gets it again');

# A container of ours that expired, found through "auto".
$r = ask('r', 'one', [$O]);
my @items = @{ $r->{json}{output} };
my $gone = $items[0]{container_id};
my @auto = (input => [$go, @items, $go]);
is(ask('r', 'one', [$O], @auto)->{json}{output}[0]{container_id}, $gone,
    'the container of the last run is used again');
$s->mysql("UPDATE container SET expires = 1 WHERE pid = '"
    . ($gone =~ s/^cntr_gw_//r) . "'");
$r = ask('r', 'one', [$O], @auto);
like($r->{json}{output}[0]{container_id}, qr/^cntr_gw_/,
    'executor row 46: through auto, an expired one')
    or diag($r->{body});
isnt($r->{json}{output}[0]{container_id}, $gone,
    'executor row 46: is another');
is(ask('r', 'one', [{ %$O, container => $gone }])->{json}{error}{code},
    'container_expired', 'executor row 46: by its name it is refused');

# From here to a provider that runs code itself, and back.
$r = ask('m', 'sh', [$A2]);
@said = @{ $r->{json}{content} };
ask('m', 'ant:say', [$A2], back(), container => $first);
my $q = sent();
scene(44, join(' ', map { $_->{type} } @{ $q->{messages}[1]{content} })
    . ' ' . ($q->{container} // 'no container'), 'text text no container',
    'to a provider: our pairs become text') or diag($p->requests ?
    ($p->requests)[0]{body} : '');
is(($p->requests)[0]{body} =~ /srvtoolu_gw|_tool_result/, '',
    'ce-replayed-blocks: no block of ours reaches a provider');
@said = ({ type => 'server_tool_use', id => 'srvtoolu_01A', name =>
    'bash_code_execution', input => { command => 'ls' } }, { type =>
    'bash_code_execution_tool_result', tool_use_id => 'srvtoolu_01A', content
    => { type => 'bash_code_execution_result', stdout => "theirs\n", stderr =>
    '', return_code => 0, content => [] } }, { type => 'text', text => 'T.' });
$r = ask('m', 'sh', [$A2], back(), container => 'container_011CPR5CNjB747bTd');
scene(45, "$r->{status} " . (sent()->{messages}[2]{content} =~ /theirs/) . ' '
    . ($r->{json}{container}{id} =~ /^container_gw_/), '200 1 1',
    'back: a provider\'s container is nobody\'s, its pairs are read');

# --- what code writes ---

my $awk = $s->upload($bytes, name => 'awkward-bytes.bin')->{json}{id};
$r = ask('m', 'binary', [$A2], user(uploads($awk)));
my %sum = reverse((results($r))[0]{stdout} =~ /^(\w{64})  (\S+)$/mg);
is($sum{'out.bin'}, sha256_hex($bytes), 'out-binary-intact: read as it is');
for my $id (outputs($r)) {
	my $n = name_of($id);
	is(sha256_hex($s->get("/v1/files/$id/content", ant => 1)->{body}),
	    $sum{$n}, "out-binary-intact: $n is what code wrote");
}
is(scalar(outputs($r)), 2, 'out-binary-intact: both');
$r = ask('m', 'links', [$A2]);
is(join(' ', map { name_of($_) } outputs($r)), 'ok.txt',
    'out-symlink: only the ordinary file');
is(join('', $r->{body} =~ /root:x|PATH=/g), '',
    'out-symlink: nothing of the host is told');
is($s->get('/v1/files/' . (outputs($r))[0] . '/content')->{body}, "fine\n",
    'out-symlink: it is what it was');
$r = ask('m', 'many', [$A2]);
is(scalar(outputs($r)), 20, 'ce-output-bounds: twenty files of thirty');
like(told(), qr/not kept: 10 files over the limit of 20/,
    'ce-output-bounds: and why no more');
$r = ask('m', 'over', [$A2]);
is(join(' ', map { name_of($_) } outputs($r)), 'small.txt',
    'ce-output-bounds: the small one of two');
like(told(), qr/not kept: 1 file over the limit of/,
    'ce-output-bounds: and why not the other');
like(told(), qr/small\.txt \(file-\w+, 6 bytes\)/,
    'row 151: a file over the cap costs nothing else');
unlike(told(), qr/big\.bin \(file-/, 'row 151: it has no id');

# --- bytes that are passed on ---

my $deep = '{"a":' x 40 . '12345678901234567890123' . '}' x 40;
my $body = '{"model":"ant:say","max_tokens":5,"unknown":{"x":[1e2,0.1]},'
    . '"messages":[{"role":"user","content":"\u2028 \ud800 \/"}],"tools":['
    . '{"name":"t","input_schema":{"type":"object","default":' . $deep . '}}]}';
$p->forget;
$r = $s->post('/v1/messages', ant => 1, body => $body, headers =>
    ['Content-Type' => 'application/json']);
is($r->{status}, 200, 'js-untouched-passthrough: taken') or diag($r->{body});
is(($p->requests)[0]{body}, $body =~ s/ant:say/say/r,
    'js-untouched-passthrough: only the model\'s name differs');

# --- streams ---

for my $route (qw(m r c)) {
	$r = ask($route, 'one', [$route eq 'm' ? $A : $O], stream =>
	    JSON::PP::true);
	is($r->{status}, 200, "st-event-lines: over $path{$route}");
	is(header($r, 'Content-Type') . ' ' . header($r, 'Cache-Control'),
	    'text/event-stream; charset=utf-8 no-cache',
	    "st-not-buffered: over $path{$route}, by its header");
}
$s->done;
done_testing();
