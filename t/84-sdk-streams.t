#!/usr/bin/perl

# The stream helpers of the vendor's unmodified packages, old and new, against
# the whole stack.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Provider;
use Satchel;
use Sdk;
use Turns;

my $p = Provider->new(script => { models => { Turns::models() } });
my $s = Satchel->new(providers => $p->port);
my @clients = ((map { ["\@anthropic-ai/sdk $_->[0]",
    Sdk::node('anthropic_stream.mjs', $_->[1])] }
    ['0.92.0', 'anthropic-0-92'], ['0.122.0', 'anthropic-0-122'],
    ['1.14.0', 'anthropic-1-14']),
    (map { ["anthropic, $_", Sdk::python($_, 'anthropic_stream.py')] }
    'old', 'new'));
for (@clients) {
	my ($name, @command) = @$_;
	$p->forget;
	Sdk::check($s, $name, @command);
	is(scalar(grep { ($_->{json}{model} // '') eq 'later' } $p->requests),
	    2, "$name: what has run is not run again");
}
$s->done;
done_testing();
