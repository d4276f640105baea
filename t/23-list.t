# GET /v1/files: pages, filters, ids, and what is wrong with a request.

use strict;
use warnings;
use JSON::PP ();
use Test::More;
use Files;

# Memory is measured below; a sanitizer is not to hoard what was freed.
$ENV{ASAN_OPTIONS} = join ':', $ENV{ASAN_OPTIONS} // (),
    'quarantine_size_mb=0', 'thread_local_quarantine_size_kb=0';
my $c = Files->stack;

# Ids of the files in the answer, in its order.
sub ids { return map { $_->{id} } @{ $_[0]{json}{data} } }

# envelope($r, $dialect): '' if the list is whole and agrees with itself.
sub envelope {
	my ($r, $d) = @_;
	my $j = $r->{json};
	return "status $r->{status}" unless $r->{status} == 200;
	my $want = $d eq 'openai' ? 'data first_id has_more last_id object'
	    : 'data first_id has_more last_id next_page';
	my $have = join ' ', sort keys %$j;
	return "members $have" unless $have eq $want;
	return 'object' if $d eq 'openai' && $j->{object} ne 'list';
	return 'has_more is no boolean'
	    unless JSON::PP::is_bool($j->{has_more});
	my @ids = ids($r);
	return 'first_id' unless ($j->{first_id} // '-') eq ($ids[0] // '-');
	return 'last_id' unless ($j->{last_id} // '-') eq ($ids[-1] // '-');
	return 'an empty page with more to come' if $j->{has_more} && !@ids;
	return 'no next_page with more to come' if $d eq 'anthropic'
	    && $j->{has_more} && ($j->{next_page} // '') !~ /^page_[\w-]+$/;
	for (@{ $j->{data} }) {
		my $bad = shape($_, $d);
		return $bad if $bad;
	}
	return '';
}

# --- nothing there ---

for my $d (@DIALECTS) {
	for my $who ('b', 'same') {
		my $r = $c->get('/v1/files', dialect => $d, key => $who);
		is(envelope($r, $d), '', "an empty list of $who ($d)");
		is(join(',', ids($r)) . ($r->{json}{has_more} ? 'more' : ''),
		    '', "an empty list of $who holds nothing ($d)");
		is($r->{json}{next_page}, undef,
		    "and has no next page ($who, $d)");
	}
}

# --- five files ---

my @five = map { $c->file("file $_", "f$_.txt") } 1 .. 5;
my @newest = reverse @five;

for my $d (@DIALECTS) {
	my $r = $c->get('/v1/files', dialect => $d);
	is(envelope($r, $d), '', "the whole list ($d)");
	is_deeply([ids($r)], \@newest, "newest first ($d)");
	is($r->{json}{has_more} ? 1 : 0, 0, "no more ($d)");
	is($r->{header}{'content-length'}, length $r->{body},
	    "its length is told ($d)");
	is_deeply([ids($c->get('/v1/files?order=asc', dialect => $d))], \@five,
	    "oldest first ($d)");
	is_deeply([ids($c->get('/v1/files?order=desc', dialect => $d))],
	    \@newest, "order=desc ($d)");
	is_deeply([ids($c->get('/v1/files?limit=', dialect => $d))], \@newest,
	    "row 83: an empty limit is the default ($d)");
	for ('colour=blue', 'beta=true', 'colour[]=x&beta=true') {
		is_deeply([ids($c->get("/v1/files?$_", dialect => $d))],
		    \@newest, "row 87: $_ is ignored ($d)");
	}
	$r = $c->get('/v1/files?purpose=unknown', dialect => $d);
	is(envelope($r, $d) . scalar ids($r), '0',
	    "row 86: an unknown purpose: an empty list ($d)");
	for ('%ff', '%F0%9F%98%80', 'a%20b', 'x' x 65) {
		$r = $c->get("/v1/files?purpose=$_", dialect => $d);
		is("$r->{status} " . envelope($r, $d) . scalar ids($r), '200 0',
		    "... and one that no file can have: $_ ($d)");
	}
	$r = $c->get('/v1/files?scope_id=s_1', dialect => $d);
	is(envelope($r, $d) . scalar ids($r), '0',
	    "a scope_id: an empty list ($d)");
}
# Whatever is wrong with a limit, its range is told; on all lists.
for my $path (qw(/v1/files /v1/containers /v1/models /v1/usage)) {
	for my $limit ('99999999999999999999', '0', '-1', 'abc') {
		my $r = $c->{s}->get("$path?limit=$limit");
		like("$r->{status} $r->{json}{error}{message}",
		    qr/^400 limit must be .*between 1 and \d+$/,
		    "$path: limit=$limit has its range told");
	}
}
is_deeply([ids($c->get('/v1/files?limit=1001'))], \@newest,
    'row 81: limit=1001 (OpenAI)');
refused('row 81: limit=1001', undef, '400 A[ire]',
    sub { $c->get('/v1/files?limit=1001', dialect => shift) });

# --- limits and orders that make no sense ---

for (['row 79: limit=0', 'integer_below_min_value'],
    ['row 79: limit=-1', 'integer_below_min_value'],
    ['row 80: limit=10001', 'integer_above_max_value'],
    ['row 82: limit=abc', 'invalid_type'],
    ['row 82: limit=1.5', 'invalid_type'],
    ['row 82: limit=%20', 'invalid_type'],
    ['row 82: limit=+5', 'invalid_type'],
    ['row 82: limit=5x', 'invalid_type'],
    ['row 82: limit=0x5', 'invalid_type'],
    ['row 82: limit=99999999999999999999', 'invalid_type'],
    ['row 84: limit=5&limit=5', 'invalid_value']) {
	my ($name, $code) = @$_;
	my ($q) = $name =~ /: (.*)/;
	refused($name, "400 O[ire|limit|$code]", '400 A[ire]',
	    sub { $c->get("/v1/files?$q", dialect => shift) });
}
for ('ASC', 'random', 'asc&order=desc') {
	my $o = $_;
	refused("row 85: order=$o", '400 O[ire|order|invalid_value]',
	    '400 A[ire]',
	    sub { $c->get("/v1/files?order=$o", dialect => shift) });
}

# --- purposes ---

{
	my $batch = $c->file('b', 'b.jsonl', key => 'same',
	    fields => { purpose => 'batch' });
	my $data = $c->file('d', 'd.txt', key => 'same');
	is_deeply([ids($c->get('/v1/files?purpose=batch', key => 'same'))],
	    [$batch], 'the list of one purpose');
	is_deeply([ids($c->get('/v1/files?purpose=user_data&limit=1',
	    key => 'same', dialect => 'anthropic'))], [$data],
	    'a filter and a limit (Anthropic)');
	my $made = $c->produced('out.png', key => 'same');
	for my $word (qw(code_execution_output assistants_output)) {
		my $r = $c->get("/v1/files?purpose=$word", key => 'same');
		is_deeply([ids($r)], [$made],
		    "produced files answer to purpose=$word");
		is($r->{json}{data}[0]{purpose}, 'assistants_output',
		    "and are shown by the vendor's ($word)");
	}
}

# --- ids[] ---

{
	my $other = $c->file('x', 'x.txt', key => 'b');
	my $gone = $c->file('g', 'g.txt');
	$c->request('DELETE', "/v1/files/$gone");
	my $ask = sub { return $c->get('/v1/files?' . join('&',
	    map { "ids%5B%5D=$_" } @_), dialect => 'anthropic') };
	my $r = $ask->($five[1], 'file-' . '0' x 32);
	is(envelope($r, 'anthropic'), '', 'example 05: the envelope');
	is_deeply([ids($r), $r->{json}{has_more} ? 1 : 0,
	    $r->{json}{next_page}], [$five[1], 0, undef],
	    'example 05: one found, one unknown');
	is_deeply([ids($ask->($five[0], $other, $gone, 'a%2Fb', '', $five[2],
	    $five[0]))], [@five[2, 0]],
	    'row 100: foreign, deleted and malformed ids are left out');
	is_deeply([ids($c->get("/v1/files?ids=$five[3]&ids=$five[4]",
	    dialect => 'anthropic'))], [@five[4, 3]], 'ids without brackets');
	my @many = map { sprintf 'file-%032x', $_ } 1 .. 100;
	is($ask->(@many, $many[0])->{status}, 200,
	    'row 98: 100 different ids, one of them twice');
	is(said($ask->(@many, $five[0]), 'anthropic'), '400 A[ire]',
	    'row 98: 101 different ids');
	for ("limit=1", "page=page_x", "after_id=$five[0]",
	    "before_id=$five[0]") {
		is(said($c->get("/v1/files?ids[]=$five[0]&$_",
		    dialect => 'anthropic'), 'anthropic'), '400 A[ire]',
		    'row 99: ids[] with ' . s/=.*//r);
	}
	for my $n (98, 99, 100) {
		is_deeply([ids($c->get("/v1/files?ids[]=$five[0]"))],
		    \@newest, "row $n: ids[] is ignored (OpenAI)");
	}
}

# --- files of one second, and more than one page ---

{
	my @made = map { $c->file("n$_", "n$_.txt", key => 'b') } 1 .. 24;
	push @made, $c->get('/v1/files?limit=1&order=asc', key => 'b')
	    ->{json}{first_id};
	$c->sql("UPDATE file SET created = 1796000000000, pid = CONCAT("
	    . "'01a229f12800', SUBSTR(pid, 13)) WHERE state = 'live' AND"
	    . " user_id = (SELECT id FROM user WHERE name = 'bob')");
	for my $order (qw(desc asc)) {
		for my $d (@DIALECTS) {
			my ($cursor, @seen, $pages) = ('');
			while (1) {
				my $r = $c->get("/v1/files?limit=10&"
				    . "order=$order$cursor", key => 'b',
				    dialect => $d);
				my $bad = envelope($r, $d);
				push @seen, $bad || ids($r);
				last if ++$pages == 9 || $bad
				    || !$r->{json}{has_more};
				$cursor = $d eq 'openai'
				    ? "&after=$r->{json}{last_id}"
				    : "&page=$r->{json}{next_page}";
			}
			my %seen = map { $_ => 1 } @seen;
			is("$pages pages " . @seen . ' files '
			    . keys(%seen) . ' different',
			    '3 pages 25 files 25 different',
			    "row 101: 25 files of one second, $order ($d)");
			my @sorted = sort @seen;
			@sorted = reverse @sorted if $order eq 'desc';
			is_deeply(\@seen, \@sorted,
			    "row 101: by id within the time, $order ($d)");
		}
	}
	my (%walk, $after);
	for my $order (qw(desc asc)) {
		$after = '';
		while (1) {
			my $r = $c->get("/v1/files?limit=7&order=$order$after",
			    key => 'b');
			push @{ $walk{$order} }, ids($r);
			last unless $r->{json}{has_more};
			$after = "&after=$r->{json}{data}[-1]{id}";
		}
	}
	my %seen = map { $_ => 1 } @{ $walk{desc} };
	is(@{ $walk{desc} } . ' ' . keys %seen, '25 25',
	    'list-same-second: each once');
	is_deeply($walk{asc}, [reverse @{ $walk{desc} }],
	    'list-same-second: asc is the reverse of desc');
}

# --- expired only ---

$c->sql("UPDATE file SET expires = 1, sweep_at = 1 WHERE state = 'live'");
for my $d (@DIALECTS) {
	my $r = $c->get('/v1/files', dialect => $d);
	is(envelope($r, $d) . scalar ids($r) . ($r->{json}{has_more} ? 1 : 0)
	    . ($r->{json}{next_page} // ''), '00',
	    "row 102: only expired files: an empty list ($d)");
}

# --- a page of 10,000 ---

{
	my $rows = 10500;
	$c->many($rows, 'alice');
	my @workers = $c->{s}->pids('files');
	my $peak = sub { my $max = 0; for (@workers) {
		open my $f, '<', "/proc/$_/status" or next;
		my ($kb) = join('', <$f>) =~ /VmHWM:\s+(\d+)/;
		$max = $kb if ($kb // 0) > $max;
	} return $max };
	$c->get('/v1/files?limit=1');
	my $was = $peak->();
	my $r = $c->get('/v1/files');
	is(envelope($r, 'openai'), '', 'row 103: the default page');
	is(scalar ids($r), 10000, 'row 103: 10,000 rows');
	is($r->{json}{has_more} ? 1 : 0, 1, 'row 103: and more');
	is($r->{whole}, 1, 'row 103: the answer is whole');
	cmp_ok(length $r->{body}, '>', 1 << 20, 'row 103: over 1 MiB of text');
	# The thread sanitizer keeps some words for each word that is touched.
	my $tsan = Satchel::sanitizer('satchel') eq 'tsan';
	cmp_ok($peak->() - $was, '<', $tsan ? 12288 : 3072,
	    'row 103: memory stays flat (under 3 MiB more, 12 in a TSan build)');
	my $next = $c->get("/v1/files?after=$r->{json}{last_id}");
	is(scalar(ids($next)) . ($next->{json}{has_more} ? 1 : 0), '5000',
	    'row 103: the rest on the next page');
	for my $limit (511, 512, 513, 1024) {
		$r = $c->get("/v1/files?limit=$limit");
		is(scalar(ids($r)) . ' ' . ($r->{json}{has_more} ? 1 : 0),
		    "$limit 1", "a page of $limit");
	}
	for my $d (@DIALECTS) {
		my $get = $c->get('/v1/files?limit=700', dialect => $d);
		my $head = $c->request('HEAD', '/v1/files?limit=700',
		    dialect => $d);
		is("$head->{status} $head->{header}{'content-length'}",
		    '200 ' . length $get->{body},
		    "row 122: HEAD of a list tells its length ($d)");
	}
}

$c->done;

# --- a lower maximum ---

{
	my $low = Files->stack(set => { 'files.page_max' => 20 });
	$low->many(50, 'alice');
	my $r = $low->get('/v1/files');
	is(scalar(ids($r)) . ($r->{json}{has_more} ? 1 : 0), '201',
	    'the deployment\'s maximum is the default');
	$r = $low->get('/v1/files?limit=40', dialect => 'anthropic');
	is(scalar(ids($r)) . ($r->{json}{has_more} ? 1 : 0), '201',
	    'a legal limit above it is clamped');
	$low->done;
}

done_testing;
