#!/usr/bin/perl

# LangChain's chat models, unmodified, in JavaScript and in Python, and those
# that LibreChat's package has of its own, over the three model routes.

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
my %models = (
	Turns::models(),
	python => [{ calls => [$run] }, { text => 'It is 42; see t.csv.' }],
	both => [{ text => 'Both.', calls => [$run, $save] }],
	map { ("again-$_" => [({ text => 'I see.' }) x 3]) }
	    qw(job mixed python both),
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->port);

# What the model is told, of an answer given back: what was called, and what
# came of it in its order.
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
	return [sort(@calls), @came];
}
my $command = 'echo a; echo b >&2; echo c >c.txt; exit 3';
my %told = (
	'again-job' => ["bash_code_execution command $command", 'exit code: 3'],
	'again-python' => ["code_execution code $code", 42],
	'again-mixed' => ['bash_code_execution command echo mine',
	    'save title T', 'mine', 'stored'],
	'again-both' => ["code_execution code $code", 'save title T', 42,
	    'stored'],
);

for (['langchain', Sdk::beside('langchain', 'langchain.mjs')],
    (map { ["\@librechat/$_", Sdk::beside('agents', 'langchain.mjs', $_)] }
    'agents-3-2-57', 'agents-3-9-2'),
    ['langchain, Python', Sdk::python('langchain', 'langchain.py')]) {
	my ($name, @command) = @$_;
	$p->forget;
	Sdk::check($s, $name, @command);
	my %seen;
	for ($p->requests) {
		my $model = $_->{json}{model} // '';
		next unless exists($told{$model});
		is_deeply(told($_), $told{$model}, "$name: $model is told");
		$seen{$model}++;
	}
	is_deeply([sort keys %seen], [sort keys %told], "$name: all are asked");
}
$s->done;
done_testing();
