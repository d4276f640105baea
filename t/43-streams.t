#!/usr/bin/perl

# The rules of streams that the other tests hold the gateway's to: every stream
# that the contract calls right keeps them, and each that it calls broken, and
# that the vendors' clients fail at, breaks one.

use strict;
use warnings;
use File::Basename qw(basename);
use Test::More;
use Streams;

my $dir = 't/fixture/executor';
my %broken = (
	'chat-no-finish-reason' => 'no reason',
	'chat-no-role' => 'no role',
	'chat-tool-index-gap' => 'a gap between calls',
	'chat-tool-without-type' => 'a call without its type',
	'chat-two-finishes' => 'more after its reason',
	'messages-delta-without-usage' => 'message_delta without usage',
	'messages-index-reused' => 'index',
	'messages-no-event-lines' => 'no event line',
	'messages-no-stop' => 'no message_stop',
	'messages-two-message-starts' => 'two message_start',
	'responses-completed-omits-item' => 'the end omits an item',
	'responses-error-event' => 'unknown event',
	'responses-item-id-mismatch' => 'item_id',
	'responses-no-content-part' => 'text without content_part.added',
	'responses-no-created' => 'does not begin with response.created',
	'responses-no-terminal' => 'no end',
	'responses-output-index-reused' => 'output_index',
	'responses-two-created' => 'two response.created',
	'responses-unknown-event' => 'unknown event',
);

sub faults {
	my ($file) = @_;
	open(my $f, '<:raw', $file) or die "$file: $!";
	local $/;
	return Streams::faults(basename($file), scalar(<$f>));
}

for my $file (grep { !/upstream/ } glob("$dir/*.sse")) {
	is_deeply([faults($file)], [], basename($file));
}
for my $name (sort(keys(%broken))) {
	my @got = faults("$dir/broken/$name.sse");
	is(scalar(grep { $_ eq $broken{$name} } @got), 1,
	    "broken: $name: $broken{$name}") or diag("@got");
}
is_deeply([map { basename($_, '.sse') } glob("$dir/broken/*")],
    [sort(keys(%broken))], 'and these are all');
done_testing();
