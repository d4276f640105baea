#!/usr/bin/perl

# Harnesses made for hostile schemas, and run with hostile programs, through the
# whole system.  What a schema's tools must be called, and what their caller must
# be asked for, is worked out here from the client's own rule (librechat contract
# 10.5 and 10.6); a program may do what it likes, the answer is of the three kinds
# and the next program finds all as it was.  SATCHEL_SEED: another beginning;
# SATCHEL_SOAK: two minutes of each.

use strict;
use warnings;
use utf8;
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use MIME::Base64 qw(encode_base64);
use Test::More;
use Code;
use Satchel;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);
my $seed = $ENV{SATCHEL_SEED} // ($ENV{SATCHEL_SOAK} ? time : 20240229);
srand $seed;
diag("seed $seed") if $ENV{SATCHEL_SOAK};
my ($schemas, $programs) = (12, 24);

my $code = Code->new;
my $s = Satchel->new(set => {'librechat.jwt.pem_dir' => $code->{pem_dir},
    'librechat.execs_per_30s' => 0});
my $ascii = JSON::PP->new->ascii->canonical->allow_nonref;
my ($true, $false) = (JSON::PP::true, JSON::PP::false);

# What became of them: a test of which all were refused shows nothing.
my %end;
sub ended { my ($how) = @_; $end{$how}++; return '' }

sub any { return $_[int rand @_] }
sub post { my (%body) = @_;
	return $s->post('/v1/exec/programmatic', $code->bearer, json => \%body, timeout => 90) }

# So many times, or for two minutes; $try->() returns what is wrong, if anything.
sub often {
	my ($what, $n, $try) = @_;
	my ($until, $done, $bad) = (time + 120, 0, '');
	while ($ENV{SATCHEL_SOAK} ? time < $until : $done < $n) {
		last if ($bad = $try->($done)) ne '';
		$done++;
	}
	is($bad, '', "$what: $done of them, seed $seed");
	cmp_ok($done, '>=', $n, '... and not fewer');
}

# --- schemas ---

my @odd = ('"', "'", '"""', "'''", '\\', "\n", "\t", ' ', '-', '_', '.', '$(id)', '`id`',
    ';', '{', '}', '%s', '#', "\x{a0}", "\x{3000}", '日', 'é', '😀', '$HOME', '&', '|', '()', "\\N{NULL}", '*', '!');
my @word = qw(get user data class def lambda None import async if then done exit cd echo
    kill eval json asyncio print base64 jq cat python3 bash self given _ptc_ __init__
    constructor 1st 9 x Y ToolExecutionError main);
my %keyword = map { $_ => 1 } qw(False None True and as assert async await break class
    continue def del elif else except finally for from global if import in is lambda
    nonlocal not or pass raise return try while with yield);
# Of bash: its reserved words and builtins, as bash itself lists them.
my %shell = map { $_ => 1 } split ' ', `bash -c 'compgen -k; compgen -b'`;

sub name {
	return any(@odd) . any('', @odd) if rand() < 0.05;
	return join '', any(@word), map { any(any(@word), any(@odd)) } 1 .. int rand 4;
}

# By the client's rule; undef where it leaves nothing.
sub ident {
	my ($name, $bash) = @_;
	$name =~ s/\./_/g if $bash;
	$name =~ s/[-\s]/_/gu;
	$name =~ s/[^A-Za-z0-9_]//g;
	return undef if $name eq '';
	$name =~ s/^(?=\d)/_/;
	$name .= '_tool' if $bash ? $shell{$name} : $keyword{$name};
	$name .= '_tool' if $name =~ /^_ptc_/ && $name !~ /_tool$/; # Ours.
	return $name;
}

# One identifier each, or nothing.
sub idents {
	my ($bash, @names) = @_;
	my %seen;
	my @ident = map { ident($_, $bash) } @names;
	return undef if grep { !defined $_ || $seen{$_}++ } @ident;
	return \@ident;
}

sub value {
	my ($deep) = @_;
	my $kind = int rand($deep ? 5 : 7);
	return [1, -2.5, $true, $false, '', undef]->[int rand 6] if $kind == 0;
	return join '', map { any(@odd, @word, "\0", "\x{1}", 'EOT', "\x{2028}") } 1 .. 1 + int rand 6
	    if $kind < 5;
	return [map { value(1) } 1 .. int rand 4] if $kind == 5;
	return { map { (name() => value(1)) } 1 .. int rand 4 };
}

# A value that is no null, which an optional parameter would be left out for.
sub given { my $v; do { $v = value() } until defined $v; return $v }

sub one_schema {
	my ($n) = @_;
	my $bash = $n % 3 == 2;
	my @tools = map {
		my %seen;
		my @p = grep { !$seen{$_}++ } map { name() } 1 .. int rand 4;
		my %schema = (type => 'object', properties => { map { ($_ => any({ type => 'string',
		    description => name(), default => value() }, {}, { enum => [value()] })) } @p },
		    (rand() < 0.3 ? (required => [@p, name()]) : ()));
		{ name => name(), description => value() // '', allowed_callers => [name()],
		    params => \@p, parameters => @p ? \%schema : any(undef, $true, {}, \%schema) };
	} 1 .. 1 + int rand($bash ? 2 : 5);
	push @tools, { %{$tools[0]}, name => "$tools[0]{name}!" } if $n % 5 == 4; # Meet.
	my $ident = idents($bash, map { $_->{name} } @tools);
	my @pident = map { idents(0, @{$_->{params}}) } @tools;
	my $wrong = !$ident || grep { !$_ } @pident;

	# What each is called with, by its own names and by the program's.
	my (@input, @args);
	for my $i (0 .. $#tools) {
		my @p = @{$tools[$i]{params}};
		my @v = map { given() } @p;
		push @input, { map { ($p[$_] => $v[$_]) } 0 .. $#p };
		push @args, $wrong || $bash ? {} : { map { ($pident[$i][$_] => $v[$_]) } 0 .. $#p };
	}
	my $text = $wrong ? 'true' : $bash ? join '', map {
		"IFS= read -r ptc_a <<'EOT'\n" . $ascii->encode($input[$_]) . "\nEOT\n"
		    . "$ident->[$_] \"\$ptc_a\"\n" } 0 .. $#tools
	    : "import asyncio as a_, base64 as b_, json as j_\nA_ = j_.loads(b_.b64decode('"
	    . encode_base64($ascii->encode(\@args), '') . "'))\nfor r_ in await a_.gather("
	    . join(', ', map { "$ident->[$_](**A_[$_])" } 0 .. $#tools)
	    . "):\n    builtins_print(j_.dumps(r_))\n";
	# Whatever the tools are called, print is one of the program's own.
	$text = "import builtins\nbuiltins_print = builtins.print\n$text" if !$wrong && !$bash;
	delete $_->{params} for @tools;
	my $told = $ascii->encode({ tools => \@tools, lang => $bash ? 'bash' : 'python', code => $text });

	my $r = post(code => $text, tools => \@tools, timeout => 15000,
	    lang => $bash ? 'bash' : 'python');
	return $r->{status} == 400 && $r->{json}{error} ? ended('refused schema') : "accepted: $told\n$r->{body}" if $wrong;
	my (@called, @result);
	while ($r->{status} == 200 && $r->{json}{status} eq 'tool_call_required') {
		my @calls = @{$r->{json}{tool_calls}};
		return "too many calls: $told\n$r->{body}" if @called + @calls > @tools;
		push @called, map { [$_->{name}, $_->{input}] } @calls;
		push @result, my @new = map { value() } @calls;
		$r = post(continuation_token => $r->{json}{continuation_token}, tool_results =>
		    [map { { call_id => $calls[$_]{id}, result => $new[$_], is_error => $false } } 0 .. $#calls]);
	}
	return "$r->{status} $r->{body}: $told" if ($r->{json}{status} // '') ne 'completed';
	my $want = $ascii->encode([map { [$tools[$_]{name}, $input[$_]] } 0 .. $#tools]);
	return 'called ' . $ascii->encode(\@called) . "\nfor $want\nin $told"
	    if $ascii->encode(\@called) ne $want;
	my $got = join '', map { $ascii->encode($ascii->decode($_)) . "\n" }
	    split /\n/, $r->{json}{stdout};
	$want = join '', map { $ascii->encode($_) . "\n" } @result;
	return $got eq $want ? ended($bash ? 'bash schema' : 'python schema') : "printed $got\nfor $want\nin $told";
}
often('hostile schemas', $schemas, \&one_schema);
cmp_ok($end{$_} // 0, '>=', 1, "$_: some") for 'refused schema', 'python schema', 'bash schema';

# --- programs ---

my @tools = ({ name => 'look', parameters => { type => 'object',
    properties => { at => {} } } }, { name => 'go' });
my @python = (
	"x = await look(at='a')\nprint(x)\n", "print(await asyncio.gather(look(at=1), go(), look()))\n",
	"try:\n    await go()\nexcept BaseException as e:\n    print(e)\n",
	"async def f(n):\n    return await look(at=n)\nprint([await f(i) for i in range(3)])\n",
	"t = asyncio.ensure_future(go())\nawait asyncio.sleep(0.01)\nt.cancel()\nprint(t)\n",
	"import os\nfor fd in range(3, 256):\n    try:\n        os.close(fd)\n    except OSError:\n        pass\nawait go()\n",
	"import os\nfor fd in range(3, 256):\n    try:\n        os.write(fd, b'\\xff' * 64)\n    except OSError:\n        pass\nawait go()\n",
	"import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGKILL)\n",
	"import sys\nsys.stdout.close()\nsys.stderr = None\nawait look()\n",
	"import json\njson.dumps = json.loads = None\nawait look(at={1, 2})\n",
	"import os\nopen('_ptc_history.json', 'w').write('[]')\nos.chmod('.', 0)\nawait go()\n",
	"await look(at=float('nan'))\n", "await look(at='\\ud800')\n", "await look(at=10 ** 400)\n",
	"a = []\nfor i in range(500):\n    a = [a]\nawait look(at=a)\n",
	"await asyncio.gather(*[look(at=i) for i in range(300)])\n",
	"asyncio.get_running_loop().stop()\n", "raise SystemExit(look)\n", "del look\nglobals().clear()\nawait go()\n",
	"import os\nif os.fork() == 0:\n    await look(at='child')\nawait go()\n",
	"await look(at='x' * 3000000)\n", "import threading\nthreading.Thread(target=lambda: 1 / 0).start()\nawait go()\n",
);
my @bash = (
	"look '{\"at\":1}'\ngo '{}'\n", "x=\$(look '{}')\necho \"\$x\"\n", "look '{}' & go '{}' & wait\n",
	"exec 199>&- 200>&- 3>&-\ngo '{}'\n", "kill -9 \$\$\n", "kill -STOP \$PPID; kill 0\n",
	"unset -f look\nlook '{}'\n", "PATH=\nlook '{}'\n", "exec >&-\nexec 2>&-\ngo\n",
	"printf '\\377\\377\\377\\377' >&199\ngo '{}'\n", "rm -rf /mnt/data /tmp/* 2>/dev/null\ngo '{}'\n",
	"for i in 1 2 3; do look \"{\\\"at\\\":\$i}\"; done\n", "look '{\"at\":'\nlook [] \nlook 1 2\n",
	"trap '' TERM\nset -e\nfalse\n", "python3() { :; }\njq() { :; }\nlook '{}'\n",
	"ulimit -n 3\nulimit -u 1\nlook '{}'\n", "cd /proc/self/fd && ls\n",
);
my @piece = ("\0", "\r\n", "\xff", '"', "'", "'''", '(', ')', ':', "\n", '    ', '$(', '${', '`', '<<E',
    'await ', 'look', 'go', '{}', '\\', 'é', '😀', ' & ', ' | ', ';', '#', "\x{feff}", '0', '*');

# A program as it is, or with some of it gone, doubled or replaced.
sub mangled {
	my ($text) = @_;
	for (1 .. int rand 4) {
		my $at = int rand length $text;
		my $len = 1 + int rand 8;
		$len = length($text) - $at if $at + $len > length $text;
		my $old = substr $text, $at, $len;
		substr $text, $at, $len, any('', $old . $old, any(@piece), $old . any(@piece));
		$text = 'go' if $text eq '';
	}
	return $text;
}

sub one_program {
	my ($n) = @_;
	my $bash = $n % 5 > 2;
	my @from = $bash ? @bash : @python;
	my $text = $ENV{SATCHEL_SOAK} || rand() < 0.5 ? mangled(any(@from)) : any(@from);
	my $told = $ascii->encode({ lang => $bash ? 'bash' : 'python', code => $text });
	my $r = post(code => $text, tools => \@tools, timeout => 2000, lang => $bash ? 'bash' : 'python');
	# A text that holds a NUL is none.
	return $text =~ /\0/ || $text !~ /\S/ ? ended('refused program') : "refused: $told"
	    if $r->{status} == 400;
	for my $round (1 .. 4) {
		return "$r->{status} $r->{body}: $told" if $r->{status} != 200;
		my $j = $r->{json};
		return ended('completed program') if $j->{status} eq 'completed' && defined $j->{stdout};
		if ($j->{status} eq 'error' && $j->{error}) {
			$end{"    $j->{error}"}++;
			return ended('error program');
		}
		return "no status: $r->{body}: $told" if $j->{status} ne 'tool_call_required';
		for my $c (@{$j->{tool_calls}}) {
			return "a call of $r->{body}: $told" if $c->{id} !~ /^call_\d{3,6}$/
			    || $c->{name} !~ /^(look|go)$/ || ref $c->{input} ne 'HASH';
		}
		return "no calls: $told" if !@{$j->{tool_calls}};
		$r = post(continuation_token => $j->{continuation_token}, tool_results =>
		    [map { { call_id => $_->{id}, result => value(), is_error => any($true, ($false) x 4),
		    error_message => name() } } @{$j->{tool_calls}}]);
	}
	return ended('program of many rounds');
}
often('hostile programs', $programs, \&one_program);
cmp_ok($end{$_} // 0, '>=', 1, "$_: some") for 'completed program', 'error program';
note("$end{$_} $_") for sort keys %end;

my $r = post(code => "print(await look(at='after'))", tools => \@tools)->{json};
is_deeply([map { [$_->{name}, $_->{input}] } @{$r->{tool_calls}}], [['look', { at => 'after' }]],
    'an honest program is served as before') or diag explain $r;
is(post(continuation_token => $r->{continuation_token}, tool_results => [{ call_id => 'call_001',
    result => 'all', is_error => $false }])->{json}{stdout}, "all\n", '... to its end');
is(($s->mysql(q{SELECT COUNT(*) FROM file WHERE state = 'uploading'}))[0][0], 0,
    'nothing half stored is left');
$s->done;
done_testing;
