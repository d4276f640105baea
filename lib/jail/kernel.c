#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/id.h"
#include "base/num.h"

#include "jail/kernel.h"

/*
 * The functions are taken before any program runs, so that one that replaces
 * them in its modules does not break the next.  A child of a program that comes
 * back here is no interpreter: it ends.  Old children are waited for, since
 * those that were killed at the end of their call still count as processes.
 */
static const char source[] =
    "import os, sys, types, linecache, traceback\n"
    "def serve():\n"
    "    read, write, getpid, end = os.read, os.write, os.getpid, os._exit\n"
    "    wait, nohang, show = os.waitpid, os.WNOHANG, "
    "traceback.print_exception\n"
    "    cache, me, count = linecache.cache, os.getpid(), 0\n"
    "    main = types.ModuleType('__main__')\n"
    "    main.__builtins__ = __builtins__\n"
    "    sys.modules['__main__'] = main\n"
    "    sys.path.insert(0, '')\n"
    "    sys.argv[:] = ['']\n"
    "    sys.stdout.reconfigure(line_buffering=True)\n"
    "    def take(n):\n"
    "        data = b''\n"
    "        while len(data) < n:\n"
    "            piece = read(3, min(n - len(data), 65536))\n"
    "            if not piece: end(0)\n"
    "            data += piece\n"
    "        return data\n"
    "    while True:\n"
    "        size = int.from_bytes(take(4), 'big')\n"
    "        nonce = take(16)\n"
    "        text = take(size).decode()\n"
    "        try:\n"
    "            while wait(-1, nohang)[0]: pass\n"
    "        except OSError: pass\n"
    "        count += 1\n"
    "        name = '<cell %d>' % count\n"
    "        cache.pop('<cell %d>' % (count - 256), None)\n"
    "        cache[name] = size, None, text.splitlines(True), name\n"
    "        rc = 0\n"
    "        try:\n"
    "            exec(compile(text, name, 'exec'), main.__dict__)\n"
    "        except SystemExit as e:\n"
    "            if isinstance(e.code, int): rc = e.code & 255\n"
    "            elif e.code is not None:\n"
    "                rc = 1\n"
    "                try: print(e.code, file=sys.stderr)\n"
    "                except BaseException: pass\n"
    "        except BaseException as e:\n"
    "            rc = 1\n"
    "            try: show(type(e), e, e.__traceback__.tb_next)\n"
    "            except BaseException: pass\n"
    "        try: sys.stdout.flush()\n"
    "        except BaseException: pass\n"
    "        try: sys.stderr.flush()\n"
    "        except BaseException: pass\n"
    "        if getpid() != me: end(rc)\n"
    "        write(3, nonce + b' %d\\n' % rc)\n"
    "serve()\n";

int
kernel_start(struct jail *J)
{
	char *argv[] = {(char[]){"python3"}, (char[]){"-I"}, (char[]){"-c"},
	    (char *)(uintptr_t)source, NULL};
	struct guest_how how = {
	    .path = "/usr/bin/python3", .argv = argv, .dir = -1};
	int sv[2];

	if (J->kernel.pid != 0 && !J->kernel.dead)
		return (kill(J->kernel.pid, SIGCONT));
	guest_close(&J->kernel);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return (-1);
	how.extra = sv[1];
	how.ctl = sv[0];
	if (fcntl(sv[0], F_SETFL, O_NONBLOCK) ||
	    guest_start(J, &how, &J->kernel)) {
		(void)close(sv[0]);
		(void)close(sv[1]);
		return (-1);
	}
	(void)close(sv[1]);
	return (0);
}

int
kernel_ask(char nonce[static KERNEL_NONCE + 1], const char *code, size_t len,
    struct buf *b)
{
	unsigned char h[4];

	if (id_hex(nonce, KERNEL_NONCE))
		return (-1);
	h[0] = (unsigned char)(len >> 24);
	h[1] = (unsigned char)(len >> 16);
	h[2] = (unsigned char)(len >> 8);
	h[3] = (unsigned char)len;
	if (buf_put(b, h, sizeof(h)) || buf_put(b, nonce, KERNEL_NONCE) ||
	    buf_put(b, code, len))
		return (-1);
	return (0);
}

/* Is the line ${s} the end of the call ${nonce}? */
static int
is_end(const char *s, const char *nonce, int *code)
{
	uint64_t n;

	if (strncmp(s, nonce, KERNEL_NONCE) != 0 || s[KERNEL_NONCE] != ' ' ||
	    num_u64(s + KERNEL_NONCE + 1, 0, 255, &n))
		return (0);
	*code = (int)n;
	return (1);
}

int
kernel_feed(struct kernel_line *l, const char nonce[static KERNEL_NONCE + 1],
    const char *p, size_t len, int *code)
{

	for (; len > 0; p++, len--) {
		if (*p != '\n') {
			if (l->n < sizeof(l->text))
				l->text[l->n++] = *p;
			continue;
		}
		if (l->n < sizeof(l->text)) {
			l->text[l->n] = '\0';
			if (is_end(l->text, nonce, code))
				return (1);
		}
		l->n = 0;
	}
	return (0);
}
