#!/usr/bin/perl

# What every request goes through before and after its handler: paths, methods,
# dialects, credentials, request ids, headers, and what the process itself says.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep time);
use Satchel qw(header);

my $s = Satchel->new(set => { 'workers.processes' => 2 });
my @ant = (ant => 1);
my %key = %{$s->{key}};

# Is $answer an error of this status in the right envelope, whole?
sub refused {
	my ($answer, $status, $d, $name, $code) = @_;
	my $e = $answer->{json};
	my $got = $answer->{status};
	if ($d eq 'anthropic') {
		$got .= ' envelope' unless ref $e eq 'HASH'
		    && ($e->{type} // '') eq 'error' && $e->{error}{message}
		    && $e->{error}{type}
		    && $e->{request_id} eq header($answer, 'request-id');
	} else {
		$got .= ' envelope' unless ref $e eq 'HASH'
		    && join(' ', sort keys %$e) eq 'error'
		    && join(' ', sort keys %{$e->{error}})
			eq 'code message param type' && $e->{error}{message};
		$got .= " $e->{error}{code}"
		    if defined $code && defined $e->{error}{code};
	}
	$got .= ' no length'
	    if (header($answer, 'Content-Length') // -1) != length $answer->{body};
	is($got, "$status" . (defined $code && $d ne 'anthropic' ? " $code" : ''),
	    "$name ($d)");
}

sub both {
	my ($status, $code, $name, $ask) = @_;
	refused($ask->(), $status, 'openai', $name, $code);
	refused($ask->(@ant), $status, 'anthropic', $name);
}

my $id = $s->upload('some text', name => 'a.txt')->{json}{id};
like($id, qr/^file-[0-9a-f]{32}$/, 'there is a file');

# --- common headers and request ids ---

{
	my %seen;
	for my $path ('/v1/files', "/v1/files/$id", '/v1/nothing', '/healthz') {
		my $r = $s->get($path);
		my $rid = header($r, 'x-request-id');
		like($rid, qr/^req_[0-9A-Za-z]{24,}$/, "$path: a request id");
		is(header($r, 'request-id'), $rid, '... under both names');
		is(header($r, 'X-Content-Type-Options'), 'nosniff', '... nosniff');
		is(header($r, 'Cache-Control'), 'no-store', '... not to be kept');
		is(header($r, 'Content-Type'), 'application/json', '... JSON');
		is($seen{$rid}++, 0, '... an id of its own');
	}
	my $r = $s->get("/v1/files/$id");
	my $rid = header($r, 'request-id');
	sleep 0.1;
	my ($line) = grep { ($_->{request} // '') eq $rid } $s->log;
	is_deeply([@$line{qw(level method route status)}],
	    ['access', 'GET', '/v1/files/{file}', 200], 'its line in the log');
	cmp_ok($line->{ms}, '>', 0, '... with a time');
	is($line->{out}, length $r->{body}, '... and the bytes sent');
}

# --- HEAD ---

for my $path ('/v1/files', "/v1/files/$id", "/v1/files/$id/content",
    '/v1/files/file-none', '/v1/nothing', '/healthz') {
	my ($g, $h) = ($s->get($path), $s->head($path));
	is("$h->{status} " . (header($h, 'Content-Length') // ''),
	    "$g->{status} " . length $g->{body}, "HEAD $path: status and length");
	is($h->{body}, '', '... no body');
	is(header($h, 'Content-Type'), header($g, 'Content-Type'), '... its type');
}

{
	my $h = $s->head('/', as => undef);
	is("$h->{status} $h->{body}", '200 ', 'HEAD /: somebody is there');
	is($s->head('/', as => undef, ant => 1)->{status}, 200,
	    '... for Anthropic\'s clients too');
}

# --- paths ---

both(404, 'unknown_url', 'an unknown path', sub { $s->get('/v1/nothing', @_) });
both(404, 'unknown_url', 'a deeper path',
    sub { $s->get("/v1/files/$id/content/x", @_) });
both(404, 'unknown_url', 'far deeper', sub { $s->get('/v1' . '/x' x 50, @_) });
both(404, 'unknown_url', 'a route without its version',
    sub { $s->get('/files', @_) });
both(404, 'unknown_url', 'a version twice', sub { $s->get('/v1/v1/files', @_) });
both(404, 'unknown_url', 'a root path below a version',
    sub { $s->get('/v1/healthz', @_) });
both(404, 'unknown_url', 'another letter case', sub { $s->get('/V1/files', @_) });
both(404, 'unknown_url', 'a slash too many', sub { $s->get('/v1//files', @_) });
# A base URL that has /v1 once too often, or not: what it should be, by dialect.
{
	my %base = (openai => "OpenAI SDK's base URL ends in /v1, once: $s->{url}/v1",
	    anthropic => "Anthropic SDK's base URL does not end in /v1: $s->{url}");
	for my $path ('/models', '/files', '/messages', '/chat/completions',
	    '/v1/v1/files', '/v1/v1/messages',
	    '/api/v1/v1/models', '/v1/api/v1/models', '/v1//models',
	    '/v1/v1/v1/responses') {
		my $r = $s->get($path);
		is("$r->{status} " . $r->{json}{error}{message}, '404 There is no such '
		    . "endpoint: GET $path; an $base{openai}", "$path: the base URL");
		$r = $s->get($path, ant => 1);
		like($r->{json}{error}{message}, qr/; an \Q$base{anthropic}\E\z/,
		    '... and in the other dialect');
	}
	for my $path ('/v1/nothing', '/v1/v1/nothing', '/nothing', '/v1/healthz',
	    '/V1/files', '/v1/files/x/y/z', '/v1' x 9, '/', '/v1/v1') {
		my $r = $s->get($path);
		is("$r->{status} " . $r->{json}{error}{message},
		    "404 There is no such endpoint: GET $path",
		    "$path: the base URL is not to blame");
	}
}
both(404, 'unknown_url', 'unknown, and no key',
    sub { $s->get('/v1/nothing', as => undef, @_) });
is($s->get('/v1/files/')->{body}, $s->get('/v1/files')->{body},
    'one slash at the end does not matter');
is($s->get("/v1/files/$id/")->{json}{id}, $id, '... after an id neither');
is($s->get("/api/v1/files/$id")->{json}{id}, $id, 'below /api/v1');
is($s->get("/v1/%66iles/$id")->{json}{id}, $id, 'an escaped letter is that letter');
(my $escaped = $id) =~ s/^file-/file%2D/;
is($s->get("/v1/files/$escaped")->{json}{id}, $id, '... in an id too');
is($s->get("/v1/files/$id?beta=true&x=%31")->{json}{id}, $id, 'any query');
both(400, undef, 'a broken escape in a query',
    sub { $s->get("/v1/files/$id?x=%zz", @_) });

# Ids that are none, from the case id-odd-values and the contract's row 106.
for my $odd ('a%2Fb', 'file-x%2Fcontent', '%2e%2e', '..%2f..', 'a b', 'a%20b',
    '%', '%4', '%zz', 'a.b', "a\xc3\xa9", 'a%C3%A9', 'a' x 3000, 'a' x 129,
    "$id/", "$id%00", '%252e', '*', ';x=1', $id . '%0a') {
	next if $odd eq "$id/";
	my $name = length $odd > 40 ? length($odd) . ' letters' : $odd;
	$name =~ s/[^ -~]/?/g;
	my $r = $s->get('/v1/files/' . $odd);
	like($r->{status}, qr/^(?:400|404)$/, "the id $name is refused");
	like(header($r, 'Content-Type') // '', qr/^application\/json/, '... in JSON');
	ok($r->{json} && $r->{json}{error}{message}, '... of the dialect');
	is($r->{json}{error}{param}, 'id', '... naming id') if $r->{status} == 404;
}
like($s->get('/v1/files/%2e%2e/')->{status}, qr/^40/, 'dots are no way up');
{
	my $before = $s->mysql("SELECT COUNT(*) FROM file WHERE state = 'live'");
	my $r = $s->del('/v1/files/');
	is("$r->{status} " . header($r, 'Allow'), '405 GET, HEAD, POST',
	    'DELETE of no id: 405 and Allow');
	$r = $s->del('/v1/files//');
	is($r->{status}, 404, '... nor of an empty one');
	is($s->get("/v1/files/$id")->{status}, 200, '... deletes nothing');
}

# --- methods ---

for my $m (qw(PUT PATCH POST)) {
	my $r = $s->request($m, "/v1/files/$id", body => '');
	is(header($r, 'Allow'), 'GET, HEAD, DELETE', "$m on a file: Allow");
	both(405, 'method_not_supported', "$m on a file",
	    sub { $s->request($m, "/v1/files/$id", body => '', @_) });
}
both(405, 'method_not_supported', 'DELETE of the list',
    sub { $s->del('/v1/files', @_) });
both(405, 'method_not_supported', 'a method nobody knows',
    sub { $s->request('BREW', '/v1/files', @_) });
is(header($s->request('PUT', '/v1/uploads', body => ''), 'Allow'), 'POST',
    'Allow of a route with one method');
{
	my $r = $s->request('OPTIONS', "/v1/files/$id", as => undef);
	is("$r->{status} " . header($r, 'Allow'), '204 GET, HEAD, DELETE',
	    'OPTIONS says what may be done');
	is(scalar(grep { /^access-control/ } keys %{$r->{head}}), 0,
	    '... and nothing to browsers unless told');
	both(404, 'unknown_url', 'OPTIONS of nothing',
	    sub { $s->request('OPTIONS', '/v1/nothing', @_) });
}

# --- dialects ---

refused($s->get('/v1/files', as => undef, headers => [@$_]), 401, 'anthropic',
    "$_->[0]: $_->[1]")
    for ['anthropic-version', '2023-06-01'], ['anthropic-version', 'tomorrow'],
    ['Anthropic-Beta', 'x, files-api-2025-04-14'],
    ['anthropic-beta', 'files-api-9'];
refused($s->get('/v1/files', as => undef, headers => [@$_]), 401, 'openai',
    "$_->[0]: $_->[1]", 'invalid_api_key')
    for ['anthropic-version', ''], ['anthropic-beta', 'other-1'],
    ['x-api-key', 'sk-ant-something'];
refused($s->get('/v1/files', as => undef, headers => ['anthropic-beta' => 'a',
    'anthropic-beta' => 'files-api-1']), 401, 'anthropic', 'a second beta header');
refused($s->post('/v1/messages', as => undef, json => {}), 401, 'anthropic',
    'a model route speaks its own dialect');
refused($s->get('/v1/messages'), 405, 'anthropic', '... in a 405 too');
refused($s->post('/v1/responses', as => undef, json => {}, @ant), 401, 'openai',
    '... whatever the headers say', 'invalid_api_key');

# --- credentials: the case auth-header-forms, and section 2 ---

my $wrong = 'sk-satchel-' . 'x' x 43;
sub with { return $s->get('/v1/files', as => undef, headers => [@_])->{status} }
is(with(Authorization => "Bearer $key{alice}"), 200, 'Bearer');
is(with(Authorization => "bearer $key{alice}"), 200, 'bearer');
is(with(Authorization => "BEARER   $key{alice}"), 200, 'with spaces');
is(with('x-api-key' => $key{alice}), 200, 'x-api-key');
is(with('Otari-Key' => $key{alice}), 200, 'Otari-Key');
is(with('Otari-Key' => "Bearer $key{alice}"), 200, '... with Bearer');
is(with(Authorization => "Basic $key{alice}"), 401, 'Basic');
is(with(Authorization => $key{alice}), 401, 'no scheme');
is(with(Authorization => 'Bearer'), 401, 'no token');
is(with(Authorization => 'Bearer '), 401, 'an empty token');
is(with('x-api-key' => "Bearer $key{alice}"), 401, 'x-api-key has no scheme');
is(with('x-api-key' => "$key{alice}x"), 401, 'a key and more');
is(with('x-api-key' => 'k' x 6000), 401, 'a very long key');
# The first that is there decides.
is(with(Authorization => "Bearer $key{alice}", 'x-api-key' => 'other'), 200,
    'Authorization before x-api-key');
is(with(Authorization => "Bearer $wrong", 'x-api-key' => $key{alice}), 401,
    '... though it be wrong');
is(with(Authorization => 'Basic eDp5', 'x-api-key' => $key{alice}), 401,
    '... or malformed');
is(with('Otari-Key' => $key{alice}, Authorization => 'Basic eDp5'), 200,
    'Otari-Key before Authorization');
is(with('Otari-Key' => $wrong, Authorization => "Bearer $key{alice}"), 401,
    '... though it be wrong');
is(with(Authorization => '', 'x-api-key' => $key{alice}), 200,
    'an empty header is none');

# --- whom a key acts for ---

my $bob = $s->upload('of bob', as => 'bob')->{json}{id};
both(400, 'missing_required_parameter', 'a management key must name a user',
    sub { $s->get("/v1/files/$id", as => 'admin', @_) });
both(400, 'missing_required_parameter', '... in a JSON route too',
    sub { $s->post('/v1/uploads', as => 'admin', json => {}, @_) });
is($s->get("/v1/files/$id?user=alice", as => 'admin')->{json}{id}, $id,
    'it acts for alice');
is($s->get("/v1/files/$bob?user=bob", as => 'admin')->{json}{id}, $bob,
    '... for bob, of another workspace');
is($s->get("/v1/files/$bob?user=bob&workspace_id=other", as => 'admin')
    ->{json}{id}, $bob, '... naming the workspace');
both(404, undef, 'but then sees only what that user does',
    sub { $s->get("/v1/files/$bob?user=alice", as => 'admin', @_) });
both(400, 'invalid_value', 'no such user',
    sub { $s->get("/v1/files/$id?user=nobody", as => 'admin', @_) });
both(400, 'invalid_value', 'no such user in that workspace', sub {
	$s->get("/v1/files/$bob?user=bob&workspace_id=default", as => 'admin', @_) });
is($s->get("/v1/files/$id?user=alice")->{status}, 200, 'naming oneself is fine');
both(403, 'permission_denied', 'naming another is not',
    sub { $s->get("/v1/files/$id?user=carol", @_) });
both(403, 'permission_denied', '... on DELETE either',
    sub { $s->del("/v1/files/$id?user=carol", @_) });
is($s->get("/v1/files/$id")->{status}, 200, '... and nothing is gone');
is($s->get('/v1/files', @ant, headers =>
    ['anthropic-workspace-id' => 'default'])->{status}, 200, 'its own workspace');
refused($s->get('/v1/files', @ant, headers =>
    ['anthropic-workspace-id' => 'other']), 403, 'anthropic', 'another workspace');

# --- bodies ---

both(400, 'request_body_encoding_unsupported', 'a packed body', sub {
	$s->post('/v1/files', body => 'x' x 100, headers =>
	    ['Content-Encoding' => 'gzip', 'Content-Type' => 'text/plain'], @_) });
both(415, 'unsupported_media_type', 'JSON under another name', sub {
	$s->post('/v1/uploads', body => '{}',
	    headers => ['Content-Type' => 'text/plain'], @_) });
for (['cut short', '{"model":'], ['no object', '[1]'], ['nothing', ''],
    ['more than one', '{}{}'], ['a NUL', "{\"a\":\"\0\"}"],
    ['not UTF-8', "{\"a\":\"\xff\"}"], ['a key twice', '{"a":1,"a":2}'],
    ['nested', '{"a":' . '[' x 5000 . ']' x 5000 . '}']) {
	my ($name, $body) = @$_;
	both(400, undef, "broken JSON: $name", sub {
		$s->post('/v1/uploads', body => $body,
		    headers => ['Content-Type' => 'application/json'], @_) });
}
is($s->get('/v1/files')->{status}, 200, 'and it goes on');

# --- the process about itself ---

my ($version) = Satchel::run(Satchel::program('satchel'), '--version')->{out}
    =~ /^satchel (\S+)$/;
is_deeply($s->get('/healthz', as => undef)->{json},
    { status => 'ok', version => $version },
    '/healthz says which version answers, as --version does');
is_deeply($s->get('/readyz', as => undef)->{json},
    { database => 'ok', store => 'ok', sandbox => 'ok', status => 'ok' },
    'readyz');
{
	my $r = $s->get('/metrics', as => undef);
	is($r->{status}, 200, 'metrics, for this machine');
	like(header($r, 'Content-Type'), qr{^text/plain; version=0.0.4},
	    '... in their own type');
	my @bad = grep { !/^(?:\#\ (?:HELP|TYPE)\ satchel_\w+\ .+
	    |satchel_\w+\{pool="files"(?:,\w+="[^"]*")*\}\ [\d.]+)$/x }
	    split /\n/, $r->{body};
	is_deeply(\@bad, [], '... every line well formed');
	my $count = sub {
		return $s->get('/metrics')->{body} =~ /^satchel_requests_total\{
		    pool="files",method="GET",route="\/v1\/files",
		    class="2xx"\}\ (\d+)$/mx ? $1 : 0;
	};
	my $before = $count->();
	cmp_ok($before, '>', 0, '... counting');
	$s->get('/v1/files') for 1 .. 10;
	is($count->(), $before + 10, '... over all processes');
	like($s->get('/metrics')->{body},
	    qr/^satchel_requests_in_flight\{pool="files"\} 1$/m,
	    '... and what is under way');
	like($s->get('/metrics/run')->{body},
	    qr/^satchel_requests_in_flight\{pool="run"\} 1$/m,
	    'the other pool has its own');
}

$s->done;

# --- for browsers, below a path, lenient about users ---

my %cors = ('server.cors_origin' => 'https://app.example',
    'auth.lenient_user' => 'true',
    'server.public_url' => 'https://host.example/ai');
$s = Satchel->new(set => \%cors, up => ['--nginx-sed',
    's,location ~ \^,&(/ai)?,; s,SATCHEL_MOUNT  *"",SATCHEL_MOUNT "/ai",']);
{
	$id = $s->upload('some text', name => 'b.txt')->{json}{id};
	is($s->get("/ai/v1/files/$id")->{json}{id}, $id, 'below a mount point');
	is($s->get("/ai/api/v1/files/$id")->{json}{id}, $id, '... and /api/v1');
	is($s->get('/ai/healthz')->{status}, 200, '... and at its root');
	is($s->get("/v1/files/$id")->{json}{id}, $id,
	    'a front that has cut it off');
	is($s->get("/aii/v1/files/$id")->{status}, 404, 'half a segment is none');
	is($s->get("/ai/ai/v1/files/$id")->{status}, 404, 'nor is it cut twice');

	my @from = (headers => [Origin => 'https://app.example']);
	my $r = $s->get("/v1/files/$id", @from);
	is(header($r, 'Access-Control-Allow-Origin'), 'https://app.example',
	    'CORS: the origin that may');
	is(header($r, 'Vary'), 'Origin', '... for caches');
	like(header($r, 'Access-Control-Expose-Headers'),
	    qr/x-request-id.*request-id.*etag/, '... and what it may read');
	$r = $s->get("/v1/files/$id", as => undef, @from);
	is("$r->{status} " . header($r, 'Access-Control-Allow-Origin'),
	    '401 https://app.example', '... on errors too');
	$r = $s->get("/v1/files/$id", headers => [Origin => 'https://evil.example']);
	is(header($r, 'Access-Control-Allow-Origin'), undef, 'not another one');
	$r = $s->get("/v1/files/$id");
	is(header($r, 'Access-Control-Allow-Origin'), undef, 'nor without one');

	$r = $s->request('OPTIONS', "/v1/files/$id", as => undef, headers => [
	    Origin => 'https://app.example',
	    'Access-Control-Request-Method' => 'DELETE',
	    'Access-Control-Request-Headers' => 'authorization,x-api-key']);
	is($r->{status}, 204, 'a preflight needs no key');
	is(header($r, 'Access-Control-Allow-Origin'), 'https://app.example',
	    '... names the origin');
	is(header($r, 'Access-Control-Allow-Methods'), 'GET, HEAD, DELETE',
	    '... the methods');
	is(header($r, 'Access-Control-Allow-Headers'), 'authorization,x-api-key',
	    '... the headers');
	is($r->{body}, '', '... and has no body');

	is($s->get("/v1/files/$id?user=carol")->{json}{id}, $id,
	    'a lenient server ignores another name');
}
$s->done;
done_testing();
