#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>

#include "base/num.h"

#include "base/cidr.h"

#define MAPPED 96 /* Bits before an IPv4 address in IPv6. */

/* Read a numeric address and set ${bits} to where its own bits begin. */
static int
parse_address(const char *s, unsigned char addr[static 16], unsigned int *bits)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	*bits = 0;
	if (inet_pton(AF_INET6, s, addr) == 1)
		return (0);
	*bits = MAPPED;
	memcpy(addr, mapped, sizeof(mapped));
	return (inet_pton(AF_INET, s, addr + sizeof(mapped)) == 1 ? 0 : -1);
}

static int
bit(const unsigned char *addr, unsigned int i)
{

	return (addr[i / 8] >> (7 - i % 8) & 1);
}

int
cidr_parse(const char *s, struct cidr *c)
{
	const char *slash = strchr(s, '/');
	char address[INET6_ADDRSTRLEN];
	unsigned int base, i;
	uint64_t n;

	if (snprintf(address, sizeof(address), "%.*s",
		(int)(slash != NULL ? slash - s : (long)strlen(s)),
		s) >= (int)sizeof(address) ||
	    parse_address(address, c->addr, &base))
		return (-1);
	n = 128 - base;
	if (slash != NULL && num_u64(slash + 1, 0, n, &n))
		return (-1);
	c->bits = base + (unsigned int)n;
	for (i = c->bits; i < 128; i++)
		if (bit(c->addr, i))
			return (-1);
	return (0);
}

int
cidr_holds(const struct cidr *c, const char *address)
{
	unsigned char addr[16];
	unsigned int base, i;

	if (parse_address(address, addr, &base))
		return (0);
	for (i = 0; i < c->bits; i++)
		if (bit(addr, i) != bit(c->addr, i))
			return (0);
	return (1);
}
