use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use MariaDB;
use Test::More;
use Time::HiRes qw(sleep time);

# The database layer against a server that hangs up, is stopped, refuses and
# falls silent at every bad moment.

my $server = MariaDB->new;
$server->create('s');
$server->sql('CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT,'
    . ' v VARCHAR(10) CHARACTER SET utf8mb4 NOT NULL, b VARBINARY(40),'
    . ' UNIQUE KEY (v)) ENGINE=InnoDB', 's');
$server->sql('CREATE TABLE big (n INT PRIMARY KEY, v MEDIUMTEXT) ENGINE=InnoDB',
    's');

# One t/tool/db, in a process of its own.
package Driver {
	use IO::Handle;

	my $count = 0;

	sub new {
		my ($class, %o) = @_;
		my $self = bless { log => "$server->{dir}/log." . $count++ }, $class;

		pipe my $in_r, $self->{in} or die $!;
		pipe $self->{out}, my $out_w or die $!;
		$self->{pid} = fork // die $!;
		if ($self->{pid} == 0) {
			$ENV{SATCHEL_FAULT} = $o{fault} if $o{fault};
			open STDIN, '<&', $in_r;
			open STDOUT, '>&', $out_w;
			open STDERR, '>', $self->{log};
			close $self->{in};
			no warnings 'exec';
			exec MariaDB::tool('db'), $server->{sock}, 's', $o{pool} // 4;
			POSIX::_exit(127);
		}
		$self->{in}->autoflush;
		return $self;
	}

	sub send { my ($self, $line) = @_; print { $self->{in} } "$line\n" }

	sub answer {
		my ($self) = @_;
		my $line = readline $self->{out};

		defined $line or return 'no answer';
		chomp $line;
		return $line;
	}

	sub do { my ($self, $line) = @_; $self->send($line); $self->answer }

	sub log {
		my ($self) = @_;
		open my $fh, '<', $self->{log} or die $!;
		return grep { /"level":"err/ } <$fh>;
	}

	sub DESTROY {
		my ($self) = @_;
		local $?;
		close $self->{in};
		waitpid $self->{pid}, 0;
	}
}

sub status { (split /\t/, $server->sql("SHOW GLOBAL STATUS LIKE '$_[0]'"))[1] }
sub rows { $server->sql('SELECT COUNT(*) FROM t', 's') }
sub id_of { ($_[0]->do('row 1 SELECT CONNECTION_ID()') =~ /^OK\t(\d+)$/)[0] // 'none' }
sub empty { $server->sql('DELETE FROM t', 's') }

# --- values ---

my $d = Driver->new(pool => 1);
is($d->do('row 4 SELECT ?, ?, ?, HEX(?) | u18446744073709551615 | sé😀 | n | b00ff41'),
    "OK\t18446744073709551615\té😀\t\\N\t00FF41",
    'numbers, text, NULL and bytes go and come back whole');
is($d->do('row 1 SELECT 1 FROM t'), 'NONE', 'no row');
is($d->do('rows 1 SELECT 1 FROM t'), 'OK', 'no rows are no failure');
is($d->do('row 2 SELECT v FROM t'), 'FAIL', 'wrong number of columns');
is($d->do('row 1 SELECT nonsense FROM t'), 'FAIL', 'broken SQL');
is($d->do('rows 2 SELECT seq, NULLIF(seq, 2) FROM seq_1_to_3'),
    "OK\t1\t1\t2\t\\N\t3\t3", 'several rows in order');
for my $n (1151, 1152, 1153, 70000) {
	$server->sql("REPLACE INTO big VALUES ($n, REPEAT('x', $n - 1))", 's');
	my $got = $d->do("row 1 SELECT CONCAT(v, 'y') FROM big WHERE n = ? | u$n");
	is($got, "OK\t" . 'x' x ($n - 1) . 'y', "a column of $n bytes");
	$got = $d->do("row 2 SELECT v, n FROM big WHERE n = ? | u$n");
	is($got, "OK\t" . 'x' x ($n - 1) . "\t$n", '... and one after it');
}
is($d->do('exec INSERT INTO t (v, b) VALUES (?, ?) | sone | b0001'), "OK\t1\t1",
    'insert: one row, its id');
is($d->do('exec INSERT INTO t (v) VALUES (?) | sone'), 'DUP' . "\t0\t0",
    'a unique key that is taken');
is($d->do('exec UPDATE t SET v = ? WHERE id = ? | sone | u1'), "OK\t0\t0",
    'a row that is matched and not changed does not count');
is($d->do('exec UPDATE t SET v = ? WHERE id = ? | stwo | u1'), "OK\t1\t0",
    'one that is changed does');
like($d->do('exec INSERT INTO t (v) VALUES (?) | sfar too long for it'),
    qr/^FAIL/, 'text that does not fit is refused, not cut');
is($d->do('exec CREATE TABLE t (n INT)'), "THERE\t0\t0", 'DDL: there already');
is($d->do('row 3 SELECT @@time_zone, @@tx_isolation, @@autocommit'),
    "OK\t+00:00\tREAD-COMMITTED\t1", 'the session is set up');
is($d->do('row 2 SELECT @@character_set_client, @@character_set_results'),
    "OK\tutf8mb4\tutf8mb4", '... in utf8mb4');
my ($ms) = $d->do('now') =~ /^OK\t(\d+)$/;
cmp_ok(abs($ms / 1000 - time), '<', 5, 'the clock');
is($d->do('nest'), 'FAIL', 'a transaction inside a transaction');

# --- cost ---

my ($prepared, $run) = (status('Com_stmt_prepare'), status('Com_stmt_execute'));
$d->do('row 1 SELECT ? + 1 | u5') for 1 .. 50;
is(status('Com_stmt_prepare') - $prepared, 1, 'one text is prepared once');
is(status('Com_stmt_execute') - $run, 50, '... and run as often as asked');
my @asked;
for my $n (10, 60) {
	my $before = status('Questions');
	$d->do('row 1 SELECT ? + 1 | u5') for 1 .. $n;
	push @asked, status('Questions') - $before;
}
is($asked[1] - $asked[0], 50, '... with nothing sent besides');
$d->do("row 1 SELECT $_ + ? | u1") for 1 .. 150;
is($d->do('row 1 SELECT ? + 1 | u7'), "OK\t8",
    'more texts than a connection keeps');

# --- transactions ---

empty();
is($d->do("tx INSERT INTO t (v) VALUES ('a');; INSERT INTO t (v) VALUES ('b')"),
    "OK\t1", 'a transaction');
is($d->do("stop INSERT INTO t (v) VALUES ('c')"), "STOP\t1", 'one taken back');
is($d->do("tx INSERT INTO t (v) VALUES ('d');; INSERT INTO t (v) VALUES ('a')"),
    "DUP\t1", 'one that fails half way');
is($server->sql('SELECT GROUP_CONCAT(v ORDER BY v) FROM t', 's'), 'a,b',
    'leaves nothing of itself');

my $two = "tx INSERT INTO t (v) VALUES ('x');; INSERT INTO t (v) VALUES ('y')";
for (['commit-1213=1', 'OK', 2, 2, 'a conflict at COMMIT'],
    ['commit-1213=4', 'OK', 5, 2, 'four of them'],
    ['commit-1213=5', 'DOWN', 5, 0, 'five: given up'],
    ['exec-1205=1', 'OK', 2, 2, 'a lock wait timeout'],
    ['exec-1205=9', 'DOWN', 5, 0, 'too many of them'],
    ['commit-lost=1', 'UNSURE', 1, 2, 'the answer to COMMIT lost'],
    ['commit-cut=1', 'UNSURE', 1, 0, 'the connection lost at COMMIT']) {
	my ($fault, $rc, $runs, $rows, $what) = @$_;

	empty();
	my $f = Driver->new(fault => $fault);
	is($f->do($two), "$rc\t$runs", "$what: $rc after $runs");
	is(rows(), $rows, "... and $rows rows");
	is($f->do('row 1 SELECT 1'), "OK\t1", '... and on it goes');
}
{
	empty();
	my $f = Driver->new(fault => 'exec-1205=1');
	is($f->do("exec INSERT INTO t (v) VALUES ('x')"),
	    "OK\t1\t" . $server->sql('SELECT id FROM t', 's'),
	    'a lock wait timeout outside a transaction is run again');
	my $bad = MariaDB::run({ SATCHEL_FAULT => 'commit-1312=1' },
	    MariaDB::tool('db'), $server->{sock}, 's', 1);
	is($bad->{exit}, 2, 'a fault nobody knows ends the program');
}

# Two that take the same rows in opposite order, for real.
{
	empty();
	$server->sql("INSERT INTO t (id, v) VALUES (1, 'a'), (2, 'b')", 's');
	my @two = (Driver->new, Driver->new);
	for my $n (0, 1) {
		my @sql = map { "UPDATE t SET b = CONCAT(COALESCE(b, ''), '$_')"
		    . " WHERE id = $_" } $n ? (2, 1) : (1, 2);
		$two[$n]->send("tx $sql[0];; DO SLEEP(0.3);; $sql[1]");
	}
	my @rc = sort map { $_->answer } @two;
	is("@rc", "OK\t1 OK\t2", 'a real deadlock: both get through, one twice');
	is($server->sql('SELECT GROUP_CONCAT(b ORDER BY id) FROM t', 's'),
	    '11,22', '... and each has done its work once');
}

# --- lost connections ---

empty();
for my $what ("row 1 SELECT 'x'", "exec INSERT INTO t (v) VALUES (?) | s",
    'tx INSERT INTO t (v) VALUES (UUID_SHORT() % 1000000)') {
	my $line = $what =~ /\| s$/ ? $what . int rand 1e6 : $what;
	my $id = id_of($d);
	my $before = rows();

	$server->sql("KILL $id");
	my $new = $d->do($line);
	like($new, qr/^OK/, 'killed while idle, unnoticed: ' . $line);
	isnt(id_of($d), $id, '... on a new connection');
	is(rows() - $before, $line =~ /INSERT/ ? 1 : 0, '... once');
}
is($d->do('row 2 SELECT @@time_zone, @@tx_isolation'),
    "OK\t+00:00\tREAD-COMMITTED", 'the new session is set up too');

$server->sql('SET GLOBAL wait_timeout = 2');
{
	my @w = map { Driver->new(pool => 1) } 1 .. 3;
	empty();
	like(id_of($_), qr/^\d+$/, 'a connection') for @w;
	sleep 3.2;
	is($w[0]->do("exec INSERT INTO t (v) VALUES ('x')"),
	    "OK\t1\t" . $server->sql('SELECT id FROM t', 's'),
	    'after wait_timeout: a write, once');
	like($w[1]->do($two =~ s/'x'/'z'/r), qr/^OK\t1/, '... a transaction');
	like(id_of($w[2]), qr/^\d+$/, '... a read');
	is(join('', map { $_->log } @w), '', '... and nothing logged');
}
$server->sql('SET GLOBAL wait_timeout = 28800');

# Killed in the middle.
empty();
for (['row 1 SELECT SLEEP(1)', qr/^OK\t0$/, 0, 'a read is run again'],
    ["exec INSERT INTO t (v) SELECT CONCAT('x', SLEEP(1))", qr/^(UNSURE\t|OK\t1)/, undef,
	'a write is done once or in doubt'],
    ["tx INSERT INTO t (v) VALUES ('p');; INSERT INTO t (v) SELECT CONCAT('q', SLEEP(1))",
	qr/^OK\t2$/, 2, 'a transaction is run again as a whole']) {
	my ($line, $want, $rows, $what) = @$_;
	my $id = id_of($d);

	empty();
	$d->send($line);
	sleep 0.4;
	$server->sql("KILL $id");
	like($d->answer, $want, "killed at work: $what");
	cmp_ok(rows(), '<=', 1, '... and not twice') if !defined $rows;
	is(rows(), $rows, "... and $rows rows") if defined $rows;
}

# --- the pool ---

{
	my $p = Driver->new(pool => 3);
	my $used = status('Connections');
	empty();
	is($p->do("storm 20 0 INSERT INTO t (v) SELECT CONCAT(LEFT(UUID(), 8), SLEEP(0.05))"),
	    'OK 20 ', 'twenty threads share three connections');
	is(rows(), 20, '... all get their turn');
	my $mine = status('Connections') - $used - 3;	# not those of this test
	cmp_ok($mine, '<=', 3, '... no fourth is opened');
	cmp_ok($mine, '>=', 2, '... and more than one is used');
}

# --- no server ---

{
	my $o = Driver->new(pool => 4);
	like(id_of($o), qr/^\d+$/, 'before the stop');
	$server->stop;
	my $t = time;
	is($o->do('row 1 SELECT 1'), 'DOWN', 'a stopped server: a read');
	is($o->do($two), "DOWN\t0", '... a transaction, whose body is not run');
	is($o->do('storm 40 30 DELETE FROM t'), 'DOWN 40 ', '... and forty more');
	cmp_ok(time - $t, '<', 5, '... without delay');
	my @log = $o->log;
	cmp_ok(scalar @log, '>=', 1, '... said in the log');
	cmp_ok(scalar @log, '<=', 2 + time - $t, '... once a second at most');
	$server->start;
	like($o->do('row 1 SELECT 1'), qr/^OK/, 'started again: there it is');
	like($o->do($two =~ s/'x'/'w'/r), qr/^(OK|DUP)\t1/, '... for writes too');
	$server->kill;
	$server->start;
	like($o->do('row 1 SELECT 1'), qr/^OK/, 'crashed and back: unnoticed');
}

done_testing;
