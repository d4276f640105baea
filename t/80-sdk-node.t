#!/usr/bin/perl

# The vendors' unmodified JavaScript packages, oldest and newest that we serve,
# against the whole stack.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Satchel;
use Sdk;

my $s = Satchel->new;
for (['openai 6.49.0', 'openai-6'], ['openai 7.59.0', 'openai-7']) {
	Sdk::check($s, $_->[0], Sdk::node('openai.mjs', $_->[1]));
}
for (['@anthropic-ai/sdk 0.92.0', 'anthropic-0-92'],
    ['@anthropic-ai/sdk 0.122.0', 'anthropic-0-122'],
    ['@anthropic-ai/sdk 1.14.0', 'anthropic-1-14']) {
	Sdk::check($s, $_->[0], Sdk::node('anthropic.mjs', $_->[1]));
}
is(scalar(@{$s->get('/v1/files')->{json}{data}}), 0,
    'each left nothing behind');
$s->done;
done_testing();
