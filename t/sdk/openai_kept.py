"""Containers and kept responses through an unmodified openai package.

  openai_kept.py   with SATCHEL_URL and SATCHEL_KEY
"""
import os

import openai

from tap import done, eq, ok, thrown

client = openai.OpenAI(api_key=os.environ["SATCHEL_KEY"],
                       base_url=os.environ["SATCHEL_URL"] + "/v1", max_retries=0)
stored = client.files.create(file=("sales.csv", b"q\n1\n", "text/csv"), purpose="user_data")

c = client.containers.create(name="work", file_ids=[stored.id],
                             expires_after={"anchor": "last_active_at", "minutes": 20})
eq([c.object, c.name, c.status, c.expires_after.minutes], ["container", "work", "running", 20],
   "containers.create")
eq(client.containers.retrieve(c.id).id, c.id, "containers.retrieve")
ok(c.id in [x.id for x in client.containers.list(limit=1)], "containers.list walks its pages")
up = client.containers.files.create(c.id, file=("up.txt", b"up\n", "text/plain"))
eq([up.object, up.path, up.bytes, up.source, up.container_id],
   ["container.file", "/mnt/data/up.txt", 3, "user", c.id], "containers.files.create, bytes")
again = client.containers.files.create(c.id, file_id=stored.id)
eq(again.path, "/mnt/data/sales.csv", "containers.files.create, a stored file")

r = client.responses.create(model="look", input="Look.",
                            tools=[{"type": "code_interpreter", "container": c.id}])
call = [x for x in r.output if x.type == "code_interpreter_call"][0]
eq(call.container_id, c.id, "code runs in the container that is named")
made = [x for x in client.containers.files.list(c.id, order="asc") if x.source == "assistant"]
eq([x.path for x in made], ["/mnt/data/sum.txt"], "containers.files.list has what it wrote")
eq(client.containers.files.content.retrieve(made[0].id, container_id=c.id).read(), b"sales.csv up.txt\n",
   "containers.files.content.retrieve")
eq(client.containers.files.retrieve(made[0].id, container_id=c.id).bytes, 17,
   "containers.files.retrieve")
cited = [a for x in r.output if x.type == "message" for p in x.content for a in p.annotations]
eq([(a.container_id, a.file_id) for a in cited], [(c.id, made[0].id)], "the citation names both")

n = client.responses.create(model="look", input="And?", previous_response_id=r.id,
                            tools=[{"type": "code_interpreter", "container": {"type": "auto"}}])
eq(n.previous_response_id, r.id, "responses.create goes on from another")
eq(n.output_text, "As before.", "... knowing what was said")
eq(client.responses.retrieve(n.id).model_dump(), n.model_dump(), "responses.retrieve")
items = [x for x in client.responses.input_items.list(n.id, order="asc")]
eq([x.type for x in items][:1] + [x.type for x in items][-1:], ["message", "message"],
   "responses.input_items.list")
eq(client.responses.delete(n.id), None, "responses.delete")
ok(isinstance(thrown(lambda: client.responses.retrieve(n.id)), openai.NotFoundError),
   "... then it is not found")
ok(isinstance(thrown(lambda: client.responses.create(model="look", input="x", previous_response_id=n.id)),
              openai.BadRequestError), "... nor gone on from")

client.containers.files.delete(up.id, container_id=c.id)
ok(isinstance(thrown(lambda: client.containers.files.retrieve(up.id, container_id=c.id)),
              openai.NotFoundError), "containers.files.delete")
client.containers.delete(c.id)
ok(isinstance(thrown(lambda: client.containers.retrieve(c.id)), openai.NotFoundError),
   "containers.delete")
done()
