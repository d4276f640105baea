#!/usr/bin/perl

# What the compiler does not say: layers, owners of vendor libraries, where SQL
# may stand, banned calls, widths and lengths, comments above prototypes, format.

use strict;
use warnings;
use Test::More;
use Text::Tabs qw(expand);

# A layer may include itself and those to its left.  The sandbox stands apart.
my @layers = qw(base http io data speech run);
my %may = map {
	my $i = $_;
	$layers[$i] => { map { $_ => 1 } @layers[0 .. $i] };
} 0 .. $#layers;
$may{jail} = { base => 1, jail => 1 };
my $layer = join '|', keys %may;

my %only = (			# This header only in these files.
	'mysql.h'     => qr{^lib/io/db(_\w+)?\.[ch]$},
	'curl/curl.h' => qr{^lib/io/upstream(_\w+)?\.[ch]$},
	'uninorm.h'   => qr{^lib/base/nfc\.c$},
	'yaml.h'      => qr{^lib/base/yamlplain\.h$},
	'fcgiapp.h'   => qr{^(fcgi/(front\.c|io\.c|io_fcgx\.h)|t/unit/fcgx\.c)$},
	'io/db.h'     => qr{^(lib/(io|data)|fcgi|tools|t)/},
);
my $sql = qr/"\s*(SELECT\s|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|
    CREATE\s+TABLE)/x;
my $sql_ok = qr{^(lib/data|t)/|^lib/io/db_};
my $banned = qr/\b(strcpy|strcat|strncpy|strncat|sprintf|vsprintf|gets|atoi|
    atol|strtok|system|popen|alloca|tmpnam|mktemp)\s*\(/x;

my (@lengths, %lines);

# Is ${inc}, included by ${file}, not for it?
sub misplaced {
	my ($file, $inc) = @_;
	return 1 if $only{$inc} && $file !~ $only{$inc};
	my ($to) = $inc =~ m{^($layer|fcgi)/};
	return 0 unless $to;
	return $file !~ m{^(fcgi|t)/} if $to eq 'fcgi';
	my ($from) = $file =~ m{^lib/($layer)/};
	return defined $from && !$may{$from}{$to};
}

# The names of prototypes in ${code} without a comment right above; one comment
# may stand over several in a row.
sub uncommented {
	my ($code) = @_;
	my @bad;
	$code =~ s{^#.*(?:\\\n.*)*\n}{}mg;
	$code =~ s{^(?:static )?(?:inline )?[^\n;{}]*\n?\w+\([^;{}]*\)\n\{.*?^\}\n}{}msg;
	while ($code =~ /^(?!typedef|extern|struct \w+ \{|enum \w+ \{)
	    [a-z_][^;{}=]*?\b(\w+)\s*\([^;{]*\)[^;{]*;\n/mgx) {
		my ($name, $before) = ($1, substr $code, 0, $-[0]);
		push @bad, $name if $before !~ /(\*\/|\);|\)\)\);)\n\z/;
	}
	return @bad;
}

sub check {
	my ($file) = @_;
	my ($bad, $start, $code) = ('', undef, '');
	local $_;
	open my $fh, '<:utf8', $file or die "$file: $!";
	while (<$fh>) {
		$code .= $_;
		$bad .= "$.: wider than 80\n" if length(expand($_)) > 81;
		$bad .= "$.: trailing space\n" if /[ \t]$/;
		$bad .= "$.: $1 is banned\n" if /$banned/;
		$bad .= "$.: SQL belongs into lib/data\n"
		    if /$sql/ && $file !~ $sql_ok;
		$bad .= "$.: $1 does not belong here\n"
		    if /^#\s*include [<"]([^>"]+)/ && misplaced($file, $1);
		$start = $. if /^\{/;
		if (/^\}/ && $start) {
			push @lengths, $. - $start - 1 if $file !~ m{^t/};
			$bad .= "$start: a function of " . ($. - $start - 1)
			    . " lines\n" if $. - $start - 1 > 100;
			undef $start;
		}
	}
	$lines{$file} = $.;
	$bad .= "$. lines, which is over 800\n" if $. > 800;
	$bad .= "no comment above $_\n"
	    for $file =~ m{^(lib|fcgi|tools)/.*\.h$} ? uncommented($code) : ();
	return $bad;
}

my $list = q{git ls-files --cached --others --exclude-standard 2>/dev/null};
chomp(my @all = `$list || find . -type f -printf '%P\n'`);
@all = grep { -f && !m{^(build|var|\.git/)} } @all;
# bench/ holds what we are measured against: it is built on nothing of ours.
my @c = grep { m{^(fcgi|lib|tools|t)/.*\.[ch]$} && !m{^tools/bench/} } @all;
cmp_ok(scalar @c, '>', 50, 'the sources are here');

for my $file (@c) {
	is(check($file), '', $file);
}

# The test must see what it is there to see.
is(join(' ', uncommented("/** x */\nint a(void);\nint b(int);\n\nint c(void);\n"
    . "\nstruct s {\n\tint (*f)(void);\n};\n")), 'c',
    'a prototype without a comment is found');
ok(misplaced('lib/data/file.c', 'run/turn.h')
    && misplaced('lib/jail/ns.c', 'io/db.h')
    && misplaced('lib/io/x.c', 'fcgi/req.h')
    && misplaced('lib/run/turn.c', 'mysql.h')
    && !misplaced('lib/run/turn.c', 'data/file.h'),
    'an include across the layers is found');

@lengths = sort { $a <=> $b } @lengths;
my $median = $lengths[@lengths / 2];
cmp_ok($median, '<=', 25, "median of @{[scalar @lengths]} function bodies: "
    . "$median lines, nine of ten under $lengths[@lengths * 0.9]");

# Nothing in the tree may hold only where it was written.
my @paths = grep { !m{\.(png|bin|gz|zst)$} } @all;
my $found = '';
for my $file (@paths) {
	open my $fh, '<', $file or next;
	while (<$fh>) {
		$found .= "$file:$.\n" if m{(?<![\w./-])/[w]ork/};
	}
}
is($found, '', 'no path of one machine in any file');

# Fuzz targets have seeds.
for my $target (grep { m{^t/fuzz/\w+\.c$} } @all) {
	my ($name) = $target =~ m{(\w+)\.c$};
	my @seeds = glob "t/fuzz/corpus/$name/*";
	cmp_ok(scalar @seeds, '>', 0, "seeds for the fuzz target $name");
}

my $format = `clang-format --dry-run -Werror @c 2>&1`;
is($? == 0 ? '' : join('', $format =~ /^(\S+?:\d+):\d+: error/mg ? map { "$_\n" }
    $format =~ /^(\S+?:\d+):\d+: error/mg : $format), '', 'clang-format');
done_testing();
