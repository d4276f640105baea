#ifndef BASE_YAMLPLAIN_H_
#define BASE_YAMLPLAIN_H_

#include <yaml.h>

/**
 * yaml_odd(ev):
 * Why the event ${ev} is none of plain YAML, which has no aliases, anchors and
 * tags, as text for a message.  NULL if it is.
 */
const char *yaml_odd(const yaml_event_t *);

#endif /* !BASE_YAMLPLAIN_H_ */
