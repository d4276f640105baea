// Streamed Messages answers through an unmodified @anthropic-ai/sdk package.
//   node anthropic_stream.mjs PACKAGE   with SATCHEL_URL and SATCHEL_KEY
import { ok, is, thrown, collect, done } from './tap.mjs';

const pkg = process.argv[2];
const sdk = await import(pkg);
const client = new sdk.default({ baseURL: process.env.SATCHEL_URL, apiKey: process.env.SATCHEL_KEY });
const execution = { type: 'code_execution_20250825', name: 'code_execution' };
const save = { name: 'save', description: 'Store a report.', input_schema: { type: 'object', properties: { title: { type: 'string' } } } };
const ask = (model, more = {}) => ({ model, max_tokens: 4096, tools: [execution], messages: [{ role: 'user', content: 'Go.' }], ...more });
const types = (m) => m.content.map((b) => b.type).join(' ');

// Text alone.
let texts = [];
let stream = client.messages.stream(ask('plain', { tools: [] })).on('text', (t) => texts.push(t));
let message = await stream.finalMessage();
ok(texts.length > 1, 'text comes in pieces');
is(texts.join(''), 'Hello \u2028 \u{1F600}, how are you today?', 'which make the text');
is(types(message), 'thinking text', 'what was thought stands before');
is(message.content[0].thinking, 'Hm, a greeting.', 'whole');
is(message.stop_reason, 'end_turn', 'the reason of its end');
ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0, 'its usage');

// A run.
const inputs = [];
stream = client.messages.stream(ask('job')).on('inputJson', (delta) => inputs.push(delta));
message = await stream.finalMessage();
is(types(message), 'text server_tool_use bash_code_execution_tool_result text', 'a run stands with its result');
const command = 'echo a; echo b >&2; echo c >c.txt; exit 3';
is(message.content[1].input.command, command, 'its command');
ok(inputs.length > 2, 'which comes in pieces');
is(message.content[2].content.stdout, 'a\n', 'what it printed');
is(message.content[2].content.return_code, 3, 'how it ended');
is(message.usage.output_tokens, 171, 'the tokens of both rounds');
const file = message.content[2].content.content[0].file_id;
const bytes = await client.beta.files.download(file);
is(await bytes.text(), 'c\n', 'its file can be fetched');

// The answer given back.
const again = await client.messages.stream(ask('job', { messages: [
	{ role: 'user', content: 'Go.' }, { role: 'assistant', content: message.content }, { role: 'user', content: 'Go on.' },
] })).finalMessage();
is(types(again), types(message), 'given back as it is, it is taken');

// Events one by one.
const events = await collect(await client.messages.create(ask('twice', { stream: true })));
is(events[0].type, 'message_start', 'events: the first');
is(events.at(-1).type, 'message_stop', 'and the last');
is(events.filter((e) => e.type === 'content_block_start').map((e) => e.index).join(), '0,1,2,3,4', 'blocks are numbered');

// The caller's own function, together with a run, whichever comes first: as it
// is streamed, the result stands last.
for (const [model, order] of [['mixed', 'text tool_use server_tool_use'], ['ours', 'text server_tool_use tool_use']]) {
	const both = { tools: [execution, save] };
	message = await client.messages.stream(ask(model, both)).finalMessage();
	is(types(message), `${order} bash_code_execution_tool_result`, `${model}: calls in the order in which they are made`);
	is(message.stop_reason, 'tool_use', `${model}: a call of the caller's function`);
	const call = message.content.find((b) => b.type === 'tool_use');
	is(call.input.title, 'T', `${model}: with its arguments`);
	is(message.content[3].content.stdout, 'mine\n', `${model}: beside a run`);
	is(message.content[3].tool_use_id, message.content.find((b) => b.type === 'server_tool_use').id, `${model}: that has its result`);
	message = await client.messages.stream(ask(model, { ...both, messages: [
		{ role: 'user', content: 'Go.' }, { role: 'assistant', content: message.content },
		{ role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'stored' }] },
	] })).finalMessage();
	is(message.content[0].text, 'Stored.', `${model}: which goes on with its result`);
}

// What is not JSON never reaches the client's parser.
message = await client.messages.stream(ask('broken')).finalMessage();
is(message.content[1].content.error_code, 'invalid_tool_input', 'a call broken off by the token limit');
is(message.stop_reason, 'max_tokens', 'ends the turn');

// Errors, before the first byte and after it.
let e = await thrown(client.messages.stream(ask('refuses')).finalMessage());
is(e?.status, 400, 'an error before the first byte has its status');
ok(e instanceof sdk.BadRequestError, 'and its class');
e = await thrown(client.messages.stream(ask('dies')).finalMessage());
ok(e instanceof sdk.APIError, 'an error amid the stream is one');
ok(/broke the connection off/.test(e?.message), 'and says what happened');
e = await thrown(client.messages.create(ask('later')));
is(e?.status, 502, 'an error after code has run');

// What the package refuses by itself, before it sends anything.
e = await thrown((async () => client.messages.create(ask('plain', { max_tokens: 100000 })))());
ok(!(e instanceof sdk.APIError) && /[Ss]treaming is/.test(e?.message), 'executor row 72: too long for an answer in one piece');

// Leaving.
stream = client.messages.stream(ask('drips', { tools: [] }));
stream.on('text', () => stream.abort());
e = await thrown(stream.finalMessage());
ok(e instanceof sdk.APIUserAbortError, 'a stream can be left');
done();
