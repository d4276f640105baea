#!/usr/bin/perl

# t/README lists the attacks: all of them, each with a test that exists.

use strict;
use warnings;
use FindBin;
use Test::More;
use lib "$FindBin::Bin/lib";
use Satchel;

my $attacks = Satchel::_slurp("$FindBin::Bin/lib/Attacks.pm");
my %accepted = map { $_ => 1 } 71, 72;	# Nothing to be seen: the manual says so.
my $manual = Satchel::_slurp("$FindBin::Bin/../man/satchel-sandbox.8");
my $n = 0;
for (split /\n/, Satchel::_slurp("$FindBin::Bin/README")) {
	my ($number, $lone, $rest) = /^ ?(\d+)  (.{5})  (.*)/ or next;
	is($number, ++$n, "number $n: $rest");
	like($lone, qr/^[=VRSW](?: [=VRSnu])* *$/,
	    '... and what becomes of it without namespaces');
	my ($file, $name) = $rest =~ /(\S+) "(.*)"$/;
	my $found = 0;
	if (defined $file) {
		ok(index(Satchel::_slurp("$FindBin::Bin/$file"), $name) >= 0,
		    "... $file: $name");
		$found = 1;
	}
	$found = 1 if $attacks =~ /["' ]$number(?:, \d+)*:/;
	ok($found || $accepted{$number}, '... has a test');
	like($rest, qr/\S +\S/, '... and what stops it');
}
is($n, 91, 'all of them');
like($manual, qr/^\.It The kernel/m, 'the manual tells what remains: the kernel');
like($manual, qr/^\.It Time and neighbours/m, '... and time');
done_testing();
