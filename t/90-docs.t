#!/usr/bin/perl

# What README.md and man/ say: every block of commands of the README is run, in
# order and in one shell, in a tree of links to this one; and a manual page knows
# the options that its program knows, and no others.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/..');
my $build = $ENV{SATCHEL_BUILD} // "$top/build";
my $sdk = $ENV{SATCHEL_SDK} // "$top/build/sdk";
my @programs = qw(satchel satchel-admin satchel-keeper satchel-sandbox
    satchel-sweep);

sub slurp {
	my ($path) = @_;
	open my $fh, '<', $path or return '';
	local $/;
	return scalar(<$fh>) // '';
}

# Sorted, each once.
sub set { my %seen = map { $_ => 1 } @_; return join ' ', sort keys %seen }

# --- manual pages ---

# A page as it is shown, without the doubled letters of bold print.
sub page {
	my ($file) = @_;
	my $text = `mandoc -T ascii '$file'`;
	$text =~ s/.\x08//g;
	return $text;
}

# All options in ${text} but those that every program has and need not mention.
sub options {
	my ($text) = @_;
	return set(grep { !/^(?:-h|--help|--version)$/ }
	    $text =~ /(?<![\w-])(--?[a-z][a-z-]*)/g);
}

is(options("x --a-b [-c FILE] --help, fast-cgi\n"), '--a-b -c',
    'options are found in a text');

for my $name (@programs) {
	my $file = "$top/man/$name.8";
	ok(-s $file, "$name: there is a page") or next;
	is(`mandoc -T lint -W warning '$file' 2>&1`, '',
	    "$name: ... without mistakes");
	my ($page, $help) = (page($file), scalar `'$build/$name' --help`);
	like($help, qr/^usage: $name\b/, "$name: --help");
	is(options($page), options($help), "$name: the same options in both");
	like($page, qr/--help \| --version/, "$name: ... and those of all");
	my %head = map { $_ => 1 } $page =~ /^([A-Z][A-Z ]+)$/mg;
	is(set(grep { !$head{$_} } 'NAME', 'SYNOPSIS', 'DESCRIPTION', 'FILES',
	    'EXIT STATUS', 'EXAMPLES', 'SEE ALSO'), '',
	    "$name: all sections");
	my %no = map { $_ => 1 } grep { !-e "$top/man/$_.8" }
	    slurp($file) =~ /^\.Xr (satchel\S*) 8/mg;
	is(set(keys %no), '', "$name: it points at no page that is not there");
}

my ($commands) = `'$build/satchel-admin' --help` =~ /^commands:\n(.*?)^\S/ms;
is(set(slurp("$top/man/satchel-admin.8") =~
    /^\.It (?:Xo )?Cm ((?:[a-z]+ )?[a-z]+)/mg),
    set($commands =~ /^  ((?:[a-z]+ )?[a-z]+)/mg),
    'satchel-admin: the same commands in both');

# --- HACKING.md ---

my $hacking = slurp("$top/HACKING.md");
my @named = $hacking =~ m{(?<![\w/])((?:fcgi|lib|t|tools|nginx|conf)/[\w/.-]*\w)}g;
cmp_ok(scalar @named, '>', 30, 'HACKING names files');
is(set(grep { !-e "$top/$_" && !glob("$top/$_*") } @named), '',
    '... that exist');
for my $target (sort keys %{{ map { $_ => 1 }
    $hacking =~ /^make (?!CFLAGS)([a-z-]+)/mg, 'help' }}) {
	is(system("make -C '$top' -n $target >/dev/null 2>&1"), 0,
	    "make $target is a target");
}

# --- the README's words ---

my $readme = slurp("$top/README.md");
my @blocks = $readme =~ /^```sh\n(.*?)^```$/msg;
cmp_ok(scalar @blocks, '>=', 10, 'README: blocks of commands');
(my $prose = $readme) =~ s/^```.*?^```$//msg;
unlike($prose, qr/^(?: {4}|\t)\S/m, 'README: no command outside of a block');
my $all = join '', @blocks;
my @said = $prose =~ /`((?:sh )?tools\/[^`]+)`/g;
is(set(grep { index($all, $_) < 0 } @said), '',
    'README: what the prose calls is in a block');
my @paths = (grep({ m{/} } $prose =~ m{`([\w./*-]+)`}g),
    $prose =~ m{\]\((\w+)\)}g);
cmp_ok(scalar @paths, '>', 4, 'README: it names files');
is(set(grep { !m{^/} && !grep { -e } glob "$top/$_" } @paths), '',
    'README: ... that are there');

# --- the README's commands ---

# tools/stack and the others find everything beside themselves: in here, the
# stack that the demo makes is this test's own.
my $tmp = tempdir('satchel-docs.XXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0755, $tmp;
for (glob "$top/*") {
	my ($name) = m{([^/]+)$};
	next if $name =~ /^(?:build.*|var)$/;
	symlink $_, "$tmp/$name" or die "$name: $!";
}
mkdir "$tmp/build" or die $!;
-d $sdk or mkdir $sdk or die "$sdk: $!";
symlink $sdk, "$tmp/build/sdk" or die $!;

END {
	my $rc = $?;
	if (defined $tmp && -e "$tmp/var/stack.sh") {
		system('sh', "$tmp/tools/stack", 'down', '--discard');
		# DIR may be a link to where sockets fit.
		my $real = readlink "$tmp/var";
		system('rm', '-rf', $real)
		    if defined $real && $real =~ m{^/var/tmp/};
	}
	$? = $rc;
}
$SIG{INT} = $SIG{TERM} = sub { exit 1 };

# The demo's other forms, while the stack is up; and of the check, which runs
# this test, one step only.
my ($down) = grep { $blocks[$_] eq "sh tools/stack down\n" } 0 .. $#blocks;
ok(defined $down, 'README: the stack is put down');
splice @blocks, $down // 0, 0,
    map { "sh tools/demo $_\n" } $readme =~ /`(--sdk \w+)`/g;
# ... which finds one with other settings, under which no CSV could be uploaded.
unshift @blocks, "sh tools/stack up --port 0 --set files.max_bytes=1\n";
is(scalar(grep { s{^(sh tools/check)$}{$1 deps} } @blocks), 1,
    'README: the check is named');
my $script = '';
$script .= "printf '\\n@@ $_\\n'\n$blocks[$_]" for 0 .. $#blocks;
open my $fh, '>', "$tmp/tour.sh" or die $!;
print $fh "set -e\n${script}printf '\\n@@ end\\n'\n";
close $fh or die $!;

my $out = do {
	local $ENV{SATCHEL_BUILD} = abs_path($build);
	local $ENV{PYTHONDONTWRITEBYTECODE} = 1;
	`cd '$tmp' && sh tour.sh 2>&1`;
};
my $rc = $? >> 8;
my (undef, %said) = split /\n@@ (\w+)\n/, $out, -1;
for my $i (0 .. $#blocks) {
	my ($first) = $blocks[$i] =~ /^(.{1,60})/;
	my $next = $i == $#blocks ? 'end' : $i + 1;
	ok(exists $said{$next}, "README: $first")
	    or diag($said{$i} // '(not reached)');
}
is($rc, 0, 'README: all of it runs');
diag($out) if $rc;

# The demo's program reads what spreadsheets of many countries save, and does not
# draw what has no numbers.
{
	my $demo = decode_json(slurp("$top/tools/scripted-demo.json"));
	my ($python) = $demo->{rounds}[0][0]{calls}[0]{arguments}{command}
	    =~ /<<'PY'\n(.*)^PY$/ms;
	for (['semicolons', "month;amount\nJan;1,5\nFeb;2,5\n", 'amount sum 4.0'],
	    ['no numbers', "a;b\nx;y\n", 'no column of the file holds numbers only'],
	    ['no rows', "a;b\n", 'the file has no rows below its first line']) {
		my ($what, $csv, $says) = @$_;
		my $here = tempdir('satchel-csv.XXXXXX', TMPDIR => 1, CLEANUP => 1);
		open my $fh, '>', "$here/x.csv" or die $!;
		print $fh $csv;
		close $fh;
		open $fh, '>', "$here/x.py" or die $!;
		print $fh $python;
		close $fh;
		my $out = `cd '$here' && MPLBACKEND=Agg MPLCONFIGDIR='$here' /usr/bin/python3 x.py x.csv 2>&1`;
		like($out, qr/^\Q$says\E$/m, "the demo's program: $what");
		is(-e "$here/chart.png" ? 1 : 0, $what eq 'semicolons' ? 1 : 0,
		    '... draws what there is');
	}
}

# What the block that begins with ${like} has printed.
sub printed {
	my ($like) = @_;
	my ($i) = grep { $blocks[$_] =~ /$like/ } 0 .. $#blocks;
	return $said{$i // ''} // '';
}

# Is the file ${path} a whole PNG?
sub png {
	my ($path) = @_;
	return slurp($path) =~
	    /\A\x89PNG\r\n\x1a\n....IHDR.*IEND\xae\x42\x60\x82\z/s;
}

like(printed(qr{^sh tools/demo$}), qr{^The chart: \S+/var/chart\.png$}m,
    'the demo: it says where the chart is');
like(printed(qr{^sh tools/demo$}), qr{^demo: ending the stack that runs: .*--set is gone$}m,
    '... that it ends what runs');
like(printed(qr{^sh tools/demo$}), qr{^demo: starting .*^demo: uploading, }ms,
    '... what it does');
unlike(printed(qr{^sh tools/demo --sdk python$}), qr{^demo: (?:ending|starting)}m,
    '... and that alone');
like(printed(qr{^sh tools/demo$}), qr{"model" was a script},
    '... and what it was');
ok(png("$tmp/var/chart.png"), '... which is one');
for my $kind (qw(python node)) {
	like(printed(qr{^sh tools/demo --sdk $kind$}),
	    qr{^The chart: \S+\.png$}m, "the demo through the SDK: $kind");
}
like(printed(qr{/readyz}), qr/"status":"ok"/, 'the tour: ready');
my $file = eval { decode_json(slurp("$tmp/file.json")) } // {};
is(($file->{filename} // '') . ' ' . ($file->{bytes} // ''), 'sales.csv 36',
    '... a file in words of the one');
is(($file->{expires_at} // 0) - ($file->{created_at} // 0), 3600,
    '... that expires in an hour');
my $other = eval { decode_json(printed(qr/grep .* file\.json/)) } // {};
is(($other->{type} // '') . ' ' . ($other->{size_bytes} // ''), 'file 36',
    '... and of the other');
my $answer = eval { decode_json(slurp("$tmp/answer.json")) } // {};
my ($ran) = grep { $_->{type} eq 'bash_code_execution_tool_result' }
    @{ $answer->{content} || [] };
is($ran->{content}{return_code}, 0, '... code ran');
like($ran->{content}{stdout}, qr/\bamount sum 360\.0$/m,
    '... over its numbers');
ok(png("$tmp/chart.png"), '... and its chart is here');
like(printed(qr/import anthropic/), qr/^saved sdk\.png$/m,
    "... by Anthropic's SDK too");
ok(png("$tmp/sdk.png"), '... whole');
like(printed(qr/import openai/), qr/chart.*^saved openai\.png$/ms,
    "... and by OpenAI's");
ok(png("$tmp/openai.png"), '... whole');
like(printed(qr{^sh tools/check}), qr/^0 passed, 0 failed\nPASS$/m,
    'the check: its first step');

my $status = `sh '$tmp/tools/stack' status 2>&1`;
is(() = $status =~ /not running/g, 6, 'all is down at the end');
is(join('', glob "$tmp/var/run/*.pid"), '', '... the model too');
my @errors = grep { /"level":"err/ } map { split /^/ }
    map { slurp($_) } glob "$tmp/var/log/{gateway,sandbox}.log";
is(join('', @errors), '', 'and nothing went wrong unseen');
done_testing();
