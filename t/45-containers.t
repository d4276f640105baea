#!/usr/bin/perl

# Containers: files and session that outlive a request, in every way of naming
# them; what becomes of them when the session dies, when another request is
# there, when their time is over; and the routes of OpenAI's SDK for them.

use strict;
use warnings;
use POSIX ();
use Test::More;
use Time::HiRes qw(time);
use Provider;
use Satchel qw(header);

sub bash {
	my ($command) = @_;
	return { calls => [{ name => 'bash_code_execution', arguments =>
	    { command => $command } }] };
}

my %models = (
	write => [bash('echo one >kept.txt; echo two >.hidden; mkdir -p d; '
	    . 'echo deep >d/deep.txt'), { text => 'Written.' }],
	look => [bash('cat kept.txt d/deep.txt .hidden; ls'), { text => 'Seen.' }],
	change => [bash('echo more >>kept.txt'), { text => 'Changed.' }],
	data => [bash('cat data*.csv; ls'), { text => 'Read.' }],
	plain => [{ text => 'Nothing to run.' }],
	long => [bash('sleep 19'), { text => 'Long.' }],
	busy => [bash('sleep 13'), { text => 'Rested.' }],
	brief => [bash('sleep 1'), { text => 'Brief.' }],
	slow => [bash('sleep 4; echo slow'), { text => 'Slept.' }],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->yaml('chat', 'openai-chat', models =>
    '["*"]'));
my @tools = ({ type => 'code_execution_20250825', name => 'code_execution' });

sub ask {
	my ($model, %o) = @_;
	$p->forget;
	return $s->post('/v1/messages', ant => 1, as => $o{as} // 'alice',
	    timeout => 60, json => { model => $model, max_tokens => 500,
	    tools => \@tools, messages => [{ role => 'user', content => $o{content}
	    // 'Go.' }], $o{container} ? (container => $o{container}) : () });
}

sub out {
	my ($r) = @_;
	my ($x) = grep { $_->{type} =~ /_tool_result$/ } @{$r->{json}{content} // []};
	return $x ? $x->{content}{stdout} : "no run: $r->{status} $r->{body}";
}

# Ask about a document that must be read in the sandbox: one of its own each time.
my $documents = 0;
sub read_one {
	my $n = ++$documents;
	my $file = $s->upload("<p>Page <b>$n</b> of it</p>", name => "$n.html",
	    type => 'text/html')->{json}{id};
	$p->forget;
	return $s->post('/v1/messages', ant => 1, timeout => 60, json => {
	    model => 'plain', max_tokens => 50, messages => [{ role => 'user',
	    content => [{ type => 'document', source => { type => 'file',
	    file_id => $file } }] }] });
}

# Have ${n} requests run for a while, each in a container of its own.
sub keep_busy {
	my ($n) = @_;
	my @pids = map {
		my $pid = fork // die $!;
		if (!$pid) {
			ask('busy');
			POSIX::_exit(0);
		}
		$pid;
	} 1 .. $n;
	my $end = time + 30;
	select(undef, undef, undef, 0.05) while time < $end
	    && rows("container WHERE lease <> 0 AND session > ''") < $n;
	return @pids;
}

# What the model was told last.
sub told { return (map { $_->{json}{messages}[-1]{content} } $p->requests)[-1] }
sub rows { return ($s->mysql("SELECT COUNT(*) FROM $_[0]"))[0][0] }
sub sessions {
	return $s->get('/health', port => $s->{sandbox_port}, as => undef)
	    ->{json}{session_count};
}

my ($r, @f);

# --- over several requests ---

$r = ask('plain');
is($r->{json}{container}, undef, 'no run: no container');
is(rows('container') . ' ' . sessions(), '0 0', '... and none is left');
$r = ask('write');
my $id = $r->{json}{container}{id};
like($id, qr/^container_gw_[0-9a-z]{20}$/, 'a run: a container');
like($r->{json}{container}{expires_at}, qr/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
    '... which expires');
$r = ask('look', container => $id);
is(out($r), "one\ndeep\ntwo\nd\nkept.txt\n", 'the next request finds its files');
is($r->{json}{container}{id}, $id, '... in the same container');
is(rows('container') . ' ' . sessions(), '1 1', '... and session');
(my $bare = $id) =~ s/^container_gw_//;
is(out(ask('look', container => { id => "cntr_gw_$bare" })),
    "one\ndeep\ntwo\nd\nkept.txt\n", 'by its other name, in an object');
$r = ask('plain', container => $id);
is($r->{json}{container}, undef, 'nothing run in it: it is not shown');
is(rows('container'), 1, '... but stays');
for my $odd ("\x{e9}" x 10, "\x{e9}" x 20, ' ' x 20, "\x{1f600}" x 5) {
	is(ask('look', container => "container_gw_$odd")->{status}, 404,
	    'nobody has a container of an id that is none');
}
for my $odd ('%C3%A9' x 10, '%ff' x 20) {
	is($s->get("/v1/containers$_")->{status}, 404, "... nor by $_")
	    for "/cntr_gw_$odd", "/cntr_gw_$odd/files", "?after=cntr_gw_$odd";
	is($s->del("/v1/containers/cntr_gw_$odd")->{status}, 404, '... to delete');
}
isnt(ask('look', container => 'container_011CPR5CNjB747bTd36fQLFk')->{json}{container}{id},
    $id, 'a provider\'s container counts as absent');

# --- files put there ---

@f = map { $s->upload($_, name => 'data.csv')->{json}{id} } "a\n", "b\n";
sub uploads { return [map { { type => 'container_upload', file_id => $_ } } @_] }
$r = ask('data', container => $id, content => uploads($f[0]));
is(out($r), "a\nd\ndata.csv\nkept.txt\n", 'an upload joins them');
$r = ask('data', container => $id, content => uploads(@f));
is(out($r), "a\nb\nd\ndata.csv\ndata_2.csv\nkept.txt\n",
    'again: it is there once; another of that name gets its own');
like(($p->requests)[0]{json}{messages}[-1]{content},
    qr{^\[file /mnt/data/data\.csv - uploaded as "data\.csv", text/csv, 2 bytes\]\n\[file /mnt/data/data_2\.csv - uploaded as "data\.csv"},
    'the model is told both');
my $hidden = $s->upload("c\n", name => 'kept.txt')->{json}{id};
ask('data', container => $id, content => uploads($hidden));
like(($p->requests)[0]{json}{messages}[-1]{content},
    qr{/mnt/data/kept_2\.txt - uploaded as "kept\.txt"},
    'nor does one take the name of what code wrote');
$s->del("/v1/files/$f[1]");
$r = ask('data', container => $id, content => uploads($f[1]));
is($r->{status}, 404, 'a deleted file in the newest turn is not there');

# --- the session dies ---

sub end_session {
	my ($session) = $s->mysql("SELECT session FROM container WHERE pid = '$bare'");
	return $s->request('DELETE', "/sessions/$session->[0]", as => undef,
	    port => $s->{sandbox_port})->{status};
}
ask('change', container => $id);
my ($path) = map { $_->[0] } $s->mysql("SHOW TABLES");
ok($path, 'tables');
my $gone = end_session();
like($gone, qr/^20[04]$/, 'the session is ended behind our back');
$r = ask('look', container => $id);
is(out($r), "one\nmore\ndeep\nd\ndata.csv\nkept.txt\nkept_2.txt\n",
    'what was uploaded and what code wrote is there again, as it was last');
like(told(), qr/\nthe sandbox was started anew: .* others are gone$/,
    '... and the model is told that the rest is gone') or diag(told());
is($r->{json}{container}{id}, $id, '... in the same container');
$r = ask('look', container => $id);
unlike(told(), qr/gone/, 'told once');

# --- another request is there ---

$s->mysql("UPDATE container SET lease = 1, lease_until = 99999999999999 WHERE pid = '$bare'");
my $t0 = time;
$r = ask('look', container => $id);
cmp_ok(time - $t0, '>=', 4.5, 'executor row 48: somebody works there: it waits');
is("$r->{status} $r->{json}{error}{type}", '409 invalid_request_error', '... then says so');
is(header($r, 'retry-after-ms'), 2000, '... and when to come back');
is(scalar($p->requests), 0, '... before the model is asked');
$s->mysql("UPDATE container SET lease_until = 1 WHERE pid = '$bare'");
is(ask('look', container => $id)->{status}, 200, 'a lease that lapsed is nobody\'s');
my @both = map {
	my $pid = open(my $h, '-|') // die $!;
	if (!$pid) {
		my $x = ask('slow', container => $id);
		print "$x->{status} " . out($x);
		$| = 1;
		require POSIX;
		close(STDOUT);
		POSIX::_exit(0);
	}
	$h;
} 1 .. 2;
is(join('', sort map { <$_> } @both), "200 slow\n200 slow\n",
    'two at once: one waits for the other');

# A lease is good for 45 seconds and renewed every 15 for as long as it is held.
sub lease { return ($s->mysql("SELECT lease, lease_until FROM container WHERE pid = '$bare'"))[0] }
my $long = fork // die $!;
if (!$long) {
	ask('long', container => $id);
	require POSIX;
	POSIX::_exit(0);
}
my $until = time + 30;
select(undef, undef, undef, 0.1) while !lease()->[0] && time < $until;
my @first = @{lease()};
$until = time + 30;
select(undef, undef, undef, 0.5) while lease()->[1] == $first[1] && time < $until;
my @later = @{lease()};
is($later[0], $first[0], 'a run that goes on keeps its lease');
cmp_ok($later[1], '>', $first[1], '... which is renewed');
waitpid($long, 0);
is_deeply(lease(), [0, 0], '... and given up at its end');

# --- over, foreign, unknown ---

for my $who (qw(carol bob)) {
	$r = ask('look', container => $id, as => $who);
	is("$r->{status} $r->{json}{error}{type}", '404 not_found_error',
	    "executor row 47: ${who}'s it is not");
}
is(ask('look', container => "container_gw_' OR 1")->{status}, 404, 'no id at all');
is(ask('look', container => 'container_gw_0')->{status}, 404, '... nor one too short');
$r = ask('look', container => 'container_gw_' . '0' x 20);
is($r->{status}, 200, 'one that nobody knows may have been forgotten: another takes its place')
    or diag($r->{body});
isnt($r->{json}{container}{id}, 'container_gw_' . '0' x 20, '... under an id of its own');
$s->mysql("UPDATE container SET expires = 1 WHERE pid = '$bare'");
for my $stream (0, 1) {
	$r = ask('look', container => $id, $stream ? (stream => JSON::PP::true) : ());
	is($r->{status}, 200, 'expired: another takes its place') or diag($r->{body});
	my ($new) = $r->{body} =~ /"id":"(container_gw_[0-9a-z]{20})"/;
	isnt($new, $id, '... whose id the answer carries');
	my ($told) = map { $_->{content} } grep { $_->{role} eq 'tool' }
	    @{($p->requests)[-1]{json}{messages}};
	like($told, qr/one\n?.*kept\.txt/s, '... with the files of the first');
	like($told, qr/others are gone/, '... and the model is told what is not there');
	is($s->get("/v1/containers/$new")->{json}{status}, 'running', '... it is alive');
}
$r = ask('look', container => $id, as => 'carol');
is($r->{status}, 200, 'an id whose time is over tells nobody whose it was');
unlike((map { $_->{content} } grep { $_->{role} eq 'tool' } @{($p->requests)[-1]{json}{messages}})[0],
    qr/^one$/m, '... nor anything of what was in it');
is($s->del("/v1/containers/$r->{json}{container}{id}", as => 'carol')->{status}, 200, '(gone again)');
$r = $s->post('/v1/responses', json => { model => 'look', input => 'x', tools => [{ type =>
    'code_interpreter', container => "cntr_gw_$bare" }] });
is("$r->{status} $r->{json}{error}{code}", '400 container_expired',
    'executor row 46: but Responses says so');
is($s->get("/v1/containers/$id")->{json}{status}, 'expired', 'its route says so too');
is($s->get("/v1/containers/$id/files")->{json}{error}{code}, 'container_expired',
    '... and its files are closed');
$s->mysql("UPDATE container SET expires = created + 1200000 WHERE pid = '$bare'");

# --- the routes ---

my $c = $s->get("/v1/containers/cntr_gw_$bare")->{json};
is_deeply($c, { id => "cntr_gw_$bare", object => 'container', name => 'auto',
    created_at => $c->{created_at}, last_active_at => $c->{last_active_at},
    status => 'running', expires_after => { anchor => 'last_active_at',
    minutes => 20 }, memory_limit => '1g', network_policy => { type =>
    'disabled' } }, 'retrieve');
$r = $s->get("/v1/containers/$id/files?order=asc");
is_deeply([map { "$_->{path} $_->{source} $_->{bytes}" } @{$r->{json}{data}}],
    ['/mnt/data/d/deep.txt assistant 5', '/mnt/data/data.csv user 2',
    '/mnt/data/kept_2.txt user 2', '/mnt/data/kept.txt assistant 9'],
    'its files, oldest first, each as it is now') or diag(explain($r->{json}));
my ($deep) = grep { $_->{path} =~ /deep/ } @{$r->{json}{data}};
is_deeply($deep, { id => $deep->{id}, object => 'container.file', container_id =>
    "cntr_gw_$bare", created_at => $deep->{created_at}, bytes => 5, path =>
    '/mnt/data/d/deep.txt', source => 'assistant' }, 'the object of one');
like($deep->{id}, qr/^cfile_[0-9a-f]{32}$/, '... its id');
is_deeply($s->get("/v1/containers/$id/files/$deep->{id}")->{json}, $deep, 'retrieve one');
(my $file = $deep->{id}) =~ s/^cfile_/file-/;
is($s->get("/v1/containers/$id/files/$file/content")->{body}, "deep\n",
    'content, by another name of the same row');
is($s->get("/v1/files/$deep->{id}/content")->{body}, "deep\n", '... and as a file');
my @seen;
my $after = '';
for (1 .. 10) {
	$r = $s->get("/v1/containers/$id/files?limit=1&order=asc$after");
	push @seen, map { $_->{path} } @{$r->{json}{data}};
	last unless $r->{json}{has_more};
	$after = "&after=$r->{json}{last_id}";
}
is(scalar(@seen), 4, 'a page at a time');
is($s->get("/v1/containers/$id/files/$f[0]")->{status}, 200, 'an upload is one of them');
is($s->get("/v1/containers/$id/files/$f[1]")->{status}, 404, 'a deleted one is not');

$r = $s->post('/v1/containers', json => { name => 'work', file_ids => [$f[0]],
    expires_after => { anchor => 'last_active_at', minutes => 5 },
    memory_limit => '64g', skills => [], network_policy => { type => 'allowlist',
    allowed_domains => ['example.com'], domain_secrets => [{ domain => 'example.com',
    name => 'k', value => 'hidden' }] } });
is($r->{status}, 200, 'create') or diag($r->{body});
my $work = $r->{json}{id};
is_deeply([@{$r->{json}}{qw(name status memory_limit)}, $r->{json}{expires_after}{minutes}],
    ['work', 'running', '1g', 5], '... as it was asked for, as far as that holds');
is_deeply($r->{json}{network_policy}, { type => 'disabled' }, '... there is no network');
unlike($r->{body}, qr/hidden/, '... and a secret is not told');
for (['skills', [{ type => 'skill_reference', skill_id => 's' }]],
    ['network_policy', { type => 'open' }], ['network_policy', { type => 'allowlist',
    allowed_domains => [] }], ['network_policy', 'disabled'], ['memory_limit', '2g'],
    ['memory_limit', 4]) {
	my ($member, $value) = @$_;
	$r = $s->post('/v1/containers', json => { name => 'x', $member => $value });
	is("$r->{status} $r->{json}{error}{param}", "400 $member", "refused by its name: "
	    . JSON::PP->new->canonical->allow_nonref->encode($value));
	$r = $s->post('/v1/responses', json => { model => 'look', input => 'x', tools => [{ type =>
	    'code_interpreter', container => { type => 'auto', $member => $value } }] });
	is("$r->{status} $r->{json}{error}{param}", "400 tools[0].container.$member",
	    '... in a tool too') or diag($r->{body});
}
for my $bad ({}, { name => '' }, { name => 'x', expires_after => { anchor =>
    'created_at', minutes => 5 } }, { name => 'x', expires_after => { anchor =>
    'last_active_at', minutes => 0 } }, { name => 'x', memory_limit => '2g' },
    { name => 'x', file_ids => 'f' }, { name => 'x', file_ids => [7] }) {
	is($s->post('/v1/containers', json => $bad)->{status}, 400,
	    'refused: ' . JSON::PP->new->canonical->encode($bad));
}
is($s->post('/v1/containers', json => { name => 'x', file_ids => [$f[1]] })->{status},
    404, 'a file that is gone');
$r = $s->post("/v1/containers/$work/files", form => [[file => "up\n", 'data.csv', 'text/csv']]);
is($r->{status}, 200, 'upload into it') or diag($r->{body});
is("$r->{json}{path} $r->{json}{source} $r->{json}{bytes}", '/mnt/data/data_2.csv user 3',
    '... under a name of its own');
my $up = $r->{json}{id};
is(out(ask('data', container => $work)), "a\nup\ndata.csv\ndata_2.csv\n",
    'code finds both');
$r = $s->post("/v1/containers/$work/files", json => { file_id => $hidden });
is("$r->{status} $r->{json}{path}", '200 /mnt/data/kept.txt', 'a stored file');
is(out(ask('data', container => $work)), "a\nup\ndata.csv\ndata_2.csv\nkept.txt\n",
    '... is put into the live session');
is($s->post("/v1/containers/$work/files", json => { file_id => $hidden })->{json}{path},
    '/mnt/data/kept.txt', '... once');
is($s->post("/v1/containers/$work/files", json => { file_id => $f[1] })->{status}, 404,
    'not one that is gone');
is($s->post("/v1/containers/$work/files", json => { id => 1 })->{status}, 400, 'nor none');
$r = $s->del("/v1/containers/$work/files/$up");
is_deeply($r->{json}, { id => $up, object => 'container.file.deleted', deleted =>
    JSON::PP::true }, 'delete one');
is(out(ask('data', container => $work)), "a\ndata.csv\nkept.txt\n", '... code no longer finds it');
is($s->get("/v1/files/$up")->{status}, 200, '... and the stored file stays');
is($s->del("/v1/containers/$work/files/$up")->{status}, 404, '... twice');
$s->mysql("UPDATE container SET lease = 1, lease_until = 99999999999999 WHERE name = 'work'");
is($s->post("/v1/containers/$work/files", form => [[file => "x\n", 'x.csv', 'text/csv']])->{status},
    409, 'while code runs there: later');
is(($s->mysql("SELECT COUNT(*) FROM file WHERE name = 'x.csv' AND state = 'live'"))[0][0], 0,
    '... and no stored file is left of it');
$s->mysql("UPDATE container SET lease = 0, lease_until = 0 WHERE name = 'work'");

my @list = map { $_->{id} } @{$s->get('/v1/containers')->{json}{data}};
is($list[0], $work, 'the list: newest first');
is(join(' ', sort @list), join(' ', sort map { "cntr_gw_$_->[0]" }
    $s->mysql("SELECT pid FROM container WHERE state = 'live'")), '... all of them');
@seen = ();
$after = '';
for (1 .. 10) {
	$r = $s->get("/v1/containers?limit=1$after");
	push @seen, map { $_->{id} } @{$r->{json}{data}};
	last unless $r->{json}{has_more};
	$after = "&after=$r->{json}{last_id}";
}
is("@seen", "@list", '... a page at a time');
is($s->get('/v1/containers?limit=101')->{status}, 400, '... of 100 at most');
is($s->get('/v1/containers', as => 'carol')->{json}{data}[0], undef, '... nobody else\'s');
$r = $s->del("/v1/containers/$work");
is_deeply($r->{json}, { id => $work, object => 'container.deleted', deleted =>
    JSON::PP::true }, 'delete');
is($s->$_("/v1/containers/$work")->{status}, 404, "$_ then finds nothing") for qw(get del);
is(ask('look', container => $work)->{status}, 404, 'nor does a model');
is(sessions(), rows("container WHERE state = 'live' AND session > ''"),
    'its session has ended with it');

# --- no room in the sandbox ---

$s->mysql('DELETE FROM container');
$s->restart(providers => $p->port, set => { 'sandbox.sessions_max' => 2 });
my @ids = map { ask('write')->{json}{container}{id} } 1 .. 3;
is(scalar(grep { defined } @ids), 3, 'three containers where there is room for two');
is(sessions(), 2, 'the one idle longest gave up its session');
is(out(ask('look', container => $ids[0])), "one\ndeep\nd\nkept.txt\n",
    '... and has its files again when it is wanted');
like(told(), qr/\nthe sandbox was started anew: .* others are gone$/,
    '... and the model is told that the rest is gone') or diag(told());

# A document is read in a session of its own.
$r = read_one();
is("$r->{status} " . (told() =~ /Page \*\*1\*\* of it/ ? 'read' : told()), '200 read',
    'a document is read though all sessions are taken: an idle one ends');
my @all = keep_busy(2);
$r = read_one();
is("$r->{status} " . ($r->{json}{error}{type} // 'answered'), '503 api_error',
    'where all are at work the caller is told');
cmp_ok(header($r, 'retry-after') // 0, '>', 0, '... and when to come back');
is(scalar($p->requests), 0, '... and no model is asked about what it cannot see');
waitpid $_, 0 for @all;
is(read_one()->{status}, 200, 'once one has ended it is read');

# --- one user with many ---

$s->mysql('DELETE FROM container');
$s->restart(providers => $p->port, set => { 'sandbox.sessions_per_user' => 2 });
my $there = sessions();
@ids = map { ask('write')->{json}{container}{id} } 1 .. 3;
is(sessions() - $there, 2, 'one more than a user may have takes the place of'
    . ' his own that is idle longest');
is(out(ask('look', container => $ids[0])), "one\ndeep\nd\nkept.txt\n",
    '... which loses no file');
like(told(), qr/\nthe sandbox was started anew: .* others are gone$/,
    '... and is told what else it lost') or diag(told());
my @busy = keep_busy(2);
$r = ask('write');
is("$r->{status} $r->{json}{error}{type}", '429 rate_limit_error',
    'where all of his are at work he is told');
like($r->{json}{error}{message}, qr/in 2 containers, which is as many/,
    '... why');
cmp_ok(header($r, 'retry-after') // 0, '>', 0, '... and when to come back');
is(scalar(grep { $_->{json}{model} eq 'write' } $p->requests), 0,
    '... before the model is asked');
is(out(ask('write', as => 'bob')), '', 'others are not');
is(read_one()->{status}, 200, 'one document is read beside them');
my $program = fork // die $!;
if (!$program) {
	$s->post('/v1/exec', timeout => 60, json => { lang => 'bash', code => 'sleep 9' });
	POSIX::_exit(0);
}
select undef, undef, undef, 1.5;
$r = read_one();
is("$r->{status} $r->{json}{error}{type}", '429 rate_limit_error',
    '... but it counts, as LibreChat\'s programs do');
is(scalar($p->requests), 0, '... and no model is asked');
waitpid $program, 0;
waitpid $_, 0 for @busy;
is(ask('write')->{status}, 200, 'nor is he once one has ended');

# Several at once with room for one: they take turns.
$s->mysql('DELETE FROM container');
$s->restart(providers => $p->port, set => { 'sandbox.sessions_per_user' => 1 });
my @turns = map {
	my $pid = fork // die $!;
	POSIX::_exit(ask('brief')->{status} == 200 ? 0 : 1) if !$pid;
	$pid;
} 1 .. 3;
is(join(' ', map { waitpid($_, 0); $? } @turns), '0 0 0',
    'three at once where one may run: each has its turn');
$s->done;
done_testing();
