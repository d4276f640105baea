"""The Files and Uploads API through an unmodified openai package."""
import concurrent.futures
import hashlib
import os
import tempfile

import openai

from tap import done, eq, ok, thrown

client = openai.OpenAI(api_key=os.environ["SATCHEL_KEY"],
                       base_url=os.environ["SATCHEL_URL"] + "/v1", max_retries=0)
data = os.urandom(3 * 1048576 + 17)
with tempfile.TemporaryDirectory() as tmp:
    local = os.path.join(tmp, "Über 表 📊.bin")
    with open(local, "wb") as f:
        f.write(data)
    with open(local, "rb") as f:
        a = client.files.create(file=f, purpose="user_data",
                                expires_after={"anchor": "created_at", "seconds": 3600})
eq(a.bytes, len(data), "an open file is stored")
eq(a.filename, "Über 表 📊.bin", "its name is kept code point for code point")
eq(a.expires_at, a.created_at + 3600, "its expiry is an hour after its creation")
eq(a.status, "processed", "it is processed")
b = client.files.create(file=("sales.csv", b"q,amount\n1,20\n", "text/csv"), purpose="assistants")
c = client.files.create(file=("data.json", b'{"a":1}\n'), purpose="user_data")
eq(client.files.wait_for_processing(a.id, poll_interval=0.05, max_wait_seconds=1).id, a.id,
   "wait_for_processing returns at once")
eq(client.files.retrieve(b.id).model_dump(), b.model_dump(), "retrieve says what create said")
eq(hashlib.sha256(client.files.content(a.id).read()).hexdigest(), hashlib.sha256(data).hexdigest(),
   "the content is byte-identical")
eq(client.files.content(c.id).read(), b'{"a":1}\n', "JSON content is not re-encoded")
walked = [f.id for f in client.files.list(limit=2)]
eq(len(set(walked)), len(walked), "no id comes twice in a walk of pages of 2")
ok({a.id, b.id, c.id} <= set(walked), "the walk finds every file")
eq([f.id for f in client.files.list(limit=2, order="asc")], walked[::-1],
   "ascending is the reverse of descending")
ok(b.id in [f.id for f in client.files.list(purpose="assistants")], "the purpose filter holds")
eq(client.files.delete(c.id).model_dump(), {"id": c.id, "deleted": True, "object": "file"},
   "delete answers as the vendor does")
e = thrown(lambda: client.files.retrieve(c.id))
ok(isinstance(e, openai.NotFoundError), "a deleted file is a NotFoundError")
ok(str(getattr(e, "request_id", "")).startswith("req_"), "it carries the request id")
e = thrown(lambda: client.files.create(file=("x", b"x"), purpose="code_execution_output"))
ok(isinstance(e, openai.BadRequestError) and e.param == "purpose", "a produced purpose is refused and named")
e = thrown(lambda: client.with_options(api_key="wrong").files.list())
ok(isinstance(e, openai.AuthenticationError) and e.code == "invalid_api_key",
   "a wrong key is an AuthenticationError")

half = len(data) // 2
u = client.uploads.create(bytes=len(data), filename="big.bin", purpose="user_data",
                          mime_type="application/octet-stream")
with concurrent.futures.ThreadPoolExecutor() as pool:
    p2, p1 = pool.map(lambda d: client.uploads.parts.create(u.id, data=d), (data[half:], data[:half]))
whole = client.uploads.complete(u.id, part_ids=[p1.id, p2.id], md5=hashlib.md5(data).hexdigest())
eq(whole.status, "completed", "an upload in parts completes")
eq(hashlib.sha256(client.files.content(whole.file.id).read()).hexdigest(),
   hashlib.sha256(data).hexdigest(), "the joined bytes are the parts in the order given")
for f in (a.id, b.id, whole.file.id):
    client.files.delete(f)
done()
