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
is($n, 92, 'all of them');

# What the kernel counts: each with a bound, who holds it, and tests.
my ($table) = Satchel::_slurp("$FindBin::Bin/README") =~ /\n counted  (.*)/s;
my $rows = 0;
for (split /\n/, $table) {
	my ($what, $bound, $shared, $who, $tests) =
	    /^ (\S.{41}) (\S.{21}) (\S.{6}) (\S.{10}) (.*)/ or next;
	next if $tests eq 'test';
	$rows++;
	like($shared, qr/^(?:-|L|yes) *$/, "counted: $what");
	like($who, qr/^(?:NS|SC|RL|TF|CG|SV)(?:, (?:NS|SC|RL|TF|CG|SV))* *$/,
	    '... and who bounds it');
	if ($tests =~ /^(\S+) "(.*)"$/) {
		ok(index(Satchel::_slurp("$FindBin::Bin/$1"), $2) >= 0,
		    "... $1: $2");
		next;
	}
	is(join(' ', grep { !/^\d+$/ || $_ > $n } split /, /, $tests), '',
	    "... and by which attacks that is tested: $tests");
}
cmp_ok($rows, '>=', 30, 'all that the kernel counts');
like($manual, qr/^\.It The kernel/m, 'the manual tells what remains: the kernel');
like($manual, qr/^\.It Time and neighbours/m, '... and time');
done_testing();
