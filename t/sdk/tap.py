"""The least of TAP: one line a check; exit 1 when one failed."""
import json
import sys

_n = 0
_bad = 0


def ok(cond, name):
    global _n, _bad
    _n += 1
    if not cond:
        _bad += 1
    print(f"{'' if cond else 'not '}ok {_n} - {name}", flush=True)
    return bool(cond)


def eq(got, want, name):
    if not ok(got == want, name):
        print(f"#   got {json.dumps(got, default=str)}\n#  want {json.dumps(want, default=str)}")


def thrown(call):
    """What ${call}() raised, or None."""
    try:
        call()
    except Exception as e:
        return e
    return None


def done():
    print(f"1..{_n}")
    sys.exit(1 if _bad else 0)
