"""Code execution through an unmodified openai package: Responses and Chat,
whole and through the package's own stream helpers.

  openai_run.py   with SATCHEL_URL and SATCHEL_KEY
"""
import json
import os
import urllib.request

import openai
import pydantic
from tap import done, eq as is_, ok, thrown

client = openai.OpenAI(api_key=os.environ["SATCHEL_KEY"], base_url=os.environ["SATCHEL_URL"] + "/v1", max_retries=0)
file = client.files.create(file=("data.csv", b"qty\n20\n22\n", "text/csv"), purpose="user_data")
save = {
    "name": "save",
    "description": "Store a report.",
    "parameters": {"type": "object", "properties": {"title": {"type": "string"}}},
}
tool = {"type": "code_interpreter", "container": {"type": "auto", "file_ids": [file.id]}}
job = {
    "model": "job",
    "input": "Add up.",
    "include": ["code_interpreter_call.outputs"],
    "tools": [tool],
}


# --- Responses ---

def judge(r, how):
    is_(r.status, "completed", f"{how}: completed")
    is_([o.type for o in r.output], ["code_interpreter_call", "message"], f"{how}: a run and a message")
    run, message = r.output
    is_(run.outputs[0].logs, "42\n", f"{how}: what it printed")
    is_(r.output_text, "It is 42; see t.csv.", f"{how}: output_text")
    note = message.content[0].annotations[0]
    is_(note.type, "container_file_citation", f"{how}: the file is cited")
    is_(r.output_text[note.start_index:note.end_index], "t.csv", f"{how}: where the text names it")
    is_(client.files.content(note.file_id).read(), b"total,42\n", f"{how}: and can be fetched")
    held = client.containers.files.content.retrieve(note.file_id, container_id=note.container_id)
    is_(held.read(), b"total,42\n", f"{how}: from its container too")
    is_(r.usage.total_tokens, r.usage.input_tokens + r.usage.output_tokens, f"{how}: usage adds up")
    return r


first = judge(client.responses.create(**job), "create")
types = []
with client.responses.stream(**job) as stream:
    for event in stream:
        types.append(event.type)
    judge(stream.get_final_response(), "stream helper")
ok("response.code_interpreter_call.completed" in types, "stream helper: the run is told live")

again = client.responses.create(**{**job, "input": [
    {"role": "user", "content": "Add up."}, *[o.model_dump() for o in first.output],
    {"role": "user", "content": "Which?"}]})
is_(again.output_text, "The first.", "an answer given back is understood")

history = [{"role": "user", "content": "Go."}]
own = {"model": "caller", "tools": [tool, {"type": "function", "strict": False, **save}]}
r = client.responses.create(input=history, **own)
call = next(o for o in r.output if o.type == "function_call")
is_(json.loads(call.arguments), {"title": "T"}, "a call of the program's own")
history += [o.model_dump() for o in r.output]
history.append({"type": "function_call_output", "call_id": call.call_id, "output": "stored as R-9"})
is_(client.responses.create(input=history, **own).output_text, "Saved.", "goes on with its result")


class Answer(pydantic.BaseModel):
    a: int


is_(client.responses.parse(model="json", input="Go.", text_format=Answer).output_parsed, Answer(a=1), "parse")
e = thrown(lambda: client.responses.create(**job, background=True))
ok(isinstance(e, openai.BadRequestError) and e.param == "background", "a refusal is a BadRequestError")

# --- Chat ---

chat = {
    "model": "job",
    "messages": [{"role": "user", "content": [
        {"type": "text", "text": "Add up."}, {"type": "file", "file": {"file_id": file.id}}]}],
    "tools": [{"type": "code_interpreter"}],
}


def judge_chat(c, how):
    message = c.choices[0].message
    is_(c.choices[0].finish_reason, "stop", f"{how}: stop")
    is_(message.content, "It is 42; see t.csv.", f"{how}: the text")
    note = message.annotations[0]
    note = note["url_citation"] if isinstance(note, dict) else note.url_citation.model_dump()
    is_(message.content[note["start_index"]:note["end_index"]], "t.csv", f"{how}: where it names the file")
    request = urllib.request.Request(note["url"], headers={"Authorization": f"Bearer {os.environ['SATCHEL_KEY']}"})
    is_(urllib.request.urlopen(request).read(), b"total,42\n", f"{how}: which can be fetched")


judge_chat(client.chat.completions.create(**chat), "chat")
text = ""
with client.chat.completions.stream(model="job", messages=chat["messages"], tools=[
        {"type": "function", "function": {**save, "strict": True}}], extra_body={
            "tools": [*chat["tools"]]}) as stream:
    for event in stream:
        if event.type == "content.delta":
            text += event.delta
    judge_chat(stream.get_final_completion(), "chat stream helper")
is_(text, "It is 42; see t.csv.", "chat stream helper: its deltas")

history = [{"role": "user", "content": "Go."}]
own = {"model": "caller", "tools": [{"type": "function", "function": save}]}
c = client.chat.completions.create(messages=history, **own)
call = c.choices[0].message.tool_calls[0]
is_(json.loads(call.function.arguments), {"title": "T"}, "chat: a call of the program's own")
history += [c.choices[0].message.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": call.id, "content": "stored as R-9"}]
is_(client.chat.completions.create(messages=history, **own).choices[0].message.content, "Saved.",
    "chat: goes on with its result")
e = thrown(lambda: client.chat.completions.create(**chat, n=2))
ok(isinstance(e, openai.BadRequestError) and e.param == "n", "two choices are refused")
done()
