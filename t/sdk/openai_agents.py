# OpenAI's agents package for Python, unmodified and with its defaults: two turns,
# whole and streamed, with runs, a function of the caller's, a refusal.
#
#	python openai_agents.py	with SATCHEL_URL and SATCHEL_KEY
import asyncio
import logging
import os

import openai
from agents import (Agent, CodeInterpreterTool, Runner, function_tool,
                    set_default_openai_client, set_tracing_disabled)

from tap import done, ok

set_tracing_disabled(True)
logging.getLogger("openai.agents").setLevel(logging.CRITICAL)
set_default_openai_client(openai.AsyncOpenAI(
    base_url=os.environ["SATCHEL_URL"] + "/v1",
    api_key=os.environ["SATCHEL_KEY"], max_retries=0))
saved = []


@function_tool
def save(title: str) -> str:
    """Store a report."""
    saved.append(title)
    return "stored"


interpreter = CodeInterpreterTool(
    tool_config={"type": "code_interpreter", "container": {"type": "auto"}})


async def whole(agent, items):
    return await Runner.run(agent, items)


async def streamed(agent, items):
    result = Runner.run_streamed(agent, items)
    async for _ in result.stream_events():
        pass
    return result


async def turns(way, ask, model, want, tools):
    saved.clear()
    agent = Agent(name="helper", model=model, tools=tools)
    r = await ask(agent, "Go.")
    ok(r.final_output == want, f"{way}: {model}: text")
    again = Agent(name="helper", model="again-" + model, tools=tools)
    second = await ask(again, r.to_input_list() + [
        {"role": "user", "content": "Go on."}])
    ok(second.final_output == "I see.", f"{way}: {model}: a second turn")
    return r


async def main():
    for way, ask in (("whole", whole), ("streamed", streamed)):
        await turns(way, ask, "plain",
                    "Hello \u2028 \U0001f600, how are you today?", [])
        await turns(way, ask, "own", "Stored.", [save])
        ok(saved == ["T"], f"{way}: a function of the caller's is called once")
        r = await turns(way, ask, "python", "It is 42; see t.csv.",
                        [interpreter])
        ok(any(getattr(i.raw_item, "type", "") == "code_interpreter_call"
               for i in r.new_items), f"{way}: a run is shown")
        await turns(way, ask, "both", "Both stored.", [interpreter, save])
        ok(saved == ["T"], f"{way}: beside a run it is called once")
        try:
            await ask(Agent(name="helper", model="refuses"), "Go.")
            ok(False, f"{way}: a refusal is raised")
        except openai.BadRequestError as e:
            ok("too long" in str(e), f"{way}: a refusal has its words")


asyncio.run(main())
done()
