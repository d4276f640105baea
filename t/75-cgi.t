#!/usr/bin/perl

# The same binary as a plain CGI program, under the three servers that run them:
# nginx with fcgiwrap, lighttpd, and Apache with mod_cgid.  They take no
# X-Accel-Redirect, so the program sends the bytes itself.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Digest::SHA qw(sha256_hex);
use File::Copy qw(copy);
use IO::Socket::INET;
use Test::More;
use Time::HiRes qw(sleep time);
use Satchel qw(header);

my $s = Satchel->new(set => { 'files.sendfile' => 'stream',
    'files.max_bytes' => 10_000_000 });
my ($bare) = $s->{env}{SATCHEL_ADMIN} =~ /^(.*)-admin/;
my @as = split ' ', $bare;	# setpriv and its words, if we are root
my $satchel = pop @as;
my $dir = "$s->{tmp}/cgi";
my @servers;

sub slurp { local (@ARGV, $/) = @_; return scalar <> // '' }

sub spew {
	my ($path, $text) = @_;
	open my $fh, '>', $path or die "$path: $!";
	print $fh $text;
	close $fh or die "$path: $!";
	chmod 0644, $path;
}

sub free_port {
	my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')
	    or die $!;
	return $l->sockport;
}

# run_server($name, @command): start it as the services' user.
sub run_server {
	my ($name, @command) = @_;
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		setpgrp;
		open STDIN, '<', '/dev/null' or die $!;
		open STDOUT, '>>', "$dir/$name.log" or die $!;
		open STDERR, '>&', *STDOUT or die $!;
		$ENV{PATH} = "$ENV{PATH}:/usr/sbin:/sbin";
		exec @as, @command or die "$command[0]: $!";
	}
	push @servers, $pid;
}

sub stop_servers {
	kill TERM => map { -$_ } @servers;
	waitpid $_, 0 for @servers;
	@servers = ();
}
END { local $?; stop_servers() if @servers }

# Wait until something answers there.
sub await {
	my ($name, $port) = @_;
	for (my $end = time + 20; time < $end; sleep 0.05) {
		return if IO::Socket::INET->new(PeerAddr => '127.0.0.1',
		    PeerPort => $port);
	}
	die("$name does not start: " . slurp("$dir/$name.log"));
}

mkdir $dir or die $!;
mkdir "$dir/cgi-bin" or die $!;
chmod 0777, $dir, "$dir/cgi-bin";
copy($satchel, "$dir/cgi-bin/satchel") or die "$satchel: $!";
chmod 0755, "$dir/cgi-bin/satchel";
my $conf = "$dir/satchel.yml";
spew($conf, slurp("$s->{dir}/conf/satchel.yml") . slurp("$s->{dir}/conf/set.yml"));
my ($nginx, $light, $apache) = map { free_port() } 1 .. 3;

# --- nginx and fcgiwrap ---

spew("$dir/nginx.conf", <<"END");
daemon off;
pid $dir/nginx.pid;
error_log $dir/nginx-error.log;
events { worker_connections 64; }
http {
	access_log off;
	client_max_body_size 0;
	client_body_temp_path $dir/t1; proxy_temp_path $dir/t2;
	fastcgi_temp_path $dir/t3; uwsgi_temp_path $dir/t4;
	scgi_temp_path $dir/t5;
	server {
		listen 127.0.0.1:$nginx;
		location / {
			fastcgi_param REQUEST_METHOD \$request_method;
			fastcgi_param REQUEST_URI \$request_uri;
			fastcgi_param QUERY_STRING \$query_string;
			fastcgi_param CONTENT_TYPE \$content_type;
			fastcgi_param CONTENT_LENGTH \$content_length;
			fastcgi_param SCRIPT_NAME \$fastcgi_script_name;
			fastcgi_param PATH_INFO \$document_uri;
			fastcgi_param REMOTE_ADDR \$remote_addr;
			fastcgi_param SCRIPT_FILENAME $dir/cgi-bin/satchel;
			fastcgi_param SATCHEL_CONF $conf;
			fastcgi_param GATEWAY_INTERFACE CGI/1.1;
			fastcgi_request_buffering off;
			fastcgi_pass unix:$dir/wrap.sock;
		}
	}
}
END
run_server('fcgiwrap', 'fcgiwrap', '-c', 4, '-s', "unix:$dir/wrap.sock");
run_server('nginx', 'nginx', '-e', "$dir/nginx-error.log", '-p', $dir,
    '-c', "$dir/nginx.conf");

# --- lighttpd ---

spew("$dir/lighttpd.conf", <<"END");
server.document-root = "$dir"
server.port = $light
server.bind = "127.0.0.1"
server.errorlog = "$dir/lighttpd-error.log"
server.pid-file = "$dir/lighttpd.pid"
server.upload-dirs = ( "$dir" )
server.stream-response-body = 1
server.modules = ( "mod_setenv", "mod_cgi" )
setenv.add-environment = ( "SATCHEL_CONF" => "$conf" )
\$HTTP["url"] =~ "^/cgi-bin/" { cgi.assign = ( "" => "" ) }
END
run_server('lighttpd', 'lighttpd', '-D', '-f', "$dir/lighttpd.conf");

# --- Apache ---

my $modules = '/usr/lib/apache2/modules';
spew("$dir/apache.conf", <<"END");
ServerRoot $dir
ServerName localhost
Listen 127.0.0.1:$apache
PidFile $dir/apache.pid
ErrorLog $dir/apache-error.log
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule alias_module $modules/mod_alias.so
LoadModule cgid_module $modules/mod_cgid.so
LoadModule env_module $modules/mod_env.so
ScriptSock $dir/cgid.sock
ScriptAlias /cgi-bin/ $dir/cgi-bin/
SetEnv SATCHEL_CONF $conf
SetEnv ap_trust_cgilike_cl 1
<Directory $dir/cgi-bin>
	CGIPassAuth On
	Require all granted
</Directory>
END
run_server('apache', 'apache2', '-d', $dir, '-f', "$dir/apache.conf",
    '-DFOREGROUND');

# --- the same requests to each ---

my $bytes = join '', map { pack 'N', $_ * 2654435761 % 2**32 } 1 .. 75_000;

sub try_server {
	my ($name, $port, $base) = @_;
	my @to = (port => $port);
	await($name, $port);

	my $r = $s->get("$base/healthz", as => undef, @to);
	is("$r->{status} $r->{json}{status}", '200 ok', "$name: it answers");
	$r = $s->get("$base/v1/files", as => undef, @to);
	is("$r->{status} $r->{json}{error}{code}", '401 invalid_api_key',
	    "$name: no key");
	$r = $s->get("$base/v1/nothing", ant => 1, @to);
	is("$r->{status} $r->{json}{error}{type}", '404 not_found_error',
	    "$name: an unknown path");

	# An upload with a length.
	my ($type, $form) = Satchel::form(['purpose', 'user_data'],
	    ['file', $bytes, 'data.bin', 'application/octet-stream']);
	$r = $s->post("$base/v1/files", body => $form,
	    headers => ['Content-Type' => $type], @to);
	is("$r->{status} $r->{json}{bytes}", '200 300000', "$name: an upload");
	my $id = $r->{json}{id};

	# One in chunks.
	$r = $s->post("$base/v1/files", body => $form, chunked => 1,
	    headers => ['Content-Type' => $type], @to);
	is("$r->{status} $r->{json}{bytes}", '200 300000',
	    "$name: an upload in chunks");

	# What is refused.
	my ($big_type, $big) = Satchel::form(['file', 'x' x 12_000_000, 'b']);
	$r = $s->post("$base/v1/files", body => $big,
	    headers => ['Content-Type' => $big_type], @to);
	is("$r->{status} $r->{json}{error}{code}", '413 file_too_large',
	    "$name: too large");
	$r = $s->post("$base/v1/files", body => '{}',
	    headers => ['Content-Type' => 'application/json'], @to);
	is($r->{status}, 415, "$name: not a form");
	$r = $s->post("$base/v1/files", headers => ['Content-Type' => $type],
	    body => substr($form, 0, -10), @to);
	is("$r->{status} $r->{json}{error}{code}", '400 incomplete_body',
	    "$name: a form without its end");

	# List, retrieve, and the bytes.
	$r = $s->get("$base/v1/files?limit=1", @to);
	is("$r->{status} " . scalar @{ $r->{json}{data} }, '200 1', "$name: a list");
	$r = $s->get("$base/v1/files/$id", ant => 1, @to);
	is("$r->{status} $r->{json}{size_bytes}", '200 300000', "$name: one file");
	$r = $s->get("$base/v1/files/$id/content", @to);
	is("$r->{status} " . sha256_hex($r->{body}), '200 ' . sha256_hex($bytes),
	    "$name: its bytes");
	is(header($r, 'Content-Length'), 300000, "$name: ... with their length");
	is(header($r, 'X-Accel-Redirect'), undef, "$name: ... and no inner path");
	my $etag = header($r, 'ETag');
	$r = $s->get("$base/v1/files/$id/content", @to,
	    headers => [Range => 'bytes=100-199']);
	is("$r->{status} " . unpack('H*', $r->{body}),
	    '206 ' . unpack('H*', substr $bytes, 100, 100), "$name: a part of them");
	is(header($r, 'Content-Range'), 'bytes 100-199/300000', "$name: ... which");
	$r = $s->get("$base/v1/files/$id/content", @to,
	    headers => ['If-None-Match' => $etag]);
	is("$r->{status}$r->{body}", '304', "$name: not modified");
	$r = $s->head("$base/v1/files/$id/content", @to);
	is("$r->{status} " . header($r, 'Content-Length'), '200 300000',
	    "$name: HEAD");

	$r = $s->get("$base/v1/files/a.b", @to);
	is("$r->{status} $r->{json}{error}{param}", '404 id', "$name: an odd id");
	$r = $s->get("$base/healthz?--help", as => undef, @to);
	is("$r->{status} $r->{json}{status}", '200 ok',
	    "$name: a query is no argument");
	$r = $s->del("$base/v1/files/$id", @to);
	is("$r->{status} " . ($r->{json}{deleted} ? 1 : 0), '200 1', "$name: gone");
	is($s->get("$base/v1/files/$id", @to)->{status}, 404, "$name: really");
	is($s->get("$base/metrics", @to)->{status}, 404,
	    "$name: nothing is counted");
}

try_server('nginx', $nginx, '');
try_server('lighttpd', $light, '/cgi-bin/satchel');
try_server('apache', $apache, '/cgi-bin/satchel');

is($s->get('/cgi-bin/satchel/v1/files', as => undef, port => $apache,
    headers => ['x-api-key' => $s->{key}{alice}])->{status}, 200,
    'apache: x-api-key');

stop_servers();
my $logs = join '', map { slurp($_) } glob "$dir/*.log";
unlike($logs, qr/Sanitizer|runtime error:/, 'no sanitizer spoke');
$s->done;
done_testing();
