package Turns;
# The script of a model server that does what the tests of streamed answers
# need; the SDKs' programs in t/sdk ask for these models by name.
use strict;
use warnings;

sub bash {
	my ($command, %more) = @_;
	return { name => 'bash_code_execution',
	    arguments => { command => $command }, %more };
}

sub models {
	my $save = { name => 'save', id => 'call_b7f3',
	    arguments => { title => 'T' } };
	return (
		plain => [{ text => "Hello \x{2028} \x{1F600}, how are you "
		    . 'today?', reasoning => 'Hm, a greeting.' }],
		job => [
			{ text => 'Let me see.', calls => [bash("echo a; echo b"
			    . ' >&2; echo c >c.txt; exit 3', id => 'call_u1')],
			    usage => { prompt_tokens => 760,
			    completion_tokens => 120 } },
			{ expect => ['exit code 3'], text => 'Done.', usage => {
			    prompt_tokens => 1116, completion_tokens => 51,
			    prompt_tokens_details => { cached_tokens => 512 } }
			},
		],
		twice => [{ calls => [bash('echo 1'), bash('echo 2')] },
		    { text => 'Both.' }],
		mixed => [{ text => 'Both.', calls => [$save,
		    bash('echo mine')] }, { text => 'Stored.' }],
		ours => [{ text => 'Both.', calls => [bash('echo mine'),
		    $save] }, { text => 'Stored.' }],
		odd => [
			{ calls => [{ name => 'nosuch', arguments => {} }] },
			{ calls => [{ name => 'python', arguments =>
			    { code => 'print(6*7)' } }] },
			{ expect => ['42'], calls => [{ name =>
			    'bash_code_execution', raw => '' }] },
			{ expect => ['arguments must be JSON'],
			    text => 'Odd.' },
		],
		broken => [{ finish => 'length', calls => [{ name =>
		    'bash_code_execution', raw => '{"command": "ec' }] }],
		dies => [{ text => 'This is cut off here', cut => 1 }],
		refuses => [{ status => 400, type => 'application/json',
		    body => '{"error":{"message":"too long"}}' }],
		empty => [{ calls => [bash('echo quiet')] }, { text => '' }],
		later => [{ calls => [bash('echo 1')] }, { status => 500,
		    body => '{}' }],
		drips => [{ text => 'x' x 1200, pause => 0.4 }],
	);
}

1;
