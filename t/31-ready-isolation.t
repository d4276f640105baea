#!/usr/bin/perl

# The attacks on a session that a keeper had ready: it is confined as others are.

use strict;
use warnings;
use Test::More;
use Attacks;

attacks('namespaces', keeper => 1);
done_testing();
