#ifndef BASE_NFC_TABLE_H_
#define BASE_NFC_TABLE_H_

#include <stddef.h>
#include <stdint.h>

/* Unicode's data for nfc.c, each table in the order of its first member. */

/* ${whole} splits into ${first} and, unless it is 0, ${second}. */
struct nfc_split {
	uint32_t whole, first, second;
	uint32_t joins; /* And these two join into it again. */
};
extern const struct nfc_split nfc_split[];
extern const size_t nfc_split_n;

/* The combining class of the code points from ${first} to ${last}. */
struct nfc_class {
	uint32_t first, last;
	uint32_t class;
};
extern const struct nfc_class nfc_class[];
extern const size_t nfc_class_n;

#endif /* !BASE_NFC_TABLE_H_ */
