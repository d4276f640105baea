#!/usr/bin/perl

# The main job: Messages requests over a chat upstream, code run in the sandbox,
# files in and files out.

use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use Test::More;
use Provider;
use Satchel qw(header);

# A model's call of the shell.
sub bash {
	my ($command, %more) = @_;
	return { name => 'bash_code_execution',
	    arguments => { command => $command }, %more };
}

sub edit {
	my (%arguments) = @_;
	return { name => 'text_editor_code_execution',
	    arguments => \%arguments };
}

# A one-pixel PNG made by the program that the model writes.
my $png = pack('H*', '89504e470d0a1a0a0000000d494844520000000100000001'
    . '0802000000907753de0000000c4944415478da63f8cfc0000003010100f7034143'
    . '0000000049454e44ae426082');
my $chart = "cd /mnt/data && python3 - <<'PY'\n"
    . "import csv\n"
    . "for f in ('data.csv', 'data_2.csv'):\n"
    . "    print(f, sum(int(r['qty']) for r in csv.DictReader(open(f))))\n"
    . "open('chart.png', 'wb').write(bytes.fromhex('"
    . unpack('H*', $png) . "'))\nPY";
my %models = (
	job => [
		{ text => 'Let me add them up.', calls => [bash($chart,
		    id => 'call_u1')], usage => { prompt_tokens => 760,
		    completion_tokens => 120 } },
		{ expect => ['chart\.png'], text => 'Done.', usage => {
		    prompt_tokens => 1116, completion_tokens => 51,
		    prompt_tokens_details => { cached_tokens => 512 } } },
	],
	flood => [{ calls => [bash("python3 -c \"print('a' * 2000000 + 'THE"
	    . " END')\"")] }, { text => 'Long.' }],
	empties => [{ calls => [bash("python3 -c 'for i in range(9990):"
	    . " open(\"n%05d\" % i, \"w\").close()' && for i in 1 2 3 4 5 6;"
	    . ' do echo $i >x$i; done')] }, { text => 'Many.' }],
	plain => [{ text => "Hello \x{2028} \x{1F600}", no_usage => 1 }],
	editor => [
		{ calls => [edit(command => 'create', path =>
		    '/mnt/data/notes.md', file_text => "# Notes\ntwo\n")] },
		{ calls => [edit(command => 'view', path => 'notes.md',
		    view_range => [2, -1])] },
		{ calls => [edit(command => 'str_replace', path =>
		    '/mnt/data/notes.md', old_str => '# Notes',
		    new_str => '# Report')] },
		{ calls => [edit(command => 'view', path => 'nope.txt')] },
		{ calls => [edit(command => 'str_replace', path => 'notes.md',
		    old_str => 'o', new_str => 'x')] },
		{ calls => [edit(command => 'view', path => '../etc/passwd')] },
		{ calls => [edit(command => 'create', path => 'notes.md',
		    file_text => "new\n")] },
		{ calls => [bash('cat notes.md; echo x >late.txt')] },
		{ calls => [edit(command => 'create', path => 'd/last.txt',
		    file_text => 'last')] },
		{ text => 'Edited.' },
	],
	caller => [{ calls => [{ name => 'save', id => 'call_b7f3',
	    arguments => { title => 'T' } }] }, { text => 'Saved.' }],
	mixed => [
		[{ expect => ['And\?'], text => 'Mixed.' }, { text => 'Both.', calls => [bash('echo mine; echo 1 >a.txt'),
		    { name => 'save', id => 'call_b7f3',
		    arguments => { title => 'T' } }] }],
	],
	odd => [
		{ calls => [{ name => 'nosuch', arguments => {} }] },
		{ expect => ['no tool named nosuch'], calls => [{ name =>
		    'python', arguments => { code => 'print(6*7)' } }] },
		{ expect => ['42'], calls => [{ name => 'bash_code_execution',
		    raw => '' }] },
		{ expect => ['arguments must be JSON with a string field '
		    . '"command"'], calls => [map { bash("echo n$_") }
		    1 .. 9] },
		{ expect => ['too many calls'], text => 'Odd.' },
	],
	again => [({ calls => [bash('echo again')] }) x 5],
	forced => [{ calls => [bash('echo forced')] }, { text => 'Free.' }],
	slow => [
		{ calls => [bash('echo partial; sleep 60')] },
		{ expect => ['time limit of 5 s.*partial'], text => 'Late.' },
	],
	outputs => [
		{ calls => [bash('for i in 1 2 3 4 5; do echo $i >f$i.txt;'
		    . ' done; : >empty.txt; echo h >.hidden; mkdir d;'
		    . ' echo n >d/nested.txt; ln -s /etc/passwd link.txt;'
		    . ' mkfifo pipe')] },
		{ calls => [bash('truncate -s 10G sparse.bin || truncate'
		    . ' -s 200M sparse.bin; echo small >z.txt')] },
		{ text => 'Written.' },
	],
	input => [
		{ calls => [bash('echo more >>data.csv; cat; kill -9 $$')] },
		{ text => 'Changed.' },
	],
	python => [
		{ calls => [{ name => 'code_execution', arguments =>
		    { code => "x = 6\nprint('a\\xff')" } }] },
		{ calls => [{ name => 'code_execution', arguments =>
		    { code => 'print(x * 7)' } }] },
		{ calls => [{ name => 'code_execution', arguments =>
		    { code => 'raise SystemExit(3)' } }] },
		{ text => 'It is 42.' },
	],
	bytes => [
		{ calls => [bash('printf "a\\377b\\000c"; exit 7')] },
		{ text => 'Bytes.' },
	],
	full => [
		{ calls => [bash('echo kept >kept.txt')] },
		{ expect => ['could not be stored'], text => 'Not kept.' },
	],
	ids => [{ calls => [map { { name => 'save', id => $_, arguments =>
	    { n => 1 } } } 'twice', 'twice', 'no good!', ''] }],
	honest => [{ finish => 'stop', calls => [{ name => 'save', id => 'c1',
	    arguments => {} }] }],
	broken => [{ finish => 'length', text => 'I will', calls => [
	    bash('echo whole'), { name => 'bash_code_execution',
	    raw => '{"command": "ec' }] }],
	dropped => [{ finish => 'length', text => 'I will', calls => [
	    { name => 'save', raw => '{"title": "T' }] }],
	sly => [{ calls => [{ name => 'save', raw => '{"title": "T' }],
	    usage => { prompt_tokens => 5, completion_tokens => 64 } }],
	sleepy => [map { { calls => [bash("sleep 1.5; echo $_")] } } 1 .. 5],
	thinker => [{ text => 'Yes.', reasoning => 'Hm.' }],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->port, set => {
	'files.output_max_files' => 4, 'files.output_max_bytes' => 1000000,
	'code_execution.exec_timeout_s' => 5 });
my @tool = ({ type => 'code_execution_20250825', name => 'code_execution' });
my @save = ({ name => 'save', description => 'Store a report.',
    input_schema => { type => 'object', properties =>
    { title => { type => 'string' } } } });

# Ask a model; the answer, and its blocks by type and text.
sub ask {
	my ($model, %o) = @_;
	my $messages = $o{messages} // [{ role => 'user', content => 'Go.' }];
	$p->forget;
	return $s->post('/v1/messages', ant => 1, timeout => 60,
	    headers => $o{headers} // [], json => { model => $model,
	    max_tokens => 4096, messages => $messages, tools => \@tool,
	    %{ $o{with} // {} } });
}

sub types { return join(' ', map { $_->{type} } @{ $_[0]{json}{content} }) }

# The contents of all results.
sub results {
	return grep { ref } map { $_->{content} }
	    grep { $_->{type} =~ /_tool_result$/ } @{ $_[0]{json}{content} };
}

# What the upstream was told of the call before round $n.
sub told {
	my ($n) = @_;
	return ($p->requests)[$n]{json}{messages}[-1]{content};
}

sub fetch {
	my ($id, %o) = @_;
	return $s->get("/v1/files/$id/content", %o);
}

# How many sandbox sessions there are.
sub sessions {
	return $s->get('/health', port => $s->{sandbox_port},
	    as => undef)->{json}{session_count};
}

my ($r, @q, @res, @up);

# --- the job ---

@up = map { $s->upload($_, name => 'data.csv', type => 'text/csv',
    purpose => 'user_data')->{json} } "qty\n20\n22\n", "qty\n17\n";
$r = ask('job', messages => [{ role => 'user', content => [
    { type => 'text', text => 'Add up both files.' },
    map { { type => 'container_upload', file_id => $_->{id} } } @up,
    ] }]);
is($r->{status}, 200, 'the job is done') or diag($r->{body});
is(header($r, 'X-Code-Execution-Ran'), 'local', 'and who ran the code');
like($r->{json}{id}, qr/^msg_gw_[0-9a-z]{20}$/, 'id of the message');
my ($text, $use, $result, $last) = @{ $r->{json}{content} };
is(types($r), 'text server_tool_use bash_code_execution_tool_result text',
    'the blocks');
like($use->{id}, qr/^srvtoolu_gw_[0-9a-z]{24}$/, 'id of the use');
like($r->{json}{container}{id}, qr/^container_gw_[0-9a-z]{20}$/,
    'id of the container');
my $id = $result->{content}{content}[0]{file_id};
like($id, qr/^file-[0-9a-f]{32}$/, 'id of the file');
is_deeply($r->{json}, { id => $r->{json}{id}, type => 'message',
    role => 'assistant', model => 'job', container => $r->{json}{container},
    content => [
	{ type => 'text', text => 'Let me add them up.' },
	{ type => 'server_tool_use', id => $use->{id},
	    name => 'bash_code_execution', input => { command => $chart },
	    caller => { type => 'direct' } },
	{ type => 'bash_code_execution_tool_result',
	    tool_use_id => $use->{id}, content => {
	    type => 'bash_code_execution_result',
	    stdout => "data.csv 42\ndata_2.csv 17\n", stderr => '',
	    return_code => 0, content => [{ type =>
	    'bash_code_execution_output', file_id => $id }] } },
	{ type => 'text', text => 'Done.' } ],
    stop_reason => 'end_turn', stop_sequence => undef, stop_details => undef,
    diagnostics => undef, usage => { input_tokens => 1364,
    output_tokens => 171, cache_creation => undef,
    cache_creation_input_tokens => undef, cache_read_input_tokens => 512,
    inference_geo => undef, output_tokens_details => undef,
    server_tool_use => undef, service_tier => 'standard', speed => undef } },
    'the whole answer');

my $got = fetch($id);
is($got->{status}, 200, 'the file can be downloaded');
is(sha256_hex($got->{body}), sha256_hex($png), 'byte for byte');
is(header($got, 'Content-Type'), 'image/png', 'as what it is');
is_deeply({ %{ $s->get("/v1/files/$id")->{json} }{qw(filename purpose bytes)}
    }, { filename => 'chart.png', purpose => 'assistants_output',
    bytes => length($png) }, 'and retrieved');
is(fetch($id, as => 'bob')->{status}, 404, 'but not by others');
is($s->get("/v1/files/$id", ant => 1)->{json}{downloadable}, JSON::PP::true,
    'it says that it can be downloaded');
is(sessions(), 1, 'the container keeps its session');

@q = map { $_->{json} } $p->requests;
is(scalar(@q), 2, 'the model was asked twice');
is($q[0]{messages}[0]{content}, "Add up both files.\n"
    . '[file /mnt/data/data.csv - uploaded as "data.csv", text/csv, 10 bytes]'
    . "\n[file /mnt/data/data_2.csv - uploaded as \"data.csv\", text/csv, 7 "
    . "bytes]", 'it was told of both files, each under its own name')
    or diag($q[0]{messages}[0]{content});
is_deeply([map { $_->{function}{name} } @{ $q[0]{tools} }],
    [qw(bash_code_execution text_editor_code_execution)], 'and given two '
    . 'functions');
my ($says) = map { $_->{function}{description} } @{ $q[0]{tools} };
like($says, qr/ A call may take at most 5 seconds\. /, 'told how long a call may'
    . ' take');
like($says, qr/ no others can be installed: .*\bnumpy\b.*\bopenpyxl\b/,
    '... and which packages there are');
is_deeply([map { $_->{role} } @{ $q[1]{messages} }],
    [qw(user assistant tool)], 'the second time with call and result');
is($q[1]{messages}[1]{tool_calls}[0]{id}, 'call_u1', 'under its own id');
is($q[1]{messages}[2]{content}, "stdout:\ndata.csv 42\ndata_2.csv 17\n"
    . "exit code: 0\nfiles written: /mnt/data/chart.png ($id, "
    . length($png) . ' bytes)', 'the result as the contract words it');
is_deeply([map { $_->{max_tokens} } @q], [4096, 3976],
    'what is left of the token budget');
my ($one, $two) = map { $_->{connection} } $p->requests;
is($one, $two, 'both over one connection');
is(($p->requests)[0]{header}{authorization}, 'Bearer test',
    'with the provider\'s credential');
unlike(join("\n", map { "%{$_->{header}} $_->{body}" } $p->requests),
    qr/\Q$s->{key}{alice}\E/, 'and never with the caller\'s');

# --- plain conversation ---

$r = ask('plain', with => { tools => [], system => 'Be kind.',
    temperature => 0.25, stop_sequences => ['END'] });
is($r->{status}, 200, 'without tools');
is($r->{json}{content}[0]{text}, "Hello \x{2028} \x{1F600}", 'text as it is');
is(header($r, 'X-Code-Execution-Ran'), undef, 'nobody ran anything');
ok($r->{json}{usage}{input_tokens} > 0 && $r->{json}{usage}{output_tokens} > 0,
    'a server that counts no tokens is estimated');
is_deeply(($p->requests)[0]{json}, { model => 'plain', messages => [
    { role => 'system', content => 'Be kind.' },
    { role => 'user', content => 'Go.' }], max_tokens => 4096,
    temperature => 0.25, stop => ['END'] }, 'the whole request');
$r = ask('scripted:plain', with => { tools => [] });
is($r->{json}{model}, 'scripted:plain', 'a model by its provider');
is(($p->requests)[0]{json}{model}, 'plain', 'is asked under its own name');
$r = ask('thinker', with => { tools => [] });
is(types($r), 'thinking text', 'reasoning is shown');
is($r->{json}{content}[0]{signature}, 'gw_unsigned', 'unsigned');
$r = ask('thinker', with => { tools => [], thinking =>
    { type => 'disabled' } });
is(types($r), 'text', 'unless it is not wanted');

# --- the editor ---

$r = ask('editor');
is($r->{status}, 200, 'the editor');
@res = results($r);
is_deeply($res[0], { type => 'text_editor_code_execution_create_result',
    is_file_update => JSON::PP::false }, 'create');
is_deeply($res[1], { type => 'text_editor_code_execution_view_result',
    file_type => 'text', content => "two\n", start_line => 2, num_lines => 1,
    total_lines => 2 }, 'view of some lines');
is_deeply($res[2], {
    type => 'text_editor_code_execution_str_replace_result', old_start => 1,
    old_lines => 1, new_start => 1, new_lines => 1,
    lines => ['-# Notes', '+# Report'] }, 'str_replace');
is_deeply($res[3], { type => 'text_editor_code_execution_tool_result_error',
    error_code => 'file_not_found',
    error_message => 'No such file: nope.txt' }, 'no such file');
is_deeply($res[4], { type => 'text_editor_code_execution_tool_result_error',
    error_code => 'invalid_tool_input', error_message =>
    'old_str stands 2 times in notes.md' }, 'an old_str that is not unique');
is($res[5]{error_code}, 'invalid_tool_input', 'a path outside');
is_deeply($res[6], { type => 'text_editor_code_execution_create_result',
    is_file_update => JSON::PP::true }, 'create over a file');
is($res[7]{stdout}, "new\n", 'a command sees the editor\'s files');
is_deeply([sort map { $s->get("/v1/files/$_->{file_id}")->{json}{filename} }
    @{ $res[7]{content} }], ['late.txt', 'notes.md'],
    'and reports them with its own');
like($r->{json}{content}[-1]{text},
    qr{^Edited\.\n\n\[file /mnt/data/d/last\.txt: (file-\w+), 4 bytes\]$},
    'what no command reports stands at the end');
$r->{json}{content}[-1]{text} =~ /(file-\w+)/;
is(fetch($1)->{body}, 'last', 'and can be fetched');

# --- the caller's own functions ---

$r = ask('caller', with => { tools => [@tool, @save] });
is_deeply($r->{json}{content}, [{ type => 'tool_use', id => 'call_b7f3',
    name => 'save', input => { title => 'T' }, caller =>
    { type => 'direct' } }], 'a call of the caller\'s function');
is($r->{json}{stop_reason}, 'tool_use', 'stops the turn');
$r = ask('caller', with => { tools => [@tool, @save] }, messages => [
    { role => 'user', content => 'Go.' },
    { role => 'assistant', content => $r->{json}{content} },
    { role => 'user', content => [{ type => 'tool_result', tool_use_id =>
    'call_b7f3', content => 'stored as R-9' }] }]);
is($r->{json}{content}[0]{text}, 'Saved.', 'which goes on with its result');
is_deeply(($p->requests)[0]{json}{messages}[-1], { role => 'tool',
    tool_call_id => 'call_b7f3', content => 'stored as R-9' }, 'as a result');

$r = ask('mixed', with => { tools => [@tool, @save] });
is(types($r), 'text tool_use server_tool_use bash_code_execution_tool_result',
    'mixed: the caller\'s call, then ours with its result');
is($r->{json}{stop_reason}, 'tool_use', 'stops for the caller');
is((results($r))[0]{stdout}, "mine\n", 'ours has been run');
is(scalar($p->requests), 1, 'and the model is not asked again');
my $echo = $r->{json}{content};
$r = ask('mixed', with => { tools => [@tool, @save] }, messages => [
    { role => 'user', content => 'Go.' },
    { role => 'assistant', content => $echo },
    { role => 'user', content => [{ type => 'tool_result', tool_use_id =>
    'call_b7f3', content => 'stored' }, { type => 'text', text => 'And?' }] }
    ]);
@q = @{ ($p->requests)[0]{json}{messages} };
is_deeply([map { $_->{role} } @q], [qw(user assistant tool tool user)],
    'given back: both calls, both results');
(my $words = $q[2]{content}) =~ s/file-[0-9a-f]{32}/ID/;
is($words, "stdout:\nmine\nexit code: 0\n"
    . 'files written: /mnt/data/a.txt (ID, 2 bytes)',
    'ours in the words of the first time');

# --- what models do wrong ---

$r = ask('odd');
is($r->{status}, 200, 'odd calls');
@res = results($r);
is($res[0]{stdout}, "42\n", 'a call by another name is ours');
is($r->{json}{content}[0]{name}, 'bash_code_execution',
    'and shown as what was declared');
like($r->{json}{content}[0]{input}{command}, qr/^python3 - <<.*print\(6\*7\)/s,
    'in its words');
is_deeply($res[1], { type => 'bash_code_execution_tool_result_error',
    error_code => 'invalid_tool_input' }, 'no arguments');
is_deeply([map { $_->{stdout} // $_->{error_code} } @res[2 .. 10]],
    [(map { "n$_\n" } 1 .. 8), 'too_many_requests'],
    'of nine calls eight are run, in order');
is(scalar(() = types($r) =~ /server_tool_use/g), 11,
    'a call of no function is not shown');

$r = ask('ids', with => { tools => [@tool, @save] });
my @ids = map { $_->{id} } @{ $r->{json}{content} };
is($ids[0], 'twice', 'a good id is kept');
is(scalar(grep { /^toolu_gw_[0-9a-z]{24}$/ } @ids[1 .. 3]), 3,
    'one that is used or no good gets another');
$r = ask('honest', with => { tools => [@tool, @save] });
is($r->{json}{stop_reason}, 'tool_use', 'a whole call counts, whatever the '
    . 'server says');
$r = ask('broken');
is(types($r), 'text' . ' server_tool_use bash_code_execution_tool_result' x 2,
    'calls broken off by the token limit');
is_deeply([map { $_->{stdout} // $_->{error_code} } results($r)],
    ["whole\n", 'invalid_tool_input'], 'the whole one is run');
is($r->{json}{stop_reason}, 'max_tokens', 'and the turn ends there');
$r = ask('dropped', with => { tools => [@tool, @save] });
is(types($r) . " $r->{json}{stop_reason}", 'text max_tokens',
    'a caller\'s call that is broken off is dropped');
$r = ask('sly', with => { tools => [@tool, @save], max_tokens => 64 });
is(types($r) . " $r->{json}{stop_reason}", ' max_tokens',
    'also where the server calls that a call');

$r = ask('again', with => { max_tool_iterations => 2 });
is(scalar(results($r)), 2, 'the cap on rounds');
@q = map { $_->{json} } $p->requests;
is(scalar(@q), 3, 'is followed by one more');
is($q[2]{tool_choice}, 'none', 'without calls');
is($q[1]{tool_choice}, undef, 'and only that one');
is($r->{json}{stop_reason}, 'end_turn', 'a turn that ends');

$r = ask('again', with => { max_tokens => 100 });
is($r->{json}{stop_reason}, 'max_tokens', 'the token budget is the turn\'s');
is_deeply([map { $_->{json}{max_tokens} } $p->requests], [100, 50],
    'whatever the number of rounds');

$r = ask('forced', with => { tool_choice => { type => 'any' } });
@q = map { $_->{json}{tool_choice} } $p->requests;
is_deeply(\@q, ['required', 'auto'], 'a forced call is forced once');
$r = ask('forced', with => { tool_choice => { type => 'none' } });
is(types($r), '', 'a call against the caller\'s will is not run');

# --- runs ---

$r = ask('slow');
is_deeply((results($r))[0], { type => 'bash_code_execution_tool_result_error',
    error_code => 'execution_time_exceeded' }, 'the time limit');
like(told(1), qr/^\[tool error\] .*5 s\nstdout:\npartial\n/,
    'the model is told, with what there was');

$r = ask('outputs');
@res = results($r);
is(scalar(@{ $res[0]{content} }), 4, 'as many files as the bound');
like(told(1), qr/not kept: 2 files over the limit of 4\n/, 'the rest is told');
unlike(told(1), qr/hidden|link\.txt|pipe/, 'nothing hidden, no links or pipes');
is_deeply([map { $s->get("/v1/files/$_->{file_id}")->{json}{filename} }
    @{ $res[1]{content} }], ['z.txt'], 'a file over the bound is not kept');
like(told(2), qr/not kept: 1 file over the limit of 1000000 bytes/,
    'and that is told');
is(join('', glob("$s->{root}/tmp/*")), '', 'nothing of it is left');

$up[2] = $s->upload("qty\n1\n", name => 'data.csv', purpose => 'user_data',
    type => 'text/csv')->{json};
$r = ask('input', messages => [{ role => 'user', content => [
    { type => 'container_upload', file_id => $up[2]{id} }] }]);
@res = results($r);
is($res[0]{return_code}, 137, 'ended by a signal: 128 and its number');
my ($new) = map { $_->{file_id} } @{ $res[0]{content} };
is(fetch($new)->{body}, "qty\n1\nmore\n", 'a changed input is an output');
isnt($new, $up[2]{id}, 'of its own');
is(fetch($up[2]{id})->{body}, "qty\n1\n", 'and what was uploaded is as it was');

$r = ask('python', with => { tools => [{ type => 'code_execution_20250522',
    name => 'code_execution' }] });
@res = results($r);
is_deeply($res[1], { type => 'code_execution_result', stdout => "42\n",
    stderr => '', return_code => 0, content => [] },
    'Python, in the older words; variables stay');
is($res[2]{return_code}, 3, 'the program\'s exit code');
is_deeply([map { $_->{function}{name} } @{ ($p->requests)[0]{json}{tools} }],
    ['code_execution'], 'one function');
$r = ask('plain', with => { tools => [{ type => 'code_execution_20991231',
    name => 'code_execution' }] });
is(scalar(@{ ($p->requests)[0]{json}{tools} }), 3,
    'a declaration of later: all three');
$r = ask('python', with => { tools => [{ type => 'satchel_code_execution' }] });
is(types($r), 'text', 'the explicit declaration is quiet');
is(scalar($p->requests), 4, 'but runs');

$r = ask('bytes');
@res = results($r);
is_deeply([$res[0]{stdout}, $res[0]{return_code}], ["a\x{FFFD}bc", 7],
    'bytes that are no text');
like(told(1), qr/^\[tool error\] exit code 7\nstdout:\na\x{FFFD}bc\n/,
    'told with the exit code first');

# Of much output both ends are kept, and the number of bytes between them is true
# whatever else has cut it before: 2,000,008 bytes were printed.
$r = ask('flood');
is((results($r))[0]{stdout}, 'a' x 131072 . "\n[... 1737864 bytes left out ...]\n"
    . 'a' x 131064 . "THE END\n", 'much output: both ends in the block');
is(told(1), "stdout:\n" . 'a' x 16384 . "\n[... 1967240 bytes left out ...]\n"
    . 'a' x 16376 . "THE END\nexit code: 0", '... and for the model');
my @again = ({ role => 'user', content => 'Go.' },
    { role => 'assistant', content => $r->{json}{content} },
    { role => 'user', content => 'And?' });
$r = ask('plain', messages => \@again);
my ($echoed) = grep { $_->{role} eq 'tool' }
    @{ ($p->requests)[0]{json}{messages} };
like($echoed->{content}, qr/^stdout:\na{16384}\n
    \[\.\.\.[ ]1967240[ ]bytes[ ]left[ ]out[ ]\.\.\.\]\n
    a{16376}THE[ ]END\n/x, '... and when the caller sends the block back');

# Thousands of files of which few can be kept cost no request and no row each.
{
	my $asked = sub {
		return scalar grep { m{"GET","route":"/sessions/\{id\}/files"} }
		    split /^/, Satchel::_slurp("$s->{dir}/log/sandbox.log");
	};
	# The number of the next row: those that are gone again count too.
	my $next = sub {
		return map { $_->[0] } $s->mysql('SELECT AUTO_INCREMENT FROM'
		    . " information_schema.tables WHERE table_name = 'file'"
		    . ' AND table_schema = DATABASE()');
	};
	my $before = $asked->();
	my ($row) = $next->();
	$r = ask('empties');
	like(told(1), qr/not kept: 2 files over the limit of 4\n/,
	    'many files: what is over the limit');
	like(told(1), qr/not kept: 9990 empty files$/m, '... what is empty');
	is(scalar(@{ (results($r))[0]{content} }), 4, '... what is kept');
	is($asked->() - $before, 4, '... and what the sandbox was asked for');
	is(($next->())[0] - $row, 4, '... and so many rows were made');
}

# --- a store that fails never fails a run ---

chmod(0500, "$s->{root}/tmp");
$s->expect_log(qr/tmp|store|collect|blob/);
$r = ask('full');
chmod(0700, "$s->{root}/tmp");
is($r->{status}, 200, 'executor row 61: the store refuses an output');
is_deeply((results($r))[0]{content}, [], 'the run is shown without it');
is($r->{json}{content}[-1]{text}, 'Not kept.', 'and the model knows');

is(sessions(), ($s->mysql("SELECT COUNT(*) FROM container"
    . " WHERE session > ''"))[0][0], 'no sandbox session but the containers\'');

# --- a turn that runs out of time ---

$s->restart(providers => $p->port, set => {
    'code_execution.turn_budget_s' => 3,
    'code_execution.exec_timeout_s' => 3 });
$r = ask('sleepy');
is($r->{json}{stop_reason}, 'pause_turn',
    'executor row 43: the budget of a turn is over');
my $done = results($r);
cmp_ok($done, '<', 5, 'with what has been run so far');
$r = ask('sleepy', messages => [{ role => 'user', content => 'Go.' },
    { role => 'assistant', content => $r->{json}{content} }]);
is((results($r))[0]{stdout}, ($done + 1) . "\n",
    'executor row 43: given back as it is, it goes on where it was');
$s->done;
done_testing();
