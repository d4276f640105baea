#!/usr/bin/perl

# The attacks on a session that bubblewrap has made.

use strict;
use warnings;
use Test::More;
use Attacks;

attacks('bwrap');
done_testing();
