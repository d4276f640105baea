#!/usr/bin/perl

# Requests that are nobody's business but the provider's: bytes untouched but
# for the model's name, and the provider's failures in the caller's own words.
# The cases js-untouched-passthrough and up-html-from-upstream are among them.

use strict;
use warnings;
use Test::More;
use Time::HiRes qw(time);
use Provider;
use Satchel qw(header);

my $html = "<html><head><title>502 Bad Gateway</title></head>\n"
    . "<body><h1>nginx at 10.1.2.3</h1></body></html>";
my %all = (
	plain => [{ text => "Yes \x{2028} \x{1F600}" }],
	slow => [{ text => 'one two three four five six', pause => 0.3 }],
	cut => [{ text => 'This will break off.', cut => 1 }],
	html => [{ status => 502, type => 'text/html', body => $html }],
	text => [{ type => 'text/plain', body => '{"choices":[]}' }],
	html200 => [{ type => 'text/html', body => $html }],
	detail => [{ status => 404, body => '{"detail":"Not Found"}' }],
	closes => [{ close => 1 }],
	error200 => [{ body =>
	    '{"error":{"message":"boom at 10.0.0.7","type":"None"}}' }],
	none => [{ status => 400, body => '{"error":{"message":"too long",'
	    . '"type":"None","param":"None","code":"None"}}' }],
	window => [{ status => 400, body => '{"error":{"message":"too long",'
	    . '"type":"invalid_request_error","param":"messages",'
	    . '"code":"context_length_exceeded"}}' }],
	auth => [{ status => 401, body => '{"error":{"message":"Incorrect API '
	    . 'key: upstream-secret","code":"invalid_api_key"}}' }],
	rate => [{ status => 429, body => '{"error":{"message":"slow"}}',
	    headers => { 'Retry-After' => 17 } }],
);
# What each wire says of the same tokens; and a JSON answer of 2 MB that does.
my %said = (
	chat => { prompt_tokens => 100, completion_tokens => 20, total_tokens =>
	    120, prompt_tokens_details => { cached_tokens => 64 },
	    completion_tokens_details => { reasoning_tokens => 7 } },
	resp => { input_tokens => 100, output_tokens => 20, total_tokens => 120,
	    input_tokens_details => { cached_tokens => 64 },
	    output_tokens_details => { reasoning_tokens => 7 } },
	ant => { input_tokens => 36, cache_read_input_tokens => 64,
	    output_tokens => 20 },
);
$all{"counts_$_"} = [{ text => 'Counted.', usage => $said{$_} }] for keys(%said);
my $big = '{"choices":[{"message":{"content":"' . '\"usage\":{}' x 200000
    . '"}}],"usage":{"prompt_tokens":3,"completion_tokens":4}}';
$all{big} = [{ body => $big }];
$all{silent} = [{ body => '{"choices":[{"message":{"content":"x"}}]}' }];
my $p = Provider->new(script => { models => \%all });
my $s = Satchel->new(providers => $p->yaml('chat', 'openai-chat', models =>
    '["*", "renamed"]') . $p->yaml('resp', 'openai-responses')
    . $p->yaml('ant', 'anthropic-messages', native_code => 'true')
    . "  - name: dead\n    wire: anthropic-messages\n"
    . '    base_url: http://127.0.0.1:' . Provider::dead_port() . "\n"
    . "    api_key: upstream-secret\n");

my %route = (ant => '/v1/messages', resp => '/v1/responses',
    chat => '/v1/chat/completions');

# A small request of each dialect.
sub body_of {
	my ($way, $model, $more) = @_;
	my $what = $way eq 'resp' ? '"input":"Hi"'
	    : '"messages":[{"role":"user","content":"Hi"}]';
	return "{\"model\":\"$way:$model\",$what,\"max_tokens\":5"
	    . ($more // '') . '}';
}

sub ask {
	my ($way, $model, $more, %o) = @_;
	return send_body($way, body_of($way, $model, $more), %o);
}

sub send_body {
	my ($way, $body, %o) = @_;
	my @h = ('Content-Type' => 'application/json', @{ $o{headers} // [] });
	$p->forget;
	return $s->post($route{$way}, body => $body, headers => \@h,
	    ant => $way eq 'ant', timeout => 60, %{ $o{with} // {} });
}

my ($r, $q);

# --- bytes ---

my $deep = ('{"p":' x 40) . '{"default":12345678901234567890123}'
    . ('}' x 40);
my $odd = ' "text": "a \u2028 b \ud800 c \/ d", "n": 0.1, "e": 1e2, '
    . '"big":12345678901234567890123,'
    . "\n\t\"unknown\" : { \"x\" : [ 1 , 2 ] }, \"tools\": "
    . '[{"name":"f","input_schema":' . $deep . '}]';
for my $way (sort keys(%route)) {
	my $body = body_of($way, 'plain', ",$odd");
	$r = send_body($way, $body);
	is($r->{status}, 200, "$way: an odd request is answered")
	    or diag($r->{body});
	$q = ($p->requests)[0];
	(my $want = $body) =~ s/"$way:plain"/"plain"/;
	is($q->{body}, $want, "$way: every byte but the model's name");
	is($q->{path}, $route{$way}, "$way: where it belongs");
	is(header($r, 'Content-Type'), 'application/json', "$way: its type");
}
my $escapes = '{"model":"resp:plain","input":"\ud83d\ude00\u00e9"}';
$r = send_body('resp', $escapes);
is(($p->requests)[0]{body}, '{"model":"plain","input":"\ud83d\ude00\u00e9"}',
    'escapes are not respelled');
$r = send_body('chat', '{"messages":[{"role":"user","content":"model"}],'
    . '"model":"plain"}');
is(($p->requests)[0]{body}, '{"messages":[{"role":"user","content":"model"}],'
    . '"model":"plain"}', 'a bare name: no byte is changed');
is(length($r->{body}), header($r, 'Content-Length'), 'the answer is whole');
like($r->{body}, qr/"content":"Yes \xe2\x80\xa8 \xf0\x9f\x98\x80"/,
    'and as the provider wrote it');

$r = ask('chat', 'text');
is("$r->{status} " . header($r, 'Content-Type'), '200 application/json',
    'JSON that the provider calls a text is called JSON');

# --- headers ---

$r = ask('ant', 'plain', '', headers => ['anthropic-beta' => 'a-2025',
    'anthropic-beta' => 'b-2026', 'X-Code-Execution' => 'auto',
    'x-api-key' => 'not-this-one']);
$q = ($p->requests)[0]{header};
is($q->{'anthropic-version'}, '2023-06-01', 'the version goes on');
is($q->{'anthropic-beta'}, 'a-2025,b-2026', 'and the betas');
is($q->{'x-api-key'}, 'upstream-secret', 'with the provider\'s credential');
is($q->{authorization}, undef, 'not with the caller\'s');
is($q->{'x-code-execution'}, undef, 'our own headers stay here');
$r = ask('chat', 'plain');
is(($p->requests)[0]{header}{authorization}, 'Bearer upstream-secret',
    'as each vendor wants it');

# --- streams ---

for my $way (sort keys(%route)) {
	$r = ask($way, 'plain', ',"stream":true');
	like(header($r, 'Content-Type'), qr{^text/event-stream}, "$way: a "
	    . 'stream');
	like($r->{body}, $way eq 'chat' ? qr/\[DONE\]\n\n$/ : $way eq 'ant' ?
	    qr/event: message_stop\ndata: .*\n\n$/ :
	    qr/event: response\.completed\ndata: .*\n\n$/, "$way: whole");
}
my $sock = $s->sock;
my $body = body_of('ant', 'slow', ',"stream":true');
print $sock "POST /v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    . "Authorization: Bearer $s->{key}{alice}\r\nContent-Type: "
    . "application/json\r\nContent-Length: ", length($body), "\r\n\r\n$body";
my ($in, $first, $begun) = ('', undef, time);
while (sysread($sock, $in, 65536, length($in))) {
	$first //= time if $in =~ /message_start/;
}
cmp_ok($first - $begun, '<', 1, 'the first event comes at once');
cmp_ok(time - $first, '>', 1, 'the rest as it is written');
like($in, qr/message_stop/, 'to its end');

$r = $s->post('/v1/messages', ant => 1, timeout => 20, body => body_of('ant',
    'cut', ',"stream":true'), headers => ['Content-Type' =>
    'application/json']);
unlike($r->{body} // '', qr/message_stop/, 'a stream that breaks off');

# --- the tokens of what is passed on ---

# The newest row's.
sub tokens {
	my ($u) = @{$s->get('/v1/usage?limit=1')->{json}{data}};
	return join(' ', map { $_ // 'null' } @$u{qw(input_tokens output_tokens
	    cached_tokens reasoning_tokens)});
}

for my $way (sort keys(%route)) {
	my $want = $way eq 'ant' ? '36 20 64 0' : '36 20 64 7';
	ask($way, "counts_$way");
	is(tokens(), $want, "$way: the tokens of a whole answer");
	ask($way, "counts_$way", ',"stream":true' . ($way eq 'chat' ?
	    ',"stream_options":{"include_usage":true}' : ''));
	is(tokens(), $want, "$way: of a stream");
}
$r = ask('chat', 'big');
ok($r->{body} eq $big, 'a large answer: every byte');
is(tokens(), '3 4 0 0', '... and its tokens');
ask('chat', 'silent');
is(tokens(), 'null null null null', 'a provider that does not say');
ask('chat', 'plain', ',"stream":true');
is(tokens(), 'null null null null', 'a chat stream that was not asked to');
ask('chat', 'rate');
is(tokens(), 'null null null null', 'an error');

# --- whose code tool it is ---

$r = ask('ant', 'plain', ',"tools":[{"type":"code_execution_20250825",'
    . '"name":"code_execution"}]');
is(header($r, 'X-Code-Execution-Ran'), 'provider',
    'a provider with a code tool of its own runs it');
like(($p->requests)[0]{body}, qr/code_execution_20250825/, 'as declared');
$r = ask('chat', 'plain', ',"tools":[{"type":"function","function":'
    . '{"name":"code_execution","parameters":{}}}]');
is($r->{status}, 200, 'a caller\'s function of that name is the caller\'s');

# --- the provider's failures ---

my %expect = (
	html => [502, qr/^The model provider answered with an error\.$/],
	html200 => [502, qr/^The model provider answered with a web page/],
	detail => [404, qr/^Not Found$/],
	closes => [502, qr/^The model provider broke the connection off\.$/],
	error200 => [502, qr/^The model provider answered with an error\.$/],
	none => [400, qr/^too long$/],
	auth => [502, qr/credential/],
	rate => [429, qr/takes no more requests/],
	cut => [502, qr/^The model provider broke the connection off\.$/],
);
for my $model (sort keys(%expect)) {
	my ($status, $words) = @{ $expect{$model} };
	for my $way (sort keys(%route)) {
		$r = ask($way, $model);
		is($r->{status}, $status, "$way: $model: status");
		like($r->{json}{error}{message}, $words, "$way: $model: words");
		unlike($r->{raw} // $r->{body},
		    qr/<html|10\.[01]|127\.0|upstream-secret|"None"|"null"/,
		    "$way: $model: nothing else");
		is_deeply([sort keys(%{ $r->{json} })], $way eq 'ant' ?
		    [qw(error request_id type)] : ['error'],
		    "$way: $model: the dialect's envelope");
	}
}
$r = ask('chat', 'rate');
is(header($r, 'Retry-After'), 17, 'a provider\'s Retry-After goes on');
$r = ask('chat', 'window');
is_deeply($r->{json}{error}, { message => 'too long', type =>
    'invalid_request_error', param => 'messages', code =>
    'context_length_exceeded' }, 'what a caller can act on goes on');
$r = send_body('ant', body_of('dead', 'plain'));
is("$r->{status} $r->{json}{error}{type} $r->{json}{error}{message}",
    '502 api_error The model provider cannot be reached.',
    'nobody listens there');

# --- files of ours ---

my $id = $s->upload('x')->{json}{id};
$r = ask('resp', 'plain', ",\"x\":[{\"file_id\":\"$id\"}]");
is("$r->{status} $r->{json}{error}{param}", '400 x[0].file_id',
    'a stored file cannot be sent on');
$r = ask('resp', 'plain', ",\"x\":[{\"file_id\":\"$id\"}]", with =>
    { as => 'bob' });
is("$r->{status} $r->{json}{error}{param} $r->{json}{error}{code}",
    '404 x[0].file_id file_not_found', 'and another\'s is not there');
is(scalar($p->requests), 0, 'the provider is not asked');
$r = ask('resp', 'plain', ',"x":[{"file_id":"file-abc123"}]');
is("$r->{status} $r->{json}{error}{param} $r->{json}{error}{code}",
    '404 x[0].file_id file_not_found',
    'nor is a provider\'s file that was never recorded for the caller');
is(scalar($p->requests), 0, '... of which the provider hears nothing');

$s->done;
done_testing();
