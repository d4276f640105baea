# Every row of the contract's table of edge cases, and every case of the field
# that is about files, is asserted under its number or name by some test here.

use strict;
use warnings;
use File::Basename qw(dirname);
use Test::More;

chdir dirname(__FILE__) or die;
my %tests;
for my $file (glob '*.t') {
	next if $file eq '2b-contract.t';
	open my $f, '<', $file or die "$file: $!";
	$tests{$file} = join '', <$f>;
}
my $all = join "\n", values %tests;

# Rate limits come later.
my %later = map { $_ => 1 } 77;

for my $row (grep { !$later{$_} } 1 .. 157) {
	like($all, qr/(?<!executor )(?<!decision )\brow $row\b/, "row $row is asserted");
}
for my $case (qw(up-chunked-no-length up-crlf-tail up-expires-after-forms
    up-field-order up-html-from-upstream up-last-boundary-forms
    up-no-double-on-retry up-no-filename up-path-in-name up-percent-in-name
    up-purpose-rules up-too-big-for-nginx up-truncated-body up-utf8-name
    up-wrong-content-type dl-active-content dl-disposition
    dl-downloadable-agrees dl-exact-bytes dl-odd-store-path dl-ranges
    list-anthropic-beta list-anthropic-ga list-cursor-scope
    list-expired-cursor list-openai-walk list-same-second own-or-unknown
    id-odd-values err-shapes pf-response-header-size)) {
	like($all, qr/\b\Q$case\E\b/, "$case is asserted");
}

done_testing;
