// The main job through an unmodified @anthropic-ai/sdk package: upload a CSV,
// have it analysed with the vendor's own code-execution tool, save the chart.
//   node messages.mjs PACKAGE CSV CHART   with SATCHEL_URL and SATCHEL_KEY
import fs from 'node:fs';

const [pkg, csv, chart] = process.argv.slice(2);
const { default: Anthropic } = await import(pkg);
const client = new Anthropic({ baseURL: process.env.SATCHEL_URL, apiKey: process.env.SATCHEL_KEY });
const file = await client.beta.files.upload({ file: fs.createReadStream(csv) });
const message = await client.messages.create({
	model: process.env.SATCHEL_MODEL ?? 'demo',
	max_tokens: 4096,
	tools: [{ type: 'code_execution_20250825', name: 'code_execution' }],
	messages: [{
		role: 'user',
		content: [
			{ type: 'text', text: 'Draw a chart of this file.' },
			{ type: 'container_upload', file_id: file.id },
		],
	}],
});
for (const block of message.content) {
	if (block.type === 'text')
		console.log(block.text);
	if (block.type !== 'bash_code_execution_tool_result')
		continue;
	for (const output of block.content.content ?? []) {
		const meta = await client.beta.files.retrieveMetadata(output.file_id);
		if (meta.mime_type !== 'image/png')
			continue;
		const content = await client.beta.files.download(output.file_id);
		fs.writeFileSync(chart, Buffer.from(await content.arrayBuffer()));
		console.log(`saved ${meta.filename} as ${chart}`);
	}
}
