#!/usr/bin/perl

# The attacks on a session that Landlock and system call filters confine.

use strict;
use warnings;
use Test::More;
use Attacks;

attacks('landlock');
done_testing();
