# A whole program, run in a fork of a session's supervisor as "python3 -u FILE
# ARGUMENT ..." would run it, but without Python's start and its end: nothing is
# taken apart that the program has not made.  Where that would make a difference,
# fit() starts Python after all.  What still differs: who goes up the stack meets
# frames of ours, and sys.flags are the zygote's.

import atexit, builtins, gc, io, os, signal, sys, threading, types
from importlib.machinery import SourceFileLoader

# The variables besides the usual ones with which it runs here.
KNOWN = {b'PYTHONPATH', b'PYTHONDONTWRITEBYTECODE'}
# What Python or a library loaded here looks for where a program starts.
SOUGHT = {'sitecustomize', 'usercustomize'}
READ = {'.local', 'matplotlibrc'}
loaded = set()  # The names of the modules that the zygote has.


def shadows(name):
    """Would the file ${name} have been loaded for a module that is there?"""
    stem, _, end = name.partition('.')
    return name in READ or (
        (end in ('', 'py', 'pyc') or end.endswith('so')) and
        (stem in sys.modules or stem in SOUGHT))


def fit(argv, env):
    """What runs the program; starts Python instead if that is better."""
    path = os.fsdecode(argv[2])
    added = dict(line.split(b'=', 1) for line in env)
    for name, value in list(added.items()):
        if os.environb.get(name) == value: del added[name]
    search = os.fsdecode(added.get(b'PYTHONPATH', b'')).split(':')
    # What lies beside the program is ours.
    others = [d or '.' for d in search if d != os.path.dirname(path)]
    code = None
    try:
        if KNOWN.issuperset(added) and not any(
                shadows(name) for d in others for name in os.listdir(d)):
            with open(path, 'rb') as file:
                code = compile(file.read(), path, 'exec', dont_inherit=True)
    except BaseException:
        pass  # Python says itself what is wrong with it.
    if code is None: os.execve(argv[0], argv, dict(l.split(b'=', 1) for l in env))
    return lambda: run(code, argv, added, search)


def stream(fd, name, like, errors):
    """Standard output, as -u has it."""
    raw = open(fd, 'wb', 0, closefd=False)
    raw.name = name
    text = io.TextIOWrapper(raw, like.encoding, errors, '\n', write_through=True)
    text.mode = 'w'
    return text


def set_up(argv, added, search):
    """All that a program can see of its interpreter; return __main__."""
    path = os.fsdecode(argv[2])
    os.environb.update(added)
    sys.dont_write_bytecode = b'PYTHONDONTWRITEBYTECODE' in added
    sys.orig_argv[:] = map(os.fsdecode, argv)
    sys.argv[:] = sys.orig_argv[2:]
    sys.path[:0] = [os.path.dirname(path)] + [d for d in search if d != '']
    sys.stdout = sys.__stdout__ = stream(
        1, '<stdout>', sys.stdout, sys.stdout.errors)
    sys.stderr = sys.__stderr__ = stream(
        2, '<stderr>', sys.stderr, 'backslashreplace')
    main = sys.modules['__main__'] = types.ModuleType('__main__')
    main.__loader__ = SourceFileLoader('__main__', path)
    vars(main).update(__annotations__={}, __builtins__=builtins, __file__=path,
                      __cached__=None)
    # The frames below the program's are not its own, nor are two calls in C:
    # of the zygote's library, and of exec().
    depth, frame = 0, sys._getframe()
    while frame: depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(sys.getrecursionlimit() + depth + 1)
    return main


def status_of(error):
    """The exit status that SystemExit means."""
    code = error.code
    if code is None: return 0
    if isinstance(code, int):
        return code & 255 if -1 << 63 <= code < 1 << 63 else 255
    try: print(code, file=sys.stderr)
    except BaseException: pass
    return 1


def say(text):
    """A line of Python's own; to the descriptor if there is no file any more."""
    try: print(text, file=sys.stderr)
    except BaseException: os.write(2, text.encode() + b'\n')


def report(error):
    """Show what nobody has caught; return the exit status."""
    if isinstance(error, SystemExit): return status_of(error)
    kind, trace = type(error), error.__traceback__
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, trace
    second = None
    try: sys.excepthook(kind, error, trace)
    except SystemExit as e: return status_of(e)
    except BaseException as e: second = e.with_traceback(e.__traceback__.tb_next)
    if second is not None:
        say('Error in sys.excepthook:')
        sys.__excepthook__(type(second), second, second.__traceback__)
        say('\nOriginal exception was:')
        sys.__excepthook__(kind, error, trace)
    return -signal.SIGINT if kind is KeyboardInterrupt else 1


def flush():
    """Return whether what was printed has gone out."""
    good = True
    for file in sys.stdout, sys.stderr:
        try:
            if file is not None and not file.closed: file.flush()
        except BaseException as e:
            good = False
            if file is sys.stdout:
                say('Exception ignored in: ' + repr(file))
                sys.__excepthook__(type(e), e, None)
    return good


def drop():
    """Let go of all that the program has made: files are written to their end,
    objects say farewell."""
    # As Python does it first: so that later a text is ended before its file.
    if gc.isenabled(): gc.collect()
    for name in 'last_type', 'last_value', 'last_traceback':
        if hasattr(sys, name): delattr(sys, name)
    # The last are the program's.  To look at all would copy their memory.
    while next(reversed(sys.modules), '__main__') not in loaded: sys.modules.popitem()
    sys.modules.pop('__main__', None)
    gc.collect()


# What the program may replace is taken before it runs.
def run(code, argv, added, search, finish=threading._shutdown,
        last=atexit._run_exitfuncs, end=leave, kill=os.kill):
    main = set_up(argv, added, search)
    status = 0
    error = None
    try: exec(code, vars(main))
    except BaseException as e: error = e.with_traceback(e.__traceback__.tb_next)
    del main, code
    if error is not None:
        status = 1
        try: status = report(error)
        except BaseException: pass
    del error
    good = True
    # Whatever becomes of one, the next is done, as Python does.
    for step in flush, finish, last, flush, drop, flush:
        try: good = step() is not False
        except BaseException: pass
        if not good: status = 120
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        kill(os.getpid(), -status)
    end(status)
