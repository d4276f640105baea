#!/usr/bin/perl

# Containers and kept responses through OpenAI's unmodified packages, in
# JavaScript and Python, old and new.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Provider;
use Satchel;
use Sdk;

my $p = Provider->new(script => { models => { look => [
	[{ expect => ['And\?'], text => 'As before.' }, { calls => [{ name =>
	    'code_execution', arguments => { code => "import os\n"
	    . "names = ' '.join(sorted(os.listdir('.')))\n"
	    . "open('sum.txt', 'w').write(names + '\\n')" } }] }],
	{ text => 'It is in sum.txt.' },
] } });
my $s = Satchel->new(providers => $p->port);
for my $age ('old', 'new') {
	Sdk::check($s, "openai, Python, $age", Sdk::python($age,
	    'openai_kept.py'));
}
for my $package ('openai-6', 'openai-7') {
	Sdk::check($s, $package, Sdk::node('openai_kept.mjs', $package));
}
$s->done;
done_testing();
