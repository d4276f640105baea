"""Programmatic tool calling through an unmodified anthropic package: code that
the model writes calls this program's function.

  ptc.py   with SATCHEL_URL and SATCHEL_KEY
"""
import os

import anthropic

from tap import done, eq, ok

client = anthropic.Anthropic(api_key=os.environ["SATCHEL_KEY"], base_url=os.environ["SATCHEL_URL"])
TOOLS = [
    {"type": "code_execution_20260120", "name": "code_execution"},
    {
        "name": "get_temp",
        "description": "The temperature of a city.",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "allowed_callers": ["code_execution_20260120"],
    },
]


def create(**request):
    return client.messages.create(**request)


def stream(**request):
    with client.messages.stream(**request) as s:
        return s.get_final_message()


for how, send in (("created", create), ("streamed", stream)):
    messages = [{"role": "user", "content": "Go."}]
    more = {}
    calls = rounds = 0
    while True:
        message = send(model="many", max_tokens=4096, tools=TOOLS, messages=messages, **more)
        messages.append({"role": "assistant", "content": message.content})
        more = {"container": message.container.id}
        uses = [b for b in message.content if b.type == "tool_use"]
        if rounds == 0:
            eq(message.stop_reason, "tool_use", f"{how}: the code asks")
            ok(any(b.type == "server_tool_use" and b.id == uses[0].caller.tool_id for b in message.content),
               f"{how}: and says whose it is")
            eq(uses[0].caller.type, "code_execution_20260120", f"{how}: as the types have it")
            eq(type(uses[0].caller).__name__, "ServerToolCaller20260120", f"{how}: a type of the package's")
        rounds += 1
        calls += len(uses)
        if message.stop_reason != "tool_use":
            break
        messages.append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": b.id, "content": b.input["city"]} for b in uses]})
    eq(calls, 30, f"{how}: thirty calls")
    eq(rounds, 2, f"{how}: of one round")
    result = next(b for b in message.content if b.type == "code_execution_tool_result")
    eq(result.content.stdout, "435\n", f"{how}: what came of it")
    eq(message.content[-1].text, "So it is.", f"{how}: the answer")
    eq(message.stop_reason, "end_turn", f"{how}: is whole")
done()
