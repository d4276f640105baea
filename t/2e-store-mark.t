# A store whose filesystem is not mounted: an empty directory stands in its
# place.  Nothing may be written there, swept or repaired by it.

use strict;
use warnings;
use Test::More;
use Time::HiRes qw(sleep);
use Files;

my $c = Files->stack(set => { 'files.grace_seconds' => 0 });
my $s = $c->{s};
my $root = $s->{env}{SATCHEL_FILES_ROOT};
my $small = form(file_part('x' x 1000, 's.txt'));
my %away = (openai => '503 O[srv|-|storage_unavailable]',
    anthropic => '503 A[api_error]');
$s->expect_log(qr/store \Q$root\E/);

like(slurp("$root/.satchel-store"), qr/\A[0-9a-f]{32}\n\z/,
    'migrate has marked the store');
is($s->admin('migrate')->{exit}, 0, '... and leaves it as it is');

sub slurp { local (@ARGV, $/) = @_; return scalar <> }

# unmount, mount: put an empty directory in the root's place, and back.
sub unmount {
	rename $root, "$root.real" or die "rename: $!";
	mkdir $root or die "mkdir: $!";
	my @st = stat "$root.real";
	chown @st[4, 5], $root or die "chown: $!";
}
sub mount {
	rmdir "$root/tmp";
	rmdir $root or return fail("the empty $root was written to: "
	    . join ' ', glob "$root/* $root/.sat*");
	rename "$root.real", $root or die "rename: $!";
}

my $kept = $c->upload($small)->{json}{id};
my $dead = $c->upload($small)->{json}{id};
is($c->request('DELETE', "/v1/files/$dead")->{status}, 200, 'one is deleted');

unmount();
# What was looked at a second ago is still believed, and still written to.
$c->wait_for(sub { $c->upload($small)->{status} == 503 });
sleep 1.2; # ... by each process.
my $live = $c->sql(q{SELECT COUNT(*) FROM file WHERE state = 'live'});
for my $d (@DIALECTS) {
	my $r = $c->upload($small, dialect => $d);
	is(said($r, $d), $away{$d}, "an upload is refused ($d)");
	ok(defined $r->{header}{'retry-after'}, "... for now ($d)");
}
is($c->get('/readyz')->{status}, 503, '/readyz says so');
my $r = $s->sweep;
isnt($r->{exit}, 0, 'the sweep does not run');
is($c->sql(q{SELECT COUNT(*) FROM file WHERE state = 'gone'}), 0,
    '... and forgets no bytes that it cannot see');
for my $words (['fsck'], ['fsck', '--repair'], ['fsck', '--repair', '--force']) {
	isnt($s->admin(@$words)->{exit}, 0, "@$words does not run");
}
is($c->sql(q{SELECT COUNT(*) FROM file WHERE state = 'live'}), $live,
    '... and gives no file up');
$r = $s->admin('migrate');
is($r->{exit}, 1, 'migrate refuses');
like($r->{err}, qr/files\.root \Q$root\E .* no mark.*store adopt/s,
    '... naming the setting and the command');
$r = $s->admin('check');
like($r->{out}, qr/^FAIL\s+store\.mark\s+\Q$root\E/mi, 'check sees it');

mount();
$c->wait_for(sub { $c->get('/readyz')->{status} == 200 });
is($c->stored, "rows $live files " . ($live + 1),
    'back again: nothing is lost, nothing too much');
is($c->get("/v1/files/$kept")->{status}, 200, '... what was there is there');
is($s->sweep->{exit}, 0, '... and the sweep runs');
is($c->on_disk, $live, '... and takes what was deleted');

# --- another database's store, and one that lost its mark ---

{
	open(my $f, '>', "$root/.satchel-store") or die $!;
	print $f 'f' x 32, "\n";
	close $f;
	$c->wait_for(sub { $c->upload($small)->{status} == 503 });
	like($s->admin('migrate')->{err}, qr/bears another mark/,
	    'the mark of another database');
	is($s->admin(qw(store adopt))->{exit}, 0, 'store adopt');
	$c->wait_for(sub { $c->upload($small)->{status} == 200 });
	for my $text ('', 'f' x 32, 'F' x 32 . "\n", 'f' x 100 . "\n") {
		open($f, '>', "$root/.satchel-store") or die $!;
		print $f $text;
		close $f;
		is($s->admin('fsck')->{exit}, 2,
		    'no mark but ' . length($text) . ' bytes');
	}
	is($s->admin(qw(--json store adopt))->{out}, '{"mark":"'
	    . $c->sql('SELECT mark FROM store') . qq("}\n), 'adopted again');
	is($s->admin('fsck')->{exit}, 0, '... all is well');
}

$c->done;
done_testing;
