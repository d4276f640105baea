#!/usr/bin/perl

# Code execution through OpenAI's unmodified packages, old and new: the Responses
# and Chat routes over a chat server, and the packages' own stream helpers.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Provider;
use Satchel;
use Sdk;

my $code = "open('t.csv','w').write('total,42\\n'); print(42)";
my %models = (
	job => [[{ expect => ['Which'], text => 'The first.' },
	    { calls => [{ name => 'code_execution', arguments =>
	    { code => $code } }] }], { text => 'It is 42; see t.csv.' }],
	caller => [{ calls => [{ name => 'save', id => 'call_b7f3',
	    arguments => { title => 'T' } }] },
	    { expect => ['R-9'], text => 'Saved.' }],
	both => [{ calls => [{ name => 'code_execution', arguments =>
	    { code => $code } }, { name => 'save', id => 'call_b7f3',
	    arguments => { title => 'T' } }] },
	    { expect => ['R-9'], text => 'Saved.' }],
	json => [{ text => '{"a":1}' }],
	later => [{ text => 'So far.', calls => [{ name => 'code_execution',
	    arguments => { code => 'print(1)' } }] },
	    { status => 500, body => '{}' }],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->port);
$s->expect_log(qr/500/);
for (['openai 6.49.0', 'openai-6'], ['openai 7.59.0', 'openai-7']) {
	Sdk::check($s, $_->[0], Sdk::node('openai_run.mjs', $_->[1]));
}
for my $age ('old', 'new') {
	Sdk::check($s, "openai, Python, $age", Sdk::python($age,
	    'openai_run.py'));
}
$s->done;
done_testing();
