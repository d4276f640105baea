#!/usr/bin/perl

# SIGKILL a worker, the sweep or the database at random points of upload, delete
# and sweep.  Whatever was acknowledged holds; whatever is visible is whole;
# after the last sweep nothing is left over.  The seed is printed; SATCHEL_SEED
# repeats it.  10 rounds, 200 with SATCHEL_SOAK.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Digest::SHA qw(sha256_hex);
use File::Find;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);
use Satchel;

my $rounds = $ENV{SATCHEL_SOAK} ? 200 : 10;
my $seed = $ENV{SATCHEL_SEED} // ($ENV{SATCHEL_SOAK} ? time() & 0xffff : 20261130);
diag("$rounds rounds, seed $seed") if $ENV{SATCHEL_SOAK};
srand($seed);

my $s = Satchel->new(set => { 'files.grace_seconds' => 0,
    'files.tombstone_seconds' => 1, 'files.abandon_seconds' => 2 });
# What a killed part makes the others say.
$s->expect_log(qr/./);

# What has been acknowledged: id => sha256, and what a delete was begun for.
my (%kept, %gone);

# One client: uploads and deletes until ${until}; says what came of it.
sub client {
	my ($n, $until, $out, @mine) = @_;
	srand($seed * 1000 + $n);
	while (time() < $until) {
		# Few files: all of them are read again after each round.
		if (@mine && rand() < (@mine > 20 ? 0.75 : 0.4)) {
			my $id = splice(@mine, int(rand(@mine)), 1);
			syswrite($out, "begin $id -\n");
			my $a = eval { $s->del("/v1/files/$id", timeout => 20) };
			syswrite($out, "deleted $id -\n") if ($a->{status} // 0) == 200;
			next;
		}
		my $bytes = join('', map { chr(int(rand(256))) } 1 .. 64) x (1 + int(rand(4000)));
		my $sha = sha256_hex($bytes);
		my $a = eval { $s->upload($bytes, name => $sha, timeout => 20) };
		next if ($a->{status} // 0) != 200;
		push(@mine, $a->{json}{id});
		syswrite($out, "kept $a->{json}{id} $sha\n");
	}
}

# Everything listed, as id => name; the name is the SHA-256 of what was sent.
sub listed {
	my %all;
	my $after = '';
	for (;;) {
		my $r = $s->get("/v1/files?limit=500$after");
		my $j = $r->{json};
		die "a listing: $r->{status} $r->{body}" if $r->{status} != 200;
		$all{$_->{id}} = $_->{filename} for @{$j->{data}};
		return %all if !$j->{has_more};
		$after = "&after=$j->{last_id}";
	}
}

sub healthy {
	for (1 .. 300) {
		my $a = eval { $s->get('/readyz', as => undef) };
		return 1 if ($a->{status} // 0) == 200;
		sleep(0.05);
	}
	return 0;
}

sub kill_something {
	my ($sweep) = @_;
	my $what = ('worker', 'worker', 'sweep', 'db')[int(rand(4))];
	if ($what eq 'worker') {
		my (undef, @children) = $s->pids('files');
		kill('KILL', $children[int(rand(@children))]);
	} elsif ($what eq 'sweep') {
		kill('KILL', $sweep);
	} else {
		$s->stop('db', 'KILL');
		$s->start;
	}
	return $what;
}

sub round {
	my ($n) = @_;
	my (@pipes, @pids);
	my $until = time() + 1.2;
	my @ids = sort(keys(%kept));
	for my $c (0 .. 2) {
		pipe(my $in, my $out) or die $!;
		my @mine = grep { hex(substr($_, -2)) % 3 == $c } @ids;
		my $pid = fork() // die $!;
		if ($pid == 0) {
			close($in);
			client($n * 10 + $c, $until, $out, @mine);
			POSIX::_exit(0);
		}
		close($out);
		push(@pipes, $in);
		push(@pids, $pid);
	}
	my $sweeper = fork() // die $!;
	if ($sweeper == 0) {
		exec(split(' ', $s->{env}{SATCHEL_SWEEP} . ' --batch 3')) if open(STDOUT, '>', '/dev/null') && open(STDERR, '>', '/dev/null');
		POSIX::_exit(1);
	}
	sleep(rand(0.6));
	my $what = kill_something($sweeper);
	for my $in (@pipes) {
		while (<$in>) {
			my ($word, $id, $sha) = split;
			$kept{$id} = $sha if $word eq 'kept';
			delete($kept{$id}), $gone{$id} = 'begun' if $word eq 'begin';
			$gone{$id} = 'deleted' if $word eq 'deleted';
		}
	}
	waitpid($_, 0) for @pids, $sweeper;
	ok(healthy(), "round $n: well again after the $what was killed");
	my %see = listed();
	is(join(' ', grep { ($see{$_} // '') ne $kept{$_} } sort(keys(%kept))), '',
	    "round $n: every acknowledged file is listed as it was sent");
	is(join(' ', grep { $gone{$_} eq 'deleted' && $see{$_} } sort(keys(%gone))), '',
	    "round $n: no acknowledged delete came back");
	my @half = grep { sha256_hex($s->get("/v1/files/$_/content")->{body}) ne $see{$_} } sort(keys(%see));
	is("@half", '', "round $n: whatever is listed is whole");
}

round($_) for 1 .. $rounds;
cmp_ok(scalar(keys(%kept)) + scalar(keys(%gone)), '>', 5 * $rounds, 'enough was going on');

# The clients are gone: what is left half done is now abandoned.
sleep(3.2);
my $sweep = $s->sweep('--orphans');
is($sweep->{exit}, 0, 'the sweep ends well') or diag($sweep->{err});
sleep(1.2);
is($s->sweep->{exit}, 0, 'and so does the one after the tombstones\' time');
my @bytes;
find({ no_chdir => 1, wanted => sub { push(@bytes, $_) if -f && m{/[0-9a-f]{32}$} } }, $s->{root});
my %see = listed();
is(scalar(@bytes), scalar(keys(%see)), 'as many blobs as live files: nothing left over');
is_deeply([$s->mysql("SELECT state, COUNT(*) FROM file WHERE state <> 'live' GROUP BY state")], [],
    'no row but those of live files');
is($s->admin('fsck')->{exit}, 0, 'rows and bytes agree');
$s->done;
done_testing();
