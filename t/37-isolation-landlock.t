#!/usr/bin/perl

# The attacks on a session that Landlock and system call filters confine.

use strict;
use warnings;
use JSON::PP ();
use Test::More;
use Attacks;
use Sandbox;

attacks('landlock');

# What is forbidden to leave the session goes on within it.
my $s = Sandbox->new(set => { 'sandbox.isolation' => 'landlock' });
my $id = $s->session;
is($s->put($id, 'd/e/x.csv', "a\n")->{status}, 201,
    'a file is put into a directory of a directory');
is($s->fetch($id, 'd/e/x.csv')->{body}, "a\n", '... and got from there');
is($s->put($id, '/mnt/data/d/y.csv', "b\n")->{status}, 201,
    '... or by the path that a workspace has elsewhere');
my $c = $s->python($id, <<'PY');
import os
os.rename('d/e/x.csv', 'x.csv')
os.rename('x.csv', 'd/x.csv')
os.link('d/x.csv', 'l.csv')
print(sorted(os.listdir('d')), open('l.csv').read().strip())
PY
is("$c->{stdout}$c->{stderr}", "['e', 'x.csv', 'y.csv'] a\n",
    'files are moved and linked between directories');
is($s->bash($id, 'mv d/x.csv d/e && cat d/e/x.csv')->{stdout}, "a\n",
    '... by programs that are started too');

# What is done for a program's own modules reaches it.
my $r = $s->run($id, 'py', <<'PY');
import sys, matplotlib.pyplot as plt
plt.plot([1, 2])
plt.show()
print('sitecustomize' in sys.modules)
PY
is("$r->{content}{stdout}$r->{content}{stderr} @{$r->{content}{files}}",
    "True\n plot_1.png", 'a plot that a program of its own shows is saved');
is(join(' ', map { $_->{path} }
    @{JSON::PP::decode_json($s->list($id, '.')->{body})->{files}}),
    'l.csv plot_1.png', '... and what its libraries keep is not shown');
$s->done;
done_testing();
