#!/usr/bin/perl

# What nginx/ promises: nginx's own errors in the caller's words, paths as they
# were sent, bytes untouched, at the root of a host and below a path.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use POSIX ();
use Test::More;
use Satchel qw(header form);

my $limit = 100_000;
my $s = Satchel->new(set => {'files.max_bytes' => $limit});

# One answer that must be an error of ${dialect}, whoever wrote it.
sub is_error {
	my ($r, $ant, $status, $type, $what) = @_;
	my $e = $r->{json}{error} // {};
	is("$r->{status} " . (header($r, 'Content-Type') // 'none'),
	    "$status application/json", $what);
	is($e->{type}, $type, '... of the right type');
	ok($ant ? $r->{json}{type} eq 'error' && $r->{json}{request_id}
	    : exists $e->{param} && exists $e->{code}, '... and shape');
	is(header($r, 'x-request-id'), header($r, 'request-id'),
	    '... with both request ids');
	like(header($r, 'x-request-id') // '', qr/^req_\w{24,}$/, '... in form');
	unlike($r->{body}, qr/</, '... and no HTML');
}

# --- refused bodies beside others' requests, on connections that are kept ---

# answers($seconds, $request): send the request over and over on one connection,
# as far as it is kept; how often which status came.
sub answers {
	my ($seconds, $request) = @_;
	my (%n, $sock);
	for (my $until = time + $seconds; time < $until; ) {
		$sock //= $s->sock;
		my $rest = $request;
		while ($rest ne '') {
			my $n = syswrite $sock, $rest or last;
			substr $rest, 0, $n, '';
		}
		my $in = '';
		while ($in !~ /\r\n\r\n/ || $in !~ /Content-Length: (\d+)/i
		    || length($in) - index($in, "\r\n\r\n") - 4 < $1) {
			sysread $sock, $in, 65536, length $in or last;
		}
		$n{$in =~ m{^HTTP/1.1 (\d+)} ? $1 : 'none'}++;
		undef $sock if $in !~ m{^HTTP/1.1 \d} || $in =~ /^Connection: close/mi;
	}
	return \%n;
}

sub post_text {
	my ($key, $body) = @_;
	return "POST /v1/uploads HTTP/1.1\r\nHost: x\r\n"
	    . ($key ? "Authorization: Bearer $key\r\n" : '')
	    . "Content-Type: application/json\r\n"
	    . 'Content-Length: ' . length($body) . "\r\n\r\n$body";
}

{
	my @clients = ((map { post_text(undef, 'x' x $_) } 65_537, 100_000,
	    250_000, 1_500_000), (post_text($s->{key}{bob}, '{"purpose":"user_data",'
	    . '"filename":"a.txt","bytes":10,"mime_type":"text/plain"}')) x 4);
	my (@pipes, %all);
	for my $request (@clients) {
		my $pid = open(my $fh, '-|') // die "fork: $!";
		if (!$pid) {
			my $n = answers(6, $request);
			syswrite STDOUT, join ' ', %$n;
			POSIX::_exit(0);
		}
		push @pipes, $fh;
	}
	for my $fh (@pipes) {
		my %n = split ' ', readline($fh) // 'none 1';
		$all{$_} += $n{$_} for keys %n;
	}
	is(join(' ', sort keys %all), '200 401',
	    'bodies refused for want of a key cost nobody else a request');
	cmp_ok($all{200} // 0, '>', 100, '... of many');
	cmp_ok($all{401} // 0, '>', 100, '... beside many');
}

# --- too much of a body: up-too-big-for-nginx ---

my $json_limit = 32 << 20;
for my $ant (0, 1) {
	my $type = $ant ? 'request_too_large' : 'invalid_request_error';
	my $r = $s->post('/v1/messages', ant => $ant, headers =>
	    ['Content-Length' => $json_limit + 1], body => 'x' x 100000);
	is_error($r, $ant, 413, $type, 'a JSON body over the limit of nginx');
	like($r->{json}{error}{message}, qr/33554432/, '... names it');
	for my $n ($limit + 1, 10 * $limit, 40 << 20) {
		for my $chunked (0, 1) {
			$r = $s->upload('x' x $n, ant => $ant,
			    chunked => $chunked);
			is_error($r, $ant, 413, $type, "an upload of $n bytes"
			    . ($chunked ? ' in chunks' : ''));
			like($r->{json}{error}{message}, qr/$limit/,
			    '... names the limit');
		}
	}
}
{
	my $r = $s->post('/v1/files/', headers => ['Content-Length' => 40 << 20],
	    form => [[file => 'x' x 100000, 'x.txt', 'text/plain']]);
	is($r->{status}, 413, 'too much, with a slash at the end of the path');
	like($r->{json}{error}{message}, qr/$limit/, "... is the worker's to say");
}
for my $n ($limit - 1, $limit) {
	is($s->upload('x' x $n)->{status}, 200, "an upload of $n bytes");
}

# --- what nginx refuses before any location ---

for my $bad (
    ['a negative length', "POST /v1/files HTTP/1.1\r\nanthropic-version: 1\r\n"
	. "Host: x\r\nContent-Length: -1\r\n\r\n", 1, 400],
    ['a length that is no number', "POST /v1/files HTTP/1.1\r\nHost: x\r\n"
	. "Content-Length: many\r\n\r\n", 0, 400],
    ['no request at all', "HELLO\r\n\r\n", 0, 400],
    ['a NUL in the path', "GET /v1/files/%00 HTTP/1.1\r\nHost: x\r\n\r\n", 0, 400],
    ['TRACE', "TRACE /v1/files HTTP/1.1\r\nHost: x\r\n\r\n", 0, 405],
    ['an endless header', "GET /v1/files HTTP/1.1\r\nHost: x\r\nA: "
	. 'x' x 40000 . "\r\n\r\n", 0, 400],
    ['an endless path', 'GET /v1/files/' . 'x' x 40000
	. " HTTP/1.1\r\nHost: x\r\n\r\n", 0, 414]) {
	my ($what, $bytes, $ant, $status) = @$bad;
	is_error($s->raw($bytes), $ant, $status, 'invalid_request_error', $what);
}

# --- paths reach the worker as they were written ---

my $id = $s->upload("a,b\n1,2\n", name => 'x.csv')->{json}{id};
is($s->get("/v1/files/$id")->{status}, 200, 'a file');
is($s->get("/api/v1/files/$id")->{status}, 200, '... under /api');
for my $path ("/v1/files%2F$id", "//v1/files/$id", "/v1//files/$id",
    "/v1/nope/../files/$id", "/v1/./files/$id",
    "/.satchel/whole/aa/bb/cc", '/.satchel/error',
    '/metrics/', '/metrics/run/', '/%6detrics/', '/healthz/', '/', '/v1', '/index.html') {
	my $r = $s->get($path);
	is("$r->{status} " . (header($r, 'Content-Type') // 'none'),
	    '404 application/json', $path);
}

# --- bytes ---

# pf-response-header-size, and the longest name that is accepted.
for my $name ("\xe6\xbc\xa2" x 120, "\xf0\x9f\x98\x80" x 255) {
	my $long = $s->upload('x', name => $name);
	is($long->{status}, 200, 'a long name is accepted');
	my $r = $s->get("/v1/files/$long->{json}{id}/content");
	is($r->{status}, 200, '... and the file comes back');
	cmp_ok(index($r->{raw}, "\r\n\r\n") + 4, '<', 4096,
	    '... its headers fit one buffer');
}

# A host that compresses leaves our bytes alone.
$s->restart(up => ['--nginx-sed', 's/^server {/&\ngzip on; gzip_types *;'
    . 'gzip_min_length 1; gzip_proxied any;/'],
    set => {'files.max_bytes' => 10 << 20});
my $bytes = "one line of many\n" x 5000;
my $big = $s->upload($bytes, name => 'x.txt')->{json}{id};
my $r = $s->get("/v1/files/$big/content", headers => ['Accept-Encoding' => 'gzip']);
is(header($r, 'Content-Encoding'), undef, 'content is never compressed');
is(header($r, 'Content-Length'), length $bytes, '... and has its length');
ok($r->{body} eq $bytes, '... and its bytes');
like(header($r, 'ETag'), qr/^"sha256-[0-9a-f]{64}"$/, '... and a strong tag');

# A host that buffers requests is served as well.
$s->restart(up => ['--nginx-sed',
    's/fastcgi_request_buffering off/fastcgi_request_buffering on/'],
    set => {'files.max_bytes' => 10 << 20});
for my $chunked (0, 1) {
	my $up = $s->upload($bytes, name => 'x.txt', chunked => $chunked);
	is($up->{status}, 200, 'upload with buffering on'
	    . ($chunked ? ', in chunks' : ''));
	ok($s->get("/v1/files/$up->{json}{id}/content")->{body} eq $bytes,
	    '... is whole');
}

# --- below a path of an existing host ---

open my $fh, '<', 'nginx/satchel.conf' or die $!;
my ($sed) = join('', <$fh>) =~ /^#\s+sed '(.*)'$/m;
$s->restart(up => ['--nginx-sed', $sed]);
is($s->get("/ai/v1/files/$id")->{status}, 200, 'below a path');
is($s->get("/ai/v1/files/$id/content")->{body}, "a,b\n1,2\n", '... bytes too');
is($s->get('/ai/v1/nope')->{status}, 404, '... no route');

# --- counters: nginx's guard, here against everybody, knows them by any name ---

for my $mount ('', '/ai') {
	$s->restart(set => {'server.public_url' => 'https://host.example/ai'},
	    up => ['--nginx-sed', 's/allow 127\.0\.0\.1;//;'
		. ($mount ? $sed : '')]);
	for my $pool ('', '/run') {
		for my $path ("/metrics$pool", "/metrics$pool?x", "/%6detrics$pool",
		    "//metrics$pool", "/./metrics$pool", "/x/../metrics$pool",
		    "/metrics$pool/", "/ai/metrics$pool", "/ai//metrics$pool",
		    "/ai/%6detrics$pool", "//ai/metrics$pool", "/v1/metrics$pool",
		    "/ai/ai/metrics$pool", "/ai/v1/../metrics$pool") {
			my $got = $s->get($path, as => undef);
			like($got->{status}, qr/^40[34]$/, "$path below '$mount'");
			unlike($got->{body}, qr/satchel_/, '... tells nothing');
		}
	}
	for my $ant (0, 1) {
		my $got = $s->get("$mount/metrics", as => undef, ant => $ant);
		is_error($got, $ant, 403, $ant ? 'permission_error'
		    : 'invalid_request_error', 'the counters, for others');
		is(header($got, 'x-should-retry'), 'false',
		    '... who need not ask again');
	}
}

# --- workers away ---

$s->restart;
$s->expect_log(qr/^nginx: .* connect\(\) to .*run\.sock failed/);
$s->stop('run');
for my $ant (0, 1) {
	$r = $s->post('/v1/messages', ant => $ant, json => {});
	is_error($r, $ant, 502, $ant ? 'api_error' : 'server_error',
	    'the pool is not running');
	ok(header($r, 'Retry-After'), '... to be tried again');
	is(header($r, 'x-should-retry'), undef, '... as nothing has run');
}
is($s->get('/v1/files')->{status}, 200, 'the other pool does not care');

# --- the harness sees what goes wrong unseen ---

sub append {
	my ($file, $line) = @_;
	open my $out, '>>', "$s->{dir}/log/$file" or die $!;
	print $out "$line\n";
	close $out;
}
is_deeply([$s->errors], [], 'nothing so far');
append('gateway.log', '{"level":"error","msg":"a test of the tests"}');
append('files.log', 'ERROR: AddressSanitizer: a test of the tests');
append('nginx.log', 'x [alert] a test of the tests');
is(scalar(grep { /a test of the tests/ } $s->errors), 3, 'errors are found');
$s->expect_log(qr/a test of the tests/);
is_deeply([$s->errors], [], '... unless they were announced');
$s->done;
done_testing();
