// Code execution through an unmodified openai package: Responses and Chat,
// whole and through the package's own stream helpers.
//   node openai_run.mjs PACKAGE   with SATCHEL_URL and SATCHEL_KEY
import { ok, is, thrown, done } from './tap.mjs';

const { default: OpenAI } = await import(process.argv[2]);
const client = new OpenAI({
	apiKey: process.env.SATCHEL_KEY,
	baseURL: `${process.env.SATCHEL_URL}/v1`,
	maxRetries: 0,
});
const file = await client.files.create({
	file: new File(['qty\n20\n22\n'], 'data.csv', { type: 'text/csv' }),
	purpose: 'user_data',
});
const save = {
	name: 'save',
	description: 'Store a report.',
	parameters: { type: 'object', properties: { title: { type: 'string' } } },
};

// --- Responses ---

const job = {
	model: 'job',
	input: 'Add up.',
	include: ['code_interpreter_call.outputs'],
	tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: [file.id] } }],
};

async function judge(r, how) {
	is(r.status, 'completed', `${how}: completed`);
	is(r.output.map((o) => o.type).join(), 'code_interpreter_call,message', `${how}: a run and a message`);
	const [run, message] = r.output;
	is(run.code, "open('t.csv','w').write('total,42\\n'); print(42)", `${how}: the code`);
	is(run.outputs?.[0].logs, '42\n', `${how}: what it printed`);
	is(r.output_text, 'It is 42; see t.csv.', `${how}: output_text`);
	const note = message.content[0].annotations[0];
	is(note?.type, 'container_file_citation', `${how}: the file is cited`);
	is(message.content[0].text.slice(note.start_index, note.end_index), 't.csv', `${how}: where the text names it`);
	is(note.container_id, run.container_id, `${how}: in the run's container`);
	is(await (await client.files.content(note.file_id)).text(), 'total,42\n', `${how}: and can be fetched`);
	const held = await client.containers.files.content.retrieve(note.file_id, { container_id: note.container_id });
	is(await held.text(), 'total,42\n', `${how}: from its container too`);
	is(r.usage?.total_tokens, r.usage?.input_tokens + r.usage?.output_tokens, `${how}: usage adds up`);
	return r;
}

const first = await judge(await client.responses.create(job), 'create');

const events = [];
const stream = client.responses.stream(job);
stream.on('event', (e) => events.push(e.type));
const text = [];
stream.on('response.output_text.delta', (e) => text.push(e.delta));
await judge(await stream.finalResponse(), 'stream helper');
is(text.join(''), 'It is 42; see t.csv.', 'stream helper: its deltas');
ok(events.includes('response.code_interpreter_call.completed'), 'stream helper: the run is told live');

let last;
for await (const e of await client.responses.create({ ...job, stream: true }))
	last = e;
is(last.type, 'response.completed', 'raw events: to the end');

const again = await client.responses.create({
	...job,
	input: [{ role: 'user', content: 'Add up.' }, ...first.output, { role: 'user', content: 'Which?' }],
});
is(again.output_text, 'The first.', 'an answer given back is understood');

for (const model of ['caller', 'both']) for (const how of ['create', 'stream']) {
	const name = (what) => `${model}, ${how}: ${what}`;
	const ask = async (input) => {
		const body = { model, input, tools: [...job.tools, { type: 'function', strict: false, ...save }] };
		return how === 'create' ? client.responses.create(body) : client.responses.stream(body).finalResponse();
	};
	const history = [{ role: 'user', content: 'Go.' }];
	let r = await ask(history);
	const call = r.output.find((o) => o.type === 'function_call');
	is(JSON.parse(call.arguments).title, 'T', name("a call of the program's own"));
	if (model === 'both') {
		// Streamed, items stand in the order in which they begin.
		is(r.output.map((o) => o.type).join(), how === 'create' ? 'function_call,code_interpreter_call,message'
		    : 'code_interpreter_call,function_call,message', name('beside a run, and a message for its file'));
		is(r.output[2].content[0].annotations[0]?.type, 'container_file_citation', name('which is cited'));
	}
	history.push(...r.output, { type: 'function_call_output', call_id: call.call_id, output: 'stored as R-9' });
	r = await ask(history);
	is(r.output_text, 'Saved.', name('goes on with its result'));
}

const parsed = await client.responses.parse({
	model: 'json',
	input: 'Go.',
	text: { format: { type: 'json_schema', name: 'n', strict: true, schema: { type: 'object' } } },
});
is(JSON.parse(parsed.output_text).a, 1, 'parse');

let e = await thrown(client.responses.create({ ...job, background: true }));
ok(e instanceof OpenAI.BadRequestError && e.param === 'background', 'a refusal is a BadRequestError');
e = await thrown(client.responses.create({
	...job,
	tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file_1'] } }],
}));
ok(e instanceof OpenAI.NotFoundError && e.code === 'file_not_found', 'a file that is not there');
const failed = await client.responses.stream({ ...job, model: 'later' }).finalResponse();
is(`${failed.status} ${failed.error?.code}`, 'failed server_error', 'a turn that fails in mid-stream');
is(failed.output.map((o) => o.type).join(), 'message,code_interpreter_call', 'keeps what there was');

// --- Chat ---

const chat = {
	model: 'job',
	messages: [{
		role: 'user',
		content: [{ type: 'text', text: 'Add up.' }, { type: 'file', file: { file_id: file.id } }],
	}],
	tools: [{ type: 'code_interpreter' }],
};

async function judgeChat(c, how) {
	const { message, finish_reason: why } = c.choices[0];
	is(why, 'stop', `${how}: stop`);
	is(message.content, 'It is 42; see t.csv.', `${how}: the text`);
	const note = message.annotations?.[0]?.url_citation;
	is(message.content.slice(note?.start_index, note?.end_index), 't.csv', `${how}: where it names the file`);
	const got = await fetch(note.url, { headers: { authorization: `Bearer ${process.env.SATCHEL_KEY}` } });
	is(await got.text(), 'total,42\n', `${how}: which can be fetched`);
	is(c.usage?.total_tokens, c.usage?.prompt_tokens + c.usage?.completion_tokens, `${how}: usage adds up`);
}

await judgeChat(await client.chat.completions.create(chat), 'chat');
const run = client.chat.completions.stream({ ...chat, stream_options: { include_usage: true } });
await judgeChat(await run.finalChatCompletion(), 'chat stream helper');

for (const streamed of [false, true]) {
	let said;
	const runner = client.chat.completions.runTools({
		model: 'caller',
		stream: streamed,
		messages: [{ role: 'user', content: 'Go.' }],
		tools: [{
			type: 'function',
			function: { ...save, parse: JSON.parse, function: ({ title }) => { said = title; return 'stored as R-9'; } },
		}],
	});
	is(await runner.finalContent(), 'Saved.', `runTools${streamed ? ' streamed' : ''}: to the end`);
	is(said, 'T', `runTools${streamed ? ' streamed' : ''}: the function was called`);
}
e = await thrown(client.chat.completions.create({ ...chat, n: 2 }));
ok(e instanceof OpenAI.BadRequestError && e.param === 'n', 'two choices are refused');
e = await thrown(client.chat.completions.stream({ ...chat, model: 'later' }).finalChatCompletion());
ok(e instanceof OpenAI.APIError && e.type === 'server_error', 'a chat that fails in mid-stream is an APIError');
done();
