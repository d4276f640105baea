#!/usr/bin/perl

# Who may call LibreChat's routes: tokens, keys in every place that clients put
# them, trusted networks, and the answers of everybody else (librechat contract
# section 4; cases lc-auth-ways; edge cases 73 to 78).

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Code;
use Satchel;

my $code = Code->new;
my $rsa = $code->key('rsa', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048');
# One process, since each reads the keys when it first needs them.
my $s = Satchel->new(set => {'librechat.jwt.pem_dir' => $code->{pem_dir},
    'workers.processes' => 1});
my $path = '/v1/files/' . 'a' x 21 . '?kind=user';

# The empty list is the answer of somebody who has been let in.
sub ask {
	my (@o) = @_;
	my $r = $s->get($path, as => undef, @o);
	return "$r->{status} " . (ref $r->{json} eq 'HASH' ? $r->{json}{error} : $r->{body});
}
my $in = '200 []';
my $key = $s->{key}{alice};

is(ask(headers => ['X-API-Key' => $key]), $in, 'X-API-Key');
is(ask(headers => [Authorization => "Bearer $key"]), $in, 'Bearer with a key');
is(ask(headers => [Authorization => "bearer  $key"]), $in, '... in any case');
is(ask(headers => [Authorization => "ApiKey $key"]), $in, 'ApiKey');
is(ask($code->bearer), $in, 'a token');
is(ask($code->bearer(head => { alg => 'RS256', kid => 'rsa' })), $in, 'RS256');
is(ask($code->bearer(aud => ['x', 'codeapi'])), $in, 'a token for several');

my $r = $s->get($path, as => undef);
is("$r->{status} $r->{body}", '401 {"error":"Authentication is required"}',
    'row 73: nobody');
is(Satchel::header($r, 'WWW-Authenticate'), 'Bearer', '... is asked for a token');
is(Satchel::header($r, 'X-CodeAPI-Execution-Profile'), 'default',
    '... and told the profile');

my $bad = '401 Invalid bearer token';
my $now = time;
my %token = (
	'another issuer' => [iss => 'x'], 'another audience' => [aud => 'x'],
	'row 75: 31 s past its end' => [iat => $now - 331, nbf => $now - 331,
	    exp => $now - 32],
	'row 76: 301 s of life' => [iat => $now, nbf => $now, exp => $now + 301],
	'not valid for 60 s' => [nbf => $now + 60],
	'another source' => [principal_source => 'x'],
	'a jti of 257' => [jti => 'j' x 257],
	'no jti' => [jti => undef], 'no sub' => [sub => undef],
	'no iat' => [iat => undef], 'no nbf' => [nbf => undef],
	'no exp' => [exp => undef], 'no hash' => [auth_context_hash => undef],
	'row 74: alg none' => [head => { alg => 'none' }],
	'row 74: an unknown kid' => [head => { kid => 'x' },
	    key => "$code->{dir}/lc-codeapi-2026-05"],
	'the other key' => [head => { alg => 'RS256', kid => 'rsa' },
	    key => $code->key('other', '-algorithm', 'RSA', '-pkeyopt',
		'rsa_keygen_bits:2048')],
);
is(ask($code->bearer(@{$token{$_}})), $bad, $_) for sort keys %token;
is(ask($code->bearer(iat => $now - 320, nbf => $now - 320, exp => $now - 20)),
    $in, 'row 75: some seconds past its end is within the skew');

# HS256 with the public key as the secret.
{
	my $t = $code->token(head => { alg => 'HS256' });
	is(ask(headers => [Authorization => "Bearer $t"]), $bad, 'row 74: HS256');
	$t = $code->token;
	substr($t, -2, 1) = substr($t, -2, 1) eq 'A' ? 'B' : 'A';
	is(ask(headers => [Authorization => "Bearer $t"]), $bad,
	    'a signature with one character changed');
}
my @why = map { $_->{msg} } grep { ($_->{msg} // '') =~ /a caller is refused/ }
    $s->log;
ok((grep { /aud is another/ } @why), 'the log says which check failed');
ok(!(grep { /eyJ/ } map { join '', values %$_ } $s->log), '... and no token');

is(ask(headers => ['X-API-Key' => 'sk-satchel-' . 'a' x 43]),
    '401 Invalid API key', 'an unknown key');
is(ask(headers => [Authorization => 'Basic eDp5']), '401 Invalid API key',
    'another scheme');
is(ask(headers => ['X-API-Key' => $key, Authorization => "Bearer $key"]),
    '400 Ambiguous authentication headers', 'two keys');
is(ask(headers => ['X-API-Key' => $key,
    Authorization => 'Bearer ' . $code->token]),
    '400 Ambiguous authentication headers', 'a key and a token');
is(ask($code->bearer(code_worker_id => 'w')), '400 unsupported_capability',
    'a token for a worker');

# --- profile, worker, workspace ---

my @as = $code->bearer;
$r = $s->get($path, as => undef, headers => [@{$as[3]},
    'X-CodeAPI-Expected-Profile' => 'stateful']);
is_deeply([$r->{status}, $r->{json}], [409, {
	error => 'execution_profile_mismatch',
	message => 'Expected stateful, this deployment serves default',
	expected_profile => 'stateful', actual_profile => 'default' }],
    'row 99: the profile stateful');
for (['X-CodeAPI-Expected-Profile' => 'default', $in],
    ['X-CodeAPI-Expected-Profile' => 'x', '400 invalid_execution_profile'],
    ['X-LibreChat-Code-Worker-ID' => 'w', '400 unsupported_capability'],
    ['X-LibreChat-Code-Workspace-ID' => 'w',
	'400 stateful_workspace_unsupported']) {
	is(ask(headers => [@{$as[3]}, $_->[0] => $_->[1]]), $_->[2],
	    "$_->[0]: $_->[1]");
}

# --- paths ---

for my $p ("/files/@{['a' x 21]}?kind=user", "//files/@{['a' x 21]}?kind=user",
    "/v1//files/@{['a' x 21]}?kind=user", "/api/v1/files/@{['a' x 21]}?kind=user",
    "/v1/files/@{['a' x 21]}/?kind=user") {
	my $a = $s->get($p, @as);
	is("$a->{status} $a->{body}", $in, "row 101: $p is the route");
}
is($s->get('/v1/sessions/short/objects/' . 'a' x 21, @as)->{status}, 400,
    'row 58: an id of wrong shape');
$r = $s->get('/upload', @as);
is("$r->{status} " . Satchel::header($r, 'Allow'), '405 POST', 'row 102: GET /upload');
is($s->get('/v1/v1/upload', @as)->{status}, 404, 'row 101: /v1/v1/upload');
like($s->get('/files/' . 'a' x 21, @as)->{body}, qr/kind must be one of/,
    'row 56: a token must name a kind');

for my $p (qw(/health /v1/health /ready /v1/ready)) {
	$r = $s->get($p, as => undef);
	is($r->{status}, 200, "$p, to anybody");
}

# --- keys that are replaced, and a broken deployment ---

$code->key('fresh');
sleep 6;
is(ask($code->bearer(head => { kid => 'fresh' })), $in,
    'a key that was added is found');
unlink "$code->{pem_dir}/fresh.pem";
open my $no_key, '>', "$code->{pem_dir}/broken.pem" or die $!;
print $no_key "no key\n";
close $no_key;
sleep 6;
is(ask($code->bearer(head => { kid => 'fresh' })), $in,
    '... stays while the directory cannot be read whole, also if removed');
$s->expect_log(qr/jwk: .*; the old keys stay/);
unlink "$code->{pem_dir}/broken.pem";
sleep 6;
is(ask($code->bearer(head => { kid => 'fresh' })), $bad, '... and removed');

# --- trusted networks ---

$s->restart(set => {'librechat.trusted_cidrs' => '10.0.0.0/8'});
is(ask(), '401 Authentication is required', 'a peer of no trusted network');
is(ask(headers => ['X-Forwarded-For' => '10.0.0.1', 'X-Real-IP' => '10.0.0.1']),
    '401 Authentication is required', '... whatever it says of itself');
is(ask($code->bearer), $bad, 'a token where there are no keys');
$s->restart(set => {'librechat.trusted_cidrs' => '10.0.0.0/8, 127.0.0.1/32'});
is(ask(), $in, 'a peer of a trusted network');
is(ask(headers => ['X-API-Key' => 'x']), '401 Invalid API key',
    '... whose credential is judged all the same');
$s->restart(set => {'librechat.jwt.pem_file' => '/nonexistent'});
is((split / /, ask($code->bearer))[0], 500, 'keys that cannot be read: 500');
$s->expect_log(qr/jwk: /);

# --- a proxy that adds a key ---

$s->restart(set => {'librechat.jwt.pem_dir' => $code->{pem_dir},
    'librechat.key_with_jwt' => 'true'});
is(ask(headers => ['X-API-Key' => $key,
    Authorization => 'Bearer ' . $code->token]), $in, 'both hold');
is(ask(headers => ['X-API-Key' => 'x',
    Authorization => 'Bearer ' . $code->token]), '401 Invalid API key',
    'the key does not');
is(ask(headers => ['X-API-Key' => $key,
    Authorization => 'Bearer ' . $code->token(iss => 'x')]), $bad,
    'the token does not');
$s->done;
done_testing;
