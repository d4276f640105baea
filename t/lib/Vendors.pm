package Vendors;

# What the vendors' published schemas say of answers, as tables of facts: which
# members an object has, which it may lack, which may be null.  Drawn from the
# types of openai 7.59 and @anthropic-ai/sdk 1.14.
#
#	Vendors::faults($method, $path, $status, $type, $body)
#
# gives what is wrong with an answer of ours, whole or streamed: a member that
# the type does not have, one that it requires and that is missing, a null or a
# value of another type.  An empty list: it is right, or none of these objects.
# Satchel::done() fails a test in which there was any.
#
# A line of a table is a member and what it may be.  "?" after the member: it may
# be absent.  [X] is a list of X; words in quotes are themselves; a name is that
# of another table; any is anything.

use strict;
use warnings;
use JSON::PP ();

my $json = JSON::PP->new->utf8->allow_nonref;

my $types = <<'END';
Response
	id string
	object "response"
	created_at int
	status? "completed"|"failed"|"in_progress"|"cancelled"|"queued"|"incomplete"
	background? bool|null
	completed_at? int|null
	error ResponseError|null
	incomplete_details IncompleteDetails|null
	instructions string|null
	max_output_tokens? int|null
	max_tool_calls? int|null
	metadata object|null
	model string
	output [OutputMessage|Reasoning|FunctionCall|CustomCall|InterpreterCall]
	parallel_tool_calls bool
	previous_response_id? string|null
	reasoning? ReasoningConfig|null
	safety_identifier? string|null
	service_tier? "auto"|"default"|"flex"|"scale"|"priority"|null
	temperature number|null
	text? object
	tool_choice string|object
	tools [object]
	top_logprobs? int|null
	top_p number|null
	truncation? "auto"|"disabled"|null
	usage? ResponseUsage
	user? string
ResponseError
	code "server_error"|"rate_limit_exceeded"|"invalid_prompt"
	message string
IncompleteDetails
	reason? "max_output_tokens"|"content_filter"
ReasoningConfig
	effort? string|null
	summary? string|null
ResponseUsage
	input_tokens int
	input_tokens_details InputTokensDetails
	output_tokens int
	output_tokens_details ResponseOutputDetails
	total_tokens int
InputTokensDetails
	cache_write_tokens int
	cached_tokens int
ResponseOutputDetails
	reasoning_tokens int
OutputMessage
	id string
	type "message"
	role "assistant"
	status "in_progress"|"completed"|"incomplete"
	content [OutputText|Refusal]
OutputText
	type "output_text"
	text string
	annotations [ContainerCitation]
	logprobs? [object]
Refusal
	type "refusal"
	refusal string
ContainerCitation
	type "container_file_citation"
	container_id string
	file_id string
	filename string
	start_index int
	end_index int
Reasoning
	id string
	type "reasoning"
	summary [object]
	content? [ReasoningText]
	encrypted_content? string|null
	status? "in_progress"|"completed"|"incomplete"
ReasoningText
	type "reasoning_text"
	text string
FunctionCall
	type "function_call"
	id? string
	call_id string
	name string
	arguments string
	status? "in_progress"|"completed"|"incomplete"
CustomCall
	type "custom_tool_call"
	id? string
	call_id string
	name string
	input string
InterpreterCall
	type "code_interpreter_call"
	id string
	code string|null
	container_id string
	outputs [Logs|Image]|null
	status "in_progress"|"completed"|"incomplete"|"interpreting"|"failed"
Logs
	type "logs"
	logs string
Image
	type "image"
	url string
ResponseEvent
	type "response.created"|"response.in_progress"|"response.completed"|"response.incomplete"|"response.failed"
	sequence_number int
	response Response
ItemEvent
	type "response.output_item.added"|"response.output_item.done"
	sequence_number int
	output_index int
	item OutputMessage|Reasoning|FunctionCall|CustomCall|InterpreterCall
PartEvent
	type "response.content_part.added"|"response.content_part.done"
	sequence_number int
	output_index int
	content_index int
	item_id string
	part OutputText|Refusal|ReasoningText
TextDelta
	type "response.output_text.delta"
	sequence_number int
	output_index int
	content_index int
	item_id string
	delta string
	logprobs [object]
TextDone
	type "response.output_text.done"
	sequence_number int
	output_index int
	content_index int
	item_id string
	text string
	logprobs [object]
AnnotationAdded
	type "response.output_text.annotation.added"
	sequence_number int
	output_index int
	content_index int
	item_id string
	annotation_index int
	annotation ContainerCitation
ReasoningDelta
	type "response.reasoning_text.delta"
	sequence_number int
	output_index int
	content_index int
	item_id string
	delta string
ReasoningDone
	type "response.reasoning_text.done"
	sequence_number int
	output_index int
	content_index int
	item_id string
	text string
CallDelta
	type "response.function_call_arguments.delta"|"response.custom_tool_call_input.delta"|"response.code_interpreter_call_code.delta"
	sequence_number int
	output_index int
	item_id string
	delta string
ArgumentsDone
	type "response.function_call_arguments.done"
	sequence_number int
	output_index int
	item_id string
	arguments string
InputDone
	type "response.custom_tool_call_input.done"
	sequence_number int
	output_index int
	item_id string
	input string
CodeDone
	type "response.code_interpreter_call_code.done"
	sequence_number int
	output_index int
	item_id string
	code string
InterpreterEvent
	type "response.code_interpreter_call.in_progress"|"response.code_interpreter_call.interpreting"|"response.code_interpreter_call.completed"
	sequence_number int
	output_index int
	item_id string
ResponseDeleted
	id string
	object "response"
	deleted bool
ItemList
	object "list"
	data [object]
	first_id string
	last_id string
	has_more bool
Message
	id string
	type "message"
	role "assistant"
	model string
	container MessageContainer|null
	content [TextBlock|ThinkingBlock|ToolUse|ServerToolUse|CodeResult|BashResult|EditorResult]
	diagnostics object|null
	stop_details StopDetails|null
	stop_reason "end_turn"|"max_tokens"|"stop_sequence"|"tool_use"|"pause_turn"|"refusal"|"model_context_window_exceeded"|null
	stop_sequence string|null
	usage Usage
MessageContainer
	id string
	expires_at string
	skills [object]|null
StopDetails
	type "refusal"
	category string|null
	explanation string|null
Usage
	input_tokens int
	output_tokens int
	cache_creation object|null
	cache_creation_input_tokens int|null
	cache_read_input_tokens int|null
	inference_geo string|null
	output_tokens_details OutputTokensDetails|null
	server_tool_use ServerToolUsage|null
	service_tier "standard"|"priority"|"batch"|null
	speed "standard"|"fast"|null
DeltaUsage
	input_tokens int|null
	output_tokens int
	cache_creation_input_tokens int|null
	cache_read_input_tokens int|null
	output_tokens_details OutputTokensDetails|null
	server_tool_use ServerToolUsage|null
OutputTokensDetails
	thinking_tokens int
ServerToolUsage
	web_fetch_requests int
	web_search_requests int
TextBlock
	type "text"
	text string
	citations [object]|null
ThinkingBlock
	type "thinking"
	thinking string
	signature string
ToolUse
	type "tool_use"
	id string
	name string
	input object
	caller DirectCaller|CodeCaller
ServerToolUse
	type "server_tool_use"
	id string
	name "code_execution"|"bash_code_execution"|"text_editor_code_execution"
	input object
	caller DirectCaller|CodeCaller
DirectCaller
	type "direct"
CodeCaller
	type "code_execution_20250825"|"code_execution_20260120"
	tool_id string
CodeResult
	type "code_execution_tool_result"
	tool_use_id string
	content CodeRan|CodeError
CodeRan
	type "code_execution_result"
	stdout string
	stderr string
	return_code int
	content [CodeOutput]
CodeOutput
	type "code_execution_output"
	file_id string
CodeError
	type "code_execution_tool_result_error"
	error_code "invalid_tool_input"|"unavailable"|"too_many_requests"|"execution_time_exceeded"
BashResult
	type "bash_code_execution_tool_result"
	tool_use_id string
	content BashRan|BashError
BashRan
	type "bash_code_execution_result"
	stdout string
	stderr string
	return_code int
	content [BashOutput]
BashOutput
	type "bash_code_execution_output"
	file_id string
BashError
	type "bash_code_execution_tool_result_error"
	error_code "invalid_tool_input"|"unavailable"|"too_many_requests"|"execution_time_exceeded"|"output_file_too_large"
EditorResult
	type "text_editor_code_execution_tool_result"
	tool_use_id string
	content EditorView|EditorCreate|EditorReplace|EditorError
EditorView
	type "text_editor_code_execution_view_result"
	file_type "text"|"image"|"pdf"
	content string
	num_lines int|null
	start_line int|null
	total_lines int|null
EditorCreate
	type "text_editor_code_execution_create_result"
	is_file_update bool
EditorReplace
	type "text_editor_code_execution_str_replace_result"
	lines [string]|null
	new_lines int|null
	new_start int|null
	old_lines int|null
	old_start int|null
EditorError
	type "text_editor_code_execution_tool_result_error"
	error_code "invalid_tool_input"|"unavailable"|"too_many_requests"|"execution_time_exceeded"|"file_not_found"
	error_message string|null
MessageStart
	type "message_start"
	message Message
MessageDelta
	type "message_delta"
	delta MessageDeltaInner
	usage DeltaUsage
MessageDeltaInner
	container MessageContainer|null
	stop_details StopDetails|null
	stop_reason "end_turn"|"max_tokens"|"stop_sequence"|"tool_use"|"pause_turn"|"refusal"|"model_context_window_exceeded"|null
	stop_sequence string|null
MessageStop
	type "message_stop"
Ping
	type "ping"
BlockStart
	type "content_block_start"
	index int
	content_block TextBlock|ThinkingBlock|ToolUse|ServerToolUse|CodeResult|BashResult|EditorResult
BlockDelta
	type "content_block_delta"
	index int
	delta DeltaText|DeltaJson|DeltaThinking|DeltaSignature
DeltaText
	type "text_delta"
	text string
DeltaJson
	type "input_json_delta"
	partial_json string
DeltaThinking
	type "thinking_delta"
	thinking string
DeltaSignature
	type "signature_delta"
	signature string
BlockStop
	type "content_block_stop"
	index int
TokensCount
	input_tokens int
ResponseTokens
	object "response.input_tokens"
	input_tokens int
ChatCompletion
	id string
	object "chat.completion"
	created int
	model string
	choices [Choice]
	service_tier? string|null
	system_fingerprint? string
	usage? ChatUsage
Choice
	index int
	finish_reason "stop"|"length"|"tool_calls"|"content_filter"|"function_call"
	logprobs object|null
	message ChatMessage
ChatMessage
	role "assistant"
	content string|null
	refusal string|null
	annotations? [UrlCitation]
	function_call? OldCall|null
	tool_calls? [ChatFunction|ChatCustom]
OldCall
	name string
	arguments string
ChatFunction
	id string
	type "function"
	function OldCall
ChatCustom
	id string
	type "custom"
	custom ChatCustomCall
ChatCustomCall
	name string
	input string
UrlCitation
	type "url_citation"
	url_citation UrlCited
UrlCited
	url string
	title string
	start_index int
	end_index int
ChatUsage
	prompt_tokens int
	completion_tokens int
	total_tokens int
	prompt_tokens_details? PromptDetails
	completion_tokens_details? CompletionDetails
PromptDetails
	audio_tokens? int
	cached_tokens? int
CompletionDetails
	accepted_prediction_tokens? int
	audio_tokens? int
	reasoning_tokens? int
	rejected_prediction_tokens? int
Chunk
	id string
	object "chat.completion.chunk"
	created int
	model string
	choices [ChunkChoice]
	service_tier? string|null
	system_fingerprint? string
	usage? ChatUsage|null
ChunkChoice
	index int
	delta ChunkDelta
	finish_reason "stop"|"length"|"tool_calls"|"content_filter"|"function_call"|null
	logprobs? object|null
ChunkDelta
	role? "assistant"
	content? string|null
	refusal? string|null
	function_call? ChunkFunction
	tool_calls? [ChunkCall]
ChunkCall
	index int
	id? string
	type? "function"|"custom"
	function? ChunkFunction
	custom? ChunkCustom
ChunkFunction
	name? string
	arguments? string
ChunkCustom
	name? string
	input? string
FileObject
	id string
	object "file"
	bytes int
	created_at int
	expires_at? int
	filename string
	purpose "assistants"|"assistants_output"|"batch"|"batch_output"|"fine-tune"|"fine-tune-results"|"vision"|"user_data"
	status "uploaded"|"processed"|"error"
	status_details? string
FileDeleted
	id string
	object "file"
	deleted bool
FileObjectList
	object "list"
	data [FileObject]
	first_id string
	last_id string
	has_more bool
FileMetadata
	id string
	type "file"
	created_at string
	filename string
	mime_type string
	size_bytes int
	downloadable? bool
	expires_at? string|null
DeletedFile
	id string
	type? "file_deleted"
FilePage
	data [FileMetadata]
	has_more bool
	first_id string|null
	last_id string|null
	next_page string|null
Upload
	id string
	object "upload"
	bytes int
	created_at int
	expires_at int
	filename string
	purpose string
	status "pending"|"completed"|"cancelled"|"expired"
	file? FileObject|null
UploadPart
	id string
	object "upload.part"
	created_at int
	upload_id string
Container
	id string
	object "container"
	created_at int
	name string
	status string
	expires_after? ExpiresAfter
	last_active_at? int
	memory_limit? "1g"|"4g"|"16g"|"64g"
	network_policy? NetworkPolicy
ExpiresAfter
	anchor? "last_active_at"
	minutes? int
NetworkPolicy
	type "allowlist"|"disabled"
	allowed_domains? [string]
ContainerList
	object "list"
	data [Container]
	first_id string
	last_id string
	has_more bool
ContainerFile
	id string
	object "container.file"
	bytes int
	container_id string
	created_at int
	path string
	source string
ContainerFileList
	object "list"
	data [ContainerFile]
	first_id string
	last_id string
	has_more bool
Model
	id string
	object "model"
	created int
	owned_by string
	shutdown_date? string|null
ModelList
	object "list"
	data [Model]
ModelInfo
	id string
	type "model"
	created_at string
	display_name string
	capabilities object|null
	deprecated_at string|null
	lifecycle "active"|"deprecated"|"retired"
	line string|null
	max_input_tokens int|null
	max_tokens int|null
	retires_at string|null
ModelPage
	data [ModelInfo]
	has_more bool
	first_id string|null
	last_id string|null
OpenaiError
	error OpenaiErrorObject
OpenaiErrorObject
	message string
	type string
	param string|null
	code string|null
AnthropicError
	type "error"
	error AnthropicErrorObject
	request_id string|null
AnthropicErrorObject
	type "invalid_request_error"|"authentication_error"|"billing_error"|"permission_error"|"not_found_error"|"request_too_large"|"rate_limit_error"|"timeout_error"|"overloaded_error"|"api_error"
	message string
	details? object|null
END

# What deliberately differs, and why.
our @DIFFERS = (
	['TextBlock', 'citations? [object]', 'required and nullable in the SDK,'
	    . ' but the AI SDK refuses null and no client misses it'],
	['Response', 'access_programs? object|null', 'required by the types of'
	    . ' openai 7.59, whose runtime and predecessors do not miss it'],
	['CustomCall', 'status? "in_progress"|"completed"|"incomplete"',
	    'in the type of an item asked for again; an answer tells it as well'],
	['ResponseError', 'code string', 'the list has no word for a context'
	    . ' that is too long, which Codex reads to make it shorter'],
	['ArgumentsDone', 'name? string', 'openai 6 requires it, 7 has it not'],
	['ChunkDelta', 'annotations? [UrlCitation]', 'in the type of a message'
	    . ' only, but both SDKs gather it from a chunk'],
	['FileObject', 'purpose purpose', 'an upload may have a purpose of its'
	    . ' own; what runs produce has one of the list'],
	['ChatMessage', 'reasoning_content? string', 'what servers of open models'
	    . ' add and their clients read'],
	['ChunkDelta', 'reasoning_content? string', 'likewise'],
	['Model', 'max_model_len? int', 'as vLLM tells it, and its clients read'],
	['ModelList', 'has_more? bool', 'a page, where the vendor has none'],
	['ModelList', 'first_id? string|null', 'likewise'],
	['ModelList', 'last_id? string|null', 'likewise'],
	(map { (["$_", 'first_id string|null', 'an empty page has none, and the'
	    . " vendor's service sends null"], ["$_", 'last_id string|null',
	    'likewise']) } qw(FileObjectList ContainerList ContainerFileList
	    ItemList)),
);

my %table;
{
	my $name;
	for (split /\n/, $types) {
		if (/^\t(\w+)(\?)? (.+)$/) {
			$table{$name}{$1} = [$2 ? 1 : 0, $3];
		} else {
			$name = $_;
		}
	}
	for (@DIFFERS) {
		$_->[1] =~ /^(\w+)(\?)? (.+)$/;
		$table{ $_->[0] }{$1} = [$2 ? 1 : 0, $3];
	}
}

# The alternatives of an expression: not those inside of a list.
sub _split {
	my ($expr) = @_;
	my @all = $expr =~ /(\[[^\]]*\]|"[^"]*"|\w+)/g;
	return @all;
}

sub _number {
	my ($v) = @_;
	return defined $v && !ref $v && $json->encode($v) =~ /^-?\d/;
}

my %plain = (
	null => sub { !defined $_[0] },
	string => sub { defined $_[0] && !ref $_[0] && !_number($_[0]) },
	number => sub { _number($_[0]) },
	int => sub { _number($_[0]) && $_[0] =~ /^-?\d+\z/ },
	bool => sub { JSON::PP::is_bool($_[0]) },
	object => sub { ref $_[0] eq 'HASH' },
	purpose => sub { defined $_[0] && !ref $_[0] && $_[0] ne
	    'code_execution_output' },
	any => sub { 1 },
);

# Is ${v} of the table ${name}, by its "type" or "object"?
sub _means {
	my ($name, $v) = @_;
	return 0 if ref $v ne 'HASH';
	for my $key (qw(type object)) {
		my $row = ($table{$name} // die "no table $name")->{$key} or next;
		next if $row->[1] !~ /^"/;
		return 1 if $row->[0] && !exists $v->{$key};
		return grep { $_ eq "\"" . ($v->{$key} // '') . "\"" }
		    _split($row->[1]);
	}
	return 1;
}

# What is wrong with ${v} where ${expr} must be.
sub against {
	my ($expr, $v, $at) = @_;
	my @alternatives = _split($expr);
	for (@alternatives) {
		if (/^\[(.*)\]$/) {
			next if ref $v ne 'ARRAY';
			my ($inner, $i) = ($1, 0);
			return map { against($inner, $_, $at . '[' . $i++ . ']') }
			    @$v;
		} elsif (/^"(.*)"$/) {
			return () if defined $v && !ref $v && $v eq $1;
		} elsif ($plain{$_}) {
			return () if $plain{$_}->($v);
		} elsif (_means($_, $v)) {
			return members($_, $v, $at);
		}
	}
	return ("$at is " . (defined $v ? substr($json->canonical->encode($v), 0,
	    80) : 'null') . ", not $expr");
}

# What is wrong with the object ${v} of the table ${name}.
sub members {
	my ($name, $v, $at) = @_;
	my $rows = $table{$name} or die "no table $name";
	my @wrong = map { "$at.$_ is not in $name" }
	    grep { !$rows->{$_} } sort keys %$v;
	for my $key (sort keys %$rows) {
		my ($optional, $expr) = @{ $rows->{$key} };
		if (exists $v->{$key}) {
			push @wrong, against($expr, $v->{$key}, "$at.$key");
		} elsif (!$optional) {
			push @wrong, "$at.$key is missing in $name";
		}
	}
	return @wrong;
}

# Whole objects that tell by themselves what they are; ours by their ids.
my %objects = (file => 'FileObject', upload => 'Upload', 'upload.part' =>
    'UploadPart', container => 'Container', 'container.file' =>
    'ContainerFile', model => 'Model', 'response.input_tokens' =>
    'ResponseTokens');
my @ours = (['object', 'response', qr/^resp_gw_/, 'Response'],
    ['type', 'message', qr/^msg_gw_/, 'Message'],
    ['object', 'chat.completion', qr/^chatcmpl-gw-/, 'ChatCompletion']);
# Lists, by their path.
my @lists = ([qr{/containers/[^/]+/files$}, 'ContainerFileList'],
    [qr{/containers$}, 'ContainerList'], [qr{/files$}, 'FileObjectList'],
    [qr{/models$}, 'ModelList'], [qr{/input_items$}, 'ItemList']);
my @pages = ([qr{/files$}, 'FilePage'], [qr{/models$}, 'ModelPage']);

# The table of a whole answer, undef if it is none of these.
sub _table {
	my ($path, $o) = @_;
	my ($object, $type) = ($o->{object} // '', $o->{type} // '');
	for (@ours) {
		my ($key, $word, $id, $name) = @$_;
		next if ($o->{$key} // '') ne $word || $o->{deleted};
		return ($o->{id} // '') =~ $id ? $name : undef;
	}
	return 'ResponseDeleted' if $object eq 'response';
	return 'FileDeleted' if $object eq 'file' && exists $o->{deleted};
	return 'DeletedFile' if $type eq 'file_deleted';
	return undef if exists $o->{deleted};
	if ($object eq 'list') {
		return (map { $_->[1] } grep { $path =~ $_->[0] } @lists)[0];
	}
	return $objects{$object} if $objects{$object};
	return 'FileMetadata' if $type eq 'file';
	return 'ModelInfo' if $type eq 'model';
	return (map { $_->[1] } grep { $path =~ $_->[0] } @pages)[0]
	    if ref $o->{data} eq 'ARRAY' && $object eq '';
	return undef;
}

# Events, by their first words.
my @events = grep { $table{$_}{type} && $table{$_}{type}[1] =~ /^"/ &&
    /Event$|Delta$|Done$|Added$|^Message(?:Start|Delta|Stop)$|^Block|^Ping$/ }
    sort keys %table;

sub _events {
	my ($body) = @_;
	my ($ours, @wrong) = (undef);
	for (split /\n\n/, $body) {
		/^data: (.*)$/m or next;
		last if $1 eq '[DONE]';
		my $e = eval { $json->decode($1) } or last;
		my $first = $e->{response} // $e->{message} // $e;
		$ours //= ref $first eq 'HASH' && ($first->{id} // '')
		    =~ /^(?:resp_gw_|msg_gw_|chatcmpl-gw-)/ ? 1 : 0;
		return () if !$ours;
		last if $e->{error};	# Errors have tests of their own.
		my ($name) = exists $e->{choices} ? 'Chunk' :
		    grep { _means($_, $e) } @events;
		push @wrong, $name ? members($name, $e, $e->{type} // 'chunk')
		    : 'an event of type ' . ($e->{type} // 'none');
	}
	return @wrong;
}

sub faults {
	my ($method, $path, $status, $type, $body) = @_;
	$path =~ s/\?.*//s;
	return () if $method eq 'HEAD' || $path !~
	    m{^(?:/\w+)?/v1/(?:files|uploads|containers|models|responses|messages|chat)\b};
	return _events($body) if $type =~ m{^text/event-stream};
	return () if $type !~ m{^application/json};
	my $o = eval { $json->decode($body) };
	return () if ref $o ne 'HASH';
	if ($status >= 400) {
		return () if ref $o->{error} ne 'HASH';
		return members(($o->{type} // '') eq 'error' ? 'AnthropicError' :
		    'OpenaiError', $o, 'error');
	}
	my $name = _table($path, $o) // return ();
	return members($name, $o, $name);
}

1;
