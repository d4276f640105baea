#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

#include "http/jwk.h"

#define AGAIN_MS 5000 /* Read the keys anew as often as this. */

struct jwk_ring {
	struct jwk_source src;
	pthread_mutex_t lock;
	struct jwk_set *set; /* NULL: none has been read yet. */
	uint64_t next;       /* clock_ms() of the next reading. */
	const char *said;    /* What was logged last, so that it is once. */
};

struct jwk_ring *
jwk_ring_new(const struct jwk_source *src)
{
	struct jwk_ring *ring;

	if ((ring = calloc(1, sizeof(*ring))) == NULL)
		return (NULL);
	ring->src = *src;
	(void)pthread_mutex_init(&ring->lock, NULL);
	return (ring);
}

void
jwk_ring_free(struct jwk_ring *ring)
{

	if (ring == NULL)
		return;
	jwk_set_free(ring->set);
	(void)pthread_mutex_destroy(&ring->lock);
	free(ring);
}

static void
refresh(struct jwk_ring *ring)
{
	const struct jwk_source *src = &ring->src;
	struct jwk_set *set;
	const char *why;

	if (ring->next != 0 && clock_ms() < ring->next)
		return;
	ring->next = clock_ms() + AGAIN_MS;
	if (jwk_set_load(src, &set, &why) == 0) {
		jwk_set_free(ring->set);
		ring->set = set;
		ring->said = NULL;
		return;
	}
	if (ring->said != why)
		log_err("jwk: %s %s%s",
		    src->jwks_file != NULL     ? src->jwks_file
			: src->pem_dir != NULL ? src->pem_dir
					       : src->pem_file,
		    why, ring->set != NULL ? "; the old keys stay" : "");
	ring->said = why;
}

int
jwk_ring_find(
    struct jwk_ring *ring, const char *kid, const char *type, EVP_PKEY **key)
{
	int rc = -1;

	*key = NULL;
	pthread_mutex_lock(&ring->lock);
	refresh(ring);
	if (ring->set != NULL) {
		*key = jwk_set_find(ring->set, kid, type);
		if (*key != NULL)
			(void)EVP_PKEY_up_ref(*key);
		rc = 0;
	}
	pthread_mutex_unlock(&ring->lock);
	return (rc);
}
