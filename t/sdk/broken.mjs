// Streams that a provider breaks off, passed on, through unmodified packages.
//   node broken.mjs OPENAI ANTHROPIC   with SATCHEL_URL and SATCHEL_KEY
import { ok, thrown, done } from './tap.mjs';

const { default: OpenAI } = await import(process.argv[2]);
const { default: Anthropic } = await import(process.argv[3]);
const url = process.env.SATCHEL_URL;
const apiKey = process.env.SATCHEL_KEY;
const ours = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
const theirs = new Anthropic({ apiKey, baseURL: url, maxRetries: 0 });
const talk = [{ role: 'user', content: 'Go.' }];
const ways = {
	async chat(model) {
		let text = '';
		for await (const c of await ours.chat.completions.create({ model: `chat:${model}`, messages: talk, stream: true }))
			text += c.choices[0]?.delta.content ?? '';
		return text;
	},
	async responses(model) {
		let last;
		for await (last of await ours.responses.create({ model: `resp:${model}`, input: 'Go.', stream: true }));
		if (last.type !== 'response.completed') throw new Error(last.response.error.message);
		return last.response.output[0].content[0].text;
	},
	async messages(model) {
		const m = await theirs.messages.stream({ model: `ant:${model}`, max_tokens: 50, messages: talk }).finalMessage();
		return m.content[0].text;
	},
};
for (const [name, ask] of Object.entries(ways)) {
	ok((await ask('whole')).includes('whole'), `${name}: a whole stream`);
	for (const model of ['cut', 'half']) {
		const e = await thrown(ask(model));
		ok(/broke the connection off/.test(String(e)), `${name}: ${model} raises: ${e}`);
	}
}
done();
