#!/usr/bin/perl

# Two tenants send random requests to every route of the table, with ids of their
# own, of each other and made up, and bodies right and broken, from several
# processes at once.  No answer holds a word of the other tenant, none is a server
# error, what was acknowledged is there in the end, and no worker has died.
# The seed is printed; SATCHEL_SEED repeats it.  SATCHEL_FUZZ_SECONDS: 5, 30 on a
# sanitizer build, or 600 with SATCHEL_SOAK.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Handle;
use JSON::PP ();
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);
use Provider;
use Satchel;

my $seconds = $ENV{SATCHEL_FUZZ_SECONDS} // ($ENV{SATCHEL_SOAK} ? 600
    : Satchel::sanitizer('satchel') ? 30 : 5);
my $seed = $ENV{SATCHEL_SEED} // ($ENV{SATCHEL_SOAK} ? time() & 0xffff : 20261201);
my $clients = 2;		# Of each tenant.
my $json = JSON::PP->new->utf8->canonical->allow_nonref;

# Tenants by user; every text that one sends holds their word.
my %word = (alice => 'amaryllis7731', bob => 'belladonna9942');

# The model says the word that it was told, and has code say it.
my $upstream = Provider->new(script => { rounds => [
	[{ expect => ['run'], capture => { word => '(amaryllis7731|belladonna9942)' },
	    calls => [{ id => 'call_1', name => 'bash_code_execution', arguments => {
	    command => 'echo {{word}}; echo {{word}} >{{word}}.txt' } }] },
	    { capture => { word => '(amaryllis7731|belladonna9942)' },
	    text => 'You said {{word}}.' }],
	{ capture => { word => '(amaryllis7731|belladonna9942)' },
	    text => 'It printed {{word}}.' },
] });
my $s = Satchel->new(providers => $upstream->yaml('scripted', 'openai-chat',
    models => '["*"]'));
# What hostile bytes make the log say is other tests' matter; what a sanitizer
# says is not, and done() looks for that below.
$s->expect_log(qr/^(?!.*(?:Sanitizer|runtime error:))/s);
diag("$seconds s, seed $seed");

# --- the routes ---

open my $f, '<', "$FindBin::Bin/../fcgi/routes.c" or die $!;
my @routes = map { /\{ "(\w+)",\s+"(=?)([^"]+)"/
    ? { method => $1, path => $3, root => $2 ne '' } : () } <$f>;
cmp_ok(scalar @routes, '>', 40, 'the table of routes is read');

sub pick { return $_[rand @_] }
sub chance { return rand() < $_[0] }

# An id of the kind ${kind}: mostly one that this client knows, else odd.
my %pool;			# kind => [ids], of both tenants.
my @odd = ('', 'x', 'file-' . '0' x 32, '%00', '..%2f..', 'a' x 300, '-' x 21,
    'resp_gw_' . 'a' x 32, "caf\xc3\xa9", '%e2%80%ae', 'null', '0');

sub an_id {
	my ($kind) = @_;
	my $known = $pool{$kind} || [];
	return pick(@odd) if !@$known || chance(0.1);
	return pick(@$known);
}

# The kinds of id by their form.
my @kinds = (file => qr/^(?:file-|file_|cfile_)[0-9a-f]{32}$/,
    uploads => qr/^upload_\w+$/a, part => qr/^part_\w+$/a,
    responses => qr/^resp_\w+$/a, containers => qr/^(?:cntr_|container_)\w+$/a,
    lcid => qr/^[\w-]{21}$/a);

# Learn the ids that an answer holds.
sub learn {
	my ($v) = @_;
	if (ref $v eq 'HASH') { learn($_) for values %$v; return }
	if (ref $v eq 'ARRAY') { learn($_) for @$v; return }
	return if !defined $v || ref $v;
	for (my $i = 0; $i < @kinds; $i += 2) {
		next if $v !~ $kinds[$i + 1];
		my $p = $pool{$kinds[$i]} ||= [];
		push @$p, $v;
		shift @$p if @$p > 50;
	}
	return;
}

sub fill_path {
	my ($rt) = @_;
	my ($family) = $rt->{path} =~ m{^/(\w+)};
	(my $path = $rt->{path}) =~ s/\{(\w+)\}/
	    $1 eq 'id' ? an_id($family) : $1 eq 'name' ? pick('default', 'other', @odd)
	    : $1 eq 'model' ? pick('m1', @odd) : an_id($1)/ge;
	$path .= '?' . pick('limit=2', 'limit=x', 'after=' . an_id('file'),
	    'order=asc&limit=3', 'after_id=' . an_id('file'), 'detail=summary',
	    'a=%zz', '&&&=') if $rt->{method} eq 'GET' && chance(0.3);
	return $path if $rt->{root};
	return pick('/v1', '/v1', '/v1', '/api/v1') . $path;
}

# --- bodies ---

my %body = (
	'/messages' => sub { my ($w) = @_; return { model => 'm1', max_tokens => 99,
	    messages => [{ role => 'user', content => chance(0.5) ? "say $w" : [
	    { type => 'text', text => pick('run', 'say') . " $w" },
	    { type => 'container_upload', file_id => an_id('file') }] }],
	    (chance(0.5) ? (tools => [{ type => 'code_execution_20250825',
	    name => 'code_execution' }]) : ()),
	    (chance(0.3) ? (container => an_id('containers')) : ()),
	    (chance(0.4) ? (stream => JSON::PP::true) : ()) } },
	'/responses' => sub { my ($w) = @_; return { model => 'm1',
	    input => chance(0.4) ? "say $w" : [{ role => 'user', content => [
	    { type => 'input_text', text => pick('run', 'say') . " $w" },
	    (chance(0.4) ? { type => 'input_file', file_id => an_id('file') } : ()),
	    ] }, (chance(0.2) ? { type => 'item_reference', id => an_id('responses') } : ())],
	    (chance(0.4) ? (previous_response_id => an_id('responses')) : ()),
	    (chance(0.5) ? (tools => [{ type => 'code_interpreter', container =>
	    chance(0.5) ? an_id('containers')
	    : { type => 'auto', file_ids => [an_id('file')] } }]) : ()),
	    (chance(0.4) ? (stream => JSON::PP::true) : ()) } },
	'/chat/completions' => sub { my ($w) = @_; return { model => 'm1',
	    messages => [{ role => 'user', content => pick('run', 'say') . " $w" }],
	    (chance(0.5) ? (tools => [{ type => 'code_interpreter' }]) : ()),
	    (chance(0.4) ? (stream => JSON::PP::true) : ()) } },
	'/messages/count_tokens' => sub { return { model => 'm1',
	    messages => [{ role => 'user', content => $_[0] }] } },
	'/responses/input_tokens' => sub { return { model => 'm1', input => $_[0] } },
	'/containers' => sub { return { name => $_[0],
	    (chance(0.5) ? (file_ids => [an_id('file')]) : ()) } },
	'/uploads' => sub { return { bytes => 3, filename => "$_[0].txt",
	    mime_type => 'text/plain', purpose => 'user_data' } },
	'/uploads/{id}/complete' => sub { return { part_ids => [an_id('part')] } },
	'/exec' => sub { my ($w) = @_; return { lang => pick('py', 'bash'),
	    code => chance(0.5) ? "print('$w')\nopen('$w.txt', 'w').write('$w')"
	    : "echo $w", (chance(0.5) ? (files => [{ id => an_id('lcid'),
	    session_id => an_id('lcid'), name => "$w.txt" }]) : ()) } },
	'/exec/programmatic' => sub { my ($w) = @_; return { code =>
	    "print(await look(word='$w'))", tools => [{ name => 'look',
	    description => 'x', parameters => { type => 'object' } }] } },
	'/containers/{id}/files' => sub { return { file_id => an_id('file') } },
);
my %form = map { $_ => 1 } qw(/files /upload /upload/batch /uploads/{id}/parts);

# One random value of ${v} made odd, or one member left out.
my @values = (undef, JSON::PP::true, -1, 1e30, 0.5, '', 'x' x 5000, [], {}, [[[[]]]],
    "\x{0}", "\x{2028}", ['a'], { a => 1 }, '9' x 40);

sub spoil {
	my ($v) = @_;
	if (ref $v eq 'HASH' && %$v) {
		my $k = pick(sort keys %$v);
		return { %$v, $k => pick(@values) } if chance(0.4);
		if (chance(0.2)) { my %h = %$v; delete $h{$k}; return \%h }
		return { %$v, $k => spoil($v->{$k}) };
	}
	if (ref $v eq 'ARRAY' && @$v) {
		my @a = @$v;
		my $i = rand @a;
		$a[$i] = spoil($a[$i]);
		return \@a;
	}
	return pick(@values);
}

# Bytes of ${text} changed, cut off or doubled.
sub damage {
	my ($text) = @_;
	for (1 .. 1 + rand 3) {
		my $at = int rand(1 + length $text);
		my $how = rand 3;
		if ($how < 1) { substr($text, $at, 1) = chr rand 256 if $at < length $text }
		elsif ($how < 2) { $text = substr $text, 0, $at }
		else { substr($text, $at, 0) = pick('"', '{', "\0", '\\', "\r\n--", ',') }
	}
	return $text;
}

sub fill_body {
	my ($rt, $w, $note) = @_;
	if ($form{$rt->{path}} || $rt->{path} eq '/containers/{id}/files' && chance(0.7)) {
		my $bytes = "$w " . rand;
		$note->{bytes} = $bytes if $rt->{path} eq '/files';
		my ($type, $body) = Satchel::form((chance(0.8)
		    ? [purpose => pick('user_data', 'user_data', 'x')] : ()),
		    (chance(0.2) ? ['expires_after[anchor]' => 'created_at'] : ()),
		    [$rt->{path} =~ /parts/ ? 'data' : 'file', $bytes, "$w.txt", 'text/plain']);
		if (chance(0.2)) { $body = damage($body); $note->{odd} = 1 }
		return (body => $body, headers => ['Content-Type' => $type]);
	}
	my $make = $body{$rt->{path}};
	return () if !$make && (!chance(0.3) || $rt->{method} eq 'GET');
	my $o = $make ? $make->($w) : { word => $w };
	$o = spoil($o) if chance(0.3);
	my $text = $json->encode($o);
	$text = damage($text) if chance(0.1);
	return (body => $text, headers => ['Content-Type' => 'application/json']);
}

# --- one client, in a process of its own ---

# What must not be in the answer ${a} to ${user}, or undef.
sub complaint {
	my ($user, $a) = @_;
	my ($other) = grep { $_ ne $user } keys %word;
	return "a word of $other" if index($a->{raw}, $word{$other}) >= 0;
	return 'no answer' if !$a->{status};
	# Busy is a fair answer if it says when to come back.
	return undef if $a->{status} == 503 && defined Satchel::header($a, 'Retry-After');
	return "status $a->{status}" if $a->{status} >= 500;
	return 'an error without words' if $a->{status} >= 400
	    && $a->{body} eq '' && ($a->{method} // '') ne 'HEAD';
	return undef;
}

sub client {
	my ($user, $n, $out, $shared) = @_;
	srand($seed * 100 + $n);
	my $until = time + $seconds;
	my @first = sort { $a->{order} <=> $b->{order} }
	    map { { %$_, order => rand } } @routes;
	while (@first || time < $until) {
		# Each route once, then what makes something more often.
		my $rt = shift(@first) // (chance(0.3)
		    ? pick(grep { $_->{path} eq '/files' || $body{$_->{path}} } @routes)
		    : pick(@routes));
		my %note;
		my $path = fill_path($rt);
		my @body = fill_body($rt, $word{$user}, \%note);
		my $a = eval { $s->request($rt->{method}, $path, as => $user,
		    (chance(0.3) ? (ant => 1) : ()), @body, timeout => 60) }
		    // { status => 0, raw => '', body => "$@" };
		$a->{method} = $rt->{method};
		print $out $json->encode([asked => "$rt->{method} $rt->{path}"]), "\n";
		print $out $json->encode(['own']), "\n"
		    if index($a->{raw}, "You said $word{$user}") >= 0
		    || index($a->{raw}, "It printed $word{$user}") >= 0;
		my $bad = complaint($user, $a);
		print $out $json->encode([bad => "$user: $rt->{method} $path: $bad",
		    { @body }, substr $a->{raw}, 0, 2000]), "\n" if defined $bad;
		if ($a->{status} == 200) {
			my $j = $a->{json};
			print $out $json->encode([kept => $user, $j->{id}, $note{bytes}]), "\n"
			    if $note{bytes} && !$note{odd} && ref $j eq 'HASH' && $j->{id};
			print $out $json->encode([gone => $1]), "\n"
			    if $rt->{method} eq 'DELETE' && $path =~ m{([0-9a-f]{32})(?:\?|$)};
			learn($j);
			# To the others, who will try these ids as well.
			syswrite $shared, $json->encode($j) . "\n"
			    if length($a->{body}) < 3000 && ref $j;
		}
		others();
	}
	return;
}

# --- all of them ---

my @children;
my @names = map { my $u = $_; map { "$u.$_" } 1 .. $clients } sort keys %word;
# Ids go to every client through a file that each reads from its own place.
my $board = "$s->{tmp}/board";
open my $post, '>>', $board or die $!;
my $at = 0;
sub others {
	open my $in, '<', $board or return;
	seek $in, $at, 0;
	while (my $line = <$in>) {
		last if $line !~ /\n\z/;
		$at += length $line;
		learn(eval { $json->decode($line) });
	}
	return;
}

my @before = map { $s->pids($_) } qw(files run);
for my $i (0 .. $#names) {
	my ($user) = $names[$i] =~ /^(\w+)/;
	pipe my $in, my $out or die $!;
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		close $in;
		$out->autoflush(1);
		eval { client($user, $i, $out, $post); 1 }
		    or print $out $json->encode([bad => "client died: $@"]), "\n";
		close $out;
		POSIX::_exit(0);
	}
	close $out;
	push @children, [$pid, $in];
}
my (%asked, %kept, %gone, @bad);
my $own = 0;
my %from = map { fileno($_->[1]) => '' } @children;
my %open = map { fileno($_->[1]) => $_->[1] } @children;
while (%open) {
	my $r = '';
	vec($r, $_, 1) = 1 for keys %open;
	select($r, undef, undef, 5);
	for my $fd (keys %open) {
		next if !vec $r, $fd, 1;
		my $n = sysread $open{$fd}, $from{$fd}, 1 << 16, length $from{$fd};
		delete $open{$fd} if !$n;
		while ($from{$fd} =~ s/^([^\n]*)\n//) {
			my ($what, @more) = @{$json->decode($1)};
			$asked{$more[0]}++ if $what eq 'asked';
			push @bad, \@more if $what eq 'bad';
			$own++ if $what eq 'own';
			$kept{$more[1]} = [@more[0, 2]] if $what eq 'kept';
			$gone{$more[0]} = 1 if $what eq 'gone';
		}
	}
}
waitpid $_->[0], 0 for @children;

is(scalar @bad, 0,
    'no answer held a word of the other tenant or was a server error');
diag($json->encode($_)) for grep { defined } @bad[0 .. 4];
cmp_ok($own, '>', 5, "... and models said their own words to them: $own");
is(join(' ', grep { !$asked{$_} } map { "$_->{method} $_->{path}" } @routes), '',
    'every route of the table was asked');
my $asked = 0;
$asked += $_ for values %asked;
cmp_ok($asked, '>', 100, "requests: $asked");
is_deeply([map { $s->pids($_) } qw(files run)], \@before, 'no worker has died');

# What was acknowledged and not deleted by its owner is there, whole.
my @lost;
for my $id (sort keys %kept) {
	my ($user, $bytes) = @{$kept{$id}};
	my ($hex) = $id =~ /([0-9a-f]{32})/;
	next if $gone{$hex};
	my $a = $s->get("/v1/files/$id/content", as => $user);
	push @lost, "$id of $user: $a->{status}"
	    if $a->{status} != 200 || $a->{body} ne $bytes;
}
cmp_ok(scalar(keys %kept), '>', 5, 'uploads were acknowledged: ' . keys %kept);
is("@lost", '', '... and all that nobody deleted are whole');

$s->done;
done_testing();
