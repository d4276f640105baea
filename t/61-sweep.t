use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Path qw(make_path remove_tree);
use JSON::PP qw(decode_json);
use MariaDB;
use Test::More;
use Time::HiRes qw(sleep time);

# The sweep over rows and bytes made by hand: what it takes, what it spares, what
# it counts, and that dying anywhere leaves what the next run finishes.

my $server = MariaDB->new;
my $root = "$server->{dir}/files";
my %set = ('files.grace_seconds' => 600, 'files.tombstone_seconds' => 86400,
    'files.abandon_seconds' => 3600);
my ($schema, $serial) = ('s', 0);

my ($MIN, $HOUR, $DAY) = (60, 3600, 86400);

$server->create($schema);
my $migrated = $server->admin($schema, 'migrate');
die($migrated->{err}) if $migrated->{exit};

# Rows are made when something looks at them, many at once.
my @later;

sub settle {
	$server->sql(join('; ', splice @later), $schema) if @later;
	return;
}

sub sql {
	settle();
	return $server->sql($_[0], $schema);
}

# No rows and an empty store, but for its mark.
sub fresh {
	sql('DELETE FROM file; DELETE FROM upload_part; DELETE FROM api_key;'
	    . ' TRUNCATE upload');
	remove_tree($_) for glob "$root/* $root/.swept";
	return;
}

sub sweep {
	my ($words, %o) = @_;
	settle();
	my $r = MariaDB::run($o{env} // {}, "$MariaDB::build/satchel-sweep",
	    '-c', $server->conf($schema, %set, %{$o{set} // {}}), @$words);
	$r->{json} = eval { decode_json($r->{out}) };
	return $r;
}

# The counts that are not zero, as text; "complete" and "dry_run" by name.
sub said {
	my ($r) = @_;
	my $j = $r->{json} or return "no JSON: $r->{out}$r->{err}";
	return join ' ', (map { "$_=$j->{$_}" } grep { $j->{$_} }
	    qw(expired files bytes uploads parts temp orphans tombstones keys
	    containers calls usage failed)), $j->{complete} ? 'complete' : 'cut',
	    $j->{dry_run} ? 'dry' : ();
}

sub key { return sprintf '%04x%028x', rand 65536, ++$serial }

sub final_path {
	my ($key) = @_;
	return "$root/" . substr($key, 0, 2) . '/' . substr($key, 2, 2);
}

# Put $bytes into the store under $key, last written $age seconds ago.
sub store {
	my ($key, $bytes, $age, $temp) = @_;
	my $dir = $temp ? "$root/tmp" : final_path($key);
	make_path($dir);
	open my $fh, '>', "$dir/$key" or die $!;
	print $fh 'x' x $bytes;
	close $fh or die $!;
	utime time - $age, time - $age, "$dir/$key" or die $!;
	return;
}

sub ago { return int((time - $_[0]) * 1000) }

# A row of file: state, seconds since sweep_at, and more columns.
sub file {
	my ($state, $age, %o) = @_;
	my $key = $o{key} // key();
	my %col = (workspace_id => 1, user_id => 1, state => "'$state'",
	    origin => "'upload'", store_key => "'$key'", name => "'n'",
	    mime => "'text/plain'", purpose => "'user_data'", bytes => 0,
	    created => ago(($age // 0) + $DAY),
	    sweep_at => defined $age ? ago($age) : 'NULL',
	    pid => $state eq 'uploading' ? 'NULL' : "'" . key() . "'",
	    %{$o{col} // {}});
	$col{expires} //= $state eq 'live' ? $col{sweep_at} : 'NULL';
	my @names = sort keys %col;
	push @later, 'INSERT INTO file (' . join(', ', @names) . ') VALUES ('
	    . join(', ', @col{@names}) . ')';
	return $key;
}

sub part {
	my ($state, $age, %o) = @_;
	my $key = key();
	push @later, "INSERT INTO upload_part (pid, upload_id, state, store_key,"
	    . " bytes, created, sweep_at) VALUES ("
	    . ($state eq 'uploading' ? 'NULL' : "'" . key() . "'")
	    . ', ' . ($o{upload} // 1)
	    . ", '$state', '$key', 3, " . ago($age) . ', ' . ago($age) . ')';
	return $key;
}

sub upload {
	my ($state, $age) = @_;
	push @later, "INSERT INTO upload (pid, workspace_id, user_id, state,"
	    . " bytes, name, mime, purpose, lifetime_s, created, expires,"
	    . " sweep_at) VALUES ('" . key() . "', 1, 1, '$state', 3, 'n', 'm',"
	    . " 'p', 0, " . ago($age) . ', ' . ago($age) . ', ' . ago($age)
	    . ')';
	return;
}

sub api_key {
	my ($revoked, $expires) = @_;
	push @later, sprintf "INSERT INTO api_key (sha256, hint, workspace_id, user_id,"
	    . " role, name_space, label, created, expires, revoked) VALUES"
	    . " (UNHEX('%064x'), 'abcd', 1, 1, 'user', 'key', '', 1, %s, %s)",
	    ++$serial, $expires // 'NULL', $revoked // 'NULL';
	return;
}

sub there { return join ' ', map { (-e final_path($_) . "/$_" ? 'final' : ())
    , (-e "$root/tmp/$_" ? 'temp' : ()) } @_ }

# All names in the store but the sweep's own note and the store's mark.
sub names {
	my @names = sort map { m{([^/]+)\n} } grep { !m{/\.(?:swept|satchel-store)$} }
	    `find '$root' -type f`;
	return join ' ', @names;
}

sub states {
	return join ' ', map { s/\t/:/r } split /\n/,
	    sql('SELECT state, COUNT(*) FROM file GROUP BY state ORDER BY state');
}

# --- the life of a file ---
{
	fresh();
	my $expired = file('live', 2 * $HOUR);
	my $young = file('live', 5 * $MIN, col => { bytes => 12 });
	my $later = file('live', -$HOUR);
	my $never = file('live', undef, col => { created => ago(900 * $DAY) });
	my $dead = file('dead', 11 * $MIN);
	my $fresh_dead = file('dead', 9 * $MIN, col => { bytes => 8 });
	store($_, 100, 900 * $DAY)
	    for $expired, $young, $later, $never, $dead, $fresh_dead;
	file('gone', 25 * $HOUR, col => { store_key => 'NULL' });
	file('gone', 23 * $HOUR, col => { store_key => 'NULL' });

	my $before = names() . states();
	my $r = sweep(['--dry-run']);
	is("$r->{exit} " . said($r), '0 expired=2 files=2 bytes=200 tombstones=1 '
	    . 'complete dry', 'dry run: says what would go');
	is(names() . states(), $before, 'and changes nothing');
	# Over, but within the 600 s: one expired, one dead.
	like($r->{err}, qr/^held back for files\.grace_seconds \(600 s\): 2 files, 20 bytes; to free\nthem now: satchel-sweep -s files\.grace_seconds=0$/m,
	    'and what is held back, and how to free it');
	is(scalar(() = $r->{err} =~ /^would remove: file-[0-9a-f]+, 100 bytes\n/mg), 2,
	    'each file is listed');

	$r = sweep([]);
	is("$r->{exit} " . said($r), '0 expired=2 files=2 bytes=200 tombstones=1 '
	    . 'complete', 'a run: does it');
	is(there($expired, $dead), '', 'expired or dead longer than the grace '
	    . 'time: bytes gone');
	is(there($young, $later, $never, $fresh_dead), 'final final final final',
	    'within the grace time, not expired, never expiring: bytes stay');
	is(states(), 'live:2 dead:2 gone:3', 'rows follow');
	is(sql("SELECT COUNT(*) FROM file WHERE state = 'gone'"
	    . ' AND (store_key IS NOT NULL OR claim <> 0 OR claim_until <> 0)'),
	    0, 'a tombstone holds no key and no claim');
	is(sql("SELECT COUNT(*) FROM file WHERE state = 'gone' AND sweep_at < "
	    . ago(2 * $HOUR - 5) . ' AND sweep_at > ' . ago(2 * $HOUR + 5)), 1,
	    'a tombstone keeps its time of death');
	$r = sweep([]);
	is("$r->{exit} " . said($r), '0 complete', 'again: nothing left to do');
	is(scalar(() = $r->{out} =~ /\n/g), 1, 'one line on standard output');
	is($r->{err}, '', 'and nothing on the other');

	$r = sweep([], set => { 'files.grace_seconds' => 0,
	    'files.tombstone_seconds' => 0 });
	is(said($r), 'files=2 bytes=200 tombstones=5 complete',
	    'no grace, no tombstones: all at once');
	is(states(), 'live:2', 'only the living are left');
}

# --- bytes that are missing, or cannot be removed ---
{
	fresh();
	file('dead', $HOUR);
	file('dead', $HOUR, col => { store_key => 'NULL', origin => "'provider'" });
	my ($stuck, $free) = map { file('dead', $HOUR) } 1, 2;
	store($free, 7, $HOUR);
	make_path(final_path($stuck) . "/$stuck");	# unlink() fails on it
	my $r = sweep([]);
	is("$r->{exit} " . said($r), '1 files=3 bytes=7 failed=1 complete',
	    'missing bytes are no error, one that fails is counted');
	is(states(), 'dead:1 gone:3', 'its row stays');
	is(sql("SELECT claim + claim_until FROM file WHERE state = 'dead'"), 0,
	    'unclaimed');
	rmdir final_path($stuck) . "/$stuck";
	store($stuck, 5, $HOUR);
	$r = sweep([]);
	is("$r->{exit} " . said($r), '0 files=1 bytes=5 complete',
	    'the next run finishes');
}

# --- what another sweep has claimed ---
{
	fresh();
	my ($free, $brief, $long) = map { file('dead', $HOUR) } 1 .. 3;
	store($_, 10, $HOUR) for $free, $brief, $long;
	my $until = ago(-1.5);
	sql("UPDATE file SET claim = 5, claim_until = $until"
	    . " WHERE store_key = '$brief'");
	sql('UPDATE file SET claim = 6, claim_until = ' . ago(-$HOUR)
	    . " WHERE store_key = '$long'");
	my $r = sweep([]);
	is("$r->{exit} " . said($r), '0 files=2 bytes=20 complete',
	    'a claim is waited for, but not for ever');
	ok(time * 1000 >= $until && $r->{json}{seconds} < 5,
	    'no longer than a lease lasts');
	is(there($long), 'final', 'and respected while it lasts');
}

# --- uploads that nobody finished ---
{
	fresh();
	my $going = file('uploading', 2 * $HOUR);
	store($going, 9, 3, 1);
	my $left = file('uploading', 3 * $HOUR);
	store($left, 11, 3 * $HOUR, 1);
	my $empty = file('uploading', 3 * $HOUR);
	my $young = file('uploading', 10 * $MIN);
	store($young, 1, 3 * $HOUR, 1);
	my $published = file('uploading', 2 * $HOUR);	# its commit is near
	store($published, 13, 2, 0);
	my $crashed = file('uploading', 4 * $HOUR);	# its commit never came
	store($crashed, 17, 4 * $HOUR, 0);
	my $both = file('uploading', 4 * $HOUR);	# between link and unlink
	store($both, 19, 4 * $HOUR, 0);
	link final_path($both) . "/$both", "$root/tmp/$both" or die $!;
	my $live = file('live', -$HOUR);		# the same, later
	store($live, 23, 4 * $HOUR, 0);
	link final_path($live) . "/$live", "$root/tmp/$live" or die $!;
	my $norow = key();
	store($norow, 29, 2 * $HOUR, 1);
	my $young_norow = key();
	store($young_norow, 31, 30 * $MIN, 1);
	store('README', 5, 900 * $DAY, 1);

	my $want = 'bytes=76 uploads=4 temp=4 complete';
	is(said(sweep(['--dry-run'])) =~ s/bytes=\d+ //r, $want =~ s/bytes=\d+ //r
	    =~ s/$/ dry/r, 'dry run: the same counts');
	my $r = sweep([]);
	is("$r->{exit} " . said($r), "0 $want", 'abandoned uploads go');
	is(there($left, $empty, $crashed, $both, $norow), '', 'with all names');
	is(there($going, $young, $published, $live, $young_norow),
	    'temp temp final final temp',
	    'written lately, begun lately, published lately, live: spared');
	ok(-e "$root/tmp/README", 'and what is no blob is never touched');
	is(states(), 'uploading:3 live:1', 'no tombstone of what never was');
}

# --- uploads in parts ---
{
	fresh();
	upload('pending', -$HOUR);			# 1: under way
	upload('pending', $HOUR);			# 2: past its hour
	upload($_, $HOUR) for qw(completed cancelled);
	upload($_, 25 * $HOUR) for qw(pending completed cancelled);
	my $mine = part('live', -$HOUR, upload => 1);
	my $late = part('live', $HOUR, upload => 2);
	my $joined = part('dead', 11 * $MIN, upload => 3);
	my $just = part('dead', 5 * $MIN, upload => 3);
	my $stalled = part('uploading', 2 * $HOUR, upload => 1);
	my $going = part('uploading', 2 * $HOUR, upload => 1);
	store($_, 3, 2 * $HOUR) for $mine, $late, $joined, $just;
	store($stalled, 2, 2 * $HOUR, 1);
	store($going, 2, 2, 1);
	my $want = 'bytes=8 uploads=3 parts=3 temp=1 complete';
	is(said(sweep(['--dry-run'])), "$want dry", 'parts: dry run');
	my $r = sweep([]);
	is("$r->{exit} " . said($r), "0 $want", 'parts: a run');
	is(there($late, $joined, $stalled), '', 'late, joined, stalled: gone');
	is(there($mine, $just, $going), 'final final temp', 'others stay');
	is(sql('SELECT COUNT(*) FROM upload_part'), 3, 'parts leave no tombstone');
	is(sql('SELECT GROUP_CONCAT(id ORDER BY id) FROM upload'), '1,2,3,4',
	    'uploads stay as long as tombstones');
}

# --- keys ---
{
	fresh();
	api_key(undef, undef);
	api_key(ago(29 * $DAY), undef);
	api_key(undef, ago(29 * $DAY));
	api_key(undef, ago(-$DAY));
	api_key(ago(31 * $DAY), undef);
	api_key(undef, ago(31 * $DAY));
	is(said(sweep(['--dry-run'])), 'keys=2 complete dry', 'keys: dry run');
	is(said(sweep([])), 'keys=2 complete', 'dead for a month: deleted');
	is(sql('SELECT COUNT(*) FROM api_key'), 4, 'others stay');
}

# --- containers, runs, answers and usage ---
{
	fresh();
	my $n = 0;
	my $container = sub {
		my ($state, $expires, $lease) = @_;
		push @later, sprintf "INSERT INTO container (id, pid, workspace_id,"
		    . " user_id, state, name, memory, idle_s, lease, lease_until,"
		    . " created, last_active, expires, ends) VALUES (%d, '%020d', 1,"
		    . " 1, '%s', 'n', '1g', 60, 0, %d, 1, 1, %d, %d)", ++$n, $n,
		    $state, ago($lease), ago($expires), ago($expires);
		push @later, sprintf "INSERT INTO container_file (container_row,"
		    . " pid, path, source, created) VALUES (%d, '%s', 'p', 'user', 1)",
		    $n, key();
	};
	$container->('live', -$HOUR, $DAY);
	$container->('live', 23 * $HOUR, $DAY);
	$container->('live', 31 * $DAY, $DAY);
	$container->('dead', 25 * $HOUR, $DAY);
	$container->('live', 31 * $DAY, -$HOUR);
	# Its successor gets its files for as long as answers are kept.
	$container->('live', 29 * $DAY, $DAY);
	push @later, map { sprintf "INSERT INTO code_call (pid, workspace_id,"
	    . " user_id, tool, kind, input, facts, out_text, err_text, created,"
	    . " expires) VALUES ('c%d', 1, 1, 0, 0, '', '', '', '', 1, %d)",
	    ++$n, ago($_) } 1, -$HOUR;
	push @later, map { sprintf "INSERT INTO response (pid, workspace_id,"
	    . " user_id, body, input, created, expires) VALUES ('r%d', 1, 1, '',"
	    . " '', 1, %d)", ++$n, ago($_) } 1, -$HOUR;
	push @later, map { sprintf "INSERT INTO document_text (sha256, way, said,"
	    . " created) VALUES ('%d', 'w', 's', %d)", ++$n, ago($_) }
	    29 * $DAY, 31 * $DAY;
	for my $age (364 * $DAY, 366 * $DAY) {
		push @later, sprintf "INSERT INTO model_usage (pid, workspace_id,"
		    . " user_id, key_id, route, model, provider, ran, status, rounds,"
		    . " runs, priced, run_ms, bytes, price, ms, created) VALUES"
		    . " ('u%d', 1, 1, 1, 'chat', 'm', 'p', 'nobody', 200, 1, 0, 0, 0,"
		    . " 0, 0, 1, %d)", ++$n, ago($age);
		push @later, sprintf "INSERT INTO run_usage (model_pid, workspace_id,"
		    . " user_id, tool, ms, files, bytes, created) VALUES ('u%d', 1,"
		    . " 1, 't', 1, 0, 0, %d)", $n, ago($age);
	}
	is(said(sweep(['--dry-run'])), 'containers=2 calls=3 usage=2 complete dry',
	    'containers, runs and usage: dry run');
	is(said(sweep([])), 'containers=2 calls=3 usage=2 complete',
	    'over for a month or deleted, past their expiry, older than a year: gone');
	is(sql("SELECT GROUP_CONCAT(id ORDER BY id) FROM container"), '1,2,5,6',
	    'not those alive, over within the month, or in use');
	is(sql("SELECT GROUP_CONCAT(container_row ORDER BY container_row)"
	    . ' FROM container_file'), '1,2,5,6', 'nor what they remember');
	is(said(sweep(['-s', 'usage.retention_seconds=0'])), 'complete',
	    'usage that is kept for ever');
}

# --- orphans ---
{
	fresh();
	my $live = file('live', -$HOUR);
	my $part = part('live', -$HOUR);
	my ($old, $young) = (key(), key());
	store($_, 10, 2 * $DAY) for $live, $part, $old;
	store($young, 10, 23 * $HOUR);
	make_path(final_path($old) . 'x');
	store("x$old", 1, 2 * $DAY);
	is(said(sweep(['--dry-run'])), 'bytes=10 orphans=1 complete dry',
	    'orphans: dry run');
	is(said(sweep([])), 'bytes=10 orphans=1 complete',
	    'old bytes without a row go');
	is(there($old, $live, $part, $young), 'final final final',
	    'bytes with a row, and young ones, stay');
	store($old, 10, 2 * $DAY);
	is(said(sweep([])), 'complete', 'walked once a day');
	is(said(sweep(['--orphans'])), 'bytes=10 orphans=1 complete',
	    'or when told to');
	store($old, 10, 2 * $DAY);
	utime time - 86460, time - 86460, "$root/.swept";
	is(said(sweep([])), 'bytes=10 orphans=1 complete', 'a day later again');

	store(key(), 10, 2 * $DAY) for 1 .. 60;
	utime time - 86460, time - 86460, "$root/.swept";
	my $r = sweep([]);
	is("$r->{exit} " . said($r), '1 cut', 'most blobs unknown: nothing done');
	like($r->{err}, qr/is this its database/, 'and a question asked');
	is(said(sweep(['--orphans'])), 'bytes=600 orphans=60 complete',
	    'unless told to');
}

# --- many, several at once, and not all at a time ---
sub many {
	my ($n, $bytes) = @_;
	fresh();
	my @keys = map { key() } 1 .. $n;
	my $at = ago($HOUR);
	for (my $i = 0; $i < $n; $i += 300) {
		my $last = $i + 299 < $n ? $i + 299 : $n - 1;
		push @later, 'INSERT INTO file (workspace_id, user_id, state,'
		    . ' origin, store_key, pid, name, mime, purpose, bytes,'
		    . ' created, expires, sweep_at) VALUES ' . join ', ', map {
			"(1, 1, 'live', 'upload', '$_', '" . key() . "', 'n', 'm',"
			. " 'p', $bytes, 1, $at, $at)" } @keys[$i .. $last];
		settle();
	}
	store($_, $bytes, $DAY / 2) for @keys;
	return @keys;
}
{
	many(600, 10);
	my $conf = $server->conf($schema, %set);
	my @pid;
	for my $i (1 .. 3) {
		push @pid, fork // die $!;
		next if $pid[-1];
		open STDOUT, '>', "$server->{dir}/out.$i";
		open STDERR, '>&', \*STDOUT;
		exec "$MariaDB::build/satchel-sweep", '-c', $conf,
		    '--batch', 20;
	}
	my $bad = 0;
	for (@pid) {
		waitpid $_, 0;
		$bad ||= $?;
	}
	my %sum;
	for my $i (1 .. 3) {
		open my $fh, '<', "$server->{dir}/out.$i" or die $!;
		my $said = do { local $/; <$fh> };
		my $j = eval { decode_json($said) } // {};
		$sum{$_} += $j->{$_} // 0 for qw(expired files bytes failed);
		diag($said) if $bad;
	}
	is($bad, 0, 'three at once: all end well');
	is("@sum{qw(expired files bytes failed)}", '600 600 6000 0',
	    'and what they count adds up to what was there');
	is(names() . states(), 'gone:600', 'all of it gone');
}
{
	many(150, 10);
	my $r = sweep(['--batch', 1, '--max-seconds', 1],
	    env => { SATCHEL_FAULT => 'slow-batch=1000' });
	is("$r->{exit} $r->{json}{complete}", '75 0', 'cut short: 75');
	cmp_ok($r->{json}{seconds}, '<', 3, 'in time');
	my $done = $r->{json}{files};
	$r = sweep([]);
	is("$r->{exit} " . ($r->{json}{files} + $done), '0 150',
	    'the next run does the rest');
}

{
	many(150, 10);
	local $ENV{SATCHEL_FAULT} = 'slow-batch=1000';
	my $conf = $server->conf($schema, %set);
	my $pid = fork // die $!;
	if ($pid == 0) {
		open STDOUT, '>', "$server->{dir}/out";
		exec "$MariaDB::build/satchel-sweep", '-c', $conf, '--batch', 4;
	}
	sleep 0.05 until sql("SELECT COUNT(*) FROM file WHERE state = 'gone'") > 8;
	kill 'TERM', $pid;
	waitpid $pid, 0;
	is($? >> 8, 75, 'SIGTERM: 75');
	open my $fh, '<', "$server->{dir}/out";
	my $j = decode_json(<$fh>);
	is($j->{files}, sql("SELECT COUNT(*) FROM file WHERE state = 'gone'"),
	    'what it had done is said');
	is(sql('SELECT COUNT(*) FROM file WHERE claim <> 0'), 0,
	    'its last batch is whole');
}

# --- killed anywhere ---
for my $step (qw(kill-temp kill-marked kill-claimed kill-unlinked kill-gone
    kill-forgotten kill-orphan)) {
	fresh();
	my @expired = map { file('live', 2 * $DAY) } 1 .. 10;
	store($_, 10, 3 * $DAY) for @expired;
	my $live = file('live', -$HOUR);
	my $going = file('uploading', 2 * $HOUR);
	store($live, 10, 3 * $DAY);
	store($going, 10, 1, 1);
	my $left = file('uploading', 2 * $DAY);
	store($left, 10, 2 * $DAY, 1);
	store(key(), 10, 2 * $DAY);
	store(key(), 10, 2 * $DAY, 1);
	file('gone', 2 * $DAY, col => { store_key => 'NULL' }) for 1 .. 5;
	my $r = sweep(['--batch', 4], env => { SATCHEL_FAULT => "$step=1" });
	is($r->{exit}, 'signal 9', "$step: the run dies");
	is(there($live, $going), 'final temp', "$step: the living are untouched");
	my $start = time;
	$r = sweep(['--batch', 4]);
	is("$r->{exit} $r->{json}{complete}", '0 1', "$step: the next run is whole");
	is(names(), join(' ', sort $live, $going), "$step: no bytes left over");
	is(states(), 'uploading:1 live:1', "$step: no row left over");
	cmp_ok(time - $start, '<', 5, "$step: in time");
}

# --- what it cannot run with ---
{
	my $r = sweep(['--batch', 0]);
	is($r->{exit}, 2, '--batch 0');
	is(sweep(['--batch', 201])->{exit}, 2, '--batch 201');
	is(sweep(['--max-seconds', 'x'])->{exit}, 2, '--max-seconds x');
	is(sweep(['now'])->{exit}, 2, 'a word too many');
	is(sweep(['-s', 'files.nothing=1'])->{exit}, 2, 'an unknown setting');
	$r = sweep(['--help']);
	is($r->{exit}, 0, '--help');
	like($r->{out}, qr/75 ended\s+early/, 'says what the exit codes mean');
	fresh();
	$r = sweep([], set => { 'files.root' => "$server->{dir}/nowhere" });
	is("$r->{exit} " . said($r), '2 cut', 'no store');
	like($r->{err}, qr/the store failed/, 'and says so');
	file('dead', $HOUR);
	sql("UPDATE migration SET number = 99 ORDER BY number DESC LIMIT 1");
	$r = sweep([]);
	is($r->{exit}, 2, 'a schema it does not know');
	is(states(), 'dead:1', 'is left alone');
	$server->stop;
	$r = sweep([]);
	is($r->{exit}, 2, 'no database');
}
done_testing();
