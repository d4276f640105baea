# Cursors are places in a list: they outlive the file they name, belong to the
# caller who uses them, and every SDK's way of walking comes to the end.

use strict;
use warnings;
use MIME::Base64 qw(encode_base64url decode_base64url);
use Test::More;
use Files;

my $c = Files->stack;

sub ids { return map { $_->{id} } @{ $_[0]{json}{data} } }

my @beta = ('anthropic-beta' => 'files-api-2025-04-14');
my %ant = (dialect => 'anthropic');

my @f = map { $c->file("file $_", "f$_.txt") } 1 .. 6;
my @newest = reverse @f;

# The two cursors by id, and how each dialect is asked with one.
my %by_id = (openai => 'after', anthropic => 'after_id');

# --- requests that make no sense ---

for ("after=$f[0]&after_id=$f[0]", "after=$f[0]&before_id=$f[0]",
    "after_id=$f[0]&page=page_x", "before_id=$f[0]&page=page_x",
    "after=$f[0]&after=$f[0]") {
	my $q = $_;
	refused('row 88: ' . $q =~ s/=[^&]*//gr,
	    '400 O[ire|after|invalid_value]', '400 A[ire]',
	    sub { $c->get("/v1/files?$q", dialect => shift) });
}
for ('nothing-of-ours', 'file-doesnotexist', 'a%2Fb', '%C3%A9', 'x' x 200,
    uc $f[0]) {
	my $id = $_;
	refused('row 93: a cursor like ' . substr($id, 0, 24),
	    '404 O[ire|after|-]', '400 A[ire]', sub { my ($d) = @_;
	    $c->get("/v1/files?$by_id{$d}=$id", dialect => $d) });
}
for my $d (@DIALECTS) {
	for my $name (qw(after after_id)) {
		is_deeply([ids($c->get("/v1/files?$name=", dialect => $d))],
		    \@newest, "row 95: an empty $name: the first page ($d)");
		is_deeply([ids($c->get("/v1/files?$name=$newest[3]",
		    dialect => $d))], [@newest[4, 5]],
		    "$name is understood ($d)");
	}
	my $r = $c->get("/v1/files?$by_id{$d}=$f[0]", dialect => $d);
	is(join(',', scalar ids($r), map { $_ // 'null' }
	    ($r->{json}{has_more} ? 1 : 0), @{ $r->{json} }{qw(first_id last_id)},
	    $r->{json}{next_page}), '0,0,null,null,null',
	    "row 94: after the last file: an empty page ($d)");
}

# --- page tokens ---

{
	my $r = $c->get('/v1/files?limit=2', %ant);
	my $token = $r->{json}{next_page};
	like($token, qr/^page_[A-Za-z0-9_-]+$/, 'a page token is opaque');
	my $inside = decode_base64url(substr $token, 5);
	my $other = 'page_' . encode_base64url('9' . substr $inside, 1);
	for (['garbage', 'page_garbage'], ['empty', 'page_'], ['an id', $f[0]],
	    ['truncated', substr $token, 0, 20], ['another version', $other],
	    ['something after it', "${token}A"], ['bytes', 'page_%00%FF']) {
		my ($what, $page) = @$_;
		is(said($c->get("/v1/files?page=$page", %ant), 'anthropic'),
		    '400 A[ire]', "row 96: a token that is $what");
		next if $what eq 'bytes';
		is($c->get("/v1/files?page=$page")->{status}, 200,
		    "row 96: a token that is $what: ignored (OpenAI)");
	}
	is(said($c->get("/v1/files?page=$token&order=asc", %ant), 'anthropic'),
	    '400 A[ire]', 'a token of the other order');
	my $b = $c->file('of b', 'b.txt', key => 'b');
	my %of_a = map { $_ => 1 } @f;
	$r = $c->get("/v1/files?page=$token", %ant, key => 'b');
	is("$r->{status} " . grep({ $of_a{$_} } ids($r)), '200 0',
	    'row 97: the token in another\'s hand shows none of its files');
	$r = $c->get('/v1/files?order=asc&limit=1', %ant);
	$r = $c->get("/v1/files?order=asc&page=$r->{json}{next_page}", %ant,
	    key => 'b');
	is_deeply([ids($r)], [$b], 'row 97: but the other\'s own after it');
}

# --- a foreign id is like one never issued ---

{
	my $foreign = $c->file('of carol', 'c.txt', key => 'same');
	my $after = $c->file('newer', 'n.txt');
	my $never = 'file-' . substr($foreign, 5, 12) . 'f' x 20;
	for my $d (@DIALECTS) {
		my @seen = map { [ids($c->get("/v1/files?$by_id{$d}=$_",
		    dialect => $d))] } $foreign, $never;
		is_deeply($seen[0], \@newest,
		    "row 92: a foreign id: one's own files after it ($d)");
		is_deeply($seen[1], $seen[0],
		    "row 92: the same as for an id never issued ($d)");
	}
	$c->request('DELETE', "/v1/files/$after");
}

# --- walks ---

# walk($query, $next): all ids, following $next->($answer) while it is defined.
sub walk {
	my ($query, $next, %o) = @_;
	my ($cursor, @seen, @pages) = ('');
	while (@pages < 20) {
		my $r = $c->get("/v1/files?$query$cursor", %o);
		push @pages, $r;
		push @seen, ids($r);
		$cursor = $next->($r) // last;
	}
	return (\@seen, @pages);
}

{
	my ($seen, @pages) = walk('limit=3', sub { my $j = $_[0]{json};
	    return $j->{has_more} ? "&after=$j->{data}[-1]{id}" : undef });
	is_deeply($seen, \@newest, 'list-openai-walk: every file once');
	is(scalar @pages, 2, 'list-openai-walk: no third request');
	is($pages[0]{json}{has_more} ? 1 : 0, 1, 'list-openai-walk: page 1');
	is($pages[1]{json}{has_more} ? 1 : 0, 0,
	    'list-openai-walk: a full last page says that it is the last');
	is("$pages[1]{json}{object} $pages[1]{json}{first_id} "
	    . $pages[1]{json}{last_id}, "list $newest[3] $newest[5]",
	    'list-openai-walk: object, first_id and last_id');
}
for (['', '2026-10-21'], ['beta=true&', '2023-06-01']) {
	my ($mark, $version) = @$_;
	my ($seen, @pages) = walk("${mark}limit=4", sub {
	    my $p = $_[0]{json}{next_page};
	    return defined $p ? "&page=$p" : undef },
	    headers => ['anthropic-version' => $version]);
	is_deeply($seen, \@newest,
	    "list-anthropic-ga: every file once ($version)");
	is(scalar @pages, 2, "list-anthropic-ga: two pages ($version)");
	is(join(' ', map { ref \$_->{json}{next_page} eq 'SCALAR'
	    && defined $_->{json}{next_page} ? 'token' : 'null' } @pages),
	    'token null', "list-anthropic-ga: next_page ($version)");
	is(scalar(grep { !exists $_->{expires_at} }
	    map { @{ $_->{json}{data} } } @pages), 0,
	    "list-anthropic-ga: expires_at in every object ($version)");
}
{
	my @o = (%ant, headers => \@beta);
	my ($seen, @pages) = walk('beta=true&limit=2', sub { my $j = $_[0]{json};
	    return $j->{has_more} ? "&after_id=$j->{last_id}" : undef }, @o);
	is_deeply($seen, \@newest, 'list-anthropic-beta: forward, each once');
	is(scalar(grep { $_->{json}{has_more} && !defined $_->{json}{last_id} }
	    @pages), 0, 'list-anthropic-beta: never more without last_id');
	my $r = $c->get("/v1/files?beta=true&limit=2&before_id=$f[0]", @o);
	my @back = [ids($r)];
	while ($r->{json}{has_more} && @back < 20) {
		$r = $c->get('/v1/files?beta=true&limit=2&before_id='
		    . $r->{json}{first_id}, @o);
		unshift @back, [ids($r)];
	}
	is_deeply(\@back, [[$newest[0]], [@newest[1, 2]], [@newest[3, 4]]],
	    'list-anthropic-beta: backward, each page newest first');
	$r = $c->get("/v1/files?beta=true&limit=2&before_id=$newest[0]", @o);
	is(join(',', scalar ids($r), map { $_ // 'null' }
	    ($r->{json}{has_more} ? 1 : 0), @{ $r->{json} }{qw(first_id last_id
	    next_page)}), '0,0,null,null,null',
	    'list-anthropic-beta: before the first file: an empty page');
	$r = $c->get("/v1/files?limit=2&before_id=$f[3]&order=asc", @o);
	is_deeply([ids($r)], [@f[1, 2]], 'backward in an ascending list');
}

# Backwards over more rows than one batch.
{
	$c->many(1200, 'carol');
	my $all = $c->get('/v1/files?limit=1201', key => 'same');
	my @all = ids($all);
	my $r = $c->get("/v1/files?limit=1000&before_id=$all[1100]", %ant,
	    key => 'same');
	is_deeply([ids($r)], [@all[100 .. 1099]], 'a page of 1,000 before a file');
	is($r->{json}{has_more} ? 1 : 0, 1, 'and 100 more before it');
	$r = $c->get("/v1/files?limit=600&before_id=$all[600]", %ant,
	    key => 'same');
	is_deeply([ids($r)], [@all[0 .. 599]], 'exactly the first 600');
	is($r->{json}{has_more} ? 1 : 0, 0, 'and none before them');
}

# --- scope ---

$c->request('DELETE', "/v1/files/$_", key => 'b') for
    ids($c->get('/v1/files', key => 'b'));
for (['OpenAI'], ['Anthropic beta', %ant, headers => \@beta],
    ['Anthropic', %ant]) {
	my ($who, @o) = @$_;
	my $r = $c->get('/v1/files', @o, key => 'b');
	my $j = $r->{json};
	is(join(',', scalar ids($r), map { $_ // 'null' }
	    ($j->{has_more} ? 1 : 0), @$j{qw(first_id last_id next_page)}),
	    '0,0,null,null,null', "list-cursor-scope: nothing of a's ($who)");
	is(scalar(grep { "$r->{head}$r->{body}" =~ /\Q$_/ } @f), 0,
	    "list-cursor-scope: not even an id ($who)");
}

# --- the examples ---

{
	my ($old, $new) = map { $c->file($_, "$_.csv", key => 'b') } qw(a b);
	my $r = $c->get('/v1/files?limit=1&order=desc', key => 'b');
	is(join(' ', ids($r), $r->{json}{has_more} ? 1 : 0), "$new 1",
	    'example 03: the first page');
	my $one = $c->get('/v1/files?limit=1', %ant, key => 'b');
	my $two = $c->get("/v1/files?limit=1&page=$one->{json}{next_page}", %ant,
	    key => 'b');
	my $beta = $c->get("/v1/files?beta=true&limit=1&after_id=$new", %ant,
	    key => 'b', headers => \@beta);
	is(join(' ', ids($two)), $old, 'example 04: the second page');
	is_deeply($beta->{json}, $two->{json},
	    'example 04: the same for the older SDK');
	$c->request('DELETE', "/v1/files/$new", key => 'b');
	$r = $c->get("/v1/files?limit=1&order=desc&after=$new", key => 'b');
	is(join(' ', ids($r), $r->{json}{has_more} ? 1 : 0), "$old 0",
	    'example 03: the cursor was deleted between the pages');
	$r = $c->get("/v1/files?limit=1&after=$old", key => 'b');
	is_deeply($r->{json}, { object => 'list', data => [],
	    has_more => JSON::PP::false(), first_id => undef,
	    last_id => undef }, 'example 03: the end');
}

# --- cursors whose file has gone ---

# The next page after $newest[2], in both dialects and by page token.
sub next_page_is {
	my ($name, $token) = @_;
	for my $d (@DIALECTS) {
		my $r = $c->get("/v1/files?limit=3&$by_id{$d}=$newest[2]",
		    dialect => $d);
		is("$r->{status} " . join(',', ids($r)),
		    '200 ' . join(',', @newest[3 .. 5]), "$name ($d)");
	}
	my $r = $c->get("/v1/files?limit=3&page=$token", %ant);
	is("$r->{status} " . join(',', ids($r)),
	    '200 ' . join(',', @newest[3 .. 5]), "$name (page token)");
}

{
	my $pid = substr $newest[2], 5;
	my $token = $c->get('/v1/files?limit=3', %ant)->{json}{next_page};
	is_deeply([ids($c->get('/v1/files?limit=3'))], [@newest[0 .. 2]],
	    'list-expired-cursor: the first page ends on the file');
	$c->sql("UPDATE file SET expires = 1, sweep_at = 1 WHERE pid = '$pid'");
	next_page_is('row 90: the cursor has expired', $token);
	for my $d (@DIALECTS) {
		my $r = $c->get('/v1/files', dialect => $d);
		is(scalar(grep { $_ eq $newest[2] } ids($r)), 0,
		    "list-expired-cursor: it is on no page any more ($d)");
	}
	$c->sql('UPDATE file SET expires = NULL, sweep_at = NULL'
	    . " WHERE pid = '$pid'");
	is($c->request('DELETE', "/v1/files/$newest[2]")->{status}, 200,
	    'now it is deleted');
	next_page_is('row 89: the cursor was deleted', $token);
	next_page_is('list-expired-cursor: the same when deleted', $token);
	$c->sql("DELETE FROM file WHERE pid = '$pid'");
	next_page_is('row 91: the sweep purged its row', $token);
}

$c->done;
done_testing;
