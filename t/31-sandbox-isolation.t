#!/usr/bin/perl

# The attacks on a session in namespaces.

use strict;
use warnings;
use Test::More;
use Attacks;

attacks('namespaces');
done_testing();
