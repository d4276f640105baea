# LangGraph, unmodified: an agent with a tool of the caller's, two turns, whole and
# streamed, over chat and Responses, and a refusal.
#
#	python langgraph_turns.py	with SATCHEL_URL and SATCHEL_KEY
import os
import warnings

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

from tap import done, eq, ok, thrown

warnings.simplefilter("ignore")  # The agent is said to move elsewhere.
saved = []


@tool
def save(title: str) -> str:
    """Store a report."""
    saved.append(title)
    return "stored"


def agent(model, responses):
    return create_react_agent(ChatOpenAI(
        model=model, base_url=os.environ["SATCHEL_URL"] + "/v1",
        api_key=os.environ["SATCHEL_KEY"], max_retries=0,
        use_responses_api=responses), [save])


def whole(graph, messages):
    return graph.invoke({"messages": messages})["messages"]


def streamed(graph, messages):
    pieces = 0
    state = None
    for kind, what in graph.stream({"messages": messages},
                                   stream_mode=["messages", "values"]):
        if kind == "messages":
            pieces += 1
        else:
            state = what["messages"]
    ok(pieces > 2, "streamed: the answer comes in pieces")
    return state


def text(message):
    if isinstance(message.content, str):
        return message.content
    return "".join(b.get("text", "") for b in message.content)


for responses in (False, True):
    route = "Responses" if responses else "chat"
    for way, ask in (("whole", whole), ("streamed", streamed)):
        name = f"{route}, {way}"
        saved.clear()
        first = ask(agent("own", responses), [("user", "Go.")])
        eq(text(first[-1]), "Stored.", f"{name}: text")
        eq(saved, ["T"], f"{name}: a tool of the caller's is called once")
        second = ask(agent("again", responses), first + [("user", "Go on.")])
        eq(text(second[-1]), "I see.", f"{name}: a second turn")
        error = thrown(lambda: ask(agent("refuses", responses),
                                   [("user", "Go.")]))
        ok("too long" in str(error), f"{name}: a refusal has its words")

done()
