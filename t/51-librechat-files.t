#!/usr/bin/perl

# LibreChat's files: upload, list, metadata, download, delete, by tokens and by
# keys, and the same rows by the Files API's names (librechat contract sections
# 5, 6 and 8.3; cases lc-upload-answer, lc-nested-names, lc-delete-twice,
# lc-fresh-last-modified; edge cases 18 to 23 and 54 to 72).

use strict;
use warnings;
use utf8;
use Encode qw(encode_utf8);
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Code;
use Satchel;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);
my $code = Code->new;
my $s = Satchel->new(set => {'librechat.jwt.pem_dir' => $code->{pem_dir},
    'librechat.max_bytes' => 100000, 'librechat.reads_per_min' => 0});
my @u1 = $code->bearer(sub => 'u1');
my @u2 = $code->bearer(sub => 'u2');
my @far = $code->bearer(sub => 'u1', tenant_id => 'acme');
my $id21 = qr/^[A-Za-z0-9_-]{21}$/;

sub file { my ($bytes, $name) = @_; return ['file', $bytes, encode_utf8($name)] }
sub up { my ($who, @form) = @_; return $s->post('/v1/upload', @$who, form => \@form) }
sub batch { my ($who, @form) = @_; return $s->post('/upload/batch', @$who, form => \@form) }

# --- one file ---

my $r = up(\@u1, [kind => 'user'], [id => 'u1'], file("a,b\n", 'ventes été 2026.csv'));
is($r->{status}, 200, 'an upload') or diag $r->{body};
my ($ss, $f) = ($r->{json}{storage_session_id}, $r->{json}{files}[0]{fileId});
like($ss, $id21, '... a session');
like($f, $id21, '... an object');
is_deeply($r->{json}, { message => 'success', storage_session_id => $ss,
    session_id => $ss, files => [{ fileId => $f,
    filename => 'ventes été 2026.csv' }] }, '... and nothing else');
is(up(\@u1, file('x', 'a.txt'), [kind => 'user'])->{status}, 200,
    'row 64: fields after the file');
is($s->post('/v1/upload', @u1, form => [['files', 'x', 'a.txt'],
    [kind => 'user']])->{status}, 200, 'a part of another name');
is(up(\@u1, [kind => 'user'], file('', '__init__.py'))->{status}, 200,
    'an empty file');

my %refused = (
	'no kind' => [file('x', 'a')],
	'another kind' => [[kind => 'x'], file('x', 'a')],
	'entity as a kind' => [[kind => 'entity'], [id => 'x'], file('x', 'a')],
	'row 18: a skill without version' => [[kind => 'skill'], [id => 's'], file('x', 'a')],
	'row 19: a skill of version NaN' => [[kind => 'skill'], [id => 's'],
	    [version => 'NaN'], file('x', 'a')],
	'row 19: a skill of no version' => [[kind => 'skill'], [id => 's'],
	    [version => ''], file('x', 'a')],
	'row 18: a user with version' => [[kind => 'user'], [version => '1'], file('x', 'a')],
	'a skill without id' => [[kind => 'skill'], [version => '1'], file('x', 'a')],
	'an id with a slash' => [[kind => 'agent'], [id => 'a/b'], file('x', 'a')],
	'row 63: no file' => [[kind => 'user']],
	'two files' => [[kind => 'user'], file('x', 'a'), file('y', 'b')],
	'row 72: a part without a file' => [[kind => 'user'], ['file', '', '']],
);
for (sort keys %refused) {
	$r = up(\@u1, @{$refused{$_}});
	is($r->{status}, 400, "$_: 400");
	is(ref $r->{json}, 'HASH', '... with a reason') && ok($r->{json}{error});
}
$r = up(\@u1, [nothing => 'x' x 1025], file('abc', 'a'));
is($r->{status}, 400, 'a field that nobody reads has the length of one that is');
$r = $s->post('/v1/upload', @u1, json => {});
is("$r->{status} $r->{json}{error}",
    '400 Invalid content type. Must be multipart/form-data.', 'JSON');
$r = up(\@u1, [kind => 'user'], file('x' x 100001, 'big'));
is("$r->{status} $r->{json}{error}", '413 File size limit exceeded', 'row 65: too large');
is(up(\@u1, [kind => 'user'], file('x' x 100000, 'big'))->{status}, 200,
    '... by one byte');
{
	my ($type, $body) = Satchel::form([kind => 'user'], file('abc', 'a'));
	$body =~ s/--\r\n\z//;
	$r = $s->post('/v1/upload', @u1, body => $body,
	    headers => [@{$u1[3]}, 'Content-Type' => $type]);
	is($r->{status}, 400, 'row 66: a form without its end');
}
is_deeply([$s->mysql(q{SELECT COUNT(*) FROM file WHERE state = 'uploading'})],
    [[0]], 'row 65, row 66: nothing refused is left behind');

# --- names ---

my %place = (
	'pptx/editing.md' => 'pptx/editing.md',
	'a b/c d (1).txt' => 'a b/c d (1).txt',
	'r%22q%22.csv' => 'r"q".csv',
	'100%.txt' => '100%.txt',
	'e%20f.txt' => 'e%20f.txt',
	'.git/config' => 'config',
	'a/.hidden' => '_hidden',
	'.env' => '_env',
	'a/../../b' => 'b',
	'/etc/passwd' => 'passwd',
	'C:\\x\\y.txt' => 'y.txt',
	'a//b' => 'b',
	'a/./b' => 'b',
	'..' => '_.',
	"tab\there" => 'tab_here',
	'日本/語.txt' => '日本/語.txt',
	"e\x{301}.txt" => "e\x{301}.txt",
	join('/', ('d') x 9, 'f') => join('/', ('d') x 9, 'f'),
	join('/', ('d') x 10, 'f') => 'f',
	('n' x 255) => 'n' x 255,
	('n' x 300) => 'n' x 255,
);
for (sort keys %place) {
	$r = up(\@u1, [kind => 'user'], file('x', $_));
	is($r->{json}{files}[0]{filename}, $place{$_}, 'named ' . substr $_, 0, 40);
}
$r = up(\@u1, [kind => 'user'], ['file"; filename*=UTF-8\'\'%e2%82%ac%2Ftext; x="',
    'x', 'plain.txt']);
is($r->{json}{files}[0]{filename}, '€/text', 'filename* wins');

# --- batch ---

my @skill = ([kind => 'skill'], [id => 's1'], [version => '7'], [read_only => 'TRUE']);
$r = batch(\@u1, @skill, file("# pptx\n", 'pptx/SKILL.md'),
    file('', 'pptx/scripts/__init__.py'), file('same', 'same'), file('name', 'same'));
is($r->{status}, 200, 'a batch') or diag $r->{body};
my ($sk, @sf) = ($r->{json}{storage_session_id}, @{$r->{json}{files}});
is_deeply($r->{json}, { message => 'success', storage_session_id => $sk,
    session_id => $sk, succeeded => 4, failed => 0, files => [
	{ status => 'success', fileId => $sf[0]{fileId}, filename => 'pptx/SKILL.md' },
	{ status => 'success', fileId => $sf[1]{fileId},
	    filename => 'pptx/scripts/__init__.py' },
	(map { { status => 'success', fileId => $_->{fileId}, filename => 'same' } }
	    @sf[2, 3])] }, '... nested names, and one name twice');
my %ids = map { $_->{fileId} => 1 } @sf;
is(scalar keys %ids, 4, '... with ids of their own (row 70)');

$r = batch(\@u1, @skill, (map { file($_ < 3 ? 'x' : 'x' x 100001, "f$_") } 0 .. 4));
is($r->{status}, 200, 'row 67: three of five are good');
is_deeply([@{$r->{json}}{qw(message succeeded failed)},
    map { $_->{status} } @{$r->{json}{files}}],
    ['partial_success', 3, 2, ('success') x 3, ('error') x 2], '... and said so');
is($r->{json}{files}[4]{error}, 'File size limit exceeded', '... with a reason');
$r = batch(\@u1, [kind => 'skill'], [id => 's1'], file('x', 'x'));
is_deeply([$r->{status}, @{$r->{json}}{qw(message succeeded failed)}, $r->{json}{files}],
    [400, 'error', 0, 1, [{ status => 'error', filename => 'x',
    error => "version is required for kind: 'skill'" }]], 'row 68: all are bad');
is(batch(\@u1, @skill)->{status}, 400, 'no files');
$r = batch(\@u1, @skill, map { file('x', "f$_") } 1 .. 201);
is_deeply([$r->{status}, scalar @{$r->{json}{files}},
    @{$r->{json}}{qw(succeeded filesLimitReached maxFiles)}],
    [200, 200, 200, JSON::PP::true, 200], 'row 69: 201 files: the first 200');

# --- list ---

my $q = 'kind=skill&id=s1&version=7';
my $iso = qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
$r = $s->get("/v1/files/$sk?$q", @u1);
is_deeply($r->{json}[0], { id => $sf[0]{fileId}, name => 'pptx/SKILL.md',
    storage_session_id => $sk, session_id => $sk,
    path => '/mnt/data/pptx/SKILL.md' }, 'simple');
is_deeply($s->get("/v1/files/$sk?$q&detail=nonsense", @u1)->{json}, $r->{json},
    '... is what an unknown detail is');
$r = $s->get("/v1/files/$sk?$q&detail=summary", @u1);
my $e = $r->{json}[0];
is_deeply([sort keys %$e], [qw(etag lastModified name size)], 'summary');
is($e->{name}, "$sk/$sf[0]{fileId}.md", '... the name old hosts look for');
like($e->{lastModified}, $iso, '... a time');
$e = $s->get("/v1/files/$sk?$q&detail=full", @u1)->{json}[0];
is_deeply([sort keys %$e], [sort qw(contentType etag id lastModified metadata name
    session_id size storage_session_id versionId)], 'full');
is_deeply([$e->{metadata}{'original-filename'}, $e->{size}, $e->{versionId}],
    ['pptx/SKILL.md', 7, undef], '... the original name');
$e = $s->get("/v1/files/$sk?$q&detail=normalized", @u1)->{json}[0];
is_deeply([sort keys %$e], [sort qw(contentType id lastModified name read_only size
    storage_session_id)], 'normalized');

# --- metadata and bytes ---

my $o = "/v1/sessions/$sk/objects/$sf[0]{fileId}";
$r = $s->get("$o?$q", @u1);
is_deeply({ %{$r->{json}}, etag => 1, lastModified => 1 },
    { name => "$sk/$sf[0]{fileId}.md", originalFilename => 'pptx/SKILL.md',
    size => 7, lastModified => 1, etag => 1, contentType => $r->{json}{contentType},
    readOnly => JSON::PP::true }, 'row 60: metadata');
like($r->{json}{lastModified}, $iso, '... a time');
$r = $s->get("/v1/download/$sk/$sf[0]{fileId}?$q", @u1);
is($r->{body}, "# pptx\n", 'the bytes');
like(Satchel::header($r, 'Content-Disposition'),
    qr/^attachment; filename="SKILL\.md"(;|$)/, '... their name');
is(Satchel::header($r, 'X-Content-Type-Options'), 'nosniff', '... not to be sniffed');
is(Satchel::header($r, 'X-CodeAPI-Execution-Profile'), 'default', '... with the profile');
$r = $s->get("/download/$ss/$f?kind=user&id=u1", @u1, headers => [@{$u1[3]},
    Range => 'bytes=0-1']);
is("$r->{status} $r->{body}", '206 a,', 'a range');

# --- whose ---

is($s->get("$o?$q", @u2)->{status}, 200, 'row 22: a skill is the tenant\'s');
my %foreign = (
	'row 23: another tenant' => [\@far, $q],
	'another version' => [\@u1, 'kind=skill&id=s1&version=8'],
	'another skill' => [\@u1, 'kind=skill&id=s2&version=7'],
	'as an agent' => [\@u1, 'kind=agent&id=s1'],
	'as a user' => [\@u1, 'kind=user&id=s1'],
	'a key' => [[as => 'alice'], $q],
);
for (sort keys %foreign) {
	my ($who, $query) = @{$foreign{$_}};
	for my $ask (['GET', $o], ['GET', "/v1/download/$sk/$sf[0]{fileId}"],
	    ['GET', "/v1/files/$sk"], ['DELETE', $o],
	    ['DELETE', "/v1/files/$sk/$sf[0]{fileId}"]) {
		$r = $s->request($ask->[0], "$ask->[1]?$query", @$who);
		is("$r->{status} $r->{json}{error}", '403 Unauthorized', "$_: @$ask[0]");
	}
}
is($s->get("/v1/sessions/$ss/objects/$f?kind=user&id=u1", @u2)->{status}, 403,
    'a user\'s file is his, whatever id is claimed');
is($s->get("$o", @u1)->{status}, 400, 'a token must name a kind');
is($s->get("/v1/sessions/$sk/objects/" . 'z' x 21 . "?$q", @u1)->{status}, 404,
    'row 59: no such object');
is($s->get('/v1/files/' . 'z' x 21 . "?$q", @u1)->{body}, '[]', 'a session of which nothing is known is empty');

# --- delete ---

my $d = "/v1/sessions/$ss/objects/$f";
is($s->del("$d?kind=user", @u2)->{status}, 403, 'another user does not delete');
$r = $s->del($d, @u1);
is_deeply([$r->{status}, $r->{json}], [200, { message => 'File deleted successfully',
    session_id => $ss, fileId => $f }], 'row 61: delete, without a kind');
$r = $s->del($d, @u1);
is_deeply([$r->{status}, $r->{json}{error}], [404, 'File not found'], '... twice');
is($s->del("/v1/files/$ss/$f", @u1)->{status}, 404, '... by the other path');
is($s->del($d, @u2)->{status}, 404, '... by a stranger');
is($s->get("/v1/files/$ss?kind=user", @u1)->{body}, '[]', 'an empty session');

# --- keys: names asserted under one are its own ---

my @form = ([kind => 'user'], [id => 'lc9'], file('of lc9', 'k.txt'));
$r = up([as => 'alice'], @form);
my ($ks, $kf) = ($r->{json}{session_id}, $r->{json}{files}[0]{fileId});
my $k = "/v1/sessions/$ks/objects/$kf";
is($s->get("$k?kind=user&id=lc9", as => 'alice')->{status}, 200, 'the same name');
is($s->get($k, as => 'alice', headers => ['User-Id' => 'lc9'])->{status}, 200,
    '... in the header, without a kind');
is($s->get("$k?kind=user&id=lc8", as => 'alice')->{status}, 403, 'another name');
is(Satchel::header($s->get("$k?kind=user&id=lc8", as => 'alice'),
    'x-should-retry'), 'false', '... who need not ask again');
is($s->get($k, as => 'alice')->{status}, 403, 'the key itself');
is($s->get("$k?kind=user&id=lc9", as => $_)->{status}, 403, "$_ by the same name")
    for qw(bob carol);
is($s->get("$k?kind=user&id=lc9", $code->bearer(sub => 'lc9'))->{status}, 403,
    'a token by the same name');
$r = up([as => 'alice'], [entity_id => 'agent_1'], file('x', 'old.csv'));
my ($es, $ef) = ($r->{json}{session_id}, $r->{json}{files}[0]{fileId});
is($s->get("/v1/files/$es?detail=summary&entity_id=agent_1", as => 'alice')
    ->{json}[0]{name}, "$es/$ef.csv", 'an old client\'s entity');
is($s->get("/v1/files/$es?entity_id=agent_2", as => 'alice')->{status}, 403,
    '... and no other');

# A key made for the tenant shares the token's names.
$r = $s->admin('--json', 'key', 'create', '--tenant', 'acme', '--user', 'u1');
$s->{key}{acme} = $r->{json}{key} or diag $r->{err};
$r = up(\@far, [kind => 'user'], file('shared', 's.txt'));
my ($as, $af) = ($r->{json}{session_id}, $r->{json}{files}[0]{fileId});
is($s->get("/v1/download/$as/$af?kind=user&id=u1", as => 'acme')->{body}, 'shared',
    'a tenant\'s key and its token are one user');

# --- two names of one row ---

my $list = $s->get('/v1/files', as => 'acme')->{json}{data};
is_deeply([map { "$_->{filename} $_->{purpose}" } @$list], ['s.txt user_data'],
    'the Files API lists what LibreChat uploaded');
is($s->get("/v1/files/$list->[0]{id}/content", as => 'acme')->{body}, 'shared',
    '... and gives it out');
is($list->[0]{expires_at}, undef, '... which does not expire for it');
is($s->del("/v1/files/$list->[0]{id}", as => 'acme')->{status}, 200, '... and deletes it');
is($s->get("/v1/download/$as/$af?kind=user&id=u1", @far)->{status}, 404,
    '... which both names show');

# --- time ---

$r = up(\@u1, [kind => 'user'], file('aging', 'age.txt'));
($ss, $f) = ($r->{json}{session_id}, $r->{json}{files}[0]{fileId});
my $day = 86400_000;
sub age {
	my ($days) = @_;
	$s->mysql("UPDATE storage_session SET last_used = last_used - $days * $day
	    WHERE session = '$ss'; UPDATE file SET last_used = last_used - $days * $day,
	    sweep_at = sweep_at - $days * $day WHERE lc_session = '$ss'");
}
my $m = "/v1/sessions/$ss/objects/$f?kind=user";
my $first = $s->get($m, @u1)->{json}{lastModified};
is($s->get($m, @u1)->{json}{lastModified}, $first, 'used again within the hour');
age(6);
my $then = $s->get($m, @u1)->{json}{lastModified};
cmp_ok($then, 'ge', $first, 'used after six days: fresh again');
$s->sweep;
age(6);
is($s->get("/v1/download/$ss/$f?kind=user", @u1)->{status}, 200,
    '... and alive after another six');
age(7.01);
is($s->get($m, @u1)->{status}, 404, 'unused for a week: gone');
is($s->get("/v1/files/$ss?kind=user", @u1)->{body}, '[]', '... from the list too');
$s->sweep;
is_deeply([$s->mysql("SELECT state FROM file WHERE lc_object = '$f'")], [['gone']],
    '... and the sweep takes it');

$s->mysql("UPDATE file SET sweep_at = 1 WHERE lc_session = '$ss'");
$s->sweep;
is_deeply([map { $s->mysql("SELECT COUNT(*) FROM $_ WHERE session = '$ss'") }
    qw(storage_session storage_object)], [[0], [0]], '... at last with its session');

# --- rates ---

$s->restart(set => {'librechat.jwt.pem_dir' => $code->{pem_dir},
    'librechat.downloads_per_min' => 3, 'librechat.uploads_per_5min' => 2});
my ($many, $other) = map { [$code->bearer(sub => $_)] } qw(many other);
sleep 1 while time % 60 > 50; # One window.
my @status = map { $s->get('/v1/download/' . 'a' x 21 . '/' . 'b' x 21 . '?kind=user',
    @$many)->{status} } 1 .. 4;
is("@status", '404 404 404 429', 'the fourth download in a minute');
$r = $s->get('/v1/download/' . 'a' x 21 . '/' . 'b' x 21 . '?kind=user', @$many);
my $wait = $r->{json}{retry_after_seconds};
is_deeply($r->{json}, { error => 'rate_limited', retry_after_seconds => $wait,
    message => "Too many downloads. Please retry in $wait seconds." }, '... its body (row 79)');
is(Satchel::header($r, 'Retry-After'), $wait, '... its header (row 79)');
is($s->get('/v1/download/' . 'a' x 21 . '/' . 'b' x 21 . '?kind=user', @$other)
    ->{status}, 404, '... another user is not meant');
is(up($many, [kind => 'user'], file('x', 'x'))->{status}, 200, '... nor another thing')
    for 1, 2;
is(up($many, [kind => 'user'], file('x', 'x'))->{status}, 429, '... until it is too much');
is_deeply([$s->mysql("SELECT COUNT(*) FROM file WHERE state = 'uploading'")], [[0]],
    '... which leaves nothing behind');

# --- each user for himself ---

$s->restart(set => {'librechat.jwt.pem_dir' => $code->{pem_dir},
    'librechat.share_in_tenant' => 'false'});
$r = batch(\@u1, @skill, file('x', 'x'));
($sk, @sf) = ($r->{json}{storage_session_id}, @{$r->{json}{files}});
is($s->get("/v1/files/$sk?$q", @u1)->{status}, 200, 'not shared: his own');
is($s->get("/v1/files/$sk?$q", @u2)->{status}, 403, '... not another\'s');
$s->done;
done_testing;
