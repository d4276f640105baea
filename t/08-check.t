#!/usr/bin/perl

# What tools/check and the tests' own library owe to who reads their last lines:
# a test file that cannot begin has failed, and the counts are true.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__) . '/lib';
use Satchel;

my $top = abs_path(dirname(__FILE__) . '/..');
my $dir = tempdir('satchel-check.XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $source = Satchel::_slurp("$top/tools/check");

# Functions of tools/check, to be called with words of ours.
sub functions {
	return join '', map { $source =~ /^(\Q$_\E\(\) \{\n.*?^\}\n)/ms
	    ? $1 : die "no function $_" } @_;
}

# --- a test that cannot begin ---

# What prove says of a file with this text.
sub proved {
	my ($text) = @_;
	Satchel::_spew("$dir/x.t", $text);
	local $ENV{SATCHEL_BUILD} = "$dir/no-build";
	return Satchel::run('prove', "-I$top/t/lib", "$dir/x.t");
}
for (['Satchel', 'Satchel->new'], ['Sandbox', 'Sandbox->new'],
    ['Sdk', '$Sdk::dir = "/nonexistent"; Sdk::node("x.mjs")']) {
	my ($module, $code) = @$_;
	my $r = proved("use Test::More; use $module;\nok(1, 'begun');\n"
	    . "$code;\nok(1, 'not reached');\ndone_testing();\n");
	isnt($r->{exit}, 0, "$module: a stack that is not there fails the file");
	like("$r->{out}$r->{err}", qr/^Result: FAIL$/m, '... which prove says');
	unlike("$r->{out}$r->{err}", qr/PASS|All tests successful/,
	    '... and nothing else');
}

# --- what the kernel lacks ---

my $lacks = 'not run: the kernel lacks Landlock ABI 6 (Linux 6.12)';
my $r = proved("use Test::More; use Kernel; no warnings;\n"
    . "\$Kernel::test{landlock} = sub { 0 }; Kernel::need('landlock');\n"
    . "ok(0, 'reached'); done_testing();\n");
is($r->{exit}, 0, 'a file that needs more than the kernel has');
like($r->{out}, qr/\Q$lacks\E$/m, '... says what');
my $part = proved("use Test::More; use Kernel; no warnings;\n"
    . "\$Kernel::test{landlock} = sub { 0 };\n"
    . "ok(0, 'reached') if Kernel::has('landlock');\n"
    . "ok(1, 'the rest'); done_testing();\n");
is($part->{exit}, 0, 'a part that does');
like($part->{err}, qr/\Q$lacks\E$/m, '... says so too');

# --- the last lines ---

# What the log ${text} is counted as, after the steps ${failed}.
sub counted {
	my ($text, $failed) = @_;
	Satchel::_spew("$dir/log", $text);
	return Satchel::run('sh', '-c', functions('count')
	    . "failed='$failed' log='$dir/log'\ncount")->{out};
}
my $good = "All tests successful.\nFiles=3, Tests=40, 2 wallclock secs\n"
    . "Result: PASS\nok lint shellcheck\n";
is(counted($good, ''), "41 passed, 0 failed\n", 'all is well');
is(counted("$good$good", ''), "82 passed, 0 failed\n", 'two runs add up');
is(counted("Failed 1/3 test programs. 2/40 subtests failed.\n"
    . "Files=3, Tests=40, 2 wallclock secs\nResult: FAIL\n", ' suite'),
    "38 passed, 2 failed\n", 'two tests of a file');
is(counted("Failed 2/3 test programs. 0/40 subtests failed.\n"
    . "Files=3, Tests=40, 2 wallclock secs\nResult: FAIL\n", ' suite'),
    "40 passed, 2 failed\n", 'two files that died between tests');
is(counted("cc: error\n", ' build'), "0 passed, 1 failed\n",
    'a step that counts nothing');
is(counted("not ok lint cppcheck\nok lint shellcheck\n", ' lint'),
    "1 passed, 1 failed\n", 'lint');
is(counted("$r->{out}$part->{err}$good", ''), "$lacks (2)\n"
    . "41 passed, 0 failed\n",
    'what the kernel lacks is counted before that');

# --- quick ---

my @named = map { my (undef, @names) = split ' '; @names } split /\n/,
    Satchel::run('sh', '-c', functions('wanted') . 'wanted')->{out};
cmp_ok(scalar @named, '>', 50, 'quick: the table names test files');
is(join(' ', grep { !-e "$top/t/$_.t" } @named), '', '... that are there');

# The files that these paths want.
sub chosen {
	my (@paths) = @_;
	Satchel::_spew("$dir/paths", join '', map { "$_\n" } @paths);
	my $r = Satchel::run('sh', '-c', "cd '$top'\n"
	    . functions('wanted', 'chosen') . "chosen <'$dir/paths'");
	return join ' ', split /\n/, $r->{out};
}
is(chosen('lib/io/db_run.c', 't/01-routes.t', 't/no-such.t', 'LICENSE',
    'lib/io/db.h'), 't/01-routes.t t/10-db.t', 'quick: what paths want');
chomp(my @sources = `cd '$top' && git ls-files fcgi lib nginx schema 2>/dev/null`);
is(join(' ', grep { chosen($_) eq '' } @sources[map { $_ * 7 } 0 .. $#sources / 7]),
    '', 'quick: each source wants some');
done_testing();
