# Haystack, unmodified: an agent with a tool of the caller's, two turns, whole and
# streamed, and a refusal.
#
#	python haystack_turns.py	with SATCHEL_URL and SATCHEL_KEY
import logging
import os
from typing import Annotated

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import tool
from haystack.utils import Secret

from tap import done, eq, ok, thrown

logging.disable(logging.CRITICAL)
saved = []


@tool
def save(title: Annotated[str, "its title"]) -> str:
    """Store a report."""
    saved.append(title)
    return "stored"


def ask(model, messages, callback):
    agent = Agent(tools=[save], streaming_callback=callback,
                  chat_generator=OpenAIChatGenerator(
                      model=model, max_retries=0,
                      api_base_url=os.environ["SATCHEL_URL"] + "/v1",
                      api_key=Secret.from_token(os.environ["SATCHEL_KEY"])))
    if hasattr(agent, "warm_up"):
        agent.warm_up()
    return agent.run(messages=messages)["messages"]


pieces = []
for name, callback in (("whole", None), ("streamed", pieces.append)):
    saved.clear()
    first = ask("own", [ChatMessage.from_user("Go.")], callback)
    eq(first[-1].text, "Stored.", f"{name}: text")
    eq(saved, ["T"], f"{name}: a tool of the caller's is called once")
    second = ask("again", first + [ChatMessage.from_user("Go on.")], callback)
    eq(second[-1].text, "I see.", f"{name}: a second turn")
    error = thrown(lambda: ask("refuses", [ChatMessage.from_user("Go.")],
                               callback))
    ok("too long" in f"{error} {error and error.__cause__}",
       f"{name}: a refusal has its words")
ok(len(pieces) > 4, "streamed: the answers come in pieces")

done()
