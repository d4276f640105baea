use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP qw(decode_json);
use MariaDB;
use Test::More;

# satchel-admin: workspaces, users, keys and fsck, with nothing else running.

my $server = MariaDB->new;
$server->create('s');

sub admin { return $server->admin('s', @_) }

# It exits as told, and says so on standard error.
sub is_refused {
	my ($exit, $like, $name, @words) = @_;
	my $r = admin(@words);

	is($r->{exit}, $exit, $name);
	like($r->{err}, $like, '... and why');
	is($r->{out}, '', '... and nothing else');
}

sub is_done {
	my ($name, @words) = @_;
	my $r = admin(@words);

	is($r->{exit}, 0, $name) or diag $r->{err};
	is($r->{err}, '', '... without complaint');
	return $r->{out};
}

sub lines { return map { decode_json($_) } split /\n/, is_done(@_, '--json') }

# --- words ---

my $help = is_done('--help', '--help');
like($help, qr/exit status: 0 done; 1 refused.*2 could\s+not run/s,
    '... with the exit codes');
for my $command ('migrate', 'workspace create', 'workspace list', 'user create',
    'user list', 'key create', 'key list', 'key revoke', 'key expire', 'fsck',
    'check', 'conf') {
	like($help, qr/^  \Q$command\E\b/m, "... and $command");
}
my $bare = MariaDB::run({}, "$MariaDB::build/satchel-admin");
is($bare->{exit}, 2, 'no command');
like($bare->{err}, qr/^usage:/, '... shows the usage');
is_refused(2, qr/no such command: nonsense/, 'an unknown command', 'nonsense');
is_refused(2, qr/no such command: workspace/, 'half a command', 'workspace');
is_refused(2, qr/unknown option --nix/, 'an unknown option', 'migrate', '--nix');
is_refused(2, qr/too many: x/, 'a word too many', 'migrate', 'x');
is_refused(2, qr/is at number 0.*run satchel-admin migrate/, 'no schema yet',
    qw(workspace list));
is_done('migrate', 'migrate');
my $r = MariaDB::run({}, "$MariaDB::build/satchel-admin", '-c', '/nonexistent',
    'migrate');
is($r->{exit}, 2, 'no such settings file');
like($r->{err}, qr{/nonexistent}, '... which is named');
$r = admin('-s', 'database.socket=/nonexistent', qw(workspace list));
is($r->{exit}, 2, 'no database');
my $no = 'the database cannot be used: connecting:';
like($r->{err}, qr{^satchel-admin: $no Can't connect .*/nonexistent.*; nothing was done$}m,
    '... says so');
$r = admin('-s', 'database.user=nobody-here', qw(workspace list));
is($r->{exit}, 2, 'a login that is refused');
like($r->{err}, qr{^satchel-admin: $no Access denied for user 'nobody-here'.*; nothing}m,
    '... is told apart');
is_refused(2, qr/database\.nonsense/, 'an unknown setting', '-s',
    'database.nonsense=1', 'migrate');

# --- workspaces and users ---

is_done('a workspace', qw(workspace create default));
is_refused(1, qr/there is a workspace default already/, 'twice',
    qw(workspace create default));
my ($made) = lines('one with a tenant', qw(workspace create shared --tenant acme));
is_deeply($made, { id => $made->{id}, name => 'shared' }, '... as JSON');
is_refused(1, qr/one of tenant acme already/, 'one tenant, one workspace',
    qw(workspace create more --tenant acme));
is_refused(2, qr/1 word\(s\) missing/, 'without a name', qw(workspace create));
is_refused(2, qr/--tenant needs a value/, 'without a tenant',
    qw(workspace create x --tenant));
is_refused(2, qr/--tenant is given twice/, 'two tenants',
    qw(workspace create x --tenant a --tenant b));
for (['', 'empty'], [' a', 'with a space before'], ['a ', 'with one after'],
    ["a\nb", 'with a line break'], ["a\x7f", 'with a control character'],
    ["\xff", 'that is not UTF-8'], ['x' x 256, 'of 256 bytes']) {
	is_refused(2, qr/a name is 1 to 255 bytes of UTF-8/, "a name $_->[1]",
	    qw(workspace create), $_->[0]);
}
is_done('a name of 255 bytes', qw(workspace create), 'x' x 255);
is_done('one with spaces and accents', qw(workspace create), 'café de Paris');
is_deeply([map { [@$_{qw(name tenant disabled)}] } lines('the list',
    qw(workspace list))],
    [['default', undef, undef], ['shared', 'acme', undef],
    ['x' x 255, undef, undef], ["caf\x{e9} de Paris", undef, undef]],
    '... has them all');
like(is_done('the list for people', qw(workspace list)),
    qr/^id\tname\ttenant\tcreated\tdisabled\n1\tdefault\t-\t20\S+Z\t-\n/,
    '... has a heading');

is_done('a user', qw(user create default alice));
is_done('another', qw(user create default carol));
is_done('the same name elsewhere', qw(user create shared alice));
is_refused(1, qr/a user alice in workspace default already/, 'twice',
    qw(user create default alice));
is_refused(1, qr/no workspace nowhere/, 'in no workspace',
    qw(user create nowhere alice));
is_deeply([map { [@$_{qw(workspace name key disabled)}] } lines('the list',
    qw(user list))],
    [['default', 'alice', undef, undef], ['default', 'carol', undef, undef],
    ['shared', 'alice', undef, undef]], '... has them');

# --- keys ---

my $out = is_done('a key', qw(key create --workspace default --user alice));
like($out, qr/^sk-satchel-[0-9A-Za-z]{43}\n\z/, '... alone on its line');
chomp(my $key = $out);
is($server->sql("SELECT HEX(sha256), hint, role, name_space, label,
	expires IS NULL AND revoked IS NULL AND disabled IS NULL FROM api_key",
    's'), join("\t", uc sha256_hex($key), substr($key, -4), 'user', 'key', '', 1),
    '... of which the database keeps the hash and a hint');
isnt(is_done('plain words do as well', qw(key create default carol)), $out,
    '... and make another key');
my ($json) = lines('a management key', qw(key create --user alice --workspace
    default --role management --label), 'for the console');
like($json->{key}, qr/^sk-satchel-[0-9A-Za-z]{43}$/, '... as JSON: the key');
is_deeply([@$json{qw(id role expires)}], [3, 'management', undef],
    '... its id and role');
is_done('a workspace administrator', qw(key create default alice --role
    workspace-admin));
($json) = lines('one for 90 days', qw(key create default alice --expires +90d));
is($server->sql("SELECT expires BETWEEN created + 90 * 86400000 - 60000 AND
	created + 90 * 86400000 FROM api_key WHERE id = $json->{id}", 's'), 1,
    '... by the database clock');
($json) = lines('one until a date', qw(key create default alice --expires
    2099-12-31T23:30:00.25-01:00));
is($json->{expires}, '2100-01-01T00:30:00.250Z', '... in another time zone');
($json) = lines('one for a tenant', qw(key create --tenant acme --user alice));
is($server->sql("SELECT workspace_name, name_space FROM api_key
	WHERE id = $json->{id}", 's'), "shared\tworkspace",
    '... is in its workspace and shares its names');
is_refused(1, qr/workspace default is not that of tenant acme/,
    'another workspace than the tenant\'s', qw(key create --tenant acme
    --workspace default --user alice));
is_refused(1, qr/no user nobody in a workspace default/, 'no such user',
    qw(key create default nobody));
is_refused(1, qr/no user alice in a workspace of tenant x/, 'no such tenant',
    qw(key create --tenant x --user alice));
is_refused(2, qr/--workspace or --tenant is missing/, 'no workspace',
    qw(key create --user alice));
is_refused(2, qr/workspace is given twice/, 'two workspaces',
    qw(key create default alice --workspace default));
is_refused(2, qr/--role: root is none of/, 'an unknown role',
    qw(key create default alice --role root));
for ('tomorrow', '2099-02-29T00:00:00Z', '2099-13-01T00:00:00Z', '2099-01-01',
    '2099-01-01T00:00:00', '2099-01-01T24:00:00Z', '2099-01-01 00:00:00Z', '+d',
    '+1', '+1h', '+-1d', '1d', '2099-01-01T00:00:00Zx', '') {
	is_refused(2, qr/neither RFC 3339 nor \+DAYSd/, "the time \"$_\"",
	    qw(key create default alice --expires), $_);
}
is_done('a leap day', qw(key create default alice --expires
    2096-02-29T00:00:00Z));
for ('2020-01-01T00:00:00Z', '+0d') {
	is_refused(1, qr/is in the past/, "the past: $_",
	    qw(key create default alice --expires), $_);
}

my @keys = lines('the list', qw(key list));
is(scalar(grep { /sk-satchel|[0-9a-f]{64}/i } map { values %$_ }
    map { my %k = %$_; delete @k{grep { !defined $k{$_} } keys %k}; \%k }
    @keys), 0, '... has no key in it');
is_deeply([@{$keys[2]}{qw(id hint workspace user role names label revoked)}],
    [3, $keys[2]{hint}, 'default', 'alice', 'management', 'key',
    'for the console', undef], '... says whose they are');

# On a terminal the columns stand below each other.
{
	my $list = MariaDB::run({}, 'script', '-qec', join(' ', map { "'$_'" }
	    "$MariaDB::build/satchel-admin", '-c', $server->conf('s'),
	    qw(user list)), '/dev/null')->{out};
	my ($head, @rows) = split /\r?\n/, $list;
	my $at = index $head, 'created';
	cmp_ok($at, '>', 0, 'a list on a terminal');
	unlike($list, qr/\t/, '... has no tabs');
	is(join(' ', map { substr($_, $at - 1, 5) =~ /^ \d{4}$/ ? 1 : $_ } @rows),
	    join(' ', (1) x @rows), '... but aligned columns');
	like($rows[0], qr/^1 +default +alice +- /, '... and no key where there is none');
}
my $help = admin(qw(key create --help));
is($help->{exit}, 0, 'the help of one command');
like($help->{out}, qr/\A  key create --workspace WORKSPACE/, '... is its own');
unlike($help->{out}, qr/key revoke|usage:/, '... alone');

is_done('revoke', qw(key revoke 1));
is_refused(1, qr/key 1 is revoked/, 'twice', qw(key revoke 1));
is_refused(1, qr/no key 999/, 'no such key', qw(key revoke 999));
is_refused(2, qr/x is no key's id/, 'no id', qw(key revoke x));
is_refused(2, qr/is no key's id/, 'nor a key', qw(key revoke), $key);
is_done('expire', qw(key expire 2 2020-01-01T00:00:00Z));
is($server->sql('SELECT expires FROM api_key WHERE id = 2', 's'),
    1577836800000, '... in the past, even');
is_done('expire later', qw(key expire 2 +1d));
is_done('expire never', qw(key expire 2 never));
is_done('... again', qw(key expire 2 never));
is($server->sql('SELECT expires IS NULL FROM api_key WHERE id = 2', 's'), 1,
    '... takes the end away');
is_refused(1, qr/key 1 is revoked/, 'not of a revoked key',
    qw(key expire 1 never));
is_refused(2, qr/none of RFC 3339/, 'not at nonsense', qw(key expire 2 soon));

sub disabled {
	return join ' ', map { $_->{id} } grep { defined $_->{disabled} }
	    lines('the keys', qw(key list));
}
is_done('disable a user', qw(user disable default carol));
is(disabled(), 2, '... and their keys');
is_refused(1, qr/user carol is disabled already/, 'twice',
    qw(user disable default carol));
is_done('disable a workspace', qw(workspace disable shared));
is(disabled(), '2 7', '... and its keys');
is_done('enable them', qw(user enable default carol));
is_done('... both', qw(workspace enable shared));
is(disabled(), '', '... and their keys');
is_refused(1, qr/there is no user x/, 'no such user', qw(user enable default x));

# --- several at once ---

{
	my @pids = map {
		my $pid = fork // die $!;
		if (!$pid) {
			my $r = admin(qw(workspace create race));
			POSIX::_exit($r->{exit});
		}
		$pid;
	} 1 .. 4;
	my @exit = sort map { waitpid $_, 0; $? >> 8 } @pids;
	is("@exit", '0 1 1 1', 'four make one workspace: one does');
}

# --- fsck ---

my $root = "$server->{dir}/files";
my $serial = 0;

sub blob {
	my ($key, $text, $temp) = @_;
	my $dir = $temp ? 'tmp' : join '/', $key =~ /^(..)(..)/;
	my $path = $root;

	for (split m{/}, $dir) {
		$path .= "/$_";
		-d $path or mkdir $path or die "$path: $!";
	}
	open my $fh, '>', "$path/$key" or die "$path/$key: $!";
	print $fh $text;
	close $fh or die $!;
	return "$path/$key";
}

sub key { return sprintf '%032x', 0x1000_0000 * ++$serial % 0xffff_ffff }

# A file's row and, unless $text is undef, its bytes.
sub file {
	my ($state, $text, $bytes) = @_;
	my $key = key();

	$server->sql("INSERT INTO file (pid, workspace_id, user_id, state, origin,"
	    . " store_key, bytes, name, mime, purpose, created, sweep_at) VALUES"
	    . " ('p$serial', 1, 1, '$state', 'upload', '$key', $bytes, 'n', 'm',"
	    . " 'p', 1, 1)", 's');
	return ($key, defined $text ? blob($key, $text) : undef);
}

sub fsck {
	my ($exit, $name, $want, @words) = @_;
	my $r = admin('fsck', @words);
	my $got = $r->{out} =~ /^\{.*\}\n\z/ ? decode_json($r->{out})
	    : { text => $r->{out} . $r->{err} };
	my %none = (rows => 0, blobs => 0, missing => 0, wrong_size => 0,
	    orphans => 0, strays => 0, orphan_bytes => 0, repaired => 0);

	is($r->{exit}, $exit, $name);
	$_ = $_ ? 1 : 0 for $got->{clean};
	is_deeply($got, { %none, clean => $exit == 0 ? 1 : 0, %$want }, '... '
	    . join ', ', map { "$want->{$_} $_" } sort keys %$want);
	return $r->{err};
}

fsck(0, 'nothing at all is in order', {});
my ($good, $good_path) = file('live', 'hello', 5);
file('uploading', undef, 'NULL');
my ($half) = file('uploading', undef, 'NULL');
my $half_path = blob($half, 'hel', 1);
file('dead', 'dying', 5);
file('dead', undef, 5);
fsck(0, 'a file, uploads and dead ones are in order', { rows => 1, blobs => 3 });

my ($missing) = file('live', undef, 7);
my ($short) = file('live', 'too short', 99);
my $orphan_path = blob(key(), 'nobody knows me');
my $stray_path = blob(key(), 'me neither', 1);
my $left_path = blob($good, 'hello', 1);
$server->sql("INSERT INTO upload (id, pid, workspace_id, user_id, state, bytes,"
    . " name, mime, purpose, lifetime_s, created, expires, sweep_at) VALUES (1,"
    . " 'u1', 1, 1, 'pending', 9, 'big', 'm', 'p', 0, 1, 1, 1)", 's');
$server->sql("INSERT INTO upload_part (pid, upload_id, state, store_key, bytes,"
    . " created, sweep_at) VALUES ('x', 1, 'live', '" . key() . "', 3, 1, 1)",
    's');
my %wrong = (rows => 4, blobs => 7, missing => 2, wrong_size => 1, orphans => 1,
    orphan_bytes => 15, strays => 2);
my $before = $server->sql('SELECT * FROM file ORDER BY id', 's');
my $said = fsck(1, 'what is wrong is found', \%wrong);
like($said, qr/^file-p\d+ "n" of alice in default, blob $missing: its bytes are missing$/m,
    '... named as its owner knows it');
like($said, qr/^file-p\d+ "n" of alice in default, blob $short: its bytes are not as many as it says$/m,
    '... one by one');
like($said, qr/^a part of upload_u1 "big" of alice in default, blob \w+: its bytes are missing$/m,
    '... parts of uploads too');
like($said, qr/^Blobs without a row are no loss: satchel-sweep removes them once they are a day old\.$/m,
    '... and what becomes of the others');
is(scalar(split /\n/, $said), 7, '... and nothing else');
is($server->sql('SELECT * FROM file ORDER BY id', 's'), $before,
    '... and no row changed');
is(scalar(grep { -e } $orphan_path, $stray_path, $left_path), 3,
    '... nor the store');
fsck(1, '... again', \%wrong);

fsck(1, 'repaired', { %wrong, repaired => 6 }, '--repair');
is($server->sql("SELECT GROUP_CONCAT(state) FROM file WHERE store_key IN"
    . " ('$missing', '$short')", 's'), 'dead,dead',
    'rows without their bytes are dead');
is($server->sql('SELECT state FROM upload_part', 's'), 'dead', '... parts too');
is(scalar(grep { -e } $orphan_path, $stray_path, $left_path), 0,
    'bytes without a row are gone');
is(scalar(grep { -e } $good_path, $half_path), 2, 'all else is untouched');
fsck(0, 'then all is in order', { rows => 1, blobs => 4 });

# A store that is not this database's.
file('live', undef, 1) for 1 .. 15;
fsck(1, 'bytes missing by the dozen', { rows => 16, blobs => 4, missing => 15 });
$r = admin(qw(fsck --repair));
is($r->{exit}, 2, '... are not repaired');
like($r->{err}, qr/more than half of it is wrong.*Nothing was changed/,
    '... for it is likelier that the store is not mounted');
is($server->sql("SELECT COUNT(*) FROM file WHERE state = 'live'", 's'), 16,
    '... and indeed nothing was');
fsck(1, '... unless by force', { rows => 16, blobs => 4, missing => 15,
    repaired => 15 }, '--repair', '--force');
fsck(0, '... and then it is in order', { rows => 1, blobs => 4 });

$r = admin('-s', 'files.root=/nonexistent/store', 'fsck');
is($r->{exit}, 2, 'no store');
like($r->{err}, qr{the store /nonexistent/store cannot be read}, '... says so');
is($r->{out}, '', '... and sums nothing up');
$server->stop;
is_refused(2, qr/$no Can't connect/, 'no database', 'fsck');

done_testing;
