// The Files API through an unmodified @anthropic-ai/sdk package.
//   node anthropic.mjs PACKAGE   with SATCHEL_URL and SATCHEL_KEY
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ok, is, thrown, collect, done } from './tap.mjs';

const pkg = process.argv[2];
const sdk = await import(pkg);
const Anthropic = sdk.default;
const options = { baseURL: process.env.SATCHEL_URL, maxRetries: 0 };
const client = new Anthropic({ ...options, apiKey: process.env.SATCHEL_KEY });
const sha = (b) => crypto.createHash('sha256').update(b).digest('hex');
const bytes = crypto.randomBytes(1048576 + 3);
const tmp = fs.mkdtempSync(path.join(os.tmpdir(), 'sdk-'));
const local = path.join(tmp, 'Über 表 📊.bin');
fs.writeFileSync(local, bytes);

// 0.92 knows beta.files only; later ones both.
const spaces = [['beta.files', client.beta.files]];
if (client.files !== undefined)
	spaces.push(['files', client.files]);
for (const [name, files] of spaces) {
	const a = await files.upload({ file: fs.createReadStream(local) });
	is(a.type, 'file', `${name}: a read stream is stored`);
	is(a.size_bytes, bytes.length, `${name}: its size is the file's`);
	is(a.filename, 'Über 表 📊.bin', `${name}: its name is kept`);
	is(a.downloadable, true, `${name}: it says that it can be downloaded`);
	ok(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(a.created_at), `${name}: created_at is RFC 3339 in UTC`);
	const b = await files.upload({ file: new File(['q\n1\n'], '..\\dir/n.csv', { type: 'text/csv' }) });
	is(b.filename, 'n.csv', `${name}: a path in a name is cut to its last segment`);
	is(b.mime_type, 'text/csv', `${name}: the part's type is kept`);
	const c = await files.upload({ file: new File(['<svg/>'], 'a.svg', { type: 'image/svg+xml' }) });

	const got = Buffer.from(await (await files.download(a.id)).arrayBuffer());
	is(sha(got), sha(bytes), `${name}: the content is byte-identical`);
	is(JSON.stringify(await files.retrieveMetadata(b.id)), JSON.stringify(b), `${name}: metadata says what upload said`);

	const walked = (await collect(files.list({ limit: 2 }))).map((f) => f.id);
	is(new Set(walked).size, walked.length, `${name}: no id comes twice in a walk of pages of 2`);
	ok([a, b, c].every((f) => walked.includes(f.id)), `${name}: the walk finds every file`);

	const del = await files.delete(c.id);
	is(del.type, 'file_deleted', `${name}: delete answers as the vendor does`);
	let e = await thrown(files.retrieveMetadata(c.id));
	ok(e instanceof Anthropic.NotFoundError, `${name}: a deleted file is a NotFoundError`);
	is(e?.error?.error?.type, 'not_found_error', `${name}: its type is the vendor's`);
	ok(/^req_/.test(e?.requestID ?? ''), `${name}: it carries the request id`);
	e = await thrown(files.upload({ file: new File([], 'empty') }));
	ok(e instanceof Anthropic.BadRequestError, `${name}: an empty file is refused`);
	await files.delete(a.id);
	await files.delete(b.id);
}
// Both generations' credentials.
const token = new Anthropic({ ...options, apiKey: null, authToken: process.env.SATCHEL_KEY });
ok((await token.beta.files.list({ limit: 1 })).data !== undefined, 'a bearer token is accepted');
const e = await thrown(new Anthropic({ ...options, apiKey: 'wrong' }).beta.files.list());
ok(e instanceof Anthropic.AuthenticationError, 'a wrong key is an AuthenticationError');
fs.rmSync(tmp, { recursive: true });
done();
