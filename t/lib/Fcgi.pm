package Fcgi;

# A FastCGI client that does what web servers do, and what they should not.

use strict;
use warnings;
use IO::Socket::UNIX;
use IO::Socket::INET;
use IO::Select;
use Time::HiRes qw(time sleep);

use constant { BEGIN_REQUEST => 1, END_REQUEST => 3, T_PARAMS => 4,
    T_STDIN => 5, T_STDOUT => 6 };

# connect($where): a connection to a unix socket or HOST:PORT, or undef.
sub connect {
	my ($class, $where) = @_;
	my $s = $where =~ m{/} ? IO::Socket::UNIX->new(Peer => $where)
	    : IO::Socket::INET->new(PeerAddr => $where);
	return $s ? bless { s => $s, in => '' }, $class : undef;
}

sub record {
	my ($type, $data) = @_;
	return pack('CCnnCC', 1, $type, 1, length $data, 0, 0) . $data;
}

sub len { return $_[0] < 128 ? pack('C', $_[0]) : pack('N', $_[0] | 1 << 31) }

# head($keep, name => value, ...): the records before the body.
sub head {
	my ($keep, @params) = @_;
	my $p = '';
	while (my ($k, $v) = splice @params, 0, 2) {
		$p .= len(length $k) . len(length $v) . $k . $v;
	}
	return record(BEGIN_REQUEST, pack('nCx5', 1, $keep ? 1 : 0))
	    . ($p eq '' ? '' : record(T_PARAMS, $p)) . record(T_PARAMS, '');
}

# body($bytes): records of it, with the one that ends it.
sub body {
	my ($bytes) = @_;
	return join('', map { record(T_STDIN, $_) } unpack '(a32000)*', $bytes)
	    . record(T_STDIN, '');
}

# send($bytes): all of them, however often the socket is full.
sub send {
	my ($self, $bytes) = @_;
	local $SIG{PIPE} = 'IGNORE';
	for (my $n; $bytes ne ''; substr($bytes, 0, $n, '')) {
		$n = syswrite $self->{s}, $bytes;
		return 0 unless defined $n;
	}
	return 1;
}

# get($path, $body, %params): send a request on a kept connection.
sub request {
	my ($self, $path, $body, @more) = @_;
	my @len = $body eq '' ? () : (CONTENT_LENGTH => length $body);
	return $self->send(head(1, REQUEST_METHOD => $body eq '' ? 'GET' : 'POST',
	    REQUEST_URI => $path, @len, @more) . body($body));
}

# answer($seconds): wait for the whole answer to a request.  A hash with out
# (headers and body as one text), body, and ended: the answer was ended
# properly; or undef if nothing came at all.  $self->{more}: something came with
# that end and after it.
sub answer {
	my ($self, $seconds) = @_;
	my ($until, $out, $ended) = (time + ($seconds // 10), '', 0);
	my $sel = IO::Select->new($self->{s});
	until ($ended) {
		while (length $self->{in} >= 8) {
			my (undef, $type, undef, $len, $pad) =
			    unpack 'CCnnC', $self->{in};
			last if length $self->{in} < 8 + $len + $pad;
			$out .= substr $self->{in}, 8, $len if $type == T_STDOUT;
			$ended = 1 if $type == END_REQUEST;
			substr $self->{in}, 0, 8 + $len + $pad, '';
			$self->{more} = $self->{in} ne '' if $ended;
			last if $ended;
		}
		last if $ended;
		my $left = $until - time;
		last if $left <= 0 || !$sel->can_read($left);
		my $n = sysread $self->{s}, $self->{in}, 65536,
		    length $self->{in};
		last unless $n;
	}
	return undef if $out eq '' && !$ended;
	my (undef, $body) = split /\r\n\r\n/, $out, 2;
	return { out => $out, body => $body // '', ended => $ended };
}

# closed($seconds): does the other side close within that time?
sub closed {
	my ($self, $seconds) = @_;
	my $sel = IO::Select->new($self->{s});
	my $until = time + $seconds;
	while ((my $left = $until - time) > 0) {
		next unless $sel->can_read($left);
		my $n = sysread $self->{s}, my $trash, 65536;
		return 1 unless $n;
	}
	return 0;
}

sub close { CORE::close $_[0]{s} }

1;
