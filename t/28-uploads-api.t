# /v1/uploads: a file in parts that come in any order, also at once.

use strict;
use warnings;
use Digest::MD5 qw(md5_hex);
use JSON::PP ();
use Math::BigInt ();
use Test::More;
use Files;

my $MAX = 209715200;
my $c = Files->stack(set => { 'files.max_bytes' => $MAX });
my $json = JSON::PP->new->canonical->allow_bignum;

sub post {
	my ($path, $body, %o) = @_;
	return $c->request('POST', $path, %o,
	    body => ref $body ? $json->encode($body) : $body // '',
	    headers => ['Content-Type' => 'application/json']);
}

my %usual = (bytes => 14, filename => 'sales.csv', mime_type => 'text/csv',
    purpose => 'user_data');

# create(%fields): an upload's id.
sub create {
	my $r = post('/v1/uploads', { %usual, @_ });
	die "create: $r->{status} $r->{body}" unless $r->{status} == 200;
	return $r->{json}{id};
}

sub add {
	my ($id, $bytes, %o) = @_;
	return $c->upload(form(part('data', $bytes, 'Content-Disposition: '
	    . 'form-data; name="data"; filename="blob"',
	    'Content-Type: application/octet-stream')),
	    path => "/v1/uploads/$id/parts", %o);
}

sub part_id {
	my $r = add(@_);
	die "part: $r->{status} $r->{body}" unless $r->{status} == 200;
	return $r->{json}{id};
}

sub complete {
	my ($id, $parts, %more) = @_;
	return post("/v1/uploads/$id/complete", { part_ids => $parts, %more });
}

# The bytes of the file that a complete made.
sub made {
	my ($r) = @_;
	return "status $r->{status} $r->{body}" unless $r->{status} == 200;
	return $c->get("/v1/files/$r->{json}{file}{id}/content")->{body};
}

# --- the example of the contract ---

my $csv = "q,amount\n1,20\n";
{
	my $r = post('/v1/uploads', { %usual, expires_after =>
	    { anchor => 'created_at', seconds => 3600 } });
	my ($id, $at) = @{ $r->{json} }{qw(id created_at)};
	like($id, qr/^upload_[0-9a-f]+$/, 'example 10: an id');
	is_deeply($r->{json}, { id => $id, object => 'upload', bytes => 14,
	    created_at => $at, expires_at => $at + 3600,
	    filename => 'sales.csv', purpose => 'user_data',
	    status => 'pending', file => undef }, 'example 10: created');
	$r = add($id, $csv);
	my $part = $r->{json}{id};
	like($part, qr/^part_/, 'example 10: a part\'s id');
	is_deeply($r->{json}, { id => $part, object => 'upload.part',
	    created_at => $r->{json}{created_at}, upload_id => $id },
	    'example 10: a part');
	$r = complete($id, [$part], md5 => md5_hex($csv));
	my $f = $r->{json}{file};
	is(shape($f, 'openai'), '', 'example 10: a whole file object');
	is_deeply([@$f{qw(filename purpose bytes)}],
	    ['sales.csv', 'user_data', 14], 'example 10: as announced');
	is($f->{expires_at} - $f->{created_at}, 3600,
	    'example 10: it expires as asked');
	is_deeply($r->{json}, { id => $id, object => 'upload', bytes => 14,
	    created_at => $at, expires_at => $at + 3600,
	    filename => 'sales.csv', purpose => 'user_data',
	    status => 'completed', file => $f }, 'example 10: completed');
	is(made($r), $csv, 'the file holds the bytes');
	is($c->get("/v1/files/$f->{id}/content")->{header}{etag},
	    '"sha256-' . sha256_hex($csv) . '"', 'hashed while joined');
	is($c->get("/v1/files/$f->{id}", dialect => 'anthropic')
	    ->{json}{mime_type}, 'text/csv', 'of the announced type');
}

# --- order, parallel, large ---

{
	my @bytes = map { chr(64 + $_) x ($_ * 100000) } 1 .. 5;
	my $whole = join '', @bytes;
	my $id = create(bytes => length $whole);
	my %part;
	$part{$_} = part_id($id, $bytes[$_]) for 3, 0, 4, 2, 1;
	my $unused = part_id($id, 'never used');
	my $r = complete($id, [map { $part{$_} } 0 .. 4],
	    md5 => uc md5_hex($whole));
	is(sha256_hex(made($r)), sha256_hex($whole),
	    'parts in any order, joined in the order of the list');
	is($c->sql(q{SELECT COUNT(*) FROM upload_part WHERE state = 'live'}), 0,
	    'no part is left alive');
}
{
	my @bytes = map { join '', map { chr } map { $_ * $_ % 256 }
	    $_ .. $_ + 65535 } 1 .. 8;
	my $whole = join '', @bytes;
	my $id = create(bytes => length $whole);
	my @s = map { $c->begin('POST', "/v1/uploads/$id/parts",
	    headers => ['Content-Type' => 'multipart/form-data; boundary=BB'],
	    body => form(part('data', $_))) } @bytes;
	my @ids = map { Files::read_answer($_, 'POST')->{json}{id} } @s;
	is(sha256_hex(made(complete($id, \@ids))), sha256_hex($whole),
	    'eight parts sent at once');
}
{
	my $mib = join '', map { chr($_ * 31 % 256) } 1 .. 1048576;
	my $piece = $mib x 60;
	my $id = create(bytes => 3 * length $piece);
	my @ids = map { part_id($id, $piece) } 1 .. 3;
	my @workers = $c->{s}->pids('files');
	my $peak = sub { my $max = 0; for (@workers) {
		open my $f, '<', "/proc/$_/status" or next;
		my ($kb) = join('', <$f>) =~ /VmHWM:\s+(\d+)/;
		$max = $kb if ($kb // 0) > $max;
	} return $max };
	my $was = $peak->();
	my $r = complete($id, \@ids);
	is("$r->{status} " . ($r->{json}{file}{bytes} // ''),
	    '200 ' . 3 * length $piece, '180 MiB in three parts');
	cmp_ok($peak->() - $was, '<', 4096,
	    'joined without holding it (under 4 MiB more)');
	my $sha = Digest::SHA->new(256);
	$c->get("/v1/files/$r->{json}{file}{id}/content",
	    on_body => sub { $sha->add($_[0]); return 0 });
	is($sha->hexdigest, sha256_hex($piece x 3), 'byte for byte');
	$c->request('DELETE', "/v1/files/$r->{json}{file}{id}");
}

# --- fields that are refused ---

for (
    ['no bytes', { bytes => undef }, 'bytes|missing_required_parameter'],
    ['bytes as text', { bytes => '14' }, 'bytes|invalid_type'],
    ['a part of a byte', { bytes => 1.5 }, 'bytes|invalid_type'],
    ['0 bytes', { bytes => 0 }, 'bytes|integer_below_min_value'],
    ['-1 bytes', { bytes => -1 }, 'bytes|integer_below_min_value'],
    ['-2**64 bytes', { bytes => Math::BigInt->new('-18446744073709551616') },
	'bytes|integer_below_min_value'],
    ['no filename', { filename => undef },
	'filename|missing_required_parameter'],
    ['a filename that is a number', { filename => 1 }, 'filename|invalid_type'],
    ['a long filename', { filename => 'x' x 256 },
	'filename|string_above_max_length'],
    ['a NUL in the filename', { filename => "a\0b" },
	'filename|invalid_filename'],
    ['no type', { mime_type => undef },
	'mime_type|missing_required_parameter'],
    ['no purpose', { purpose => undef }, 'purpose|missing_required_parameter'],
    ['a produced purpose', { purpose => 'batch_output' },
	'purpose|invalid_value'],
    ['an expiry that is a number', { expires_after => 3600 },
	'expires_after|invalid_type'],
    ['no anchor', { expires_after => { seconds => 3600 } },
	'expires_after|missing_required_parameter'],
    ['another anchor', { expires_after => { seconds => 3600,
	anchor => 'last_active_at' } }, 'expires_after.anchor|invalid_value'],
    ['no seconds', { expires_after => { anchor => 'created_at' } },
	'expires_after|missing_required_parameter'],
    ['too few seconds', { expires_after => { anchor => 'created_at',
	seconds => 3599 } }, 'expires_after.seconds|integer_below_min_value'],
    ['too many seconds', { expires_after => { anchor => 'created_at',
	seconds => 2592001 } },
	'expires_after.seconds|integer_above_max_value'],
    ['2**64 seconds', { expires_after => { anchor => 'created_at',
	seconds => Math::BigInt->new('18446744073709551616') } },
	'expires_after.seconds|integer_above_max_value'],
    ['seconds as text', { expires_after => { anchor => 'created_at',
	seconds => '3600' } }, 'expires_after.seconds|invalid_type'],
) {
	my ($what, $fields, $want) = @$_;
	my %body = (%usual, %$fields);
	delete $body{$_} for grep { !defined $body{$_} } keys %body;
	is(said(post('/v1/uploads', \%body), 'openai'), "400 O[ire|$want]",
	    "create with $what");
}
for ($MAX + 1, Math::BigInt->new('18446744073709551616')) {
	is(said(post('/v1/uploads', { %usual, bytes => $_ }), 'openai'),
	    '413 O[ire|bytes|file_too_large]', "create with $_ bytes");
}
for ('{"bytes":', '[]', '"x"', '') {
	is(post('/v1/uploads', $_)->{status}, 400, "create with the body '$_'");
}
{
	my $id = create(filename => '../dir/a b.csv', bytes => 3);
	my $f = complete($id, [part_id($id, 'abc')])->{json}{file};
	is($f->{filename}, 'a b.csv', 'a path in the name is cut off');
}

# --- parts that are refused ---

my $id = create();
is(said(add($id, ''), 'openai'), '400 O[ire|data|empty_file]', 'an empty part');
is(said(add($id, 'x' x 15), 'openai'), '413 O[ire|data|file_too_large]',
    'a part larger than the whole');
is(said($c->upload(form(part('file', 'x')), path => "/v1/uploads/$id/parts"),
    'openai'), '400 O[ire|data|missing_required_parameter]',
    'a part under another name');
is(said(post("/v1/uploads/$id/parts", '{}'), 'openai'),
    '415 O[ire|-|unsupported_media_type]', 'a part as JSON');
{
	my $big = create(bytes => 70 << 20);
	is(said(add($big, 'x', length => 68 << 20), 'openai'),
	    '413 O[ire|data|file_too_large]', 'a part over 64 MiB');
}
for ('upload_' . '0' x 32, 'nothing', 'upload_x', "${id}0") {
	is(said(add($_, 'x'), 'openai'), '404 O[ire|id|-]',
	    "a part of the unknown upload $_");
}
for my $who (qw(b same)) {
	is(said(add($id, 'x', key => $who), 'openai'), '404 O[ire|id|-]',
	    "a part of a foreign upload ($who)");
	is(said(post("/v1/uploads/$id/complete", { part_ids => ['x'] },
	    key => $who), 'openai'), '404 O[ire|id|-]',
	    "completing a foreign upload ($who)");
	is(said(post("/v1/uploads/$id/cancel", '', key => $who), 'openai'),
	    '404 O[ire|id|-]', "cancelling a foreign upload ($who)");
}

# --- completions that are refused, after each of which it goes on ---

my ($one, $two) = (part_id($id, 'q,amount'), part_id($id, "\n1,20\n"));
my $foreign = part_id(create(), 'q,amount');
for (
    ['no list', undef, {}, 'part_ids|missing_required_parameter'],
    ['an empty list', [], {}, 'part_ids|invalid_value'],
    ['a text for a list', $one, {}, 'part_ids|invalid_type'],
    ['numbers', [1], {}, 'part_ids|invalid_type'],
    ['an unknown part', [$one, 'part_' . '0' x 32], {},
	'part_ids|invalid_value'],
    ['a part of another upload', [$foreign, $two], {},
	'part_ids|invalid_value'],
    ['a part twice', [$one, $one], {}, 'part_ids|invalid_value'],
    ['too few bytes', [$one], {}, 'part_ids|invalid_value'],
    ['another MD5', [$one, $two], { md5 => '0' x 32 }, 'md5|invalid_value'],
    ['an MD5 that is none', [$one, $two], { md5 => 'x' },
	'md5|invalid_value'],
    ['an MD5 that is a number', [$one, $two], { md5 => 5 },
	'md5|invalid_type'],
) {
	my ($what, $parts, $more, $want) = @$_;
	my $r = post("/v1/uploads/$id/complete",
	    { defined $parts ? (part_ids => $parts) : (), %$more });
	is(said($r, 'openai'), "400 O[ire|$want]", "complete with $what");
}
my $extra = part_id($id, 'xx');
is(said(complete($id, [$one, $two, $extra]), 'openai'),
    '400 O[ire|part_ids|invalid_value]', 'complete with too many bytes');
my $before = $c->stored;
is(said(complete($id, [$two, $one], md5 => md5_hex("q,amount\n1,20\n")),
    'openai'), '400 O[ire|md5|invalid_value]', 'complete in the wrong order');
is($c->stored, $before, 'which leaves nothing behind');

# Of several completions at once exactly one makes the file.
{
	my $files = $c->sql(q{SELECT COUNT(*) FROM file WHERE state = 'live'});
	my @s = map { $c->begin('POST', "/v1/uploads/$id/complete",
	    headers => ['Content-Type' => 'application/json'],
	    body => $json->encode({ part_ids => [$one, $two] })) } 1 .. 4;
	my @got = sort map { Files::read_answer($_, 'POST')->{status} } @s;
	is("@got", '200 400 400 400', 'of four completions exactly one wins');
	is($c->sql(q{SELECT COUNT(*) FROM file WHERE state = 'live'}) - $files, 1,
	    'and there is one file');
}

# --- uploads that have ended ---

my %ended = (completed => $id, cancelled => create(), expired => create());
my %parts = map { $_ => [part_id($ended{$_}, $csv)] } qw(cancelled expired);
$parts{completed} = [$one, $two];
{
	my $r = post("/v1/uploads/$ended{cancelled}/cancel");
	is("$r->{status} $r->{json}{object} $r->{json}{status} "
	    . ($r->{json}{file} // 'null'), '200 upload cancelled null',
	    'cancelled');
	$c->sql('UPDATE upload SET created = 1, expires = 2, sweep_at = 2'
	    . " WHERE pid = '" . substr($ended{expired}, 7) . "'");
}
$before = $c->stored;
for my $how (sort keys %ended) {
	my $id = $ended{$how};
	for (['a part', sub { add($id, $csv) }],
	    ['completing', sub { complete($id, $parts{$how}) }],
	    ['cancelling', sub { post("/v1/uploads/$id/cancel") }]) {
		my ($what, $ask) = @$_;
		my $r = $ask->();
		is(said($r, 'openai'), '400 O[ire|-|-]',
		    "$what once it is $how");
		like($r->{json}{error}{message}, qr/$how/,
		    "$what once it is $how: it says so");
	}
}
is($c->stored, $before, 'none of which left anything');

# --- the other dialect's caller, and a broken part ---

is(post('/v1/uploads', \%usual, dialect => 'anthropic')->{json}{object},
    'upload', 'the vendor\'s own shape whatever the dialect');
{
	my $id = create();
	my $before = $c->stored . $c->sql('SELECT COUNT(*) FROM upload_part');
	add($id, 'x' x 10, length => 5000, cut => 10);
	$c->wait_for(sub { !$c->sql(
	    q{SELECT COUNT(*) FROM upload_part WHERE state = 'uploading'}) });
	is($c->stored . $c->sql('SELECT COUNT(*) FROM upload_part'), $before,
	    'half a part leaves neither row nor bytes');
}

# --- how many parts ---

{
	my $id = create();
	my $row = "WHERE pid = '" . substr($id, 7) . "'";
	$c->sql("UPDATE upload SET parts = 9999 $row");
	is(add($id, 'x')->{status}, 200, 'the 10,000th part');
	my $before = $c->stored;
	my $r = add($id, 'x');
	is(said($r, 'openai'), '400 O[ire|-|-]', 'one more is refused');
	is($r->{json}{error}{message}, 'An upload takes at most 10000 parts',
	    '... with the reason');
	is($c->stored, $before, '... and leaves nothing');
}
$c->done;

# --- parts count against the quota ---

$c = Files->stack(set => { 'files.quota_user_bytes' => 1000000,
    'files.grace_seconds' => 0 });
{
	my ($id, $other) = (create(bytes => 700000), create(bytes => 700000));
	my $half = part_id($id, 'h' x 350000);
	my $file = form(file_part('q' x 700000, 'q.bin'));
	my $full = '400 O[ire|-|storage_quota_exceeded]';
	part_id($other, 'h' x 350000);
	my $before = $c->stored;
	is(said(add($other, 'h' x 350000), 'openai'), $full, 'a part over the quota');
	is(said($c->upload($file), 'openai'), $full, 'a file beside them');
	is($c->stored, $before, '... neither leaves anything');
	is(add($other, 'h', key => 'same')->{status}, 404,
	    '... nobody else fills it up');
	post("/v1/uploads/$other/cancel");
	my $rest = part_id($id, 'r' x 350000);
	my $r = complete($id, [$half, $rest]);
	is($r->{status}, 200, 'after a cancellation there is room, for the whole too');
	$c->request('DELETE', "/v1/files/$r->{json}{file}{id}");
	$id = create(bytes => 700000);
	part_id($id, 'h' x 700000);
	is(said($c->upload($file), 'openai'), $full, 'pending parts keep their place');
	$c->sql('UPDATE upload SET expires = 2, sweep_at = 2; UPDATE upload_part'
	    . " SET sweep_at = 2 WHERE state = 'live'");
	is($c->{s}->sweep->{exit}, 0, 'until they are swept');
	is($c->sql(q{SELECT COUNT(*) FROM upload_part}), 0, '... away');
	is($c->upload($file)->{status}, 200, '... which gives it back');
}
$c->done;
done_testing;
