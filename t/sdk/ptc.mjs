// Programmatic tool calling through an unmodified @anthropic-ai/sdk package:
// code that the model writes calls this program's function.
//   node ptc.mjs PACKAGE   with SATCHEL_URL and SATCHEL_KEY
import { done, is, ok } from './tap.mjs';

const { default: Anthropic } = await import(process.argv[2]);
const client = new Anthropic({ baseURL: process.env.SATCHEL_URL, apiKey: process.env.SATCHEL_KEY });
const tools = [
	{ type: 'code_execution_20260120', name: 'code_execution' },
	{
		name: 'get_temp',
		description: 'The temperature of a city.',
		input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
		allowed_callers: ['code_execution_20260120'],
	},
];

const create = (request) => client.messages.create(request);
const stream = (request) => client.messages.stream(request).finalMessage();

for (const [how, send] of [['created', create], ['streamed', stream]]) {
	const messages = [{ role: 'user', content: 'Go.' }];
	let container, message, calls = 0, rounds = 0;
	do {
		message = await send({ model: 'many', max_tokens: 4096, tools, messages, ...(container && { container }) });
		messages.push({ role: 'assistant', content: message.content });
		container = message.container?.id;
		const uses = message.content.filter((block) => block.type === 'tool_use');
		if (!rounds++) {
			is(message.stop_reason, 'tool_use', `${how}: the code asks`);
			ok(message.content.some((block) => block.type === 'server_tool_use'
				&& block.id === uses[0].caller.tool_id), `${how}: and says whose it is`);
			is(uses[0].caller.type, 'code_execution_20260120', `${how}: as the types have it`);
		}
		calls += uses.length;
		if (uses.length)
			messages.push({ role: 'user', content: uses.map((use) => ({
				type: 'tool_result', tool_use_id: use.id, content: use.input.city })) });
	} while (message.stop_reason === 'tool_use');
	is(calls, 30, `${how}: thirty calls`);
	is(rounds, 2, `${how}: of one round`);
	const result = message.content.find((block) => block.type === 'code_execution_tool_result');
	is(result.content.stdout, '435\n', `${how}: what came of it`);
	is(message.content.at(-1).text, 'So it is.', `${how}: the answer`);
	is(message.stop_reason, 'end_turn', `${how}: is whole`);
}
done();
