// The least of TAP: one line a check; sdk tests exit 1 when one failed.
let n = 0, bad = 0;

export function ok(cond, name) {
	n++;
	if (!cond) bad++;
	console.log(`${cond ? '' : 'not '}ok ${n} - ${name}`);
	return cond;
}

export function is(got, want, name) {
	if (!ok(Object.is(got, want), name))
		console.log(`#   got ${JSON.stringify(got)}\n#  want ${JSON.stringify(want)}`);
}

// Await ${promise}, which must fail; return what it threw, or null.
export async function thrown(promise) {
	try {
		await promise;
		return null;
	} catch (e) {
		return e;
	}
}

export async function collect(iterable) {
	const all = [];
	for await (const x of iterable) all.push(x);
	return all;
}

export function done() {
	console.log(`1..${n}`);
	process.exit(bad ? 1 : 0);
}
