# Every row of the executor's contract (sections 9 and 1.3), and every case of
# the field about code, its output and streams, is asserted under its number or
# name by some test here.

use strict;
use warnings;
use File::Basename qw(dirname);
use Test::More;

chdir dirname(__FILE__) or die;
my $all = '';
for my $file (grep { $_ ne '4c-executor-contract.t' } glob('*.t sdk/*.mjs')) {
	open my $f, '<', $file or die "$file: $!";
	local $/;
	$all .= <$f>;
}

# Rows of a table, where the test prints the words before their number.
my %table = ('4b-executor-rows.t' => qr/^\[(\d+), '/m,
    '4d-upstream-rows.t' => qr/\[(\d\d), '\w+', '/,
    '4a-decision-rows.t' => qr/^\trow\((\d+), |^row\((\d+), /m);
sub listed {
	my ($file) = @_;
	open my $f, '<', $file or die "$file: $!";
	local $/;
	my $text = <$f>;
	return map { $_ => 1 } grep { defined } $text =~ /$table{$file}/g;
}

my %named = (listed('4b-executor-rows.t'), listed('4d-upstream-rows.t'),
    map { $_ => 1 } $all =~ /\bexecutor row (\d+)\b/g,
    $all =~ /\bscene\((\d+), /g);
ok($named{$_}, "executor row $_ is asserted") for 1 .. 80;
%named = listed('4a-decision-rows.t');
ok($named{$_}, "decision row $_ is asserted") for 1 .. 14;
for my $case (qw(ce-output-bounds ce-replayed-blocks ce-same-name-inputs
    ce-upload-in-old-turn st-client-leaves st-event-lines st-not-buffered
    st-quiet-run st-upstream-dies out-binary-intact out-symlink
    pf-response-header-size js-untouched-passthrough)) {
	like($all, qr/\b\Q$case\E\b/, "$case is asserted");
}

done_testing();
