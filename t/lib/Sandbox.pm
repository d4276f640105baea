package Sandbox;

# One sandbox host for one test file: satchel-sandbox and an nginx before it,
# without the rest of the stack; and a client of the code-execution protocol.
#
#	my $s = Sandbox->new(%options);
#	    set  => {'sandbox.workspace_bytes' => 16 << 20}   settings
#	    conf => text  the configuration file, $s->{dir}/conf.yml
#	    own  => {'sandbox.languages' => text}   settings that are files
#	    root => 1     as root, start the program as root: it must drop that
#	    in => [words]  as root: all of it starts behind these words
#	    address => A  as root, in a network of its own with that address, which
#	                  a link joins to ours: $s->link('down'), $s->link('up')
#	    keeper => 1   and a keeper; new() comes back once sessions are ready
#	  Everything runs as an ordinary user: nobody, if we are root.
#	$s->done          stops it, with all sessions, and adds two tests: no error
#	                  was logged but those announced by $s->expect_log(), and
#	                  every answer was as conf/sandbox-openapi.json says
#	Sandbox::api()    that document, an Openapi
#	my $id = $s->session(%hints)
#	$s->exec($id, tool, {input}, %more)    the answer, as Satchel's requests;
#	    timeout => N     timeout_seconds
#	$s->bash($id, $command, %more)  $s->python(...)  $s->edit($id, %input)
#	    its content object, with {ms} and {files} (the names) added; dies unless
#	    the answer is 200
#	$s->run($id, $language, $source, %more)
#	    the whole answer to the extension "run", {content} as above and {files}
#	    the manifest's; dies unless 200.  args, env, compile_timeout_seconds,
#	    memory_bytes, output_bytes, calls: of its input; manifest => [inputs]
#	$s->put($id, $path, $bytes)  $s->fetch($id, $path)  $s->list($id, $path)
#	$s->ready($n)     wait until so many sessions are ready; how many are
#	$s->inside($id)   the pids of a session's processes, its supervisor first
#	$s->{dir} {port} {sessions}   and all of Satchel's requests

use strict;
use warnings;
use File::Basename qw(dirname);
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use IO::Socket::INET;
use JSON::PP ();
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);

use Openapi;
use Satchel;
our @ISA = ('Satchel');

my $top = abs_path(dirname(__FILE__) . '/../..');
my $build = $ENV{SATCHEL_BUILD} // "$top/build";
my $api = Openapi->new("$top/conf/sandbox-openapi.json");
my ($uid, $gid) = $> == 0 ? (getpwnam 'nobody')[2, 3] : ($>, $) + 0);

sub new {
	my ($class, %o) = @_;
	my $self = bless { owner => $$, expect => [], alive => 0, key => {},
	    opt => \%o }, $class;

	-x "$build/satchel-sandbox"
	    or die("no satchel-sandbox in $build: run make");
	$self->{dir} = tempdir('satchel-sb.XXXXXX', TMPDIR => 1);
	$self->{sessions} = "$self->{dir}/sessions";
	chmod 0755, $self->{dir};
	mkdir "$self->{dir}/$_" for qw(log tmp);
	mkdir $self->{sessions}, 0700;
	chown $uid, $gid, $self->{dir}, map { "$self->{dir}/$_" }
	    qw(log tmp sessions);
	Satchel::_spew("$self->{dir}/conf.yml", $o{conf} // '');
	$self->{alive} = 1;
	$self->{in} = $o{in};
	$self->_network($o{address}) if $o{address};
	$self->_nginx;
	$self->up;
	$self->keep if $o{keeper};
	return $self;
}

# A network with one address and one way out, to us.
sub _network {
	my ($self, $address) = @_;
	my $here = readlink '/proc/self/ns/net';
	my $pid = $self->{net} = fork // die "fork: $!";
	if (!$pid) {
		exec qw(unshare -n sleep infinity) or POSIX::_exit(127);
	}
	my $until = time + 10;
	sleep 0.01 while time < $until
	    && (readlink("/proc/$pid/ns/net") // $here) eq $here;
	$self->{host} = $address;
	$self->{in} = ['nsenter', '-t', $pid, '-n', '--'];
	my $link = $self->{veth} = "sb$pid";
	my @inside = (@{$self->{in}}, 'ip');
	system(@$_) == 0 or die("a network: @$_") for
	    ['ip', 'link', 'add', $link, qw(type veth peer name eth0 netns), $pid],
	    [qw(ip address add 192.0.2.254/32 dev), $link],
	    [@inside, qw(link set lo up)],
	    [@inside, 'address', 'add', "$address/32", 'dev', 'eth0'],
	    ['ip', 'link', 'set', $link, 'up'],
	    ['ip', 'route', 'add', "$address/32", 'dev', $link];
	return $self->link('up');
}

# Join the two networks, or part them, which nobody here is told.
sub link {
	my ($self, $how) = @_;
	my @inside = (@{$self->{in}}, 'ip');
	system(@inside, qw(link set eth0), $how) == 0 or die;
	# A route goes with its link.
	$how eq 'down' || system(@inside, qw(route replace 192.0.2.254/32 dev
	    eth0)) == 0 or die;
	return;
}

# Start $argv as the ordinary user, or as ourselves; its pid.
sub _start {
	my ($self, $log, $as_we_are, @argv) = @_;
	if ($self->{in}) {
		@argv = (@{$self->{in}}, 'setpriv', "--reuid=$uid",
		    "--regid=$gid", '--clear-groups', '--', @argv);
		$as_we_are = 1;
	}
	my $pid = fork // die "fork: $!";
	return $pid if $pid;
	if ($> == 0 && !$as_we_are) {
		$( = $gid;
		$) = "$gid $gid";
		POSIX::setuid($uid);
	}
	POSIX::setpgid(0, 0);
	open STDIN, '<', '/dev/null';
	open STDOUT, '>>', "$self->{dir}/log/$log.log" or POSIX::_exit(126);
	open STDERR, '>&', \*STDOUT;
	exec @argv or POSIX::_exit(127);
}

sub _nginx {
	my ($self) = @_;
	my $at = $self->{host} // '127.0.0.1';
	my $probe = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1);
	my $port = $self->{port} = $self->{host} ? 8090 : $probe->sockport;
	close $probe;
	my $temp = join ' ', map { "${_}_temp_path $self->{dir}/tmp/$_;" }
	    qw(client_body fastcgi proxy uwsgi scgi);
	open my $fh, '>', "$self->{dir}/nginx.conf" or die;
	print $fh <<"	END";
	daemon off;
	pid $self->{dir}/tmp/nginx.pid;
	error_log stderr;
	events { }
	http {
		access_log off;
		$temp
		server {
			listen $at:$port;
			location / {
				include satchel-params;
				client_max_body_size 0;
				fastcgi_request_buffering off;
				fastcgi_max_temp_file_size 0;
				fastcgi_read_timeout 3660s;
				fastcgi_pass unix:$self->{dir}/sock;
			}
		}
	}
	END
	close $fh;
	# nginx may not reach the checkout of somebody who is root.
	Satchel::_spew("$self->{dir}/satchel-params",
	    Satchel::_slurp("$top/nginx/satchel-params"));
	$self->{nginx} = $self->_start('nginx', 0, 'nginx', '-e', 'stderr',
	    '-c', "$self->{dir}/nginx.conf");
	return;
}

# The settings as words.
sub _words {
	my ($self) = @_;
	my %set = ('sandbox.dir' => $self->{sessions},
	    'files.root' => "$self->{dir}/files", %{$self->{opt}{set} || {}});
	for my $name (sort keys %{$self->{opt}{own} || {}}) {
		$set{$name} = "$self->{dir}/$name";
		Satchel::_spew($set{$name}, $self->{opt}{own}{$name});
	}
	$self->{token} = $set{'sandbox.token'};
	return ('-c', "$self->{dir}/conf.yml",
	    map { ('-s', "$_=$set{$_}") } sort keys %set);
}

# Start the keeper, and wait until sessions are ready.
sub keep {
	my ($self) = @_;
	$self->{keeper} = $self->_start('keeper', $self->{opt}{root},
	    Satchel::program('satchel-keeper'), $self->_words);
	$self->ready($self->{opt}{set}{'sandbox.ready'} // 4) or die(
	    'the keeper makes nothing: '
	    . Satchel::_slurp("$self->{dir}/log/keeper.log"));
	return;
}

sub ready {
	my ($self, $n) = @_;
	my $until = time + 60;
	my @all;
	while ((@all = glob "$self->{sessions}/.idle/*.*.*") < ($n // 0)) {
		return 0 if time > $until;
		sleep 0.01;
	}
	return scalar @all;
}

# Start the sandbox's workers, and wait until they answer.
sub up {
	my ($self) = @_;
	local $ENV{SECRET} = 'of-the-service';
	$self->{sandbox} = $self->_start('sandbox', $self->{opt}{root},
	    Satchel::program('satchel-sandbox'), $self->_words, '-n', 2,
	    '-l', "$self->{dir}/sock");
	my $until = time + 20;
	# Until it listens, the web server in front of it answers by itself.
	local $self->{undocumented};
	while (1) {
		my $r = -S "$self->{dir}/sock" && eval { $self->get('/health') };
		return if $r && ($r->{status} // 0) == 200;
		if (time > $until || waitpid($self->{sandbox}, POSIX::WNOHANG())) {
			die("the sandbox does not start: "
			    . Satchel::_slurp("$self->{dir}/log/sandbox.log"));
		}
		sleep 0.02;
	}
}

# Stop the workers; sessions live on.
sub down {
	my ($self, $signal) = @_;
	my $pid = delete $self->{sandbox} or return;
	kill $signal // 'TERM', $pid;
	waitpid $pid, 0;
	return;
}

# What meta says of a session.
sub meta {
	my ($self, $id) = @_;
	return Satchel::_slurp("$self->{sessions}/$id/meta")
	    =~ /^(\w+) (\d+)$/mg;
}

sub inside {
	my ($self, $id) = @_;
	my %meta = $self->meta($id) or return;
	my %children;
	for (map { Satchel::_slurp("$_/stat") } glob '/proc/[0-9]*') {
		my ($pid, $parent) = /^(\d+) \(.*\) \w (\d+)/s or next;
		push @{$children{$parent}}, $pid;
	}
	# Whoever loses its parent inside becomes the supervisor's child.
	my @all = grep { -e "/proc/$_" } $meta{pid};
	for (my $i = 0; $i < @all; $i++) {
		push @all, @{$children{$all[$i]} || []};
	}
	return @all;
}

sub done {
	my ($self) = @_;
	return if !$self->{alive} || $self->{owner} != $$;
	$self->{alive} = 0;
	$self->down;
	if (my $pid = delete $self->{keeper}) {
		kill 'TERM', $pid;
		waitpid $pid, 0;
	}
	if (my $pid = delete $self->{nginx}) {
		kill 'TERM', $pid;
		waitpid $pid, 0;
	}
	if (my $pid = delete $self->{net}) {
		kill 'KILL', $pid;
		waitpid $pid, 0;
	}
	for my $dir (glob "$self->{sessions}/sbx_*") {
		my %meta = $self->meta($dir =~ m{(\w+)$});
		kill 'KILL', $meta{pid} if $meta{pid};
	}
	is(join('', $self->errors), '', 'nothing went wrong unseen');
	is(join('', @{$self->{undocumented} || []}), '',
	    'every answer is as conf/sandbox-openapi.json has it');
	return;
}

sub DESTROY {
	my ($self) = @_;
	local ($?, $@, $!);
	$self->done;
	return if $self->{owner} != $$ || $ENV{SATCHEL_KEEP};
	system('rm', '-rf', $self->{dir});
	return;
}

sub log { return }

sub api { return $api }

# --- the protocol ---

sub request {
	my ($self, $method, $path, %o) = @_;
	my @h = (Accept => '*/*', @{delete $o{headers} || []});
	my $token = exists $o{token} ? delete $o{token} : $self->{token};
	push @h, Authorization => "Bearer $token" if defined $token;
	my $r = $self->SUPER::request($method, $path, as => undef,
	    headers => \@h, %o);
	# Without workers nginx answers alone.
	push @{$self->{undocumented}}, $api->answer($method, $path, $r)
	    if $self->{sandbox};
	push @{$self->{undocumented}}, $api->request($method, $path, $o{json})
	    if $o{json} && $r->{status} =~ /^2/;
	return $r;
}

sub session {
	my ($self, %hints) = @_;
	my $r = $self->post('/sessions', json => \%hints);
	die "no session: $r->{status} $r->{body}" if $r->{status} != 201;
	return $r->{json}{session_id};
}

sub exec {
	my ($self, $id, $tool, $input, %o) = @_;
	my %json = (tool => $tool, input => $input);
	$json{timeout_seconds} = delete $o{timeout} if defined $o{timeout};
	for my $member (qw(tool_use_id manifest stream)) {
		$json{$member} = delete $o{$member} if exists $o{$member};
	}
	return $self->post("/sessions/$id/exec", json => \%json,
	    timeout => 90, %o);
}

sub _content {
	my ($r) = @_;
	die "$r->{status}: $r->{body}" unless $r->{status} == 200;
	my $c = $r->{json}{result_block}{content};
	$c->{ms} = $r->{json}{execution_time_ms};
	$c->{files} = [ map { $_->{filename} } @{$c->{content}} ];
	return $c;
}

sub bash {
	my ($self, $id, $command, %o) = @_;
	return _content($self->exec($id, 'bash_code_execution',
	    { command => $command }, %o));
}

sub python {
	my ($self, $id, $code, %o) = @_;
	return _content($self->exec($id, 'code_execution',
	    { code => $code }, %o));
}

sub run_request {
	my ($self, $id, $language, $source, %o) = @_;
	my %input = (language => $language, source => $source);
	for my $member (qw(args env compile_timeout_seconds memory_bytes
	    output_bytes calls)) {
		$input{$member} = delete $o{$member} if exists $o{$member};
	}
	$o{manifest} = { inputs => $o{manifest} } if ref $o{manifest} eq 'ARRAY';
	return $self->exec($id, 'run_code_execution', \%input, %o);
}

sub run {
	my $self = shift;
	my $r = $self->run_request(@_);
	my $answer = $r->{json};
	$answer->{content} = _content($r);
	$answer->{files} = ($answer->{manifest} || {})->{files};
	return $answer;
}

sub edit {
	my ($self, $id, %input) = @_;
	return _content($self->exec($id, 'text_editor_code_execution', \%input));
}

sub put {
	my ($self, $id, $path, $bytes, %o) = @_;
	return $self->post("/sessions/$id/files", %o,
	    form => [['path', $path], ['file', $bytes, 'upload.bin']]);
}

sub escape {
	my ($s) = @_;
	$s =~ s/([^A-Za-z0-9_.~\/-])/sprintf '%%%02X', ord $1/ge;
	return $s;
}

sub fetch {
	my ($self, $id, $path, %o) = @_;
	return $self->get("/sessions/$id/files?path=" . escape($path), %o);
}

sub list {
	my ($self, $id, $path) = @_;
	return $self->get("/sessions/$id/files/list"
	    . (defined $path ? '?path=' . escape($path) : ''));
}

1;
