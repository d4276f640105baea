#!/usr/bin/perl

# The vendors' unmodified Python packages, a year old and new, against the whole
# stack.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Satchel;
use Sdk;

my $s = Satchel->new;
for my $age ('old', 'new') {
	Sdk::check($s, "openai, $age", Sdk::python($age, 'openai_files.py'));
	Sdk::check($s, "anthropic, $age", Sdk::python($age, 'anthropic_files.py'));
	Sdk::check($s, "openai, $age", Sdk::python($age, 'openai_many.py'));
}
is(scalar(@{$s->get('/v1/files')->{json}{data}}), 0,
    'each left nothing behind');
$s->done;
done_testing();
