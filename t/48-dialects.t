#!/usr/bin/perl

# Every caller's dialect over every wire: a file goes in, code runs here, a
# function of the caller's is called and answered, whole and streamed.

use strict;
use warnings;
use JSON::PP ();
use Test::More;
use Provider;
use Satchel qw(header);

my $code = "print(open('data.csv').read(), end='')\n"
    . "open('t.csv', 'w').write('a\\n')";
my %models = (
	job => [{ text => 'So.', calls => [{ name => 'code_execution',
	    arguments => { code => $code } }] },
	    [{ expect => ['R-9'], text => 'Saved in t.csv.' },
	    { expect => ['qty'], calls => [{ name => 'save', id => 'call_s1',
	    arguments => { title => 'T' } }] }],
	    { expect => ['R-9'], text => 'Saved in t.csv.' }],
	forced => [({ text => '{"a":1}' }) x 2],
);
my $p = Provider->new(script => { models => \%models });
my %wires = (chat => 'openai-chat', resp => 'openai-responses',
    ant => 'anthropic-messages');
my $s = Satchel->new(providers => join('', map { $p->yaml($_, $wires{$_}) }
    sort(keys(%wires))));
my $id = $s->upload("qty\n20\n", name => 'data.csv', type => 'text/csv',
    purpose => 'user_data')->{json}{id};
my %schema = (type => 'object', properties => { title => { type =>
    'string' } });

# What each caller sends first, what he sends back, and what he is shown: of an
# answer, its text, its call's id and the names of the files it tells of.
my %callers = (
	responses => {
		path => '/v1/responses',
		first => sub { return (input => [{ role => 'user', content =>
		    'Go.' }], tools => [{ type => 'code_interpreter', container =>
		    { type => 'auto', file_ids => [$id] } }, { type =>
		    'function', name => 'save', parameters => \%schema }]) },
		back => sub {
			my ($with, $r) = @_;
			push @{ $with->{input} }, @{ $r->{output} }, { type =>
			    'function_call_output', call_id =>
			    calls_of($r->{output})->{call_id}, output => 'R-9' };
		},
		show => sub {
			my ($r) = @_;
			my @parts = map { @{ $_->{content} } } grep { $_->{type}
			    eq 'message' } @{ $r->{output} };
			return (join('|', grep { length } map { $_->{text} }
			    @parts), calls_of($r->{output}), join(' ', map {
			    $_->{filename} } map { @{ $_->{annotations} } }
			    @parts));
		},
		last => sub {
			my ($body) = @_;
			return $body =~ /event: response\.completed\ndata: (.*)\n/
			    ? JSON::PP->new->utf8->decode($1)->{response} : {};
		},
	},
	chat => {
		path => '/v1/chat/completions',
		first => sub { return (messages => [{ role => 'user', content =>
		    [{ type => 'text', text => 'Go.' }, { type => 'file', file =>
		    { file_id => $id } }] }], tools => [{ type =>
		    'code_interpreter' }, { type => 'function', function =>
		    { name => 'save', parameters => \%schema } }]) },
		back => sub {
			my ($with, $r) = @_;
			my $m = $r->{choices}[0]{message};
			push @{ $with->{messages} }, $m, { role => 'tool',
			    tool_call_id => $m->{tool_calls}[0]{id}, content =>
			    'R-9' };
		},
		show => sub {
			my ($r) = @_;
			my $m = $r->{choices}[0]{message};
			my $text = $m->{content} // '';
			return ($text =~ s/\n\n/|/r, $m->{tool_calls}[0],
			    join(' ', map { $_->{url_citation}{title} }
			    @{ $m->{annotations} }));
		},
		last => sub {
			my ($body) = @_;
			my (%m, %c);
			$m{annotations} = [];
			while ($body =~ /^data: (\{.*)$/mg) {
				my $d = JSON::PP->new->utf8->decode($1)
				    ->{choices}[0]{delta} // next;
				$m{content} .= $d->{content} // '';
				push @{ $m{annotations} },
				    @{ $d->{annotations} // [] };
				my $t = $d->{tool_calls}[0] // next;
				$c{id} //= $t->{id};
				$c{type} = 'function';
				$c{function}{name} //= $t->{function}{name};
				$c{function}{arguments} .=
				    $t->{function}{arguments};
			}
			return { choices => [{ message => { %m, role =>
			    'assistant', $c{id} ? (tool_calls => [\%c]) : ()
			    } }] };
		},
	},
	messages => {
		path => '/v1/messages',
		first => sub { return (max_tokens => 4096, messages => [{ role =>
		    'user', content => [{ type => 'text', text => 'Go.' },
		    { type => 'container_upload', file_id => $id }] }], tools =>
		    [{ type => 'code_execution_20250522', name =>
		    'code_execution' }, { name => 'save', input_schema =>
		    \%schema }]) },
		back => sub {
			my ($with, $r) = @_;
			push @{ $with->{messages} }, { role => 'assistant',
			    content => $r->{content} }, { role => 'user',
			    content => [{ type => 'tool_result', tool_use_id =>
			    (grep { $_->{type} eq 'tool_use' } @{ $r->{content}
			    })[0]{id}, content => 'R-9' }] };
		},
		show => sub {
			my ($r) = @_;
			my @c = @{ $r->{content} };
			return (join('|', map { $_->{text} } grep { $_->{type}
			    eq 'text' } @c), (grep { $_->{type} eq 'tool_use' }
			    @c)[0], join(' ', map { $s->get("/v1/files/"
			    . $_->{file_id})->{json}{filename} } map {
			    @{ $_->{content}{content} // [] } } grep { $_->{type}
			    eq 'code_execution_tool_result' } @c));
		},
	},
);

sub calls_of { return (grep { $_->{type} eq 'function_call' } @{ $_[0] })[0] }

# One turn: the answer as an object, streamed or not.
sub turn {
	my ($way, $stream, %with) = @_;
	my $c = $callers{$way};
	$p->forget;
	my $r = $s->post($c->{path}, timeout => 60, ant => $way eq 'messages',
	    headers => ['X-Code-Execution' => 'local'], json => { %with,
	    stream => $stream ? JSON::PP::true : JSON::PP::false });
	is($r->{status}, 200, '... it is answered') or diag($r->{body});
	is(header($r, 'X-Code-Execution-Ran'), 'local', '... with code run here');
	return $stream ? $c->{last}->($r->{body}) : $r->{json};
}

for my $way (sort(keys(%callers))) {
	my $c = $callers{$way};
	for my $wire (sort(keys(%wires))) {
		for my $stream (0, $c->{last} ? 1 : ()) {
			note("$way over $wires{$wire}" . ($stream ?
			    ', streamed' : ''));
			my %with = (model => "$wire:job", $c->{first}->());
			my $r = turn($way, $stream, %with);
			my ($text, $call, $files) = $c->{show}->($r);
			is($text, 'So.', "$way over $wires{$wire}: the text");
			is($call->{name} // $call->{function}{name}, 'save',
			    "$way over $wires{$wire}: the caller's call");
			is($files, 't.csv', "$way over $wires{$wire}: the file");
			$c->{back}->(\%with, $r);
			($text, $call, $files) =
			    $c->{show}->(turn($way, $stream, %with));
			is($text, 'Saved in t.csv.',
			    "$way over $wires{$wire}: goes on");
		}
	}
}

# A form of the answer reaches each server in its own words.
my %form = (
	chat => sub { $_[0]{response_format}{json_schema}{schema} //
	    ($_[0]{messages}[0]{content} =~ /"title"/ ? \%schema : undef) },
	resp => sub { $_[0]{text}{format}{schema} },
	ant => sub { $_[0]{system} =~ /"title"/ ? \%schema : undef },
);
for my $wire (sort(keys(%wires))) {
	$p->forget;
	$s->post('/v1/responses', json => { model => "$wire:forced", input =>
	    'Go.', text => { format => { type => 'json_schema', name => 'n',
	    schema => \%schema } } });
	is_deeply($form{$wire}->(($p->requests)[0]{json}), \%schema,
	    "a form of the answer over $wires{$wire}")
	    or diag(($p->requests)[0]{body});
}
# A call whose arguments never were JSON is given back as it was made.
for my $wire (sort(keys(%wires))) {
	$p->forget;
	my $r = $s->post('/v1/chat/completions', json => { model =>
	    "$wire:forced", messages => [{ role => 'user', content => 'Go.' },
	    { role => 'assistant', tool_calls => [{ id => 'c1', type =>
	    'function', function => { name => 'save', arguments => '{oops' } }]
	    }, { role => 'tool', tool_call_id => 'c1', content => 'no' }] });
	is($r->{status}, 200, "broken arguments in a history over $wires{$wire}")
	    or diag($r->{body});
	like(($p->requests)[0]{body}, qr/\{oops/, 'which the model is shown');
}
$s->done;
done_testing();
