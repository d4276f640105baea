#!/usr/bin/perl

# The clients of t/sdk/clients.tsv that "soak" names: unmodified, two turns each,
# with a tool of theirs, streamed where they can, and a refusal that they show.
#
#	make soak, or prove -It/lib t/soak/clients.t after tools/sdk soak
#	SATCHEL_CLIENTS=pattern runs those whose names match

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;
use Provider;
use Satchel;
use Sdk;

my $only = $ENV{SATCHEL_CLIENTS} // '';
my $command = 'echo it-$((40+2))';
my $save = { name => 'save', id => 'call_b7f3', arguments => { title => 'T' } };

# What a program's model calls to have a command run, and then says, in each turn.
sub runs {
	my ($tool, %more) = @_;
	my ($second, $first) = map { { text => 'I look.', calls => [{ name => $tool,
	    id => "call_$_", arguments => { command => $command, %more } }] } } 2, 1;
	return [[{ expect => ['Go on'], %$second }, $first],
	    { expect => ['it-42'], text => 'Done.' }];
}
my @refusal = ({ status => 400, type => 'application/json',
    body => '{"error":{"message":"too long"}}' }) x 3;
my $p = Provider->new(script => { rounds => [{ text => 'A title' }], models => {
	own => [{ text => 'Let me store it.', calls => [$save] }, { text => 'Stored.' }],
	again => [({ text => 'I see.' }) x 3],
	refuses => \@refusal,
	opencode => runs('bash', description => 'It prints.'),
	qwen => runs('run_shell_command', is_background => JSON::PP::false,
	    description => 'It prints.'),
	continue => runs('Bash'),
	claude => runs('Bash', description => 'It prints.'),
	aider => [{ text => "Here it is.\n\nhello.txt\n```\nit-42\n```\n\nDone." }],
	interpreter => [{ calls => [{ name => 'execute', id => 'call_c1',
	    arguments => { language => 'shell', code => $command } }] },
	    { expect => ['it-42'], text => 'Done.' }],
} });
my $s = Satchel->new(providers => $p->port);
my ($node) = Sdk::node('x');
my ($url, $key) = ($s->{url}, $s->{key}{alice});
(my $bin = $node) =~ s{/node$}{};

# --- programs ---

# What a program in ${home} sees: Satchel, and no other server.
sub environment {
	my ($home) = @_;
	return (HOME => $home, PATH => "$bin:/usr/bin:/bin", TERM => 'dumb',
	    LANG => 'C.UTF-8', CI => 1, DO_NOT_TRACK => 1,
	    (map { $_ => 'http://127.0.0.1:9' } qw(HTTPS_PROXY https_proxy
	    HTTP_PROXY http_proxy)), NO_PROXY => '127.0.0.1', no_proxy => '127.0.0.1',
	    OPENAI_API_KEY => $key, OPENAI_BASE_URL => "$url/v1",
	    OPENAI_API_BASE => "$url/v1", ANTHROPIC_BASE_URL => $url,
	    ANTHROPIC_AUTH_TOKEN => $key, ANTHROPIC_SMALL_FAST_MODEL => 'small',
	    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC => 1, CONTINUE_TELEMETRY_ENABLED => 0,
	    OPENCODE_DISABLE_MODELS_FETCH => 1, OPENCODE_DISABLE_AUTOUPDATE => 1);
}

sub put {
	my ($file, $text) = @_;
	open my $f, '>', $file or die "$file: $!";
	print $f $text;
	close $f or die $!;
	return $file;
}

sub npm { return "$Sdk::dir/$_[0]/node_modules/$_[1]" }
sub program { return "$Sdk::dir/python-$_[0]/bin/$_[1]" }

sub opencode_files {
	my ($home) = @_;
	put("$home/work/opencode.json", JSON::PP->new->encode({ share => 'disabled',
	    small_model => 'satchel/small', provider => { satchel => {
	    npm => '@ai-sdk/openai-compatible', options => { baseURL => "$url/v1",
	    apiKey => $key }, models => { map { $_ => {} }
	    qw(opencode refuses small) } } } }));
}

sub continue_files {
	my ($home) = @_;
	for (qw(continue refuses)) {
		put("$home/$_.yaml", <<EOT);
name: Satchel
version: 0.0.1
schema: v1
models:
  - name: $_
    provider: openai
    model: $_
    apiBase: $url/v1
    apiKey: $key
    roles: [chat]
EOT
	}
}

sub claude {
	my ($set) = @_;
	return sub {
		my ($home, $model, $turn) = @_;
		return (npm($set, '.bin/claude'), '--model', $model, '--allowedTools',
		    'Bash', '-p', $turn ? ('--continue', 'Go on.') : 'Go.');
	};
}

# [name, model, its files, its command for turn 0 or 1]
my @programs = (
	['opencode', 'opencode', \&opencode_files, sub {
		my ($home, $model, $turn) = @_;
		return (npm('soak', '.bin/opencode'), 'run', '-m', "satchel/$model",
		    $turn ? ('-c', 'Go on.') : 'Go.');
	}],
	['Claude Code', 'claude', undef, claude('soak')],
	['Claude Code, the one before', 'claude', undef, claude('soak-previous')],
	['Qwen Code', 'qwen', undef, sub {
		my ($home, $model, $turn) = @_;
		return (npm('soak', '.bin/qwen'), '--auth-type', 'openai', '--yolo',
		    '-m', $model, $turn ? ('--continue', '-p', 'Go on.') : ('-p', 'Go.'));
	}],
	['Continue', 'continue', \&continue_files, sub {
		my ($home, $model, $turn) = @_;
		return (npm('soak', '.bin/cn'), '--config', "$home/$model.yaml",
		    '--auto', $turn ? '--resume' : (), '-p', $turn ? 'Go on.' : 'Go.');
	}],
	['aider', 'aider', undef, sub {
		my ($home, $model, $turn) = @_;
		return (program('aider', 'aider'), '--model', "openai/$model",
		    '--no-git', '--yes-always', '--no-check-update',
		    '--no-show-model-warnings', '--no-show-release-notes',
		    '--analytics-disable', '--no-pretty', '--edit-format', 'whole',
		    '--restore-chat-history', '--message', $turn ? 'Go on.' : 'Go.',
		    'hello.txt');
	}],
);

sub ask {
	my ($home, @words) = @_;
	local %ENV = environment($home);
	return Satchel::run('env', '-C', "$home/work", 'timeout', 180, @words);
}

# What the model was asked in a round: the roles of the conversation.
sub told {
	my ($model) = @_;
	return map { $_->{json} } grep { ($_->{json}{model} // '') eq $model } $p->requests;
}

for (@programs) {
	my ($name, $model, $files, $words) = @$_;
	next if $name !~ /$only/;
	my $home = tempdir('satchel-client.XXXXXX', DIR => '/var/tmp', CLEANUP => 1);
	mkdir "$home/work" or die $!;
	$files->($home) if $files;
	$p->forget;
	for my $turn (0, 1) {
		my $r = ask($home, $words->($home, $model, $turn));
		my $what = "$name: " . ('a turn', 'a second turn')[$turn];
		is($r->{exit}, 0, $what);
		like("$r->{out}$r->{err}", qr/Done\./, '... shows what the model says')
		    or diag($r->{out}, $r->{err});
	}
	my @asked = told($model);
	is(scalar(grep { !$_->{stream} } @asked), 0, "$name: all of it is streamed");
	my $last = @asked ? JSON::PP->new->canonical->encode($asked[-1]{messages}) : "";
	ok($last =~ /Go\..*Done\..*Go on\./s,
	    "$name: the second turn has all that was said before");
	if ($name eq 'aider') {
		my $text = do { local (@ARGV, $/) = "$home/work/hello.txt"; <> };
		is($text, "it-42\n", "$name: its file is written");
	} else {
		my @ran = map { @{$_->{messages}} } @asked;
		ok(scalar(grep { $_->{role} eq 'tool' && JSON::PP->new->allow_nonref
		    ->encode($_->{content}) =~ /it-42/ } @ran),
		    "$name: its tool runs and the model is told")
		    or diag(map { JSON::PP->new->pretty->encode($_) }
		    grep { $_->{role} eq 'tool' } @ran);
	}
	my $r = ask($home, $words->($home, 'refuses', 0));
	like("$r->{out}$r->{err}", qr/too long/, "$name: a refusal has its words")
	    or diag("$r->{exit} $r->{out} $r->{err}");
}

# --- llm, a program with models of its own ---

if ('llm' =~ /$only/) {
	my $home = tempdir('satchel-client.XXXXXX', DIR => '/var/tmp', CLEANUP => 1);
	mkdir "$home/$_" or die $! for qw(work llm);
	put("$home/llm/extra-openai-models.yaml", join '', map { <<EOT } qw(own again refuses));
- model_id: satchel-$_
  model_name: $_
  api_base: $url/v1
  api_key_name: satchel
  supports_tools: true
EOT
	put("$home/save.py", <<'EOT');
def save(title: str) -> str:
    """Store a report."""
    print(title, file=open("saved", "a"))
    return "stored"
EOT
	my @llm = ('env', "LLM_USER_PATH=$home/llm", program('soak', 'llm'));
	$p->forget;
	my $r = ask($home, @llm, '-m', 'satchel-own', '--key', $key, '--functions',
	    "$home/save.py", 'Go.');
	like($r->{out}, qr/Stored\.\n\z/, 'llm: a turn') or diag($r->{err});
	my $saved = -e "$home/work/saved" && do { local (@ARGV, $/) = "$home/work/saved"; <> };
	is($saved, "T\n", 'llm: its tool runs once');
	$r = ask($home, @llm, '-c', '-m', 'satchel-again', '--key', $key, 'Go on.');
	is($r->{out}, "I see.\n", 'llm: a second turn') or diag($r->{err});
	is(scalar(grep { !$_->{json}{stream} } $p->requests), 0, 'llm: all of it is streamed');
	my $last = join '', map { JSON::PP->new->canonical->encode($_->{messages}) }
	    told('again');
	like($last, qr/Go\..*stored.*Stored\..*Go on\./s,
	    'llm: the second turn has all that was said before');
	$r = ask($home, @llm, '-m', 'satchel-refuses', '--key', $key, 'Go.');
	like($r->{err}, qr/too long/, 'llm: a refusal has its words');
}

# --- packages ---

for (['LangGraph', 'soak', 'langgraph_turns.py'],
    ['LangGraph, the one before', 'soak-previous', 'langgraph_turns.py'],
    ['Haystack', 'soak', 'haystack_turns.py'],
    ['Haystack, the one before', 'soak-previous', 'haystack_turns.py'],
    ['LlamaIndex', 'llama-index', 'llamaindex_turns.py'],
    ['Open Interpreter', 'open-interpreter', 'interpreter_turns.py']) {
	my ($name, $set, $file) = @$_;
	next if $name !~ /$only/;
	my $home = tempdir('satchel-client.XXXXXX', DIR => '/var/tmp', CLEANUP => 1);
	local %ENV = (environment($home), PATH => $ENV{PATH});
	Sdk::check($s, $name, Sdk::python($set, $file));
}

$s->done;
done_testing();
