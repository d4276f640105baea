# The interpreter of a session: runs the programs that come in on descriptor 3,
# each after its length (4 bytes) and the number drawn for it (16 hex digits),
# and answers that number and the program's return code there.  In place of the
# first, it may be told what whole program to become, if it can (program.py).

import os, sys, types, linecache, traceback

PIXELS = 64 << 20  # Of an image that a program saves, at most.
REPLACED = []  # What adaptations have replaced: owner, name, what it was.


def save_on_show(pyplot):
    """Give pyplot a show() that saves: plot_1.png, plot_2.png, ..."""
    count = 0

    def show(*args, **kwargs):
        nonlocal count
        for number in pyplot.get_fignums():
            count += 1
            while os.path.exists('plot_%d.png' % count): count += 1
            pyplot.figure(number).savefig('plot_%d.png' % count)
        pyplot.close('all')

    REPLACED.append((pyplot, 'show', pyplot.show))
    pyplot.show = show


def bound_images(agg):
    """Refuse an image that would need more memory than it is worth."""
    begin = agg.RendererAgg.__init__

    def __init__(self, width, height, dpi):
        if width * height > PIXELS:
            raise ValueError('an image of %d x %d pixels, of which %d are'
                             ' possible' % (width, height, PIXELS))
        begin(self, width, height, dpi)

    REPLACED.append((agg.RendererAgg, '__init__', begin))
    agg.RendererAgg.__init__ = __init__


ADAPT = {'matplotlib.pyplot': save_on_show,
         'matplotlib.backends.backend_agg': bound_images}


class Finder:
    """Adapts a module when it has been loaded, by whomever."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in ADAPT: return None
        for finder in sys.meta_path:
            if finder is Finder: continue
            spec = finder.find_spec(name, path, target)
            if spec is not None: break
        else: return None
        adapt, load = ADAPT.pop(name), spec.loader.exec_module

        def exec_module(module):
            load(module)
            adapt(module)

        spec.loader.exec_module = exec_module
        return spec


def order(take):
    """What program to become: its words and its environment."""
    keep, count, *words = take(int.from_bytes(take(4), 'big')).split(b'\0')[:-1]
    if keep == b'0': os.close(3)
    sys.path.remove('')
    return words[:int(count)], words[int(count):]


# Functions are taken before any program runs, so that one that replaces them in
# its modules does not break the next.  A child of a program that comes back
# here is no interpreter: it ends.  Old children are waited for, since those
# that were killed at the end of their call still count as processes.
def serve():
    read, write, getpid, end = os.read, os.write, os.getpid, os._exit
    wait, nohang, show = os.waitpid, os.WNOHANG, traceback.print_exception
    cache, me, kill, count = linecache.cache, os.getpid(), os.kill, 0
    main = types.ModuleType('__main__')
    main.__builtins__ = __builtins__
    sys.modules['__main__'] = main
    sys.path.insert(0, '')
    sys.argv[:] = ['']
    sys.stdout.reconfigure(line_buffering=True)

    def take(n):
        data = b''
        while len(data) < n:
            piece = read(3, min(n - len(data), 65536))
            if not piece: end(0)
            data += piece
        return data

    while True:
        size = int.from_bytes(take(4), 'big')
        if size == 0xffffffff: return order(take)
        nonce = take(16)
        text = take(size).decode()
        try:
            while wait(-1, nohang)[0]: pass
        except OSError: pass
        count += 1
        name = '<cell %d>' % count
        cache.pop('<cell %d>' % (count - 256), None)
        cache[name] = size, None, text.splitlines(True), name
        rc = 0
        try:
            exec(compile(text, name, 'exec'), main.__dict__)
        except SystemExit as e:
            if isinstance(e.code, int): rc = e.code & 255
            elif e.code is not None:
                rc = 1
                try: print(e.code, file=sys.stderr)
                except BaseException: pass
        except BaseException as e:
            rc = 1
            try: show(type(e), e, e.__traceback__.tb_next)
            except BaseException: pass
        try: sys.stdout.flush()
        except BaseException: pass
        try: sys.stderr.flush()
        except BaseException: pass
        if getpid() != me: end(rc)
        # Whoever has closed it is of no use any more, and is not to look well.
        try: write(3, nonce + b' %d\n' % rc)
        except OSError: kill(me, 9)


sys.meta_path.insert(0, Finder)
if __name__ == '__main__': serve()
