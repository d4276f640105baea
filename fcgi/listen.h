#ifndef FCGI_LISTEN_H_
#define FCGI_LISTEN_H_

/* Where requests come from, and the descriptors they need. */

/**
 * listen_open(where):
 * Listen on the unix socket ${where} (it holds a '/'; mode 0660) or on the
 * numeric HOST:PORT.  Replaces a socket nobody listens on any more, never a
 * live one or another kind of file.  Return the descriptor, or -1 after logging
 * why not.
 */
int listen_open(const char *);

/**
 * listen_given():
 * The listening socket this process was started with: on standard input
 * (spawn-fcgi, a web server), or the one systemd passes.  -1 if there is none.
 */
int listen_given(void);

/**
 * listen_close(fd, where):
 * Close ${fd}, and remove the unix socket ${where} unless that is NULL or now
 * another's.
 */
void listen_close(int, const char *);

/**
 * listen_raise_nofile():
 * Raise the limit on descriptors as far as it may go, up to 65,536.
 */
void listen_raise_nofile(void);

#endif /* !FCGI_LISTEN_H_ */
