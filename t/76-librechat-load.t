#!/usr/bin/perl

# Users of LibreChat at once, each in a loop of upload, run, a run of what that
# made, and download, every byte checked.  SATCHEL_SOAK: 50 of them for two
# minutes.

use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use FindBin;
use lib "$FindBin::Bin/lib";
use POSIX ();
use Test::More;
use Code;
use Satchel;

my ($users, $seconds) = $ENV{SATCHEL_SOAK} ? (50, 120) : (6, 5);
my $code = Code->new;
my $s = Satchel->new(set => {'librechat.jwt.pem_dir' => $code->{pem_dir},
    map { ("librechat.$_" => 0) } qw(execs_per_30s uploads_per_5min
	downloads_per_min reads_per_min)});

# One round of one user; dies if anything is not as it should be.
sub round {
	my ($user, @as) = @_;
	my $bytes = join '', map { chr int rand 256 } 1 .. 1 + int rand 100000;
	my $ok = sub {
		my ($r, $what) = @_;
		$r->{status} == 200 or die "$user: $what: $r->{status} $r->{body}\n";
		return $r->{json};
	};
	my $run = sub {
		my ($text, $f) = @_;
		return $ok->($s->post('/v1/exec', @as, timeout => 120, json => { lang => 'bash',
		    code => $text, files => [{ %$f, kind => 'user', resource_id => $user }] }), 'run');
	};
	my $up = $ok->($s->post('/v1/upload', @as, form => [[kind => 'user'],
	    ['file', $bytes, 'in.bin']]), 'upload');
	my $r = $run->('sha256sum in.bin; { cat in.bin; echo one; } >out.bin',
	    { id => $up->{files}[0]{fileId}, name => 'in.bin',
	    storage_session_id => $up->{storage_session_id} });
	$r->{stdout} eq sha256_hex($bytes) . "  in.bin\n" or die "$user: other bytes: $r->{stdout}";
	my ($out) = grep { !$_->{inherited} } @{$r->{files}};
	$out && $out->{name} eq 'out.bin' or die "$user: no output\n";
	$r = $run->('echo two >>x/y.bin', { id => $out->{id}, name => 'x/y.bin',
	    storage_session_id => $out->{storage_session_id} });
	my ($last) = @{$r->{files}};
	my $got = $s->get("/v1/download/$last->{storage_session_id}/$last->{id}?kind=user", @as);
	$got->{status} == 200 && $got->{body} eq "${bytes}one\ntwo\n"
	    or die "$user: downloaded other bytes, $got->{status}\n";
	return;
}

my @pids;
my $until = time + $seconds;
for my $n (1 .. $users) {
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		srand $n;
		my $rounds = 0;
		while (time < $until || !$rounds) {
			# A token lives for five minutes.
			eval { round("u$n", $code->bearer(sub => "u$n")); 1 }
			    or do { print STDERR "# $@"; POSIX::_exit(1) };
			$rounds++;
		}
		POSIX::_exit(0);
	}
	push @pids, $pid;
}
my @bad = grep { waitpid $_, 0; $? } @pids;
is(scalar @bad, 0, "$users users, $seconds seconds, every byte");
is_deeply([$s->mysql(q{SELECT COUNT(*) FROM file WHERE state = 'uploading'})], [[0]],
    'nothing half stored is left');
cmp_ok(($s->mysql(q{SELECT COUNT(*) FROM file WHERE origin = 'run'}))[0][0], '>=',
    2 * $users, 'each has run twice');
$s->done;
done_testing;
