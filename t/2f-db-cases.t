# The database between two requests and at the end of one: the cases
# db-idle-connection and db-deadlock-retry.

use strict;
use warnings;
use Test::More;
use Time::HiRes qw(sleep);
use Files;

my $small = form(file_part('x' x 1000, 's.txt'));
my $type = ['Content-Type' => 'multipart/form-data; boundary=BB'];

# --- db-idle-connection: the server drops it after two seconds ---

{
	my $c = Files->stack(set => { 'workers.processes' => 1 },
	    db => ['--wait-timeout=2']);
	is($c->sql('SELECT @@global.wait_timeout'), 2, 'the server means it');
	is($c->get('/v1/files')->{status}, 200, 'db-idle-connection: a listing');
	sleep 5;
	is($c->get('/v1/files')->{status}, 200, '... after five seconds\' rest');
	sleep 5;
	my @pieces = unpack '(a300)*', $small;
	my $r = Files::read_answer($c->begin('POST', '/v1/files',
	    headers => $type, length => length $small,
	    body => sub { sleep 1.25; shift(@pieces) // "" }), "POST");
	is($r->{status}, 200, '... and an upload that takes five');
	is($c->stored, 'rows 1 files 1', '... is there');
	$c->done;
}

# --- db-deadlock-retry: 1213 at COMMIT, 1205 at an update ---

for my $fault ('commit-1213=1', 'exec-1205=1', 'commit-1213=2,exec-1205=1') {
	my $c = Files->stack(set => { 'workers.processes' => 1 });
	$c->{s}->stop('files');
	{
		local $ENV{SATCHEL_FAULT} = $fault;
		$c->{s}->start;
	}
	my $r = $c->upload($small);
	is($r->{status}, 200, "db-deadlock-retry: $fault: an upload");
	is($c->stored, 'rows 1 files 1', '... is there once');
	is($c->request('DELETE', "/v1/files/$r->{json}{id}")->{status}, 200,
	    '... and is deleted');
	$c->done;
}
{
	my $c = Files->stack(set => { 'workers.processes' => 1 });
	$c->{s}->expect_log(qr/gave up after|db/);
	$c->{s}->stop('files');
	{
		local $ENV{SATCHEL_FAULT} = 'commit-1213=100';
		$c->{s}->start;
	}
	my $r = $c->upload($small);
	is($r->{status}, 503, 'db-deadlock-retry: again and again');
	is($c->stored, 'rows 0 files 0', '... leaves neither row nor bytes');
	$c->done;
}

done_testing;
