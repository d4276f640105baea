#!/usr/bin/perl

# Two sandbox hosts behind the nginx of nginx/satchel-sandboxes.conf: whoever made
# a session has it, and what one host loses is its own sessions.  As root each of
# them is in a network of its own, with the address that the file has.

use strict;
use warnings;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);
use Sandbox;

if ($> == 0 && !$ENV{SATCHEL_ALONE}) {
	$ENV{SATCHEL_ALONE} = 1;
	exec 'unshare', '-n', '--', $^X, (map { "-I$_" } @INC), $0 or die $!;
}
if ($> == 0) {
	system(qw(ip link set lo up)) == 0 or die;
	# What that file wants of a gateway.
	my %sysctl = Satchel::_slurp('nginx/satchel-sandboxes.conf')
	    =~ /^#\s+(net\.ipv4\.\S+) = (\d+)$/mg;
	is(scalar keys %sysctl, 4, 'as root: what the system is told');
	Satchel::_spew('/proc/sys/' . $_ =~ tr{.}{/}r, $sysctl{$_})
	    for keys %sysctl;
}
my %host = map { $_ => Sandbox->new(set => { 'sandbox.host_label' => "h$_",
    'sandbox.token' => 'one-for-both-hosts', 'sandbox.sessions_max' => 6 },
    $> == 0 ? (address => "192.0.2.$_") : ()) }
    1, 2;
%host = map { ("h$_" => $host{$_}) } keys %host;

# A client of the front, with the protocol of a host.
my $front = bless { %{$host{h1}}, alive => 0, host => undef, in => undef },
    'Sandbox';
my $probe = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1);
$front->{port} = $probe->sockport;
close $probe;
my $text = Satchel::_slurp('nginx/satchel-sandboxes.conf');
my %at = map { $_ => ($host{$_}{host} // '127.0.0.1') . ":$host{$_}{port}" }
    keys %host;
$text =~ s/192\.0\.2\.$_:8090/$at{"h$_"}/g for 1, 2;
$text =~ s/127\.0\.0\.1:8091/127.0.0.1:$front->{port}/;
is(join(' ', $text =~ /server ([\d.:]+)/g), "$at{h1} $at{h2} $at{h1} $at{h2}",
    'the file has the addresses to be set');
my $dir = $host{h1}{dir};
my $temp = join ' ', map { "${_}_temp_path $dir/tmp/f$_;" }
    qw(client_body fastcgi proxy uwsgi scgi);
Satchel::_spew("$dir/front.conf", "daemon off; pid $dir/tmp/front.pid;\n"
    . "error_log stderr; events { }\nhttp { access_log off; $temp\n$text}\n");
my $nginx = $front->_start('front', 0, 'nginx', '-e', 'stderr', '-c',
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

# As root: a link is cut.
my ($kept, $lost) = map { $of{$_}[0] } qw(h1 h2);
if ($> == 0) {
	isnt(readlink "/proc/$host{h1}{net}/ns/net",
	    readlink "/proc/$host{h2}{net}/ns/net", 'as root: two networks');
	my $busy = open(my $out, '-|') // die $!;
	if (!$busy) {
		my $r = $front->exec($lost, 'bash_code_execution',
		    { command => 'sleep 45' }, timeout => 50);
		print "$r->{status} " . ($r->{json}{code} // '');
		close STDOUT;
		POSIX::_exit(0);
	}
	sleep 1;
	my $cut = time;
	$host{h2}->link('down');
	my $r = $front->exec($lost, 'bash_code_execution', { command => 'true' });
	is("$r->{status} " . ($r->{json}{code} // ''), '404 not_found',
	    'as root: a host cannot be reached: its sessions are gone');
	cmp_ok(time - $cut, '<', 30, 'as root: which is soon known');
	is(scalar <$out>, '404 not_found', 'as root: so are calls that ran there');
	cmp_ok(time - $cut, '<', 42, 'as root: before they would have ended');
	my $again = time;
	is($front->get("/sessions/$lost")->{status}, 404, 'as root: asked again');
	cmp_ok(time - $again, '<', 4, 'as root: it is known at once');
	is($front->bash($kept, 'cat f')->{stdout}, "h1\n",
	    'as root: the others are not');
	like($front->session, qr/^sbx_h1/, 'as root: new ones are made elsewhere');
	$host{h2}->link('up');
	my $until = time + 30;
	sleep 0.1 until $front->get("/sessions/$lost")->{status} == 200
	    || time > $until;
	# It waits until that call has ended, of whose caller nobody has heard.
	is($front->bash($lost, 'cat f', timeout => 60)->{stdout}, "h2\n",
	    'as root: and are there again with the link');
}

# One goes away.
$host{h2}->expect_log(qr/./);
$host{h2}->down;
kill 'TERM', $host{h2}{nginx};
waitpid delete $host{h2}{nginx}, 0;
my $r = $front->exec($lost, 'bash_code_execution', { command => 'true' });
is("$r->{status} $r->{json}{code}", '404 not_found',
    'a host is lost: its sessions are gone, in the words of the protocol');
is($front->fetch($lost, 'f')->{status}, 404, '... files too');
is($front->bash($kept, 'cat f')->{stdout}, "h1\n", 'the others are not');
my @more;
while (@more < 6) {
	$r = $front->post('/sessions', json => {});
	last if $r->{status} != 201;
	push @more, $r->{json}{session_id};
}
is(scalar(grep { /^sbx_h1/ } @more), scalar @more, 'new ones are made elsewhere');
is($front->post('/sessions', json => {})->{status}, 503,
    'until there is no room');

# And comes back.
$host{h2}->_nginx;
$host{h2}->up;
my $address = ($host{h2}{host} // '127.0.0.1') . ":$host{h2}{port}";
$text = Satchel::_slurp("$dir/front.conf") =~ s{(upstream satchel_sandbox_h2 \{\s*server )[^;]+}{$1$address}r
    =~ s{(least_conn;\s*server \S+ [^;]+;\s*server )\S+}{$1$address}r;
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
