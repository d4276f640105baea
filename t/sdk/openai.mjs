// The Files and Uploads API through an unmodified openai package.
//   node openai.mjs PACKAGE   with SATCHEL_URL and SATCHEL_KEY
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ok, is, thrown, collect, done } from './tap.mjs';

const pkg = process.argv[2];
const { default: OpenAI, toFile } = await import(pkg);
const client = new OpenAI({
	apiKey: process.env.SATCHEL_KEY,
	baseURL: `${process.env.SATCHEL_URL}/v1`,
	maxRetries: 0,
});
const sha = (b) => crypto.createHash('sha256').update(b).digest('hex');
const bytes = crypto.randomBytes(3 * 1048576 + 17);
const tmp = fs.mkdtempSync(path.join(os.tmpdir(), 'sdk-'));
const local = path.join(tmp, 'Über 表 📊.bin');
fs.writeFileSync(local, bytes);

// A read stream: chunked, file part first, type octet-stream.
const a = await client.files.create({
	file: fs.createReadStream(local),
	purpose: 'user_data',
	expires_after: { anchor: 'created_at', seconds: 3600 },
});
is(a.object, 'file', 'a read stream is stored');
is(a.bytes, bytes.length, 'its size is the file\'s');
is(a.filename, 'Über 表 📊.bin', 'its name is kept code point for code point');
is(a.expires_at, a.created_at + 3600, 'its expiry is an hour after its creation');
is(a.purpose, 'user_data', 'its purpose is kept');
is(a.status, 'processed', 'it is processed');

const waited = await client.files.waitForProcessing(a.id, { pollInterval: 50, maxWait: 500 });
is(waited.id, a.id, 'waitForProcessing returns at once');

const b = await client.files.create({
	file: new File(['q,amount\n1,20\n'], 'dir/sales.csv', { type: 'text/csv' }),
	purpose: 'assistants',
});
is(b.filename, 'sales.csv', 'a File is stored under its last segment');
const c = await client.files.create({
	file: await toFile(Buffer.from('{"a":1}\n'), 'data.json'),
	purpose: 'user_data',
});
is(c.bytes, 8, 'toFile is stored');

const got = Buffer.from(await (await client.files.content(a.id)).arrayBuffer());
is(sha(got), sha(bytes), 'the content is byte-identical');
const json = await (await client.files.content(c.id)).text();
is(json, '{"a":1}\n', 'JSON content is not re-encoded');

const meta = await client.files.retrieve(b.id);
is(JSON.stringify(meta), JSON.stringify(b), 'retrieve says what create said');

const walked = (await collect(client.files.list({ limit: 2 }))).map((f) => f.id);
is(new Set(walked).size, walked.length, 'no id comes twice in a walk of pages of 2');
ok([a, b, c].every((f) => walked.includes(f.id)), 'the walk finds every file');
const up = (await collect(client.files.list({ limit: 1, order: 'asc' }))).map((f) => f.id);
is(up.join(), [...walked].reverse().join(), 'ascending is the reverse of descending');
const some = await collect(client.files.list({ purpose: 'assistants' }));
ok(some.every((f) => f.purpose === 'assistants') && some.some((f) => f.id === b.id),
	'the purpose filter holds');

const del = await client.files.delete(c.id);
is(JSON.stringify(del), JSON.stringify({ id: c.id, object: 'file', deleted: true }), 'delete answers as the vendor does');
let e = await thrown(client.files.retrieve(c.id));
ok(e instanceof OpenAI.NotFoundError, 'a deleted file is a NotFoundError');
is(e?.type, 'invalid_request_error', 'its type is the vendor\'s');
ok(/^req_/.test(e?.requestID ?? ''), 'it carries the request id');
e = await thrown(client.files.create({ file: new File(['x'], 'x'), purpose: 'code_execution_output' }));
ok(e instanceof OpenAI.BadRequestError && e.param === 'purpose' && e.code === 'invalid_value',
	'a produced purpose is refused and named');
e = await thrown(client.files.create({ file: new File([], 'empty'), purpose: 'user_data' }));
is(e?.code, 'empty_file', 'an empty file is refused');
const stranger = new OpenAI({ apiKey: 'sk-satchel-wrong', baseURL: client.baseURL, maxRetries: 0 });
e = await thrown(stranger.files.list());
ok(e instanceof OpenAI.AuthenticationError && e.code === 'invalid_api_key', 'a wrong key is an AuthenticationError');

// A Blob without a name: 6.x drops the part, 7.x calls it "blob".
const nameless = await client.files.create({ file: new Blob(['hello']), purpose: 'user_data' })
	.catch((error) => error);
if (nameless instanceof Error) {
	is(nameless.code, 'missing_required_parameter', 'a nameless Blob that the package drops is a missing file');
} else {
	is(nameless.filename, 'blob', 'a nameless Blob is stored as the package names it');
	await client.files.delete(nameless.id);
}

// Uploads in parts, created out of order, completed in order.
const half = bytes.length >> 1;
const u = await client.uploads.create({
	bytes: bytes.length, filename: 'big.bin', mime_type: 'application/octet-stream', purpose: 'user_data',
});
is(u.status, 'pending', 'an upload begins pending');
const [p2, p1] = await Promise.all([
	client.uploads.parts.create(u.id, { data: new File([bytes.subarray(half)], 'p2') }),
	client.uploads.parts.create(u.id, { data: new File([bytes.subarray(0, half)], 'p1') }),
]);
is(p1.object, 'upload.part', 'a part says what it is');
const whole = await client.uploads.complete(u.id, {
	part_ids: [p1.id, p2.id],
	md5: crypto.createHash('md5').update(bytes).digest('hex'),
});
is(whole.status, 'completed', 'it completes');
is(whole.file?.filename, 'big.bin', 'its file has the name');
is(sha(Buffer.from(await (await client.files.content(whole.file.id)).arrayBuffer())), sha(bytes),
	'the joined bytes are the parts in the order given');
const v = await client.uploads.create({ bytes: 5, filename: 'x', mime_type: 'text/plain', purpose: 'user_data' });
is((await client.uploads.cancel(v.id)).status, 'cancelled', 'an upload can be cancelled');
e = await thrown(client.uploads.parts.create(v.id, { data: new File(['hello'], 'p') }));
ok(e instanceof OpenAI.BadRequestError, 'a part after that is refused');

for (const f of [a, b, whole.file])
	await client.files.delete(f.id);
fs.rmSync(tmp, { recursive: true });
done();
