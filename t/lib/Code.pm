package Code;

# LibreChat's host as its wire shows it: tokens, uploads, runs.
#
#	my $c = Code->new($satchel);     makes an Ed25519 key in a directory
#	$c->{pem_dir}                    for librechat.jwt.pem_dir
#	$c->token(sub => 'u1', %claims)  a fresh token; a claim of undef is left out
#	    head => {...}, key => PATH   other header members, another key
#	$c->bearer(%claims)              headers for Satchel's requests
#	Code::part('file', $bytes, $name)
#
# Code->new(undef) makes keys only; ->{s} may be set later.

use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP ();
use MIME::Base64 qw(encode_base64url);

my $json = JSON::PP->new->utf8->canonical;

sub new {
	my ($class) = @_;
	my $dir = tempdir('code.XXXXXX', TMPDIR => 1, CLEANUP => 1);
	chmod 0755, $dir;
	mkdir "$dir/pem";
	my $self = bless { dir => $dir, pem_dir => "$dir/pem" }, $class;
	$self->key('lc-codeapi-2026-05');
	return $self;
}

# Make a private key and publish its public half as ${kid}.
sub key {
	my ($self, $kid, @kind) = @_;
	@kind = qw(-algorithm ed25519) if !@kind;
	system('openssl', 'genpkey', @kind, '-out', "$self->{dir}/$kid",
	    '-quiet') == 0 || system("openssl genpkey @kind -out "
	    . "$self->{dir}/$kid 2>/dev/null") == 0 or die 'openssl';
	system('openssl', 'pkey', '-in', "$self->{dir}/$kid", '-pubout',
	    '-out', "$self->{pem_dir}/$kid.pem") == 0 or die 'openssl';
	chmod 0644, "$self->{pem_dir}/$kid.pem";
	return "$self->{dir}/$kid";
}

sub sign {
	my ($self, $key, $text, @how) = @_;
	my ($in, $out) = map { File::Temp->new } 1, 2;
	print $in $text;
	close $in;
	my @c = @how ? ('openssl', 'dgst', @how, '-sign', $key, '-out', "$out",
	    "$in") : ('openssl', 'pkeyutl', '-sign', '-inkey', $key, '-rawin',
	    '-in', "$in", '-out', "$out");
	system(@c) == 0 or die "@c";
	local $/;
	open my $fh, '<', "$out" or die $!;
	return scalar <$fh>;
}

sub token {
	my ($self, %o) = @_;
	my $head = { alg => 'EdDSA', typ => 'JWT', kid => 'lc-codeapi-2026-05',
	    %{delete $o{head} || {}} };
	my $key = delete $o{key} // "$self->{dir}/$head->{kid}";
	my $now = time;
	my %claims = (iss => 'librechat', aud => 'codeapi', sub => 'u1',
	    iat => $now, nbf => $now, exp => $now + 300, jti => 'j',
	    principal_source => 'librechat_jwt', role => 'USER',
	    auth_context_hash => '0' x 64, %o);
	delete @claims{grep { !defined $claims{$_} } keys %claims};
	my $text = join '.', map { encode_base64url($json->encode($_)) }
	    $head, \%claims;
	my $sig = $self->sign($key, $text,
	    $head->{alg} eq 'RS256' ? '-sha256' : ());
	return "$text." . encode_base64url($sig);
}

sub bearer {
	my ($self, %o) = @_;
	return (as => undef, headers => [Authorization => 'Bearer '
	    . $self->token(%o)]);
}

1;
