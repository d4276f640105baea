package Kernel;

# What tests need of the kernel and cannot bring along.
#
#	Kernel::need('landlock')   the whole file, or none of it
#	if (Kernel::has('cgroup')) { ... }   a part of a file
#
# Where it is missing, a line "not run: the kernel lacks ..." says so, which
# tools/check counts.  Nothing else is left out of a run.

use strict;
use warnings;
use Test::More;

my %what = (
    landlock => 'Landlock ABI 6 (Linux 6.12)',
    cgroup => 'a control group for memory that root can hand over',
);

# The number of landlock_create_ruleset() on all architectures; with these
# arguments it answers with its version.
my $LANDLOCK = 444;

# The hierarchy of version 1 for memory; undef without one.
sub cgroup_v1 {
	open my $fh, '<', '/proc/self/mounts' or return;
	while (<$fh>) {
		my (undef, $at, $type, $options) = split / /;
		return $at if $type eq 'cgroup'
		    && $options =~ /(?:^|,)memory(?:,|$)/;
	}
	return;
}

our %test = (
    landlock => sub { return syscall($LANDLOCK, 0, 0, 1) >= 6 },
    cgroup => sub { return $> == 0 && defined cgroup_v1() },
);

sub lacking { return "not run: the kernel lacks $what{$_[0]}" }

sub has {
	my ($name) = @_;
	return 1 if $test{$name}();
	diag(lacking($name));
	return 0;
}

sub need {
	my ($name) = @_;
	plan(skip_all => lacking($name)) if !$test{$name}();
	return;
}

1;
