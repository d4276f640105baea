#!/usr/bin/perl

# The clients of t/sdk/clients.tsv that "check" names and that no other test runs:
# unmodified, with their defaults, two turns each over every route that they speak.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
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

$s->done;
done_testing();
