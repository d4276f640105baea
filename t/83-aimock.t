#!/usr/bin/perl

# Plain conversations with an upstream that is not ours, over its three wires:
# what it says arrives, streamed or not, and a call of the caller's comes back
# with its result.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use IPC::Open2;
use JSON::PP;
use Test::More;
use Satchel;
use Sdk;

my $pid = open2(my $out, my $in, Sdk::node('aimock.mjs'));
chomp(my $url = <$out> // die('aimock did not start'));
my %wire = (chat => 'openai-chat', resp => 'openai-responses',
    ant => 'anthropic-messages');
my $s = Satchel->new(providers => join('', map { "  - name: $_\n"
    . "    wire: $wire{$_}\n    base_url: $url/v1\n    api_key: k\n" }
    sort(keys(%wire))));
my $hello = "Hello! Gr\x{fc}\x{df}e \x{1F600} \"quoted\"\nand a second line.";
my $true = JSON::PP::true;
my $params = { type => 'object', properties => { title =>
    { type => 'string' } } };

# The data of the events of a stream.
sub events {
	my ($r) = @_;
	return map { JSON::PP->new->utf8->decode($_) }
	    grep { $_ ne '[DONE]' } $r->{body} =~ /^data: (.*)$/mg;
}

sub ask {
	my ($path, $model, %body) = @_;
	return $s->post($path, ant => $path =~ /messages/ ? 1 : 0, timeout => 60,
	    json => { model => $model, %body });
}

# What a caller asks and how its answer is read, per dialect.
my %dialect = (
	'/v1/messages' => { body => sub { return (max_tokens => 200,
	    messages => [{ role => 'user', content => $_[0] }]) },
	    text => sub { return join('', map { $_->{text} // '' }
	    @{ $_[0]{content} }) },
	    delta => sub { return $_[0]{delta}{text} } },
	'/v1/responses' => { body => sub { return (input => $_[0]) },
	    text => sub { return join('', map { map { $_->{text} // '' }
	    @{ $_->{content} // [] } } @{ $_[0]{output} }) },
	    delta => sub { return $_[0]{type} =~ /output_text\.delta/ ?
	    $_[0]{delta} : undef } },
	'/v1/chat/completions' => { body => sub { return (messages => [{ role =>
	    'user', content => $_[0] }]) },
	    text => sub { return $_[0]{choices}[0]{message}{content} },
	    delta => sub { my $c = $_[0]{choices}[0]; return $c ?
	    $c->{delta}{content} : undef } },
);

for my $path (sort(keys(%dialect))) {
	my $d = $dialect{$path};
	for my $way (sort(keys(%wire))) {
		my $name = "$path over $wire{$way}";
		my $r = ask($path, "$way:m", $d->{body}->('hello'));
		is($r->{status}, 200, "$name: answered") or diag($r->{body});
		is($d->{text}->($r->{json}), $hello, "$name: what was said");
		$r = ask($path, "$way:m", $d->{body}->('hello'),
		    stream => $true);
		is(join('', map { $_ // '' } map { $d->{delta}->($_) }
		    events($r)), $hello, "$name: streamed");
	}
}

for my $way (sort(keys(%wire))) {
	my @tools = (tools => [{ name => 'save', input_schema => $params }]);
	my $r = ask('/v1/messages', "$way:m", $dialect{'/v1/messages'}{body}
	    ->('save it'), @tools);
	my ($call) = grep { $_->{type} eq 'tool_use' }
	    @{ $r->{json}{content} };
	is_deeply([@$call{qw(name input)}], ['save', { title => 'T' }],
	    "$way: a call") or diag($r->{body});
	is($r->{json}{stop_reason}, 'tool_use', "$way: ends the turn");
	$r = ask('/v1/messages', "$way:m", max_tokens => 200, @tools,
	    messages => [{ role => 'user', content => 'save it' },
	    { role => 'assistant', content => $r->{json}{content} },
	    { role => 'user', content => [{ type => 'tool_result',
	    tool_use_id => $call->{id}, content => 'done' }] }]);
	is($dialect{'/v1/messages'}{text}->($r->{json}), 'Saved.',
	    "$way: and its result") or diag($r->{body});
}

$s->done;
close($in);
waitpid($pid, 0);
done_testing();
