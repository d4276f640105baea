#include <string.h>

#include "data/admin.h"

#include "data/role.h"

/* What an operator types and reads, and what the table api_key holds. */
static const struct {
	const char *name, *word;
} roles[] = {
    [ROLE_USER] = {"user", "user"},
    [ROLE_WORKSPACE_ADMIN] = {"workspace-admin", "workspace_admin"},
    [ROLE_MANAGEMENT] = {"management", "management"},
};
#define NROLES (sizeof(roles) / sizeof(roles[0]))

const char *
role_name(enum role r)
{

	return (roles[r].name);
}

int
role_parse(const char *s, enum role *r)
{
	size_t i;

	for (i = 0; i < NROLES; i++)
		if (strcmp(s, roles[i].name) == 0) {
			*r = (enum role)i;
			return (0);
		}
	return (-1);
}

const char *
role_word(enum role r)
{

	return (roles[r].word);
}

int
role_of_word(const char *s, enum role *r)
{
	size_t i;

	for (i = 0; i < NROLES; i++)
		if (strcmp(s, roles[i].word) == 0) {
			*r = (enum role)i;
			return (0);
		}
	return (-1);
}
