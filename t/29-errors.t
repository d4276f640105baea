# Who may call, what may be asked, and how a refusal reads in either dialect.

use strict;
use warnings;
use Test::More;
use Files;

my $c = Files->stack;
my $s = $c->{s};
my $id = $c->file("q,amount\n1,20\n", 'sales.csv', mime => 'text/csv');

my @bad_key = ('401 O[ire|-|invalid_api_key]', '401 A[authentication_error]');
my @no_method = ('405 O[ire|-|method_not_supported]', '405 A[ire]');

# --- credentials ---

refused('row 66: no credential', @bad_key,
    sub { $c->get('/v1/files', key => undef, dialect => shift) });
refused('row 67: Basic beside a valid x-api-key', @bad_key, sub {
	$c->get('/v1/files', key => undef, dialect => shift, headers => [
	Authorization => 'Basic dXNlcjpwYXNz', 'x-api-key' => $c->key('a')]) });
my $unknown = 'sk-satchel-' . 'x' x 43;
my %text;
{
	my ($disabled, $expired) = map {
		$s->admin(qw(key create default alice))->{out} =~ s/\s+$//r
	} 1, 2;
	is($c->get('/v1/files', key => $_)->{status}, 200, 'a fresh key works')
	    for $disabled, $expired;
	for ([$disabled, 'revoked = 1'], [$expired, 'expires = 1']) {
		my ($key, $set) = @$_;
		$c->sql("UPDATE api_key SET $set WHERE sha256 = UNHEX('"
		    . sha256_hex($key) . "')");
	}
	for (['unknown', $unknown], ['disabled', $disabled],
	    ['expired', $expired], ['malformed', 'nonsense']) {
		my ($what, $key) = @$_;
		refused("row 68: $what key", @bad_key, sub {
			my $r = $c->get('/v1/files', key => $key,
			    dialect => shift);
			# The header is named, which each vendor's is its own.
			$text{ $r->{json}{error}{message}
			    =~ s/^The header (?:Authorization|x-api-key) //r }++;
			return $r;
		});
	}
	# The log knows why.
	$s->admin(@$_) for [qw(workspace create later)],
	    [qw(user create later u)], [qw(user create default w)];
	my ($ws, $user) = map { $s->admin(qw(key create), @$_)->{out} =~ s/\s+$//r }
	    [qw(later u)], [qw(default w)];
	$s->admin(qw(workspace disable later));
	$s->admin(qw(user disable default w));
	for (['unknown', $unknown], ['revoked', $disabled], ['expired', $expired],
	    ['malformed', 'nonsense'], ['its workspace is disabled', $ws],
	    ['its user is disabled', $user]) {
		my ($why, $key) = @$_;
		my $r = $s->get('/v1/files', as => undef,
		    headers => [Authorization => "Bearer $key"]);
		my $request = $r->{head}{'x-request-id'}[0];
		is("$r->{status} " . join('|', map { $_->{msg} } grep {
		    ($_->{request} // '') eq $request && defined $_->{msg} }
		    $s->log) =~ s/id [1-9]\d*/id N/r, '401 auth: a key is refused: '
		    . "$why (id " . ($why =~ /un|mal/ ? 0 : 'N')
		    . ', in Authorization)', "a key: $why");
		$r = $s->post('/v1/exec', as => undef, headers => ['x-api-key' =>
		    $key], json => { lang => 'bash', code => 'echo' });
		my ($line) = grep { ($_->{request} // '') eq
		    $r->{head}{'x-request-id'}[0] && defined $_->{msg} } $s->log;
		like("$r->{status} $line->{msg}",
		    qr/^401 librechat: .*: API key: \Q$why\E \(id \d+\)$/,
		    '... of LibreChat');
	}
	is(join('|', keys %text), 'holds no valid API key. Send Authorization: '
	    . 'Bearer KEY or x-api-key: KEY.', 'row 68: one text for all of them');
}
for ([undef, 'No API key was sent. Send'],
    ['Authorization' => 'The header Authorization holds no valid API key.'],
    ['x-api-key' => 'The header x-api-key holds no valid API key.'],
    ['Otari-Key' => 'The header Otari-Key holds no valid API key.']) {
	my ($header, $words) = @$_;
	like($c->get('/v1/files', key => undef, headers => [defined $header ?
	    ($header => "Bearer $unknown") : ()])->{json}{error}{message},
	    qr/^\Q$words\E .*Bearer KEY or x-api-key: KEY\.$/,
	    'where a key was looked for: ' . ($header // 'nowhere'));
}
refused('row 69: the workspace header of another workspace', undef,
    '403 A[permission_error]', sub { $c->get('/v1/files', dialect => shift,
	headers => ['anthropic-workspace-id' => 'other']) });
for (['its own', 'default'], ['none', '']) {
	my ($what, $ws) = @$_;
	is($c->get('/v1/files', dialect => 'anthropic', headers =>
	    ['anthropic-workspace-id' => $ws])->{status}, 200,
	    "row 69: the workspace header names $what");
}
is($c->get('/v1/files', headers => ['anthropic-workspace-id' => 'other'])
    ->{status}, 200, 'row 69: ignored (OpenAI)');
refused('row 64: operator key without user in a list',
    '400 O[ire|user|missing_required_parameter]', '400 A[ire]',
    sub { $c->get('/v1/files', key => 'admin', dialect => shift) });
is($c->get('/v1/files?user=alice', key => 'admin')->{json}{data}[0]{id}, $id,
    'row 64: an operator key reads for a user');
refused('row 65: another user in a query', '403 O[ire|user|permission_denied]',
    '403 A[permission_error]',
    sub { $c->get('/v1/files?user=carol', dialect => shift) });

# --- no use in asking again: every route that wants a key, in each dialect ---

{
	open my $fh, '<', 'fcgi/routes.c' or die $!;
	my $source = do { local $/; <$fh> };
	my %arg = (file => $id, lcid => 'a' x 21, id => 'upload_1',
	    name => 'default', model => 'm');
	my $routes = 0;
	while ($source =~ /\{\s*"(\w+)",\s*"([^"]+)",\s*\w+,\s*(\w+),/g) {
		my ($method, $path, $who) = ($1, $2, $3);
		next if $who eq 'ANY';
		$path =~ s/\{(\w+)\}/$arg{$1}/g;
		for my $d (@DIALECTS) {
			for my $key (undef, $unknown) {
				my $r = $c->request($method, "/v1$path",
				    key => $key, dialect => $d, $method eq 'GET'
				    ? () : (body => '{}', headers => [
				    'Content-Type' => 'application/json']));
				is("$r->{status} "
				    . ($r->{header}{'x-should-retry'} // '-'),
				    '401 false', "$method $path, "
				    . ($key ? 'a wrong key' : 'no key')
				    . " ($d)");
			}
		}
		$routes++;
	}
	cmp_ok($routes, '>', 50, 'those were all');
	my $r = $c->get('/v1/files?user=carol');
	is("$r->{status} $r->{header}{'x-should-retry'}", '403 false', 'denied');
	$r = $c->get('/v1/files');
	is($r->{header}{'x-should-retry'}, undef, 'nothing of it on success');
}

# --- methods and paths ---

for my $method (qw(PUT PATCH)) {
	refused("row 135: $method on a file", @no_method, sub {
		$c->request($method, "/v1/files/$id", body => 'x',
		dialect => shift) });
	is($c->request($method, "/v1/files/$id", body => 'x')->{header}{allow},
	    'GET, HEAD, DELETE', "row 135: $method: Allow");
}
refused('row 136: POST on a file', @no_method, sub {
	$c->request('POST', "/v1/files/$id", body => '', dialect => shift) });
{
	my $r = $c->request('OPTIONS', "/v1/files/$id", headers => [
	    Origin => 'https://example.test',
	    'Access-Control-Request-Method' => 'DELETE']);
	like($r->{status}, qr/^(?:204|405)$/, 'row 137: OPTIONS');
	is($r->{header}{allow}, 'GET, HEAD, DELETE', 'row 137: Allow');
	is(scalar(grep /^access-control/, keys %{ $r->{header} }), 0,
	    'row 137: no CORS headers');
}
for my $d (@DIALECTS) {
	is($c->get('/v1/files/', dialect => $d)->{body},
	    $c->get('/v1/files', dialect => $d)->{body},
	    "row 138: a slash at the end ($d)");
}
for ("$id/contents", "$id/content/more", "$id/x/y/z") {
	my $path = $_;
	refused('row 139: ' . $path =~ s/\Q$id/{id}/r,
	    '404 O[ire|-|unknown_url]', '404 A[nf]',
	    sub { $c->get("/v1/files/$path", dialect => shift) });
}

# --- two dialects, two mounts ---

for my $key ('a', 'b') {
	my $id = $c->file("both $key", 'b.txt', key => $key,
	    dialect => $key eq 'a' ? 'openai' : 'anthropic');
	my @r = map { $c->get("/v1/files/$id", key => $key, dialect => $_) }
	    @DIALECTS;
	is(shape($r[$_]{json}, $DIALECTS[$_]), '',
	    "row 152: one id, the shape of $DIALECTS[$_]") for 0, 1;
	is($r[0]{json}{id}, $r[1]{json}{id}, 'row 152: the same id');
	my @bytes = map { $c->get("/v1/files/$id/content", key => $key,
	    dialect => $_)->{body} } @DIALECTS;
	is("$bytes[0]|$bytes[1]", "both $key|both $key",
	    'row 152: the same bytes');
}
for my $d (@DIALECTS) {
	for my $path ('files', "files/$id", "files/$id/content", 'files?limit=1',
	    'files/nothing', 'uploads/x/cancel') {
		my ($v1, $api) = map { my $r = $c->get("$_/$path",
		    dialect => $d); "$r->{status} " . $r->{body}
		    =~ s/req_\w+/REQ/r } '/v1', '/api/v1';
		is($api, $v1, 'row 154: /api/v1 is /v1: '
		    . $path =~ s/\Q$id/{id}/r . " ($d)");
	}
}
{
	my $r = $c->upload(form(file_part('x', 'x.txt')), path => '/api/v1/files');
	is($r->{status}, 200, 'row 154: upload under /api/v1');
	is($c->request('DELETE', "/api/v1/files/$r->{json}{id}")->{status}, 200,
	    'row 154: delete under /api/v1');
	$r = $c->get("/v1/files/$id",
	    headers => ['anthropic-version' => 'garbage']);
	is($r->{status} . shape($r->{json}, 'anthropic'), '200',
	    'row 155: any anthropic-version: Anthropic\'s shape');
	$r = $c->get("/v1/files/$id", key => undef,
	    headers => ['x-api-key' => $c->key('a')]);
	is($r->{status} . shape($r->{json}, 'openai'), '200',
	    'row 156: x-api-key alone: OpenAI\'s shape');
	$r = $c->get('/v1/files/nothing', headers =>
	    ['anthropic-beta' => 'x-1, files-api-2025-04-14']);
	is(said($r, 'anthropic'), '404 A[nf]',
	    'a files beta in a list: Anthropic\'s shape');
	$r = $c->get('/v1/files/nothing', headers => ['anthropic-beta' => 'x-1',
	    'anthropic-beta' => 'files-api-2025-04-14']);
	is(said($r, 'anthropic'), '404 A[nf]', 'or in a second header');
}

# --- nothing works inside ---

{
	$s->expect_log(qr/./);
	$c->sql('RENAME TABLE file TO file_away');
	for my $d (@DIALECTS) {
		my $r = $c->get('/v1/files', dialect => $d);
		is(said($r, $d), $d eq 'openai' ? '500 O[srv|-|-]'
		    : '500 A[api_error]', "row 157: an internal error ($d)");
		unlike($r->{json}{error}{message}, qr/file_away|table|satchel\./i,
		    "row 157: a generic text ($d)");
		my $id = $r->{header}{'request-id'};
		cmp_ok($c->logged(qr/"level":"error".*\Q$id/), '>=', 1,
		    "row 157: the request id in the log ($d)");
	}
	$c->sql('RENAME TABLE file_away TO file');
}

# --- the database is away ---

{
	my $before = $c->stored;
	$s->stop('db');
	for (['GET', '/v1/files'], ['GET', "/v1/files/$id"],
	    ['GET', "/v1/files/$id/content"], ['DELETE', "/v1/files/$id"]) {
		my ($method, $path) = @$_;
		my $name = "$method " . $path =~ s/\Q$id/{id}/r;
		for my $d (@DIALECTS) {
			my $r = $c->request($method, $path, dialect => $d);
			is(said($r, $d), $d eq 'openai'
			    ? '503 O[srv|-|database_unavailable]'
			    : '503 A[api_error]',
			    "row 70: database down: $name ($d)");
			like($r->{header}{'retry-after'}, qr/^\d+$/,
			    "row 70: Retry-After: $name ($d)");
		}
	}
	my $r = $c->upload(form(file_part('x', 'x.txt')));
	is(said($r, 'openai'), '503 O[srv|-|database_unavailable]',
	    'row 70: database down: upload');
	my $want = 'err-shapes: database stopped';
	for my $d (@DIALECTS) {
		$r = $c->get('/v1/files', dialect => $d);
		is("$r->{status} " . ($r->{header}{'retry-after'}
		    ? 'Retry-After' : ''), '503 Retry-After', "$want ($d)");
	}
	$s->start;
	ok($c->wait_for(sub { $c->get('/v1/files')->{status} == 200 }),
	    'it comes back by itself');
	is($c->stored, $before, 'nothing was stored or lost meanwhile');
}

# --- err-shapes ---

refused('err-shapes: no key', @bad_key,
    sub { $c->get('/v1/files', key => undef, dialect => shift) });
refused('err-shapes: wrong key', @bad_key,
    sub { $c->get('/v1/files', key => $unknown, dialect => shift) });
refused('err-shapes: unknown path', '404 O[ire|-|unknown_url]', '404 A[nf]',
    sub { $c->get('/v1/nothing', dialect => shift) });
refused('err-shapes: a path outside /v1', '404 O[ire|-|unknown_url]',
    '404 A[nf]', sub { $c->get('/nothing', dialect => shift) });
refused('err-shapes: wrong method', @no_method,
    sub { $c->request('PATCH', '/v1/files', dialect => shift) });
refused('err-shapes: broken JSON', '400 O[ire|-|-]', '400 A[ire]', sub {
	my ($d) = @_;
	return $c->request('POST', $d eq 'openai' ? '/v1/uploads'
	    : '/v1/messages', dialect => $d, body => '{"model":',
	    headers => ['Content-Type' => 'application/json']) });

# --- files switched off ---

{
	my $off = Files->stack(set => { 'files.enabled' => 'false' });
	for (['POST', '/v1/files'], ['GET', '/v1/files'],
	    ['GET', "/v1/files/$id"], ['GET', "/v1/files/$id/content"],
	    ['DELETE', "/v1/files/$id"], ['POST', '/v1/uploads'],
	    ['POST', '/v1/uploads/upload_x/parts'],
	    ['POST', '/v1/uploads/upload_x/complete'],
	    ['POST', '/v1/uploads/upload_x/cancel']) {
		my ($method, $path) = @$_;
		refused("row 140: files disabled: $method "
		    . $path =~ s/\Q$id/{id}/r, '404 O[ire|-|-]', '404 A[nf]',
		    sub { $off->request($method, $path, dialect => shift,
		    $method eq 'POST' ? (body => '') : ()) });
	}
	is($off->get('/healthz', key => undef)->{status}, 200,
	    'row 140: the rest serves on');
	$off->done;
}

$c->done;
done_testing;
