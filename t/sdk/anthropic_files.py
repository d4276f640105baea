"""The Files API through an unmodified anthropic package."""
import hashlib
import os
import tempfile

import anthropic

from tap import done, eq, ok, thrown

client = anthropic.Anthropic(api_key=os.environ["SATCHEL_KEY"], base_url=os.environ["SATCHEL_URL"],
                             max_retries=0)
data = os.urandom(1048576 + 3)
spaces = [("beta.files", client.beta.files)]
if hasattr(client, "files"):
    spaces.append(("files", client.files))
for name, files in spaces:
    with tempfile.TemporaryDirectory() as tmp:
        local = os.path.join(tmp, "Über 表 📊.bin")
        with open(local, "wb") as f:
            f.write(data)
        with open(local, "rb") as f:
            a = files.upload(file=f)
    eq(a.size_bytes, len(data), f"{name}: an open file is stored")
    eq(a.filename, "Über 表 📊.bin", f"{name}: its name is kept")
    eq(a.downloadable, True, f"{name}: it says that it can be downloaded")
    b = files.upload(file=("n.csv", b"q\n1\n", "text/csv"))
    c = files.upload(file=("c.txt", b"c", "text/plain"))
    eq(b.mime_type, "text/csv", f"{name}: the part's type is kept")
    eq(hashlib.sha256(files.download(a.id).read()).hexdigest(), hashlib.sha256(data).hexdigest(),
       f"{name}: the content is byte-identical")
    eq(files.retrieve_metadata(b.id).model_dump(), b.model_dump(), f"{name}: metadata says what upload said")
    walked = [f.id for f in files.list(limit=2)]
    eq(len(set(walked)), len(walked), f"{name}: no id comes twice in a walk of pages of 2")
    ok({a.id, b.id, c.id} <= set(walked), f"{name}: the walk finds every file")
    eq(files.delete(c.id).type, "file_deleted", f"{name}: delete answers as the vendor does")
    e = thrown(lambda: files.retrieve_metadata(c.id))
    ok(isinstance(e, anthropic.NotFoundError), f"{name}: a deleted file is a NotFoundError")
    ok(str(getattr(e, "request_id", "")).startswith("req_"), f"{name}: it carries the request id")
    files.delete(a.id)
    files.delete(b.id)
e = thrown(lambda: client.with_options(api_key="wrong").beta.files.list())
ok(isinstance(e, anthropic.AuthenticationError), "a wrong key is an AuthenticationError")
done()
