#!/usr/bin/perl

# The tables of the vendors' schemas, against which every answer that a test
# records is held, find what is wrong: a member that is not in the type, one
# that is missing, a null where none is allowed, a value of another type.

use strict;
use warnings;
use JSON::PP ();
use Test::More;
use Vendors;

my $json = JSON::PP->new->utf8->canonical;
my %file = (id => 'file-1', object => 'file', bytes => 3, created_at => 5,
    filename => 'a', purpose => 'user_data', status => 'processed');

sub file {
	my (%change) = @_;
	my %o = (%file, %change);
	delete @o{ grep { ref $o{$_} eq 'CODE' } keys %o };
	return [Vendors::faults('GET', '/v1/files/file-1', 200,
	    'application/json', $json->encode(\%o))];
}
my $gone = sub { };

is_deeply(file(), [], 'a file as it must be');
is_deeply(file(expires_at => 7), [], '... with a member that it may lack');
is_deeply(file(expires_at => undef),
    ['FileObject.expires_at is null, not int'], 'null where none is allowed');
is_deeply(file(filename => $gone),
    ['FileObject.filename is missing in FileObject'], 'a member is missing');
is_deeply(file(owner => 'x'), ['FileObject.owner is not in FileObject'],
    'a member that the type has not');
is_deeply(file(bytes => '3'), ['FileObject.bytes is "3", not int'],
    'a number as a text');
is(scalar(@{ file(purpose => 'code_execution_output') }), 1,
    'a word that is not in the list');
is(scalar(@{ file(created_at => 1.5) }), 1, 'a time that is not whole');

my %message = (id => 'msg_gw_1', type => 'message', role => 'assistant',
    model => 'm', container => undef, content => [{ type => 'text', text =>
    'x' }], diagnostics => undef, stop_details => undef, stop_reason =>
    'end_turn', stop_sequence => undef, usage => { input_tokens => 1,
    output_tokens => 1, cache_creation => undef, cache_creation_input_tokens
    => undef, cache_read_input_tokens => undef, inference_geo => undef,
    output_tokens_details => undef, server_tool_use => undef, service_tier =>
    'standard', speed => undef });
sub message {
	my (%change) = @_;
	return [Vendors::faults('POST', '/v1/messages', 200,
	    'application/json', $json->encode({ %message, %change }))];
}
is_deeply(message(), [], 'a message');
is(scalar(@{ message(content => [{ type => 'text', text => 'x', citations =>
    undef }]) }), 1, '... in which a client refuses a null');
is(scalar(@{ message(content => [{ type => 'hologram' }]) }), 1,
    '... with a block that is none');
is_deeply(message(id => 'msg_theirs', content => undef), [],
    "a provider's own answer is not ours to judge");

sub events {
	return [Vendors::faults('POST', '/v1/responses', 200,
	    'text/event-stream', join('', map { "event: $_->{type}\ndata: "
	    . $json->encode($_) . "\n\n" } @_))];
}
my %response = (id => 'resp_gw_1', object => 'response', created_at => 1,
    error => undef, incomplete_details => undef, instructions => undef,
    metadata => {}, model => 'm', output => [], parallel_tool_calls =>
    JSON::PP::true, temperature => 1, tool_choice => 'auto', tools => [],
    top_p => 1);
my %created = (type => 'response.created', sequence_number => 0, response =>
    \%response);
is_deeply(events(\%created), [], 'an event');
is(scalar(@{ events({ %created, response => { %response, usage => undef }
    }) }), 1, '... with a null that its object does not allow');
is(scalar(@{ events(\%created, { type => 'response.nothing' }) }), 1,
    'an event that no client knows');
is_deeply([Vendors::faults('GET', '/v1/files/x', 404, 'application/json',
    '{"error":{"message":"m","type":"t","param":null}}')],
    ['error.error.code is missing in OpenaiErrorObject'], 'an error');
ok((!grep { @$_ != 3 || length($_->[2]) < 8 } @Vendors::DIFFERS),
    'what differs says why');
done_testing();
