// LangChain's chat models, unmodified, over all three routes: whole and
// streamed, with runs, produced files, own functions beside runs, and answers
// given back.
//
//	node langchain.mjs [PACKAGE]	with SATCHEL_URL and SATCHEL_KEY
//
// PACKAGE is one of LibreChat's, which has chat models of its own on top.
// What was given back is judged by whoever has the model: requests for "again-"
// models must tell it what has run.
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { is, ok, thrown, done } from './tap.mjs';

const url = process.env.SATCHEL_URL;
const key = process.env.SATCHEL_KEY;
const [Anthropic, OpenAI] = await (async (name) => {
	if (!name) return [(await import('@langchain/anthropic')).ChatAnthropic,
	    (await import('@langchain/openai')).ChatOpenAI];
	const A = await import(name);
	return [A.getChatModelClass(A.Providers.ANTHROPIC),
	    A.getChatModelClass(A.Providers.OPENAI)];
})(process.argv[2]);

const anthropic = (model, more = {}) => new Anthropic({ model, maxTokens: 4096,
    apiKey: key, anthropicApiKey: key, anthropicApiUrl: url, maxRetries: 0, ...more });
const openai = (model, more = {}) => new OpenAI({ model, apiKey: key,
    maxRetries: 0, configuration: { baseURL: `${url}/v1` }, ...more });
const save = tool(async () => 'stored', { name: 'save', description: 'Store a report.',
    schema: { type: 'object', properties: { title: { type: 'string' } } } });
const blocks = (m) => typeof m.content === 'string' ? 'string'
    : m.content.map((b) => b.type).join(' ');

// Ask at once or by a stream; the pieces of a stream are added up as every
// user of the library does it.
const ways = {
	whole: (model, messages, options) => model.invoke(messages, options),
	streamed: async (model, messages, options) => {
		let all;
		for await (const piece of await model.stream(messages, options))
			all = all === undefined ? piece : all.concat(piece);
		return all;
	},
};
// LibreChat's package calls a run of the server's a tool call too, and leaves it
// alone by the id's prefix.
const his = (m) => m.tool_calls.filter((c) => !c.id.startsWith('srvtoolu_'))
    .map((c) => `${c.name} ${JSON.stringify(c.args)}`).join();
const go = [new HumanMessage('Go.')];
const fetched = async (path) => (await fetch(path, { headers: {
    authorization: `Bearer ${key}` } })).text();

// --- Messages ---

async function messages(way, ask) {
	const name = (what) => `Messages, ${way}: ${what}`;
	const execution = { type: 'code_execution_20250825', name: 'code_execution' };

	let m = await ask(anthropic('plain'), go);
	is(m.text, 'Hello \u2028 \u{1F600}, how are you today?', name('text'));
	ok(m.usage_metadata?.input_tokens > 0 && m.usage_metadata?.output_tokens > 0,
	    name('... its usage'));

	const withCode = (model, ...tools) => anthropic(model).bindTools([execution, ...tools]);
	m = await ask(withCode('job'), go);
	is(his(m), '', name('a run is no call of his'));
	is(m.text, 'Let me see.Done.', name('... its text'));
	const use = m.content.find((b) => b.type === 'server_tool_use');
	const command = 'echo a; echo b >&2; echo c >c.txt; exit 3';
	// Streamed, the library keeps it in a block of its own.
	const input = typeof use?.input === 'object' ? use.input : JSON.parse(use?.input ||
	    m.content.find((b) => b.type === 'input_json_delta' && b.index === use?.index)?.input);
	is(input.command, command, name('... its command'));
	// Most add up what the first event and the last say of the same.
	ok(m.usage_metadata.output_tokens === 171 ||
	    way === 'streamed' && m.usage_metadata.output_tokens === 171 + 1,
	    name('... the tokens of both rounds'));
	const result = m.content.find((b) => b.type === 'bash_code_execution_tool_result');
	if (way === 'whole' || result !== undefined) {
		is(result.content.stdout, 'a\n', name('... what it printed'));
		is(await fetched(`${url}/v1/files/${result.content.content[0].file_id}/content`),
		    'c\n', name('... its file can be fetched'));
	}
	let r = await ask(withCode('again-job'), [...go, m, new HumanMessage('Go on.')]);
	is(r.text, 'I see.', name('given back, it is understood'));

	for (const first of ['mixed', 'ours']) {
		m = await ask(withCode(first, save), go);
		is(his(m), 'save {"title":"T"}',
		    name('a call of his beside a run'));
		ok(m.content.some((b) => b.type === 'server_tool_use'), name('... which he sees'));
		r = await ask(withCode('again-mixed', save), [...go, m,
		    new ToolMessage({ content: 'stored', tool_call_id: 'call_b7f3' })]);
		is(r.text, 'I see.', name('... and it goes on with his result'));
	}

	m = await ask(anthropic('python').bindTools([{ type: 'code_execution_20250522',
	    name: 'code_execution' }]), go);
	is(m.text, 'It is 42; see t.csv.', name('the older version of the tool'));
	r = await ask(anthropic('again-python').bindTools([{ type: 'code_execution_20250522',
	    name: 'code_execution' }]), [...go, m, new HumanMessage('Go on.')]);
	is(r.text, 'I see.', name('... given back'));

	const e = await thrown(ask(withCode('refuses'), go));
	is(e?.status, 400, name('a refusal has its status'));
}

// --- Responses ---

async function responses(way, ask) {
	const name = (what) => `Responses, ${way}: ${what}`;
	const interpreter = { type: 'code_interpreter', container: { type: 'auto' } };
	const withCode = (model, ...tools) => openai(model, { useResponsesApi: true })
	    .bindTools([interpreter, ...tools]);

	let m = await ask(openai('plain', { useResponsesApi: true }), go);
	is(m.text, 'Hello \u2028 \u{1F600}, how are you today?', name('text'));
	m = await ask(withCode('python'), go);
	is(m.text, 'It is 42; see t.csv.', name('a run: the text'));
	is(his(m), '', name('... is no call of his'));
	const run = m.additional_kwargs.tool_outputs?.[0];
	is(run?.type, 'code_interpreter_call', name('... is shown'));
	is(run?.code, "open('t.csv','w').write('total,42\\n'); print(42)", name('... its code'));
	const text = m.content.filter((b) => b.type === 'text');
	const notes = text.flatMap((b) => b.annotations ?? []);
	is(notes.length, 1, name('... one citation'));
	is(notes[0]?.source, 'container_file_citation', name('... of a file'));
	is(await fetched(`${url}/v1/containers/${run?.container_id}/files/${notes[0]?.file_id}/content`),
	    'total,42\n', name('... which can be fetched'));
	ok(m.usage_metadata?.input_tokens > 0 && m.usage_metadata?.output_tokens > 0,
	    name('... its usage'));
	let r = await ask(withCode('again-python'), [...go, m, new HumanMessage('Go on.')]);
	is(r.text, 'I see.', name('given back, it is understood'));

	m = await ask(withCode('both', save), go);
	is(his(m), 'save {"title":"T"}',
	    name('a call of his beside a run'));
	r = await ask(withCode('again-both', save), [...go, m,
	    new ToolMessage({ content: 'stored', tool_call_id: 'call_b7f3' })]);
	is(r.text, 'I see.', name('... and it goes on with his result'));

	const e = await thrown(ask(withCode('refuses'), go));
	is(e?.status, 400, name('a refusal has its status'));
}

// --- Chat ---

async function chat(way, ask) {
	const name = (what) => `Chat, ${way}: ${what}`;
	const withCode = (model, ...tools) => openai(model, { useResponsesApi: false })
	    .bindTools([{ type: 'code_interpreter', container: { type: 'auto' } }, ...tools]);

	let m = await ask(openai('plain'), go);
	is(m.text, 'Hello \u2028 \u{1F600}, how are you today?', name('text'));
	m = await ask(withCode('python'), go);
	is(m.text, 'It is 42; see t.csv.', name('a run: the text'));
	is(his(m), '', name('... is no call of his'));
	m = await ask(withCode('both', save), go);
	is(his(m), 'save {"title":"T"}',
	    name('a call of his beside a run'));
	const r = await ask(withCode('again-both', save), [...go, m,
	    new ToolMessage({ content: 'stored', tool_call_id: 'call_b7f3' })]);
	is(r.text, 'I see.', name('... and it goes on with his result'));
	const e = await thrown(ask(withCode('refuses'), go));
	is(e?.status, 400, name('a refusal has its status'));
}

for (const [way, ask] of Object.entries(ways))
	for (const route of [messages, responses, chat]) {
		const e = await thrown(route(way, ask));
		is(e?.stack ?? null, null, `${route.name}, ${way}: to its end`);
	}
done();
