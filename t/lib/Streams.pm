package Streams;
# What is wrong with a streamed answer, by what the vendors' clients need of it
# (contract of the executor, 5.3).  faults($path, $body) gives a list of words,
# empty if the stream is sound.
use strict;
use warnings;
use JSON::PP;

my $json = JSON::PP->new->utf8;
my %known = map { $_ => 1 } map { "response.$_" } qw(created in_progress
    completed incomplete failed output_item.added output_item.done
    content_part.added content_part.done output_text.delta output_text.done
    output_text.annotation.added function_call_arguments.delta
    function_call_arguments.done custom_tool_call_input.delta
    custom_tool_call_input.done reasoning_text.delta reasoning_text.done
    code_interpreter_call.in_progress code_interpreter_call.interpreting
    code_interpreter_call.completed code_interpreter_call_code.delta
    code_interpreter_call_code.done);

sub faults {
	my ($path, $body) = @_;
	my %seen;
	return grep { !$seen{$_}++ } $path =~ /messages/ ? messages($body) :
	    $path =~ /responses/ ? responses($body) : chat($body);
}

# The frames of a stream: [event line or undef, data]; and words for what is
# none.  A comment is no frame.
sub frames {
	my ($body) = @_;
	my (@frames, @wrong);
	push @wrong, 'no blank line at the end' if $body !~ /\n\n\z/;
	for my $text (split /\n\n/, $body) {
		next if $text =~ /\A:[^\n]*\z/;
		if ($text =~ /\A(?:event: ([\w.]+)\n)?data: ([^\n]+)\z/) {
			my ($event, $data) = ($1, $2);
			push @frames, [$event, $data eq '[DONE]' ? $data :
			    eval { $json->decode($data) } // {}];
		} else {
			push @wrong, 'no frame';
		}
	}
	return (\@frames, @wrong);
}

# The events of a stream whose frames name them.
sub named {
	my ($frames) = @_;
	return map { !defined($_->[0]) ? 'no event line' :
	    ($_->[1]{type} // '') ne $_->[0] ? 'another event line' : () }
	    @$frames;
}

sub messages {
	my ($frames, @wrong) = frames(@_);
	my @e = map { $_->[1] } @$frames;
	my ($open, $next, %n) = (undef, 0);
	push @wrong, named($frames);
	push @wrong, 'does not begin with message_start'
	    if ($e[0]{type} // '') ne 'message_start';
	for my $e (@e) {
		my $type = $e->{type} // '';
		$n{$type}++;
		if ($type eq 'content_block_start') {
			push @wrong, 'index' if defined($open) ||
			    $e->{index} != $next++;
			$open = $e->{index};
		} elsif ($type =~ /^content_block_(delta|stop)$/) {
			push @wrong, 'index' if !defined($open) ||
			    $e->{index} != $open;
			$open = undef if $1 eq 'stop';
		} elsif ($type eq 'message_delta') {
			push @wrong, 'message_delta without usage' if
			    !defined($e->{usage}{output_tokens});
		}
	}
	push @wrong, 'two message_start' if ($n{message_start} // 0) > 1;
	push @wrong, 'no message_stop' if !$n{error} &&
	    ($e[-1]{type} // '') ne 'message_stop';
	push @wrong, 'no message_delta' if !$n{error} && !$n{message_delta};
	push @wrong, 'more after the error' if $n{error} &&
	    ($e[-1]{type} // '') ne 'error';
	return @wrong;
}

# What is wrong with one event of an item that is under way.
sub item_event {
	my ($e, $it) = @_;
	return 'no such item' if !$it;
	return 'item_id' if ($e->{item_id} // '') ne $it->{id};
	$it->{part}[$e->{content_index}] = 1
	    if $e->{type} eq 'response.content_part.added';
	return 'text without content_part.added' if
	    $e->{type} =~ /^response\.(output|reasoning)_text\./ &&
	    !$it->{part}[$e->{content_index}];
	return ();
}

sub responses {
	my ($frames, @wrong) = frames(@_);
	my @e = map { $_->[1] } grep { $_->[1] ne '[DONE]' } @$frames;
	my (@items, %ids, $created);
	push @wrong, named([grep { $_->[1] ne '[DONE]' } @$frames]);
	push @wrong, 'does not begin with response.created'
	    if ($e[0]{type} // '') ne 'response.created';
	for my $n (0 .. $#e) {
		my ($e, $type) = ($e[$n], $e[$n]{type} // '');
		push @wrong, "unknown event" if !$known{$type};
		push @wrong, 'sequence_number' if ($e->{sequence_number} // -1)
		    != $n;
		push @wrong, 'two response.created' if
		    $type eq 'response.created' && $created++;
		my $i = $e->{output_index} // next;
		if ($type eq 'response.output_item.added') {
			push @wrong, 'output_index' if $i != @items;
			push @wrong, 'item id' if $ids{ $e->{item}{id} }++;
			$items[$i] = { id => $e->{item}{id} };
		} elsif ($type eq 'response.output_item.done') {
			push @wrong, 'item_id' if $e->{item}{id} ne
			    ($items[$i]{id} // '');
		} else {
			push @wrong, item_event($e, $items[$i]);
		}
	}
	my $last = $e[-1] // {};
	return (@wrong, 'no end') if ($last->{type} // '') !~
	    /^response\.(completed|incomplete|failed)$/;
	my %there = map { $_->{id} => 1 } @{ $last->{response}{output} // [] };
	push @wrong, 'the end omits an item' if grep { !$there{ $_->{id} } }
	    @items;
	return @wrong;
}

sub chat {
	my ($frames, @wrong) = frames(@_);
	my @e = map { $_->[1] } @$frames;
	my ($done, $why, $failed, $calls, $notes) = (0, 0, 0, 0, 0);
	push @wrong, 'no [DONE]' if !@e || pop(@e) ne '[DONE]';
	my $first = $e[0]{choices} && $e[0]{choices}[0] // {};
	push @wrong, 'no role' if !$e[0]{error} && !$first->{delta}{role};
	for my $e (@e) {
		$failed++ if $e->{error};
		my $c = ($e->{choices} // [])->[0] // next;
		push @wrong, 'more after its reason' if $why;
		$why++ if defined($c->{finish_reason});
		push @wrong, 'annotations twice' if $c->{delta}{annotations} &&
		    $notes++;
		for my $t (@{ $c->{delta}{tool_calls} // [] }) {
			if ($t->{index} == $calls) {
				$calls++;
				push @wrong, 'a call without its type'
				    if ($t->{type} // '') ne 'function';
			} elsif ($t->{index} > $calls) {
				push @wrong, 'a gap between calls';
			}
		}
	}
	push @wrong, 'no reason' if !$why && !$failed;
	return @wrong;
}

1;
