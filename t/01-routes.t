#!/usr/bin/perl

# Every route goes to the pool its row names, by the nginx files we hand out: at
# the root of a host and below a path.

use strict;
use warnings;
use Test::More;

sub slurp {
	my ($path) = @_;
	open my $fh, '<', $path or die "$path: $!";
	local $/;
	return <$fh>;
}

# The locations of ${conf} in their order: {kind, pattern, body}.
sub locations {
	my ($conf) = @_;
	my @all;
	$conf =~ s/^\s*#.*//mg;
	while ($conf =~ /location\s+(=|~|\^~|)\s*(\S+)\s*\{(.*?)^\t?\}/msg) {
		push @all, { kind => $1, pattern => $2, body => $3 };
	}
	return @all;
}

# The one that nginx takes for ${path}.
sub chosen {
	my ($path, @all) = @_;
	my $best;
	for my $l (@all) {
		return $l if $l->{kind} eq '=' && $l->{pattern} eq $path;
		next if $l->{kind} eq '=' || $l->{kind} eq '~';
		$best = $l if index($path, $l->{pattern}) == 0 && (!$best
		    || length $l->{pattern} > length $best->{pattern});
	}
	return $best if $best && $best->{kind} eq '^~';
	for my $l (grep { $_->{kind} eq '~' } @all) {
		return $l if $path =~ /$l->{pattern}/;
	}
	return $best;
}

# The rows of fcgi/routes.c: [method, path, pool, flags].
my @rows;
my $source = slurp('fcgi/routes.c');
my ($table) = $source =~ /const struct route routes\[\] = \{(.*?)\n\};/s;
push @rows, [$1, $2, $3, $4] while $table =~ /\{\s*"(\w+)",\s*"([^"]+)",
    \s*(FILES|RUN),\s*\w+,\s*([\w\s|]+?),/gx;
my $braces = () = $table =~ /\{\s*"/g;
is(scalar @rows, $braces, 'every row was understood');
cmp_ok(scalar @rows, '>', 10, 'there are routes');

# The paths that ${path} of a row stands for, ids filled in.
sub paths {
	my ($path, $flags) = @_;
	my $bare = $path =~ s/^=//;
	my %id = (file => 'file-' . '0' x 32, lcid => 'a' x 21, id => 'upload_1',
	    name => 'default', model => 'gpt-x');
	$path =~ s/\{(\w+)\}/$id{$1} \/\/ die "unknown {$1}"/ge;
	return ($path) if $bare;
	# LibreChat's are at the root as well.
	return ("/v1$path", "/api/v1$path", $flags =~ /\bCODE\b/ ? $path : ());
}

my %upstream = (FILES => qr/satchel_(files|upload)/,
    RUN => qr/satchel_run/);

sub check {
	my ($mount, @all) = @_;
	for my $row (@rows) {
		my ($method, $path, $pool, $flags) = @$row;
		next if $path eq '=/'; # The host's own page, see below.
		for my $p (map { "$mount$_" } paths($path, $flags)) {
			my $l = chosen($p, @all);
			my $body = $l ? $l->{body} : '';
			like($body, qr/fastcgi_pass $upstream{$pool};/,
			    "$method $p: pool");
			next if $flags !~ /R_UPLOAD/;
			like($body, qr/fastcgi_request_buffering off;/,
			    "$method $p: its body is not buffered");
			like($body, qr/client_max_body_size 0;/,
			    "$method $p: nginx sets no limit");
		}
	}
}

my $alone = slurp('nginx/satchel.conf');
my $conf = $alone . slurp('nginx/satchel-librechat.conf');
check('', locations($conf));

# Included in a site that is there, satchel.conf takes none of its paths.
for my $p (qw(/ /download/manual.txt /files/style.css /upload /upload/batch
    /sessions/x /exec /exec/programmatic /health /ready /v2/files /v1x)) {
	ok(!chosen($p, locations($alone)), "satchel.conf leaves $p to the site");
}

# The command that the file itself gives, run on it.
my ($sed) = $conf =~ /^#\s+(sed '.*')$/m;
ok($sed, 'satchel.conf says how to have it below a path');
my $below = `$sed nginx/satchel.conf nginx/satchel-librechat.conf`;
my $params = `$sed nginx/satchel-params`;
check('/ai', locations($below));
like($params, qr{^fastcgi_param SATCHEL_MOUNT "/ai";$}m, '... and its name');
ok(!chosen('/v1/files', locations($below)), '... and nothing is left outside');

# Whatever is no route still reaches a worker, which says so in JSON.
my @own = locations(slurp('nginx/site-example.conf') . $conf);
for my $p ('/', '/v1', '/v1/nope', '/v2/files', '/.satchel/', '/index.html') {
	like(chosen($p, @own)->{body}, qr/fastcgi_pass satchel_files;/, "$p");
}

# Each location that passes to a worker names nginx's own errors, waits longer
# than the worker may take, and leaves the bytes as they are.
for my $l (grep { $_->{body} =~ /fastcgi_pass/ } @own) {
	like($l->{body}, qr{error_page .*502.* /\.satchel/error}, "errors of $l->{pattern}");
}
done_testing();
