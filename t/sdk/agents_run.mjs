// A whole run of LibreChat's own package, unmodified, with a model of ours: its
// graph streams the answer, runs the host's tool and asks again, as LibreChat's
// server has it do.
//
//	node agents_run.mjs PACKAGE	with SATCHEL_URL and SATCHEL_KEY
import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { is, thrown, done } from './tap.mjs';

const A = await import(process.argv[2]);
const apiKey = process.env.SATCHEL_KEY;

// Run the graph over ${model}; what it makes of the answer, and what was asked
// of the host's tool.
async function run(model, declaration = { type: 'code_execution_20250825', name: 'code_execution' }) {
	const saved = [];
	const save = tool(async (args) => { saved.push(args.title); return 'stored'; }, {
		name: 'save', description: 'Store a report.',
		schema: { type: 'object', properties: { title: { type: 'string' } } } });
	const all = A.createContentAggregator();
	const handle = (event, data) => all.aggregateContent({ event, data });
	const E = A.GraphEvents;
	const graph = await A.Run.create({
		runId: `run-${model}`,
		graphConfig: {
			type: 'standard',
			llmConfig: { provider: A.Providers.ANTHROPIC, model, apiKey, maxTokens: 4096,
			    streaming: true, maxRetries: 0, anthropicApiUrl: process.env.SATCHEL_URL },
			tools: [declaration, save],
			instructions: 'Be brief.',
		},
		returnContent: true,
		customHandlers: {
			[E.TOOL_END]: new A.ToolEndHandler(),
			[E.CHAT_MODEL_END]: new A.ModelEndHandler(),
			...Object.fromEntries([E.ON_RUN_STEP, E.ON_RUN_STEP_DELTA,
			    E.ON_RUN_STEP_COMPLETED, E.ON_MESSAGE_DELTA].map((e) => [e, { handle }])),
		},
	});
	const content = await graph.processStream({ messages: [new HumanMessage('Go.')] },
	    { configurable: { thread_id: model, user_id: 'u' }, streamMode: 'values', version: 'v2' });
	return { content, saved };
}
const text = (r) => r.content.filter((b) => b.type === 'text').map((b) => b.text).join('|');
const use = (r) => r.content.find((b) => b.type === 'server_tool_use');

for (const model of ['mixed', 'ours']) {
	const e = await thrown((async () => {
		const r = await run(model);
		is(r.saved.join(), 'T', `${model}: the host's tool is run, once, and nothing else is`);
		is(text(r), 'Both.|Stored.', `${model}: the answer goes on with its result`);
		is(JSON.parse(use(r)?.input ?? null)?.command, 'echo mine', `${model}: the run is among its content`);
		const call = r.content.find((b) => b.type === 'tool_call')?.tool_call;
		is(`${call?.name} ${call?.output}`, 'save stored', `${model}: and the call, with its result`);
	})());
	is(e?.stack ?? null, null, `${model}: to its end`);
}
// Where nothing but code is called and shown, the graph asks again for ever: it
// knows the results of web searches only.  Runs that are not shown are none of
// its business; it passes on a tool that it does not know if that has a schema.
const r = await run('python', { type: 'satchel_code_execution', name: 'code_execution',
    input_schema: { type: 'object' } });
is(text(r), 'It is 42; see t.csv.', 'a run that is not shown: the text');
is(r.saved.length, 0, '... and the host is asked nothing');
done();
