use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Select;
use IO::Socket::UNIX;
use MariaDB;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep);

# A COMMIT whose answer is lost while the server is still at it: to the worker
# the connection breaks, and only later is the work done.  Whoever asks again in
# between must wait for that, or a file would be given up that then goes live.
# A relay between worker and server does it to the first COMMIT it sees.

my $server = MariaDB->new;
my $sock = "$server->{dir}/relay.sock";
my $flag = "$server->{dir}/late";
my $commit = "\x07\0\0\0\x03COMMIT";

$server->create('late');
$server->admin('late', 'migrate')->{exit} == 0 or die('migrate');
$server->sql("INSERT INTO workspace (name, created) VALUES ('w', 1);"
    . " INSERT INTO user (workspace_id, name, created) VALUES (1, 'u', 1)",
    'late');

# Pass bytes on between ${client} and the server; hold the first COMMIT back.
sub carry {
	my ($client) = @_;
	my $db = IO::Socket::UNIX->new(Peer => $server->{sock}) or return;
	my $select = IO::Select->new($client, $db);
	my $bytes;

	while (1) {
		for my $from ($select->can_read) {
			sysread $from, $bytes, 65536 or return;
			if ($bytes eq $commit && unlink $flag) {
				close $client;
				sleep 1;
				syswrite $db, $bytes;
				sysread $db, $bytes, 65536;
				return;
			}
			syswrite $from == $db ? $client : $db, $bytes;
		}
	}
}

my $listen = IO::Socket::UNIX->new(Local => $sock, Listen => 16) or die $!;
my $relay = fork // die $!;
if ($relay == 0) {
	$SIG{TERM} = 'DEFAULT';
	$SIG{CHLD} = 'IGNORE';
	while (my $client = $listen->accept) {
		my $pid = fork // die $!;
		if ($pid == 0) {
			carry($client);
			POSIX::_exit(0);
		}
	}
	POSIX::_exit(0);
}

for my $what (qw(file part complete)) {
	open my $fh, '>', $flag or die $!;
	close $fh;
	my $r = MariaDB::run({}, MariaDB::tool('rows_fault'), $sock, 'late',
	    $what);
	ok(!-e $flag, "$what: the commit was late");
	is($r->{out}, "OK 1\n", '... and waited for') or diag $r->{err};
}

kill 'TERM', $relay;
waitpid $relay, 0;
done_testing;
