package MariaDB;

# A private database server for one test file, without any other part.
#
#	my $db = MariaDB->new(@server_options);
#	  Started, on a unix socket in a directory of its own; dies if it
#	  cannot.  Runs as nobody where the test runs as root.
#	$db->{sock}, $db->{dir}
#	$db->sql($text, $schema)   its output, tab separated lines; dies on an error
#	$db->try_sql(...)          (exit, output and errors)
#	$db->create($schema)
#	$db->conf($schema, %more)  path of a satchel.yml for it and the store
#	                           {dir}/files; more settings by dotted name
#	$db->admin($schema, @words)  {exit, out, err} of satchel-admin
#	$db->stop  $db->kill  $db->start
#	MariaDB::tool($name)       path of t/tool/NAME as built
#	MariaDB::run(\%env, @command)  {exit, out, err}
#	MariaDB::relay($name, @args)   run a tool that prints TAP; its tests become
#	                           this file's, and one more says that it ended well

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep);

our $top = abs_path(dirname(__FILE__) . '/../..');
our $build = $ENV{SATCHEL_BUILD} // "$top/build";

# The server's user reads what a test makes, whatever the umask of the caller.
umask 022;

# A test that is told to stop still stops its server.
$SIG{INT} = $SIG{TERM} = sub { exit 1 };

sub new {
	my ($class, @options) = @_;
	my $self = bless { owner => $$, options => \@options,
	    dir => tempdir('satchel-db.XXXXXX', TMPDIR => 1, CLEANUP => 1) },
	    $class;

	$self->{sock} = "$self->{dir}/db.sock";
	chmod 0755, $self->{dir};
	for ('data', 'files', 'tmp') {
		mkdir "$self->{dir}/$_" or die $!;
	}
	chown 65534, 65534, map { "$self->{dir}$_" } '', '/data', '/tmp'
	    if $> == 0;
	my $r = $self->_wait($self->_spawn('install.log', 'mariadb-install-db',
	    '--no-defaults', '--auth-root-authentication-method=normal',
	    '--skip-test-db', '--force', '--skip-name-resolve', $self->_dirs));
	die('mariadb-install-db: ' . _slurp("$self->{dir}/install.log"))
	    if $r;
	$self->start;
	return $self;
}

# Its data; and a temporary directory of its own, because a server that starts
# clears away what others have in theirs.
sub _dirs {
	my ($self) = @_;

	return "--datadir=$self->{dir}/data", "--tmpdir=$self->{dir}/tmp";
}

# Run a command as the server's user, its output into a file; return its pid.
sub _spawn {
	my ($self, $log, @command) = @_;
	my $pid = fork // die "fork: $!";

	return $pid if $pid;
	$SIG{INT} = $SIG{TERM} = 'DEFAULT';
	open STDIN, '<', '/dev/null' or POSIX::_exit(126);
	open STDOUT, '>>', "$self->{dir}/$log" or POSIX::_exit(126);
	open STDERR, '>&', \*STDOUT or POSIX::_exit(126);
	chdir '/';
	if ($> == 0) {
		$) = '65534 65534';
		$( = 65534;
		POSIX::setuid(65534);
	}
	no warnings 'exec';
	exec @command;
	POSIX::_exit(127);
}

sub _wait {
	my ($self, $pid) = @_;

	waitpid $pid, 0;
	return $?;
}

sub start {
	my ($self) = @_;

	return if $self->{pid};
	$self->{pid} = $self->_spawn('db.log', 'mariadbd', '--no-defaults',
	    $self->_dirs, "--socket=$self->{sock}",
	    "--pid-file=$self->{dir}/data/pid", '--skip-networking',
	    '--skip-log-bin', '--innodb-buffer-pool-size=48M',
	    '--innodb-log-file-size=16M', '--innodb-flush-log-at-trx-commit=2',
	    '--max-connections=200', @{$self->{options}});
	for (1 .. 300) {
		return if ($self->try_sql('SELECT 1'))[0] == 0;
		if (waitpid($self->{pid}, POSIX::WNOHANG()) != 0) {
			delete $self->{pid};
			last;
		}
		sleep 0.1;
	}
	die('mariadbd: ' . _slurp("$self->{dir}/db.log"));
}

sub _end {
	my ($self, $signal) = @_;

	return if !$self->{pid};
	kill $signal, $self->{pid};
	$self->_wait(delete $self->{pid});
}

sub stop { $_[0]->_end('TERM') }
sub kill { $_[0]->_end('KILL') }

sub try_sql {
	my ($self, $text, $schema) = @_;
	my $r = run({}, 'mariadb', '--no-defaults', '-N', '-B',
	    '--default-character-set=utf8mb4', '-S', $self->{sock}, '-u', 'root',
	    '-e', $text, $schema // ());

	return ($r->{exit}, $r->{exit} ? $r->{err} : $r->{out});
}

sub sql {
	my ($self, $text, $schema) = @_;
	my ($exit, $out) = $self->try_sql($text, $schema);

	die "$text: $out" if $exit;
	chomp $out;
	return $out;
}

sub create {
	my ($self, $schema) = @_;

	$self->sql("CREATE DATABASE $schema DEFAULT CHARACTER SET utf8mb4");
}

sub conf {
	my ($self, $schema, %more) = @_;
	my %set = ('database.socket' => $self->{sock}, 'database.user' => 'root',
	    'database.name' => $schema, 'files.root' => "$self->{dir}/files",
	    %more);
	my (%group, $text);

	for (sort keys %set) {
		my ($group, $key) = /^(\w+)\.(.+)$/ or die "setting $_";
		$group{$group} .= "  $key: $set{$_}\n";
	}
	$text .= "$_:\n$group{$_}" for sort keys %group;
	my $path = "$self->{dir}/$schema.yml";
	# Another process may be reading the one that is there.
	open my $fh, '>', "$path.$$" or die "$path: $!";
	print $fh $text;
	close $fh or die "$path: $!";
	rename "$path.$$", $path or die "$path: $!";
	return $path;
}

sub admin {
	my ($self, $schema, @words) = @_;

	return run({}, "$build/satchel-admin", '-c', $self->conf($schema), @words);
}

sub relay {
	my ($name, @args) = @_;
	my $r = run({}, tool($name), @args);
	my ($n, $plan) = (0, 'none');

	for (split /\n/, $r->{out}) {
		if (/^(not )?ok (\d+) - (.*)/) {
			$n++;
			ok(!$1, "$name: $3");
		} elsif (/^1\.\.(\d+)$/) {
			$plan = $1;
		} else {
			diag $_;
		}
	}
	is($plan, $n, "$name: to its end") or diag "exit $r->{exit} $r->{err}";
}

sub tool { return "$build/t/tool/$_[0]" }

sub run {
	my ($env, @command) = @_;
	my %r;

	pipe my $out, my $out_w or die $!;
	pipe my $err, my $err_w or die $!;
	my $pid = fork // die "fork: $!";
	if ($pid == 0) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>&', $out_w;
		open STDERR, '>&', $err_w;
		@ENV{keys %$env} = values %$env;
		no warnings 'exec';
		exec { $command[0] } @command;
		print STDERR "$command[0]: $!\n";
		POSIX::_exit(127);
	}
	close $out_w;
	close $err_w;
	@r{'out', 'err'} = ('', '');
	my %from = (fileno($out) => [$out, 'out'], fileno($err) => [$err, 'err']);
	while (%from) {
		my $bits = '';
		vec($bits, $_, 1) = 1 for keys %from;
		select $bits, undef, undef, undef or next;
		for (grep { vec($bits, $_, 1) } keys %from) {
			my ($fh, $to) = @{$from{$_}};
			sysread($fh, $r{$to}, 65536, length $r{$to})
			    or delete $from{$_};
		}
	}
	waitpid $pid, 0;
	$r{exit} = $? & 127 ? "signal " . ($? & 127) : $? >> 8;
	return \%r;
}

sub _slurp {
	my ($path) = @_;

	open my $fh, '<', $path or return "$path: $!";
	local $/;
	return <$fh> // '';
}

sub DESTROY {
	my ($self) = @_;

	return if $self->{owner} != $$;
	local ($?, $!);
	$self->kill;
}

1;
