#!/usr/bin/perl

# U+0085, U+2028 and U+2029 are escaped in all JSON and all event streams that
# are written here: clients that split text by Unicode's rules break otherwise.

use strict;
use warnings;
use utf8;
use JSON::PP ();
use Test::More;
use Provider;
use Satchel;

my $odd = "a\x{2028}b\x{2029}c\x{85}d";
my $raw = qr/\xe2\x80[\xa8\xa9]|\xc2\x85/;
my $p = Provider->new(script => { models => {
	say => [{ text => $odd, reasoning => $odd }],
	call => [{ calls => [{ name => 'save', arguments => { title => $odd } }]
	    }],
	run => [{ calls => [{ name => 'code_execution', arguments => { code =>
	    "print('$odd')" } }] }, { text => $odd }],
	refuse => [{ status => 400, body => JSON::PP->new->encode({ error =>
	    { message => $odd } }) }],
} });
my $s = Satchel->new(providers => $p->yaml('chat', 'openai-chat'));
my %code = (messages => { type => 'code_execution_20250825', name =>
    'code_execution' }, responses => { type => 'code_interpreter', container =>
    { type => 'auto' } }, 'chat/completions' => { type => 'code_interpreter' });
my $schema = { type => 'object', properties => { title => { type => 'string',
    description => $odd } } };
my %save = (messages => { name => 'save', description => $odd, input_schema =>
    $schema }, responses => { type => 'function', name => 'save', description =>
    $odd, parameters => $schema }, 'chat/completions' => { type => 'function',
    function => { name => 'save', description => $odd, parameters => $schema }
    });

for my $route (sort(keys(%code))) {
	for my $model ('say', 'call', 'run', 'refuse') {
		for my $stream (0, 1) {
			my $r = $s->post("/v1/$route", ant => $route eq
			    'messages', timeout => 60, json => { model => $model,
			    stream => $stream ? JSON::PP::true :
			    JSON::PP::false, tools => [$code{$route},
			    $save{$route}], $route eq 'responses' ? (input =>
			    $odd, instructions => $odd, include =>
			    ['code_interpreter_call.outputs'], metadata => { a =>
			    $odd }) : (messages => [{ role => 'user', content =>
			    $odd }]), $route eq 'messages' ? (max_tokens => 500)
			    : () });
			is($r->{status}, $model eq 'refuse' ? 400 : 200,
			    "$route: $model, streamed: $stream");
			unlike($r->{body}, $raw, '... no raw separator');
			like($r->{body}, qr/\\u2028.*\\u2029.*\\u0085/s,
			    '... but all of them');
			next if $stream || $route ne 'responses' ||
			    $model ne 'say';
			$r = $s->get("/v1/responses/$r->{json}{id}");
			unlike($r->{body}, $raw, 'a kept answer');
			is($r->{json}{metadata}{a}, $odd, '... says the same');
		}
	}
}

# --- files ---

my $name = "n$odd.txt";
utf8::encode(my $bytes = $name);
my $r = $s->upload('x', name => $bytes);
{
	my $f = $s->get('/v1/files')->{body};
	unlike($f, $raw, 'a list of files');
	unlike($r->{body}, $raw, 'an upload');
}
$r = $s->post('/v1/exec', json => { lang => 'py', code => "print('$odd')" },
    timeout => 60);
unlike($r->{body}, $raw, 'a run');
is($r->{json}{stdout}, "$odd\n", '... says the same');
$s->done;
done_testing();
