#!/usr/bin/perl

# INSTALL, by doing what it says.  As root, in namespaces of the test's own over
# an overlay of this machine, which stays as it is: every command of the text, on a
# machine where Satchel has never been.  As anybody else, the chapter that needs no
# root.
#
# What the machine would do by itself stands in here: apt-get is only simulated and
# the database server started by hand; systemctl is t/tool/systemctl, which reads
# the real units.  On shared hosting, the host: it makes the account and its
# database, and runs Apache.

use strict;
use warnings;
use Cwd qw(abs_path getcwd);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use IO::Socket::INET;
use IO::Socket::UNIX;
use JSON::PP qw(decode_json);
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);

my $inside = @ARGV && $ARGV[0] eq '--inside';
my $top = $inside ? getcwd() : abs_path(dirname(__FILE__) . '/..');
my $build = $ENV{SATCHEL_BUILD} // "$top/build";
my $apache_port = 8083;

# --- a machine of our own ---

my $enter = <<'END';
umask 022
export PATH=$PATH:/usr/sbin:/sbin
tmp=$1 top=$2 build=$3
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$tmp"
mkdir "$tmp/root"
over() {
	mkdir -p "$2" "$tmp/$3/upper" "$tmp/$3/work"
	mount -t overlay overlay \
	    -o "lowerdir=$1,upperdir=$tmp/$3/upper,workdir=$tmp/$3/work" "$2"
}
over / "$tmp/root" root
cd "$tmp/root"
over "$build" usr/src/build build
mkdir -p .old proc dev sys tmp run usr/src/satchel
# As one unpacks it, whatever the umask it was checked out and built with.
find usr/src/build ! -perm -o=r -exec chmod a+rX {} +
(cd "$top" && tar -c --mode=a+rX --exclude=./build --exclude='./build-*' --exclude=./var \
    --exclude=./.git .) | tar -x -C usr/src/satchel
mount --rbind /dev dev
mount --rbind /sys sys
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs run
mount -t proc proc proc
# Under its old name too, which what make knows of headers is about.
mkdir -p ".$build"
mount --bind usr/src/build ".$build"
pivot_root . .old
umount -l /.old
cd /usr/src/satchel
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    HOME=/root LANG=C.UTF-8 SATCHEL_BUILD="$build" O="$build" \
    "$4" -It/lib t/91-install.t --inside
END

if ($> == 0 && !$inside) {
	my $tmp = tempdir('satchel-install.XXXXXX', TMPDIR => 1);
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		exec 'unshare', qw(--mount --pid --net --uts --ipc --fork
		    --kill-child sh -ec), $enter, 'sh', $tmp, $top,
		    abs_path($build), $^X or die "unshare: $!";
	}
	$SIG{INT} = $SIG{TERM} = sub { kill 'KILL', $pid };
	waitpid $pid, 0;
	my $rc = $?;
	rmdir $tmp;
	POSIX::_exit($rc & 127 ? 255 : $rc >> 8);
}

# --- what INSTALL says ---

sub slurp {
	my ($path) = @_;
	open my $fh, '<', $path or return '';
	local $/;
	return scalar(<$fh>) // '';
}

sub spew {
	my ($path, $text) = @_;
	open my $fh, '>', $path or die "$path: $!";
	print $fh $text;
	close $fh or die "$path: $!";
}

# Its commands, {chapter, root, text, ran}, the here-documents with them; and
# the lines for crontabs.
my (@commands, @cron, @stray);
{
	my ($chapter, $end) = (0, undef);
	for (split /^/, slurp("$top/INSTALL")) {
		$chapter = $1 if /^(\d)\. [A-Z]/;
		if (defined $end) {
			$commands[-1]{text} .= $_;
			undef $end if $_ eq "$end\n";
		} elsif (/^  ([#\$]) (.*\n)/) {
			push @commands, { chapter => $chapter,
			    root => $1 eq '#', text => $2 };
			$end = $1 if /<<'?(\w+)'?/;
		} elsif (m{^  \*/}) {
			push @cron, s/^\s+//r;
		} elsif (/^  \S/ && $chapter > 0 && $chapter < 9) {
			push @stray, $_;
		}
	}
}
cmp_ok(scalar @commands, '>', 40, 'INSTALL holds commands');
is(join('', @stray), '', '... and nothing that looks like one and is none');

# Run a shell command with these words before it; (exit, output).
sub sh {
	my ($text, @before) = @_;
	my $out = '';
	my $pid = open(my $fh, '-|') // die "fork: $!";
	if (!$pid) {
		open STDIN, '<', '/dev/null';
		open STDERR, '>&', \*STDOUT;
		exec @before, 'sh', '-ec', $text or POSIX::_exit(127);
	}
	{ local $/; $out = <$fh> // '' }
	close $fh;
	return ($? >> 8 || $? & 127, $out);
}

# Do a command of the text, in words of ours where its own cannot be.
sub try {
	my ($c, $text, @before) = @_;
	my ($rc, $out) = sh($text // $c->{text}, @before);
	my ($line) = $c->{text} =~ /^(.{1,64})/;
	$c->{ran} = 1;
	is($rc, 0, "INSTALL $c->{chapter}" . ($c->{root} ? ', root: ' : ': ')
	    . $line) or diag($out);
	return $out;
}

sub chapter { my ($n) = @_; return grep { $_->{chapter} == $n } @commands }

# Wait until ${what} is true.
sub await {
	my ($what) = @_;
	for (my $end = time + 20; time < $end; sleep 0.02) {
		return 1 if $what->();
	}
	return 0;
}

sub port_open {
	my ($port) = @_;
	return defined IO::Socket::INET->new(PeerAddr => '127.0.0.1',
	    PeerPort => $port);
}

# Ask an installation; (status, body).
sub ask {
	my ($url, @words) = @_;
	my $words = join ' ', map { "'$_'" } @words;
	my ($rc, $out) = sh("curl -sS --noproxy '*' -m 30 -w '\\n%{http_code}' "
	    . "$words '$url'");
	return $out =~ /\A(.*)\n(\d+)\z/s ? ($2, $1) : ("curl: $rc $out", '');
}

# What a caller does first: send a file, find it, fetch it.
sub try_files {
	my ($name, $base, $key) = @_;
	my @key = ('-H', "Authorization: Bearer $key");
	my $bytes = join '', map { chr } map { $_ % 256 } 1 .. 70_000;

	my $file = "$ENV{HOME}/satchel.bin";
	spew($file, $bytes);
	my ($status, $body) = ask("$base/v1/files", @key, '-F',
	    'purpose=user_data', '-F', "file=\@$file");
	my $id = (eval { decode_json($body) } // {})->{id} // '';
	is("$status " . ($id =~ /^file-/ ? 1 : $body), '200 1',
	    "$name: an upload");
	($status, $body) = ask("$base/v1/files", @key);
	is($status . ($body =~ /"\Q$id\E"/ ? '' : $body), '200',
	    "$name: is listed");
	my ($rc, $out) = sh("curl -fsS --noproxy '*' -H 'Authorization: Bearer "
	    . "$key' '$base/v1/files/$id/content' -o '$file.back' && "
	    . "cmp '$file' '$file.back'");
	is("$rc$out", 0, "$name: and comes back as it was");
	is((ask("$base/v1/files"))[0], 401, "$name: but not without a key");
}

# --- shared hosting ---

# Apache as a host has it; started as the account.
sub apache {
	my ($dir, $home) = @_;
	my $modules = '/usr/lib/apache2/modules';
	my $load = join '',
	    map { "LoadModule ${_}_module $modules/mod_$_.so\n" }
	    qw(mpm_event authz_core cgid env mime);
	return <<"CONF";
ServerRoot $dir
ServerName localhost
Listen 127.0.0.1:$apache_port
PidFile $dir/pid
ErrorLog $dir/error.log
ScriptSock $dir/cgid.sock
${load}TypesConfig /dev/null
DocumentRoot $home/public_html
<Directory $home/public_html>
	AllowOverride All
	Require all granted
</Directory>
CONF
}

# Chapter 6, as an account without rights; ${socket} of the database if it is
# not where the text says.
sub shared_hosting {
	my ($home, $socket, @as) = @_;
	my $key;
	my $dir = tempdir('satchel-apache.XXXXXX', TMPDIR => 1, CLEANUP => 1);

	for my $c (chapter(6)) {
		my $out = try($c, undef, @as);
		$key = $1 if $out =~ /^(sk-satchel-\w+)$/m;
		next if !defined $socket
		    || $c->{text} !~ /^cat >\S+satchel\.yml/;
		spew("$home/satchel.yml", slurp("$home/satchel.yml") =~
		    s/^database:\n\K/  socket: $socket\n/mr);
	}
	is((stat "$home/satchel.yml")[2] & 0777, 0600,
	    'shared: the password is nobody else\'s to read');
	spew("$dir/apache.conf", apache($dir, $home));
	chmod 0777, $dir;
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		open STDOUT, '>', '/dev/null';
		exec @as, 'sh', '-c', 'PATH=$PATH:/usr/sbin; exec apache2'
		    . ' -d "$0" -f "$0/apache.conf" -DFOREGROUND', $dir
		    or POSIX::_exit(127);
	}
	ok(await(sub { port_open($apache_port) }), 'shared: Apache runs');
	my $base = "http://127.0.0.1:$apache_port/satchel.cgi";
	my ($status, $body) = ask("$base/readyz");
	is("$status " . ($body =~ /"status":"ok"/ ? 1 : $body), '200 1',
	    'shared: ready');
	try_files('shared', $base, $key // '');
	is(scalar @cron, 1, 'shared: a line for crontab');
	my ($command) = $cron[0] =~ /^(?:\S+ ){5}(.*)/;
	is(join('', sh($command, @as)), '0', 'shared: ... sweeps');
	kill 'TERM', $pid;
	waitpid $pid, 0;
	diag(slurp("$dir/error.log")) if !Test::More->builder->is_passing;
}

# What a packager does: PREFIX is where it will be, DESTDIR where it is put.
sub staged {
	my $dir = tempdir('satchel-stage.XXXXXX', TMPDIR => 1, CLEANUP => 1);
	my ($rc, $out) = sh("umask 077; make -s install DESTDIR='$dir' "
	    . 'PREFIX=/opt/satchel');
	is("$rc$out", '0', 'staged: installed');
	my @units = glob "$dir/opt/satchel/share/satchel/conf/*/*";
	my ($no, $names) = ('', 0);
	for (map { slurp($_) =~ m{(/\S*/sbin/\S+)}g } @units) {
		$names++;
		$no .= "$_\n" if !m{^/opt/satchel/} || !-x "$dir$_";
	}
	is("$names $no", '6 ', 'staged: units and cron name what is there');
	ok(-x "$dir/opt/satchel/share/satchel/tools/deps", 'staged: tools/deps');
	is(join('', sh("sh '$dir/opt/satchel/share/satchel/tools/deps' -n run lang-bash")),
	    '0', 'staged: ... which finds its table of languages');
	is(scalar(() = glob "$dir/opt/satchel/share/man/man8/*.8"), 5,
	    'staged: the manual');
	my $doc = "$dir/opt/satchel/share/doc/satchel";
	is(join(' ', map { m{([^/]+)$} } glob "$doc/docs/*"),
	    join(' ', map { m{([^/]+)$} } glob "$top/docs/*"), 'staged: the pages of docs/');
	my ($links, $broken) = (0, '');
	for my $page ("$doc/README.md", glob "$doc/docs/*.md") {
		for (slurp($page) =~ m{\]\(([^):#]+)\)}g) {
			$links++;
			$broken .= "$page: $_\n" if !-s dirname($page) . "/$_";
		}
	}
	cmp_ok($links, '>=', 5, 'staged: they point at each other');
	is($broken, '', '... and each is there');
	ok(-s "$doc/LICENSE", 'staged: the licence');
	is((sh("find '$dir/opt' ! -perm -o=r -print"))[1], '',
	    'staged: all can be read by all');
	my $put = "DESTDIR='$dir' PREFIX=/opt/satchel";
	is(join('', sh("make -s install-libs $put")), '0', 'staged: the libraries');
	my $loads = (sh("ldd '$dir/opt/satchel/sbin/satchel'"))[1];
	like($loads, qr{libjson-c\S+ => \S*/opt/satchel/sbin/\.\./lib/},
	    'staged: ... which the program takes from there');
	sh("rm -rf '$dir/opt/satchel/lib'");
	is(join('', sh("make -s uninstall $put")), '0', 'staged: uninstalled');
	is((sh("find '$dir' -type f"))[1], '', 'staged: ... and nothing is left');
}

sub without_root {
	require MariaDB;
	my $db = MariaDB->new;
	my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1');
	$apache_port = $s->sockport;
	close $s;
	$db->sql('CREATE DATABASE you_satchel CHARACTER SET utf8mb4');
	$db->sql("CREATE USER you\@localhost IDENTIFIED BY 'the password'");
	$db->sql('GRANT ALL ON you_satchel.* TO you@localhost');
	local $ENV{HOME} = tempdir('satchel-home.XXXXXX', TMPDIR => 1,
	    CLEANUP => 1);
	local $ENV{O} = $build;
	chdir $top or die $!;
	staged();
	shared_hosting($ENV{HOME}, $db->{sock});
}

if (!$inside) {
	without_root();
	done_testing();
	exit 0;
}

# --- a server: what the machine does by itself ---

# The loopback interface, without iproute2.
sub loopback_up {
	socket my $s, PF_INET(), SOCK_DGRAM(), 0 or die $!;
	my $r = pack 'a16 s x22', 'lo', 0x41;	# IFF_UP, IFF_RUNNING
	ioctl $s, 0x8914, $r or die "lo: $!";	# SIOCSIFFLAGS
}

my @daemons;
sub daemon {
	my ($log, @command) = @_;
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', $log;
		open STDERR, '>&', \*STDOUT;
		exec @command or POSIX::_exit(127);
	}
	push @daemons, $pid;
}

# What the package mariadb-server does.
sub database_up {
	my ($rc, $out) = sh(<<'END');
getent passwd mysql >/dev/null ||
	adduser --system --group --no-create-home --home /nonexistent mysql
install -d -o mysql -g mysql /run/mysqld /var/lib/satchel-db
mariadb-install-db --no-defaults --user=mysql --datadir=/var/lib/satchel-db \
	--skip-test-db --force
END
	$rc == 0 or die("mariadb-install-db: $out");
	daemon('/var/log/db.log', 'mariadbd', '--no-defaults', '--user=mysql',
	    '--datadir=/var/lib/satchel-db', '--socket=/run/mysqld/mysqld.sock',
	    '--skip-networking', '--innodb-buffer-pool-size=48M',
	    '--innodb-log-file-size=16M');
	await(sub { (sh("mariadb -e 'SELECT 1'"))[0] == 0 })
	    or die('mariadbd: ' . slurp('/var/log/db.log'));
}

umask 022;
loopback_up();
is((sh('install -m 755 t/tool/systemctl /usr/local/bin/systemctl'))[0], 0,
    'a machine of its own');
my ($rc, $out) = sh('getent passwd satchel;'
    . 'ls /etc/satchel /usr/local/sbin/satchel /etc/nginx/satchel');
isnt($rc, 0, '... where Satchel has never been') or die($out);
database_up();

# As whom "$ " lines are typed: the owner of the sources.
my ($uid, $gid) = (stat '.')[4, 5];
my @anybody = !$uid ? ()
    : ('setpriv', "--reuid=$uid", "--regid=$gid", '--clear-groups');

# All workers listen: systemctl does not wait for that.
sub workers_up {
	await(sub {
		return 3 == grep { defined IO::Socket::UNIX->new(Peer => $_) }
		    map { "/run/$_.sock" } qw(satchel/files satchel/run
		    satchel-sandbox/sandbox);
	}) or die('the services do not start: '
	    . join '', map { slurp($_) } glob '/var/log/systemctl/*');
}

# Do the commands of a chapter, with words of ours for those that match.
sub do_chapter {
	my ($n, %ours) = @_;
	my $said = '';
	for my $c (chapter($n)) {
		my ($like) = grep { $c->{text} =~ /$_/ } keys %ours;
		my $text = $c->{text};
		$text = $ours{$like}->($text) if defined $like;
		workers_up() if $text =~ /^curl|admin check/;
		$said .= try($c, $text, $c->{root} ? () : @anybody);
		workers_up() if $text =~ /^systemctl re/;
	}
	return $said;
}

# --- 2: the server ---

# The model that the settings of the text name: a script.
daemon('/var/log/model.log', $^X, 'tools/scripted-model', '--port', 11434,
    '--script', 'demo');
ok(await(sub { port_open(11434) }), 'a model is there');
my $said = do_chapter(2, '^apt-get ' => sub {
	my ($text) = @_;
	$text =~ s/^apt-get /apt-get -s /;
	return "$text || { apt-get update && $text }" =~ s/\n(?= \|)//r;
});
like($said, qr/^\{.*"status":"ok"\}/m, 'ready');
like($said, qr/^ok    database.schema/m, 'check: the schema');
like($said, qr/^ok    sandbox.health/m, 'check: the sandbox');
unlike($said, qr/^FAIL/m, 'check: nothing has failed');
like($said, qr/^\d+ warnings?, 0 failures$/m, 'check: the last line says so');
is((ask('http://127.0.0.1:8090/sessions', '-X', 'POST'))[0], 401,
    'the sandbox wants its token');
my $units = 'satchel@files.service satchel@run.service '
    . 'satchel-sandbox.service satchel-keeper.service';
is(join('', sh("systemd-analyze verify --man=no $units")), '0',
    'systemd: the units');
is(sprintf('%o', (stat '/run/satchel/files.sock')[2] & 0777), '660',
    'the sockets are the group\'s');
is((sh("setpriv --reuid=nobody --regid=nogroup --clear-groups -- "
    . "cat /etc/satchel/satchel.yml"))[0], 1, 'nobody reads the settings');
my ($listens) = sh("nginx -T 2>/dev/null | grep -E '^[[:space:]]*listen' |"
    . " grep -vE '127\\.0\\.0\\.1:80[89]0;' | grep -c satchel");
isnt($listens, 0, 'nginx: only the loopback interface');

# cron: a file that cron.d takes, and a line that runs as its account.
my $tab = '/etc/cron.d/satchel';
is((stat $tab)[4] . sprintf(' %o', (stat _)[2] & 022), '0 0',
    'cron: nobody else may write the file');
my @lines = grep { !/^(?:#|\s*$)/ } split /\n/, slurp($tab);
my $field = qr{[\d*][\d*,/-]*};
like("@lines", qr/^(?:$field\s+){5}satchel\s+\S/, 'cron: one line, an account');
is(substr(slurp($tab), -1), "\n", 'cron: a newline at the end');
my ($job) = $lines[0] =~ /^(?:\S+\s+){6}(.*)/;
is(join('', sh($job, 'runuser', '-u', 'satchel', '--', 'env', '-i',
    'PATH=/usr/bin:/bin', 'HOME=/srv/satchel')), '0',
    'cron: it sweeps, silently');

staged();

# --- 4: keys; and a caller ---

my $key = '';
$said = do_chapter(4, 'sk-satchel-' => sub {
	my ($made) = $_[0] =~ s/sk-satchel-\.\.\./$key/r;
	return $made;
}, 'key create' => sub {
	return "$_[0]" =~ s/\n\z//r . " | tee /root/key\n";
}, 'key list' => sub {
	($key) = slurp('/root/key') =~ /^(sk-satchel-\w+)$/;
	return $_[0];
});
like($said, qr/^\{"object":"list","data":\[\]/m, 'a caller is let in');
my $base = 'http://127.0.0.1:8080';
try_files('nginx', $base, $key);

my ($status, $body) = ask("$base/v1/files", '-H', "x-api-key: $key", '-F',
    'file=@tools/demo.csv;type=text/csv', '-H',
    'anthropic-version: 2023-06-01');
my $id = (eval { decode_json($body) } // {})->{id} // '';
($status, $body) = ask("$base/v1/messages", '-H', "x-api-key: $key",
    '-H', 'anthropic-version: 2023-06-01', '-H',
    'content-type: application/json',
    '-d', '{"model":"demo","max_tokens":4096,"tools":[{"type":'
    . '"code_execution_20250825","name":"code_execution"}],"messages":[{"role":'
    . '"user","content":[{"type":"text","text":"Draw it."},{"type":'
    . '"container_upload","file_id":"' . $id . '"}]}]}');
my ($made) = $body =~ /"bash_code_execution_output","file_id":"(file-\w+)"/;
is("$status " . (defined $made ? 1 : $body), '200 1', 'code runs');
($status, $body) = ask("$base/v1/files/" . ($made // ''), '-H',
    "x-api-key: $key");
like("$status $body", qr/^200 .*"chart\.png"/, '... and its chart is a file');

# --- 7 and 8: later ---

do_chapter(5);	# What reads documents is there: the tests need it.

$said = do_chapter(7);
like($said, qr/^schema at number \d+, 0 step/m, 'upgrade: the schema is up');
like($said, qr/"clean":true/, 'backup: rows and bytes agree');
is(join('', sh('diff -r /srv/satchel/files /var/backups/satchel-files')), '0',
    'backup: the bytes');
like(slurp('/var/backups/satchel.sql'), qr/INSERT INTO `file`/,
    'backup: the rows');
try_files('after it', $base, $key);
my (undef, $head) = ask("$base/v1/files", '-I', '-H', "x-api-key: $key", '-X',
    'GET');
my ($request) = $head =~ /^x-request-id: (\S+)\r$/mi;
$request //= '-';
like(slurp('/var/log/systemctl/satchel@files.log'),
    qr/"request":"\Q$request\E"/, 'the log knows an answer\'s id');
$said = do_chapter(8);
like($said, qr/"dry_run":true/, 'the sweep says what it would do');

# --- 3: a server block that was there, below a path ---

do_chapter(3);
unlink '/etc/nginx/sites-enabled/satchel.conf';
spew('/etc/nginx/sites-enabled/mine.conf', <<'END');
include satchel/satchel-http.conf;
server {
	listen 127.0.0.1:8081;
	include satchel/satchel.conf;
	location / { return 200 "mine\n"; }
}
END
is(join('', sh('nginx -t -q && systemctl restart nginx')), '0',
    'nginx: a server of one\'s own');
is((ask('http://127.0.0.1:8081/v1/files'))[1], "mine\n", '... keeps its paths');
try_files('below a path', 'http://127.0.0.1:8081/ai', $key);

# --- 6: no root ---

($rc, $out) = sh(<<'END');
adduser --disabled-password --gecos '' you
mariadb -e "CREATE DATABASE you_satchel CHARACTER SET utf8mb4"
mariadb -e "CREATE USER you@localhost IDENTIFIED BY 'the password'"
mariadb -e "GRANT ALL ON you_satchel.* TO you@localhost"
END
is($rc, 0, 'shared: an account and its database') or diag($out);
shared_hosting('/home/you', undef, qw(setpriv --reuid=you --regid=you
    --init-groups env -i HOME=/home/you PATH=/usr/local/bin:/usr/bin:/bin
    O=/usr/src/build));

# --- 9: removal ---

do_chapter(9);
is((sh('ls -d /usr/local/sbin/satchel* /usr/local/share/satchel /etc/satchel '
    . '/srv/satchel /etc/nginx/satchel /etc/cron.d/satchel 2>/dev/null'))[1], '',
    'removed: nothing is left');
isnt((sh('getent passwd satchel satchel-sandbox'))[0], 0,
    'removed: nor the accounts');
is((sh("mariadb -N -e 'SHOW DATABASES' | grep -cx satchel"))[1], "0\n",
    'removed: nor the database');

is(join('', map { $_->{text} } grep { !$_->{ran} } @commands), '',
    'no command of INSTALL was left out');
kill 'KILL', @daemons;
done_testing();
