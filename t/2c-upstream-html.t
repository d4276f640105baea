# What an upstream says when it fails is not passed on as it came.

use strict;
use warnings;
use JSON::PP ();
use Provider;
use Test::More;
use Files;

my $html = "<html><head><title>502</title></head><body>Bad <b>Gateway</b>"
    . ' at 127.0.0.1</body></html>';
my $up = Provider->new(script => { models => {
	html => [{ status => 502, type => 'text/html', body => $html }],
	detail => [{ status => 404, type => 'application/json',
	    body => '{"detail":"Not Found"}' }],
	closes => [{ close => JSON::PP::true() }],
} });
my $c = Files->stack(providers => join '', map { $up->yaml(@$_) }
    ['chat', 'openai-chat'], ['anth', 'anthropic-messages'],
    ['resp', 'openai-responses']);
my $json = JSON::PP->new->canonical;

my %body = (messages => { max_tokens => 9, messages =>
    [{ role => 'user', content => 'hi' }] }, responses => { input => 'hi' });
my %want = (html => 502, detail => 404, closes => 502);

for (['messages', 'chat'], ['messages', 'anth'], ['responses', 'resp']) {
	my ($route, $wire) = @$_;
	my $d = $route eq 'messages' ? 'anthropic' : 'openai';
	for my $how (sort keys %want) {
		my $name = "up-html-from-upstream: $how, $route to $wire";
		my $r = $c->request('POST', "/v1/$route", dialect => $d,
		    headers => ['Content-Type' => 'application/json'],
		    body => $json->encode({ %{ $body{$route} },
		    model => "$wire:$how" }));
		is($r->{status}, $want{$how}, "$name: the status");
		like(said($r, $d), qr/^$want{$how} [OA]\[/,
		    "$name: the dialect's words");
		my $message = ($r->{json}{error} // {})->{message} // '<';
		unlike($message, qr/[<>]|127\.0\.0\.1|upstream-secret/,
		    "$name: no markup, no inner address, no key");
		unlike($r->{body}, qr/"(?:None|null)"/,
		    "$name: no word in place of a value");
	}
}

$c->{s}->expect_log(qr/upstream|provider|anth|resp|chat/i);
$c->done;
done_testing;
