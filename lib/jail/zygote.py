# The zygote: loads and exercises what programs use most, once; its clones become
# sessions that have it already.  It never runs a caller's program.  Descriptor 3
# leads to the keeper, 4 is the library of our own; the sources that come before
# all are this, kernel.py, program.py and adapt.py.

import ctypes, gc, os, random, signal, sys

KEEPER = 3
EXERCISES = 3


def exercise():
    """Load, and do, what takes its time the first time."""
    import io
    import numpy
    import pandas
    from matplotlib import pyplot
    frame = pandas.DataFrame({'a': ['x', 'y', 'x'], 'b': [1.0, 2.0, 3.0]})
    str(frame), str(frame.describe()), str(frame.groupby('a').sum())
    pandas.read_csv(io.StringIO(frame.to_csv())).merge(frame, on='a')
    figure, axes = pyplot.subplots()
    axes.plot([1, 2, 3])
    axes.bar(['x', 'y'], [1, 2])
    axes.set_title('t')
    figure.savefig(io.BytesIO(), format='png')
    pyplot.close('all')
    numpy.random.default_rng().random(3)


def forked():
    """What libraries want done in a child: forget open files, draw seeds."""
    ctypes.pythonapi.PyOS_BeforeFork()
    ctypes.pythonapi.PyOS_AfterFork_Child()
    random.seed()
    sys.modules['numpy'].random.seed()


def warm():
    """What every program does: memory that it writes to is no longer shared."""
    exec(compile("print(end='')", '', 'exec'), {'__builtins__': __builtins__})
    sys.modules['pandas'].Index(['a'])


def words(list):
    """Those of a list in C."""
    found = []
    while list[len(found)] is not None: found.append(list[len(found)])
    return found


def interpreter(argv, env):
    """In a fork of a session's supervisor: become its interpreter, or run a
    program as one does."""
    try:
        forked()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        if argv: order = words(argv), words(env)
        else:
            warm()
            order = kernel['serve']()
        program['fit'](*order)()
    finally:
        os._exit(1)


def module(name, source, **names):
    """What a program of our own defines, none of it to be found by others."""
    here = {'__name__': name, '__builtins__': __builtins__, **names}
    exec(compile(source, '<%s>' % name, 'exec'), here)
    return here


def say(text):
    os.write(KEEPER, text.encode())


try:
    library = ctypes.PyDLL('/proc/self/fd/4')
    os.close(4)
    module('sitecustomize', sources[3])
    kernel = module('interpreter', sources[1])
    program = module('program', sources[2], kernel=kernel,
                     leave=library.guest_leave)
    # Code settles in its form after a few times, and is written to no more.
    for _ in range(EXERCISES): exercise()
    program['loaded'].update(sys.modules)
    forked()
    gc.collect()
    if len(os.listdir('/proc/self/task')) > 1:
        raise RuntimeError('a library has started threads')
    if os.open('/', os.O_RDONLY) != 4:
        raise RuntimeError('a library keeps files open')
    os.close(4)
    kind = ctypes.PYFUNCTYPE(None, *[ctypes.POINTER(ctypes.c_char_p)] * 2)
    library.zygote_serve.argtypes = ctypes.c_int, kind
    library.zygote_serve.restype = None
    start = kind(interpreter)
    say('ready')
except BaseException as e:
    say('%s: %s' % (type(e).__name__, e))
    os._exit(1)
gc.freeze()


def serve():
    library.zygote_serve(KEEPER, start)
