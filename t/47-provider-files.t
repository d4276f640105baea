#!/usr/bin/perl

# Files that a provider's own sandbox wrote: recorded from its reply, streamed
# or not, listed like any file, their bytes fetched with its credential.

use strict;
use warnings;
use JSON::PP;
use Test::More;
use Provider;
use Satchel qw(header);

my $json = JSON::PP->new->utf8->canonical;
my $event = sub {
	return "event: $_[0]{type}\ndata: " . $json->encode($_[0]) . "\n\n";
};
my $result = sub {
	return { type => 'bash_code_execution_tool_result', tool_use_id =>
	    'srvtoolu_1', content => { type => 'bash_code_execution_result',
	    stdout => '', stderr => '', return_code => 0, content => [ map {
	    { type => 'bash_code_execution_output', file_id => $_ } } @_ ] } };
};
my $cite = sub {
	return { type => 'container_file_citation', container_id => 'cntr_9',
	    file_id => $_[0], filename => $_[1], start_index => 0,
	    end_index => 1 };
};
my $said = { id => 'resp_1', object => 'response', status => 'completed',
    output => [ { type => 'message', role => 'assistant', content => [ {
    type => 'output_text', text => 'x', annotations => [
    $cite->('cfile_aa1', 'plot.png'), $cite->('cfile_aa1', 'plot.png'),
    $cite->('cfile_bb2', '../../etc/t.csv'),
    $cite->('cfile_dd4', 'notes.txt') ] } ] } ] };
my %models = (
	ant => [{ body => $json->encode({ type => 'message', content => [
	    $result->('file_011one', 'file_011two', 'bad id!') ] }) }],
	unsized => [{ body => $json->encode({ type => 'message', content => [
	    $result->('file_011uns') ] }) }],
	antstream => [{ type => 'text/event-stream', body =>
	    join('', map { $event->($_) } { type => 'message_start' },
	    { type => 'content_block_start', index => 0, content_block =>
	    $result->('file_011str') }, { type => 'content_block_start',
	    index => 1, content_block => $result->('file_011str') },
	    { type => 'message_stop' }) }],
	resp => [{ body => $json->encode($said) }],
	respstream => [{ type => 'text/event-stream', body => $event->({ type =>
	    'response.output_text.annotation.added', annotation =>
	    $cite->('cfile_cc3', 'out.csv') }) . $event->({ type =>
	    'response.completed', response => { output => [ { content => [ {
	    annotations => [ $cite->('cfile_cc3', 'out.csv') ] } ] } ] } }) }],
	seen => [{ text => 'ok' }],
	named => [{ body => $json->encode({ type => 'message', content => [ {
	    type => 'text', text => '{"type":"bash_code_execution_output",'
	    . '"file_id":"file_011never"}' } ] }) }],
);
my %paths = (
	'/files/file_011one' => { body => $json->encode({ id => 'file_011one',
	    type => 'file', filename => '../table.csv', mime_type =>
	    'text/csv', size_bytes => 10 }) },
	'/files/file_011two' => { status => 404, body => '{}' },
	'/files/file_011str' => { body => '{"filename":7}' },
	'/files/file_011one/content' => { type => 'text/html',
	    body => '<b>one</b>' },
	'/files/file_011uns/content' => { type => 'text/plain', unsized => 1,
	    body => 'x' x 100 },
	'/files/file_011two/content' => { status => 404, body => '{}' },
	'/files/file_011str/content' => { status => 401, body => '{}' },
	'/containers/cntr_9/files/cfile_aa1/content' => { type => 'image/png',
	    body => 'PNG bytes' },
	'/containers/cntr_9/files/cfile_bb2/content' => { type => 'text/csv',
	    body => 'a,b', cut => 1 },
	'/containers/cntr_9/files/cfile_dd4/content' => { type => 'text/plain',
	    body => 'notes' },
	'/containers/cntr_9/files/cfile_cc3/content' => { close => 1 },
);
my $p = Provider->new(script => { models => \%models, paths => \%paths });
my $yaml = $p->yaml('ant', 'anthropic-messages', native_code => 'true')
    . $p->yaml('resp', 'openai-responses', native_code => 'true')
    . $p->yaml('open', 'openai-chat');
my $s = Satchel->new(providers => $yaml);

sub run_code {
	my ($way, $model, %more) = @_;
	my $ant = $way eq 'ant';
	my $r = $s->post($ant ? '/v1/messages' : '/v1/responses', ant => $ant,
	    timeout => 60, json => { model => "$way:$model", %more, $ant ?
	    (max_tokens => 5, messages => [{ role => 'user', content => 'x' }],
	    tools => [{ type => 'code_execution_20250825', name =>
	    'code_execution' }]) : (input => 'x', tools => [{ type =>
	    'code_interpreter', container => { type => 'auto' } }]) });
	is($r->{status}, 200, "$way: $model") or diag($r->{body});
	is(header($r, 'X-Code-Execution-Ran'), 'provider', 'run there');
	return $r;
}

sub listed {
	return sort(map { $_->{id} } @{ $s->get('/v1/files', @_)
	    ->{json}{data} });
}

# --- recorded ---

my $r = run_code('ant', 'ant');
is($r->{body}, $models{ant}[0]{body}, 'the reply is what it was');
select(undef, undef, undef, 0.2);	# It is told before they are asked for.
my @meta = grep { $_->{method} eq 'GET' } $p->requests;
is_deeply([sort map { $_->{path} } @meta], ['/v1/files/file_011one',
    '/v1/files/file_011two'], 'the name of each is asked for');
is("$meta[0]{header}{'x-api-key'} $meta[0]{header}{'anthropic-beta'}",
    'upstream-secret files-api-2025-04-14', '... by the credential of its provider');
$p->forget;
run_code('ant', 'ant');
is(scalar(grep { $_->{method} eq 'GET' } $p->requests), 0, '... once');
is_deeply([listed()], [qw(file_011one file_011two)], 'its files are listed');
run_code('ant', 'antstream', stream => JSON::PP::true);
run_code('ant', 'antstream', stream => JSON::PP::true);
run_code('resp', 'resp');
run_code('resp', 'respstream', stream => JSON::PP::true);
is_deeply([listed()], [qw(cfile_aa1 cfile_bb2 cfile_cc3 cfile_dd4 file_011one
    file_011str file_011two)], 'row 146: streamed or not, however often they are named');
is_deeply([listed(as => 'bob')], [], 'to their owner only');
run_code('ant', 'named');
is(scalar(grep { /never/ } listed()), 0, 'what a model only writes is none');

$r = $s->get('/v1/files/cfile_aa1');
is_deeply([@{ $r->{json} }{qw(id filename purpose bytes)}], ['cfile_aa1',
    'plot.png', 'assistants_output', 0], 'as OpenAI shows it');
cmp_ok($r->{json}{expires_at} - $r->{json}{created_at}, '==', 1200,
    'for as long as its container');
is($s->get('/v1/files/cfile_bb2')->{json}{filename}, 't.csv',
    'a name is no path');
$r = $s->get('/v1/files/file_011one', ant => 1);
is_deeply([@{ $r->{json} }{qw(id filename mime_type size_bytes downloadable)}],
    ['file_011one', 'table.csv', 'text/csv', 0, JSON::PP::true],
    'as Anthropic does, by the name and the type that the provider tells');
is_deeply([map { $s->get("/v1/files/$_")->{json}{filename} } qw(file_011two
    file_011str)], [qw(file_011two file_011str)],
    '... and by its id where it tells none');

# --- fetched ---

$p->forget;
$r = $s->get('/v1/files/file_011one/content', ant => 1);
is("$r->{status} $r->{body}", '200 <b>one</b>', 'its bytes');
unlike(header($r, 'Content-Type'), qr/html/, 'not as a page of ours');
is(header($r, 'Accept-Ranges'), 'none', 'row 144: whole');
my ($q) = $p->requests;
is("$q->{path} $q->{header}{'x-api-key'}",
    '/v1/files/file_011one/content upstream-secret', 'by its credential');
is($q->{header}{'anthropic-beta'}, 'files-api-2025-04-14', 'as it wants');
is($s->get('/v1/files/file_011one')->{json}{bytes}, 10,
    'its length is known now');
$r = $s->get('/v1/files/cfile_aa1/content', headers => ['Range' =>
    'bytes=0-2']);
is("$r->{status} $r->{body} " . header($r, 'Content-Type'),
    '200 PNG bytes image/png', 'row 144: a range is not given');
is(($p->requests)[1]{path},
    '/v1/containers/cntr_9/files/cfile_aa1/content', 'from its container');
$p->forget;
$r = $s->head('/v1/files/cfile_aa1/content');
is("$r->{status} " . scalar($p->requests), '200 0', 'HEAD asks nobody');

$r = $s->get('/v1/files/file_011two/content', ant => 1);
is("$r->{status} $r->{json}{error}{type}", '404 not_found_error',
    'row 141: dropped');
$r = $s->get('/v1/files/file_011str/content');
is("$r->{status} $r->{json}{error}{type} $r->{json}{error}{code}",
    '502 server_error provider_file_unavailable',
    'row 142: refused');
$r = $s->get('/v1/files/cfile_cc3/content', ant => 1);
is("$r->{status} $r->{json}{error}{type}", '502 api_error',
    'row 142: unreachable');
unlike($r->{body}, qr/upstream-secret|127\.0/, 'and nothing is given away');
$r = eval { $s->get('/v1/files/cfile_bb2/content', timeout => 20) };
isnt(length($r->{body} // ''), 6, 'row 143: broken off, and so is ours');
is($s->get('/v1/files/file_011one/content', as => 'bob')->{status}, 404,
    'another\'s is not there');

# --- used somewhere else ---

$r = $s->post('/v1/messages', ant => 1, timeout => 60, json => { model =>
    'open:seen', max_tokens => 50, messages => [{ role => 'user', content => [
    { type => 'document', source => { type => 'file', file_id =>
    'cfile_dd4' } }] }] });
is($r->{status}, 200, 'another model is given such a file') or
    diag($r->{body});
is(($p->requests)[-1]{json}{messages}[0]{content},
    qq([file "notes.txt", text/plain, 5 bytes]\nnotes), 'and reads it');
is($s->get('/v1/files/cfile_dd4')->{json}{bytes}, 5, 'it is here now');
$r = $s->post('/v1/messages', ant => 1, timeout => 60, json => { model =>
    'open:seen', max_tokens => 50, messages => [{ role => 'user', content => [
    { type => 'document', source => { type => 'file', file_id =>
    'file_011two' } }] }] });
is("$r->{status} $r->{json}{error}{type}", '404 not_found_error',
    'unless its provider has dropped it');

# --- deleted, and kept here instead ---

is($s->del('/v1/files/file_011one')->{status}, 200, 'deleted');
is($s->get('/v1/files/file_011one')->{status}, 404, 'and gone');
$s->expect_log(qr/hold: the provider's file file_011two is not copied/);
$s->done;

$s = Satchel->new(providers => $yaml, set => { 'files.provider_copy' =>
    'true', 'files.max_bytes' => 9 });
run_code('resp', 'resp');
$r = $s->get('/v1/files/cfile_aa1');
is($r->{json}{bytes}, 9, 'copied at once');
$p->forget;
$r = $s->get('/v1/files/cfile_aa1/content', headers => ['Range' =>
    'bytes=0-2']);
is("$r->{status} $r->{body}", '206 PNG', 'it is a file like any other');
is(scalar($p->requests), 0, 'the provider is not asked');
run_code('ant', 'ant');
$r = $s->get('/v1/files/file_011one/content');
is("$r->{status} $r->{json}{error}{code}", '502 provider_file_unavailable',
    'row 145: more bytes than a file may have');
run_code('ant', 'unsized');
$r = eval { $s->get('/v1/files/file_011uns/content', timeout => 20) };
is("$r->{status} " . ($r->{body} =~ tr/x//), '502 0',
    'row 145: the same where the length was not told');
is(scalar(grep { $_ eq 'file_011uns' } listed()), 1, '... it stays listed');
$s->expect_log(qr/hold: the provider's file .* is not copied/);
$s->done;
done_testing();
