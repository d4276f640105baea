#!/usr/bin/perl

# What has gone wrong for people who run LibreChat with a code interpreter, each
# case under its name.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Find qw(find);
use JSON::PP ();
use Test::More;
use Code;
use Satchel;

my $code = Code->new;
my $s = Satchel->new(set => {'librechat.jwt.pem_dir' => $code->{pem_dir},
    'librechat.execs_per_30s' => 0, 'librechat.max_bytes' => 1000});
# A key of the tenant's, for a user whom a token has made: id=u1 is the key's own.
$s->get('/v1/files/' . 'q' x 21 . '?kind=user', $code->bearer(sub => 'u1'));
my $r = $s->admin('--json', 'key', 'create', '--tenant', 'legacy', '--user', 'u1');
$s->{key}{u1} = $r->{json}{key} or die($r->{err});
my @u1 = (as => 'u1');
my $true = JSON::PP::true;

sub upload { my (@form) = @_; return $s->post('/v1/upload', @u1, form => \@form) }
sub batch { my (@form) = @_; return $s->post('/v1/upload/batch', @u1, form => \@form) }
sub run_ { my ($lang, $text, @files) = @_;
	return $s->post('/v1/exec', @u1, timeout => 60,
	    json => { lang => $lang, code => $text, files => \@files }) }
sub refs { my ($up, %o) = @_;
	return map { { id => $_->{fileId}, storage_session_id => $up->{json}{storage_session_id},
	    name => $_->{filename}, kind => 'user', resource_id => 'u1', %o } } @{$up->{json}{files}} }
sub tool { my ($who, %body) = @_;
	return $s->post('/v1/exec/programmatic', @$who, timeout => 60, json => \%body) }
my @user = ([kind => 'user'], [id => 'u1']);

subtest 'lc-all-files-each-run' => sub {
	my $one = batch(@user, ['file', 'a', 'a.txt'], ['file', 'b', 'b.txt']);
	my $two = upload(@user, ['file', 'c', 'c.txt']);
	my @refs = (refs($one), refs($two));
	for my $run (1, 2) {
		my $r = run_('py', 'import os; print(*sorted(os.listdir("/mnt/data")))', @refs);
		is("$r->{status} $r->{json}{stdout}", "200 a.txt b.txt c.txt\n", "run $run has all three");
	}
	$s->del("/v1/files/$refs[2]{storage_session_id}/$refs[2]{id}", @u1, headers => ['User-Id' => 'u1']);
	my $before = ($s->mysql('SELECT COUNT(*) FROM file'))[0][0];
	my $r = run_('py', 'open("ran", "w").write("x")', @refs);
	is($r->{status}, 403, 'one that is gone');
	like($r->{json}{message}, qr/^files\[2\] is not there/, '... is named');
	is(($s->mysql('SELECT COUNT(*) FROM file'))[0][0], $before, '... and nothing has run');
};

subtest 'lc-auth-ways' => sub {
	my %o = (as => undef, json => { lang => 'py', code => 'print(1)' });
	my $now = time;
	my @ask = ([200, 'x-api-key' => $s->{key}{u1}],
	    map({ [$_->[0], Authorization => 'Bearer ' . $code->token(@{$_->[1]})] }
		[200, []], [401, [iat => $now - 900, nbf => $now - 900, exp => $now - 600]],
		[401, [head => { alg => 'none' }]], [401, [aud => 'other']]), [401]);
	my @words = ('key', 'token', 'expired', 'alg none', 'wrong audience', 'nothing');
	for my $i (0 .. $#ask) {
		my ($want, @headers) = @{$ask[$i]};
		my $a = $s->post('/v1/exec', %o, headers => \@headers);
		is($a->{status}, $want, $words[$i]);
		unlike($a->{body}, qr/expire|aud|alg|kid/, '... and no reason') if $want == 401;
	}
	my $log = join "\n", map { $_->{msg} // '' } $s->log;
	like($log, qr/refused: .*$_/, "the log says which: $_") for 'it has expired', 'aud', 'alg';
};

sub bytes { my $n = 0; find(sub { $n++ if -f && -s _ == 9 }, $s->{root}); return $n }
subtest 'lc-delete-twice' => sub {
	my $up = upload(@user, ['file', 'nine byte', 'd.txt']);
	my ($ref) = refs($up);
	my $path = "sessions/$ref->{storage_session_id}/objects/$ref->{id}";
	is(run_('bash', 'cat d.txt', $ref)->{json}{stdout}, 'nine byte', "conversation $_ has it") for 1, 2;
	is(bytes(), 1, 'its bytes are there');
	is($s->del("/v1/$path?kind=user&id=u1", @u1)->{status}, 200, 'the first path');
	is($s->del("/v1/$path", @u1)->{status}, 404, '... again');
	is($s->del("/v1/files/$ref->{storage_session_id}/$ref->{id}", @u1)->{status}, 404, 'the second path');
	is($s->del("/v1/$path", as => 'bob')->{status}, 404, 'another key');
	my $r = run_('bash', 'cat d.txt', $ref);
	is("$r->{status} $r->{json}{error}", '403 Unauthorized file reference', 'a reference to it fails');
	$s->mysql('UPDATE file SET sweep_at = 1 WHERE state = \'dead\'');
	$s->sweep;
	is(bytes(), 0, 'its bytes are reclaimed');
};

subtest 'lc-fresh-last-modified' => sub {
	my $up = upload(@user, ['file', 'x', 'f.txt']);
	my ($ref) = refs($up);
	my ($ago, $used) = (30 * 3600_000, (time - 60) * 1000);
	$s->mysql("UPDATE file SET last_used = last_used - $ago, created = created - $ago / 1000
	    WHERE lc_object = '$ref->{id}'; UPDATE storage_session SET last_used = $used
	    WHERE session = '$ref->{storage_session_id}'");
	for my $q ('detail=summary', 'detail=full&kind=user&id=u1') {
		my $a = $s->get("/v1/files/$ref->{storage_session_id}?$q", @u1);
		is($a->{status}, 200, $q) or diag $a->{body};
		my @t = gmtime int($used / 1000);
		is($a->{json}[0]{lastModified} =~ s/\.\d+Z$//r, sprintf('%04d-%02d-%02dT%02d:%02d:%02d',
		    $t[5] + 1900, $t[4] + 1, @t[3, 2, 1, 0]), '... shows the last use of the session');
	}
	my $a = $s->get('/v1/files/' . 'q' x 21 . '?detail=summary', @u1);
	is("$a->{status} $a->{body}", '200 []', 'an unknown session is an empty list');
	$a = run_('bash', 'echo nothing made');
	$a = $s->get("/v1/files/$a->{json}{session_id}?detail=summary", @u1);
	is("$a->{status} $a->{body}", '200 []', '... and so is that of a run which made no files');
};

subtest 'lc-inherited-inputs' => sub {
	my $skill = batch([kind => 'skill'], [id => 's1'], [version => '3'], [read_only => 'true'],
	    ['file', 'as it was', 'pptx/SKILL.md']);
	my ($sk) = refs($skill, kind => 'skill', resource_id => 's1', version => 3);
	my ($in) = refs(upload(@user, ['file', "a,b\n", 'in.csv']));
	my $r = run_('bash', 'chmod u+w pptx/SKILL.md; echo other >pptx/SKILL.md; cat in.csv >out.txt',
	    $sk, $in);
	my %by = map { $_->{name} => $_ } @{$r->{json}{files}};
	is_deeply([map { [$_, $by{$_}{inherited}] } sort keys %by], [['in.csv', $true], ['out.txt', undef],
	    ['pptx/SKILL.md', $true]], 'one list, and what was made') or diag $r->{body};
	is($by{'pptx/SKILL.md'}{id}, $sk->{id}, 'the skill is itself');
	is($s->get("/v1/download/$sk->{storage_session_id}/$sk->{id}?kind=skill&id=s1&version=3", @u1)
	    ->{body}, 'as it was', '... with its bytes');
};

subtest 'lc-nested-names' => sub {
	my $up = batch(@user, map { ['file', "of $_", $_] } 'skillA/SKILL.md', 'skillB/SKILL.md',
	    'skillA/ref/x.md');
	is_deeply([map { $_->{filename} } @{$up->{json}{files}}], ['skillA/SKILL.md', 'skillB/SKILL.md',
	    'skillA/ref/x.md'], 'folders are kept');
	my @flat = map { upload(@user, ['file', 'x', $_]) } '.git/config', 'a/../../b';
	is(join(' ', map { $_->{json}{files}[0]{filename} } @flat), 'config b', 'what is not safe is flattened');
	my $r = run_('bash', 'cat skillA/SKILL.md skillB/SKILL.md; find / -xdev \( -name .git -o -path /b \) '
	    . '2>/dev/null; cd /mnt/data && echo; find . -type f | sort',
	    refs($up), map { refs($_) } @flat);
	is($r->{json}{stdout}, "of skillA/SKILL.mdof skillB/SKILL.md\n./b\n./config\n./skillA/SKILL.md\n"
	    . "./skillA/ref/x.md\n./skillB/SKILL.md\n", 'each where it belongs') or diag $r->{body};
};

subtest 'lc-upload-answer' => sub {
	my $a = upload(@user, ['file', 'x', 'data.csv'])->{json};
	is_deeply($a, { message => 'success', storage_session_id => $a->{storage_session_id},
	    session_id => $a->{storage_session_id}, files => [{ fileId => $a->{files}[0]{fileId},
	    filename => 'data.csv' }] }, 'one');
	like($a->{storage_session_id}, qr/^[A-Za-z0-9_-]{21}$/, '... a session');
	my @skill = ([kind => 'skill'], [id => 's1'], [version => '3'], [read_only => 'true']);
	$a = batch(@skill, ['file', 'x', 'one'], ['file', 'y', 'two'])->{json};
	is_deeply([@$a{qw(message session_id succeeded failed)}, map { $_->{filename} } @{$a->{files}}],
	    ['success', $a->{storage_session_id}, 2, 0, 'one', 'two'], 'two');
	$a = batch(@skill, ['file', 'x', 'one'], ['file', 'y' x 2000, 'two'])->{json};
	is_deeply([$a->{message}, map { "$_->{filename} $_->{status}" } @{$a->{files}}],
	    ['partial_success', 'one success', 'two error'], 'one of two is too large');
};

my @tools = ({ name => 'look' });
subtest 'ptc-error-words' => sub {
	my %end = (
		'Time limit exceeded' => [code => 'while True: pass', timeout => 1000],
		'Out of memory' => [code => "a = []\nwhile True:\n    a.append(bytearray(50 << 20))"],
		'Sandbox exited with code 3' => [code => "import sys\nsys.stderr.write('why')\nexit(3)"],
		'Sandbox requested an unregistered tool: other' => [code => 'import os; '
		    . 'os.write(200, b"\0\0\0\x1b{\"name\":\"other\",\"input\":{}}\0\0\0\0"); await asyncio.sleep(9)'],
	);
	for (sort keys %end) {
		my $a = tool(\@u1, tools => \@tools, @{$end{$_}});
		is_deeply([$a->{status}, @{$a->{json}}{qw(status error)}], [200, 'error', $_], $_)
		    or diag $a->{body};
	}
	like(tool(\@u1, tools => \@tools, @{$end{'Sandbox exited with code 3'}})->{json}{stderr},
	    qr/^why/, 'stderr comes with it');
	my $a = tool(\@u1, tools => \@tools, lang => 'bash',
	    code => "x=\$(head -c 900000000 /dev/zero | tr '\\0' x)");
	is($a->{json}{error}, 'Out of memory', 'in bash too') or diag $a->{body};
	# The pending call has a channel of its own: no output cuts it off.
	$a = tool(\@u1, tools => \@tools, code => "for i in range(40):\n    print('x' * 1048576)\nawait look()");
	is_deeply([$a->{json}{status}, map { $_->{name} } @{$a->{json}{tool_calls}}],
	    ['tool_call_required', 'look'], 'stdout beyond its cap does not hide the call');
	$a = tool(\@u1, continuation_token => 'unknown', tool_results => []);
	is_deeply([$a->{status}, $a->{json}{status}], [200, 'error'], 'an unknown token');
	ok($a->{json}{error}, '... is told');
};

subtest 'ptc-token-owner' => sub {
	my $a = tool(\@u1, tools => \@tools, code => "print('secret')\nprint(await look())")->{json};
	my $t = $a->{continuation_token};
	my @right = ({ call_id => 'call_001', result => 'x', is_error => JSON::PP::false });
	my $unknown = tool(\@u1, continuation_token => 'unknown', tool_results => \@right)->{json};
	my $b = tool([as => 'bob'], continuation_token => $t, tool_results => \@right);
	is_deeply([$b->{status}, $b->{json}], [200, $unknown], 'B hears what an unknown token hears');
	$b = tool(\@u1, continuation_token => $t, tool_results => [{ call_id => 'made-up', result => 'x' }]);
	is_deeply([$b->{status}, $b->{json}{status}], [200, 'error'], 'a made-up call id');
	$b = tool(\@u1, continuation_token => $t);
	is_deeply([$b->{status}, $b->{json}{status}], [200, 'error'], 'a token alone is a continuation');
	is(tool(\@u1, continuation_token => $t, tool_results => \@right)->{json}{stdout}, "secret\nx\n",
	    'the run goes on with the right ids');
};

subtest 'ptc-tool-names' => sub {
	my $a = tool(\@u1, code => 'await asyncio.gather(get_user(user_name="u"), class_tool(), _9lives())',
	    tools => [{ name => 'get-user', description => 'ends in "', parameters => { type => 'object',
	    properties => { 'user-name' => { type => 'string', default => 'x' } } } },
	    { name => 'class' }, { name => '9lives' }]);
	is_deeply([$a->{status}, map { [$_->{name}, $_->{input}] } @{$a->{json}{tool_calls}}],
	    [200, ['get-user', { 'user-name' => 'u' }], ['class', {}], ['9lives', {}]],
	    'by their own names and keys') or diag $a->{body};
	$a = tool(\@u1, code => 'pass', tools => [{ name => 'a-b' }, { name => 'a_b' }]);
	is($a->{status}, 400, 'two of one identifier');
	like($a->{json}{error}, qr/"a-b".*"a_b"/, '... both named');
	$a = tool(\@u1, code => 'pass', tools => [{ name => '!!!' }]);
	is($a->{status}, 400, 'a name of nothing');
	like($a->{json}{error}, qr/!!!/, '... named');
};
$s->done;
done_testing;
