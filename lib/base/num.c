#include <stddef.h>

#include "base/num.h"

int
num_u64(const char *s, uint64_t min, uint64_t max, uint64_t *x)
{
	uint64_t n = 0;
	unsigned int d;

	if (s == NULL || *s == '\0')
		return (-1);
	for (; *s != '\0'; s++) {
		if (*s < '0' || *s > '9')
			return (-1);
		d = (unsigned int)(*s - '0');
		if (n > (UINT64_MAX - d) / 10)
			return (-1);
		n = n * 10 + d;
	}
	if (n < min || n > max)
		return (-1);
	*x = n;
	return (0);
}

int
num_hex(char c)
{

	if (c >= '0' && c <= '9')
		return (c - '0');
	if (c >= 'a' && c <= 'f')
		return (c - 'a' + 10);
	if (c >= 'A' && c <= 'F')
		return (c - 'A' + 10);
	return (-1);
}
