#!/usr/bin/perl

# conf/sandbox-openapi.json: all that it says there is can be had.  (That all
# there is stands in it, every test with a Sandbox sees to.)

use strict;
use warnings;
use Test::More;
use Sandbox;

my $s = Sandbox->new(set => { 'sandbox.token' => 'secret',
    'sandbox.sessions_max' => 1, 'sandbox.workspace_bytes' => 1 << 20 });
my $api = Sandbox::api();
my $id = $s->session;
my $none = '/sessions/sbx_00nosuchsession0000000';

# Every operation without a token, and every one on a session that is not there.
for my $operation ($api->operations) {
	my ($method, $path) = split / /, $operation;
	$path =~ s/\{session_id\}/$id/;
	is($s->request($method, $path, token => undef)->{status}, 401,
	    "$operation without a token");
}
my $run = { tool => 'bash_code_execution', input => { command => 'echo 1 >f' } };
my $input = '{"tool":"bash_code_execution","input":{"command":"x"}';
my @asked = (
	['GET', '/health', 200],
	['GET', '/health?a=%zz', 400],
	['GET', "/sessions/$id?a=%zz", 400],
	['DELETE', "/sessions/$id?a=%zz", 400],
	['POST', '/sessions', 503],
	['POST', '/sessions', 422, body => '[]'],
	['POST', '/sessions', 400, body => '{'],
	['POST', '/sessions', 413, body => ' ' x 70000],
	['GET', "/sessions/$id", 200],
	['GET', $none, 404],
	['DELETE', $none, 204],
	['POST', "/sessions/$id/exec", 200, json => $run],
	['POST', "$none/exec", 404, json => $run],
	['POST', "/sessions/$id/exec", 400, body => "$input"],
	['POST', "/sessions/$id/exec", 422, body => "$input,\"stream\":1}"],
	['POST', "/sessions/$id/exec", 413, body => ' ' x 9000000],
	['POST', "/sessions/$id/files", 201, form => [['file', 'x', 'g']]],
	['POST', "/sessions/$id/files", 403, form => [['path', '../g'],
	    ['file', 'x', 'g']]],
	['POST', "/sessions/$id/files", 400, body => 'x', headers =>
	    ['Content-Type' => 'multipart/form-data; boundary=b']],
	['POST', "/sessions/$id/files", 422, form => [['path', 'g']]],
	['POST', "/sessions/$id/files", 413, form => [['file', 'x' x 2000000,
	    'g']]],
	['POST', "$none/files", 404, form => [['file', 'x', 'g']]],
	['GET', "/sessions/$id/files?path=f", 200],
	['GET', "/sessions/$id/files?path=.", 400],
	['GET', "/sessions/$id/files?path=../f", 403],
	['GET', "/sessions/$id/files?path=none", 404],
	['GET', "/sessions/$id/files", 422],
	['GET', "/sessions/$id/files/list", 200],
	['GET', "/sessions/$id/files/list?path=" . 'a' x 5000, 400],
	['GET', "/sessions/$id/files/list?path=..", 403],
	['GET', "/sessions/$id/files/list?path=none", 404],
	['GET', "/sessions/$id/files/list?path=", 422],
	['PUT', "/sessions/$id/files", 405],
	['GET', '/nowhere', 404],
);
for (@asked) {
	my ($method, $path, $status, %o) = @$_;
	is($s->request($method, $path, %o)->{status}, $status,
	    "$method " . substr($path, 0, 60) . " $status");
}
is($s->del("/sessions/$id")->{status}, 204, 'the session ends');
$s->session;

# What the document has beyond what this test has seen: answers that take a
# minute, or a broken machine.
my %seen = map { $_ => 1 } $api->seen;
my @unseen;
for my $operation ($api->operations) {
	my ($method, $path) = split / /, $operation;
	my $op = $api->{doc}{paths}{$path}{lc $method};
	push @unseen, grep { !$seen{$_} } map { "$operation $_" }
	    grep { !/^(?:408|500)$/ } sort keys %{$op->{responses}};
}
is_deeply(\@unseen, ['GET /sessions/{session_id}/files 503',
    'POST /sessions/{session_id}/files 503',
    'GET /sessions/{session_id}/files/list 503'],
    'every status of every operation has been had');

# The check finds what is there to find.
my $good = { session_id => 'x', created_at => 1.5, last_activity_at => 2,
	idle_timeout_seconds => 3, max_lifetime_seconds => 4 };
my $schema = { '$ref' => '#/components/schemas/Session' };
is_deeply([$api->against($schema, $good, 1)], [], 'a session');
for (['a text for a number', idle_timeout_seconds => '3',
	'idle_timeout_seconds is string'],
    ['a fraction', idle_timeout_seconds => 3.5,
	'idle_timeout_seconds is number'],
    ['less than may be', idle_timeout_seconds => 0,
	'idle_timeout_seconds is 0'],
    ['null', session_id => undef, 'session_id is null'],
    ['an empty text', session_id => '', 'session_id is short'],
    ['a member that is not described', more => 1,
	'more is not in the document']) {
	my ($what, $key, $value, $said) = @$_;
	is(join('; ', $api->against($schema, { %$good, $key => $value }, 1)),
	    $said, "it finds $what");
}
delete $good->{session_id};
is(join('; ', $api->against($schema, $good, 1)), 'session_id is missing',
    'it finds a member that is missing');
like(join('', $api->answer('GET', '/health', { status => 299 })),
    qr/no status of GET/, 'it finds a status');

$s->done;
done_testing();
