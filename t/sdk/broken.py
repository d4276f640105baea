"""Streams that a provider breaks off, passed on, through unmodified packages.

  broken.py   with SATCHEL_URL and SATCHEL_KEY
"""
import os

import anthropic
import openai
from tap import done, ok, thrown

url, key = os.environ["SATCHEL_URL"], os.environ["SATCHEL_KEY"]
ours = openai.OpenAI(api_key=key, base_url=url + "/v1", max_retries=0)
theirs = anthropic.Anthropic(api_key=key, base_url=url, max_retries=0)
talk = [{"role": "user", "content": "Go."}]


def chat(model):
    return "".join(c.choices[0].delta.content or "" for c in
                   ours.chat.completions.create(model=f"chat:{model}", messages=talk, stream=True) if c.choices)


def responses(model):
    last = None
    for last in ours.responses.create(model=f"resp:{model}", input="Go.", stream=True):
        pass
    if last.type != "response.completed":
        raise RuntimeError(last.response.error.message)
    return last.response.output_text


def messages(model):
    with theirs.messages.stream(model=f"ant:{model}", max_tokens=50, messages=talk) as stream:
        return stream.get_final_message().content[0].text


for ask in chat, responses, messages:
    ok("whole" in ask("whole"), f"{ask.__name__}: a whole stream")
    for model in "cut", "half":
        e = thrown(lambda: ask(model))
        ok("broke the connection off" in str(e), f"{ask.__name__}: {model} raises: {e!r}")
done()
