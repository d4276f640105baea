#ifndef SPEECH_TALK_H_
#define SPEECH_TALK_H_

#include <stddef.h>
#include <stdint.h>

#include "base/conf.h"
#include "base/jspan.h"

#include "speech/ours.h"
#include "speech/text.h"

/*
 * A conversation and what is asked of the model, in no vendor's words.  A
 * caller's dialect reads its request into one, the turn loop adds the model's
 * own turns and the results of runs, an upstream's wire writes it.  All of it
 * lives in one arena or in the request's text.
 *
 * Turns alternate as models want them: talk_add() opens a new one where the
 * speaker changes.  Results stand at the head of the user's turn that follows
 * the calls they answer, ours as well as the caller's, however the dialect
 * ordered them.
 */

/* Opaque types. */
struct arena;
struct outcome;
struct refusal;

enum part_kind {
	PART_TEXT,
	PART_REASONING,
	PART_FILE,   /* A stored file, which the sandbox gets. */
	PART_MEDIA,  /* An image or a document that is not stored. */
	PART_CALL,   /* The assistant's. */
	PART_RESULT, /* The user's, or the sandbox's. */
};

/*
 * What a model that can is shown of a file.  A dialect's reader says what it
 * read; what the model cannot take as it is has become text before a wire
 * writes it, and a stored file that it can take has its bytes here.
 */
struct media {
	int image;          /* Else a document. */
	const char *name;   /* A document's title or file name; may be NULL. */
	const char *mime;   /* NULL: not said. */
	struct text data;   /* Base64 without line ends; p NULL: none. */
	struct text url;    /* Where its bytes are; never fetched here. */
	const char *detail; /* As OpenAI has it for images; may be NULL. */
};

struct part {
	struct part *next;
	enum part_kind kind;
	int ours;             /* CALL, RESULT: run by this gateway. */
	struct text text;     /* CALL: its arguments as JSON text.  FILE: the
			    * marker, once seeded.  FILE, MEDIA: what is
			    * said in its place. */
	const char *id;       /* CALL, RESULT: the call's.  FILE: the file's, as
			    * it was sent. */
	const char *name;     /* CALL: the function. */
	const char *where;    /* FILE, CALL, RESULT: JSON path, or NULL. */
	int is_error;         /* RESULT */
	int newest;           /* FILE, MEDIA: in the user's newest turn... */
	struct part *result;  /* ...where this RESULT shows it; or NULL. */
	struct text instruct; /* TEXT: it is an instruction in mid-conversation,
			       * which ${text} says with a mark; p NULL: it is
			       * none. */
	int developer;        /* The caller called that the developer's. */
	struct media *media;  /* MEDIA; FILE unless it is for code only. */
	struct outcome *outcome; /* RESULT of ours, echoed: not yet text. */
};

#define TALK_CALLS_MAX 128  /* In one message. */
#define TALK_TOOLS_MAX 2048 /* Each is looked for among all others. */
#define TALK_USES_MAX 10000 /* Likewise. */

enum speaker { TALK_USER, TALK_ASSISTANT };

struct turn {
	struct turn *next, *prev;
	enum speaker who;
	struct part *first, **end;
	size_t ncalls;
	struct part *clear; /* Up to here there is no call of ours. */
};

/* A function of the caller's. */
struct tool {
	struct tool *next;
	const char *name;
	struct text description; /* p NULL: none. */
	struct jspan schema;     /* As sent; p NULL: none. */
	int strict;              /* -1: not said. */
	int plain;               /* Its one argument is a text, "input". */
	const char *caller;      /* Code of ours may call it: the vendor's word
				  * for that; NULL: it may not. */
	int indirect;            /* Nobody else may. */
};

/* A call of a function of the caller's that code of ours has made, as his
 * history holds it: the model knows nothing of it. */
struct code_use {
	struct code_use *next;
	const char *id;
	const char *run; /* The id of our call that made it. */
	uint64_t number; /* From 1, among those of that. */
	const char *where;
	int answered, newest; /* newest: by the user's newest turn. */
	struct text result;
	int is_error;
};

enum choice {
	CHOICE_UNSAID,
	CHOICE_AUTO,
	CHOICE_ANY,
	CHOICE_NAMED,
	CHOICE_NONE
};

/* Where code of this turn runs, as the caller is told. */
struct talk_container {
	const char *id;   /* Without a prefix. */
	uint64_t expires; /* Seconds since 1970. */
};

/* The container that a caller asks for. */
struct talk_ask {
	const char *id;    /* Without a prefix; NULL: none of ours. */
	const char *where; /* JSON path of that. */
	int mild;          /* Found in his history: if it is gone, so be it. */
	int renew;         /* If its time is over: another with its files. */
	const char *said; /* As he said it, where an error names it; or NULL. */
};

struct talk {
	struct arena *mem;
	const char *model; /* As the caller said it. */
	uint64_t now;      /* When he did, in seconds since 1970. */
	const char *base;  /* The address that he knows this gateway by. */
	int stream;        /* He wants the answer as it comes. */
	const struct talk_container *container; /* NULL: none. */
	struct talk_ask ask;
	int forgets; /* The caller cannot be told of his container. */
	struct text system;
	int developer; /* Some of it the caller called the developer's. */
	struct turn *first, *last;

	struct tool *tools, **tools_end;
	size_t ntools;
	struct tool *code_tools; /* Those that code of ours may call. */
	struct text code_says;   /* What OUR_CODE is said to be then. */
	struct text our_facts;   /* What else is said of what runs code. */
	struct text our_says[OUR_COUNT]; /* talk_our_facts()'s own. */
	struct code_use *uses, **uses_end;
	size_t nuses;
	unsigned int ours; /* Bits of enum our_tool. */
	int here;     /* Code finds no /mnt/data, only its current directory. */
	int quiet;    /* The caller is shown none of our calls. */
	int pictures; /* He is shown the images that they make. */
	const char *mint; /* What ids of those that he is shown begin with. */
	size_t mint_len;  /* And how many characters follow. */
	const char *seed; /* The first of these, in all ids of one answer; or
			   * NULL. */
	const char *our_name[OUR_COUNT]; /* As offered to the model. */

	enum choice choice;
	const char *choice_name;
	int parallel; /* 0: one call a message; -1: not said. */

	uint64_t max_tokens; /* 0: not said. */
	struct text *stops;
	size_t nstops;
	struct jspan temperature, top_p, top_k; /* As sent; p NULL: no. */
	struct jspan format;                    /* JSON schema of the answer. */
	const char *format_name;                /* NULL: not said. */
	int format_strict;                      /* -1: not said. */
	int json_only;                          /* The answer is an object. */
	const char *effort, *verbosity;         /* NULL: not said. */
	int hide_reasoning;
	const char *user;   /* Hashed. */
	uint64_t rounds;    /* 0: not said. */
	uint64_t max_calls; /* Of ours that may run; 0: not said. */

	/* For a dialect that repeats its request in the answer; p NULL: none
	 * does. */
	struct jspan asked;

	/* A list of the items of earlier answers that this one goes on from,
	 * for a dialect that keeps them; p NULL: of none.  Set before the
	 * request is read. */
	struct jspan before;

	/* Members that only the wire of the caller's own dialect knows, as
	 * they were sent, each after a comma; len 0: none. */
	enum conf_wire passed_to;
	struct text passed;
	int format_passed; /* It is among them. */
};

/**
 * talk_new(mem):
 * Return an empty talk in ${mem}, or NULL.
 */
struct talk *talk_new(struct arena *);

/**
 * talk_add(t, who, kind):
 * Add a part of ${kind} said by ${who} (a RESULT goes to the user) and return
 * it, to be filled in before the next; or NULL if memory ran out.  A call of
 * ours that has no result when the assistant goes on gets one that says so.
 */
struct part *talk_add(struct talk *, enum speaker, enum part_kind);

/**
 * talk_media(t, who, id):
 * Add a PART_FILE with this ${id}, or with NULL a PART_MEDIA, and an empty
 * struct media.  Return it, or NULL.
 */
struct part *talk_media(struct talk *, enum speaker, const char *);

/**
 * talk_instruct(t, x, developer):
 * Add the instruction ${x}, called the ${developer}'s or the system's, where
 * the conversation stands, as a text of the user's with a mark before it.
 * Return 0, or -1 if memory ran out.
 */
int talk_instruct(struct talk *, struct text, int);

/**
 * talk_tool(t):
 * Add a function of the caller's and return it, or NULL.
 */
struct tool *talk_tool(struct talk *);

/**
 * talk_offer(t):
 * Settle the names under which our functions are offered, once the caller's
 * are known.  Return 0 or -1.
 */
int talk_offer(struct talk *);

#define CALL_ID_SIZE 34

/**
 * call_id(id):
 * Write a new id for a call of a function of the caller's.  Return 0 or -1.
 */
int call_id(char[static CALL_ID_SIZE]);

/**
 * call_id_is(id):
 * Is ${id} of the form that call_id() gives?
 */
int call_id_is(const char *);

#define TALK_IDMAX 47

/**
 * talk_id(t, n, id):
 * Write ${n} characters for an id of this answer: the seed, if there is one,
 * then random ones.  Return 0 or -1.
 */
int talk_id(const struct talk *, size_t, char *);

/**
 * talk_mint(t, id):
 * Write a new id for a call of ours, as the caller's dialect forms it.  Return
 * 0 or -1.
 */
int talk_mint(const struct talk *, char[static TALK_IDMAX + 1]);

/**
 * talk_ours(t, name):
 * Which of our functions a model means by ${name}, misnamed ones included;
 * OUR_NONE if it is the caller's or nobody's.
 */
enum our_tool talk_ours(const struct talk *, const char *);

/**
 * talk_has_tool(t, name):
 * Has the caller a function of this name?
 */
int talk_has_tool(const struct talk *, const char *);

/**
 * talk_find_tool(t, name):
 * The caller's function of this name, or NULL.
 */
const struct tool *talk_find_tool(const struct talk *, const char *);

/**
 * talk_find_call(t, id):
 * The call with this id, or NULL.
 */
struct part *talk_find_call(const struct talk *, const char *);

/**
 * talk_open_call(t, id):
 * The same, but only among the calls that a result added now would answer.
 */
struct part *talk_open_call(const struct talk *, const char *);

/**
 * talk_settle(t, why):
 * Close the conversation and check that a model can be asked: it is not empty,
 * every call has exactly one result right after it and every result a call.  No
 * id stands twice any more, and the arguments of every call are an object.
 * Return 0, or -1 with ${why} naming the position.
 */
int talk_settle(struct talk *, struct refusal *);

/**
 * talk_mend(t):
 * Make of the arguments of every call a JSON object, and give every call whose
 * id stands before it already, and its result, an id of its own.  Return 0 or
 * -1.  Called by talk_settle().
 */
int talk_mend(struct talk *);

/**
 * talk_is_unanswered(p):
 * Is ${p} the result that a call of ours got because none came?
 */
int talk_is_unanswered(const struct part *);

/**
 * talk_hide(t, u, name, args, o):
 * Put a call of ours of which the caller never knew, and its outcome, into the
 * assistant's turn ${u} before his own, and at the head of what answers it.
 * Return 0 or -1.
 */
int talk_hide(
    struct talk *, struct turn *, const char *, struct text, struct outcome *);

#define CODE_USE_SIZE 64

/**
 * code_use_id(run, number, id):
 * Write the id of the call ${number} that our call ${run} has made.  Return 0,
 * or -1 if ${run} is not of the form that talk_mint() gives.
 */
int code_use_id(const char *, uint64_t, char[static CODE_USE_SIZE]);

/**
 * code_use_is(id):
 * Is ${id} of the form that code_use_id() gives?
 */
int code_use_is(const char *);

/**
 * talk_use(t, id):
 * Add a use with this ${id} of that form and return it, with run and number;
 * NULL if memory ran out.
 */
struct code_use *talk_use(struct talk *, const char *);

/**
 * talk_find_use(t, id):
 * The use with this id, or NULL.
 */
struct code_use *talk_find_use(const struct talk *, const char *);

/**
 * talk_our_facts(t, facts):
 * Have ${facts} said too of what runs code.  Return 0, or -1 if memory ran out.
 */
int talk_our_facts(struct talk *, const char *);

/**
 * talk_our_words(t, tool):
 * What a model is told that our function ${tool} does.
 */
struct text talk_our_words(const struct talk *, enum our_tool);

/**
 * talk_text(t, p, len, x):
 * Set ${x} to a copy of the ${len} bytes at ${p}, which may be NULL for none.
 * Return 0 or -1.
 */
int talk_text(struct talk *, const char *, size_t, struct text *);

#endif /* !SPEECH_TALK_H_ */
