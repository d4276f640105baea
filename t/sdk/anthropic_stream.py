"""Streamed Messages answers through an unmodified anthropic package.

  anthropic_stream.py   with SATCHEL_URL and SATCHEL_KEY
"""
import os

import anthropic

from tap import done, eq, ok, thrown

client = anthropic.Anthropic(api_key=os.environ["SATCHEL_KEY"], base_url=os.environ["SATCHEL_URL"])
EXECUTION = {"type": "code_execution_20250825", "name": "code_execution"}
SAVE = {"name": "save", "description": "Store a report.",
        "input_schema": {"type": "object", "properties": {"title": {"type": "string"}}}}


def ask(model, **more):
    return {"model": model, "max_tokens": 4096, "tools": [EXECUTION],
            "messages": [{"role": "user", "content": "Go."}], **more}


def final(request):
    with client.messages.stream(**request) as stream:
        return stream.get_final_message()


def at(o, key):
    """A member; older packages leave what they do not know a dict."""
    return o[key] if isinstance(o, dict) else getattr(o, key)


def types(message):
    return " ".join(b.type for b in message.content)


with client.messages.stream(**ask("plain", tools=[])) as stream:
    texts = list(stream.text_stream)
    message = stream.get_final_message()
ok(len(texts) > 1, "text comes in pieces")
eq("".join(texts), "Hello \u2028 \U0001f600, how are you today?", "which make the text")
eq(types(message), "thinking text", "what was thought stands before")
eq(message.stop_reason, "end_turn", "the reason of its end")

message = final(ask("job"))
eq(types(message), "text server_tool_use bash_code_execution_tool_result text", "a run stands with its result")
eq(message.content[1].input, {"command": "echo a; echo b >&2; echo c >c.txt; exit 3"}, "its command")
result = message.content[2].content
eq([at(result, k) for k in ("stdout", "stderr", "return_code")], ["a\n", "b\n", 3], "what came of it")
eq([message.usage.input_tokens, message.usage.output_tokens], [1364, 171], "the tokens of both rounds")
eq(client.beta.files.download(at(at(result, "content")[0], "file_id")).read(), b"c\n", "its file can be fetched")
again = final(ask("job", messages=[
    {"role": "user", "content": "Go."},
    {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in message.content]},
    {"role": "user", "content": "Go on."},
]))
eq(types(again), types(message), "given back as it is, it is taken")

with client.messages.stream(**ask("twice")) as stream:
    kinds = [e.type for e in stream]
eq([kinds[0], kinds[-1]], ["message_start", "message_stop"], "events: the first and the last")
eq(kinds.count("content_block_start"), 5, "and the blocks")

for model, order in ("mixed", "text tool_use server_tool_use"), ("ours", "text server_tool_use tool_use"):
    both = [EXECUTION, SAVE]
    message = final(ask(model, tools=both))
    eq(types(message), f"{order} bash_code_execution_tool_result", f"{model}: calls in the order in which they are made")
    call = next(b for b in message.content if b.type == "tool_use")
    eq([message.stop_reason, call.input], ["tool_use", {"title": "T"}], f"{model}: a call of the caller's function")
    eq(at(message.content[3].content, "stdout"), "mine\n", f"{model}: beside a run")
    message = final(ask(model, tools=both, messages=[
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in message.content]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "stored"}]},
    ]))
    eq(message.content[0].text, "Stored.", f"{model}: which goes on with its result")

message = final(ask("broken"))
eq(at(message.content[1].content, "error_code"), "invalid_tool_input", "a call broken off by the token limit")
eq(message.stop_reason, "max_tokens", "ends the turn")

e = thrown(lambda: final(ask("refuses")))
ok(isinstance(e, anthropic.BadRequestError), "an error before the first byte has its class")
e = thrown(lambda: final(ask("dies")))
ok(isinstance(e, anthropic.APIStatusError), "an error amid the stream is one")
ok("broke the connection off" in str(e), "and says what happened")
e = thrown(lambda: client.messages.create(**ask("later")))
eq(getattr(e, "status_code", None), 502, "an error after code has run")
done()
