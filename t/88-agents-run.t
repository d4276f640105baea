#!/usr/bin/perl

# LibreChat's own agent loop, unmodified, in both generations, over a model whose
# code runs here, beside a tool of its host's.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Provider;
use Satchel;
use Sdk;
use Turns;

my $p = Provider->new(script => { models => { Turns::models(),
    python => [{ calls => [{ name => 'code_execution', arguments => { code =>
    "open('t.csv','w'); print(42)" } }] }, { expect => ['42'],
    text => 'It is 42; see t.csv.' }] } });
my $s = Satchel->new(providers => $p->port);
for my $package ('agents-3-2-57', 'agents-3-9-2') {
	$p->forget;
	Sdk::check($s, $package, Sdk::beside('agents', 'agents_run.mjs',
	    $package));
	for my $model (qw(mixed ours)) {
		my @asked = grep { $_->{json}{model} eq $model } $p->requests;
		is(scalar(@asked), 2, "$package: $model is asked twice");
		my @told = map { $_->{content} } grep { $_->{role} eq 'tool' }
		    @{$asked[-1]{json}{messages}};
		like($told[0], qr/^stdout:\nmine$/m,
		    '... then it knows what its code printed');
		is($told[1], 'stored', '... and what the tool said');
	}
}
$s->done;
done_testing();
