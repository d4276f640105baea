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
	stdin => turn(bash('cat; echo end of input')),
	forks => turn(bash("sleep 86477 >/dev/null 2>&1 & echo left behind")),
	signal => turn(bash('kill -TERM $$')),
	sparse => turn(bash('truncate -s 10G big.bin; echo small >small.txt; '
	    . 'ls')),
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
    set => { 'server.public_url' => 'https://gateway.example' });
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
[16, 'an empty list', sub { ask('c', 'say', []); exists(sent()->{tools}) ?
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
[56, 'a sparse file', sub { $r = ask('m', 'sparse', [$A2]);
    join(' ', map { name_of($_) } outputs($r)) . ' '
    . (told() =~ /(not kept: 1 file over the limit)/ ? $1 : told()) },
    'small.txt not kept: 1 file over the limit'],
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
$s->done;
done_testing();
