#!/usr/bin/perl

# The program satchel as its operator sees it: arguments, start, reload, stop,
# and a database that is not there or not right.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use POSIX qw(WNOHANG);
use Test::More;
use Time::HiRes qw(sleep time);
use JSON::PP ();
use IO::Socket::INET;
use Fcgi;
use Satchel qw(header run);

my $s = Satchel->new(set => { 'workers.processes' => 1,
    'log.file' => '' });
my ($bare, $conf) = $s->{env}{SATCHEL_ADMIN} =~ /^(.*)-admin(?:\s+(.*))?$/;
my @satchel = split ' ', $bare;
my @conf = split ' ', $conf;
my $slow = ($ENV{SATCHEL_BUILD} // '') =~ /san/ ? 3 : 1;
my ($n, %running) = (0);

sub slurp { local (@ARGV, $/) = @_; return scalar <> // '' }

# start(@words): one more pool; its socket, pid and log.
sub start {
	my (@words) = @_;
	my $w = { sock => "$s->{dir}/run/own" . ++$n, log => "$s->{tmp}/own$n.log" };
	$w->{pid} = fork // die "fork: $!";
	if (!$w->{pid}) {
		open STDERR, '>>', $w->{log} or die $!;
		exec @satchel, '-l', $w->{sock}, '-p', 'files', '-n', 1, @conf,
		    @words or die "$satchel[-1]: $!";
	}
	$running{$w->{pid}} = 1;
	return $w;
}

# Wait until $code holds.
sub until_true {
	my ($code, $seconds) = @_;
	for (my $end = time + ($seconds // 10) * $slow; time < $end; sleep 0.05) {
		return 1 if $code->();
	}
	return 0;
}

# ended($w): its exit status, or -1 if it runs on.
sub ended {
	my ($w, $seconds) = @_;
	my $got = -1;
	until_true(sub {
		return 0 unless waitpid $w->{pid}, WNOHANG;
		$got = $? & 127 ? 1000 + ($? & 127) : $? >> 8;
		delete $running{$w->{pid}};
		return 1;
	}, $seconds);
	return $got;
}

sub ask {
	my ($w, $path, @more) = @_;
	my $c = Fcgi->connect($w->{sock}) or return '';
	$c->request($path, '', HTTP_AUTHORIZATION => "Bearer $s->{key}{alice}",
	    @more);
	return ($c->answer // {})->{out} // '';
}

END { kill KILL => keys %running if %running }

# --- arguments ---

my $r = run(@satchel, '--help');
is($r->{exit}, 0, '--help');
is(run(@satchel, '-h')->{out}, $r->{out}, '-h is the same');
is(run(@satchel, '-h')->{exit}, 0, '... and no error');
is(run(@satchel, '-t', @conf)->{exit}, 0, '-t: it could start');
{
	my $bad = run(@satchel, '-t', @conf, '-s', 'files.max_bytes=x');
	is($bad->{exit}, 1, '-t: it could not');
	like($bad->{err}, qr/files\.max_bytes/, '... and why');
}
like($r->{out}, qr/^usage: satchel /, '... says how it is used');
my $version = do { local (@ARGV, $/) = "$FindBin::Bin/../lib/base/version.h";
    <> =~ /SATCHEL_VERSION "([\d.]+)"/ && $1 };
for (map { "satchel$_" } '', qw(-sandbox -keeper -sweep -admin)) {
	$r = run(Satchel::program($_), '--version');
	is("$r->{exit} $r->{out}", "0 $_ $version\n", "$_ --version");
}
for my $bad (['-x'], ['-p', 'many'], ['-n', 0], ['-n', 65], ['-n', 'two'],
    ['-s', 'nothing'], ['word'], ['-l']) {
	$r = run(@satchel, @$bad);
	is($r->{exit}, 2, "@$bad: refused");
	isnt($r->{err}, '', '... with a word about it');
}
$r = run(@satchel, @conf);
is($r->{exit}, 1, 'no socket: refused');
like($r->{err}, qr/no listening socket/, '... with a word about it');
$r = run(@satchel, '-l', "$s->{tmp}/x.sock", '-c', "$s->{tmp}/none.yml");
is($r->{exit}, 1, 'no settings: refused');
like($r->{err}, qr/none\.yml/, '... naming the file');
$r = run(@satchel, '-l', "$s->{tmp}/x.sock", @conf, '-s', 'files.max_byte=1');
is($r->{exit}, 1, 'a setting that is none: refused');
like($r->{err}, qr/files\.max_byte/, '... naming it');
$r = run(@satchel, '-l', '127.0.0.1:http', @conf);
is($r->{exit}, 1, 'an address that is none: refused');

# A query without '=' becomes a CGI program's arguments.
{
	local %ENV = (%ENV, REQUEST_METHOD => 'GET', QUERY_STRING => '--help',
	    REQUEST_URI => '/healthz?--help',
	    SATCHEL_CONF => "$s->{dir}/conf/satchel.yml");
	like(run(@satchel, '--help')->{out}, qr/^Status: 200 .*"status":"ok"/s,
	    'words of a query are not obeyed');
	$ENV{QUERY_STRING} = 'a=b';
	like(run(@satchel, @conf)->{out}, qr/^Status: 200 /,
	    'those of a script before it are');
}

# Half an upload of 1,000 bytes to the worker; the connection, and what is to come.
sub begin_upload {
	my ($w) = @_;
	my $c = Fcgi->connect($w->{sock});
	my ($type, $form) = Satchel::form(['file', 'x' x 1000, 'a.txt']);
	$c->send(Fcgi::head(1, REQUEST_METHOD => 'POST', REQUEST_URI => '/v1/files',
	    HTTP_AUTHORIZATION => "Bearer $s->{key}{alice}",
	    CONTENT_TYPE => $type, CONTENT_LENGTH => length $form)
	    . Fcgi::record(Fcgi::T_STDIN(), substr $form, 0, 500));
	return ($c, substr $form, 500);
}

# A machine that gives no thread beside the first ones.
{
	my $deny = "$s->{tmp}/deny";
	open my $fh, '>', $deny or die $!;
	syswrite $fh, pack 'l Z60', 0, '';
	local %ENV = (%ENV, SATCHEL_DENY => $deny,
	    LD_PRELOAD => Satchel::program('t/preload/deny.so'),
	    ASAN_OPTIONS => join ':', $ENV{ASAN_OPTIONS} // (),
	    'verify_asan_link_order=0');
	my $w = start();
	ok(until_true(sub { ask($w, '/healthz') =~ /^Status: 200/ }), 'it starts');
	sysseek $fh, 0, 0;
	syswrite $fh, pack 'l Z60', 11, 'pthread_create';
	my @c = map { [begin_upload($w)] } 1 .. 4;
	ok(until_true(sub { slurp($w->{log}) =~
	    /no thread beside the (\d+) .* Set workers\.files_threads to \1, / }),
	    'no thread to be had: the log says what to set');
	sysseek $fh, 0, 0;
	syswrite $fh, "\0" x 64;
	$_->[0]->send(Fcgi::body($_->[1])) for @c;
	is(scalar(grep { ($_->[0]->answer // {})->{ended} } @c), 4,
	    '... and what waited for one is answered');
	kill KILL => $w->{pid};
	ended($w);
}

# --- life ---

my $w = start();
ok(until_true(sub { ask($w, '/healthz') =~ /^Status: 200/ }), 'it starts');
like(slurp($w->{log}), qr/"level":"info".*pool files, 1 processes of up to 64 threads/,
    '... and says as what');
like(ask($w, '/v1/files'), qr/^Status: 200/, '... and answers');
{
	my ($c, $rest) = begin_upload($w);
	sleep 0.2;
	kill TERM => $w->{pid};
	sleep 0.3;
	ok(!Fcgi->connect($w->{sock}), 'told to stop, it takes nobody more');
	$c->send(Fcgi::body($rest));
	like($c->answer->{out}, qr/^Status: 200 .*"bytes":1000/s,
	    '... finishes an upload');
	is(ended($w), 0, '... and ends well');
	unlike(slurp($w->{log}), qr/"level":"error"|Sanitizer|runtime error/,
	    '... without an error');
}

# One that only finishes what it has holds no idle connection to the database.
{
	my $connections = sub {
		return map { $_->[0] } $s->mysql('SELECT id FROM'
		    . ' information_schema.processlist WHERE id <> CONNECTION_ID()');
	};
	my %others = map { $_ => 1 } $connections->();
	$w = start();
	ok(until_true(sub { ask($w, '/v1/files') =~ /^Status: 200/ }), 'again');
	my @own = grep { !$others{$_} } $connections->();
	isnt(scalar @own, 0, 'it keeps a connection to the database');
	my ($c, $rest) = begin_upload($w);
	sleep 0.5;
	kill TERM => $w->{pid};
	ok(until_true(sub { !grep { !$others{$_} } $connections->() }),
	    'told to stop, with an upload under way: not any more');
	$c->send(Fcgi::body($rest));
	like($c->answer->{out}, qr/^Status: 200 .*"bytes":1000/s,
	    '... and finishes the upload');
	is(ended($w), 0, '... and ends');
}

# --- reload ---

{
	my $own = "$s->{tmp}/own.yml";
	my $write = sub {
		open my $fh, '>', $own or die $!;
		print $fh "files.max_bytes: $_[0]\n";
		close $fh or die $!;
		chmod 0644, $own;
	};
	$write->(1000);
	$w = start('-c', $own);
	my $upload = sub {
		my ($type, $form) = Satchel::form(['file', 'x' x $_[0], 'a.txt']);
		my $c = Fcgi->connect($w->{sock}) or return 'no connection';
		$c->request('/v1/files', $form, CONTENT_TYPE => $type,
		    HTTP_AUTHORIZATION => "Bearer $s->{key}{alice}");
		return ($c->answer->{out} =~ /^Status: (\d+)/)[0] // '';
	};
	ok(until_true(sub { ask($w, '/healthz') ne '' }), 'another one');
	is($upload->(1001), 413, 'a limit of 1000');
	$write->(2000);
	is($upload->(1001), 413, '... stays while nobody says a word');
	kill HUP => $w->{pid};
	ok(until_true(sub { $upload->(1001) eq '200' }), 'SIGHUP: a new limit');
	is($upload->(2001), 413, '... and no more');
	$write->('plenty');
	kill HUP => $w->{pid};
	ok(until_true(sub { slurp($w->{log}) =~ /not reloaded/ }),
	    'settings that are wrong are refused');
	like(slurp($w->{log}), qr/own\.yml:1: files\.max_bytes/, '... by name');
	is($upload->(1001), 200, '... and the old ones stay');

	# The same where the log is a file, and once it is none.
	my $file = "$s->{dir}/log/own.json";
	my $lines = sub { my @l = -e $file ? split(/\n/, slurp($file)) : (); return scalar @l };
	$write->("3000\nlog.file: $file");
	kill HUP => $w->{pid};
	ok(until_true(sub { $upload->(2001) eq '200' && $lines->() }),
	    'SIGHUP: a log file');
	$write->("none\nlog.file: $file");
	kill HUP => $w->{pid};
	ok(until_true(sub { slurp($file) =~ /not reloaded/ }),
	    '... is told of wrong settings');
	my ($said) = grep { ($_->{msg} // '') =~ /own\.yml:1: files\.max_bytes/ }
	    map { JSON::PP::decode_json($_) } split /\n/, slurp($file);
	is($said->{level}, 'error', '... in a line of its own');
	$write->(1000);
	kill HUP => $w->{pid};
	ok(until_true(sub { $upload->(1001) eq '413' }), '... and taken out');
	ok(until_true(sub { my $n = $lines->(); ask($w, '/healthz');
	    return $lines->() == $n }), '... which then gets no more lines');
	my $had = $lines->();
	ask($w, '/v1/files') for 1 .. 5;
	is($lines->(), $had, '... at all');
	unlink $file;
	kill TERM => $w->{pid};
	is(ended($w), 0, 'told to stop');
}

# --- a schema of another number ---

sub number { $s->mysql("UPDATE migration SET number = number + $_[0]"
    . ' WHERE number = (SELECT n FROM (SELECT MAX(number) n FROM migration) x)') }
number(100);
$w = start();
is(ended($w), 1, 'a schema of another number: it does not start');
like(slurp($w->{log}), qr/"level":"error".*schema.*satchel-admin/,
    '... and says what to do');
number(-100);

# --- no database at the start ---

$s->stop('db');
$w = start();
ok(until_true(sub { ask($w, '/healthz') =~ /^Status: 200/ }),
    'no database: it starts');
like(ask($w, '/readyz'), qr/^Status: 503 .*"database":"away","store":"ok"/s,
    '... is not ready');
like(ask($w, '/v1/files'), qr/^Status: 503 .*Retry-After: \d.*database_unavailable/s,
    '... answers 503');
like(ask($w, '/v1/files', HTTP_ANTHROPIC_VERSION => '2023-06-01'),
    qr/^Status: 503 .*"api_error"/s, '... in the dialect');
$s->start;
ok(until_true(sub { ask($w, '/v1/files') =~ /^Status: 200/ }),
    'the database is there: it answers by itself');
like(ask($w, '/readyz'), qr/^Status: 200/, '... and is ready');
kill TERM => $w->{pid};
is(ended($w), 0, 'told to stop');

# And with a schema of another number once it comes.
$s->stop('db');
$w = start();
ok(until_true(sub { ask($w, '/healthz') =~ /^Status: 200/ }), 'again without');
$s->start;
number(100);
like(ask($w, '/v1/files'), qr/^Status: 503/, 'another schema: still 503');
number(-100);
ok(until_true(sub { ask($w, '/v1/files') =~ /^Status: 200/ }, 12),
    '... until it is put right');
kill TERM => $w->{pid};
is(ended($w), 0, 'told to stop');

# --- no sandbox ---

$s->stop('sandbox');
$w = start();
ok(until_true(sub { ask($w, '/healthz') ne '' }), 'one more');
like(ask($w, '/readyz'), qr/^Status: 503 .*"database":"ok","store":"ok","sandbox":"away"/s,
    'a sandbox that is away: not ready');
like(ask($w, '/v1/files'), qr/^Status: 200/, '... though files are served');
kill TERM => $w->{pid};
is(ended($w), 0, 'told to stop');
$w = start('-s', 'sandbox.url=');
ok(until_true(sub { ask($w, '/readyz') =~ /^Status: 200 .*"store":"ok","status":"ok"/s }),
    'without one in the settings: ready');
kill TERM => $w->{pid};
is(ended($w), 0, 'told to stop');

# --- a sandbox that is stuck: who asks for it holds no more than a few threads ---

{
	my $stuck = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 50)
	    or die $!;
	my $url = 'sandbox.url=http://127.0.0.1:' . $stuck->sockport;
	$w = start('-s', $url, '-s', 'workers.files_threads=5');
	ok(until_true(sub { ask($w, '/healthz') ne '' }), 'a sandbox that is stuck');
	my @asking = map { my $c = Fcgi->connect($w->{sock});
	    $c->request('/readyz', ''); $c } 1 .. 12;
	sleep 0.5;
	my $t = time;
	like(ask($w, '/healthz'), qr/^Status: 200/, '... and twelve ask for it');
	cmp_ok(time - $t, '<', 2 * $slow, '... another is answered at once');
	is((grep { ($_->answer(60)->{out} // '') =~ /^Status: 503/ } @asking), 12,
	    '... and so are they');
	kill TERM => $w->{pid};
	is(ended($w), 0, 'told to stop');
}

# --- counters are for this machine, or for whom the web server says ---

$w = start('-s', 'server.public_url=https://host.example/ai');
ok(until_true(sub { ask($w, '/healthz') ne '' }), 'the last one');
like(ask($w, '/metrics', REMOTE_ADDR => $_), qr/^Status: 200/, "metrics for $_")
    for '127.0.0.1', '::1', 'unix:';
like(ask($w, '/metrics', REMOTE_ADDR => $_), qr/^Status: 404/, "none for $_")
    for '192.0.2.1', '2001:db8::1', '12.7.0.1', '';
like(ask($w, '/metrics', REMOTE_ADDR => '192.0.2.1', SATCHEL_METRICS => 'on'),
    qr/^Status: 200/, '... unless told');
# The web server guards the paths that it knows, below the mount point it told.
for (['/ai/metrics', 404], ['/metrics', 200, ''], ['/ai/metrics', 200, '/ai'],
    ['/metrics', 404, '/ai'], ['/ai/metrics', 404, ''], ['/x/metrics', 404],
    ['//metrics', 404], ['/%6detrics', 200], ['/metrics/', 404]) {
	my ($path, $status, $mount) = @$_;
	like(ask($w, $path, REMOTE_ADDR => '127.0.0.1', SCRIPT_NAME => '/x',
	    PATH_INFO => '/metrics', defined $mount
	    ? (SATCHEL_MOUNT => $mount) : ()), qr/^Status: $status/,
	    "$path with the mount point " . ($mount // '-') . ": $status");
}
# Paths as other web servers tell them.
for (['PATH_INFO alone', PATH_INFO => '/v1/files'],
    ['DOCUMENT_URI alone', DOCUMENT_URI => '/v1/files'],
    ['a script before it', REQUEST_URI => '/cgi/satchel/v1/files',
	SCRIPT_NAME => '/cgi/satchel', PATH_INFO => '/v1/files'],
    ['all of it as the script', REQUEST_URI => '/v1/files?x=y',
	SCRIPT_NAME => '/v1/files', PATH_INFO => '/v1/files'],
    ['only a script', REQUEST_URI => '/v1/files', SCRIPT_NAME => '/v1/files'],
    ['a whole address', REQUEST_URI => 'http://h.example/v1/files'],
    ['a mount point', REQUEST_URI => '/a/b/v1/files', SATCHEL_MOUNT => '/a/b/'],
    ['escapes left to us', REQUEST_URI => '/v1/%66iles']) {
	my ($name, %p) = @$_;
	my $c = Fcgi->connect($w->{sock});
	$c->send(Fcgi::head(0, REQUEST_METHOD => 'GET', %p,
	    HTTP_AUTHORIZATION => "Bearer $s->{key}{alice}") . Fcgi::body(''));
	like($c->answer->{out}, qr/^Status: 200 .*"object":"list"/s, "path: $name");
}
{
	my $c = Fcgi->connect($w->{sock});
	$c->send(Fcgi::head(0, REQUEST_METHOD => 'GET', PATH_INFO => '/v1/%66iles',
	    HTTP_AUTHORIZATION => "Bearer $s->{key}{alice}") . Fcgi::body(''));
	like($c->answer->{out}, qr/^Status: 404/, 'path: nothing is decoded twice');
}
kill TERM => $w->{pid};
is(ended($w), 0, 'told to stop');

$s->expect_log(qr/schema|database|2002|2006|2013|sandbox/i);
$s->done;
done_testing();
