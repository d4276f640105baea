"""zygote.py SOCKET: the yardstick for sessions from a zygote.

An interpreter with pandas and pyplot loaded answers each connection from a clone
in namespaces of its own that forks once, as a session does, and runs what was
sent.  No root, no limits, no filter, no HTTP: what the kernel takes at least.
"""
import ctypes, gc, os, signal, socket, sys

NAMESPACES = 0x10000000 | 0x20000 | 0x20000000 | 0x8000000 | 0x4000000 \
    | 0x2000000 | 0x40000000  # user mnt pid ipc uts cgroup net
SYS_CLONE = {'x86_64': 56, 'aarch64': 220}[os.uname().machine]
os.environ.update(OPENBLAS_NUM_THREADS='1', MPLBACKEND='Agg')
import pandas, matplotlib.pyplot

libc, api = ctypes.PyDLL(None), ctypes.pythonapi
uid, gid = os.geteuid(), os.getegid()


def clone():
    api.PyOS_BeforeFork()
    pid = libc.syscall(SYS_CLONE, NAMESPACES | signal.SIGCHLD, 0, 0, 0, 0)
    api.PyOS_AfterFork_Parent() if pid else api.PyOS_AfterFork_Child()
    return pid


def put(path, text):
    with open(path, 'w') as f: f.write(text)


def session(conn):
    put('/proc/self/setgroups', 'deny')
    put('/proc/self/uid_map', '1000 %d 1' % uid)
    put('/proc/self/gid_map', '1000 %d 1' % gid)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        os._exit(0)
    code = conn.recv(65536)
    os.dup2(conn.fileno(), 1)
    exec(code, {})
    sys.stdout.flush()
    os._exit(0)


gc.freeze()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(64)
while True:
    conn, _ = listener.accept()
    if clone() == 0: session(conn)
    conn.close()
