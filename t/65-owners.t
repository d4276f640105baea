#!/usr/bin/perl

# Two users in each of two workspaces: for every route with an id in it and
# every id of somebody else's, the answer is that of an id never issued, and
# nothing has changed.  Routes come from the table itself, so that a new one is
# tested the day it is added.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Find;
use Test::More;
use Provider;
use Satchel;

my $upstream = Provider->new(script => 'demo');
my $s = Satchel->new(providers => $upstream->yaml('scripted', 'openai-chat',
    models => '["*"]'));
my @users = qw(alice carol bob dave);
my $r = $s->admin('user', 'create', 'other', 'dave');
is($r->{exit}, 0, 'a second user of the other workspace') or diag($r->{err});
$r = $s->admin('--json', 'key', 'create', '--workspace', 'other', '--user', 'dave');
$s->{key}{dave} = $r->{json}{key} or die("no key: $r->{err}");

is_deeply([map { $_->{id} } @{$s->get('/v1/models')->{json}{data}}], ['demo'],
    'the model of the demo is listed by name');

# What each user owns, as [kind, id].
my %own;
for my $u (@users) {
	my $live = $s->upload("of $u\n", as => $u, name => "$u.txt")->{json}{id};
	my $dead = $s->upload("of $u\n", as => $u)->{json}{id};
	my $old = $s->upload("of $u\n", as => $u)->{json}{id};
	is($s->del("/v1/files/$dead", as => $u)->{status}, 200, "$u has a deleted file");
	(my $bare = $old) =~ s/^file-//;
	$s->mysql("UPDATE file SET expires = created + 1, sweep_at = created + 1 WHERE pid = '$bare'");
	my $up = $s->post('/v1/uploads', as => $u, json => { bytes => 3,
	    filename => 'p', mime_type => 'text/plain', purpose => 'user_data' })->{json}{id};
	my $part = $s->post("/v1/uploads/$up/parts", as => $u,
	    form => [[data => 'abc', 'p', 'text/plain']])->{json}{id};
	ok($live && $old && $up && $part, "$u owns something of each kind");
	(my $hex = $live) =~ s/^file-//;
	my ($ws) = $s->mysql("SELECT workspace_name FROM api_key WHERE user_name = '$u'");
	my $response = $s->post('/v1/responses', as => $u, json => { model => 'demo',
	    input => 'x' })->{json}{id};
	my $container = $s->post('/v1/containers', as => $u, json => { name => 'c',
	    file_ids => [$live] })->{json}{id};
	$own{$u} = { responses => [$response], containers => [$container], workspaces => $ws, files => [$live, "file_$hex", "cfile_$hex", $dead, $old],
	    uploads => [$up], part => $part };
}

$upstream->forget;

# Routes with an id, as [method, path pattern]; a model is nobody's own.
open(my $f, '<', "$FindBin::Bin/../fcgi/routes.c") or die $!;
my @routes = map { [$_->[0], $_->[1]] } grep { $_->[1] =~ /\{(?!model)/ }
    map { [/\{ "(\w+)",\s+"([^"]+)"/] } grep { /\{ "\w+",\s+"/ } <$f>;
cmp_ok(scalar(@routes), '>=', 6, 'the table has routes with ids');

# Everything that a foreign call might have changed.
sub state_of {
	my @rows = map { join('|', map { $_ // 'NULL' } @$_) } map { $s->mysql("SELECT * FROM $_ ORDER BY 1") }
	    qw(file upload upload_part code_policy container container_file response
	    code_call);
	my @names;
	find(sub { push(@names, join(' ', $File::Find::name, (stat)[7])) if -f }, $s->{root});
	return join("\n", @rows, sort @names);
}

# Comparable: without the id and the request's own id.
sub shape {
	my ($a, $id) = @_;
	(my $body = $a->{body}) =~ s/\Q$id\E/ID/g;
	$body =~ s/req_\w+/REQ/g;
	return "$a->{status} $body";
}

my %body = (
	parts => [form => [[data => 'xyz', 'p', 'text/plain']]],
	'code-execution-policy' => [json => { enabled => JSON::PP::true }],
	complete => [json => { part_ids => ['part_' . '0' x 32] }],
);
# A workspace belongs to all who are in it.
sub is_foreign {
	my ($who, $whose, $kind) = @_;
	return $kind eq 'workspaces' ? $own{$who}{$kind}[0] ne $own{$whose}{$kind}[0]
	    : $who ne $whose;
}

my $before = state_of();
my %never = (files => 'file-' . '01a229f12800' . 'f' x 20, uploads => 'upload_' . 'f' x 32, containers => 'cntr_gw_' . 'f' x 20,
    responses => 'resp_gw_' . 'f' x 20, workspaces => 'nope');
for my $route (@routes) {
	my ($method, $pattern) = @$route;
	next if $pattern =~ /\{lcid\}/; # Its own rule: below.
	my ($kind) = $pattern =~ m{^/(\w+)/} or next;
	my ($tail) = $pattern =~ m{/([\w-]+)$};
	my @more = @{$body{$tail // ''} || []};
	ok($own{alice}{$kind}, "$pattern: the test knows ids of this kind") or next;
	for my $who (@users) {
		for my $ant (0, 1) {
			my $ask = sub {
				my ($id) = @_;
				(my $path = "/v1$pattern") =~ s/\{\w+\}/$id/;
				$path =~ s/\{file\}/$own{$who}{files}[0]/;
				return shape($s->request($method, $path, as => $who, ant => $ant, @more), $id);
			};
			my $want = $ask->($never{$kind});
			like($want, qr/^404 /, "$method $pattern as $who: a never-issued id is 404");
			my @bad = grep { $ask->($_) ne $want }
			    map { @{$own{$_}{$kind}} } grep { is_foreign($who, $_, $kind) } @users;
			is("@bad", '', "$method $pattern as $who, dialect $ant: every foreign id answers alike");
		}
	}
}
# LibreChat's pairs: another's is 403, one that never was 404 (ruling 4).
my %pair;
for my $u (@users) {
	my $up = $s->post('/v1/upload', as => $u, form => [[kind => 'user'],
	    ['file', "of $u\n", 'lc.txt']])->{json};
	$pair{$u} = [$up->{session_id}, $up->{files}[0]{fileId}];
	ok($pair{$u}[1], "$u has an object of LibreChat's");
}
$before = state_of();
for my $route (grep { $_->[1] =~ /\{lcid\}/ } @routes) {
	my ($method, $pattern) = @$route;
	my $ask = sub {
		my ($who, @ids) = @_;
		(my $path = $pattern) =~ s/\{lcid\}/shift(@ids)/ge;
		return $s->request($method, "/v1$path?kind=user", as => $who)->{status};
	};
	for my $who (@users) {
		# A session without files may be one of a run that wrote none.
		is($ask->($who, 'z' x 21, 'y' x 21),
		    $pattern eq '/files/{lcid}' && $method eq 'GET' ? 200 : 404,
		    "$method $pattern as $who: none");
		my @got = map { $ask->($who, @{$pair{$_}}) } grep { $_ ne $who } @users;
		is("@got", '403 403 403', "$method $pattern as $who: another's");
	}
}
for my $who (@users) {
	my @got = map { $s->post('/v1/exec', as => $who, json => { lang => 'bash', code => 'true',
	    files => [{ storage_session_id => $pair{$_}[0], id => $pair{$_}[1], name => 'x' }] })
	    ->{status} } grep { $_ ne $who } @users;
	is("@got", '403 403 403', "$who cannot run code on another's object");
	@got = map { $s->post('/v1/exec', as => $who, json => { lang => 'bash', code => 'true',
	    files => [{ id => $own{$_}{files}[0], name => 'x' }] })->{status} }
	    grep { $_ ne $who } @users;
	is("@got", '403 403 403', "$who cannot run code on another's file");
}

# Ids inside bodies.
for my $who (@users) {
	for my $owner (grep { $_ ne $who } @users) {
		my $a = $s->post("/v1/uploads/$own{$who}{uploads}[0]/complete", as => $who,
		    json => { part_ids => [$own{$owner}{part}] });
		is($a->{status}, 400, "${who}'s upload cannot be completed with a part of $owner");
		$a = $s->post('/v1/messages', as => $who, ant => 1, json => { model => 'demo',
		    max_tokens => 100, tools => [{ type => 'code_execution_20250825', name => 'code_execution' }],
		    messages => [{ role => 'user', content => [{ type => 'text', text => 'x' },
		    { type => 'container_upload', file_id => $own{$owner}{files}[0] }]}] });
		is($a->{status}, 404, "$who cannot give a model a file of $owner");
		for my $way (qw(json form)) {
			my @body = $way eq 'json' ? (json => { file_id => $own{$owner}{files}[0] })
			    : (form => [[file => 'x', 'x', 'text/plain']]);
			my $c = $own{$way eq 'json' ? $who : $owner}{containers}[0];
			$a = $s->post("/v1/containers/$c/files", as => $who, @body);
			is($a->{status}, 404, "$way: nothing of $owner comes together with $who\'s");
		}
		$a = $s->post('/v1/messages', as => $who, ant => 1, json => { model => 'demo',
		    max_tokens => 100, tools => [{ type => 'code_execution_20250825', name => 'code_execution' }],
		    container => $own{$owner}{containers}[0],
		    messages => [{ role => 'user', content => 'x' }] });
		is($a->{status}, 404, "$who cannot have code run in a container of $owner");
	}
	my $ids = join('&', map { "ids[]=$own{$_}{files}[0]" } grep { $_ ne $who } @users);
	is_deeply($s->get("/v1/files?$ids", as => $who, ant => 1)->{json}{data}, [],
	    "ids[] of others find nothing for $who");
}
my @asked = $upstream->requests;
is(scalar(@asked), 0, 'no model was asked');
is(state_of(), $before, 'nothing was changed by all that');
for my $u (@users) {
	is($s->get("/v1/files/$own{$u}{files}[0]/content", as => $u)->{body}, "of $u\n",
	    "${u}'s file is still there");
}
$s->done;
done_testing();
