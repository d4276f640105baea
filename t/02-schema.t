use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP qw(decode_json);
use MariaDB;
use Test::More;
use Time::HiRes qw(sleep);

# The schema: its files, how they are applied, and who refuses what.

my $top = $MariaDB::top;
my $server = MariaDB->new;

sub slurp { local (@ARGV, $/) = @_; return scalar <> }

# A schema with nothing in it.
my $count = 0;
sub fresh { my $s = 's' . $count++; $server->create($s); return $s }

sub migrate { my ($s, @words) = @_; return $server->admin($s, 'migrate', @words) }

sub structure {
	my ($s) = @_;
	return join "\n", map {
		(split /\t/, $server->sql("SHOW CREATE TABLE $_", $s))[1]
		    =~ s/ AUTO_INCREMENT=\d+//r =~ s/\\n/\n/gr
	} split /\n/, $server->sql('SHOW TABLES', $s);
}

# --- the files ---

my @files = sort glob "$top/schema/*.sql";
my ($number) = slurp("$top/lib/data/schema.h") =~ /#define SCHEMA_NUMBER (\d+)/;
is(scalar @files, $number, 'SCHEMA_NUMBER is the number of files');
my $n = 0;
for my $file (@files) {
	my ($base) = $file =~ m{([^/]+)$};
	my $text = slurp($file) =~ s/^--.*\n//mgr;
	my $outside = $text =~ s/'[^']*'//gr;

	like($base, sprintf('%04d', ++$n) eq substr($base, 0, 4)
	    ? qr/^\d{4}_[a-z_]+\.sql$/ : qr/^$n is missing$/, "$base: its name");
	is(() = $outside =~ /;/g, 1, '... one statement');
	like($text, qr/;\s*\z/, '... which ends the file');
	unlike($outside, qr/IF (NOT )?EXISTS|CREATE SEQUENCE|RETURNING|SYSTEM
	    VERSIONING|INVISIBLE|\bUUID\b|INET[46]|\/\*/xi,
	    '... that both servers know, and that hides nothing');
}

# --- from nothing ---

my $s = fresh();
my $r = $server->admin($s, qw(workspace list));
is($r->{exit}, 2, 'an empty schema is refused');
like($r->{err}, qr/is at number 0 .* needs $number: run satchel-admin migrate/,
    '... naming the command that helps');
$r = migrate($s);
is($r->{exit}, 0, 'migrate') or diag $r->{err};
is($r->{err}, '', '... without complaint');
is($server->sql('SELECT GROUP_CONCAT(number ORDER BY number), COUNT(applied),'
    . ' MIN(applied >= begun), MIN(begun) > 1700000000000 FROM migration', $s),
    join(',', 1 .. $number) . "\t$number\t1\t1", '... each step is recorded');
is($server->sql('SELECT GROUP_CONCAT(name ORDER BY number) FROM migration', $s),
    join(',', map { m{/\d+_(.*)\.sql$} } @files), '... by its name');
is($server->admin($s, qw(workspace list))->{exit}, 0, '... and all is well');
my $structure = structure($s);
$r = migrate($s, '--json');
is_deeply(decode_json($r->{out}), { number => $number + 0, done => 0 },
    'a second time: nothing to do');

is($server->sql("SELECT COUNT(*) FROM information_schema.tables t
	WHERE table_schema = '$s' AND (engine <> 'InnoDB' OR
	    table_collation <> 'utf8mb4_bin' OR NOT EXISTS (SELECT 1 FROM
	    information_schema.table_constraints c WHERE
	    c.table_schema = t.table_schema AND c.table_name = t.table_name
	    AND constraint_type = 'PRIMARY KEY'))"), 0,
    'every table is InnoDB, utf8mb4, and has a primary key');
is($server->sql("SELECT COUNT(*) FROM information_schema.columns
	WHERE table_schema = '$s' AND collation_name IS NOT NULL
	AND collation_name NOT IN ('ascii_bin', 'utf8mb4_bin')"), 0,
    'every text column compares bytes');
is($server->sql("SELECT GROUP_CONCAT(DISTINCT collation_name) FROM
	information_schema.columns WHERE table_schema = '$s' AND column_name IN
	('pid', 'store_key', 'lc_session', 'lc_object', 'session',
	'container_id')"), 'ascii_bin', 'ids are ascii_bin');

# --- other numbers ---

$server->sql("INSERT INTO migration VALUES ($number + 1, 'later', 1, NULL, $number)", $s);
is($server->admin($s, qw(workspace list))->{exit}, 0,
    'a newer schema that lets this number go on, while it is made');
$server->sql("INSERT INTO migration VALUES ($number + 2, 'more', 1, 1, $number)", $s);
is($server->admin($s, qw(workspace list))->{exit}, 0, '... and further on');
$server->sql("UPDATE migration SET oldest = $number + 1 WHERE number > $number + 1", $s);
is($server->admin($s, qw(workspace list))->{exit}, 2, '... not past a step that does not');
$server->sql("DELETE FROM migration WHERE number > $number + 1;"
    . ' UPDATE migration SET oldest = NULL', $s);
$r = $server->admin($s, qw(workspace list));
is($r->{exit}, 2, 'a newer schema is refused');
like($r->{err}, qr/is at number @{[$number + 1]} .* knows $number: install the newer/,
    '... with what to do');
$r = migrate($s);
is($r->{exit}, 1, '... by migrate too');
like($r->{err}, qr/newer than the last step of this program, $number/,
    '... with the reason');
$server->sql("DELETE FROM migration WHERE number > $number", $s);

$server->sql('UPDATE migration SET applied = NULL WHERE number = 5', $s);
$r = $server->admin($s, qw(workspace list));
is($r->{exit}, 2, 'an unfinished step is refused');
like($r->{err}, qr/missing or unfinished: run satchel-admin migrate/,
    '... naming the command');
is(migrate($s)->{exit}, 0, 'done but not recorded: migrate makes it good');
is(structure($s), $structure, '... without harm');

$server->sql('DROP TABLE setting; UPDATE migration SET applied = NULL'
    . ' WHERE number = 9', $s);
is(migrate($s)->{exit}, 0, 'begun but not done: migrate does it');
is(structure($s), $structure, '... as it should be');

$server->sql('DELETE FROM migration WHERE number = 3; DROP TABLE user', $s);
like($server->admin($s, qw(workspace list))->{err}, qr/missing or unfinished/,
    'a missing step is refused');
is(migrate($s)->{exit}, 0, '... and done');
is(structure($s), $structure, '... as it should be');

$server->sql("UPDATE migration SET name = 'other' WHERE number = 4", $s);
$r = migrate($s);
is($r->{exit}, 1, 'a step of another name is refused');
like($r->{err}, qr/step 4 is recorded under another name than api_key/,
    '... with the reason');

# --- somebody else's table ---

$s = fresh();
$server->sql('CREATE TABLE user (host INT PRIMARY KEY)', $s);
$r = migrate($s);
is($r->{exit}, 1, "somebody else's table of the same name stops it");
like($r->{err}, qr/step 3 \(user\): what it would make is there already/,
    '... with the reason');
is($server->sql('SELECT GROUP_CONCAT(number) FROM migration', $s), '1,2',
    '... and without a trace of the step');
is(migrate($s)->{exit}, 1, '... again');
is($server->sql('DESCRIBE user', $s), "host\tint(11)\tNO\tPRI\tNULL\t",
    '... and it is as it was');
$server->sql('DROP TABLE user', $s);
is(migrate($s)->{exit}, 0, '... until it is gone');
is(structure($s), $structure, '... then all is as it should be');

# --- several at once, and killed ---

sub start {
	my ($s) = @_;
	my $conf = $server->conf($s);
	my $pid = fork // die $!;

	return $pid if $pid;
	open STDOUT, '>', '/dev/null';
	open STDERR, '>', "$server->{dir}/migrate.$$";
	exec "$MariaDB::build/satchel-admin", '-c', $conf, 'migrate';
}

for my $round (1 .. 3) {
	$s = fresh();
	my @pids = map { start($s) } 1 .. 4;
	my @bad = grep { waitpid $_, 0; $? } @pids;
	is("@bad", '', 'four at once all succeed')
	    or diag map { slurp("$server->{dir}/migrate.$_") } @bad;
	is(structure($s), $structure, '... and make one schema');
	is($server->sql('SELECT COUNT(*), COUNT(applied) FROM migration', $s),
	    "$number\t$number", '... each step recorded once');
}

srand 7;
for my $round (1 .. ($ENV{SATCHEL_SOAK} ? 50 : 5)) {
	$s = fresh();
	for (1 .. 3) {
		my $pid = start($s);
		sleep rand 0.15;
		kill 'KILL', $pid;
		waitpid $pid, 0;
	}
	$r = migrate($s);
	is($r->{exit}, 0, "killed three times ($round): the next one finishes")
	    or diag $r->{err};
	is(structure($s), $structure, '... and it is the same schema');
}

# --- from the first release ---

$s = fresh();
system("mariadb --no-defaults --default-character-set=utf8mb4 -S $server->{sock}"
    . " -u root $s <$top/t/fixture/schema-1.sql") == 0 or die('fixture');
my %columns = map { $_ => join(',', $server->sql("SHOW COLUMNS FROM $_", $s) =~ /^(\w+)/mg) }
    grep { $_ ne 'migration' } split /\n/, $server->sql('SHOW TABLES', $s);
sub rows {
	my %of = map { $_ => $server->sql("SELECT $columns{$_} FROM $_ ORDER BY 1", $s) }
	    keys %columns;
	return join "\n", map { "$_: $of{$_}" } grep { $of{$_} ne '' } sort keys %of;
}
my $before = rows();
$r = migrate($s);
is($r->{exit}, 0, 'the first release is brought up to date') or diag $r->{err};
is(structure($s), $structure, '... to the same structure as a new one');
# Tables and columns may be added later; nothing that was there may change.
is(rows(), $before, '... and every row is as it was');
like($before, qr/é.*😀\.csv/s, '... text and all');
$r = $server->admin($s, qw(key list --json));
is_deeply([map { my $k = decode_json($_); "$k->{hint} $k->{user} $k->{role}" }
    split /\n/, $r->{out}], ['9abc alice management', 'xxxx bob user'],
    '... and its keys are still keys');
is($server->admin($s, 'fsck')->{exit}, 1, '... whose bytes fsck would look for');

done_testing;
