"""LangChain's chat models, unmodified, over all three routes: as langchain.mjs.

  langchain.py   with SATCHEL_URL and SATCHEL_KEY
"""
import functools
import json
import os
import traceback
import urllib.request

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from tap import done, eq, ok, thrown

URL = os.environ["SATCHEL_URL"]
KEY = os.environ["SATCHEL_KEY"]
GO = [HumanMessage("Go.")]
COMMAND = "echo a; echo b >&2; echo c >c.txt; exit 3"
CODE = "open('t.csv','w').write('total,42\\n'); print(42)"
GREETING = "Hello \u2028 \U0001f600, how are you today?"
SAVE = {"name": "save", "description": "Store a report.",
        "input_schema": {"type": "object", "properties": {"title": {"type": "string"}}}}
FUNCTION = {"type": "function", "function": {
    "name": "save", "description": "Store a report.", "parameters": SAVE["input_schema"]}}


def anthropic(model, **more):
    return ChatAnthropic(model=model, max_tokens=4096, api_key=KEY, base_url=URL, max_retries=0, **more)


def openai(model, **more):
    return ChatOpenAI(model=model, api_key=KEY, base_url=f"{URL}/v1", max_retries=0, **more)


def whole(model, messages):
    return model.invoke(messages)


def streamed(model, messages):
    return functools.reduce(lambda a, b: a + b, model.stream(messages))


def fetched(path):
    request = urllib.request.Request(URL + path, headers={"authorization": f"Bearer {KEY}"})
    return urllib.request.urlopen(request).read()


def calls(message):
    return [(c["name"], c["args"]) for c in message.tool_calls]


def continued(name, ask, first, again, history=GO):
    """A call of the caller's own beside a run, and its result."""
    m = ask(first, history)
    eq(calls(m), [("save", {"title": "T"})], name("a call of his beside a run"))
    r = ask(again, [*history, m, ToolMessage("stored", tool_call_id=m.tool_calls[0]["id"])])
    eq(r.text, "I see.", name("... and it goes on with his result"))


def messages(name, ask, version):
    def with_code(model, *tools, tool="code_execution_20250825"):
        return anthropic(model, output_version=version).bind_tools([{"type": tool, "name": "code_execution"}, *tools])

    m = ask(anthropic("plain", output_version=version), GO)
    eq(m.text, GREETING, name("text"))
    ok(m.usage_metadata["input_tokens"] > 0 and m.usage_metadata["output_tokens"] > 0, name("... its usage"))

    m = ask(with_code("job"), GO)
    eq(m.tool_calls, [], name("a run is no call of his"))
    eq(m.text, "Let me see.Done.", name("... its text"))
    if version == "v0":
        use, result = m.content[1:3]
        eq(json.loads(use["partial_json"]) if use.get("partial_json") else use["input"], {"command": COMMAND},
           name("... its command"))
        eq(result["type"], "bash_code_execution_tool_result", name("... its result"))
        eq(result["content"]["stdout"], "a\n", name("... what it printed"))
        file = result["content"]["content"][0]["file_id"]
        eq(fetched(f"/v1/files/{file}/content"), b"c\n", name("... its file can be fetched"))
    ok(m.response_metadata["container"]["id"].startswith("container_gw_"), name("... its container"))
    r = ask(with_code("again-job"), [*GO, m, HumanMessage("Go on.")])
    eq(r.text, "I see.", name("given back, it is understood"))
    for first in "mixed", "ours":
        continued(name, ask, with_code(first, SAVE), with_code("again-mixed", SAVE))

    m = ask(with_code("python", tool="code_execution_20250522"), GO)
    eq(m.text, "It is 42; see t.csv.", name("the older version of the tool"))
    r = ask(with_code("again-python", tool="code_execution_20250522"), [*GO, m, HumanMessage("Go on.")])
    eq(r.text, "I see.", name("... given back"))
    e = thrown(lambda: ask(with_code("refuses"), GO))
    eq(getattr(e, "status_code", None), 400, name("a refusal has its status"))


def responses(name, ask, version):
    def with_code(model, *tools):
        return openai(model, use_responses_api=True, output_version=version).bind_tools(
            [{"type": "code_interpreter", "container": {"type": "auto"}}, *tools])

    m = ask(openai("plain", use_responses_api=True, output_version=version), GO)
    eq(m.text, GREETING, name("text"))
    m = ask(with_code("python"), GO)
    eq(m.text, "It is 42; see t.csv.", name("a run: the text"))
    eq(m.tool_calls, [], name("... is no call of his"))
    if version != "v1":
        runs = m.content if version != "v0" else m.additional_kwargs["tool_outputs"]
        [run] = [b for b in runs if b["type"] == "code_interpreter_call"]
        eq(run["code"], CODE, name("... its code"))
        [note] = [a for b in m.content if b["type"] == "text" for a in b["annotations"]]
        eq(note["type"], "container_file_citation", name("... its file is cited"))
        eq(fetched(f"/v1/containers/{run['container_id']}/files/{note['file_id']}/content"), b"total,42\n",
           name("... which can be fetched"))
    ok(m.usage_metadata["input_tokens"] > 0 and m.usage_metadata["output_tokens"] > 0, name("... its usage"))
    r = ask(with_code("again-python"), [*GO, m, HumanMessage("Go on.")])
    eq(r.text, "I see.", name("given back, it is understood"))
    continued(name, ask, with_code("both", FUNCTION), with_code("again-both", FUNCTION))
    e = thrown(lambda: ask(with_code("refuses"), GO))
    eq(getattr(e, "status_code", None), 400, name("a refusal has its status"))


def chat(name, ask, version):
    def with_code(model, *tools):
        return openai(model, use_responses_api=False, output_version=version).bind_tools(
            [{"type": "code_interpreter", "container": {"type": "auto"}}, *tools])

    m = ask(openai("plain", output_version=version), GO)
    eq(m.text, GREETING, name("text"))
    m = ask(with_code("python"), GO)
    eq(m.text, "It is 42; see t.csv.", name("a run: the text"))
    eq(m.tool_calls, [], name("... is no call of his"))
    continued(name, ask, with_code("both", FUNCTION), with_code("again-both", FUNCTION))
    e = thrown(lambda: ask(with_code("refuses"), GO))
    eq(getattr(e, "status_code", None), 400, name("a refusal has its status"))


for ask in whole, streamed:
    for route in messages, responses, chat:
        for version in "v0", "v1", "responses/v1":
            if version == "responses/v1" and route is not responses:
                continue
            def name(what):
                return f"{route.__name__}, {ask.__name__}, {version}: {what}"
            e = thrown(lambda: route(name, ask, version))
            if not ok(e is None, name("to its end")):
                traceback.print_exception(e)
done()
