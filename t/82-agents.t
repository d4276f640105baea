#!/usr/bin/perl

# LibreChat's own package, unmodified, in both generations that we serve, drives
# code, bash and programmatic tools against the whole stack.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Satchel;
use Sdk;

my $s = Satchel->new(set => {'librechat.execs_per_30s' => 0});
for (['agents 3.2.57', 'agents-3-2-57'], ['agents 3.9.2', 'agents-3-9-2']) {
	Sdk::check($s, $_->[0], Sdk::agents($_->[1]));
}
$s->done;
done_testing();
