use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use MariaDB;
use Test::More;

# The modules of lib/data against a real server; t/tool/rows_*.c are the tests.

my $server = MariaDB->new;

sub schema {
	my ($name) = @_;

	$server->create($name);
	my $r = $server->admin($name, 'migrate');
	$r->{exit} == 0 or die("migrate: $r->{err}");
	return $server->{sock}, $name;
}

for my $what (qw(file caller upload)) {
	MariaDB::relay("rows_$what", schema($what));
}
MariaDB::relay('rows_list', schema('list'), 20000);
MariaDB::relay('rows_quota', schema('quota'));
MariaDB::relay('rows_race', schema('race'), $ENV{SATCHEL_SOAK} ? 1000 : 10);

# A COMMIT that goes wrong.  What is in doubt is looked into, so that nobody is
# told of a failure whose file is there, as far as the database can be reached.
my @schema = schema('fault');
$server->sql("INSERT INTO workspace (name, created) VALUES ('w', 1);"
    . " INSERT INTO user (workspace_id, name, created) VALUES (1, 'u', 1)",
    'fault');
for my $what (qw(file part complete)) {
	for (['', 'OK 1', 'nothing wrong'],
	    ['commit-1213=1', 'OK 1', 'a conflict'],
	    ['commit-1213=4', 'OK 1', 'four'],
	    ['commit-1213=5', 'DOWN 0', 'five: given up, nothing done'],
	    ['exec-1205=1', 'OK 1', 'a lock wait timeout on the way'],
	    ['commit-lost=1', 'OK 1', 'done, and the answer lost'],
	    ['commit-cut=1', 'OK 1', 'not done, and nobody could tell'],
	    ['commit-cut=1,commit-1213=4', 'OK 1', '... and then conflicts'],
	    ['commit-lost=2', 'UNSURE 1', 'done, and lost twice'],
	    ['commit-cut=2', 'UNSURE 0', 'not done, lost twice']) {
		my ($fault, $want, $name) = @$_;
		my $r = MariaDB::run({ SATCHEL_FAULT => $fault },
		    MariaDB::tool('rows_fault'), @schema, $what);

		is($r->{out}, "$want\n", "$what: $name") or diag $r->{err};
	}
}

done_testing;
