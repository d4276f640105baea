# Bytes behind a front that takes X-Sendfile: lighttpd with FastCGI.

use strict;
use warnings;
use FindBin;
use IO::Socket::INET;
use Test::More;
use Time::HiRes qw(sleep);
use Files;

my $c = Files->stack(set => { 'files.sendfile' => 'x-sendfile' });
my $s = $c->{s};
my $ten = '0123456789';
my $id = $c->file($ten, 'ten.txt', mime => 'text/plain');
my $tag = '"sha256-' . sha256_hex($ten) . '"';

# What the worker says, as seen through nginx, which does not know the header.
{
	my $r = $c->get("/v1/files/$id/content");
	my $path = $r->{header}{'x-sendfile'};
	ok(defined $path && -f $path && index($path, "$s->{root}/") == 0,
	    'the worker names a file of the store');
	is($r->{body}, '', 'and sends nothing itself');
	for (['a range', Range => 'bytes=1-2'], ['a range that is none',
	    Range => 'bytes=x'], ['a condition', 'If-Match' => $tag]) {
		my ($what, @h) = @$_;
		my $r = $c->get("/v1/files/$id/content", headers => \@h);
		is($r->{header}{'x-sendfile'}, undef, "$what: not left to it");
		is($r->{body}, $what eq 'a range' ? '12' : $ten,
		    "$what: the worker answers");
	}
	is($c->request('HEAD', "/v1/files/$id/content")
	    ->{header}{'content-length'}, 10, 'HEAD: the length');
}

# --- lighttpd ---

my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die;
my $port = $l->sockport;
close $l;
my $dir = "$s->{tmp}/light";
mkdir $dir or die $!;
chmod 0777, $dir;
# The recipe that is handed out, with this stack's paths.
sub recipe {
	my ($name) = @_;
	my $text = Satchel::_slurp("$FindBin::Bin/../conf/web/$name");
	$text =~ s{/run/satchel/}{$s->{dir}/run/}g;
	$text =~ s{/srv/satchel/files/}{$s->{root}/}g;
	return $text;
}
open my $f, '>', "$dir/conf" or die $!;
print $f <<"END" . recipe('lighttpd.conf');
server.document-root = "$dir"
server.port = $port
server.bind = "127.0.0.1"
server.errorlog = "$dir/error.log"
server.upload-dirs = ( "$dir" )
END
close $f;
chmod 0644, "$dir/conf";
my ($as) = $s->{env}{SATCHEL_ADMIN} =~ /^(.*?)\S+-admin/;
my $pid = fork // die "fork: $!";
if (!$pid) {
	$ENV{PATH} .= ':/usr/sbin:/sbin';
	open STDERR, '>', "$dir/start.log" or die $!;
	exec split(' ', $as), 'lighttpd', '-D', '-f', "$dir/conf" or die $!;
}
END { local $?; kill 'TERM', $pid if $pid }
$c->wait_for(sub { IO::Socket::INET->new(PeerAddr => '127.0.0.1',
    PeerPort => $port) }) or die('lighttpd does not start');

{
	local $s->{port} = $port;
	my $r = $c->get("/v1/files/$id/content");
	my $h = $r->{header};
	is("$r->{status} $r->{body}", "200 $ten", 'the bytes');
	is(join(' ', @$h{qw(content-length etag accept-ranges cache-control)}),
	    "10 $tag bytes private, no-cache", 'and the headers');
	is("$h->{'content-disposition'} $h->{'x-content-type-options'} "
	    . $h->{'content-security-policy'}, 'attachment; filename="ten.txt"'
	    . " nosniff sandbox; default-src 'none'", 'which are harmless');
	is($h->{'x-sendfile'}, undef, 'no inner path');
	$r = $c->get("/v1/files/$id/content", headers => [Range => 'bytes=7-']);
	is("$r->{status} $r->{header}{'content-range'} $r->{body}",
	    '206 bytes 7-9/10 789', 'a range');
	$r = $c->get("/v1/files/$id/content",
	    headers => [Range => 'bytes=0-1,3-4']);
	is("$r->{status} $r->{body}", "200 $ten", 'two ranges: the whole file');
	$r = $c->get("/v1/files/$id/content",
	    headers => ['If-None-Match' => $tag]);
	is("$r->{status}$r->{body}", '304', 'not modified');
	is($s->get('/v1/models')->{status}, 200, 'the other pool');
	is($s->get('/readyz', as => undef)->{status}, 200, 'a path without more');
	my $big = join '', map { chr($_ % 253) } 1 .. 5000000;
	my $bid = $c->file($big, 'big.bin');
	is(sha256_hex($c->get("/v1/files/$bid/content")->{body}),
	    sha256_hex($big), 'a large file');
}

kill 'TERM', $pid;
waitpid $pid, 0;
undef $pid;

# --- Apache, by mod_proxy_fcgi ---

my $modules = '/usr/lib/apache2/modules';
open $f, '>', "$dir/apache.conf" or die $!;
print $f <<"END" . recipe('apache.conf');
ServerRoot $dir
ServerName localhost
Listen 127.0.0.1:$port
PidFile $dir/apache.pid
ErrorLog $dir/apache-error.log
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule proxy_module $modules/mod_proxy.so
LoadModule proxy_fcgi_module $modules/mod_proxy_fcgi.so
END
close $f;
chmod 0644, "$dir/apache.conf";
$c->{s}->restart(set => { 'files.sendfile' => 'stream' });
$pid = fork // die "fork: $!";
if (!$pid) {
	$ENV{PATH} .= ':/usr/sbin:/sbin';
	open STDERR, '>', "$dir/start.log" or die $!;
	exec split(' ', $as), 'apache2', '-d', $dir, '-f', "$dir/apache.conf",
	    '-DFOREGROUND' or die $!;
}
$c->wait_for(sub { IO::Socket::INET->new(PeerAddr => '127.0.0.1',
    PeerPort => $port) }) or die('Apache does not start');
{
	local $s->{port} = $port;
	is($s->get('/readyz', as => undef)->{status}, 200, 'Apache: it answers');
	is($s->get('/v1/models')->{status}, 200, 'Apache: the pool for models');
	is($s->get('/v1/files', as => undef)->{status}, 401, 'Apache: no key');
	my $file = $s->upload($ten, name => 'a b.txt')->{json}{id};
	my $r = $s->get("/v1/files/$file/content", headers => [Range => 'bytes=7-']);
	is("$r->{status} $r->{body}", '206 789', 'Apache: a file, and a part of it');
	is($s->get('/v1/nope')->{json}{error}{type}, 'invalid_request_error',
	    'Apache: a path that is no route is answered by the worker');
}
kill 'TERM', $pid;
waitpid $pid, 0;
undef $pid;
$c->done;
done_testing;
