# A store that is full, away or read-only, a quota, a database that leaves in
# the middle, and answers that get lost: what the caller hears, and what is left.

use strict;
use warnings;
use Test::More;
use Time::HiRes qw(sleep);
use Files;

my $small = form(file_part('x' x 1000, 's.txt'));
my $large = form(file_part('x' x (4 << 20), 'l.bin'));

# A file system of ours, once there is one; it goes when nobody uses it any more.
my $mounted;
END { system('umount', '-l', $mounted) if defined $mounted }

# with_fault($faults, %o): a stack whose file workers have these faults in them.
sub with_fault {
	my ($fault, %o) = @_;
	my $c = Files->stack(%o);
	arm($c, $fault);
	return $c;
}

sub arm {
	my ($c, $fault) = @_;
	$c->{s}->stop('files');
	local $ENV{SATCHEL_FAULT} = $fault;
	$c->{s}->start;
}

my %full = (openai => '507 O[srv|-|insufficient_storage]',
    anthropic => '507 A[api_error]');
my %away = (openai => '503 O[srv|-|storage_unavailable]',
    anthropic => '503 A[api_error]');
my %down = (openai => '503 O[srv|-|database_unavailable]',
    anthropic => '503 A[api_error]');

# Each upload must be answered so and leave nothing; $header is set in it.
sub fails {
	my ($c, $name, $want, $header) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $before = $c->stored;
	for my $d (@DIALECTS) {
		my $r = $c->upload($small, dialect => $d);
		is(said($r, $d), $want->{$d}, "$name ($d)");
		ok(defined $r->{header}{$header}, "$name: $header ($d)");
		is($r->{header}{'x-should-retry'} // '-',
		    $want == \%full ? 'false' : '-', "$name: retry ($d)");
	}
	is($c->stored, $before, "$name: neither row nor bytes are left");
}

# --- full, by faults at the calls that may report it late ---

for (['at fsync', 'sync-enospc=20'], ['at close', 'close-edquot=20']) {
	my ($where, $fault) = @$_;
	my $c = with_fault($fault);
	$c->{s}->expect_log(qr/No space left|quota exceeded/);
	fails($c, "row 73: no space $where", \%full, 'x-should-retry');
	$c->done;
}

# --- full, away, read-only, by filesystems ---

{
	my $c = Files->stack;
	my ($root, $s) = ($c->{s}{root}, $c->{s});
	my $id = $c->file('before', 'b.txt');
	my (undef, undef, undef, undef, $uid, $gid) = stat $root;

	$s->expect_log(qr/store|blob|content/);
	rename $root, "$root.away" or die "$root: $!";
	# A worker may still hold the directory, but who sends the bytes does not.
	for my $how ([], [headers => [Range => 'bytes=0-2']]) {
		my $r = $s->get("/v1/files/$id/content", @$how);
		is("$r->{status} " . join(' ', map { scalar @{$r->{head}{$_} || []} }
		    qw(cache-control content-disposition retry-after)), '503 1 0 1',
		    'row 74: a download just after, with an error\'s headers');
		is($r->{json}{error}{code}, 'storage_unavailable', '... its words');
		my $request = $r->{head}{'x-request-id'}[0];
		is(scalar(grep { ($_->{request} // '') eq $request
		    && ($_->{status} // 0) == 503 } $s->log), 1,
		    '... and an id that the log knows');
	}
	sleep 1.1;
	fails($c, 'row 74: the directory is missing', \%away, 'retry-after');
	my $r = $c->get("/v1/files/$id/content");
	is($r->{status}, 503, 'row 74: a download says so too');
	rename "$root.away", $root or die "$root: $!";
	sleep 1.1;
	is($c->get("/v1/files/$id/content")->{body}, 'before',
	    'row 74: it comes back by itself');

	my $here = $c->stored;
	is($here, 'rows 1 files 1', 'row 74: nothing came into the other place');
	if ($> == 0) {
		my @mount = qw(mount -t tmpfs -o);
		system(@mount, "size=1m,uid=$uid,gid=$gid,mode=700", 'tmpfs',
		    $root) == 0 or die 'mount';
		$mounted = $root;
		is($c->{s}->admin(qw(store adopt))->{exit}, 0,
		    'row 74: another filesystem is adopted');
		sleep 1.1;
		my $before = $c->stored;
		for my $d (@DIALECTS) {
			my $r = $c->upload($large, dialect => $d);
			is(said($r, $d), $full{$d},
			    "row 73: a full tmpfs, as root ($d)");
			is($r->{header}{'x-should-retry'}, 'false',
			    "row 73: a full tmpfs: no retry ($d)");
		}
		is($c->stored, $before, 'row 73: a full tmpfs: nothing is left');
		is($c->upload($small)->{status}, 200,
		    'row 73: a small file still fits');
		system('mount', '-o', 'remount,ro', $root) == 0 or die 'remount';
		fails($c, 'row 74: a read-only tmpfs, as root', \%away,
		    'retry-after');
		system('mount', '-o', 'remount,rw', $root) == 0 or die 'remount';
		is($c->upload($small)->{status}, 200, 'row 74: writable again');
	}
	$c->done;
}

# --- quota ---

{
	my $c = Files->stack(set => { 'files.quota_user_bytes' => 1000000 });
	my $body = form(file_part('q' x 600000, 'q.bin'));
	my $first = $c->upload($body)->{json}{id};
	my $before = $c->stored;
	refused('row 75: over the quota', '400 O[ire|-|storage_quota_exceeded]',
	    '400 A[ire|storage_quota_exceeded]',
	    sub { $c->upload($body, dialect => shift) });
	is($c->stored, $before, 'row 75: neither row nor bytes are left');
	is($c->upload($body, key => 'same')->{status}, 200,
	    'row 75: everybody has a quota of their own');
	is($c->upload(form(file_part('q' x 400000, 'q.bin')))->{status}, 200,
	    'row 75: what just fits is taken');
	$c->request('DELETE', "/v1/files/$_->{id}")
	    for @{ $c->get('/v1/files')->{json}{data} };
	my @bad;
	for my $round (1 .. 8) {
		my @s = map { $c->begin('POST', '/v1/files', headers => [
		    'Content-Type' => 'multipart/form-data; boundary=BB'],
		    body => $body) } 1, 2;
		my @r = map { Files::read_answer($_, 'POST') } @s;
		my $got = join ' ', sort map { $_->{status} } @r;
		push @bad, $got if $got ne '200 400';
		$c->request('DELETE', "/v1/files/$_->{json}{id}")
		    for grep { $_->{status} == 200 } @r;
	}
	is("@bad", '', 'row 76: of two that race for the last bytes one wins');
	my $r = $c->upload(form(file_part('q' x 1000001, 'q.bin')));
	is(said($r, 'openai'), '400 O[ire|-|storage_quota_exceeded]',
	    'row 75: more than the whole quota');
	$c->done;
}

# --- the database leaves ---

{
	my $c = Files->stack;
	my $s = $c->{s};
	$s->expect_log(qr/db/i);
	for my $d (@DIALECTS) {
		my $before = $c->stored;
		my $half = length($large) / 2;
		my $n = 0;
		my $sock = $c->begin('POST', '/v1/files', dialect => $d,
		    headers => ['Content-Type' =>
		    'multipart/form-data; boundary=BB'],
		    length => length $large, body => sub {
			return substr $large, 0, $half if $n++ == 0;
			return '' if $n > 2;
			$c->wait_for(sub { $c->on_disk > (split ' ', $before)[3] });
			$s->stop('db', 'KILL');
			return substr $large, $half;
		    });
		my $r = Files::read_answer($sock, 'POST');
		is(said($r, $d), $down{$d},
		    "row 71: the database went before the row was live ($d)");
		ok(defined $r->{header}{'retry-after'},
		    "row 71: Retry-After ($d)");
		is(scalar $c->on_disk, (split ' ', $before)[3],
		    "row 71: the bytes are gone ($d)");
		$s->start;
		is($c->sql(q{SELECT COUNT(*) FROM file WHERE state = 'live'}),
		    (split ' ', $before)[1], "row 71: no file is live ($d)");
		$c->sql(q{DELETE FROM file WHERE state = 'uploading'});
	}
	$c->done;
}
{
	my $c = with_fault('commit-cut=200');
	$c->{s}->expect_log(qr/db/i);
	for my $d (@DIALECTS) {
		my $before = $c->on_disk;
		my $r = $c->upload($small, dialect => $d);
		is(said($r, $d), $down{$d},
		    "row 72: nobody knows whether it was committed ($d)");
		is(scalar $c->on_disk, $before + 1,
		    "row 72: so the bytes are kept ($d)");
		is($c->sql(q{SELECT COUNT(*) FROM file}), $before + 1,
		    "row 72: and the row by which the sweep finds them ($d)");
	}
	$c->sql(q{UPDATE file SET sweep_at = 1, created = 1});
	my @old = $c->on_disk;
	utime 1, 1, $_ for @old;
	my $r = $c->{s}->sweep;
	is($r->{exit}, 0, 'row 72: the sweep runs');
	is($c->sql(q{SELECT COUNT(*) FROM file WHERE state = 'live'})
	    . ' ' . $c->on_disk, '0 0', 'row 72: and settles it by the row');
	$c->done;
}
{
	my $c = with_fault('commit-lost=1');
	$c->{s}->expect_log(qr/on purpose/);
	my $r = $c->upload($small);
	is("$r->{status} " . $c->sql(
	    q{SELECT COUNT(*) FROM file WHERE state = 'live'}), '200 1',
	    'a commit that was done and whose word was lost is found out');
	$c->done;
}

# --- a worker dies between the steps of an upload ---

for (['kill-moved', 0], ['kill-durable', 0], ['kill-live', 1]) {
	my ($where, $live) = @$_;
	my $c = with_fault("$where=1");
	$c->{s}->expect_log(qr/killed by signal 9|prematurely closed/);
	my $r = $c->upload($small);
	is($r->{status}, 502, "$where: no answer");
	is(scalar(my @f = @{ $c->get('/v1/files')->{json}{data} }), $live,
	    "$where: the file is " . ($live ? 'whole' : 'not seen'));
	is(length $c->get("/v1/files/$_->{id}/content")->{body}, $_->{bytes},
	    "$where: its bytes are there") for @f;
	$c->sql(q{UPDATE file SET sweep_at = 1 WHERE state = 'uploading'});
	utime 1, 1, $_ for $c->on_disk;
	is($c->{s}->sweep->{exit}, 0, "$where: the sweep runs");
	is($c->sql('SELECT COUNT(*) FROM file') . ' ' . $c->on_disk,
	    "$live $live", "$where: nothing else is left");
	$c->done;
}

# --- the answer is lost ---

{
	my $c = with_fault('answer-lost=1');
	my ($lost, @rest) = map { $c->upload($small) } 1 .. 9;
	my @ok = grep { $_->{status} == 200 } $lost, @rest;
	cmp_ok(scalar @ok, '<', 9, 'an answer was lost');
	is($rest[-1]{status}, 200,
	    'up-no-double-on-retry: the same request again succeeds');
	my @live = map { $_->{id} } @{ $c->get('/v1/files')->{json}{data} };
	my %id = map { $_ => 1 } @live;
	is(scalar keys %id, 9, 'up-no-double-on-retry: each attempt that came'
	    . ' to its commit is one separate file');
	is(scalar(grep { !$id{ $_->{json}{id} } } @ok), 0,
	    'up-no-double-on-retry: those answered are among them');
	$c->done;
}
{
	my $c = with_fault('sync-enospc=1,close-edquot=1');
	$c->{s}->expect_log(qr/No space left|quota exceeded/);
	my @r = map { $c->upload($small) } 1 .. 12;
	my $ok = grep { $_->{status} == 200 } @r;
	is(scalar(grep { $_->{status} >= 500 } @r) + $ok, 12, 'some were refused');
	is($c->sql(q{SELECT COUNT(*) FROM file WHERE state = 'live'}), $ok,
	    'up-no-double-on-retry: no 5xx together with a live file');
	$c->done;
}

# --- refused by nginx before the worker ---

{
	my $G = 1048576;
	my $c = Files->stack(set => { 'files.max_bytes' => $G }, nginx_sed =>
	    's/client_max_body_size 0;/client_max_body_size 2m;/');
	my $of = sub { return form(file_part('n' x $_[0], 'n.bin')) };
	is($c->upload($of->($G - 1))->{status}, 200,
	    'up-too-big-for-nginx: one byte under the limit');
	my $chunk = 'n' x 65536;
	for (['one byte over', $of->($G + 1)],
	    ['ten times nginx\'s own limit', $of->(20 << 20)],
	    ['the same, length unknown', $of->(20 << 20), chunked => 65536]) {
		my ($what, $body, @how) = @$_;
		for my $d (@DIALECTS) {
			my $r = $c->upload($body, dialect => $d, early => 1, @how);
			is(said($r, $d), $d eq 'openai'
			    ? '413 O[ire|file|file_too_large]'
			    : '413 A[request_too_large]' , "up-too-big-for-nginx: $what ($d)")
			    unless $what =~ /^ten/ && $d eq 'openai';
			is(said($r, $d), '413 O[ire|-|file_too_large]',
			    "up-too-big-for-nginx: $what ($d)")
			    if $what =~ /^ten/ && $d eq 'openai';
			like($r->{json}{error}{message}, qr/\d{5,} bytes/,
			    "up-too-big-for-nginx: $what: names a limit ($d)");
		}
	}
	$c->done;
}

done_testing;
