package Files;

# A client of the Files API that writes its requests byte by byte, so that a
# test can say exactly what goes over the wire, and the words in which the
# contract's table of edge cases is asserted.

use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use Exporter 'import';
use File::Find ();
use File::Temp ();
use IO::Select;
use JSON::PP ();
use Satchel;
use Test::More;
use Time::HiRes qw(sleep time);
no warnings 'portable'; # Times in ids have 48 bits.

our @EXPORT = qw(part file_part form said refused shape sha256_hex
    %DIALECT @DIALECTS);

our @DIALECTS = qw(openai anthropic);
our %DIALECT = (openai => [], anthropic => ['anthropic-version' => '2023-06-01']);

# stack(%o): a client of a stack of its own.
#   set       => { setting => value, ... }
#   nginx_sed => a sed script over the nginx files
#   db        => [words for the database server]
#   providers => as Satchel->new()
sub stack {
	my ($class, %o) = @_;
	my @up = defined $o{nginx_sed} ? ('--nginx-sed', $o{nginx_sed}) : ();
	push @up, map { ('--db-arg', $_) } @{ $o{db} // [] };
	my $s = Satchel->new(set => $o{set} // {}, up => \@up,
	    defined $o{providers} ? (providers => $o{providers}) : ());
	return bless { s => $s }, $class;
}

sub done { return $_[0]{s}->done }

# The key of a user's short name: a and same share a workspace, b does not.
sub key {
	my ($self, $who) = @_;
	my %name = (a => 'alice', same => 'carol', b => 'bob', admin => 'admin');
	return $self->{s}{key}{ $name{$who} // '' } // $who;
}

# part($name, $bytes, @headers): one part of a form.  A header is a whole line;
# without any the part has a plain Content-Disposition.
sub part {
	my ($name, $bytes, @headers) = @_;
	@headers = (qq(Content-Disposition: form-data; name="$name")) unless @headers;
	return join('', map { "$_\r\n" } @headers) . "\r\n$bytes";
}

# file_part($bytes, $filename, $type): the usual file part.
sub file_part {
	my ($bytes, $filename, $type) = @_;
	return part('file', $bytes,
	    'Content-Disposition: form-data; name="file"'
	    . (defined $filename ? qq(; filename="$filename") : ''),
	    defined $type ? "Content-Type: $type" : ());
}

# form(@parts): a body of these parts; form has the boundary "BB".
sub form { return join('', map { "--BB\r\n$_\r\n" } @_) . "--BB--\r\n" }

# --- requests ---

# request($method, $path, %o): send a request and return its answer, a hash of
# status, head (the raw header), header (names in lower case, values joined by
# ", "), body, json, and whole: the body was as long as announced.
#   key      => a, b, same, admin, undef (none), or a whole key
#   dialect  => openai or anthropic
#   headers  => [ name => value, ... ]
#   body     => bytes, or a code that returns the next piece and '' at the end
#   chunked  => send the body in chunks of that size
#   piece    => send the body in writes of that size
#   length   => what Content-Length says (undef: none)
#   cut      => close after so many bytes of the body; returns undef
#   early    => stop sending as soon as an answer comes
#   on_body  => code called with each piece of the answer's body; may return
#               true to hang up
sub request {
	my ($self, $method, $path, %o) = @_;
	my $s = $self->begin($method, $path, %o);
	if (defined $o{cut}) {
		close $s;
		return undef;
	}
	my $a = read_answer($s, $method, %o);
	$self->{s}->judge($method, $path, { %$a, head => { 'content-type' =>
	    [$a->{header}{'content-type'}] }, cut => !$a->{whole} })
	    if ref $a && defined $a->{header}{'content-type'};
	return $a;
}

sub begin {
	my ($self, $method, $path, %o) = @_;
	my $s = $self->{s}->sock;
	my @h = (Host => "127.0.0.1:$self->{s}{port}", Connection => 'close');
	if (exists $o{key} ? defined $o{key} : 1) {
		push @h, Authorization => 'Bearer ' . $self->key($o{key} // 'a');
	}
	push @h, @{ $DIALECT{ $o{dialect} // 'openai' } }, @{ $o{headers} // [] };
	my $body = $o{body};
	if ($o{chunked}) {
		push @h, 'Transfer-Encoding' => 'chunked';
	} elsif (exists $o{length}) {
		push @h, 'Content-Length' => $o{length} if defined $o{length};
	} elsif (defined $body && !ref $body) {
		push @h, 'Content-Length' => length $body;
	}
	my $head = "$method $path HTTP/1.1\r\n";
	while (my ($k, $v) = splice @h, 0, 2) {
		$head .= "$k: $v\r\n";
	}
	put($s, "$head\r\n", %o);
	send_body($s, $body, %o) if defined $body;
	return $s;
}

# put($s, $bytes, %o): write all of it; false once the server has hung up, or
# with early once it has answered.
sub put {
	my ($s, $bytes, %o) = @_;
	local $SIG{PIPE} = 'IGNORE';
	my $sel = IO::Select->new($s);
	for (my $at = 0; $at < length $bytes;) {
		return 0 if $o{early} && $sel->can_read(0);
		my $n = syswrite $s, $bytes, $o{piece} // 65536, $at;
		return 0 unless defined $n;
		$at += $n;
		sleep $o{pause} if $o{pause};
	}
	return 1;
}

sub send_body {
	my ($s, $body, %o) = @_;
	my $next = ref $body ? $body : do {
		my $all = $body;
		sub { my $x = $all; $all = ''; $x };
	};
	my $left = $o{cut};
	while ((my $x = $next->()) ne '') {
		if (defined $left) {
			$x = substr $x, 0, $left;
			$left -= length $x;
		}
		if ($o{chunked}) {
			for my $c (unpack "(a$o{chunked})*", $x) {
				put($s, sprintf("%x\r\n", length $c) . "$c\r\n",
				    %o) or return;
			}
		} else {
			put($s, $x, %o) or return;
		}
		return if defined $left && $left == 0;
	}
	put($s, "0\r\n\r\n", %o) if $o{chunked};
}

# read_answer($s, $method, %o): the answer that comes on the connection.
sub read_answer {
	my ($s, $method, %o) = @_;
	my $in = '';
	my $sel = IO::Select->new($s);
	my $more = sub {
		$sel->can_read($o{timeout} // 60) or die "no answer in time";
		return sysread $s, $in, 65536, length $in;
	};
	my $head;
	do {
		until ($in =~ /\r\n\r\n/) {
			$more->() or return { status => 0, head => $in,
			    header => {}, body => '', whole => 0 };
		}
		($head, $in) = split /\r\n\r\n/, $in, 2;
	} while $head =~ m{^HTTP/1.1 100};
	my %r = (head => "$head\r\n\r\n", header => {});
	my ($first, @lines) = split /\r\n/, $head;
	($r{status}) = $first =~ /^HTTP\S+ (\d+)/;
	for (@lines) {
		my ($k, $v) = /^([^:]+):\s*(.*)$/ or next;
		$k = lc $k;
		$r{header}{$k} = exists $r{header}{$k} ? "$r{header}{$k}, $v" : $v;
	}
	read_body(\%r, \$in, $more, $method, \%o);
	close $s;
	$r{json} = eval { JSON::PP->new->utf8->decode($r{body}) }
	    if ($r{header}{'content-type'} // '') =~ /json/ && $r{body} ne '';
	return \%r;
}

sub read_body {
	my ($r, $in, $more, $method, $o) = @_;
	my ($h, $to) = ($r->{header}, $o->{on_body});
	@$r{qw(body whole)} = ('', 1);
	return if $method eq 'HEAD' || $r->{status} =~ /^(?:204|304)$/;
	my $take = sub {
		my ($bytes) = @_;
		$r->{got} += length $bytes;
		return $to->($bytes) if $to;
		$r->{body} .= $bytes;
		return 0;
	};
	if (($h->{'transfer-encoding'} // '') =~ /chunked/) {
		$r->{whole} = 0;
		while (1) {
			until ($$in =~ /\r\n/) { $more->() or return }
			$$in =~ s/^([0-9a-fA-F]+)\r\n// or return;
			my $n = hex $1;
			while (length $$in < $n + 2) { $more->() or return }
			$r->{whole} = 1, return if $n == 0;
			return if $take->(substr $$in, 0, $n);
			substr $$in, 0, $n + 2, '';
		}
	}
	my $left = $h->{'content-length'};
	while (!defined $left || $left > 0) {
		if ($$in ne '') {
			my $n = length $$in;
			return if $take->($$in);
			$left -= $n if defined $left;
			$$in = '';
			next;
		}
		$more->() or last;
	}
	$r->{whole} = !defined $left || $left == 0;
}

# upload($body, %o): POST /v1/files with the form $body, whose boundary is "BB".
sub upload {
	my ($self, $body, %o) = @_;
	my $type = delete $o{type} // 'multipart/form-data; boundary=BB';
	my @more = @{ delete $o{headers} // [] };
	return $self->request('POST', delete $o{path} // '/v1/files', %o,
	    body => $body, headers => ['Content-Type' => $type, @more]);
}

# file($bytes, $name, %o): upload and return the id; dies if that fails.
sub file {
	my ($self, $bytes, $name, %o) = @_;
	my @fields = map { part($_ => $o{fields}{$_}) } sort keys %{ $o{fields} // {} };
	my $r = $self->upload(form(file_part($bytes, $name, $o{mime}), @fields),
	    map { $_ => $o{$_} } grep { /^(?:key|dialect)$/ } keys %o);
	die "upload of $name: $r->{status} $r->{body}" unless $r->{status} == 200;
	return $r->{json}{id};
}

# produced($name, %o): as file(), a file that looks as if a run had made it.
sub produced {
	my ($self, $name, %o) = @_;
	my $id = $self->file("made: $name", $name, %o);
	$self->sql("UPDATE file SET origin = 'run',"
	    . " purpose = 'code_execution_output' WHERE pid = '"
	    . substr($id, 5) . "'");
	return $id;
}

# many($n, $user): $n live rows without bytes for a user of the stack.
sub many {
	my ($self, $n, $user) = @_;
	$self->sql(qq{INSERT INTO file (pid, workspace_id, user_id, state, origin,
	    store_key, bytes, sha256, name, mime, purpose, created)
	    SELECT LOWER(CONCAT(LPAD(HEX(1796000000000 + seq * 1000), 12, '0'),
	    LPAD(HEX(seq), 20, '0'))), u.workspace_id, u.id, 'live', 'upload',
	    LOWER(LPAD(HEX(seq), 32, '0')), 1, REPEAT('0', 64),
	    CONCAT('many-', seq, '.txt'), 'text/plain', 'user_data',
	    1796000000000 + seq * 1000
	    FROM seq_1_to_$n, user u WHERE u.name = '$user'});
}

sub get { my ($self, $path, %o) = @_; return $self->request('GET', $path, %o) }

# cgi(%params): the answer of the program run as plain CGI with these parameters
# of the environment; body, dialect and key as for request().
sub cgi {
	my ($self, %o) = @_;
	my ($body, $d, $key) = map { delete $o{$_} } qw(body dialect key);
	my ($program) = $self->{s}{env}{SATCHEL_ADMIN} =~ /^(.*?)-admin /;
	local %ENV = (PATH => $ENV{PATH}, GATEWAY_INTERFACE => 'CGI/1.1',
	    SATCHEL_CONF => "$self->{s}{dir}/conf/satchel.yml",
	    HTTP_AUTHORIZATION => 'Bearer ' . $self->key($key // 'a'), %o,
	    ($d // '') eq 'anthropic'
	    ? (HTTP_ANTHROPIC_VERSION => '2023-06-01') : ());
	my $in = File::Temp->new;
	print $in $body // '';
	close $in;
	my $r = Satchel::run('sh', '-c', 'in=$1; shift; exec "$@" <"$in"', '-',
	    "$in", split ' ', $program);
	$r->{out} =~ s/^Status: (\d+)/HTTP\/1.1 $1/ or
	    $r->{out} = "HTTP/1.1 200 OK\r\n$r->{out}";
	$r = Satchel::answer($r->{out});
	$r->{header} = { map { $_ => join ', ', @{ $r->{head}{$_} } }
	    keys %{ $r->{head} } };
	return $r;
}

# --- what is stored ---

# sql($statement): the first column of its rows, or of the first row.
sub sql {
	my ($self, $sql) = @_;
	my @rows = map { $_->[0] } $self->{s}->mysql($sql);
	return wantarray ? @rows : $rows[0];
}

# on_disk(): names of all files below the store's root but the sweep's
# note and the mark.
sub on_disk {
	my ($self) = @_;
	my @found;
	File::Find::find({ no_chdir => 1, wanted => sub {
		push @found, $_ if -f $_ && !m{/\.(?:swept|satchel-store)$} } }, grep { -d } $self->{s}{root});
	@found = sort @found;
	return @found;
}

# wait_for($code): until it is true, at most ten seconds; its last value.
sub wait_for {
	my ($self, $code) = @_;
	my ($until, $x) = (time + 10, undef);
	sleep 0.05 until ($x = $code->()) || time > $until;
	return $x;
}

# logged($pattern): how many lines of the gateway's log match.
sub logged {
	my ($self, $pattern) = @_;
	CORE::open my $f, '<', "$self->{s}{dir}/log/gateway.log" or return 0;
	return scalar grep /$pattern/, <$f>;
}

# stored(): how many rows that are not dead, and files on disk, there are.  A
# refused upload's row goes right after the answer, so this waits for quiet.
sub stored {
	my ($self) = @_;
	$self->wait_for(sub { !$self->sql(
	    q{SELECT COUNT(*) FROM file WHERE state = 'uploading'}) });
	return join ' ', 'rows', $self->sql(q{SELECT COUNT(*) FROM file
	    WHERE state IN ('uploading', 'live')}), 'files', scalar $self->on_disk;
}

# --- the contract's words ---

my %SHORT = (invalid_request_error => 'ire', server_error => 'srv',
    not_found_error => 'nf');

# said($r, $dialect): an answer in the notation of the contract, section 11:
# "400 O[ire|file|empty_file]", "404 A[nf]"; "200" for what is no error.
sub said {
	my ($r, $dialect) = @_;
	return $r->{status} if $r->{status} < 400;
	my $fault = broken($r, $dialect);
	return "$r->{status} $fault" if $fault;
	my $e = $r->{json}{error};
	my $type = $SHORT{ $e->{type} } // $e->{type};
	return "$r->{status} O[" . join('|', $type, map { $e->{$_} // '-' }
	    qw(param code)) . ']' if $dialect eq 'openai';
	return "$r->{status} A[" . join('|', $type,
	    $e->{details} ? $e->{details}{error_code} : ()) . ']';
}

# broken($r, $dialect): what is wrong with an error's envelope or headers.
sub broken {
	my ($r, $dialect) = @_;
	my ($h, $j) = @$r{qw(header json)};
	my $id = $h->{'request-id'} // '';
	return 'not JSON: ' . substr($r->{body}, 0, 60)
	    unless ref $j eq 'HASH' && $h->{'content-type'} eq 'application/json';
	return 'no Content-Length' unless
	    ($h->{'content-length'} // -1) == length $r->{body};
	return "request ids '$id' and '" . ($h->{'x-request-id'} // '') . "'"
	    unless $id =~ /^req_\w{24,}$/ && $id eq ($h->{'x-request-id'} // '');
	return 'cacheable' unless ($h->{'cache-control'} // '') eq 'no-store';
	return 'sniffable'
	    unless ($h->{'x-content-type-options'} // '') eq 'nosniff';
	my $e = $j->{error};
	return 'no message' unless ref $e eq 'HASH' && length($e->{message} // '');
	return "a message that tells too much: $e->{message}"
	    if $e->{message} =~ m{SELECT|/srv|/tmp|/var|\.c:};
	my $keys = join ' ', sort keys %$j;
	my $inner = join ' ', sort keys %$e;
	if ($dialect eq 'openai') {
		return "members $keys / $inner" unless $keys eq 'error' &&
		    $inner eq 'code message param type';
	} else {
		return "members $keys / $inner" unless
		    $keys eq 'error request_id type' && $j->{type} eq 'error' &&
		    $inner =~ /^(?:details )?message type$/;
		return 'another request id' unless $j->{request_id} eq $id;
	}
	return '';
}

# refused($name, $openai, $anthropic, $code): $code->($dialect) must answer so.
sub refused {
	my ($name, $openai, $anthropic, $code) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(said($code->('openai'), 'openai'), $openai, "$name (OpenAI)")
	    if defined $openai;
	is(said($code->('anthropic'), 'anthropic'), $anthropic,
	    "$name (Anthropic)") if defined $anthropic;
}

my $OUR_ID = qr/^file-[0-9a-f]{32}$/;

# shape($object, $dialect): '' if this is the whole file object of the dialect,
# else what is wrong with it.
sub shape {
	my ($o, $dialect) = @_;
	return 'no object' unless ref $o eq 'HASH';
	my $want = $dialect eq 'openai' ? 'bytes created_at filename id'
	    . ' object purpose status' : 'created_at downloadable'
	    . ' expires_at filename id mime_type size_bytes type';
	my $have = join ' ', grep { $dialect ne 'openai' || $_ ne 'expires_at' ||
	    !defined $o->{expires_at} } sort keys %$o;
	return "members: $have" unless $have eq $want;
	return "id $o->{id}" unless $o->{id} =~ $OUR_ID;
	return 'no name' unless length($o->{filename} // '');
	if ($dialect eq 'openai') {
		return "object $o->{object}" unless $o->{object} eq 'file';
		return "status $o->{status}" unless $o->{status} eq 'processed';
		return "created_at $o->{created_at}" unless $o->{created_at} =~
		    /^\d{10}$/ && $o->{created_at} ==
		    int(hex(substr $o->{id}, 5, 12) / 1000);
		return 'no purpose' unless length($o->{purpose} // '');
		return '';
	}
	return "type $o->{type}" unless $o->{type} eq 'file';
	for (grep { defined } @$o{qw(created_at expires_at)}) {
		return "time $_" unless /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
	}
	return 'downloadable is no boolean'
	    unless JSON::PP::is_bool($o->{downloadable});
	return 'no type' unless length($o->{mime_type} // '');
	return '';
}

1;
