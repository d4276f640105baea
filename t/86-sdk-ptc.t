#!/usr/bin/perl

# Programmatic tool calling through the vendor's unmodified packages, against
# the whole stack.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Provider;
use Satchel;
use Sdk;

my $p = Provider->new(script => { models => { many => [
    { calls => [{ name => 'code_execution', arguments => { code =>
    "rs = await asyncio.gather(*[get_temp(city=str(i)) for i in range(30)])\n"
    . 'print(sum(int(r) for r in rs))' } }] },
    { expect => ['435'], text => 'So it is.' }] } });
my $s = Satchel->new(providers => $p->port);
Sdk::check($s, '@anthropic-ai/sdk 1.14.0', Sdk::node('ptc.mjs',
    'anthropic-1-14'));
Sdk::check($s, 'anthropic, new', Sdk::python('new', 'ptc.py'));
$s->done;
done_testing();
