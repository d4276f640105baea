#!/usr/bin/perl

# satchel-admin check executor walks what an operator would try, and says what
# is wrong where something is.

use strict;
use warnings;
use Test::More;
use Provider;
use Satchel;

my $p = Provider->new(script => { models => {
	job => [{ calls => [{ name => 'code_execution', arguments => { code =>
	    "open('made.txt', 'w').write(open('check.txt').read().upper())" } }] },
	    { text => 'done' }],
	lazy => [{ text => 'done' }],
	idle => [{ calls => [{ name => 'code_execution', arguments => { code =>
	    'print(1)' } }] }, { text => 'done' }],
	plain => [{ text => '42' }],
} });
my $s = Satchel->new(providers => $p->yaml('chat', 'openai-chat', models =>
    '["*"]') . $p->yaml('ant', 'anthropic-messages', native_code => 'true')
    . $p->yaml('resp', 'openai-responses', native_code => 'true'));

sub check {
	my (@words) = @_;
	local $ENV{SATCHEL_KEY} = $s->{key}{alice};
	return $s->admin('check', 'executor', '--url', $s->{url}, @words);
}
sub left {
	return join(' ', map { $_->[0] } map { $s->mysql($_) }
	    "SELECT COUNT(*) FROM file WHERE state = 'live'",
	    "SELECT COUNT(*) FROM container WHERE state = 'live'");
}

my $r = check('--model', 'job', '--forward', 'ant:plain');
is($r->{exit}, 0, 'all is well') or diag($r->{out}, $r->{err});
is_deeply([map { /^(\w+ +\w+)/ ? $1 =~ s/ +/ /r : $_ } split /\n/, $r->{out}],
    ['ok upload', 'ok local', 'ok forward', 'ok fetch', 'ok delete'],
    '... step by step');
is(left(), '0 0', '... and nothing is left');
my @asked = map { $_->{json} } $p->requests;
is(scalar(grep { ($_->{tools}[0]{type} // '') eq 'code_execution_20250825' } @asked), 1,
    'one was forwarded with its declaration');
is(check('--model', 'job', '--forward', 'resp:plain')->{exit}, 0,
    'to a provider of the other vendor\'s protocol too');
$r = check('--model', 'job');
is($r->{exit}, 0, 'without --forward');
like($r->{out}, qr/^ok +forward +not tried/m, '... it says that it was not tried');
{
	local $ENV{SATCHEL_KEY} = $s->{key}{alice};
	$r = $s->admin('check', 'executor', '--url', "$s->{url}/v1", '--model', 'job');
	like($r->{out}, qr{^FAIL +upload +status 404.* -> .*without /v1}m,
	    'an address with /v1');
}
$r = check('--model', 'lazy');
is($r->{exit}, 1, 'a model that does not run code');
like($r->{out}, qr/^FAIL +local .*answered without running code/m, '... is told so');
unlike($r->{out}, qr/fetch/, '... and what would follow is left out');
like(check('--model', 'idle')->{out}, qr/^FAIL +local .*wrote no file/m,
    'one whose code writes nothing');
$r = check('--model', 'job', '--forward', 'chat:plain');
like($r->{out}, qr/^FAIL +forward +status 400/m, 'a provider that runs no code');
is(left(), '0 0', 'nothing is left of all these');
my ($ws) = map { $_->[0] } $s->mysql("SELECT workspace_name FROM api_key WHERE user_name = 'alice'");
$s->admin('policy', 'set', $ws, '--enabled', 'no');
like(check('--model', 'job')->{out}, qr/^FAIL +local +status 403: .* -> see satchel-admin policy list$/m,
    'switched off by policy');
{
	local $ENV{SATCHEL_KEY} = 'sk-satchel-nope';
	like($s->admin('check', 'executor', '--url', $s->{url}, '--model', 'job')->{out},
	    qr/^FAIL +upload +status 401: .* -> set SATCHEL_KEY/m, 'a wrong key');
}
like($s->admin('check', 'executor', '--url', 'http://127.0.0.1:' . Provider::dead_port(),
    '--model', 'job')->{out}, qr/nobody answers there/, 'nobody there');
is($s->admin('check', 'executor')->{exit}, 2, 'no model named');
$r = check('--model', 'lazy', '--json');
is_deeply([map { $_->{step} } @{$r->{json}}], ['upload', 'local'], 'as JSON')
    or diag($r->{out});
$s->done;
done_testing();
