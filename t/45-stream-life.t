#!/usr/bin/perl

# Streams in time: events leave as they are made, silence is broken, clients
# that leave end what was done for them, and a hundred turns at once are kept
# apart.

use strict;
use warnings;
use IO::Select;
use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep time);
use Provider;
use Satchel;

sub bash {
	my ($command) = @_;
	return { name => 'bash_code_execution',
	    arguments => { command => $command } };
}

my $nap = "40.$$"; # Seconds, and a mark.
my %models = (
	slow => [{ text => 'One piece, then another one, then a last.',
	    pause => 0.4 }],
	quiet => [{ calls => [bash('sleep 17; echo awake')] },
	    { text => 'Awake.' }],
	waits => [{ delay => 40, text => 'Too late.' }],
	drips => [{ text => 'x' x 1200, pause => 0.4 }],
	runs => [{ calls => [bash("sleep $nap; echo x >late.txt")] },
	    { text => 'Too late.' }],
	between => [{ calls => [bash('echo 1')] }, { delay => 40,
	    calls => [bash('echo 2')] }, { text => 'Too late.' }],
	keeps => [{ calls => [bash("echo kept >kept.txt; sleep $nap")] }],
	again => [{ calls => [bash('cat kept.txt')] }, { text => 'Found.' }],
	many => [
		{ capture => { n => 'N=(\d+)' },
		    calls => [bash('echo run {{n}}')] },
		{ capture => { n => 'N=(\d+)' }, expect => ['run \d+'],
		    text => 'Done {{n}}.' },
	],
);
my $p = Provider->new(script => { models => \%models });
my $s = Satchel->new(providers => $p->port);

# Send a request and leave the connection open.
sub begin {
	my ($model, %o) = @_;
	my $route = $o{route} // 'messages';
	my $talk = [{ role => 'user', content => $o{say} // 'Go.' }];
	my $body = JSON::PP->new->utf8->encode({ model => $model,
	    stream => $o{whole} ? JSON::PP::false : JSON::PP::true,
	    $route eq 'responses' ? (input => $talk) : (messages => $talk),
	    $route eq 'messages' ? (max_tokens => 4096) : (), tools => [{ type
	    => 'code_execution_20250825', name => 'code_execution' }] });
	my $c = $s->sock($s->{port});
	print $c "POST /v1/$route HTTP/1.1\r\nHost: x\r\n",
	    "Authorization: Bearer $s->{key}{alice}\r\n",
	    $route eq 'messages' ? "anthropic-version: 2023-06-01\r\n" : '',
	    "Connection: close\r\n",
	    "Content-Type: application/json\r\nContent-Length: ",
	    length($body), "\r\n\r\n", $body;
	$c->flush;
	return $c;
}

# Read until it matches, or the end; what came.
sub until_seen {
	my ($c, $re, $seconds) = @_;
	my ($got, $end) = ('', time + ($seconds // 30));
	while (!defined($re) || $got !~ $re) {
		my $left = $end - time;
		last if $left <= 0 || !IO::Select->new($c)->can_read($left) ||
		    !sysread($c, $got, 65536, length($got));
	}
	return $got;
}

# Wait for something to become true.
sub soon {
	my ($what) = @_;
	my $end = time + 10;
	sleep(0.05) until $what->() || time > $end;
	return $what->();
}

# Is the long run of this test under way?
sub running {
	for my $file (glob('/proc/[0-9]*/cmdline')) {
		open(my $f, '<', $file) or next;
		return 1 if (<$f> // '') =~ /^sleep\x00\Q$nap\E\x00/;
	}
	return 0;
}

# What a stream of each route has while it goes on, at its end, and in silence.
my %route = (
	messages => { text => qr/text_delta/, end => qr/event: message_stop\n/,
	    quiet => qr/event: ping\ndata: \{"type":"ping"\}\n\n/ },
	responses => { text => qr/output_text\.delta/, end =>
	    qr/event: response\.completed\n/, quiet => qr/^: keepalive\n\n/m },
	'chat/completions' => { text => qr/"content":"[^"]/, end =>
	    qr/data: \[DONE\]\n/, quiet => qr/^: keepalive\n\n/m },
);
my @routes = sort(keys(%route));
my ($c, $got);

# --- as they are made ---

for my $name (@routes) {
	my $way = $route{$name};
	$c = begin('slow', route => $name);
	$got = until_seen($c, $way->{text});
	my $first = time;
	unlike($got, $way->{end},
	    "st-not-buffered: $name: the first event leaves before the last");
	like(until_seen($c), $way->{end}, '... which comes too');
	cmp_ok(time - $first, '>', 0.8, '... at its own time');
}

# --- silence ---

my %quiet = map { $_ => begin('quiet', route => $_) } @routes;

# --- a hundred at once, meanwhile ---

my @turns = map { [begin('many', say => "N=$_"), $_] } 1 .. 100;
my ($right, %seen) = (0);
for my $t (@turns) {
	my ($c, $n) = @$t;
	my $all = until_seen($c, undef, 120);
	my $text = join('', $all =~ /"text_delta","text":"([^"]*)"/g);
	my ($id) = $all =~ /"id":"(srvtoolu_gw_\w+)"/;
	$seen{ $id // 'none' } = 1;
	$right++, next if $text eq "Done $n." && $all =~ /"stdout":"run $n\\n"/ &&
	    $all =~ /event: message_stop/;
	diag("turn $n: " . substr($all, -300));
}
is($right, 100, 'a hundred turns at once, each with its own run');
is(scalar(keys(%seen)), 100, 'and ids of its own');

for my $name (@routes) {
	my $way = $route{$name};
	my $all = until_seen($quiet{$name}, undef, 60);
	$all =~ s/\A.*?\r\n\r\n//s;
	like($all, $way->{quiet},
	    "st-quiet-run: $name: a silent run is broken by a sign of life");
	like($all, qr/Awake/, '... and goes on');
	like($all, $way->{end}, '... to its end');
	unlike($all, qr/^data:\s*$/m, '... and no line of data is empty');
}

# --- clients that leave ---

for my $name (@routes) {
	my $text = $route{$name}{text};
	for (['waits', 0, 'before the first byte'], ['waits', 1, 'unstreamed'],
	    ['drips', 0, 'amid the answer'], ['between', 0,
	    'between two rounds'], ['between', 1, 'unstreamed too']) {
		my ($model, $whole, $what) = @$_;
		my $rounds = $model eq 'between' ? 2 : 1;
		$what = "$name: $what (executor row 67)";
		$p->forget;
		$c = begin($model, whole => $whole, route => $name);
		until_seen($c, $text) if $model eq 'drips' && !$whole;
		ok(soon(sub { $rounds == grep { $_->{method} eq 'POST' }
		    $p->requests }), "$what: the model is asked");
		close($c);
		ok(soon(sub { grep { $_->{method} eq 'LEFT' } $p->requests }),
		    '... and is left once the client leaves');
		is(scalar(grep { $_->{method} eq 'POST' } $p->requests),
		    $rounds, '... and not asked again');
	}
	for my $whole (0, 1) {
		$p->forget;
		$c = begin('runs', whole => $whole, route => $name);
		ok(soon(\&running),
		    "st-client-leaves: $name: a run has begun");
		close($c);
		ok(soon(sub { !running() }),
		    '... and ends once the client leaves (executor row 66)');
		is(scalar($p->requests), 1, '... the model is not asked again');
	}
}
is(scalar(grep { $_->{rounds} == 1 && $_->{input_tokens} > 0 }
    @{ $s->get('/v1/usage?limit=1')->{json}{data} }), 1,
    'what the model had used by then is recorded (executor row 66)');
is_deeply($s->get('/v1/files')->{json}{data}, [],
    'nothing of the abandoned runs is kept');

# --- a worker that is killed ---

$c = begin('keeps', whole => 1);
ok(soon(\&running), 'executor row 68: a run is under way');
my ($there) = map { $_->[0] } $s->mysql('SELECT pid FROM container'
    . ' WHERE lease_until > 0');
$s->expect_log(qr/./);
$s->stop('run', 'KILL');
ok(soon(sub { !running() }), 'executor row 68: it dies with its worker');
close($c);
$s->start;
ok(defined($there), '... the container has a lease yet');
$s->mysql('UPDATE container SET lease_until = 1 WHERE lease_until > 0');
my $r = $s->post('/v1/messages', ant => 1, timeout => 60, json => { model =>
    'again', max_tokens => 500, container => "container_gw_$there", messages =>
    [{ role => 'user', content => 'Go.' }], tools => [{ type =>
    'code_execution_20250825', name => 'code_execution' }] });
is($r->{json}{content}[1]{content}{stdout}, "kept\n",
    'executor row 68: once that lapses, the session is there')
    or diag($r->{body});
$s->done;
done_testing();
