# Conditional and range requests, the same whoever sends the bytes.

use strict;
use warnings;
use Test::More;
use Files;

my %client = (xaccel => Files->stack,
    stream => Files->stack(set => { 'files.sendfile' => 'stream' }));

for my $mode (sort keys %client) {
	my $c = $client{$mode};
	my $ten = '0123456789';
	my $id = $c->file($ten, 'ten.txt');
	my $three = $c->file('abc', 'abc.txt');
	my $tag = '"sha256-' . sha256_hex($ten) . '"';
	my $date = $c->get("/v1/files/$id/content")->{header}{'last-modified'};
	my ($early, $late) = ('Thu, 01 Jan 1970 00:00:01 GMT',
	    'Fri, 31 Dec 2100 00:00:00 GMT');

	# got($headers, $id): status, Content-Range and body, as one text.
	my $got = sub {
		my ($headers, $of) = @_;
		my $r = $c->get('/v1/files/' . ($of // $id) . '/content',
		    headers => $headers);
		my $n = $r->{header}{'content-length'} // 'none';
		return "length $n of " . length $r->{body}
		    if $r->{status} =~ /^20/ && $n ne length $r->{body};
		return join ' ', $r->{status},
		    $r->{header}{'content-range'} // '-',
		    $r->{status} >= 400 ? () : $r->{body};
	};
	my $range = sub { $got->([Range => $_[0], @_[1 .. $#_]]) };
	my $is = sub {
		my ($have, $want, $name) = @_;
		local $Test::Builder::Level = $Test::Builder::Level + 1;
		is($have, $want, "$name ($mode)");
	};

	# --- one range ---

	$is->($range->('bytes=0-0'), '206 bytes 0-0/10 0',
	    'row 124: bytes=0-0');
	$is->($got->([Range => 'bytes=-5'], $three), '206 bytes 0-2/3 abc',
	    'row 125: the last 5 of 3 bytes');
	$is->($range->('bytes=1-2'), '206 bytes 1-2/10 12',
	    'dl-ranges: bytes=1-2');
	$is->($range->('bytes=-3'), '206 bytes 7-9/10 789',
	    'dl-ranges: bytes=-3');
	$is->($range->('bytes=9-'), '206 bytes 9-9/10 9', 'bytes=9-');
	$is->($range->('bytes=0-'), '206 bytes 0-9/10 ' . $ten, 'bytes=0-');
	$is->($range->('bytes=8-99'), '206 bytes 8-9/10 89', 'bytes=8-99');
	$is->($range->('bytes=10-'), '416 bytes */10', 'dl-ranges: bytes=10-');
	$is->($range->('bytes=5-2'), "200 - $ten", 'dl-ranges: bytes=5-2');
	for ('bytes=5-2', 'bytes=x', 'items=0-1', 'bytes=', 'bytes=-',
	    'bytes=1-2x', 'bytes 1-2', 'bytes=99999999999999999999-x') {
		$is->($range->($_), "200 - $ten", "row 126: $_: the whole file");
	}
	for ('bytes=10-', 'bytes=10-20', 'bytes=-0',
	    'bytes=99999999999999999999-') {
		$is->($range->($_), '416 bytes */10', "row 127: $_");
	}
	for ('bytes=0-1,3-4', 'bytes=0-0,-1', 'bytes=0-1,20-30') {
		$is->($range->($_), "200 - $ten", "row 128: $_: the whole file");
	}
	refused("row 127: past the end, $mode",
	    '416 O[ire|-|range_not_satisfiable]', '416 A[ire]', sub {
		$c->get("/v1/files/$id/content", dialect => shift,
		headers => [Range => 'bytes=10-']) });
	{
		my $r = $c->get("/v1/files/$id/content",
		    headers => [Range => 'bytes=2-4']);
		my $h = $r->{header};
		$is->(join(' ', @$h{qw(etag last-modified accept-ranges
		    content-type cache-control)}),
		    "$tag $date bytes text/plain private, no-cache",
		    'a part says what the whole says');
		$is->("$h->{'content-disposition'} $h->{'x-content-type-options'}"
		    . " $h->{'content-security-policy'}", 'attachment; filename='
		    . "\"ten.txt\" nosniff sandbox; default-src 'none'",
		    'and is as harmless');
		my $head = $c->request('HEAD', "/v1/files/$id/content",
		    headers => [Range => 'bytes=2-4']);
		$is->("$head->{status} $head->{header}{'content-range'} "
		    . $head->{header}{'content-length'},
		    '206 bytes 2-4/10 3', 'HEAD of a part');
		$head = $c->request('HEAD', "/v1/files/$id/content");
		$is->("$head->{status} $head->{header}{'content-length'}"
		    . length $head->{body}, '200 100',
		    'dl-ranges: HEAD has the length and no body');
	}

	# --- If-Range ---

	$is->($range->('bytes=2-', 'If-Range' => $tag), '206 bytes 2-9/10 '
	    . substr($ten, 2), 'If-Range with the tag');
	$is->($range->('bytes=2-', 'If-Range' => $date), '206 bytes 2-9/10 '
	    . substr($ten, 2), 'If-Range with the date');
	$is->($range->('bytes=2-', 'If-Range' => '"stale"'), "200 - $ten",
	    'dl-ranges: If-Range with a stale tag');
	$is->($range->('bytes=2-', 'If-Range' => '"sha256-00"'), "200 - $ten",
	    'row 129: If-Range with an old tag');
	$is->($range->('bytes=2-', 'If-Range' => "W/$tag"), "200 - $ten",
	    'row 130: If-Range with a weak tag');
	for ($early, $late, 'yesterday') {
		$is->($range->('bytes=2-', 'If-Range' => $_), "200 - $ten",
		    "If-Range: $_");
	}

	# --- conditions ---

	for ('*', $tag, "\"x\", $tag", "W/$tag", "\"a,b\",$tag") {
		$is->($got->(['If-None-Match' => $_]), '304 - ',
		    "row 131: If-None-Match: $_");
	}
	for my $d (@DIALECTS) {
		my $r = $c->get("/v1/files/$id/content", dialect => $d,
		    headers => ['If-None-Match' => $tag]);
		$is->("$r->{status} $r->{header}{etag} " . length $r->{body},
		    "304 $tag 0", "example 07: a validator hit ($d)");
	}
	$is->($got->(['If-None-Match' => '"x"']), "200 - $ten",
	    'If-None-Match with another tag');
	$is->($got->(['If-None-Match' => '"x"', 'If-Modified-Since' => $late]),
	    "200 - $ten", 'If-None-Match overrules If-Modified-Since');
	$is->($got->(['If-Match' => $tag]), "200 - $ten", 'If-Match');
	$is->($got->(['If-Match' => '*']), "200 - $ten", 'If-Match: *');
	for ('"x"', "W/$tag") {
		my $other = $_;
		refused("row 132: If-Match: $other, $mode",
		    '412 O[ire|-|precondition_failed]', '412 A[ire]', sub {
			$c->get("/v1/files/$id/content", dialect => shift,
			headers => ['If-Match' => $other]) });
	}
	$is->($got->(['If-Modified-Since' => $date]), '304 - ',
	    'not modified since it was made');
	$is->($got->(['If-Modified-Since' => $late]), '304 - ',
	    'nor since the future');
	$is->($got->(['If-Modified-Since' => $early]), "200 - $ten",
	    'but since 1970');
	$is->($got->(['If-Modified-Since' => 'yesterday']), "200 - $ten",
	    'no date at all');
	$is->($got->(['If-Unmodified-Since' => $early]), '412 -',
	    'If-Unmodified-Since in the past');
	$is->($got->(['If-Unmodified-Since' => $date]), "200 - $ten",
	    'If-Unmodified-Since its own date');
	$is->($got->(['If-Match' => $tag, 'If-Unmodified-Since' => $early]),
	    "200 - $ten", 'If-Match overrules If-Unmodified-Since');
	$is->($got->(['If-Match' => '"x"', 'If-None-Match' => $tag]), '412 -',
	    'If-Match comes first');
	$is->($range->('bytes=1-2', 'If-None-Match' => $tag), '304 - ',
	    'a condition comes before the range');
	$is->($range->('bytes=1-2', 'If-Match' => $tag), '206 bytes 1-2/10 12',
	    'a range under a condition that holds');

	# --- a download taken up again ---

	my $large = join '', map { chr($_ * 7 % 251) } 1 .. 3000000;
	my $lid = $c->file($large, 'large.bin');
	my $have = '';
	$c->get("/v1/files/$lid/content", on_body => sub {
		$have .= $_[0];
		return length $have > 700000;
	});
	my $rest = $c->get("/v1/files/$lid/content", headers => [
	    Range => 'bytes=' . length($have) . '-',
	    'If-Range' => '"sha256-' . sha256_hex($large) . '"']);
	$is->("$rest->{status} " . sha256_hex($have . $rest->{body}),
	    '206 ' . sha256_hex($large), 'an interrupted download goes on');
	$rest = $c->get("/v1/files/$lid/content",
	    headers => [Range => 'bytes=' . length($have) . '-']);
	$is->(sha256_hex($have . $rest->{body}), sha256_hex($large),
	    'also without If-Range');
	$c->done;
}

done_testing;
