# DELETE: once, for everybody, and nobody who is downloading notices.

use strict;
use warnings;
use Test::More;
use Files;

my %client = (xaccel => Files->stack,
    stream => Files->stack(set => { 'files.sendfile' => 'stream' }));
my $c = $client{xaccel};

sub del {
	my ($id, %o) = @_;
	return $c->request('DELETE', "/v1/files/$id", %o);
}

my %nf = (openai => '404 O[ire|id|-]', anthropic => '404 A[nf]');

for my $d (@DIALECTS) {
	my $id = $c->file('to go', 'g.txt');
	my $r = del($id, dialect => $d);
	is($r->{status}, 200, "row 111: deleted ($d)");
	is_deeply($r->{json}, $d eq 'openai'
	    ? { id => $id, object => 'file', deleted => JSON::PP::true() }
	    : { id => $id, type => 'file_deleted' }, "example 08: the words ($d)");
	is(said(del($id, dialect => $d), $d), $nf{$d},
	    "row 111: the second time ($d)");
	is(said($c->get("/v1/files/$id/content", dialect => $d), $d), $nf{$d},
	    "row 110: content after delete ($d)");
	is(said($c->get("/v1/files/$id", dialect => $d), $d), $nf{$d},
	    "metadata after delete ($d)");
	is(scalar(grep { $_->{id} eq $id }
	    @{ $c->get('/v1/files', dialect => $d)->{json}{data} }), 0,
	    "off the list ($d)");
}

# --- expiry is as good as a delete, except for whoever owned it ---

{
	my $id = $c->file('short life', 's.txt');
	$c->sql("UPDATE file SET expires = created + 1, sweep_at = created + 1"
	    . " WHERE pid = '" . substr($id, 5) . "'");
	for my $d (@DIALECTS) {
		is(said($c->get("/v1/files/$id", dialect => $d), $d), $nf{$d},
		    "row 108: metadata of an expired file ($d)");
		is(said($c->get("/v1/files/$id/content", dialect => $d), $d),
		    $d eq 'openai' ? '404 O[ire|id|file_expired]'
		    : '404 A[nf|file_expired]',
		    "row 109: content of an own expired file ($d)");
		is(said($c->get("/v1/files/$id/content", dialect => $d,
		    key => 'same'), $d), $nf{$d},
		    "row 109: content of another's expired file ($d)");
		is(said(del($id, dialect => $d), $d), $nf{$d},
		    "row 115: delete of an expired file ($d)");
	}
	# The clock that counts is the database's.
	my $now = $c->sql('SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED)');
	my $soon = $c->file('a moment', 'm.txt');
	$c->sql('UPDATE file SET expires = CAST(UNIX_TIMESTAMP(NOW(3)) * 1000'
	    . ' AS UNSIGNED) + 1000, sweep_at = expires'
	    . " WHERE pid = '" . substr($soon, 5) . "'");
	is($c->get("/v1/files/$soon")->{status}, 200,
	    'row 153: alive until the moment');
	ok($c->wait_for(sub { $c->get("/v1/files/$soon")->{status} == 404 }),
	    'row 153: gone by the database\'s clock');
	my $over = $c->sql('SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED)');
	cmp_ok($over - $now, '>=', 1000, 'row 153: and not before');
}

# --- two at once ---

for my $d (@DIALECTS) {
	my @bad;
	for my $round (1 .. 10) {
		my $id = $c->file("race $round", 'r.txt');
		my @s = map { $c->begin('DELETE', "/v1/files/$id",
		    dialect => $d) } 1 .. 4;
		my @got = sort map { Files::read_answer($_, 'DELETE')->{status} }
		    @s;
		push @bad, "@got" if "@got" ne '200 404 404 404';
	}
	is("@bad", '', "row 112: of four deletes at once exactly one wins ($d)");
}

# --- during a download ---

for my $mode (sort keys %client) {
	my $c = $client{$mode};
	my $big = 'd' x (48 << 20);
	for my $what (['row 113: delete', sub {
		return $c->request('DELETE', "/v1/files/$_[0]")->{status} }],
	    ['row 114: expiry', sub {
		$c->sql('UPDATE file SET expires = created + 1,'
		    . ' sweep_at = created + 1 WHERE pid = \''
		    . substr($_[0], 5) . "'");
		return $c->get("/v1/files/$_[0]")->{status} == 404 ? 200 : 0 }]) {
		my ($name, $end) = @$what;
		my $id = $c->file($big, 'd.bin');
		my ($sha, $ended) = (Digest::SHA->new(256));
		my $r = $c->get("/v1/files/$id/content", on_body => sub {
			$ended //= $end->($id);
			$sha->add($_[0]);
			return 0;
		});
		is("$ended $r->{status} $r->{whole}", '200 200 1',
		    "$name during a download: both go well ($mode)");
		is($sha->hexdigest, sha256_hex($big),
		    "$name during a download: byte-identical ($mode)");
	}
}

$_->done for values %client;
done_testing;
