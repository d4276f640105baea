#!/usr/bin/perl

# Two sandbox hosts behind the nginx of nginx/satchel-sandboxes.conf: whoever made
# a session has it, and what one host loses is its own sessions.

use strict;
use warnings;
use Test::More;
use Time::HiRes qw(sleep time);
use Sandbox;

my %host = map { $_ => Sandbox->new(set => { 'sandbox.host_label' => $_,
    'sandbox.sessions_max' => 6 }) } qw(h1 h2);

# A client of the front, with the protocol of a host.
my $front = bless { %{$host{h1}}, alive => 0 }, 'Sandbox';
my $probe = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1);
$front->{port} = $probe->sockport;
close $probe;
my $text = Satchel::_slurp('nginx/satchel-sandboxes.conf');
$text =~ s/192\.0\.2\.$_:8090/127.0.0.1:$host{"h$_"}{port}/g for 1, 2;
$text =~ s/127\.0\.0\.1:8091/127.0.0.1:$front->{port}/;
unlike($text, qr/192\.0\.2|8091/, 'the file has the addresses to be set');
my $dir = $host{h1}{dir};
my $temp = join ' ', map { "${_}_temp_path $dir/tmp/f$_;" }
    qw(client_body fastcgi proxy uwsgi scgi);
Satchel::_spew("$dir/front.conf", "daemon off; pid $dir/tmp/front.pid;\n"
    . "error_log stderr; events { }\nhttp { access_log off; $temp\n$text}\n");
my $nginx = $host{h1}->_start('front', 0, 'nginx', '-e', 'stderr', '-c',
    "$dir/front.conf");
my $until = time + 10;
sleep 0.02 until eval { $front->get('/health')->{status} == 200 }
    || time > $until;

my @ids = map { $front->session } 1 .. 6;
my %of = map { my $label = $_; $label => [grep { /^sbx_$label/ } @ids] }
    qw(h1 h2);
cmp_ok(scalar @{$of{$_}}, '>', 0, "$_ makes some of them") for qw(h1 h2);
is(@{$of{h1}} + @{$of{h2}}, 6, 'and nobody else');
for my $label (qw(h1 h2)) {
	my $id = $of{$label}[0];
	is($front->bash($id, "echo $label >f; cat f")->{stdout}, "$label\n",
	    "$label: a call reaches its session");
	is($front->put($id, 'g', "from $label")->{status}, 201, '... a file too');
	is($host{$label}->fetch($id, 'g')->{body}, "from $label", '... there');
	is($front->get("/sessions/$id")->{status}, 200, '... it can be asked for');
	is($host{$label eq 'h1' ? 'h2' : 'h1'}->get("/sessions/$id")->{status},
	    404, '... the other host does not know it');
}

# One goes away.
$host{h2}->expect_log(qr/./);
$host{h2}->down;
kill 'TERM', $host{h2}{nginx};
waitpid delete $host{h2}{nginx}, 0;
my ($kept, $lost) = map { $of{$_}[0] } qw(h1 h2);
my $r = $front->exec($lost, 'bash_code_execution', { command => 'true' });
is("$r->{status} $r->{json}{code}", '404 not_found',
    'a host is lost: its sessions are gone, in the words of the protocol');
is($front->fetch($lost, 'f')->{status}, 404, '... files too');
is($front->bash($kept, 'cat f')->{stdout}, "h1\n", 'the others are not');
my @more = map { $front->session } 1 .. 6 - @{$of{h1}};
is(scalar(grep { /^sbx_h1/ } @more), scalar @more, 'new ones are made elsewhere');
is($front->post('/sessions', json => {})->{status}, 503,
    'until there is no room');

# And comes back.
$host{h2}->_nginx;
$host{h2}->up;
my $port = $host{h2}{port};
$text = Satchel::_slurp("$dir/front.conf") =~ s{(upstream satchel_sandbox_h2 \{\s*server )[^;]+}{${1}127.0.0.1:$port}r
    =~ s{(least_conn;\s*server \S+ [^;]+;\s*server )\S+}{${1}127.0.0.1:$port}r;
Satchel::_spew("$dir/front.conf", $text);
kill 'HUP', $nginx;
# A worker of before may still answer for a moment.
$until = time + 30;
my $well = 0;
while ($well < 10 && time < $until) {
	$well = $front->get("/sessions/$lost")->{status} == 200 ? $well + 1 : 0;
	sleep 0.05;
}
is($front->bash($lost, 'cat f')->{stdout}, "h2\n",
    'it comes back, at another address: its sessions have outlived that');
like($front->session, qr/^sbx_h2/, 'a full host: another one makes it');

kill 'TERM', $nginx;
waitpid $nginx, 0;
$_->done for values %host;
done_testing();
