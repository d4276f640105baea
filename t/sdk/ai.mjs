// The AI SDK with its own OpenAI and Anthropic providers, unmodified and with
// their defaults: two turns over all three routes, whole and streamed, with runs
// and a function of the caller's.
//
//	node ai.mjs MAJOR	with SATCHEL_URL and SATCHEL_KEY
//
// Requests for "again-" models carry a history: the test that has the model looks
// at what it was told.
import { z } from 'zod';
import { is, ok, thrown, done } from './tap.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;
const major = process.argv[2];
const ai = await import(`ai-${major}`);
const { createOpenAI } = await import(`ai-openai-${major}`);
const { createAnthropic } = await import(`ai-anthropic-${major}`);
const url = process.env.SATCHEL_URL;
const key = process.env.SATCHEL_KEY;
const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: key });
const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey: key });

const saved = [];
const save = ai.tool({ description: 'Store a report.',
	inputSchema: z.object({ title: z.string() }),
	execute: async ({ title }) => { saved.push(title); return 'stored'; } });

// Ask at once or by a stream; both give text, steps and the messages to go on
// from.
const ways = {
	whole: async (o) => {
		const r = await ai.generateText(o);
		return { text: r.text, results: r.steps.flatMap((s) => s.toolResults),
		    messages: r.responseMessages ?? r.response.messages, usage: r.usage };
	},
	streamed: async (o) => {
		let error;
		const r = ai.streamText({ ...o, onError: (e) => { error = e.error; } });
		let text = '';
		for await (const piece of r.textStream) text += piece;
		if (error) throw error;
		return { text: await r.text, streamed: text,
		    results: (await r.steps).flatMap((s) => s.toolResults),
		    messages: await r.responseMessages ?? (await r.response).messages,
		    usage: await r.usage };
	},
};

const routes = {
	Messages: { model: anthropic, bash: true, tools: { code_execution:
	    anthropic.tools.codeExecution_20250825() } },
	Responses: { model: openai, tools: { code_interpreter:
	    openai.tools.codeInterpreter({}) } },
	Chat: { model: openai.chat, tools: {} },
};

async function conversation(route, way, ask) {
	const { model, tools, bash } = routes[route];
	const name = (what) => `${route}, ${way}: ${what}`;
	const stopWhen = ai.stepCountIs(4);
	const base = { maxRetries: 0, stopWhen };

	let m = await ask({ ...base, model: model('plain'), prompt: 'Go.' });
	is(m.text, 'Hello \u2028 \u{1F600}, how are you today?', name('text'));
	ok(m.usage.inputTokens > 0 && m.usage.outputTokens > 0, name('... its usage'));
	let r = await ask({ ...base, model: model('again-plain'),
	    messages: [{ role: 'user', content: 'Go.' }, ...m.messages,
	    { role: 'user', content: 'Go on.' }] });
	is(r.text, 'I see.', name('a second turn'));

	saved.length = 0;
	m = await ask({ ...base, model: model('own'), prompt: 'Go.', tools: { save } });
	is(m.text, 'Stored.', name('a function of the caller\'s'));
	is(saved.join(), 'T', name('... is called once'));
	r = await ask({ ...base, model: model('again-own'), tools: { save },
	    messages: [{ role: 'user', content: 'Go.' }, ...m.messages,
	    { role: 'user', content: 'Go on.' }] });
	is(r.text, 'I see.', name('... and a turn after it'));

	const e = await thrown(ask({ ...base, model: model('refuses'), prompt: 'Go.' }));
	is(e?.statusCode, 400, name('a refusal has its status'));
	ok(/too long/.test(e?.message), name('... and its words'));
	if (!Object.keys(tools).length) return;

	const run = bash ? 'job' : 'python';
	m = await ask({ ...base, model: model(run), prompt: 'Go.', tools });
	ok(/Done|42/.test(m.text), name('a run: the text'));
	ok(m.results.length >= 1, name('... its result is seen'));
	r = await ask({ ...base, model: model(`again-${run}`), tools,
	    messages: [{ role: 'user', content: 'Go.' }, ...m.messages,
	    { role: 'user', content: 'Go on.' }] });
	is(r.text, 'I see.', name('... and a turn after it'));

	saved.length = 0;
	const both = bash ? 'mixed' : 'both';
	m = await ask({ ...base, model: model(both), prompt: 'Go.', tools: { ...tools, save } });
	is(m.text, bash ? 'Stored.' : 'Both stored.', name('a run beside a function of the caller\'s'));
	is(saved.join(), 'T', name('... which is called once'));
	r = await ask({ ...base, model: model(`again-${both}`), tools: { ...tools, save },
	    messages: [{ role: 'user', content: 'Go.' }, ...m.messages,
	    { role: 'user', content: 'Go on.' }] });
	is(r.text, 'I see.', name('... and a turn after it'));
}

for (const [way, ask] of Object.entries(ways))
	for (const route of Object.keys(routes)) {
		const e = await thrown(conversation(route, way, ask));
		is(e?.stack ?? null, null, `${route}, ${way}: to its end`);
	}
done();
