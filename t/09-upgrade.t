#!/usr/bin/perl

# A newer program is installed and SIGHUP sent: the same process becomes it, no
# request fails, a stream goes on to its end; and one that could not start is
# not become.

use strict;
use warnings;
use FindBin;
use File::Temp qw(tempdir);
use Test::More;
use Time::HiRes qw(sleep time);

# Programs of our own, which can be replaced.
my ($build, $bin);
BEGIN {
	$build = $ENV{SATCHEL_BUILD} // "$FindBin::Bin/../build";
	$bin = tempdir('satchel-b.XXXXXX', TMPDIR => 1, CLEANUP => 1);
	chmod 0755, $bin;
	system("cp $build/satchel $build/satchel-* $bin/") == 0 or die 'cp';
	chmod 0755, glob "$bin/*";
	$ENV{SATCHEL_BUILD} = $bin;
}
use lib "$FindBin::Bin/lib";
use Provider;
use Satchel qw(header);

my $words = join ' ', 1 .. 60;
my $up = Provider->new(script => { models => {
    slow => [{ text => $words, pause => 0.15 }], quick => [{ text => 'Here.' }] } });
# One process a pool, so that it is known which has looked at the schema already.
my $s = Satchel->new(providers => $up->yaml('local', 'openai-chat'),
    set => { 'workers.processes' => 1 });
my @pools = qw(files run);

sub until_true {
	my ($code) = @_;
	for (my $end = time + 40; time < $end; sleep 0.1) { return 1 if $code->() }
	return 0;
}

# Put ${text}, or a copy of the program, in the program's place.
sub install {
	my ($text) = @_;
	if (defined $text) {
		open my $fh, '>', "$bin/new" or die $!;
		print $fh $text;
		close $fh;
	} else {
		system("cp $build/satchel $bin/new") == 0 or die 'cp';
	}
	chmod 0755, "$bin/new";
	rename "$bin/new", "$bin/satchel" or die $!;
	return (stat "$bin/satchel")[1];
}
sub parent { return ($s->pids($_[0]))[0] }
sub runs { return (stat "/proc/$_[0]/exe")[1] // 0 }
sub hup { kill HUP => map { parent($_) } @pools }
sub model {
	my ($name, $stream) = @_;
	return $s->post('/v1/messages', ant => 1, timeout => 60, json => {
	    model => "local:$name", max_tokens => 99, $stream ? (stream =>
	    JSON::PP::true) : (), messages => [{ role => 'user', content => 'x' }] });
}

# Callers of both pools until they are told to stop; how many asked for what,
# and what was not answered as it should be.
my @callers;
sub call {
	my $until = "$s->{tmp}/stop";
	unlink $until;
	for my $one (sub { $s->get('/v1/files') }, sub { model('quick') },
	    sub { $s->upload('x' x 2000) }, sub { model('quick', 1) }) {
		pipe my $r, my $w or die $!;
		my $pid = fork // die $!;
		if ($pid) {
			push @callers, [$pid, $r];
			next;
		}
		my ($n, @bad) = (0);
		while (!-e $until) {
			my $a = eval { $one->() } // { status => $@ };
			push @bad, "$a->{status} $a->{cut}"
			    if $a->{status} ne '200' || $a->{cut};
			$n++;
		}
		syswrite $w, "$n @bad";
		POSIX::_exit(0);
	}
}
sub called {
	open my $fh, '>', "$s->{tmp}/stop" or die $!;
	my @said = map { sysread $_->[1], my $text, 65536; waitpid $_->[0], 0;
	    $text } @callers;
	@callers = ();
	return @said;
}

# --- systemd looks at the settings first, as a web server's unit does ---

{
	open my $fh, '<', "$FindBin::Bin/../conf/systemd/satchel\@.service" or die $!;
	is_deeply([map { /^ExecReload=\S*?([^\/\s]+ .*)/ } <$fh>],
	    ['satchel-admin check --config-only', 'kill -HUP $MAINPID'],
	    'a reload under systemd begins with a look at the settings');
}

# --- an upgrade under load ---

my %before = map { $_ => parent($_) } @pools;
my $old = runs($before{run});
call();
sleep 1;
my $stream = fork // die $!;
if (!$stream) {
	my $a = model('slow', 1);
	my $text = join '', map { $_->{delta}{text} // '' } map { JSON::PP::decode_json($_) }
	    $a->{body} =~ /^data: (\{.*content_block_delta.*)$/mg;
	POSIX::_exit($text eq $words && $a->{body} =~ /message_stop/ ? 0 : 1);
}
sleep 1;
my @workers = map { my (undef, @of) = $s->pids($_); @of } @pools;
my $new = install();
hup();
ok(until_true(sub { runs($before{files}) == $new && runs($before{run}) == $new }),
    'SIGHUP: the installed program is what runs');
is(join(' ', map { parent($_) } @pools), join(' ', @before{@pools}),
    '... in the same processes');
waitpid $stream, 0;
is($?, 0, 'a stream that was under way is whole');
ok(until_true(sub { !grep { kill 0, $_ } @workers }),
    'the workers of before have ended');
my @said = called();
is((grep { /^\d+ $/ } @said), 4, 'no request failed') or diag "@said";
cmp_ok($_, '>', 5, '... of many') for map { /^(\d+)/ } @said;
ok((grep { ($_->{msg} // '') =~ /of before end once/ } $s->log), 'the log tells');

# --- twice, and without a newer program ---

$new = install();
hup();
ok(until_true(sub { runs($before{files}) == $new && runs($before{run}) == $new }),
    'again');
my ($first, @now) = $s->pids('files');
kill HUP => $first;
ok(until_true(sub { my ($same, @p) = $s->pids('files');
    my %p = map { $_ => 1 } @p; @p && $same == $first && !grep { $p{$_} } @now }),
    'no newer one: only the workers are replaced');
is(model('quick')->{status}, 200, '... and all is well');

# --- a program that could not start ---

$s->expect_log(qr/upgrade: |not upgraded|says:/);
for (["#!/bin/sh\necho 'wrong: a test' >&2\nexit 1\n", qr/says: wrong: a test/],
    ["no program\n", qr/-t failed/]) {
	my ($text, $said) = @$_;
	install($text);
	my $logged = grep { ($_->{msg} // '') =~ /not upgraded/ } $s->log;
	kill HUP => $before{files};
	ok(until_true(sub { $logged < grep { ($_->{msg} // '') =~ /not upgraded/ } $s->log }),
	    'a program that could not start is not become');
	ok((grep { ($_->{msg} // '') =~ $said } $s->log), '... as the log says');
	is($s->get('/v1/files')->{status}, 200, '... and the old one goes on');
}
# One whose schema is not there yet.
{
	install();
	$s->mysql('UPDATE migration SET applied = NULL WHERE number = 9');
	my $runs = runs($before{files});
	kill HUP => $before{files};
	ok(until_true(sub { grep { ($_->{msg} // '') =~ /unfinished/ } $s->log }),
	    'nor is one whose schema is not there');
	$s->expect_log(qr/unfinished/);
	is(runs($before{files}), $runs, '... however new');
	is($s->get('/v1/files')->{status}, 200, '... and the old one goes on');
	$s->mysql('UPDATE migration SET applied = 1 WHERE number = 9');
}
$new = install();
kill HUP => $before{files};
ok(until_true(sub { runs($before{files}) == $new }), 'one that can start is become');
is($s->get('/v1/files')->{status}, 200, '... and serves');
$s->stop('files');
is(scalar($s->pids('files')), undef, 'told to stop: all of it ends');
$s->done;
done_testing();
