// Containers and kept responses through an unmodified openai package.
//
//   node openai_kept.mjs PACKAGE   with SATCHEL_URL and SATCHEL_KEY
import { ok, is, thrown, collect, done } from './tap.mjs';

const { default: OpenAI, toFile } = await import(process.argv[2]);
const client = new OpenAI({ apiKey: process.env.SATCHEL_KEY,
	baseURL: `${process.env.SATCHEL_URL}/v1`, maxRetries: 0 });
const stored = await client.files.create({ purpose: 'user_data',
	file: await toFile(Buffer.from('q\n1\n'), 'sales.csv', { type: 'text/csv' }) });

const c = await client.containers.create({ name: 'work', file_ids: [stored.id],
	expires_after: { anchor: 'last_active_at', minutes: 20 } });
is([c.object, c.name, c.status, c.expires_after.minutes].join(), 'container,work,running,20',
	'containers.create');
is((await client.containers.retrieve(c.id)).id, c.id, 'containers.retrieve');
ok((await collect(client.containers.list({ limit: 1 }))).some((x) => x.id === c.id),
	'containers.list walks its pages');
const up = await client.containers.files.create(c.id,
	{ file: await toFile(Buffer.from('up\n'), 'up.txt', { type: 'text/plain' }) });
is([up.object, up.path, up.bytes, up.source, up.container_id].join(),
	`container.file,/mnt/data/up.txt,3,user,${c.id}`, 'containers.files.create, bytes');
const again = await client.containers.files.create(c.id, { file_id: stored.id });
is(again.path, '/mnt/data/sales.csv', 'containers.files.create, a stored file');

const r = await client.responses.create({ model: 'look', input: 'Look.',
	tools: [{ type: 'code_interpreter', container: c.id }] });
const call = r.output.find((x) => x.type === 'code_interpreter_call');
is(call.container_id, c.id, 'code runs in the container that is named');
const made = (await collect(client.containers.files.list(c.id, { order: 'asc' })))
	.filter((x) => x.source === 'assistant');
is(made.map((x) => x.path).join(), '/mnt/data/sum.txt', 'containers.files.list has what it wrote');
const where = { container_id: c.id };
const content = await client.containers.files.content.retrieve(made[0].id, where);
is(await content.text(), 'sales.csv up.txt\n', 'containers.files.content.retrieve');
is((await client.containers.files.retrieve(made[0].id, where)).bytes, 17,
	'containers.files.retrieve');

const n = await client.responses.create({ model: 'look', input: 'And?', previous_response_id: r.id,
	tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] });
is(n.previous_response_id, r.id, 'responses.create goes on from another');
is(n.output_text, 'As before.', '... knowing what was said');
const kept = await client.responses.retrieve(n.id);
is(JSON.stringify(kept.output), JSON.stringify(n.output), 'responses.retrieve');
const items = await collect(client.responses.inputItems.list(n.id, { order: 'asc' }));
is(items[0].type + items[items.length - 1].type, 'messagemessage', 'responses.inputItems.list');
await client.responses.delete(n.id);
is((await thrown(client.responses.retrieve(n.id)))?.status, 404, 'responses.delete');
is((await thrown(client.responses.create({ model: 'look', input: 'x',
	previous_response_id: n.id })))?.code, 'previous_response_not_found',
	'... then it cannot be gone on from');

await client.containers.files.delete(up.id, where);
is((await thrown(client.containers.files.retrieve(up.id, where)))?.status, 404,
	'containers.files.delete');
await client.containers.delete(c.id);
is((await thrown(client.containers.retrieve(c.id)))?.status, 404, 'containers.delete');
done();
