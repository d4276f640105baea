#!/usr/bin/perl

# A gateway whose sandbox has the isolation level landlock, where programs find
# no /mnt/data: what models and callers are told is true, and what they do by
# relative paths works, on every route.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use Test::More;
use Code;
use Kernel;
use Provider;
use Satchel;

Kernel::need('landlock');
my $code = Code->new;
my $p = Provider->new(script => { models => {
	bash => [{ calls => [{ name => 'bash_code_execution', arguments =>
	    { command => 'mkdir out; tr a-z A-Z <d.txt >out/up.txt; cat out/*' } }] },
	    { expect => ["ABC"], text => 'Done.' }],
	calls => [{ calls => [{ name => 'code_execution', arguments =>
	    { code => "print('it is', await get_temp(city='Oslo'))" } }] },
	    { expect => ['it is 21'], text => 'So it is.' }],
} });
my $s = Satchel->new(set => { 'librechat.jwt.pem_dir' => $code->{pem_dir},
    'librechat.execs_per_30s' => 0, 'sandbox.isolation' => 'landlock' },
    providers => $p->yaml('open', 'openai-chat'));
my @lc = $code->bearer(sub => 'u1');

# --- what is told ---

my %told = map { $_->{name} => $_->{description} }
    @{$s->get('/v1/tools')->{json}{data}[0]{functions}};
like($told{$_}, qr/relative to the working directory.*Files written in the working /, "$_: relative paths are told of")
    for qw(code_execution bash_code_execution);
unlike($told{$_}, qr/directory \/mnt\/data|under \/mnt\/data/,
    '... and none that programs do not find')
    for qw(code_execution bash_code_execution);

# --- a model's call ---

sub ask {
	my ($model, %o) = @_;
	$p->forget;
	return $s->post('/v1/messages', ant => 1, timeout => 60, json => {
	    model => $model, max_tokens => 4096, %o });
}
my $file = $s->post('/v1/files', ant => 1, form => [['file', "abc\n", 'd.txt']])
    ->{json}{id};
my $r = ask('bash', tools => [{ type => 'code_execution_20250825',
    name => 'code_execution' }], messages => [{ role => 'user', content => [
    { type => 'container_upload', file_id => $file } ] }]);
is($r->{status}, 200, 'a model runs a command') or diag $r->{body};
my ($run) = grep { $_->{type} eq 'bash_code_execution_tool_result' }
    @{$r->{json}{content}};
is($run->{content}{stdout}, "ABC\n", '... which finds the file it was given');
is(scalar @{$run->{content}{content}}, 1, '... and whose own is given back');
my %given = map { $_->{function}{name} => $_->{function}{description} }
    @{($p->requests)[0]{json}{tools}};
is($given{bash_code_execution}, $told{bash_code_execution},
    '... told what a caller is');

# --- code that calls its caller's functions ---

my @tools = ({ type => 'code_execution_20260120', name => 'code_execution' },
    { name => 'get_temp', input_schema => { type => 'object', properties =>
    { city => { type => 'string' } } }, allowed_callers =>
    ['code_execution_20260120'] });
my @go = ({ role => 'user', content => 'Go.' });
$r = ask('calls', tools => \@tools, messages => \@go);
my ($use) = grep { $_->{type} eq 'tool_use' } @{$r->{json}{content}};
is($use->{name}, 'get_temp', 'code calls a function') or diag $r->{body};
like(($p->requests)[0]{body}, qr/relative to the working directory/,
    '... told alike');
$r = ask('calls', tools => \@tools, container => $r->{json}{container}{id},
    messages => [@go, { role => 'assistant', content => $r->{json}{content} },
    { role => 'user', content => [{ type => 'tool_result', content => '21',
    tool_use_id => $use->{id} }] }]);
is($r->{json}{content}[-1]{text}, 'So it is.', '... and has its result')
    or diag $r->{body};

# --- LibreChat ---

my $up = $s->post('/v1/upload', @lc, form => [[kind => 'user'],
    ['file', "a\n1\n", 'sales.csv']])->{json};
my %ref = (id => $up->{files}[0]{fileId}, kind => 'user', resource_id => 'u1',
    storage_session_id => $up->{storage_session_id}, name => 'dir/sales.csv');
$r = $s->post('/v1/exec', @lc, timeout => 60, json => { lang => 'py',
    files => [\%ref], code => "print(open('dir/sales.csv').read())\n"
    . "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()" });
is($r->{status}, 200, 'a program with a file in a directory') or diag $r->{body};
is($r->{json}{stdout}, "a\n1\n\n", '... which it reads');
is_deeply([sort map { $_->{name} } @{$r->{json}{files}}],
    ['dir/sales.csv', 'plot_1.png'], '... and its plot is given back');

{
	local @ENV{qw(SATCHEL_KEY SATCHEL_URL)} = ($s->{key}{alice}, $s->{url});
	$r = $s->admin('check', 'librechat');
	is(join(' ', $r->{exit}, $r->{out} =~ /^(\w+) /mg), '0 ok ok ok ok',
	    'the check of it finds nothing wrong') or diag $r->{out}, $r->{err};
}

# --- a sandbox of another machine ---

# What a gateway says of the shell whose settings are ours but for the level and
# the port of the sandbox.
sub says {
	my ($level, $port) = @_;
	my ($bare) = $s->{env}{SATCHEL_ADMIN} =~ /^(.*)-admin/;
	my $conf = join '', map { Satchel::_slurp("$s->{dir}/conf/$_.yml") }
	    'satchel', 'set';
	$conf =~ s/landlock/$level/;
	$conf =~ s/(\burl: .*:)\d+/$1$port/;
	Satchel::_spew("$s->{dir}/conf/away.yml", $conf);
	local $ENV{SATCHEL_CONF} = "$s->{dir}/conf/away.yml";
	local @ENV{qw(GATEWAY_INTERFACE REQUEST_METHOD PATH_INFO REQUEST_URI
	    SCRIPT_NAME SERVER_PROTOCOL HTTP_AUTHORIZATION)} = ('CGI/1.1', 'GET',
	    '/v1/tools', '/v1/tools', '', 'HTTP/1.1', "Bearer $s->{key}{alice}");
	my $r = Satchel::run(split ' ', $bare);
	return $r->{out} =~ /"(Run a shell [^"]*)"/ ? $1 : "$r->{out}$r->{err}";
}
is(says('remote', $s->{sandbox_port}), $told{bash_code_execution},
    'a sandbox elsewhere is asked');
like(says('remote', Provider::dead_port()),
    qr/ Working directory \/mnt\/data\. /, '... which has the usual path unless it'
    . ' says more');
$s->done;
done_testing();
