# The database between two requests and at the end of one: the cases
# db-idle-connection and db-deadlock-retry.

use strict;
use warnings;
use IO::Select;
use IPC::Open2;
use Test::More;
use Time::HiRes qw(sleep time);
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

# --- a server that is there and says nothing: all get their 503 within 10 s ---

# waited(@sockets): what each is answered, and within how many seconds.
sub waited {
	my (@socks) = @_;
	my ($began, @got) = (time);
	my $sel = IO::Select->new(@socks);
	while ($sel->count && time - $began < 40) {
		for my $s ($sel->can_read(1)) {
			my ($i) = grep { $socks[$_] == $s } 0 .. $#socks;
			$got[$i]{t} //= time - $began;
			sysread $s, $got[$i]{in}, 65536, length($got[$i]{in} // '')
			    or $sel->remove($s);
		}
	}
	return map { [($_->{in} // '') =~ m{^HTTP/1.1 (\d+)} ? $1 : 'none',
	    $_->{t} // 40] } @got;
}

for my $rest (0, 2) {
	my $c = Files->stack(set => { 'workers.processes' => 1, 'database.pool' => 4 },
	    providers => 1);
	my $r = $c->upload($small);
	my $id = $r->{json}{id};
	my %slow;
	is($r->{status}, 200, 'an upload');
	my $model = '{"model":"x","max_tokens":5,"messages":[{"role":"user","content":"x"}]}';
	my $json = ['Content-Type' => 'application/json'];
	my $ask = sub {
		my @s = map { $c->begin(@$_) }
		    ['GET', '/v1/files'], ['GET', "/v1/files/$id"],
		    ['GET', "/v1/files/$id/content"], ['DELETE', "/v1/files/$id"],
		    ['GET', '/readyz'], ['GET', '/v1/models'],
		    ['POST', '/v1/files', headers => $type, body => $small],
		    ['POST', '/v1/uploads', headers => $json, body =>
			'{"purpose":"user_data","filename":"a.txt","bytes":10,"mime_type":"text/plain"}'],
		    ['POST', '/v1/messages', headers => $json, body => $model],
		    ['POST', '/v1/chat/completions', headers => $json, body => $model],
		    ['POST', '/v1/exec', headers => $json, body => '{"lang":"py","code":"1"}'],
		    ['GET', '/v1/containers'];
		return waited(@s);
	};
	# Connections to ask on, as many as there may be.
	$ask->() for 1 .. 2;
	$id = $c->upload($small)->{json}{id};
	$c->{s}->expect_log(qr/^db: /, qr/database|no answer/);
	sleep $rest;
	my ($db) = $c->{s}->pids('db');
	kill STOP => $db;
	my @first = $ask->();
	my @then = $rest ? $ask->() : ();
	kill CONT => $db;
	is(join(' ', map { $_->[0] } @first), join(' ', (503) x 12),
	    "the server frozen after $rest s of rest: 503");
	cmp_ok($_, '<=', 10, "... within ten seconds")
	    for sort { $b <=> $a } map { $_->[1] } @first;
	is(join(' ', map { $_->[0] } @then), join(' ', (503) x @then),
	    '... and those who come next');
	is(scalar(grep { $_->[1] > 10 } @then), 0, '... within ten seconds too');
	is($c->get('/v1/files')->{status}, 200, '... and it goes on as the server does');
	is($c->get("/v1/files/$id")->{status}, 200, '... with what was there');
	$c->done;
}

# Somebody else's lock: three seconds a try, nine for all.
{
	my $c = Files->stack(set => { 'workers.processes' => 1 });
	my $id = $c->upload($small)->{json}{id};
	$c->{s}->expect_log(qr/^db: gave up after \d deadlocks/);
	my $pid = open2(my $out, my $in, split(' ', $c->{s}{env}{SATCHEL_MYSQL}), '-N', '-n');
	print $in "BEGIN; SELECT COUNT(*) FROM file FOR UPDATE;\n";
	$in->flush;
	is(<$out>, "1\n", 'another holds a lock on the row');
	my ($r) = waited($c->begin('DELETE', "/v1/files/$id"));
	is($r->[0], 503, '... 503');
	cmp_ok($r->[1], '<=', 10, '... within ten seconds');
	print $in "ROLLBACK;\n";
	close $in;
	waitpid $pid, 0;
	is($c->request('DELETE', "/v1/files/$id")->{status}, 200, '... and then it goes');
	$c->done;
}

done_testing;
