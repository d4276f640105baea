# LlamaIndex, unmodified: an agent with a tool of the caller's, two turns, streamed
# as it does by default and whole, and a refusal.
#
#	python llamaindex_turns.py	with SATCHEL_URL and SATCHEL_KEY
import asyncio
import os

from llama_index.core.agent.workflow import AgentStream, FunctionAgent
from llama_index.core.workflow import Context
from llama_index.llms.openai_like import OpenAILike

from tap import done, eq, ok

saved = []


def save(title: str) -> str:
    """Store a report."""
    saved.append(title)
    return "stored"


def agent(model, streaming):
    return FunctionAgent(tools=[save], streaming=streaming, llm=OpenAILike(
        model=model, api_base=os.environ["SATCHEL_URL"] + "/v1",
        api_key=os.environ["SATCHEL_KEY"], is_chat_model=True,
        is_function_calling_model=True, max_retries=0))


async def main():
    for name, streaming in (("whole", False), ("streamed", True)):
        saved.clear()
        who = agent("own", streaming)
        context = Context(who)
        run = who.run("Go.", ctx=context)
        pieces = 0
        async for event in run.stream_events():
            pieces += isinstance(event, AgentStream) and bool(event.delta)
        eq(str(await run).strip().endswith("Stored."), True, f"{name}: text")
        if streaming:
            ok(pieces > 1, "streamed: the answer comes in pieces")
        eq(saved, ["T"], f"{name}: a tool of the caller's is called once")
        who.llm.model = "again"
        eq(str(await who.run("Go on.", ctx=context)), "I see.",
           f"{name}: a second turn")
        try:
            await agent("refuses", streaming).run("Go.")
            ok(False, f"{name}: a refusal is raised")
        except Exception as e:
            ok("too long" in str(e), f"{name}: a refusal has its words")


asyncio.run(main())
done()
