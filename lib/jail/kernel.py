# The interpreter of a session: runs the programs that come in on descriptor 3,
# each after its length (4 bytes) and the number drawn for it (16 hex digits),
# and answers that number and the program's return code there.  In place of the
# first, it may be told what whole program to become, if it can (program.py).
# Its argument is adapt.py.

import os, sys, types, linecache, traceback

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


if __name__ == '__main__':
    exec(sys.argv[1], {'__name__': 'sitecustomize'})
    serve()
