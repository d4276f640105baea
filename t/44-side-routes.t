#!/usr/bin/perl

# What clients ask besides the three model routes: which models there are, how
# long a prompt is, and other paths of a provider's.

use strict;
use warnings;
use JSON::PP;
use Test::More;
use Provider;
use Satchel qw(header);

my $json = JSON::PP->new->utf8->canonical;
my %paths = (
	'/models' => { body => $json->encode({ object => 'list', data => [
	    { id => 'gpt-x', object => 'model', created => 1796119200,
	    owned_by => 'them' }, { id => 'org/open:7b', object => 'model',
	    created => 5, max_model_len => 4096 }, { id => 'other-1' }] }) },
	'/embeddings' => { body => '{"object":"list",  "data":[0.25]}' },
	'/audio/speech' => { type => 'audio/mpeg', body => "ID3\x01" },
	'/images/generations' => { type => 'text/html', body => '<b>x</b>' },
	'/moderations' => { status => 429, body => '{"error":{"message":'
	    . '"slow"}}' },
	'/messages/count_tokens' => { body => '{"input_tokens": 11}' },
);
my $p = Provider->new(script => { paths => \%paths });
my $none = Provider->new(script => { rounds => [] });
my $s = Satchel->new(providers =>
    $p->yaml('first', 'openai-chat', models => '["qwen3-coder"]') .
    $p->yaml('all', 'openai-responses', models => '["gpt-*", "org/*",'
    . ' "first:odd"]', forward_other => 'true') .
    $p->yaml('ant', 'anthropic-messages', models => '["claude-x"]') .
    $none->yaml('bare', 'anthropic-messages', models => '["claude-y"]',
    native_code => 'true') .
    $none->yaml('twin', 'openai-chat', models => '["gpt-x", "own"]'));

# --- models ---

my $r = $s->get('/v1/models');
is($r->{status}, 200, 'the models');
is_deeply($r->{json}{data}[0], { id => 'qwen3-coder', object => 'model',
    created => 0, owned_by => 'gateway' }, 'one, in the contract\'s shape');
is((grep { $_->{id} eq 'org/open:7b' }
    @{$s->get('/v1/models')->{json}{data}})[0]{max_model_len}, 4096,
    'a list says how long a conversation may be, where the server does');
is_deeply([map { $_->{id} } @{ $r->{json}{data} }], ['qwen3-coder',
    'all:first:odd', 'gpt-x', 'org/open:7b', 'claude-x', 'claude-y',
    'twin:gpt-x', 'own'], 'all of them, by the names that reach them');
is($r->{json}{object}, 'list', 'OpenAI\'s list');
is($r->{json}{data}[2]{created}, 1796119200, 'since when');

$r = $s->get('/v1/models', ant => 1);
is_deeply($r->{json}{data}[3], { type => 'model', id => 'org/open:7b',
    display_name => 'org/open:7b', created_at => '1970-01-01T00:00:05.000Z',
    max_input_tokens => 4096, max_tokens => undef, capabilities => undef,
    deprecated_at => undef, lifecycle => 'active', line => undef,
    retires_at => undef }, 'one in the other shape');
is_deeply([@{ $r->{json} }{qw(first_id last_id)}], ['qwen3-coder', 'own'],
    'and its envelope');
$r = $s->get('/v1/models?limit=3', ant => 1);
is($r->{json}{has_more}, JSON::PP::true, 'a page');
$r = $s->get('/v1/models?limit=3&after_id=gpt-x', ant => 1);
is_deeply([map { $_->{id} } @{ $r->{json}{data} }], ['org/open:7b',
    'claude-x', 'claude-y'], 'the next one');
$r = $s->get('/v1/models?limit=2&before_id=gpt-x', ant => 1);
is_deeply([map { $_->{id} } @{ $r->{json}{data} }], ['qwen3-coder',
    'all:first:odd'], 'the one before');
$r = $s->get('/v1/models?after_id=nope', ant => 1);
is("$r->{status} $r->{json}{error}{type}", '400 invalid_request_error',
    'no such cursor');
$r = $s->get('/v1/models?limit=0', ant => 1);
is($r->{status}, 400, 'no such limit');

for (['/v1/models/gpt-x', 'gpt-x'], ['/v1/models/org%2Fopen:7b',
    'org/open:7b'], ['/v1/models/org/open:7b', 'org/open:7b'],
    ['/api/v1/models/all:gpt-x', 'all:gpt-x']) {
	$r = $s->get($_->[0]);
	is("$r->{status} $r->{json}{id}", "200 $_->[1]", $_->[0]);
}
$r = $s->get('/v1/models/gpt-nope');
is("$r->{status} $r->{json}{id}", '200 gpt-nope',
    'a name that no list has but that can be asked for');
for my $path ('nope', 'first:gpt-x', 'all:other-1') {
	$r = $s->get("/v1/models/$path");
	is("$r->{status} " . ($r->{json}{error}{code} // ''),
	    '404 model_not_found', "no $path");
}
is($s->get('/v1/models', as => undef)->{status}, 401, 'no key, no models');

# --- counting ---

my @hi = (messages => [{ role => 'user', content => 'hi' }]);
$r = $s->post('/v1/messages/count_tokens', ant => 1, json => {
    model => 'qwen3-coder', @hi });
is_deeply($r->{json}, { input_tokens => 9 }, 'as the contract\'s example')
    or diag($r->{body});
my $long = 'word ' x 400;
$r = $s->post('/v1/messages/count_tokens', ant => 1, json => {
    model => 'qwen3-coder', system => $long, @hi, tools => [{ type =>
    'code_execution_20250825', name => 'code_execution' }] });
is($r->{status}, 200, 'code execution is counted, not run');
cmp_ok($r->{json}{input_tokens}, '>', 600, 'with all that is sent');
ok(!defined(header($r, 'X-Code-Execution-Ran')), 'and nothing ran');
$p->forget;
$r = $s->post('/v1/messages/count_tokens', ant => 1, json => {
    model => 'claude-x', @hi });
is($r->{body}, '{"input_tokens": 11}', 'the provider counts its own');
is(($p->requests)[0]{json}{model}, 'claude-x', 'by its model\'s name');
$r = $s->post('/v1/messages/count_tokens', ant => 1, json => {
    model => 'claude-y', @hi });
is_deeply($r->{json}, { input_tokens => 9 }, 'one that cannot is estimated');
$r = $s->post('/v1/messages/count_tokens', ant => 1, json => {
    model => 'nope', @hi });
is("$r->{status} $r->{json}{error}{type}", '404 not_found_error',
    'no such model');
$r = $s->post('/v1/messages/count_tokens', ant => 1, json => {
    model => 'qwen3-coder', messages => [{ role => 'user' }] });
is($r->{status}, 400, 'a bad request is one here too');
like($r->{json}{error}{message}, qr/^messages\.0/, 'naming the place');
$r = $s->post('/v1/responses/input_tokens', json => { model =>
    'qwen3-coder', input => 'hi' });
is_deeply($r->{json}, { object => 'response.input_tokens',
    input_tokens => 9 }, 'the other dialect\'s') or diag($r->{body});

# --- other paths ---

$p->forget;
my $body = '{"model":"all:gpt-x", "input":"\u00e9 1.0e0"}';
my @h = (headers => ['Content-Type' => 'application/json']);
$r = $s->post('/v1/embeddings', body => $body, @h);
is("$r->{status} $r->{body}", '200 {"object":"list",  "data":[0.25]}',
    'embeddings, untouched');
is(($p->requests)[0]{path}, '/v1/embeddings', 'asked there');
is(($p->requests)[0]{body}, '{"model":"gpt-x", "input":"\u00e9 1.0e0"}',
    'every byte but the model\'s name');
$r = $s->post('/v1/audio/speech', body => $body, @h);
is(header($r, 'Content-Type') . " $r->{body}", "audio/mpeg ID3\x01",
    'what is not JSON');
$r = $s->post('/v1/images/generations', body => $body, @h);
is(header($r, 'Content-Type'), 'application/octet-stream',
    'no page of somebody else\'s is shown under our name');
$r = $s->post('/v1/moderations', body => $body, @h);
is($r->{status}, 429, 'failures in the dialect');
is($r->{json}{error}{type}, 'rate_limit_error', 'by their name');
$r = $s->post('/v1/embeddings', json => { model => 'qwen3-coder' });
is("$r->{status} $r->{json}{error}{code}", '404 unknown_url',
    'not flagged: no such endpoint');
like($r->{json}{error}{message}, qr/'qwen3-coder'.* does not have forward_other set/,
    '... and which setting it is');
$r = $s->post('/v1/embeddings', json => { model => 'claude-x' });
is("$r->{status} $r->{json}{error}{code}", '404 unknown_url',
    'not of that wire either');
unlike($r->{json}{error}{message}, qr/forward_other/, '... which no setting mends');
$r = $s->post('/v1/messages/batches', ant => 1, json => {});
is("$r->{status} $r->{json}{error}{type}", '404 not_found_error',
    'batches there are not');

$s->done;
done_testing();
