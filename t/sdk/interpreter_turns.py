# Open Interpreter, unmodified: a command that the model asks it to run, two turns,
# whole and streamed, and a refusal.
#
#	python interpreter_turns.py	with SATCHEL_URL and SATCHEL_KEY
import os

from interpreter import OpenInterpreter

from tap import done, eq, ok, thrown


def new(model):
    i = OpenInterpreter(disable_telemetry=True, auto_run=True,
                        conversation_history=False)
    i.offline = True
    i.verbose = False
    i.llm.model = "openai/" + model
    i.llm.api_base = os.environ["SATCHEL_URL"] + "/v1"
    i.llm.api_key = os.environ["SATCHEL_KEY"]
    i.llm.context_window = 32000
    i.llm.max_tokens = 1000
    i.llm.supports_functions = True
    i.llm.supports_vision = False
    return i


def whole(i, text):
    i.chat(text, display=False)
    return i.messages


def streamed(i, text):
    pieces = list(i.chat(text, display=False, stream=True))
    if text == "Go.":
        ok(len(pieces) > 4, "streamed: the answer comes in pieces")
    return i.messages


for name, ask in (("whole", whole), ("streamed", streamed)):
    i = new("interpreter")
    said = ask(i, "Go.")
    eq(said[-1].get("content", "").strip(), "Done.", f"{name}: text")
    ok(any(m["type"] == "console" and "it-42" in m["content"] for m in said),
       f"{name}: the command is run")
    i.llm.model = "openai/again"
    eq(ask(i, "Go on.")[-1].get("content", "").strip(), "I see.",
       f"{name}: a second turn")
    error = thrown(lambda: ask(new("refuses"), "Go."))
    ok("too long" in str(error), f"{name}: a refusal has its words")

done()
