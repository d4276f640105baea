#!/usr/bin/perl

# The clients of t/sdk/clients.tsv that "check" names and that no other test runs:
# unmodified, with their defaults, two turns each over every route that they speak.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;
use Provider;
use Satchel;
use Sdk;
use Turns;

my $code = "open('t.csv','w').write('total,42\\n'); print(42)";
my $save = { name => 'save', id => 'call_b7f3', arguments => { title => 'T' } };
my $run = { name => 'code_execution', arguments => { code => $code } };
my %turns = Turns::models();
my %models = (
	%turns,
	# A run and a call of the caller's may come back as one turn or as two.
	mixed => [$turns{mixed}[0], ({ text => 'Stored.' }) x 2],
	own => [{ text => 'Let me store it.', calls => [$save] }, { text => 'Stored.' }],
	python => [{ calls => [$run] }, { text => 'It is 42; see t.csv.' }],
	both => [{ text => 'Both.', calls => [$run, $save] },
	    ({ text => 'Both stored.' }) x 2],
	codex => [{ calls => [{ name => 'exec_command', id => 'call_c1',
	    arguments => { cmd => 'echo it-$((40+2))' } }] },
	    { expect => ['it-42'], text => 'Done.' }],
	map { ("again-$_" => [({ text => 'I see.' }) x 3]) }
	    qw(plain own job mixed python both),
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->port);

# The calls and the results that a request tells the model of, in order.
sub told {
	my ($r) = @_;
	my (@calls, @came);
	for my $m (@{$r->{json}{messages}}) {
		for (map { $_->{function} } @{$m->{tool_calls} // []}) {
			my ($x) = %{JSON::PP->new->decode($_->{arguments})};
			push @calls, "$_->{name} $x "
			    . JSON::PP->new->decode($_->{arguments})->{$x};
		}
		push @came, $m->{content} =~ /^(\d+|mine|stored|exit code: 3)$/m
		    if $m->{role} eq 'tool';
	}
	return join ' | ', sort(@calls), @came;
}
my $command = 'echo a; echo b >&2; echo c >c.txt; exit 3';
my %told = (
	'again-plain' => '',
	'again-own' => 'save title T | stored',
	'again-job' => "bash_code_execution command $command | exit code: 3",
	'again-python' => "code_execution code $code | 42",
	'again-mixed' => 'bash_code_execution command echo mine | save title T | mine | stored',
	'again-both' => "code_execution code $code | save title T | 42 | stored",
);
# Pydantic AI leaves runs of code out of a Responses history, unless the model is
# one of OpenAI's own.
my %leaves_out = ('again-python' => '', 'again-both' => 'save title T | stored');

for ((map { ["ai $_", Sdk::beside('ai', 'ai.mjs', $_)] } 5 .. 7),
    ['openai-agents, JavaScript', Sdk::beside('openai-agents', 'openai_agents.mjs')],
    ['openai-agents, Python', Sdk::python('frameworks', 'openai_agents.py')],
    ['pydantic-ai 2', Sdk::python('frameworks', 'pydantic_ai_turns.py')],
    ['pydantic-ai 1', Sdk::python('pydantic-ai-1', 'pydantic_ai_turns.py')]) {
	my ($name, @command) = @$_;
	$p->forget;
	Sdk::check($s, $name, @command);
	my @again = grep { $_->{json}{model} =~ /^again-/ } $p->requests;
	cmp_ok(scalar @again, '>', 5, "$name: second turns");
	for (@again) {
		my $model = $_->{json}{model};
		is(told($_), ($name =~ /^pydantic-ai/ ? $leaves_out{$model} : undef)
		    // $told{$model},
		    "$name: $model is told what was called and what came of it");
	}
}

# --- Codex, a program ---

# Two turns: it is told to run a command, then goes on.  What it declares beside its
# own tools is switched off, as its users do it.
my $home = tempdir('satchel-codex.XXXXXX', DIR => '/var/tmp', CLEANUP => 1);
mkdir "$home/work" or die $!;
open my $f, '>', "$home/config.toml" or die $!;
print $f <<EOT;
model = "codex"
model_provider = "satchel"
web_search = "disabled"

[model_providers.satchel]
name = "Satchel"
base_url = "$s->{url}/v1"
env_key = "SATCHEL_KEY"
wire_api = "responses"
EOT
close $f or die $!;

sub codex {
	my (@words) = @_;
	local @ENV{qw(CODEX_HOME SATCHEL_KEY)} = ($home, $s->{key}{alice});
	return Satchel::run('timeout', 120, Sdk::codex(), 'exec', '-C', "$home/work",
	    '--skip-git-repo-check', '--disable', 'multi_agent',
	    '--dangerously-bypass-approvals-and-sandbox', @words);
}

$p->forget;
for (['a turn', 'Go.'], ['a second turn', 'resume', '--last', 'Go on.']) {
	my ($name, @words) = @$_;
	my $r = codex(@words);
	is("$r->{exit} $r->{out}", "0 Done.\n", "codex: $name") or diag($r->{err});
}
my @asked = map { [map { $_->{tool_calls} ? 'call' : $_->{role} }
    @{$_->{json}{messages}}] } $p->requests;
is_deeply([map { "@$_" } @asked], ['system user', 'system user call tool',
    'system user call tool assistant user',
    'system user call tool assistant user call tool'],
    '... each with all that was said before');

# --- the list ---

# Every client of the list has its versions in the files that install them, and a
# test that runs it.
open my $list, '<', "$FindBin::Bin/sdk/clients.tsv" or die $!;
my $pinned = join '', map { local (@ARGV, $/) = $_; <> }
    glob("$FindBin::Bin/sdk/package.json $FindBin::Bin/sdk/*/package.json "
    . "$FindBin::Bin/sdk/python-*.txt");
my $rows = 0;
while (<$list>) {
	next if /^#/;
	chomp;
	my ($client, $package, $newest, $previous, $where, $test) = split /\t/;
	$rows++;
	for my $version (grep { $_ ne '-' } $newest, $previous) {
		like($pinned, qr/\Q$package\E(?:\[[\w,]+\])?(?:@|==|": ")\Q$version\E\b/,
		    "$client $version is pinned");
	}
	ok(-e "$FindBin::Bin/$test", "$client: $where runs t/$test");
}
cmp_ok($rows, '>', 8, 'the list has rows');

$s->done;
done_testing();
