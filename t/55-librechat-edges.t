#!/usr/bin/perl

# The edges that LibreChat's contract lists in its section 13 and that no other
# file comes to, each by its row; and that no row is without a test.

use strict;
use warnings;
use utf8;
use Encode qw(encode_utf8);
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);
use Code;
use Satchel;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);
my $code = Code->new;
my %set = ('librechat.jwt.pem_dir' => $code->{pem_dir},
    (map { ("librechat.$_" => 0) } qw(execs_per_30s uploads_per_5min reads_per_min)));
my $s = Satchel->new(set => {%set, 'sandbox.workspace_bytes' => 16 << 20,
    'librechat.output_max_bytes' => 8 << 20});
my $true = JSON::PP::true;

sub u1 { return $code->bearer(sub => 'u1') }
sub u2 { return $code->bearer(sub => 'u2') }
sub run_ { my ($lang, $text, %o) = @_;
	return $s->post('/v1/exec', u1(), timeout => 60,
	    json => { lang => $lang, code => $text, %o }) }
sub bash { return run_('bash', @_) }
sub py { return run_('py', @_) }
sub tool { my (%body) = @_;
	return $s->post('/v1/exec/programmatic', u1(), timeout => 60, json => \%body) }
sub json { my ($text, @as) = @_;
	@as = u1() if !@as;
	return $s->post('/v1/exec', @as, body => $text,
	    headers => [@{$as[3] || []}, 'Content-Type' => 'application/json']) }
sub put {
	my ($who, $bytes, $name, @fields) = @_;
	@fields = ([kind => 'user']) if !@fields;
	my $r = $s->post('/v1/upload', @$who, form => [@fields,
	    ['file', $bytes, encode_utf8($name)]]);
	$r->{status} == 200 or die("upload: $r->{body}");
	return { id => $r->{json}{files}[0]{fileId}, name => $name, kind => 'user',
	    storage_session_id => $r->{json}{storage_session_id} };
}
sub object { my ($f, $query) = @_;
	return "/v1/sessions/$f->{storage_session_id}/objects/$f->{id}?" . ($query // 'kind=user') }
sub download { my ($f, $query) = @_;
	return $s->get("/v1/download/$f->{storage_session_id}/$f->{id}?" . ($query // 'kind=user'), u1()) }
sub names { my ($r) = @_; return [map { $_->{name} } @{$r->{json}{files}}] }
sub count { my ($sql) = @_; return ($s->mysql("SELECT COUNT(*) FROM $sql"))[0][0] }

# --- the request ---

my $key = $s->{key}{alice};
my $r = json('{"lang":"js","code":"print(1)","lang":"bash","lang":"py"}');
is($r->{json}{stdout}, "1\n", 'row 104: the last of a key that stands twice')
    or diag $r->{body};
$r = json('{"lang":"py","code":"import sys; print(sys.argv[1])","args":["a"],'
    . '"\u0061rgs":["b"]}');
is($r->{json}{stdout}, "b\n", 'row 104: ... however it is spelled');
for (qw(LIBRECHAT_CODE_API_KEY api_key apiKey)) {
	my $twice = qq({"lang":"py","code":"print(1)","$_":"x","$_":"$key"});
	is(json($twice, as => undef)->{status}, 400, "row 104: $_ twice");
	is(json($twice)->{status}, 400, 'row 104: ... beside a token');
}
sub nested { my ($n) = @_;
	return '{"lang":"py","code":"print(1)","x":' . '[' x $n . ']' x $n . '}' }
is(json(nested(63))->{status}, 200, 'row 104: 64 levels');
is(json(nested(64))->{status}, 400, 'row 104: 65 levels');
$r = $s->head('/v1/exec', u1());
is("$r->{status} " . Satchel::header($r, 'Allow'), '405 POST', 'row 102: HEAD');
my @as = u1();
$r = $s->post('/v1/upload', as => undef, headers => [@{$as[3]}, 'User-Id' => 'u2'],
    form => [[kind => 'user'], [id => 'u2'], ['file', 'mine', 'a.txt']]);
my $mine = { id => $r->{json}{files}[0]{fileId},
    storage_session_id => $r->{json}{storage_session_id} };
is($s->get(object($mine), u1())->{status}, 200, 'row 78: the token names the user');
is($s->get(object($mine), u2())->{status}, 403, 'row 78: ... User-Id does not');
is($s->post('/v1/upload', u1(), form => [[kind => 'skill'], [id => 's'], [version => $_],
    ['file', 'x', 'a']])->{status}, 400, "row 19: version $_") for qw(Infinity -inf nan 0x7);
my %skill = (%{put([u1()], 'of 7', 'SKILL.md', [kind => 'skill'], [id => 's'],
    [version => '7.0'])}, kind => 'skill', resource_id => 's');
$r = bash('cat SKILL.md', files => [{ %skill, version => 7 }]);
is($r->{json}{stdout}, 'of 7', 'row 19: a number in the form is that number in JSON')
    or diag $r->{body};
is(bash('echo ran', files => [{ %skill, version => '7' }])->{status}, 400,
    'row 19: ... where a text is none');
$r = $s->post('/v1/exec', $code->bearer(sub => 'u1', tenant_id => 'acme'), json => {
    lang => 'bash', code => 'echo ran', files => [{ %skill, version => 7 }] });
is("$r->{status} $r->{json}{error}", '403 Unauthorized file reference',
    'row 23: another tenant\'s skill');
for (['TRUE', JSON::PP::true], ['true', JSON::PP::true], ['1', JSON::PP::false],
    ['yes', JSON::PP::false]) {
	my $f = put([u1()], 'x', 'a', [kind => 'user'], [read_only => $_->[0]]);
	is($s->get(object($f), u1())->{json}{readOnly}, $_->[1], "row 71: read_only=$_->[0]");
}
$r = $s->post('/v1/upload', u1(), form => [[kind => 'user'], ['file', '', ''],
    ['file', 'x', 'a.txt']]);
is($r->{json}{files}[0]{filename}, 'a.txt', 'row 72: an empty part beside a file')
    or diag $r->{body};

# --- a run ---

$r = bash('yes | head -c 1073741824');
is(length($r->{json}{stdout} =~ s/\n\[\.\.\. 1073676288 bytes left out \.\.\.\]\n//r),
    65536, 'a gibibyte of output: 64 KiB of it, and how much is left out') or diag substr $r->{body}, -200;
$r = py("import socket\ntry:\n    socket.create_connection(('192.0.2.1', 80), 20)\n"
    . "except OSError as e:\n    print('refused')");
is($r->{json}{stdout}, "refused\n", 'row 13: no network');
cmp_ok($r->{json}{wall_time}, '<', 19000, 'row 13: ... which shows at once');
$r = bash('echo kept >a.txt; exit 3');
is_deeply([$r->{status}, @{$r->{json}}{qw(code stdout stderr)}, names($r)],
    [200, 3, '', "Process exited with code 3\n", ['a.txt']], 'row 6: with its files');
my $tag = "sleep 61.$$";
$r = bash("for i in 1 2 3; do setsid $tag & done; wait", timeout => 1000);
is($r->{json}{status}, 'TO', 'row 7: a time limit');
is(scalar(() = `ps -eo args` =~ /^\Q$tag\E$/mg), 0, 'row 7: ... leaves no descendant');
my $empty = put([u1()], '', 'e.txt');
$r = bash('cat e.txt', files => [$empty]);
is_deeply([$r->{status}, @{$r->{json}}{qw(stdout stderr)}], [200, '', ''],
    'row 105: an empty file');

# --- what it leaves ---

$r = py(q{
import os, socket
f = open('sparse', 'wb'); f.truncate(15 << 20)
try:
	f.truncate(10 << 30)
except OSError as e:
	print(e.strerror)
s = socket.socket(socket.AF_UNIX); s.bind('sock')
open(b'bad\xff.txt', 'w').write('latin')
open('new\nline', 'w').write('two')
os.makedirs('a'); open('a/b.png', 'w').write('png')
});
is_deeply(names($r), ['a/b.png', 'bad%FF.txt', 'new%0Aline'],
    'row 45, row 46, row 47: nested, and names that are not clean (ruling 18)') or diag $r->{body};
my @made = @{$r->{json}{files}};
is_deeply([$r->{json}{stdout}, $r->{json}{artifact_truncation}], ["File too large\n",
    { reasons => { max_file_size => 1 }, skipped_count => 1, skipped => ['sparse'] }],
    'row 42: 10 GiB of holes cannot be made, 15 MiB are too many') or diag $r->{body};
my @head = ('row 54: at once', 'row 46: fetched', 'row 47: fetched');
for (['png', 0], ['latin', 1], ['two', 2]) {
	$r = download($made[$_->[1]]);
	is("$r->{status} $r->{body}", "200 $_->[0]", $head[$_->[1]]);
}
is(download($made[0], 'kind=skill&id=s&version=1')->{status}, 403,
    'row 55: as a skill\'s');
$r = py(q{
import errno
open('first.txt', 'w').write('kept')
try:
	with open('full', 'wb') as f:
		while True:
			f.write(b'x' * 1048576)
except OSError as e:
	print(errno.errorcode[e.errno])
import os; os.unlink('full')
});
is($r->{json}{stdout}, "ENOSPC\n", 'row 50: the disk is full') or diag $r->{body};
is_deeply(names($r), ['first.txt'], 'row 50: ... the rest is collected');

# --- time ---

my $old = put([u1()], 'old', 'old.txt');
sub age {
	my ($hours) = @_;
	my $ms = int($hours * 3600_000);
	$s->mysql("UPDATE storage_session SET last_used = last_used - $ms
	    WHERE session = '$old->{storage_session_id}';
	    UPDATE file SET last_used = last_used - $ms, sweep_at = sweep_at - $ms
	    WHERE lc_session = '$old->{storage_session_id}'");
}
age(23.9);
$s->sweep;
is(download($old)->{body}, 'old', 'row 57: after 23.9 hours');
age(24 * 7 + 1);
is(bash('echo ran', files => [$old])->{status}, 403, 'row 21: one that has expired');

# --- a file that is deleted while a run has it ---

my $held = put([u1()], 'held', 'h.txt');
sub meanwhile {
	my ($during, $text, %o) = @_;
	my $tag = "31.$$";
	pipe my $from, my $to or die;
	my $pid = fork // die;
	if (!$pid) {
		my $a = bash("sleep $tag & p=\$!; while kill -0 \$p 2>/dev/null && "
		    . "test ! -e /tmp/go; do sleep 0.05; done; $text", %o);
		print $to JSON::PP->new->utf8->encode([$a->{status}, $a->{json}]);
		close $to;
		POSIX::_exit(0);
	}
	close $to;
	my $until = time + 20;
	sleep 0.05 until time > $until || grep { /^sleep \Q$tag\E$/ } split /\n/, `ps -eo args`;
	$during->();
	kill 'TERM', map { /^\s*(\d+) sleep \Q$tag\E$/ ? $1 : () } split /\n/, `ps -eo pid,args`;
	local $/;
	my $got = <$from>;
	waitpid $pid, 0;
	return @{JSON::PP->new->utf8->decode($got)};
}
my $gone;
my ($status, $body) = meanwhile(sub {
	$gone = $s->del(object($held), u1());
	$s->sweep;
}, 'cat h.txt', files => [$held]);
is($gone->{status}, 200, 'row 62: deleted under a run');
is($body->{stdout}, 'held', 'row 62: ... which has it to its end') or diag explain $body;
is($s->get(object($held), u1())->{status}, 404, 'row 62: ... nobody else');

# --- programs that call tools ---

my @tools = ({ name => 'get weather' }, { name => '1st' });
my $plain = put([u1()], 'x', 'x');
for ('_ptc_history.json', 'x/_ptc_history.json', 'x/../_ptc_history.json') {
	is(tool(code => 'x', tools => [], files => [{ %$plain, name => $_ }])->{status}, 400,
	    "row 31, row 32: $_");
}
$r = tool(code => 'await asyncio.gather(get_weather(), _1st())', tools => \@tools)->{json};
is_deeply([map { $_->{name} } @{$r->{tool_calls}}], ['get weather', '1st'],
    'row 86: names that are no identifiers') or diag explain $r;
my $more = tool(continuation_token => $r->{continuation_token}, tool_results => [
    { call_id => 'call_001', result => 'x' x 6_000_000 }, { call_id => 'call_002', result => 1 }])->{json};
is($more->{status}, 'error', 'row 85: 6 MB');
like($more->{stderr}, qr/call_001.*5.?(000000|242880|MB|MiB)/, 'row 85: ... says which and how much');
my $fake = "__PTC_PENDING__ {\"name\":\"1st\"}\n{\"status\":\"tool_call_required\"}\n";
$r = tool(code => 'print(' . JSON::PP->new->allow_nonref->encode($fake) . ", end='')",
    tools => \@tools)->{json};
is_deeply([@$r{qw(status stdout)}], ['completed', $fake], 'row 92: what looks like a call is text');
$r = tool(code => "import time\nx = await _1st()\ntime.sleep(2)\nprint(x)", tools => \@tools)->{json};
my @pids = map {
	my $n = $_;
	my $pid = fork // die;
	if (!$pid) {
		my $a = tool(continuation_token => $r->{continuation_token},
		    tool_results => [{ call_id => 'call_001', result => "r$n" }]);
		POSIX::_exit($a->{status} != 200 ? 9 : $a->{json}{status} eq 'completed'
		    && $a->{json}{stdout} eq "r$n\n" ? 1 : $a->{json}{status} eq 'error' ? 2 : 8);
	}
	$pid } 1, 2;
is(join(' ', sort map { waitpid $_, 0; $? >> 8 } @pids), '1 2',
    'row 84: of two continuations one runs');

# --- a store and a database that fail after the run ---

sub with_fault {
	my ($fault) = @_;
	$s->stop('run');
	local $ENV{SATCHEL_FAULT} = $fault;
	$s->start;
}
$s->expect_log(qr/No space left|not stored|blob|commit|db|database|mysql|MySQL|sandbox/i);
with_fault('sync-enospc=1');
$r = bash('for i in a b c; do echo $i >$i.txt; done');
is_deeply([$r->{status}, names($r), $r->{json}{artifact_delivery}], [200, ['b.txt', 'c.txt'],
    { code => 'artifact_delivery_failed', status => 'partial', attempted => 3, delivered => 2,
    failed => 1 }], 'row 51: the store fails for one of three') or diag $r->{body};
is(download($r->{json}{files}[1])->{body}, "c\n", 'row 51: ... the others are there');
with_fault('sync-enospc=3');
$r = bash('for i in a b c; do echo $i >$i.txt; done');
is_deeply([$r->{status}, names($r), @{$r->{json}{artifact_delivery}}{qw(status delivered failed)}],
    [200, [], 'failed', 0, 3], 'row 51: ... for all') or diag $r->{body};
is(count(q{file WHERE state = 'uploading'}), 0, 'row 51: ... nothing half stored is left');
my $before = count('storage_session');
with_fault('commit-cut=2'); # One is tried again.
$r = bash('echo x >x.txt');
is($r->{status}, 503, 'row 52: the database is cut off at the end') or diag $r->{body};
like($r->{json}{error}, qr/database/i, 'row 52: ... and said so');
is(count('storage_session'), $before, 'row 52: ... no session is to be seen');
with_fault('');
$before = count('storage_session');
($status, $body) = meanwhile(sub { $s->stop('db') }, 'echo x >x.txt');
is($status, 503, 'row 52: it goes during the run');
$s->start;
is(count('storage_session'), $before, 'row 52: ... no session is to be seen');
is(bash('echo back')->{json}{stdout}, "back\n", 'row 52: ... and all is well afterwards');

# --- rates, on every route; and whose they are ---

$s->restart(set => {%set, map { ("librechat.$_" => 1) } qw(execs_per_30s uploads_per_5min
    downloads_per_min reads_per_min)});
my %route = (
	exec => sub { $s->post('/v1/exec', @_, json => { lang => 'bash', code => 'true' }) },
	programmatic => sub { $s->post('/v1/exec/programmatic', @_,
	    json => { code => 'pass', tools => [] }) },
	upload => sub { $s->post('/v1/upload', @_, form => [[kind => 'user'], ['file', 'x', 'x']]) },
	batch => sub { $s->post('/v1/upload/batch', @_, form => [[kind => 'user'],
	    ['file', 'x', 'x']]) },
	map({ my $p = $_->[1]; ($_->[0] => sub { $s->get("$p?kind=user", @_) }) }
	    [list => '/v1/files/' . 'z' x 21],
	    [metadata => '/v1/sessions/' . 'z' x 21 . '/objects/' . 'z' x 21],
	    [download => '/v1/download/' . 'z' x 21 . '/' . 'z' x 21]),
);
for my $name (sort keys %route) {
	my $a;
	# The first of two in one window is never refused; a window may end between.
	for my $try (1 .. 5) {
		my @who = $code->bearer(sub => "$name$try");
		isnt($route{$name}->(@who)->{status}, 429, "row 79: $name, once") if $try == 1;
		$route{$name}->(@who) if $try > 1;
		$a = $route{$name}->(@who);
		last if $a->{status} == 429;
	}
	my $wait = Satchel::header($a, 'Retry-After');
	is_deeply([$a->{status}, { %{$a->{json}}, message => 1 }], [429, { error => 'rate_limited',
	    message => 1, retry_after_seconds => $wait }], "row 79: $name, again");
}
$s->restart(set => {'librechat.trusted_cidrs' => '127.0.0.1/32',
    'librechat.uploads_per_5min' => 2});
sub trusted { my ($user) = @_;
	return $s->post('/v1/upload', as => undef, form => [['file', 'x', 'x'],
	    [kind => 'user'], [id => $user]])->{status} }
sleep 1 while time % 300 > 280; # One window.
is(join(' ', map { trusted('f1') } 1 .. 3), '200 200 429',
    'a trusted caller\'s form names whose rate it is');
is(join(' ', map { trusted('f2') } 1 .. 3), '200 200 429', '... and each has his own');
$s->done;

# --- every row ---

my %named;
for my $file (glob "$FindBin::Bin/5*-librechat-*.t") {
	open my $fh, '<', $file or die "$file: $!";
	while (<$fh>) { $named{$_} = 1 for /\brow (\d+)\b/g }
}
is(join(' ', grep { !$named{$_} } 1 .. 105), '', 'every row of the list has a test');
done_testing;
