/* SPDX-License-Identifier: MIT */
/* covers: core/src/hangs core/src/inspect/managed_lock.c */
#include <stdlib.h>
#include <string.h>

#include <heapdump/command.h>

#include "session/session_state.h"
#include "support/fake_export.h"
#include "support/fake_locks.h"
#include "util/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The commands about locks and waits, of a heap of .NET 11 whose words the input has damaged: no crash,
 * no hang.  Each change has CHANGE_SIZE bytes, little-endian:
 *
 *	u16 place  the word of the objects, or with the highest bit set of the first sync block
 *	u8  what   0: put the value in 8 bytes, 1: the address of the word that it names among the
 *	           objects, 2: the value in 4 bytes, 3: its complement in 8 bytes, 4: in 4 bytes
 *	u8  unused
 *	u16 value
 */
#define CHANGE_SIZE 6u
#define CHANGES_MAX 32u
#define IN_BLOCK    0x8000u
#define BLOCK_WORDS 8u

#define THREADS 4u

struct world {
	struct fake_locks locks;
	uint64_t begin, words, block;
};

/* A deadlock of two, one thread that waits for a pulse and has a mutex, one that waits for several. */
static void make_world(struct world *world)
{
	struct fake_locks *locks = &world->locks;
	*locks = fake_locks_create(THREADS);
	uint64_t event = fake_event(locks, FAKE_AUTO_RESET),
		 pulse = fake_event(locks, FAKE_AUTO_RESET);
	uint64_t inner = fake_event(locks, FAKE_AUTO_RESET), mutex = fake_event(locks, FAKE_MUTEX);
	uint64_t owner = fake_peek_u64(&locks->fake->memory,
				       fake_waitable(locks, mutex) + FAKE_WAITABLE_OWNER);
	uint64_t object = fake_locked(locks, fake_lock(locks, 1, 1, event));
	(void)fake_locked(locks, fake_lock(locks, 2, 1,
					   fake_condition(locks, inner,
							  (const uint64_t[]){ pulse, event, 0 })));
	fake_poke_u64(&locks->fake->memory, owner + 8, locks->threads[2]);
	fake_wait(locks, 0, false, (const uint64_t[]){ inner, 0 });
	fake_wait(locks, 1, false, (const uint64_t[]){ event, 0 });
	fake_wait(locks, 2, false, (const uint64_t[]){ pulse, 0 });
	fake_wait(locks, 3, true, (const uint64_t[]){ mutex, event, 0 });
	world->begin = locks->threads[0];
	world->words = (fake_end(locks->fake) - world->begin) / 8;
	world->block = fake_block(locks, object);
}

static void change(struct world *world, const uint8_t *data)
{
	struct fake_memory *memory = &world->locks.fake->memory;
	uint16_t place = load_u16(data), value = load_u16(data + 4);
	uint64_t at = place & IN_BLOCK ? world->block + 8u * (place % BLOCK_WORDS)
				       : world->begin + 8 * (place % world->words);
	switch (data[2] % 5) {
	case 0:
		fake_poke_u64(memory, at, value);
		break;
	case 1:
		fake_poke_u64(memory, at, world->begin + 8 * (value % world->words));
		break;
	case 2:
		fake_poke_u32(memory, at, value);
		break;
	case 3:
		fake_poke_u64(memory, at, ~(uint64_t)value);
		break;
	default:
		fake_poke_u32(memory, at, ~(uint32_t)value);
		break;
	}
}

static int swallow(void *arg, const char *text, size_t size)
{
	(void)arg;
	(void)text;
	(void)size;
	return 0;
}

static void run(struct hd_session *session, const char *command)
{
	const char *const words[] = { command, "--json" };
	const struct hd_sink sink = { .struct_size = sizeof(sink), .write = swallow };
	(void)hd_command_run(session, 2, words, &sink, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const commands[] = { "syncblk", "waits", "hang" };
	struct world world;
	struct hd_session *session;
	make_world(&world);
	for (size_t i = 0; i < CHANGES_MAX && (i + 1) * CHANGE_SIZE <= size; i++)
		change(&world, data + i * CHANGE_SIZE);
	fake_types_export(world.locks.types);
	fake_export(world.locks.fake, &(struct fake_export){ 0 });
	if (hd_session_create(&session, NULL) != HD_OK)
		abort();
	session->target = &world.locks.fake->target;
	session->path = mem_strndup("a.core", 6);
	session->settings.workers = 1;
	session->settings.max_mem = (uint64_t)256 << 20;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		run(session, commands[i]);
	session->target = NULL;
	hd_session_destroy(session);
	findings_deinit(&world.locks.fake->target.findings);
	fake_locks_destroy(&world.locks);
	return 0;
}
