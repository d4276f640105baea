// The tools of LibreChat's own package, unmodified, against the stack: code,
// bash and programmatic tools, files from one call to the next.
//
//	node agents.mjs PACKAGE		with SATCHEL_URL and SATCHEL_KEY
import { done, is, ok, thrown } from './tap.mjs';

// As an operator sets it; the package reads it when it is loaded.
const baseUrl = process.env.LIBRECHAT_CODE_BASEURL = `${process.env.SATCHEL_URL}/v1`;
const A = await import(process.argv[2]);
const authHeaders = { Authorization: `Bearer ${process.env.SATCHEL_KEY}` };

let calls = 0;
// As the package's ToolNode does: what the host knows goes with the call.
async function call(tool, args, more = {}) {
	const r = await tool.invoke({ type: 'tool_call', id: `c${++calls}`,
	    name: tool.name, args, ...more });
	return { content: String(r.content), artifact: r.artifact ?? {} };
}
const refs = (files) => files.map((f) => ({ id: f.id, name: f.name,
	storage_session_id: f.storage_session_id, kind: f.kind ?? 'user',
	resource_id: f.resource_id ?? f.id,
	...(f.version != null ? { version: f.version } : {}) }));

// --- code ---

const code = A.createCodeExecutionTool({ baseUrl, authHeaders, user_id: 'lc-1' });
let r = await call(code, { lang: 'py', code: 'print(6 * 7)' });
ok(r.content.includes('stdout:\n42'), 'python') || console.log(`# ${r.content}`);
ok(/^[\w-]{21}$/.test(r.artifact.session_id ?? ''), '... names its session');
is(r.artifact.files, undefined, '... has no files');
r = await call(code, { lang: 'py', code: 'import sys; print(sys.argv[1:])', args: ['a', 'b'] });
ok(r.content.includes("['a', 'b']"), 'arguments');
r = await call(code, { lang: 'py', code: 'print("before"); 1/0' });
ok(r.content.includes('before') && r.content.includes('ZeroDivisionError'),
    'a failing program is shown, not refused');

r = await call(code, { lang: 'py', code: 'open("out.csv", "w").write("a,b\\n1,2\\n")' });
const made = r.artifact.files ?? [];
is(made.length, 1, 'a file');
is(made[0]?.name, 'out.csv', '... by its name');
is(made[0]?.storage_session_id, r.artifact.session_id, '... of this session');

// --- bash, with the file of the call before ---

const bash = A.createBashExecutionTool({ baseUrl, authHeaders, user_id: 'lc-1' });
r = await call(bash, { command: 'cat out.csv; echo x > two.txt' },
    { _injected_files: refs(made), session_id: 'ignored' });
ok(r.content.includes('1,2'), 'bash reads it') || console.log(`# ${r.content}`);
const files = r.artifact.files ?? [];
is(files.filter((f) => f.inherited !== true).map((f) => f.name).join(), 'two.txt',
    '... and only the new file counts as made');
ok(!/out\.csv/.test(r.content.split('stdout')[0]), '... the old one is not announced');
r = await call(bash, { command: 'cat out.csv two.txt; echo 3,4 >> out.csv; rm two.txt' },
    { _injected_files: refs(files) });
ok(r.content.includes('1,2\nx'), 'both go on to the third call');
is(r.artifact.files?.[0]?.modified_from?.id, made[0]?.id, '... a changed one says of what');
const e = await thrown(call(code, { lang: 'py', code: 'print(1)' }, { _injected_files:
    [{ ...refs(made)[0], id: 'z'.repeat(21) }] }));
ok(/403|not authorized/.test(e?.message ?? ''), 'a reference to nothing is an error')
    || console.log(`# ${e?.message}`);

// --- programmatic tools ---

const weather = { Rome: 21, Oslo: 9 };
const asked = [];
const toolMap = new Map([['get-weather', { name: 'get-weather',
	invoke: async (input) => {
		const args = input?.args ?? input;
		asked.push(args);
		if (args.city === 'Nowhere') throw new Error('station offline');
		return { temp: weather[args.city] ?? Number(args.city) };
	} }]]);
const toolDefs = [{ name: 'get-weather', description: 'Returns {"temp": number}',
	parameters: { type: 'object', properties: { city: { type: 'string' } },
	required: ['city'] }, allowed_callers: ['code_execution'] }];
const inject = { toolMap, toolDefs, tools: toolDefs };
const ptc = A.createProgrammaticToolCallingTool({ baseUrl, authHeaders });
r = await call(ptc, { code: `a, b = await asyncio.gather(get_weather(city="Rome"), get_weather(city="Oslo"))
print(a["temp"] - b["temp"])` }, inject);
ok(r.content.includes('12'), 'two tools at once, from Python') || console.log(`# ${r.content}`);
is(asked.length, 2, '... each called once');
r = await call(ptc, { code: `t = await asyncio.gather(*[get_weather(city=str(i)) for i in range(30)])
print(sum(x["temp"] for x in t))` }, inject);
ok(r.content.includes('435'), 'thirty of them') || console.log(`# ${r.content}`);
r = await call(ptc, { code: `try:
    await get_weather(city="Nowhere")
except Exception as e:
    print("caught", e)
open("made.txt", "w").write("x")` }, inject);
ok(/caught .*station offline/.test(r.content), 'an error is raised in the program')
    || console.log(`# ${r.content}`);
is(r.artifact.files?.[0]?.name, 'made.txt', '... and its files are told');
const bad = await thrown(call(ptc, { code: 'import sys\nsys.stderr.write("why it failed")\nsys.exit(3)\nget_weather' }, inject));
ok(/why it failed/.test(bad?.message ?? ''), 'stderr reaches the model when it fails')
    || console.log(`# ${bad?.message}`);

const ptcBash = A.createBashProgrammaticToolCallingTool({ baseUrl, authHeaders });
const before = asked.length;
r = await call(ptcBash, { code: `set -euo pipefail
r=$(get_weather '{"city":"Rome"}')
echo "$r" | jq .temp
get_weather '{"city":"Oslo"}' | jq .temp` }, inject);
ok(/21\n9/.test(r.content), 'tools from bash') || console.log(`# ${r.content}`);
is(asked.length - before, 2, '... each called once');
done();
