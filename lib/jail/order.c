#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/order.h"
#include "jail/pass.h"

#define TEXT_MAX 8192

int
order_send(int sock, const struct limits *l, const int fds[static ORDER_FDS])
{
	char words[LIMITS_WORDS][LIMITS_WORD], text[TEXT_MAX];
	size_t i, len = 0;

	limits_write(l, words);
	for (i = 0; i < LIMITS_WORDS; i++)
		len += (size_t)snprintf(
		    text + len, sizeof(text) - len, "%s\n", words[i]);
	return (pass_send(sock, text, len, fds, ORDER_FDS));
}

/* Each line is a word, and the last one ends too. */
static int
read_limits(char *text, struct limits *l)
{
	char *words[LIMITS_WORDS], *word;
	size_t n = 0;

	while ((word = strsep(&text, "\n")) != NULL && text != NULL) {
		if (n == LIMITS_WORDS)
			return (-1);
		words[n++] = word;
	}
	return (word == NULL || *word != '\0' ? -1 : limits_read(words, n, l));
}

enum order_rc
order_next(int sock, struct order *o)
{
	char text[TEXT_MAX];
	ssize_t n;

	while ((n = pass_recv(
		    sock, text, sizeof(text) - 1, o->fd, ORDER_FDS, 0)) == -1)
		if (errno != EINTR)
			return (ORDER_GONE);
	if (n == 0)
		return (ORDER_GONE);
	text[n] = '\0';
	if (o->fd[0] == -1 || strlen(text) != (size_t)n ||
	    read_limits(text, &o->lim))
		return (ORDER_BAD);
	return (ORDER_OK);
}

void
order_drop(struct order *o)
{
	int i;

	for (i = 0; i < ORDER_FDS; i++) {
		if (o->fd[i] != -1)
			(void)close(o->fd[i]);
		o->fd[i] = -1;
	}
}
