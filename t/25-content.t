# The bytes of a file and what is said about them, whoever sends them: nginx by
# X-Accel-Redirect, or the worker itself.

use strict;
use warnings;
use utf8;
use Encode qw(encode_utf8);
use Test::More;
use Files;

binmode Test::More->builder->$_, ':utf8'
    for qw(output failure_output todo_output);

my %client = (xaccel => Files->stack,
    stream => Files->stack(set => { 'files.sendfile' => 'stream' }));
my $c = $client{xaccel};

sub slurp {
	open my $f, '<:raw', $_[0] or die "$_[0]: $!";
	local $/;
	return scalar <$f>;
}

my $awkward = join('', map { chr } 0 .. 255) . "\r\n" x 3;
my $svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
    . '<script>alert(1)</script><rect width="9" height="9"/></svg>' . "\n";

for my $mode (sort keys %client) {
	my $c = $client{$mode};
	my $get = sub { my ($id, %o) = @_;
	    return $c->get("/v1/files/$id/content", %o) };

	# --- the headers ---

	my $bytes = "q,amount\n1,20\n";
	my $id = $c->file($bytes, encode_utf8('b-résumé.csv'), mime => 'text/csv');
	my $meta = $c->get("/v1/files/$id")->{json};
	my @gmt = gmtime $meta->{created_at};
	my $date = sprintf '%s, %02d %s %d %02d:%02d:%02d GMT',
	    (qw(Sun Mon Tue Wed Thu Fri Sat))[$gmt[6]], $gmt[3],
	    (qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec))[$gmt[4]],
	    $gmt[5] + 1900, @gmt[2, 1, 0];
	my %want = ('content-type' => 'text/csv', 'content-length' => 14,
	    'content-disposition' => 'attachment; filename="b-r_sum_.csv"; '
	    . "filename*=UTF-8''b-r%C3%A9sum%C3%A9.csv",
	    'etag' => '"sha256-' . sha256_hex($bytes) . '"',
	    'last-modified' => $date, 'accept-ranges' => 'bytes',
	    'cache-control' => 'private, no-cache',
	    'x-content-type-options' => 'nosniff',
	    'content-security-policy' => "sandbox; default-src 'none'");
	for my $method (qw(GET HEAD)) {
		my $r = $c->request($method, "/v1/files/$id/content",
		    headers => [Accept => 'application/binary']);
		my %have = map { $_ => $r->{header}{$_} } keys %want;
		is($r->{status}, 200, "example 07: $method ($mode)");
		is_deeply(\%have, \%want, "example 07: its headers ($mode)");
		is($r->{body}, $method eq 'GET' ? $bytes : '',
		    "example 07: its body ($mode)");
		is(join(' ', map { exists $r->{header}{$_} ? 1 : 0 }
		    qw(content-encoding transfer-encoding x-accel-redirect)),
		    '0 0 0', "no encoding, no inner path ($method, $mode)");
		like($r->{header}{'request-id'}, qr/^req_\w{24,}$/,
		    "a request id ($method, $mode)");
		is($r->{header}{'x-request-id'}, $r->{header}{'request-id'},
		    "and the other vendor's ($method, $mode)");
	}
	for my $d (@DIALECTS) {
		my $r = $get->($id, dialect => $d,
		    headers => [Accept => 'application/json']);
		is("$r->{status} $r->{header}{'content-type'} $r->{body}",
		    "200 text/csv $bytes",
		    "row 133: Accept is not negotiated ($d, $mode)");
		$r = $get->($id, dialect => $d,
		    headers => ['Accept-Encoding' => 'gzip']);
		is(($r->{header}{'content-encoding'} // 'none')
		    . $r->{header}{'content-length'}, 'none14',
		    "no gzip on the way ($d, $mode)");
	}

	# --- exact bytes ---

	my %exact = ('all byte values' => [$awkward, 'a.bin'],
	    'JSON' => ["{\"a\":1}\n", 'data.json', 'application/json'],
	    'a byte-order mark' => ["\xef\xbb\xbfhi\n", 'bom.txt',
	    'text/plain'], '3 MiB' => ["\0\r\n\xff" x 786432, 'big.bin']);
	for my $what (sort keys %exact) {
		my ($bytes, $name, $type) = @{ $exact{$what} };
		my $id = $c->file($bytes, $name, mime => $type);
		for my $d (@DIALECTS) {
			my $r = $get->($id, dialect => $d);
			is(sha256_hex($r->{body}), sha256_hex($bytes),
			    "dl-exact-bytes: $what ($d, $mode)");
			my $m = $c->get("/v1/files/$id", dialect => $d)->{json};
			is($r->{header}{'content-length'},
			    $m->{bytes} // $m->{size_bytes},
			    "dl-exact-bytes: $what: the length ($d, $mode)");
			is($r->{header}{'cache-control'}, 'private, no-cache',
			    "dl-exact-bytes: $what: one rule ($d, $mode)");
		}
		is($get->($id)->{header}{'content-type'},
		    $type // 'application/octet-stream',
		    "dl-exact-bytes: $what: the type as stored ($mode)");
	}

	# --- what could run in a browser ---

	for (['SVG', 'a.svg', 'image/svg+xml'], ['HTML', 'a.html', 'text/html'],
	    ['no type', 'a.svg']) {
		my ($what, $name, $type) = @$_;
		my $r = $get->($c->file($svg, $name, mime => $type));
		is($r->{status}, 200, "dl-active-content: $what ($mode)");
		like($r->{header}{'content-disposition'}, qr/^attachment; /,
		    "dl-active-content: $what: an attachment ($mode)");
		is("$r->{header}{'x-content-type-options'} "
		    . $r->{header}{'content-security-policy'},
		    "nosniff sandbox; default-src 'none'",
		    "dl-active-content: $what: harmless ($mode)");
	}

	# --- names ---

	my %names = ('Übersicht 表.pdf' => '_bersicht _.pdf',
	    'a"b\c.txt' => 'c.txt', 'a"b.txt' => 'a_b.txt',
	    'line%0D%0AX-Evil: 1.txt' => 'line__X-Evil: 1.txt');
	for my $sent (sort keys %names) {
		my $quoted = encode_utf8($sent) =~ s/(["\\])/\\$1/gr;
		my $r = $get->($c->file('n', $quoted));
		my $line = $r->{header}{'content-disposition'};
		is($r->{status}, 200, "dl-disposition: $sent ($mode)");
		like($line, qr/^attachment; filename="[^"\\]*"(?:; |$)/,
		    "dl-disposition: $sent: an ASCII form ($mode)");
		is($line =~ /filename="([^"]*)"/ && $1, $names{$sent},
		    "dl-disposition: $sent: as it should be ($mode)");
		is(exists $r->{header}{'x-evil'} ? 1 : 0, 0,
		    "dl-disposition: $sent: no header of its own ($mode)");
		unlike($r->{head} =~ s/\r\n//gr, qr/[^\x20-\x7e]/,
		    "row 134: $sent: printable ASCII only ($mode)");
		is(() = $r->{head} =~ /^content-disposition:/mig, 1,
		    "row 134: $sent: one header ($mode)");
		like($line, qr/filename\*=UTF-8''/,
		    "row 134: $sent: both forms ($mode)")
		    if $sent =~ /表|b\.txt/;
	}
	for my $name ('Report90%.pdf', 'a?b#c.txt', '100%25.txt', 'ü 表.txt') {
		my $bytes = "the bytes of " . encode_utf8($name);
		my $id = $c->file($bytes, encode_utf8($name));
		my $r = $get->($id);
		is("$r->{status} $r->{body}", "200 $bytes",
		    "dl-odd-store-path: $name ($mode)");
		is($c->get("/v1/files/$id")->{json}{filename}, $name,
		    "dl-odd-store-path: $name is its name ($mode)");
	}

	# --- the longest header ---

	for (['120 CJK characters', '漢' x 120, 'text/plain'],
	    ['the longest name and type', '𝒜' x 255,
	    'application/' . 'x' x 243]) {
		my ($what, $name, $type) = @$_;
		my $r = $get->($c->file('n', encode_utf8($name), mime => $type));
		is($r->{status}, 200, "pf-response-header-size: $what ($mode)");
		cmp_ok(length $r->{head}, '<', 4096,
		    "pf-response-header-size: $what fits a page ($mode)");
		like($r->{header}{'content-disposition'},
		    qr/filename\*=UTF-8''(?:%[0-9A-F]{2}){360,}$/,
		    "pf-response-header-size: $what: nothing cut ($mode)");
	}

	# --- damage ---

	my $path = sub {
		my $key = $c->sql('SELECT store_key FROM file WHERE pid = \''
		    . substr($_[0], 5) . "'");
		return join '/', $c->{s}{root}, substr($key, 0, 2),
		    substr($key, 2, 2), $key;
	};
	$c->{s}->expect_log(qr/content: /);
	$id = $c->file('whole', 'w.txt');
	open my $f, '>>', $path->($id) or die;
	print $f '!';
	close $f;
	refused("row 118: the size on disk differs, $mode",
	    '500 O[srv|-|file_content_missing]', '500 A[api_error]',
	    sub { $get->($id, dialect => shift) });
	unlink $path->($id) or die;
	my $lines = $c->logged(qr/"level":"error"/);
	refused("row 117: the bytes are missing, $mode",
	    '500 O[srv|-|file_content_missing]', '500 A[api_error]',
	    sub { $get->($id, dialect => shift) });
	is($c->logged(qr/"level":"error"/) - $lines, 2,
	    "row 117: logged once each ($mode)");
	my @lines = grep { ($_->{msg} // '') =~ /bytes of \Q$id\E are missing/ }
	    $c->{s}->log;
	is(scalar(grep { ($_->{request} // '') =~ /^req_/ } @lines), 2,
	    "row 117: ... by the file's id, with the request ($mode)");
	is($c->get("/v1/files/$id")->{status}, 200,
	    "row 117: the metadata is still there ($mode)");
}

# --- transfers that break ---

my $big = 'b' x (64 << 20);
for my $mode (sort keys %client) {
	my $c = $client{$mode};
	my $id = $c->file($big, 'big.bin');
	my $key = $c->sql("SELECT store_key FROM file WHERE pid = '"
	    . substr($id, 5) . "'");
	my $path = join '/', $c->{s}{root}, substr($key, 0, 2),
	    substr($key, 2, 2), $key;
	my $open = sub {
		my $n = 0;
		for my $pid ($c->{s}->pids('files')) {
			$n += grep { (readlink // '') eq $path }
			    glob "/proc/$pid/fd/*";
		}
		return $n;
	};

	# A client that has had enough after the first piece.
	my $errors = $c->logged(qr/"level":"(?:error|warn)"/);
	$c->get("/v1/files/$id/content", on_body => sub { 1 }) for 1 .. 5;
	ok($c->wait_for(sub { !$open->() }),
	    "row 121: clients gone: the file is closed again ($mode)");
	is($c->logged(qr/"level":"(?:error|warn)"/), $errors,
	    "row 121: and nobody complains ($mode)");

	# The file is cut off while it is on its way.
	$c->{s}->expect_log(qr/nginx: .*truncated/, qr/shorter than it was/);
	my $cut = 0;
	my $r = $c->get("/v1/files/$id/content", on_body => sub {
		truncate $path, 1 << 20 or die "$path: $!" if !$cut++;
		return 0;
	});
	is($r->{status}, 200, "row 119: the headers were out ($mode)");
	is($r->{whole} ? 1 : 0, 0, "row 119: the connection is broken off ($mode)");
	cmp_ok($r->{got}, '<', length $big, "row 119: nothing is padded ($mode)");
}
{
	my $c = $client{stream};
	my $id = $c->file($big, 'kill.bin');
	my (undef, @workers) = $c->{s}->pids('files');
	my $killed = 0;
	$c->{s}->expect_log(qr/pool: process \d+ killed/);
	my $r = $c->get("/v1/files/$id/content", on_body => sub {
		kill 'KILL', @workers if !$killed++;
		return 0;
	});
	is("$r->{status} $r->{header}{'content-length'}", '200 ' . length $big,
	    'row 120: the length had been told');
	is($r->{whole} ? 1 : 0, 0, 'row 120: so a killed worker is seen');
	cmp_ok($r->{got}, '<', length $big, 'row 120: by the bytes missing');
	is($c->wait_for(sub { $c->get("/v1/files/$id")->{status} == 200 }), 1,
	    'and the pool serves on');
}

# --- who may download what ---

{
	my $strict = Files->stack(
	    set => { 'files.uploads_downloadable' => 'false' });
	for my $c ($strict, $client{xaccel}) {
		my %file = (openai => $c->file('o', 'o.txt'),
		    anthropic => $c->file('a', 'a.txt', dialect => 'anthropic'),
		    produced => $c->produced('p.txt'));
		for my $what (sort keys %file) {
			my $may = $c != $strict || $what eq 'produced' ? 1 : 0;
			my $id = $file{$what};
			my $m = $c->get("/v1/files/$id", dialect => 'anthropic');
			is($m->{json}{downloadable} ? 1 : 0, $may,
			    "dl-downloadable-agrees: $what says $may");
			for my $d (@DIALECTS) {
				my $want = $may ? 200 : $d eq 'openai'
				    ? '400 O[ire|-|file_not_downloadable]'
				    : '400 A[ire|file_not_downloadable]';
				is(said($c->get("/v1/files/$id/content",
				    dialect => $d), $d), $want,
				    ($may ? '' : 'row 116, ')
				    . "dl-downloadable-agrees: $what ($d)");
			}
		}
	}
	$strict->done;
}

# --- ids that are nobody's, or somebody else's ---

my $id = $c->file('mine', 'm.txt');
my $never = 'file-' . '0' x 32;
{
	my $s = $c->{s};
	my $made = $s->admin(qw(user create other alice));
	is($made->{exit}, 0, 'a user of the same name elsewhere');
	my $key = $s->admin(qw(key create other alice))->{out} =~ s/\s+$//r;
	my %foreign = ('another user of the workspace' => 'same',
	    'the same name in another workspace' => $key,
	    'another user of another workspace' => 'b');
	for (['metadata', 'GET', ''], ['content', 'GET', '/content'],
	    ['HEAD', 'HEAD', ''], ['delete', 'DELETE', '']) {
		my ($what, $method, $rest) = @$_;
		for my $d (@DIALECTS) {
			my $ask = sub { my ($id, $who) = @_;
			    return $c->request($method, "/v1/files/$id$rest",
				key => $who, dialect => $d) };
			my $nf = $d eq 'openai' ? '404 O[ire|id|-]'
			    : '404 A[nf]';
			my $r = $ask->($never, 'a');
			if ($method eq 'HEAD') {
				is("$r->{status} $r->{body}", '404 ',
				    "row 123: HEAD on an unknown id ($d)");
				next;
			}
			is(said($r, $d), $nf, "row 104: unknown id: $what ($d)");
			for my $who (sort keys %foreign) {
				my ($f, $n) = map { my $r = $ask->($_,
				    $foreign{$who}); my $t = $r->{body};
				    $t =~ s/\Q$_/ID/g;
				    $t =~ s/req_\w+/REQ/g; "$r->{status} $t" }
				    $id, $never;
				is($f, $n, "row 105: $who: like an unknown"
				    . " id: $what ($d)");
			}
		}
	}
	my @seen = map { $c->request($_->[0], "/v1/files/$id$_->[1]",
	    key => 'b')->{status} } ['GET', ''], ['GET', '/content'],
	    ['DELETE', ''];
	push @seen, $c->get('/v1/files/file-doesnotexist', key => 'b')->{status};
	push @seen, $c->get("/v1/files/$id")->{status};
	is("@seen", '404 404 404 404 200', 'own-or-unknown: the five answers');
}
for ('a%2Fb', '..%2Fx', 'x' x 4096, '%C3%A9', 'a.b', 'file-%20', '%2e%2e') {
	my $odd = $_;
	refused('row 106: an id like ' . substr($odd, 0, 12),
	    '404 O[ire|id|-]', '404 A[nf]',
	    sub { $c->get("/v1/files/$odd", dialect => shift) });
}
{
	my $upper = 'file-' . uc substr $id, 5;
	isnt($upper, $id, 'an id has letters');
	refused('row 107: another letter case', '404 O[ire|id|-]', '404 A[nf]',
	    sub { $c->get("/v1/files/$upper", dialect => shift) });
}
{
	my $before = $c->stored;
	my %odd = ('GET a%2Fb' => 404, 'GET %2e%2e' => 404, 'GET ' => 200,
	    'DELETE ' => 405, 'GET file-x%00y' => 404, 'GET ' . 'a' x 3000 => 404,
	    "POST $id" => 405, "GET $id/" => 200);
	for my $what (sort keys %odd) {
		my ($method, $tail) = split / /, $what, 2;
		my $short = substr $what, 0, 30;
		for my $d (@DIALECTS) {
			my $r = $c->request($method, "/v1/files/$tail",
			    dialect => $d);
			my $status = $r->{status};
			$status = 404 if $what =~ /%00/ && $status == 400;
			is($status, $odd{$what}, "id-odd-values: $short ($d)");
			like($r->{header}{'content-type'}, qr{^application/json},
			    "id-odd-values: $short: JSON ($d)");
			# nginx refuses a NUL before it has read a header.
			my $words = $r->{status} == 400 ? 'openai' : $d;
			is(said($r, $words) =~ /^\d+ [OA]\[/ ? 1 : 0, 1,
			    "id-odd-values: $short: the dialect's words ($d)")
			    if $r->{status} >= 400;
		}
	}
	is($c->get('/v1/files/')->{json}{object}, 'list',
	    'id-odd-values: an empty id is the list');
	is($c->stored, $before, 'id-odd-values: nothing was deleted');
}

# --- one file, three spellings of its id ---

for my $d (@DIALECTS) {
	for my $prefix ('file_', 'cfile_') {
		my $other = $id =~ s/^file-/$prefix/r;
		is($c->get("/v1/files/$other", dialect => $d)->{json}{id}, $id,
		    "${prefix}... is the same file ($d)");
		is($c->get("/v1/files/$other/content", dialect => $d)->{body},
		    'mine', "${prefix}...: its content ($d)");
	}
}

# --- HEAD ---

for my $d (@DIALECTS) {
	for my $rest ('', '/content') {
		my $get = $c->get("/v1/files/$id$rest", dialect => $d);
		my $head = $c->request('HEAD', "/v1/files/$id$rest",
		    dialect => $d);
		is(join(' ', $head->{status}, $head->{header}{'content-length'},
		    $head->{header}{'content-type'}, length $head->{body}),
		    join(' ', 200, length $get->{body},
		    $get->{header}{'content-type'}, 0),
		    "row 122: HEAD on " . ($rest || 'metadata') . " ($d)");
	}
	my $get = $c->get('/v1/files?limit=3', dialect => $d);
	my $head = $c->request('HEAD', '/v1/files?limit=3', dialect => $d);
	is("$head->{status} $head->{header}{'content-length'}",
	    '200 ' . length $get->{body}, "row 122: HEAD on the list ($d)");
}

$_->done for values %client;
done_testing;
