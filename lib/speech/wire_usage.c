#include "speech/pick.h"
#include "speech/wire_usage.h"

void
wire_usage(
    struct usage *usage, struct jspan v, const struct wire_usage_names *names)
{
	struct usage u = {0};
	uint64_t all;

	if (pick_tokens(pick_member(v, names->input), &all) ||
	    pick_tokens(pick_member(v, names->output), &u.output))
		return;
	u.known = 1;
	u.has_cached =
	    pick_tokens(pick_member(pick_member(v, names->input_details),
			    "cached_tokens"),
		&u.cached) == 0;
	u.has_reasoning =
	    pick_tokens(pick_member(pick_member(v, names->output_details),
			    "reasoning_tokens"),
		&u.reasoning) == 0;
	/* The cached ones are among the input's. */
	u.input = all > u.cached ? all - u.cached : 0;
	*usage = u;
}
