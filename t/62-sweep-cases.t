use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Digest::SHA qw(sha256_hex);
use Satchel qw(form answer);
use Test::More;
use Time::HiRes qw(sleep time);

# The sweep beside a running system: the field cases, a file at a time.

my ($HOUR, $DAY) = (3600, 86400);
my $s = Satchel->new(set => { 'files.grace_seconds' => 0,
    'files.tombstone_seconds' => 0, 'files.abandon_seconds' => $HOUR });

# A file of alice's with $bytes.  {id, key, sha}
sub upload {
	my ($bytes, %o) = @_;
	my $r = $s->upload($bytes, %o);
	die "upload: $r->{raw}" if $r->{status} != 200;
	my ($pid) = $r->{json}{id} =~ /^file-(\w+)$/;
	my ($key) = map { $_->[0] }
	    $s->mysql("SELECT store_key FROM file WHERE pid = '$pid'");
	return { id => $r->{json}{id}, pid => $pid, key => $key,
	    bytes => $bytes, json => $r->{json} };
}

# Let its time have been up for $seconds.
sub expire {
	my ($seconds, @files) = @_;
	my $at = int((time - $seconds) * 1000);
	$s->mysql("UPDATE file SET expires = $at, sweep_at = $at WHERE pid IN ("
	    . join(', ', map { "'$_->{pid}'" } @files) . ')');
	return;
}

sub path {
	my ($key) = @_;
	return "$s->{root}/" . substr($key, 0, 2) . '/' . substr($key, 2, 2)
	    . "/$key";
}

# How each way to ask for a file is answered, in both dialects.
sub asked {
	my ($f) = @_;
	my %seen;
	for my $ant (0, 1) {
		for my $what ('', '/content') {
			my $r = $s->get("/v1/files/$f->{id}$what", ant => $ant);
			$seen{$r->{status}}++;
		}
		my $list = $s->get('/v1/files?limit=100', ant => $ant);
		$seen{listed}++ if grep { $_->{id} eq $f->{id} }
		    @{$list->{json}{data}};
	}
	return join ' ', map { "$_ x$seen{$_}" } sort keys %seen;
}

# --- sweep-crash-points ---
for my $step (qw(kill-claimed kill-unlinked kill-gone)) {
	my @expired = map { upload("$step $_", name => "e$_.txt") } 1 .. 10;
	my $live = upload('alive', name => 'live.txt');
	expire(2 * $DAY, @expired);
	unlink path($expired[3]{key}) or die $!;	# bytes missing already
	{
		local $ENV{SATCHEL_FAULT} = "$step=1";
		is($s->sweep('--batch', 4)->{exit}, 137, "$step: killed");
	}
	is(join(',', map { asked($_) } @expired), join(',', ('404 x4') x 10),
	    "$step: between the runs an expired file is 404");
	my $r = $s->sweep('--batch', 4);
	is("$r->{exit} $r->{json}{failed}", '0 0', "$step: the second run is well");
	is(join(',', map { asked($_) } @expired), join(',', ('404 x4') x 10),
	    "$step: after it too");
	is(scalar(grep { -e path($_->{key}) } @expired), 0, "$step: no bytes left");
	is(($s->mysql('SELECT COUNT(*) FROM file WHERE state <> \'live\''))[0][0], 0,
	    "$step: no row left");
	my $got = $s->get("/v1/files/$live->{id}/content");
	is("$got->{status} $got->{body}", '200 alive', "$step: the live one lives");
	is($s->del("/v1/files/$live->{id}")->{status}, 200, "$step: until deleted");
}

# --- sweep-spares-uploads ---
{
	$s->sweep;
	my $bytes = join '', map { pack 'N', $_ * 2654435761 % 2**32 } 1 .. 300_000;
	my ($type, $body) = form(['purpose', 'user_data'],
	    ['file', $bytes, 'slow.bin', 'application/octet-stream']);
	my $sock = $s->sock;
	my $half = int(length($body) / 2);
	print {$sock} "POST /v1/files HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
	    . "Authorization: Bearer $s->{key}{alice}\r\nContent-Type: $type\r\n"
	    . 'Content-Length: ' . length($body) . "\r\n\r\n"
	    . substr $body, 0, $half;
	$sock->flush;
	my ($row, $key);
	for (1 .. 100) {
		($row) = $s->mysql('SELECT id, store_key FROM file'
		    . " WHERE state = 'uploading'");
		last if $row && -s "$s->{root}/tmp/$row->[1]";
		sleep 0.05;
	}
	($row, $key) = @$row;
	ok(-s "$s->{root}/tmp/$key", 'U is being received');
	my $start = int((time - 2 * $HOUR) * 1000);
	$s->mysql("UPDATE file SET created = $start, sweep_at = $start"
	    . " WHERE id = $row");

	my ($t1, $t2) = ('0' x 31 . '1', '0' x 31 . '2');	# T: without, with a row
	for ($t1, $t2) {
		open my $fh, '>', "$s->{root}/tmp/$_" or die $!;
		print $fh 'left behind';
		close $fh;
		utime time - 3 * $HOUR, time - 3 * $HOUR, "$s->{root}/tmp/$_";
	}
	$s->mysql('INSERT INTO file (workspace_id, user_id, state, origin,'
	    . " store_key, name, mime, purpose, created, sweep_at) VALUES (1, 1,"
	    . " 'uploading', 'upload', '$t2', '', '', '', $start, $start)");

	my $r = $s->sweep;
	is($r->{exit}, 0, 'sweep beside an upload');
	is("$r->{json}{uploads} $r->{json}{temp} $r->{json}{bytes}", '1 2 22',
	    'T is what it took');
	ok(!-e "$s->{root}/tmp/$t1" && !-e "$s->{root}/tmp/$t2", 'T is gone');
	ok(-e "$s->{root}/tmp/$key", 'U is not');
	print {$sock} substr $body, $half;
	my $answer = answer(do { local $/; <$sock> });
	is($answer->{status}, 200, 'U completes');
	my $got = $s->get("/v1/files/$answer->{json}{id}/content");
	is(sha256_hex($got->{body}), sha256_hex($bytes), 'and downloads intact');

	# The same upload, had it stood still: swept while it was open.
	$s->expect_log(qr/store /);
	$sock = $s->sock;
	print {$sock} "POST /v1/files HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
	    . "Authorization: Bearer $s->{key}{alice}\r\nContent-Type: $type\r\n"
	    . 'Content-Length: ' . length($body) . "\r\n\r\n"
	    . substr $body, 0, $half;
	$sock->flush;
	for (1 .. 100) {
		($row) = $s->mysql('SELECT id, store_key FROM file'
		    . " WHERE state = 'uploading'");
		last if $row && -s "$s->{root}/tmp/$row->[1]";
		sleep 0.05;
	}
	($row, $key) = @$row;
	sleep 0.5;
	$s->mysql("UPDATE file SET sweep_at = $start WHERE id = $row");
	utime time - 3 * $HOUR, time - 3 * $HOUR, "$s->{root}/tmp/$key";
	is($s->sweep->{json}{uploads}, 1, 'one that stood still is given up');
	print {$sock} substr $body, $half;
	$answer = answer(do { local $/; <$sock> });
	is($answer->{status}, 503, 'and cannot come back');
	is(($s->mysql("SELECT COUNT(*) FROM file WHERE store_key = '$key'"))[0][0], 0,
	    'no row of it');
	is(join(' ', glob "$s->{root}/tmp/* " . path($key) . '*'), '', 'no bytes');
}

# --- sweep-zero-means-never ---
{
	is(($s->mysql("SELECT COUNT(*) FROM file WHERE expires <= created"))[0][0], 0,
	    'no file expires as it is made');
	my $old = upload('kept', name => 'old.txt');
	my $own = upload('own expiry', name => 'own.txt',
	    'expires_after[anchor]' => 'created_at',
	    'expires_after[seconds]' => 3600);
	my $past = int((time - 900 * $DAY) * 1000);
	$s->mysql("UPDATE file SET created = $past WHERE pid = '$old->{pid}'");
	expire(10, $own);
	is($old->{json}{expires_at}, undef, 'retention 0: no expiry');
	is($s->sweep->{exit}, 0, 'sweep');
	is(asked($old), '200 x4 listed x2', 'the old file stays');
	is(asked($own), '404 x4', 'the one with an expiry of its own goes');
	ok(!-e path($own->{key}), 'with its bytes');
}
$s->done;
done_testing();
