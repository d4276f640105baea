#!/usr/bin/perl

# Who runs code: the workspace's policy, the header, the deployment's default
# and its row, as routes and commands set them; and what is refused.

use strict;
use warnings;
use Test::More;
use Provider;
use Satchel qw(header);

my %models = (
	run => [{ calls => [{ name => 'bash_code_execution', arguments =>
	    { command => 'echo here' } }] }, { text => 'Ran.' }],
	plain => [{ text => 'Plain.' }],
	slow => [{ calls => [{ name => 'bash_code_execution', arguments =>
	    { command => 'sleep 30' } }] }, { text => 'Late.' }],
	again => [({ calls => [{ name => 'bash_code_execution', arguments =>
	    { command => 'echo again' } }] }) x 8],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->yaml('chat', 'openai-chat', models =>
    '["*"]') . $p->yaml('ant', 'anthropic-messages', native_code => 'true'),
    set => { 'code_execution.purpose_hint' => 'Deployment hint.' });
my @dated = ({ type => 'code_execution_20250825', name => 'code_execution' });
my @explicit = ({ type => 'satchel_code_execution' });

sub ask {
	my ($model, %o) = @_;
	$p->forget;
	return $s->post('/v1/messages', ant => 1, as => $o{as} // 'alice',
	    headers => $o{headers} // [], json => { model => $model,
	    max_tokens => 500, tools => $o{tools} // \@dated,
	    messages => [{ role => 'user', content => 'Go.' }], %{$o{with} // {}} });
}

# "STATUS who ran it", or "STATUS type" of an error.
sub who {
	my ($r) = @_;
	return "$r->{status} " . (header($r, 'X-Code-Execution-Ran')
	    // $r->{json}{error}{type} // '-');
}

sub manage {
	my ($method, $path, %o) = @_;
	return $s->request($method, $path, as => 'admin', %o);
}

my ($r, @q);

# --- the default: file, then row ---

my $setting = '/v1/settings/code-execution';
is_deeply(manage('GET', $setting)->{json}, { executor => 'auto',
    source => 'configuration', configuration => 'auto', updated_at => undef },
    'the file says who runs code');
is(who(ask('chat:run')), '200 local', 'auto: an open model\'s code runs here');
is(who(ask('ant:plain')), '200 provider', 'auto: a native one\'s does there');
is(who(ask('ant:plain', headers => ['X-Code-Execution' => 'PROVIDER '])),
    '200 provider', 'a header in any letter case');
$r = manage('PUT', $setting, json => { executor => 'otari' });
is($r->{status}, 200, 'the default is set');
is_deeply([@{$r->{json}}{qw(executor source configuration)}],
    ['local', 'database', 'auto'], '... otari is local');
like($r->{json}{updated_at}, qr/^20\d\d-\d\d-\d\dT[\d:.]+Z$/, '... at a time');
is_deeply(manage('GET', $setting)->{json}, $r->{json}, '... and stays so');
like($s->admin('check')->{out}, qr/^ok +executor +local, by the database; the configuration says auto$/m,
    'check prints the source');
is(manage('PUT', $setting, json => { executor => 'me' })->{status}, 400,
    'no such executor');
is(manage('PUT', $setting, json => { executor => 'auto', more => 1 })->{status},
    400, 'nor such a field');
is($s->get($setting)->{status}, 403, 'not for a user\'s key');
is(manage('DELETE', $setting)->{json}{source}, 'configuration',
    'taken back, the file holds');
like($s->admin('check')->{out}, qr/^ok +executor +auto, by the configuration$/m,
    '... says check too');
is($s->admin(qw(executor set provider))->{exit}, 0, 'by command');
$r = ask('chat:run');
is(who($r), '400 invalid_request_error', 'a provider that cannot');
like($r->{json}{error}{message}, qr/chat:run.*code_execution_20250825/,
    '... is told by model and tool');
is_deeply($s->get('/v1/tools')->{json}{data}[0]{accepted_types},
    ['satchel_code_execution', 'otari_code_execution'],
    'the vendors\' declarations are not taken then');
is(who(ask('chat:run', tools => \@explicit)), '200 local',
    'the explicit one is');
is($s->admin(qw(executor set here))->{exit}, 2, 'no such word');
is($s->admin(qw(executor clear))->{exit}, 0, 'cleared by command');

# --- discovery ---

$r = $s->get('/v1/tools');
is($r->{json}{object}, 'list', 'GET /v1/tools');
my ($tool) = @{$r->{json}{data}};
is_deeply([map { $_->{id} } @{$r->{json}{data}}],
    ['satchel_code_execution', 'otari_code_execution'], 'under both names');
is_deeply([@$tool{qw(object executor_default example)},
    $tool->{available} ? 1 : 0], ['tool', 'auto',
    { type => 'satchel_code_execution' }, 1], 'its entry');
is_deeply([grep { !/otari/ } @{$tool->{accepted_types}}],
    [qw(satchel_code_execution code_interpreter code_execution
    code_execution_<date>)], 'what declares it');
is_deeply($tool->{limits}, { exec_timeout_s => 60, max_iterations => 10,
    output_max_files => 20, output_max_bytes => 67108864,
    container_idle_s => 1200 }, 'its limits');
is_deeply([map { "$_->{name} @{$_->{parameters}{required}}" }
    @{$tool->{functions}}], ['code_execution code',
    'bash_code_execution command', 'text_editor_code_execution command path'],
    'what a model is given');
my @there = grep { system('/usr/bin/python3', '-c', "import importlib.util as u,"
    . " sys; sys.exit(u.find_spec('$_') is None)") == 0 }
    qw(numpy openpyxl docx pypdf pptx);
is(join(' ', grep { /^(?:numpy|openpyxl|docx|pypdf|pptx)$/ }
    @{$tool->{packages}}), "@there", 'which packages Python has');
is($s->get('/v1/tools', as => undef)->{status}, 401, 'with a key');

# --- a workspace's policy ---

my $ws = ($s->mysql("SELECT workspace_name FROM api_key WHERE user_name = 'alice'"))[0][0];
my $path = "/v1/workspaces/$ws/code-execution-policy";
my %none = (workspace_id => $ws, configured => JSON::PP::false,
    sandbox_configured => JSON::PP::true, enabled => JSON::PP::true,
    executor => undef, default_purpose_hint => undef, max_iterations => undef,
    exec_timeout_s => undef, created_at => undef, updated_at => undef);
is_deeply(manage('GET', $path)->{json}, \%none, 'no row: the deployment\'s');
is($s->get($path)->{status}, 403, 'a user sees that it is not his to see');
is($s->get($path, as => 'bob')->{status}, 404, 'another workspace\'s does not');
is(manage('GET', '/v1/workspaces/nope/code-execution-policy')->{status}, 404,
    'no such workspace');
$r = $s->admin('--json', 'key', 'create', $ws, 'carol', '--role', 'workspace-admin');
$s->{key}{boss} = $r->{json}{key};
is_deeply($s->get($path, as => 'boss')->{json}, \%none,
    'its administrator may see it');
is($s->get('/v1/workspaces/' . ($s->mysql("SELECT workspace_name FROM api_key"
    . " WHERE user_name = 'bob'"))[0][0] . '/code-execution-policy',
    as => 'boss')->{status}, 404, '... and no other\'s');

my %want = (enabled => JSON::PP::true, executor => 'local', max_iterations => 6,
    exec_timeout_s => 30, default_purpose_hint => undef);
$r = $s->request('PUT', $path, as => 'boss', json => \%want);
is($r->{status}, 200, 'PUT') or diag($r->{body});
my %got = %{$r->{json}};
my @at = map { delete $got{$_} } qw(created_at updated_at);
is($at[0], $at[1], '... at one time');
is_deeply(\%got, { %want, workspace_id => $ws, configured => JSON::PP::true,
    sandbox_configured => JSON::PP::true }, '... is what it was told');
is_deeply(manage('GET', $path)->{json}, $r->{json}, '... and stays so');
for my $bad ({}, { enabled => 1 }, { enabled => undef },
    { %want, executor => 'me' }, { %want, executor => 1 },
    { %want, max_iterations => 0 }, { %want, max_iterations => 26 },
    { %want, exec_timeout_s => 61 }, { %want, exec_timeout_s => '5' },
    { %want, default_purpose_hint => 'x' x 2049 },
    { %want, default_purpose_hint => 7 }, { %want, iterations => 3 }) {
	$r = manage('PUT', $path, json => $bad);
	is($r->{status}, 400, 'refused: '
	    . substr(JSON::PP->new->canonical->encode($bad), 0, 60));
}
is(manage('GET', $path)->{json}{max_iterations}, 6, 'nothing was stored');

is(who(ask('ant:plain', headers => ['X-Code-Execution' => 'auto'])),
    '403 permission_error', 'a header against the pin');
is(header($s->post('/v1/messages', ant => 1, headers => ['X-Code-Execution' =>
    'provider'], json => { model => 'ant:plain', max_tokens => 5, tools =>
    \@dated, messages => [{ role => 'user', content => 'x' }] }),
    'x-should-retry'), 'false', '... is not to be tried again');
$r = $s->post('/v1/chat/completions', headers => ['X-Code-Execution' =>
    'provider'], json => { model => 'chat:plain', tools => [{ type =>
    'code_interpreter' }], messages => [{ role => 'user', content => 'x' }] });
is_deeply([$r->{status}, @{$r->{json}{error}}{qw(type param code)}],
    [403, 'permission_error', 'tools', 'executor_pinned'],
    '... in OpenAI\'s words');
is(who(ask('chat:run', headers => ['X-Otari-Code-Execution' => 'otari'])),
    '200 local', 'a header that agrees, by its alias');
is(who(ask('chat:plain', tools => [], headers => ['X-Code-Execution' =>
    'provider'])), '200 -', 'nothing declared: nothing to refuse');
is(who(ask('chat:run', as => 'bob', headers => ['X-Code-Execution' =>
    'auto'])), '200 local', 'another workspace is not pinned');
is(who(ask('chat:run', headers => ['X-Code-Execution' => 'yes'])),
    '400 invalid_request_error', 'no such word, whatever the pin');

is(manage('PUT', $path, json => { enabled => JSON::PP::true, exec_timeout_s =>
    1, max_iterations => 2, default_purpose_hint => 'Workspace hint.' })->{status},
    200, 'narrower');
$r = ask('chat:slow');
is($r->{json}{content}[1]{content}{error_code}, 'execution_time_exceeded',
    'a run ends by the policy\'s limit');
$r = ask('chat:again');
@q = map { $_->{json} } $p->requests;
is(scalar(@q), 3, 'two rounds and the last');
is($q[0]{messages}[0]{content}, 'Workspace hint.', 'the model is told its hint');
ask('chat:again', tools => [{ type => 'satchel_code_execution',
    purpose_hint => 'Entry hint.' }], with => { system => 'Be kind.' });
is(($p->requests)[0]{json}{messages}[0]{content},
    "Be kind.\n\nEntry hint.", 'the entry\'s own goes before it');
ask('chat:plain', as => 'bob');
is(($p->requests)[0]{json}{messages}[0]{content}, 'Deployment hint.',
    'and the deployment\'s is for the others');
ask('chat:plain', as => 'bob', tools => []);
is(($p->requests)[0]{json}{messages}[0]{role}, 'user', 'where code is offered');

is($s->admin('policy', 'set', $ws, '--enabled', 'no')->{exit}, 0,
    'switched off by command');
is(who(ask('chat:run')), '403 permission_error', 'an open model');
is(who(ask('chat:run', tools => \@explicit)), '403 permission_error',
    'the explicit declaration too');
is(who(ask('ant:plain')), '200 provider', 'a native one is not the sandbox\'s');
is(who(ask('ant:plain', headers => ['X-Code-Execution' => 'local'])),
    '403 permission_error', '... unless the header asks for it');
is(who(ask('chat:plain', tools => [])), '200 -', 'a plain request is served');
is_deeply([map { JSON::PP::decode_json($_)->{workspace} } split /\n/,
    $s->admin('--json', 'policy', 'list')->{out}], [$ws], 'listed');
is($s->admin('policy', 'set', $ws, '--executor', 'provider')->{exit}, 0, 'pinned');
is(who(ask('chat:run', tools => \@explicit)), '200 local',
    'the pin is not for those who name this gateway');
is($s->admin('policy', 'set', $ws, '--exec-timeout', 61)->{exit}, 2, 'too long');
is($s->admin('policy', 'set', 'nope', '--enabled', 'no')->{exit}, 1, 'no such workspace');
$r = $s->admin('policy', 'set', $ws);
is("$r->{exit} $r->{err}", "2 satchel-admin: nothing to set: give at least one "
    . "option, or see policy clear\nTry: satchel-admin --help\n", 'nothing to set');
$r = $s->request('DELETE', $path, as => 'boss');
is_deeply($r->{json}, \%none, 'DELETE: the deployment\'s again');
is_deeply($s->request('DELETE', $path, as => 'boss')->{json}, \%none, 'twice');
is($s->admin('policy', 'clear', $ws)->{exit}, 0, 'or by command');
is(who(ask('chat:run')), '200 local', 'code runs again');

# --- without a sandbox ---

$s->restart(providers => $p->yaml('chat', 'openai-chat', models => '["*"]')
    . $p->yaml('ant', 'anthropic-messages'), set => { 'sandbox.url' => '' });
is($s->admin('policy', 'set', $ws, '--enabled', 'no')->{exit}, 0, 'a policy');
is(who(ask('ant:plain')), '200 provider', 'without a sandbox it is not read');
is(who(ask('ant:plain', headers => ['X-Code-Execution' => 'local'])),
    '400 invalid_request_error', 'local is not to be had');
is(who(ask('chat:plain')), '400 invalid_request_error',
    'nor code by an open model');
is($s->get('/v1/tools')->{json}{data}[0]{available}, JSON::PP::false,
    'it is listed as not available');
$s->done;
done_testing();
