#ifndef BASE_CIDR_H_
#define BASE_CIDR_H_

/* A network, IPv4 or IPv6; one of IPv4 is kept as IPv6 maps it. */
struct cidr {
	unsigned char addr[16];
	unsigned int bits; /* Of 128. */
};

/**
 * cidr_parse(s, c):
 * Parse ${s}, "ADDRESS/BITS" or a lone address, into ${c}.  Return 0; or -1,
 * also if a bit behind the first BITS is set.
 */
int cidr_parse(const char *, struct cidr *);

/**
 * cidr_holds(c, address):
 * Does ${c} hold the numeric ${address}?
 */
int cidr_holds(const struct cidr *, const char *);

#endif /* !BASE_CIDR_H_ */
