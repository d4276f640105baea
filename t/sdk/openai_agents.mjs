// OpenAI's agents package for JavaScript, unmodified and with its defaults: two
// turns, whole and streamed, with runs, a function of the caller's, a refusal.
//
//	node openai_agents.mjs	with SATCHEL_URL and SATCHEL_KEY
import { Agent, codeInterpreterTool, run, setDefaultOpenAIClient, setTracingDisabled,
	tool, user } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';
import { is, ok, thrown, done } from './tap.mjs';

setTracingDisabled(true);
setDefaultOpenAIClient(new OpenAI({ baseURL: `${process.env.SATCHEL_URL}/v1`,
	apiKey: process.env.SATCHEL_KEY, maxRetries: 0 }));

const saved = [];
const save = tool({ name: 'save', description: 'Store a report.',
	parameters: z.object({ title: z.string() }),
	execute: async ({ title }) => { saved.push(title); return 'stored'; } });
const interpreter = codeInterpreterTool();
const agent = (model, ...tools) => new Agent({ name: 'helper', model, tools });

const ways = {
	whole: async (a, input) => run(a, input),
	streamed: async (a, input) => {
		const r = await run(a, input, { stream: true });
		for await (const event of r) void event;
		await r.completed;
		return r;
	},
};

for (const [way, ask] of Object.entries(ways)) {
	const name = (what) => `${way}: ${what}`;
	const turns = async (model, want, tools) => {
		saved.length = 0;
		const r = await ask(agent(model, ...tools), 'Go.');
		is(r.finalOutput, want, name(`${model}: text`));
		const again = await ask(agent(`again-${model}`, ...tools),
		    [...r.history, user('Go on.')]);
		is(again.finalOutput, 'I see.', name(`${model}: a second turn`));
		return r;
	};
	const e = await thrown((async () => {
		await turns('plain', 'Hello \u2028 \u{1F600}, how are you today?', []);
		await turns('own', 'Stored.', [save]);
		is(saved.join(), 'T', name('a function of the caller\'s is called once'));
		const r = await turns('python', 'It is 42; see t.csv.', [interpreter]);
		ok(r.newItems.some((i) => i.rawItem?.providerData?.type === 'code_interpreter_call'
		    || i.rawItem?.name === 'code_interpreter_call'), name('a run is shown'));
		await turns('both', 'Both stored.', [interpreter, save]);
		is(saved.join(), 'T', name('beside a run it is called once'));
		const refused = await thrown(ask(agent('refuses'), 'Go.'));
		is(refused?.status, 400, name('a refusal has its status'));
	})());
	is(e?.stack ?? null, null, name('to its end'));
}
done();
