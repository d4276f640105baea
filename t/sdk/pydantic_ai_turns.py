# Pydantic AI, unmodified and with its defaults: two turns over all three routes,
# whole and streamed, with runs, a function of the caller's, a refusal.
#
#	python pydantic_ai_turns.py	with SATCHEL_URL and SATCHEL_KEY
import asyncio
import os

from pydantic_ai import Agent, ModelHTTPError
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.native_tools import CodeExecutionTool
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tap import done, eq, ok

url = os.environ["SATCHEL_URL"]
key = os.environ["SATCHEL_KEY"]
openai = OpenAIProvider(base_url=url + "/v1", api_key=key)
anthropic = AnthropicProvider(base_url=url, api_key=key)
routes = {
    "Messages": (lambda m: AnthropicModel(m, provider=anthropic),
                 "job", "Done.", "mixed", "Stored."),
    "Responses": (lambda m: OpenAIResponsesModel(m, provider=openai),
                  "python", "It is 42; see t.csv.", "both", "Both stored."),
    "Chat": (lambda m: OpenAIChatModel(m, provider=openai),) + (None,) * 4,
}
saved = []


def save(title: str) -> str:
    """Store a report."""
    saved.append(title)
    return "stored"


async def whole(agent, prompt, history):
    r = await agent.run(prompt, message_history=history)
    return r.output, r.all_messages()


async def streamed(agent, prompt, history):
    async with agent.run_stream(prompt, message_history=history) as r:
        return await r.get_output(), r.all_messages()


async def turns(name, model, ask, what, want, tools=(), code=False):
    saved.clear()
    more = {"tools": list(tools)}
    if code:
        more["capabilities"] = [NativeTool(CodeExecutionTool())]
    text, history = await ask(Agent(model(what), **more), "Go.", None)
    ok(text.endswith(want), f"{name}: {what}: text") or print(f"# {text!r}")
    text, _ = await ask(Agent(model("again-" + what), **more), "Go on.", history)
    eq(text, "I see.", f"{name}: {what}: a second turn")
    return history


async def main():
    for route, (model, run, ran, both, stored) in routes.items():
        for way, ask in (("whole", whole), ("streamed", streamed)):
            name = f"{route}, {way}"
            await turns(name, model, ask, "plain",
                        "Hello \u2028 \U0001f600, how are you today?")
            # A text before a call ends its streamed output.
            if way == "whole":
                await turns(name, model, ask, "own", "Stored.", [save])
                eq(saved, ["T"], f"{name}: a function is called once")
            if run is not None:
                history = await turns(name, model, ask, run, ran, code=True)
                ok(any(p.part_kind in ("builtin-tool-return",
                                       "native-tool-return")
                       for m in history for p in m.parts),
                   f"{name}: a run is shown")
            if run is not None and way == "whole":
                await turns(name, model, ask, both, stored, [save], True)
                eq(saved, ["T"], f"{name}: beside a run it is called once")
            try:
                await ask(Agent(model("refuses")), "Go.", None)
                ok(False, f"{name}: a refusal is raised")
            except ModelHTTPError as e:
                eq(e.status_code, 400, f"{name}: a refusal has its status")


asyncio.run(main())
done()
