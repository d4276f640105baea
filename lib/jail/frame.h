#ifndef JAIL_FRAME_H_
#define JAIL_FRAME_H_

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * What passes between a worker and a session's supervisor, over a unix socket
 * in the session's directory, one connection a call:
 *	worker:     ASK, and for a put DATA ... LAST
 *	supervisor: BEGUN, any of OUT ERR DATA FILE CALL, then DONE, and it
 *	closes.
 * A frame is its tag (1 byte), the length of what follows (4 bytes, big endian)
 * and that.  ASK, LAST, FILE and DONE hold a message (struct msg), the others
 * plain bytes.  A worker that closes its end before DONE has given up: whatever
 * it asked for is stopped.
 */
enum frame_tag {
	FRAME_ASK = 'A',
	FRAME_DATA = 'D',
	FRAME_LAST = 'L',
	FRAME_BEGUN = 'B', /* The call's turn has come. */
	FRAME_OUT = 'O',
	FRAME_ERR = 'E',
	FRAME_OUT_END = 'o', /* The end of what was longer than half of that. */
	FRAME_ERR_END = 'e',
	FRAME_FILE = 'F',
	FRAME_CALL = 'C', /* A tool call that a program asks for. */
	FRAME_DONE = 'Z'
};

#define FRAME_HEAD 5
#define FRAME_MAX (4U << 20) /* Bytes after the head. */
#define FRAME_PIECE 65536U   /* Of a file's bytes, at most so many a frame. */

enum frame_rc {
	FRAME_OK,
	FRAME_MORE, /* Not all of it is there yet. */
	FRAME_CLOSED,
	FRAME_BROKEN /* Not a frame, or over the limit; or a failed read. */
};

/* A frame's head, read. */
struct frame {
	enum frame_tag tag;
	size_t len;
};

/**
 * frame_parse(p, n, max, f):
 * Read the head of the frame that begins the ${n} bytes at ${p} into ${f}.
 * FRAME_OK; FRAME_MORE if ${n} < FRAME_HEAD; FRAME_BROKEN for an unknown tag or
 * a length over ${max}.
 */
enum frame_rc frame_parse(const void *, size_t, size_t, struct frame *);

/**
 * frame_put(b, tag, p, len):
 * Append a frame.  Return 0, or -1 with ${b} spoiled.
 */
int frame_put(struct buf *, enum frame_tag, const void *, size_t);

/**
 * frame_send(fd, tag, p, len):
 * Send a frame, waiting as long as the socket's send timeout allows.  Return 0,
 * or -1 if it did not all go.
 */
int frame_send(int, enum frame_tag, const void *, size_t);

/**
 * frame_flush(fd, b):
 * Send all of ${b} likewise.
 */
int frame_flush(int, const struct buf *);

/**
 * frame_trickle(fd, b):
 * Send what of ${b} goes without waiting, and remove that from ${b}.  Return 0,
 * or -1 if nothing will go any more.
 */
int frame_trickle(int, struct buf *);

/**
 * frame_recv(fd, tag, body):
 * Read one frame, its bytes replacing what ${body} holds, and at most as many
 * as ${body} may hold.  FRAME_OK, FRAME_CLOSED (before its first byte) or
 * FRAME_BROKEN (the socket's receive timeout included).
 */
enum frame_rc frame_recv(int, enum frame_tag *, struct buf *);

/* The members of messages; those with MSG_NUMBER are numbers, others texts. */
#define MSG_NUMBER 0x80
#define MSG_KEYS 64 /* Texts, and as many numbers. */

enum msg_key {
	/* Asked for. */
	MSG_TEXT = 1, /* A command or program. */
	MSG_PATH,
	MSG_EDIT, /* The editor's command. */
	MSG_FILE_TEXT,
	MSG_OLD,
	MSG_NEW,
	MSG_NOTE,    /* Answered: what the sandbox itself has to say. */
	MSG_COMPILE, /* Words (words.h) of a command, */
	MSG_RUN,     /* of another, */
	MSG_ENV,     /* and of what its environment has besides. */
	MSG_INPUTS,  /* Words, three a file: see manifest.h. */
	MSG_SHA,     /* Answered: a file's SHA-256 in hex. */
	MSG_DIFF,    /* Answered: see struct edited. */
	MSG_BROKEN,  /* Answered: why what it asked for cannot be told. */
	MSG_OP = MSG_NUMBER | 1, /* enum op */
	MSG_DEADLINE,            /* On clock_ms()'s clock. */
	MSG_LIMIT,               /* Seconds that the caller asked for. */
	MSG_LINE,
	MSG_FIRST,
	MSG_LAST,          /* 0 = to the end. */
	MSG_COMPILE_LIMIT, /* Seconds. */
	MSG_MEMORY,        /* Bytes that it may use, */
	MSG_SPACE,         /* of addresses that it needs, */
	MSG_KEEP,          /* and of each output stream that are wanted. */
	MSG_STREAM,        /* 1: output is told as it comes. */
	MSG_SETTLE,        /* Milliseconds after which it asks for no more. */
	MSG_IDLE,          /* Seconds, as in struct limits. */
	MSG_LIFETIME,
	/* Answered. */
	MSG_STATUS, /* enum reply */
	MSG_CODE,   /* Return code. */
	MSG_MS,
	MSG_OUT_DROPPED,
	MSG_ERR_DROPPED,
	MSG_TRUNCATED,
	MSG_SIZE,
	MSG_MTIME,     /* Unix milliseconds. */
	MSG_OVERWRITE, /* Asked for: 1: create() may replace a file. */
	MSG_EDITED,    /* enum edited_kind */
	MSG_WHY,       /* enum reply */
	MSG_LINES,
	MSG_TOTAL,
	MSG_NEW_FIRST,
	MSG_NEW_LINES,
	MSG_UPDATE,
	MSG_STATE, /* enum manifest_state */
	MSG_END,   /* enum call_end */
	MSG_STAGE, /* enum program_stage */
	MSG_SIGNAL
};

/* What a supervisor can be asked for. */
enum op {
	OP_BASH = 1,
	OP_PYTHON,
	OP_RUN,
	OP_EDIT,
	OP_PUT,
	OP_GET,
	OP_LIST,
	OP_CLAIM,  /* A ready session becomes somebody's, with these times. */
	OP_RETIRE, /* The session ends. */
	OP_END
};

/* What became of it. */
enum reply {
	REPLY_OK,
	REPLY_BAD,       /* The request makes no sense. */
	REPLY_NONE,      /* No such file or directory. */
	REPLY_OUTSIDE,   /* The path leaves the workspace. */
	REPLY_DIRECTORY, /* Is a directory. */
	REPLY_NAME,      /* Hidden, or a name that no file can have. */
	REPLY_FULL,      /* No room in the workspace. */
	REPLY_LATE,      /* The deadline passed before its turn came. */
	REPLY_FAIL
};

/* A message, read; points into the bytes it was read from. */
struct msg {
	const char *text[MSG_KEYS]; /* NUL-terminated; NULL if absent. */
	size_t len[MSG_KEYS];
	uint64_t num[MSG_KEYS];
	uint64_t has; /* Bit of each number that is there. */
};

/**
 * msg_text(b, key, p, len), msg_num(b, key, n):
 * Append a member.  ${p} holds no NUL.  Return 0, or -1 with ${b} spoiled.
 */
int msg_text(struct buf *, enum msg_key, const char *, size_t);
int msg_num(struct buf *, enum msg_key, uint64_t);

/**
 * msg_parse(p, len, m):
 * Read all of the ${len} bytes at ${p} into ${m}.  Return 0, or -1 if they are
 * not a message: an unknown or repeated key, a text with a NUL inside, bytes
 * missing.
 */
int msg_parse(const char *, size_t, struct msg *);

/**
 * msg_get(m, key), msg_get_num(m, key, otherwise):
 * The text under ${key}, or NULL; the number under ${key}, or ${otherwise}.
 */
const char *msg_get(const struct msg *, enum msg_key);
uint64_t msg_get_num(const struct msg *, enum msg_key, uint64_t);

#endif /* !JAIL_FRAME_H_ */
