package Openapi;

# An OpenAPI document in JSON, and what speaks against it: a small part of JSON
# Schema, enough for ours, that fails on any keyword it does not know.
#
#	my $api = Openapi->new($path)
#	$api->answer($method, $path, \%answer)   what is wrong with an answer as
#	    Satchel::request gives it: an address, status, type or member that
#	    the document does not have; nothing if all is well
#	$api->request($method, $path, $json)     the same of a request's body,
#	    whose members may be more than there are
#	$api->against($schema, $value, $strict)  what is wrong with $value
#	$api->seen       METHOD PATH STATUS of all answers, each once
#	$api->operations METHOD PATH of all that there is

use strict;
use warnings;
use JSON::PP ();

sub new {
	my ($class, $path) = @_;
	open my $fh, '<:raw', $path or die "$path: $!";
	local $/;
	my $doc = JSON::PP->new->utf8->decode(scalar <$fh>);
	return bless { doc => $doc, seen => {} }, $class;
}

sub operations {
	my ($self) = @_;
	my $paths = $self->{doc}{paths};
	return map { my $path = $_; map { uc . " $path" }
	    grep { $_ ne 'parameters' } sort keys %{$paths->{$path}} }
	    sort keys %$paths;
}

sub seen { my ($self) = @_; return sort keys %{$self->{seen}} }

# The operation for a request: its path's template, and its description.
sub _operation {
	my ($self, $method, $path) = @_;
	$path =~ s/\?.*//s;
	for my $template (keys %{$self->{doc}{paths}}) {
		my $re = join '[^/]+', map { quotemeta }
		    split /\{\w+\}/, $template, -1;
		return ($template, $self->{doc}{paths}{$template}{lc $method})
		    if $path =~ /\A$re\z/;
	}
	return;
}

sub answer {
	my ($self, $method, $path, $a) = @_;
	return if !$a->{status};
	my ($template, $op) = $self->_operation($method, $path);
	my $what = "$method $path: $a->{status}";
	if (!$op) {
		my $want = $template ? 405 : 404;
		return if $a->{status} =~ /^(?:$want|40[01])$/;
		return "$what, of an address or method that is not there\n";
	}
	my $r = $op->{responses}{$a->{status}}
	    or return "$what is no status of $method $template\n";
	$self->{seen}{"$method $template $a->{status}"} = 1;
	my ($type) = ($a->{head}{'content-type'} || [''])->[0] =~ /^([^;\s]*)/;
	my $content = $r->{content};
	return $type eq '' ? () : "$what has a body of $type\n" if !$content;
	my $is = $content->{$type} || $content->{'*/*'}
	    or return "$what has the type $type\n";
	return if $type ne 'application/json' || !$content->{$type};
	return map { "$what: $_\n" }
	    $self->against($is->{schema}, $a->{json}, 1);
}

sub request {
	my ($self, $method, $path, $json) = @_;
	my (undef, $op) = $self->_operation($method, $path);
	my $is = $op->{requestBody}{content}{'application/json'} or return;
	return map { "$method $path: asked: $_\n" }
	    $self->against($is->{schema}, $json, 0);
}

sub _type {
	my ($v) = @_;
	return 'null' if !defined $v;
	return 'boolean' if JSON::PP::is_bool($v);
	return 'object' if ref $v eq 'HASH';
	return 'array' if ref $v eq 'ARRAY';
	# A number has no quotes when it is written.
	my $text = JSON::PP->new->allow_nonref->encode($v);
	return 'string' if $text =~ /^"/;
	return $v == int $v ? 'integer' : 'number';
}

my %rule = (
	type => sub {
		my ($s, $v) = @_;
		my $is = _type($v);
		return grep({ $_ eq $is || $_ eq 'number' && $is eq 'integer' }
		    ref $s->{type} ? @{$s->{type}} : $s->{type}) ? ()
		    : "is $is";
	},
	const => sub { $_[1] eq $_[0]{const} ? () : "is $_[1]" },
	enum => sub {
		my ($s, $v) = @_;
		return (grep { $v eq $_ } @{$s->{enum}}) ? () : "is $v";
	},
	minimum => sub { $_[1] >= $_[0]{minimum} ? () : "is $_[1]" },
	maximum => sub { $_[1] <= $_[0]{maximum} ? () : "is $_[1]" },
	minLength => sub { length $_[1] >= $_[0]{minLength} ? () : 'is short' },
	maxLength => sub { length $_[1] <= $_[0]{maxLength} ? () : 'is long' },
	minItems => sub { @{$_[1]} >= $_[0]{minItems} ? () : 'has few items' },
	maxItems => sub { @{$_[1]} <= $_[0]{maxItems} ? () : 'has many items' },
	pattern => sub { $_[1] =~ /$_[0]{pattern}/ ? () : "is $_[1]" },
);
my %other = map { $_ => 1 } qw(description format properties required items
    additionalProperties oneOf $ref);

sub _members {
	my ($self, $s, $v, $strict) = @_;
	my @bad = map { exists $v->{$_} ? () : "$_ is missing" }
	    @{$s->{required} || []};
	for my $name (sort keys %$v) {
		my $is = ($s->{properties} || {})->{$name}
		    || $s->{additionalProperties};
		if ($is) {
			push @bad, map { "$name $_" }
			    $self->against($is, $v->{$name}, $strict);
		} elsif ($strict && $s->{properties}) {
			push @bad, "$name is not in the document";
		}
	}
	return @bad;
}

sub against {
	my ($self, $s, $v, $strict) = @_;
	if (my $ref = $s->{'$ref'}) {
		my ($name) = $ref =~ m{^#/components/schemas/(\w+)$};
		return $self->against($self->{doc}{components}{schemas}{$name}
		    || die("$ref is not there"), $v, $strict);
	}
	if ($s->{oneOf}) {
		my @all = map { [$self->against($_, $v, $strict)] }
		    @{$s->{oneOf}};
		return (grep { !@$_ } @all) ? () : map { @$_ } @all;
	}
	for my $key (keys %$s) {
		die "the schema keyword $key is not understood"
		    if !$rule{$key} && !$other{$key};
	}
	my @bad = $s->{type} ? $rule{type}->($s, $v) : ();
	return @bad if @bad || !defined $v;
	push @bad, map { $rule{$_}->($s, $v) } grep { exists $s->{$_} }
	    sort keys %rule;
	push @bad, $self->_members($s, $v, $strict) if ref $v eq 'HASH';
	if (ref $v eq 'ARRAY' && $s->{items}) {
		push @bad, map { my $i = $_; map { "[$i] $_" }
		    $self->against($s->{items}, $v->[$i], $strict) } 0 .. $#$v;
	}
	return @bad;
}

1;
