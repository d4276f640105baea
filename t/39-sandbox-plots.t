#!/usr/bin/perl

# Plots, in an interpreter that has matplotlib already and in one that loads it.

use strict;
use warnings;
use Test::More;
use Sandbox;

my $ready = Sandbox->new(keeper => 1, set => { 'sandbox.ready' => 1 });
my $cold = Sandbox->new;

for (['ready', $ready], ['cold', $cold]) {
	my ($name, $s) = @$_;
	my $id = $s->session;
	my $c = $s->python($id, "import matplotlib.pyplot as plt\n"
	    . "plt.plot([1, 3, 2])\nplt.show()", timeout => 60);
	is("$c->{return_code} $c->{stdout}$c->{stderr}", '0 ',
	    "$name: show() is silent");
	is("@{$c->{files}}", 'plot_1.png', '... and saves');
	my $png = $s->fetch($id, 'plot_1.png')->{body};
	is(substr($png, 0, 8), "\x89PNG\r\n\x1a\n", '... a PNG');
	is(join(' ', unpack('x16 N N', $png)), '640 480', '... of its size');
	$c = $s->python($id, "plt.show()");
	is("@{$c->{files}}", '', '... and only once');
	$c = $s->python($id, "open('plot_3.png', 'w').write('mine')\n"
	    . "plt.figure(); plt.plot([1])\nplt.figure(); plt.plot([2])\n"
	    . "plt.show(block=True)\nprint(plt.get_fignums())");
	is("@{$c->{files}}", 'plot_2.png plot_3.png plot_4.png',
	    '... each figure');
	is($c->{stdout}, "[]\n", '... which are closed then');
	is($s->fetch($id, 'plot_3.png')->{body}, 'mine',
	    '... and nothing is overwritten');
	$c = $s->python($id, "from pylab import *\nplot([1])\nshow()\n");
	is("@{$c->{files}}", 'plot_5.png', '... by its other name');
	is(lc $s->python($id, "import matplotlib\nprint(matplotlib.get_backend(),"
	    . " matplotlib.get_cachedir())")->{stdout}, "agg /tmp\n",
	    "$name: Agg, and a cache that can be written");
	$c = $s->python($id, "plt.figure(figsize=(100, 100))\n"
	    . "plt.savefig('big.png', dpi=100)");
	like($c->{stderr}, qr/^ValueError:\ an\ image\ of\ 10000\ x\ 10000\ pixels,
	    \ of\ which\ 67108864\ are\ possible\n\z/mx, "$name: an image too large");
	is($c->{return_code}, 1, '... is an ordinary error');
	is($s->fetch($id, 'big.png')->{status}, 404, '... and leaves no file');
	$c = $s->python($id, "plt.close('all')\nplt.figure(figsize=(20, 20))\n"
	    . "plt.plot([1])\nplt.savefig('fine.png', dpi=100)");
	is($c->{return_code}, 0, "$name: a large one is none");
	is(join(' ', unpack('x16 N N', $s->fetch($id, 'fine.png')->{body})),
	    '2000 2000', '... as large as it should be');
	$c = $s->python($id, "plt.title('\$x^2\$ \x{e4}')\n"
	    . "plt.savefig('v.svg'); plt.savefig('v.pdf')");
	is("$c->{return_code} @{$c->{files}}", '0 v.pdf v.svg',
	    "$name: other formats, and mathematics");

	# What is not in a label's font is in another, which is needed for it.
	$c = $s->python($id, "plt.close('all')\nplt.title('\x{6771}\x{4eac}"
	    . " \x{d55c} \x{30c6} T')\nplt.xlabel('\x{4e2d}\x{6587}')\n"
	    . "plt.savefig('labels.png')\nfrom matplotlib.font_manager import"
	    . " get_font\nprint(plt.rcParams['font.family'])");
	is("$c->{return_code} $c->{stderr}", '0 ',
	    "$name: Chinese, Japanese and Korean labels have their letters");
	is($c->{stdout}, "['sans-serif', 'Noto Sans CJK JP']\n",
	    '... from a font besides the usual one');

	# A program of its own, and one that it starts.
	$id = $s->session;
	my $r = $s->run($id, 'py', <<'END', manifest => [], timeout => 60);
import subprocess, sys
import matplotlib.pyplot as plt
plt.plot([1, 3, 2])
plt.show()
plt.figure(figsize=(20, 20))
plt.show()
subprocess.run([sys.executable, '-c',
    'from pylab import *; plot([1]); show()'], check=True)
END
	is("$r->{content}{return_code} $r->{content}{stdout}$r->{content}{stderr}",
	    '0 ', "$name, a program: show() is silent");
	is(join(' ', map { "$_->{path} $_->{state}" } @{$r->{files}}),
	    'plot_1.png new plot_2.png new plot_3.png new', '... and saves');
	$r = $s->run($id, 'py', "import matplotlib.pyplot as plt\n"
	    . "plt.figure(figsize=(100, 100))\nplt.show()", timeout => 60);
	like($r->{content}{stderr}, qr/ 67108864 are possible\n\z/,
	    '... within the same bounds');
}
$_->done for $ready, $cold;
done_testing();
