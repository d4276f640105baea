#!/usr/bin/perl

# A broken configuration starts nothing: every program says the same one line.
# What a good one comes to, satchel-admin prints.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Temp qw(tempdir);
use Test::More;
use Satchel qw(run);

my $build = $ENV{SATCHEL_BUILD} // 'build';
my $dir = tempdir(CLEANUP => 1);
my $file = "$dir/satchel.yml";
my $sock = "$dir/s.sock";

sub spew {
	my ($path, $text) = @_;
	open my $fh, '>', $path or die "$path: $!";
	print $fh $text;
	close $fh or die $!;
}

my %program = (
	satchel => ["$build/satchel", '-l', $sock, '-p', 'files', '-n', 1, '-c',
	    $file],
	'satchel-sandbox' => ["$build/satchel-sandbox", '-l', $sock, '-c', $file],
	'satchel-sweep' => ["$build/satchel-sweep", '--dry-run', '-c', $file],
	'satchel-admin' => ["$build/satchel-admin", '-c', $file, 'check'],
);

# cfg-yaml-traps, and what else must stop a start.
my %trap = (
	'a repeated key' => ["files:\n  root: /srv\n  max_bytes: 5\n"
	    . "  max_bytes: 6\n",
	    "$file:4: files.max_bytes: is given twice, first on line 3; keep one"],
	'a tab indent' => ["files:\n  root: /srv\n\tmax_bytes: 5\n",
	    "$file:3: max_bytes: the line is indented with a tab; "
	    . 'indent with spaces'],
	'an unknown key' => ["files:\n  root: /srv\n  max_byte: 5\n",
	    "$file:3: files.max_byte: there is no such setting; "
	    . 'the nearest is files.max_bytes'],
	'a size with a unit' => ["files:\n  root: /srv\n  max_bytes: 64MB\n",
	    "$file:3: files.max_bytes: \"64MB\" is not valid; use a whole "
	    . 'number from 1 to 1099511627776, without a unit'],
	'a price too fine' => ["files:\n  root: /srv\ncode_execution:\n"
	    . "  price_per_run: 0.1234567\n",
	    "$file:4: code_execution.price_per_run: \"0.1234567\" is not valid; "
	    . 'use a number with at most six digits after its point'],
	'a part that is not built yet' => ["files:\n  root: /srv\n"
	    . "store:\n  kind: s3\n",
	    "$file:4: store.kind: s3 is not built yet"],
	'no root' => ["log: {file: ''}\n", "$file: files.root: must be set; "
	    . 'use a path that begins with a slash and ends without one'],
);
for my $what (sort keys %trap) {
	my ($text, $says) = @{$trap{$what}};
	spew($file, $text);
	for my $name (sort keys %program) {
		# The sandbox's host has none of the gateway's files.
		next if $what eq 'no root' && $name eq 'satchel-sandbox';
		my $r = run("timeout", 20, @{$program{$name}});
		is($r->{err}, "$says\n", "$name: $what");
		ok($r->{exit} != 0 && $r->{out} eq '' && !-e $sock,
		    '... and nothing is served or printed');
	}
}

# The file we hand out is what the program prints.
my $r = run("$build/satchel-admin", 'conf');
is($r->{exit}, 0, 'satchel-admin conf');
open my $fh, '<', 'conf/satchel.yml' or die $!;
is($r->{out}, join('', <$fh>), '... prints conf/satchel.yml');

# Sources and secrets.
spew("$dir/password", "hunter2\n");
spew($file, "files:\n  root: $dir/files\nworkers:\n  processes: 3\n"
    . "sandbox:\n  token_env: T_TOKEN\ndatabase:\n"
    . "  password_file: $dir/password\n");
spew("$dir/more.yml", "workers: {processes: 4}\nproviders:\n  - name: one\n"
    . "    base_url: http://127.0.0.1:1/v1\n    api_key: swordfish\n");
{
	local $ENV{T_TOKEN} = 'opensesame';
	$r = run("$build/satchel-admin", '-c', $file, '-c', "$dir/more.yml",
	    '-s', 'files.grace_seconds=7', '--json', 'check', '--config-only');
}
is($r->{exit}, 0, 'check --config-only needs nothing but the files');
my %is = map { $_->{name} => "$_->{value} from $_->{source}" }
    @{$r->{json}{settings}};
is($is{'workers.processes'}, "4 from $dir/more.yml:1", 'the later file wins');
is($is{'files.grace_seconds'}, '7 from -s', 'the command line wins over all');
is($is{'files.max_bytes'}, '536870912 from default', 'a default');
is($is{'code_execution.executor'}, 'auto from default', 'the executor');
is($is{'sandbox.token'}, "(set) from $file:6 (environment T_TOKEN)",
    'a secret from the environment');
is($is{'database.password'}, "(set) from $file:8 (file $dir/password)",
    'a secret from a file');
is($is{'providers[0].api_key'}, "(set) from $dir/more.yml:5", 'a plain one');
unlike($r->{out}, qr/hunter2|opensesame|swordfish/, 'none of them is shown');
$r = run("$build/satchel-admin", '-s', "files.root=$dir", '-s',
    'code_execution.executor=otari', '-c', '/dev/null', '--json', 'check',
    '--config-only');
is((grep { $_->{name} eq 'code_execution.executor' }
    @{$r->{json}{settings}})[0]{value}, 'local', 'the executor by its other name');
$r = run("$build/satchel-admin", '-c', $file, 'check', '--config-only');
is($r->{err}, "$file:6: sandbox.token_env: the environment has no variable "
    . "T_TOKEN\n", 'a secret that is not there');
done_testing();
