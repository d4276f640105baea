package Satchel;

# One running system for one test file, and a client of it.
#
#	my $s = Satchel->new(%options);
#	    set       => {'files.max_bytes' => 1000}   settings
#	    providers => the port of a scripted upstream, or YAML: all of it, or
#	                 the entries only, as Provider's yaml() has them
#	    up        => [...]                         more words for stack up
#	  A private database, store, workers and nginx (tools/stack) in a directory
#	  of its own, on a free port; dies if it cannot.  Needs SATCHEL_BUILD or
#	  build/.  SATCHEL_KEEP=1 leaves the directory.
#	$s->done
#	  Stops it and adds one test: no error was logged but those announced by
#	  $s->expect_log(qr/.../), and no sanitizer spoke.  Runs by itself when $s
#	  goes out of scope, so count it in the plan; with done_testing call it.
#
# Requests.  All go through nginx and return an answer, a hash:
#	{status, reason, head => {lower-case name => [values]}, body, json, raw}
#  with ->{json} undef unless the body is JSON; header($answer, 'Name') gives
#  the first value or undef.  Options come after the path, in any order:
#	as      => 'alice' (default), 'carol', 'bob', 'admin' or undef for no key
#	ant     => 1        speak the Anthropic dialect
#	headers => [Name => value, ...]
#	json    => data     body and its type
#	form    => [...]    multipart body, see form()
#	body    => bytes, or sub { next piece or undef }
#	chunked => 1        send the body in chunks (all pieces of a sub, else 8 KiB)
#	port    => N        another listener, as $s->{sandbox_port}
#	timeout => seconds for the whole answer (30)
#	$s->request('PUT', '/v1/x', %o)  $s->get($path, %o)  $s->head  $s->del
#	$s->post($path, %o)
#	$s->upload($bytes, name => 'a.csv', type => 'text/csv', %fields, %o)
#	  POST /v1/files; %fields are form fields other than the file
#	Satchel::form([name => value], [name => bytes, filename, type], ...)
#	  (content type, body) of a multipart body; also usable as form => [...]
#	$s->sock(port)        a connected socket, for broken requests
#	$s->raw($bytes, %o)   send bytes, end the sending side unless keep => 1,
#	                      and return the first answer
#	Satchel::answer($text)  parse an answer that was read by hand
#
# The rest of the system:
#	$s->mysql('SELECT ...')  rows as array refs of strings, NULL as undef
#	$s->admin(@words)  $s->sweep(@words)  {exit, out, err, json}
#	$s->log            the gateway's log lines, decoded; $s->errors: not announced
#	$s->stop('run')    $s->start    parts: db sandbox files run nginx
#	$s->pids('files')  its pids, the parent first;  $s->restart(%new_options)
#	Satchel::program('satchel')  where an ordinary user can run it
#	$s->{url}, {port}, {sandbox_port}, {dir}, {root} (files), {key}{alice}, ...

use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use IO::Select;
use IO::Socket::INET;
use JSON::PP ();
use POSIX ();
use Scalar::Util qw(weaken);
use Test::More;
use Vendors;
use Time::HiRes qw(sleep time);

our @EXPORT_OK = qw(header form answer run);

my $top = abs_path(dirname(__FILE__) . '/../..');
my $build = $ENV{SATCHEL_BUILD} // "$top/build";
my $json = JSON::PP->new->utf8->canonical->allow_nonref;

# What a test makes, its ordinary user reads; whatever the umask of the caller.
umask 022;

# A test that is told to stop still stops what it started.
$SIG{INT} = $SIG{TERM} = sub { exit 1 };
$SIG{PIPE} = 'IGNORE';

# --- its life ---

# Those that run, by address; a test that dies must stop them before the
# directories they run in are removed.
my %up;

END {
	local ($?, $@, $!);
	$_->done for grep { defined } values %up;
}

sub new {
	my ($class, %o) = @_;
	my $self = bless { owner => $$, expect => [], alive => 0 }, $class;

	-x "$build/satchel" or die("no programs in $build: run make");
	$self->{tmp} = tempdir('satchel-t.XXXXXX', TMPDIR => 1,
	    CLEANUP => !$ENV{SATCHEL_KEEP});
	chmod 0755, $self->{tmp};
	$self->{dir} = "$self->{tmp}/s";
	$self->_up(%o);
	return $self;
}

# The providers: that new() was told of.
sub _providers {
	my ($what) = @_;
	return "providers:\n$what" if $what =~ /^\s+-/;
	return $what if $what !~ /^\d+$/;
	return "providers:\n  - name: scripted\n    wire: openai-chat\n"
	    . "    base_url: http://127.0.0.1:$what/v1\n    api_key: test\n";
}

sub _up {
	my ($self, %o) = @_;
	my @words = ('--port', 0);

	# A zygote takes seconds to load: who wants one says so.
	my %set = ('sandbox.ready' => 0, %{$o{set} || {}});
	push @words, '--set', "$_=$set{$_}" for sort keys %set;
	if (defined $o{providers}) {
		_spew("$self->{tmp}/providers.yml", _providers($o{providers}));
		push @words, '--providers', "$self->{tmp}/providers.yml";
	}
	my $r = $self->_stack('up', @words, @{$o{up} || []});
	die("stack up: $r->{err}") if $r->{exit};
	$self->{alive} = 1;
	weaken($up{$self} = $self);
	my %env = $self->_stack('env')->{out} =~ /^(\w+)='(.*)'$/mg;
	$self->{env} = \%env;
	$self->{url} = $env{SATCHEL_URL};
	($self->{port}) = $env{SATCHEL_URL} =~ /(\d+)$/;
	($self->{sandbox_port}) = $env{SATCHEL_SANDBOX_URL} =~ /(\d+)$/;
	$self->{root} = $env{SATCHEL_FILES_ROOT};
	$self->{key} = { alice => $env{SATCHEL_KEY}, bob => $env{SATCHEL_KEY_B},
	    carol => $env{SATCHEL_KEY_SAME_WS},
	    admin => $env{SATCHEL_ADMIN_KEY} };
	return;
}

sub _stack {
	my ($self, $command, @words) = @_;
	local $ENV{SATCHEL_BUILD} = $build;
	return run('sh', "$top/tools/stack", $command, '--dir', $self->{dir},
	    @words);
}

# Stop all, then start again with other options; data stays.
sub restart {
	my ($self, %o) = @_;
	my $r = $self->_stack('down');
	die "stack down: $r->{err}" if $r->{exit};
	$self->_up(%o);
	return;
}

# Start what has been stopped or has died.
sub start {
	my ($self) = @_;
	my $r = $self->_stack('up');
	die "stack up: $r->{err}" if $r->{exit};
	return;
}

# End one part and wait until it is gone; signal TERM unless told.
sub stop {
	my ($self, $part, $signal) = @_;
	my @pids = $self->pids($part) or die "$part does not run";
	kill $signal // 'TERM', $signal && $signal eq 'KILL' ? @pids : $pids[0];
	for my $pid (@pids) {
		my $until = time + 30;
		while (_alive($pid)) {
			die "$part does not end" if time > $until;
			sleep 0.01;
		}
	}
	return;
}

# Is $pid there and no zombie?
sub _alive {
	my $stat = _slurp("/proc/$_[0]/stat");
	return $stat =~ /\) ([A-Z])/ && $1 ne 'Z';
}

sub pids {
	my ($self, $part) = @_;
	my ($pid) = _slurp("$self->{dir}/run/$part.pid") =~ /^(\d+)/ or return;
	return unless _alive($pid);
	return ($pid, split ' ', _slurp("/proc/$pid/task/$pid/children"));
}

sub expect_log {
	my ($self, @patterns) = @_;
	push @{$self->{expect}}, @patterns;
	return;
}

sub done {
	my ($self) = @_;
	return if !$self->{alive} || $self->{owner} != $$;
	my $r = $self->_stack('down', '--discard');
	$self->{alive} = 0;
	delete $up{$self};
	is(join('', $r->{exit} ? "stack down: $r->{err}" : '', $self->errors,
	    @{$self->{judged} // []}), '', 'nothing went wrong unseen, and all'
	    . ' answers are as the vendors have them');
	return;
}

sub DESTROY {
	my ($self) = @_;
	local ($?, $@, $!);
	$self->done;
	return if $self->{owner} != $$ || $ENV{SATCHEL_KEEP};
	# DIR may be a link to where sockets fit.
	my $real = readlink $self->{dir};
	system('rm', '-rf', $real) if defined $real && $real =~ m{^/var/tmp/};
	return;
}

# --- processes and files ---

sub _slurp {
	my ($path) = @_;
	open my $fh, '<', $path or return '';
	local $/;
	return scalar(<$fh>) // '';
}

sub _spew {
	my ($path, $text) = @_;
	open my $fh, '>', $path or die "$path: $!";
	print $fh $text;
	close $fh or die "$path: $!";
	return;
}

# Run a command; {exit, out, err, json}.
sub run {
	my (@command) = @_;
	my ($out, $err) = map { File::Temp->new } 1, 2;
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		open STDIN, '<', '/dev/null' or POSIX::_exit(126);
		open STDOUT, '>', "$out" or POSIX::_exit(126);
		open STDERR, '>', "$err" or POSIX::_exit(126);
		exec @command or POSIX::_exit(127);
	}
	waitpid $pid, 0;
	my %r = (exit => $? >> 8 || ($? & 127) + ($? & 127 ? 128 : 0),
	    out => _slurp("$out"), err => _slurp("$err"));
	$r{json} = eval { $json->decode($r{out}) };
	return \%r;
}

# Which sanitizer a program was built with: 'asan', 'tsan' or ''.  Both keep much
# memory of their own, so that bounds on memory are wider then.
sub sanitizer {
	my ($name) = @_;
	my $path = "$build/$name";
	return system('grep', '-q', '__asan_init', $path) == 0 ? 'asan'
	    : system('grep', '-q', '__tsan_init', $path) == 0 ? 'tsan' : '';
}

# The path of a program, for tests that drop root: a checkout of root's own may
# be out of an ordinary user's reach, so it is copied then.
my $copies;

sub program {
	my ($name) = @_;
	my $path = "$build/$name";
	my @nobody = qw(setpriv --reuid=65534 --regid=65534 --clear-groups --);

	return $path if $> != 0
	    || !defined $copies && system(@nobody, 'test', '-x', $path) == 0;
	$copies //= tempdir('satchel-b.XXXXXX', TMPDIR => 1, CLEANUP => 1);
	chmod 0755, $copies;
	my $copy = "$copies/" . ($name =~ s{.*/}{}r);
	if (!-e $copy) {
		system('cp', $path, $copy) == 0 && chmod 0755, $copy
		    or die "cannot copy $path";
	}
	return $copy;
}

sub admin {
	my ($self, @words) = @_;
	return run(split(' ', $self->{env}{SATCHEL_ADMIN}), @words);
}

sub sweep {
	my ($self, @words) = @_;
	return run(split(' ', $self->{env}{SATCHEL_SWEEP}), @words);
}

# Statements, as text; the rows of all of them.
sub mysql {
	my ($self, $sql) = @_;
	my $r = run(split(' ', $self->{env}{SATCHEL_MYSQL}), '-N', '-B',
	    '--default-character-set=utf8mb4', '-e', $sql);
	die "mysql: $r->{err}in: $sql" if $r->{exit};
	my %escape = (n => "\n", t => "\t", 0 => "\0", '\\' => '\\');
	return map {
		[ map { my $v = $_; $v =~ s/\\(.)/$escape{$1} \/\/ $1/ge
		    unless $v eq 'NULL'; $v eq 'NULL' ? undef : $v }
		    split /\t/, $_, -1 ]
	} split /\n/, $r->{out};
}

# --- logs ---

sub log {
	my ($self) = @_;
	return map { eval { $json->decode($_) } // { level => 'error',
	    msg => "not a log line: $_" } }
	    split /\n/, _slurp("$self->{dir}/log/gateway.log");
}

# Lines of trouble in any log that no expect_log() announced.
sub errors {
	my ($self) = @_;
	my @bad = map { ($_->{msg} // '') . "\n" }
	    grep { $_->{level} eq 'error' } $self->log;
	for my $f (glob "$self->{dir}/log/*.log") {
		my ($part) = $f =~ m{(\w+)\.log$};
		next if $part eq 'gateway';
		push @bad, map { "$part: $_\n" } grep {
			/Sanitizer|runtime error:/
			|| ($part eq 'nginx' && /\[(?:alert|crit|emerg)\]/)
			|| ($part =~ /^(?:sandbox|keeper)$/
			    && /"level":"error"/)
		} split /\n/, _slurp($f);
	}
	for my $expected (@{$self->{expect}}) {
		@bad = grep { !/$expected/ } @bad;
	}
	return @bad;
}

# --- requests ---

sub get  { my ($self, @o) = @_; return $self->request('GET', @o) }
sub head { my ($self, @o) = @_; return $self->request('HEAD', @o) }
sub del  { my ($self, @o) = @_; return $self->request('DELETE', @o) }
sub post { my ($self, @o) = @_; return $self->request('POST', @o) }

sub header {
	my ($answer, $name) = @_;
	return ($answer->{head}{lc $name} || [])->[0];
}

sub upload {
	my ($self, $bytes, %o) = @_;
	my ($name, $type) = (delete $o{name} // 'a.txt', delete $o{type});
	my @fields = map { exists $o{$_} ? [$_, delete $o{$_}] : () }
	    grep { !/^(?:as|ant|headers|chunked|port|timeout)$/ } sort keys %o;
	return $self->post('/v1/files', %o,
	    form => [@fields, ['file', $bytes, $name, $type]]);
}

sub form {
	my (@parts) = @_;
	my $boundary = 'b' . join '', map { int rand 10 } 1 .. 30;
	my $body = '';
	for my $part (@parts) {
		my ($name, $value, $file, $type) = @$part;
		$body .= "--$boundary\r\nContent-Disposition: form-data; "
		    . "name=\"$name\""
		    . (defined $file ? "; filename=\"$file\"" : '') . "\r\n"
		    . (defined $type ? "Content-Type: $type\r\n" : '')
		    . "\r\n$value\r\n";
	}
	return ("multipart/form-data; boundary=$boundary",
	    "$body--$boundary--\r\n");
}

# The head of a request, and its body.
sub _compose {
	my ($self, $method, $path, $o) = @_;
	my @h = @{$o->{headers} || []};
	my %given = map { lc($h[2 * $_]) => 1 } 0 .. @h / 2 - 1;
	my ($type, $body) = (undef, $o->{body});

	($type, $body) = form(@{$o->{form}}) if $o->{form};
	($type, $body) = ('application/json', $json->encode($o->{json}))
	    if exists $o->{json};
	my $as = exists $o->{as} ? $o->{as} : 'alice';
	unshift @h, Authorization => "Bearer $self->{key}{$as}" if defined $as;
	unshift @h, 'anthropic-version' => '2023-06-01' if $o->{ant};
	push @h, 'Content-Type' => $type
	    if defined $type && !$given{'content-type'};
	if ($o->{chunked}) {
		push @h, 'Transfer-Encoding' => 'chunked';
	} elsif (!$given{'content-length'} && (defined $body
	    || $method !~ /^(?:GET|HEAD|DELETE|OPTIONS)$/)) {
		push @h, 'Content-Length' => length($body // '');
	}
	my $head = "$method $path HTTP/1.1\r\nHost: 127.0.0.1:$self->{port}\r\n"
	    . "Connection: close\r\n";
	$head .= shift(@h) . ': ' . shift(@h) . "\r\n" while @h;
	return ("$head\r\n", $body);
}

# The pieces to send after the head, as a closure.
sub _pieces {
	my ($body, $chunked) = @_;
	my $next = ref $body ? $body : do {
		my $at = 0;
		sub {
			return if $at >= length($body // '');
			my $piece = substr $body, $at, $chunked ? 8192 : 1 << 20;
			$at += length $piece;
			return $piece;
		};
	};
	return $next if !$chunked;
	my $over = 0;
	return sub {
		return if $over;
		my $piece = $next->();
		$over = !defined $piece;
		return $over ? "0\r\n\r\n"
		    : sprintf("%x\r\n", length $piece) . $piece . "\r\n";
	};
}

sub sock {
	my ($self, $port) = @_;
	return IO::Socket::INET->new(PeerAddr => $self->{host} // '127.0.0.1',
	    PeerPort => $port // $self->{port}, Timeout => 10)
	    || die "cannot connect: $!";
}

# Send the pieces, watching for an answer that comes before the end, and read
# until the other side closes or the answer is whole.
sub _talk {
	my ($sock, $next, $until, $method) = @_;
	my ($out, $in, $more) = ('', '', 1);
	$sock->blocking(0);
	while (1) {
		if ($more && $out eq '') {
			my $piece = $next->();
			$more = defined $piece;
			$out = $piece if $more;
		}
		my ($r, $w) = ('', '');
		vec($r, fileno $sock, 1) = 1;
		vec($w, fileno $sock, 1) = 1 if $out ne '';
		my $left = $until - time;
		last if $left <= 0 || select($r, $w, undef, $left) <= 0;
		if (vec $r, fileno $sock, 1) {
			my $n = sysread $sock, $in, 1 << 20, length $in;
			last if defined $n && $n == 0
			    || !defined $n && !$!{EAGAIN} && !$!{EINTR};
			last if _whole($in, $method);
		}
		if ($out ne '' && vec $w, fileno $sock, 1) {
			my $n = syswrite $sock, $out;
			if (defined $n) {
				substr $out, 0, $n, '';
			} elsif (!$!{EAGAIN} && !$!{EINTR}) {
				($out, $more) = ('', 0); # Read what it said.
			}
		}
	}
	return $in;
}

# Is $text an answer that says its length, and has it?
sub _whole {
	my ($text, $method) = @_;
	my $end = index $text, "\r\n\r\n";
	return 0 if $end < 0;
	my ($head, $len) = (substr($text, 0, $end), undef);
	return 0 if $head =~ m{^HTTP/1.\d 1\d\d};
	return 1 if $method eq 'HEAD';
	return $head =~ /^content-length:\s*(\d+)/mi
	    && length($text) - $end - 4 >= $1;
}

sub request {
	my ($self, $method, $path, %o) = @_;
	my ($head, $body) = $self->_compose($method, $path, \%o);
	my $pieces = _pieces($body, $o{chunked});
	my $first = $head;
	my $text = _talk($self->sock($o{port}), sub {
		my $piece = $first // $pieces->();
		$first = undef;
		return $piece;
	}, time + ($o{timeout} // 30), $method);
	my $a = answer($text, $method);
	$self->judge($method, $path, $a);
	return $a;
}

# Note what the vendors' schemas say against an answer; done() tells of it.
sub judge {
	my ($self, $method, $path, $a) = @_;
	return if !$a->{status} || $a->{cut} || $self->{unjudged};
	my %seen = map { $_ => 1 } @{$self->{judged}};
	push @{$self->{judged}}, grep { !$seen{$_}++ } map {
	    "$method $path: $_\n" } Vendors::faults($method, $path,
	    $a->{status}, header($a, 'Content-Type') // '', $a->{body});
}

sub raw {
	my ($self, $bytes, %o) = @_;
	my $sock = $self->sock($o{port});
	my $sent = 0;
	my $text = _talk($sock, sub {
		return $bytes if !$sent++;
		shutdown $sock, 1 if $sent == 2 && !$o{keep};
		return;
	}, time + ($o{timeout} // 30), '');
	return answer($text);
}

sub _unchunk {
	my ($text) = @_;
	my $body = '';
	while ($text =~ s/^([0-9a-fA-F]+)[^\r\n]*\r\n//) {
		my $n = hex $1;
		return ($body, 1) if $n == 0;
		return ($body, 0) if length($text) < $n + 2;
		$body .= substr $text, 0, $n;
		substr $text, 0, $n + 2, '';
	}
	return ($body, 0);
}

# Parse an answer; {cut} is true if it broke off before its end.
sub answer {
	my ($text, $method) = @_;
	my %a = (raw => $text, status => 0, reason => '', head => {},
	    body => '', json => undef, cut => 0);
	1 while $text =~ s{^HTTP/1.1 1\d\d.*?\r\n\r\n}{}s;
	my ($head, $body) = split /\r\n\r\n/, $text, 2;
	return \%a unless defined $head
	    && $head =~ s{^HTTP/1\.\d (\d\d\d) ?([^\r\n]*)\r\n}{};
	@a{qw(status reason)} = ($1, $2);
	for (split /\r\n/, $head) {
		push @{$a{head}{lc $1}}, $2 if /^([^:]+):\s*(.*?)\s*$/;
	}
	$body //= '';
	if ((header(\%a, 'Transfer-Encoding') // '') eq 'chunked') {
		($body, my $whole) = _unchunk($body);
		$a{cut} = !$whole;
	} elsif (defined(my $n = header(\%a, 'Content-Length'))) {
		$a{cut} = ($method // '') ne 'HEAD' && length($body) < $n;
	}
	$a{body} = $body;
	$a{json} = eval { $json->decode($body) }
	    if (header(\%a, 'Content-Type') // '') =~ /json/;
	return \%a;
}

1;
