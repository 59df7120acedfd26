/* SPDX-License-Identifier: MIT */
#include "util/write_behind.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "util/alloc.h"
#include "util/write_all.h"

#define SLOTS     4u
#define SLOT_SIZE ((size_t)512 << 10)

struct write_behind {
	int fd;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* used by the thread that adds: */
	size_t used; /* of the slot that is being filled */
	/* used by both threads, with the lock: */
	unsigned int filled, written; /* numbers of slots so far; those between wait */
	bool is_over;
	int error;
	/*
	 * a slot belongs to the thread that adds until it is filled, then to the writer until it is
	 * written:
	 */
	size_t sizes[SLOTS];
	char slots[SLOTS][SLOT_SIZE];
};

/* The next slot that is full; false: there will be none. */
static bool await_slot(struct write_behind *behind, unsigned int *ret)
{
	(void)pthread_mutex_lock(&behind->lock);
	while (behind->filled == behind->written && !behind->is_over)
		(void)pthread_cond_wait(&behind->changed, &behind->lock);
	bool is_there = behind->filled != behind->written;
	*ret = behind->written % SLOTS;
	(void)pthread_mutex_unlock(&behind->lock);
	return is_there;
}

static void *write_slots(void *arg)
{
	struct write_behind *behind = arg;
	int error = 0;
	for (unsigned int slot; await_slot(behind, &slot);) {
		/* After an error the other slots are only skipped. */
		if (!error) {
			error = write_all(behind->fd, behind->slots[slot], behind->sizes[slot],
					  NULL);
		}
		(void)pthread_mutex_lock(&behind->lock);
		behind->error = error;
		behind->written++;
		(void)pthread_cond_signal(&behind->changed);
		(void)pthread_mutex_unlock(&behind->lock);
	}
	return NULL;
}

/* Pass on the current slot, and wait for a free one; false: a write failed. */
static bool hand_over(struct write_behind *behind)
{
	(void)pthread_mutex_lock(&behind->lock);
	behind->sizes[behind->filled % SLOTS] = behind->used;
	behind->filled++;
	behind->used = 0;
	(void)pthread_cond_signal(&behind->changed);
	while (behind->filled - behind->written == SLOTS)
		(void)pthread_cond_wait(&behind->changed, &behind->lock);
	bool is_good = !behind->error;
	(void)pthread_mutex_unlock(&behind->lock);
	return is_good;
}

struct write_behind *write_behind_begin(int fd)
{
	struct write_behind *behind = mem_alloc(1, sizeof(*behind));
	if (!behind)
		return NULL;
	memset(behind, 0, offsetof(struct write_behind, slots));
	behind->fd = fd;
	(void)pthread_mutex_init(&behind->lock, NULL);
	(void)pthread_cond_init(&behind->changed, NULL);
	sigset_t all, old; /* signals stay with the calling thread */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	int code = pthread_create(&behind->thread, NULL, write_slots, behind);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!code)
		return behind;
	(void)pthread_cond_destroy(&behind->changed);
	(void)pthread_mutex_destroy(&behind->lock);
	mem_free(behind);
	return NULL;
}

bool write_behind_add(struct write_behind *behind, const char *bytes, size_t size)
{
	while (size) {
		size_t some = SLOT_SIZE - behind->used;
		if (some > size)
			some = size;
		memcpy(behind->slots[behind->filled % SLOTS] + behind->used, bytes, some);
		behind->used += some;
		bytes += some;
		size -= some;
		if (behind->used == SLOT_SIZE && !hand_over(behind))
			return false;
	}
	return true;
}

int write_behind_end(struct write_behind *behind)
{
	if (behind->used)
		(void)hand_over(behind);
	(void)pthread_mutex_lock(&behind->lock);
	behind->is_over = true;
	(void)pthread_cond_signal(&behind->changed);
	(void)pthread_mutex_unlock(&behind->lock);
	(void)pthread_join(behind->thread, NULL);
	int error = behind->error;
	(void)pthread_cond_destroy(&behind->changed);
	(void)pthread_mutex_destroy(&behind->lock);
	mem_free(behind);
	return error;
}
