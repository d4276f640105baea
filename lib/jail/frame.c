#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <string.h>

#include "jail/frame.h"

static const char tags[] = {FRAME_ASK, FRAME_DATA, FRAME_LAST, FRAME_BEGUN,
    FRAME_OUT, FRAME_ERR, FRAME_OUT_END, FRAME_ERR_END, FRAME_FILE, FRAME_CALL,
    FRAME_DONE};

static void
put_u32(unsigned char *p, size_t n)
{

	p[0] = (unsigned char)(n >> 24);
	p[1] = (unsigned char)(n >> 16);
	p[2] = (unsigned char)(n >> 8);
	p[3] = (unsigned char)n;
}

static size_t
get_u32(const unsigned char *p)
{

	return ((size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 |
	    (size_t)p[3]);
}

enum frame_rc
frame_parse(const void *p, size_t n, size_t max, struct frame *f)
{
	const unsigned char *h = p;

	if (n < FRAME_HEAD)
		return (FRAME_MORE);
	if (memchr(tags, h[0], sizeof(tags)) == NULL || get_u32(h + 1) > max)
		return (FRAME_BROKEN);
	f->tag = (enum frame_tag)h[0];
	f->len = get_u32(h + 1);
	return (FRAME_OK);
}

int
frame_put(struct buf *b, enum frame_tag tag, const void *p, size_t len)
{
	unsigned char h[FRAME_HEAD];

	h[0] = (unsigned char)tag;
	put_u32(h + 1, len);
	if (buf_put(b, h, sizeof(h)) || buf_put(b, p, len))
		return (-1);
	return (0);
}

/* Send ${iov}, however many calls it takes. */
static int
send_all(int fd, struct iovec *iov, size_t n)
{
	struct msghdr mh;
	ssize_t sent;

	while (n > 0) {
		if (iov->iov_len == 0) {
			iov++;
			n--;
			continue;
		}
		memset(&mh, 0, sizeof(mh));
		mh.msg_iov = iov;
		mh.msg_iovlen = n;
		if ((sent = sendmsg(fd, &mh, MSG_NOSIGNAL)) == -1) {
			if (errno == EINTR)
				continue;
			return (-1);
		}
		for (; n > 0 && (size_t)sent >= iov->iov_len; iov++, n--)
			sent -= (ssize_t)iov->iov_len;
		if (n > 0) {
			iov->iov_base = (char *)iov->iov_base + sent;
			iov->iov_len -= (size_t)sent;
		}
	}
	return (0);
}

int
frame_send(int fd, enum frame_tag tag, const void *p, size_t len)
{
	unsigned char h[FRAME_HEAD];
	struct iovec iov[2];

	h[0] = (unsigned char)tag;
	put_u32(h + 1, len);
	iov[0].iov_base = h;
	iov[0].iov_len = sizeof(h);
	iov[1].iov_base = (void *)(uintptr_t)p;
	iov[1].iov_len = len;
	return (send_all(fd, iov, 2));
}

int
frame_flush(int fd, const struct buf *b)
{
	struct iovec iov;

	iov.iov_base = b->p;
	iov.iov_len = b->len;
	return (send_all(fd, &iov, 1));
}

int
frame_trickle(int fd, struct buf *b)
{
	ssize_t n;

	while (b->len > 0) {
		n = send(fd, b->p, b->len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0)
			buf_drop(b, (size_t)n);
		else if (errno == EAGAIN)
			break;
		else if (errno != EINTR)
			return (-1);
	}
	return (0);
}

/* Read exactly ${len} bytes; return how many came before the end. */
static ssize_t
recv_all(int fd, void *p, size_t len)
{
	size_t got = 0;
	ssize_t n;

	while (got < len) {
		n = recv(fd, (char *)p + got, len - got, 0);
		if (n == 0)
			break;
		if (n == -1) {
			if (errno == EINTR)
				continue;
			return (-1);
		}
		got += (size_t)n;
	}
	return ((ssize_t)got);
}

enum frame_rc
frame_recv(int fd, enum frame_tag *tag, struct buf *body)
{
	unsigned char h[FRAME_HEAD];
	char piece[16384];
	struct frame f;
	size_t n;
	ssize_t got;

	buf_drop(body, body->len);
	if ((got = recv_all(fd, h, sizeof(h))) == 0)
		return (FRAME_CLOSED);
	if (got != sizeof(h) ||
	    frame_parse(h, sizeof(h), body->max, &f) != FRAME_OK)
		return (FRAME_BROKEN);
	while (body->len < f.len) {
		n = f.len - body->len;
		if (n > sizeof(piece))
			n = sizeof(piece);
		if (recv_all(fd, piece, n) != (ssize_t)n ||
		    buf_put(body, piece, n))
			return (FRAME_BROKEN);
	}
	*tag = f.tag;
	return (FRAME_OK);
}

int
msg_text(struct buf *b, enum msg_key key, const char *p, size_t len)
{
	unsigned char h[5];

	h[0] = (unsigned char)key;
	put_u32(h + 1, len);
	if (buf_put(b, h, sizeof(h)) || buf_put(b, p, len) || buf_put(b, "", 1))
		return (-1);
	return (0);
}

int
msg_num(struct buf *b, enum msg_key key, uint64_t n)
{
	unsigned char h[9];

	h[0] = (unsigned char)key;
	put_u32(h + 1, (size_t)(n >> 32));
	put_u32(h + 5, (size_t)(n & 0xffffffffU));
	return (buf_put(b, h, sizeof(h)));
}

/* The text member at ${p}, of which ${len} bytes are there; its size, or 0. */
static size_t
take_text(const char *p, size_t len, unsigned int key, struct msg *m)
{
	size_t n;

	if (len < 6 || key == 0 || key >= MSG_KEYS || m->text[key] != NULL)
		return (0);
	n = get_u32((const unsigned char *)p + 1);
	if (n > len - 6 || p[5 + n] != '\0' || memchr(p + 5, 0, n) != NULL)
		return (0);
	m->text[key] = p + 5;
	m->len[key] = n;
	return (n + 6);
}

static size_t
take_num(const char *p, size_t len, unsigned int key, struct msg *m)
{
	const unsigned char *u = (const unsigned char *)p;

	if (len < 9 || key == 0 || key >= MSG_KEYS || m->has & 1ULL << key)
		return (0);
	m->num[key] = (uint64_t)get_u32(u + 1) << 32 | get_u32(u + 5);
	m->has |= 1ULL << key;
	return (9);
}

int
msg_parse(const char *p, size_t len, struct msg *m)
{
	unsigned int key;
	size_t n;

	memset(m, 0, sizeof(*m));
	for (; len > 0; p += n, len -= n) {
		key = (unsigned char)*p;
		if (key & MSG_NUMBER)
			n = take_num(p, len, key & ~MSG_NUMBER, m);
		else
			n = take_text(p, len, key, m);
		if (n == 0)
			return (-1);
	}
	return (0);
}

const char *
msg_get(const struct msg *m, enum msg_key key)
{

	return (m->text[key]);
}

uint64_t
msg_get_num(const struct msg *m, enum msg_key key, uint64_t otherwise)
{
	unsigned int n = (unsigned int)key & ~MSG_NUMBER;

	return (m->has & 1ULL << n ? m->num[n] : otherwise);
}
