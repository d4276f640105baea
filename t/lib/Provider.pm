package Provider;
# A scripted upstream for tests: tools/scripted-model over a script given as a
# Perl structure or a file's name, and the requests it has seen.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Spec;
use File::Temp qw(tempdir);
use IO::Socket::INET;
use JSON::PP;
use MIME::Base64;

my $tool = File::Spec->rel2abs(dirname(__FILE__) . '/../../tools/scripted-model');

# Start one; (script => {...} or 'demo' or a path).
sub new {
	my ($class, %o) = @_;
	my $self = bless({ dir => tempdir(CLEANUP => 1), owner => $$ }, $class);
	my $script = $o{script};
	if (ref($script)) {
		$script = "$self->{dir}/script.json";
		open(my $f, '>:raw', $script) or die "$script: $!";
		print $f JSON::PP->new->utf8->encode($o{script});
		close($f);
	}
	$self->{record} = "$self->{dir}/requests";
	my $pid = open(my $out, '-|', $^X, $tool, '--port', 0, '--script',
	    $script, '--record', $self->{record}) or die "$tool: $!";
	my $port = <$out> // die("$tool did not start");
	chomp($port);
	@$self{qw(pid out port)} = ($pid, $out, $port);
	return $self;
}

sub port { return $_[0]{port} }
sub url { return "http://127.0.0.1:$_[0]{port}/v1" }

# One entry of "providers:" that points here, as YAML.
sub yaml {
	my ($self, $name, $wire, %more) = @_;
	my %e = (name => $name, wire => $wire, base_url => $self->url,
	    api_key => 'upstream-secret', %more);
	return '  - ' . join("\n    ", map { "$_: $e{$_}" }
	    'name', grep { $_ ne 'name' } sort(keys(%e))) . "\n";
}

# Every request so far: {method, path, header, body (bytes), json, connection}.
sub requests {
	my ($self) = @_;
	my @all;
	open(my $f, '<:raw', $self->{record}) or return;
	while (my $line = <$f>) {
		my $r = JSON::PP->new->utf8->decode($line);
		$r->{body} = decode_base64(delete($r->{body64}));
		$r->{json} = eval { JSON::PP->new->utf8->decode($r->{body}) };
		push(@all, $r);
	}
	return @all;
}

# Forget what it has seen.
sub forget {
	my ($self) = @_;
	open(my $f, '>', $self->{record}) or die "$self->{record}: $!";
	close($f);
}

sub stop {
	my ($self) = @_;
	my $pid = delete($self->{pid}) or return;
	kill('TERM', $pid);
	close($self->{out});
}

sub DESTROY {
	my ($self) = @_;
	local $?;
	$self->stop if $self->{owner} == $$;
}

# A port on which nobody listens.
sub dead_port {
	my $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0,
	    Listen => 1) or die $!;
	my $port = $s->sockport;
	close($s);
	return $port;
}

1;
