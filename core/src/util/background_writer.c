/* SPDX-License-Identifier: MIT */
#include "util/background_writer.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "util/alloc.h"
#include "util/write_all.h"

#define SLOTS     4u
#define SLOT_SIZE ((size_t)512 << 10)

struct background_writer {
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
static bool await_slot(struct background_writer *writer, unsigned int *ret)
{
	(void)pthread_mutex_lock(&writer->lock);
	while (writer->filled == writer->written && !writer->is_over)
		(void)pthread_cond_wait(&writer->changed, &writer->lock);
	bool is_there = writer->filled != writer->written;
	*ret = writer->written % SLOTS;
	(void)pthread_mutex_unlock(&writer->lock);
	return is_there;
}

static void *write_slots(void *arg)
{
	struct background_writer *writer = arg;
	int error = 0;
	for (unsigned int slot; await_slot(writer, &slot);) {
		/* After an error the other slots are only skipped. */
		if (!error) {
			error = write_all(writer->fd, writer->slots[slot], writer->sizes[slot],
					  NULL);
		}
		(void)pthread_mutex_lock(&writer->lock);
		writer->error = error;
		writer->written++;
		(void)pthread_cond_signal(&writer->changed);
		(void)pthread_mutex_unlock(&writer->lock);
	}
	return NULL;
}

/* Pass on the current slot, and wait for a free one; false: a write failed. */
static bool hand_over(struct background_writer *writer)
{
	(void)pthread_mutex_lock(&writer->lock);
	writer->sizes[writer->filled % SLOTS] = writer->used;
	writer->filled++;
	writer->used = 0;
	(void)pthread_cond_signal(&writer->changed);
	while (writer->filled - writer->written == SLOTS)
		(void)pthread_cond_wait(&writer->changed, &writer->lock);
	bool is_good = !writer->error;
	(void)pthread_mutex_unlock(&writer->lock);
	return is_good;
}

struct background_writer *background_writer_begin(int fd)
{
	struct background_writer *writer = mem_alloc(1, sizeof(*writer));
	if (!writer)
		return NULL;
	memset(writer, 0, offsetof(struct background_writer, slots));
	writer->fd = fd;
	(void)pthread_mutex_init(&writer->lock, NULL);
	(void)pthread_cond_init(&writer->changed, NULL);
	sigset_t all, old; /* signals stay with the calling thread */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	int code = pthread_create(&writer->thread, NULL, write_slots, writer);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!code)
		return writer;
	(void)pthread_cond_destroy(&writer->changed);
	(void)pthread_mutex_destroy(&writer->lock);
	mem_free(writer);
	return NULL;
}

bool background_writer_add(struct background_writer *writer, const char *bytes, size_t size)
{
	while (size) {
		size_t some = SLOT_SIZE - writer->used;
		if (some > size)
			some = size;
		memcpy(writer->slots[writer->filled % SLOTS] + writer->used, bytes, some);
		writer->used += some;
		bytes += some;
		size -= some;
		if (writer->used == SLOT_SIZE && !hand_over(writer))
			return false;
	}
	return true;
}

int background_writer_end(struct background_writer *writer)
{
	if (writer->used)
		(void)hand_over(writer);
	(void)pthread_mutex_lock(&writer->lock);
	writer->is_over = true;
	(void)pthread_cond_signal(&writer->changed);
	(void)pthread_mutex_unlock(&writer->lock);
	(void)pthread_join(writer->thread, NULL);
	int error = writer->error;
	(void)pthread_cond_destroy(&writer->changed);
	(void)pthread_mutex_destroy(&writer->lock);
	mem_free(writer);
	return error;
}
