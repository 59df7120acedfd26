/* SPDX-License-Identifier: MIT */
/* A snapshot that goes to a file because it is more than the memory it may have, on a disk that becomes full. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <heapdump/heapdump.h>

#include "support/assert_more.h"
#include "support/suite.h"

#define MEGABYTE    ((uint64_t)1 << 20)
#define FIRST       UINT64_C(0x7f0000000000)
#define OBJECT_SIZE 32u
#define OBJECTS     1000000u
#define PER_EVENT   2000u
#define TYPE        UINT64_C(0x7e0000001000)
#define HEAD        10u

static void put_u32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put_u64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* Give an event; what is lost is counted. */
static void send(struct hd_snapshot *snapshot, uint32_t id, const void *payload, size_t size)
{
	const struct hd_snapshot_event event = { .struct_size = sizeof(event),
						 .provider = "Microsoft-Windows-DotNETRuntime",
						 .id = id,
						 .payload = payload,
						 .size = size };
	enum hd_status ignored = hd_snapshot_event(snapshot, &event, NULL);
	(void)ignored;
}

/* Objects of which each refers to the next one, in events as the runtime sends them (doc/formats.md 6). */
static void send_objects(struct hd_snapshot *snapshot, uint32_t number)
{
	static uint8_t nodes[HEAD + PER_EVENT * 32], edges[HEAD + PER_EVENT * 12];
	put_u32(nodes, number);
	put_u32(nodes + 4, PER_EVENT);
	put_u32(edges, number);
	put_u32(edges + 4, PER_EVENT);
	for (uint32_t i = 0; i < PER_EVENT; i++) {
		uint8_t *node = nodes + HEAD + (size_t)i * 32,
			*edge = edges + HEAD + (size_t)i * 12;
		const uint64_t index = (uint64_t)number * PER_EVENT + i;
		put_u64(node, FIRST + index * OBJECT_SIZE);
		put_u64(node + 8, OBJECT_SIZE);
		put_u64(node + 16, TYPE);
		put_u64(node + 24, 1);
		put_u64(edge, FIRST + (index + 1) % OBJECTS * OBJECT_SIZE);
		put_u32(edge + 8, 0);
	}
	send(snapshot, 18, nodes, sizeof(nodes));
	send(snapshot, 19, edges, sizeof(edges));
}

static void send_all(struct hd_snapshot *snapshot)
{
	uint8_t begin[26] = { 0 }, end[10] = { 0 };
	put_u32(begin, 1);
	put_u32(begin + 4, 2);
	put_u32(begin + 8, 1);
	put_u32(end, 1);
	put_u32(end + 4, 2);
	send(snapshot, 1, begin, sizeof(begin));
	for (uint32_t i = 0; i < OBJECTS / PER_EVENT; i++)
		send_objects(snapshot, i);
	send(snapshot, 2, end, sizeof(end));
}

static int drop(void *arg, const char *bytes, size_t size)
{
	(void)bytes;
	*(uint64_t *)arg += size;
	return 0;
}

/* Take a snapshot while the file may have @p room bytes; 0: without a file. */
static enum hd_status snapshot(uint64_t room, struct hd_snapshot_state *ret)
{
	const struct hd_snapshot_options options = { .struct_size = sizeof(options),
						     .max_memory = room ? 1 : 0,
						     .process = 77,
						     .no_files = 1,
						     .spill = "/var/tmp/heapdump-test.gcdump" };
	struct hd_snapshot *of = NULL;
	uint64_t written = 0;
	struct rlimit before, limit;
	const struct hd_sink sink = {
		.struct_size = sizeof(sink), .arg = &written, .write = drop, .binary = 1
	};
	CU_ASSERT_FATAL(getrlimit(RLIMIT_FSIZE, &before) == 0);
	limit = before;
	if (room)
		limit.rlim_cur = room;
	CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CU_ASSERT_FATAL(hd_snapshot_create(&options, &of, NULL) == HD_OK);
	send_all(of);
	enum hd_status status = hd_snapshot_finish(of, NULL, "gcdump", &sink, NULL);
	*ret = (struct hd_snapshot_state){ .struct_size = sizeof(*ret) };
	CU_ASSERT(hd_snapshot_state(of, ret) == 0);
	CU_ASSERT(status != HD_OK || written > 0);
	hd_snapshot_destroy(of);
	(void)setrlimit(RLIMIT_FSIZE, &before);
	return status;
}

TEST(a_file_has_what_memory_has)
{
	struct hd_snapshot_state in_memory, in_file;
	ASSERT_UINT(snapshot(0, &in_memory), HD_OK);
	ASSERT_UINT(in_memory.objects, OBJECTS);
	ASSERT_UINT(snapshot(UINT64_C(1) << 40, &in_file), HD_OK);
	ASSERT_UINT(in_file.objects, OBJECTS);
	ASSERT_UINT(in_file.references, OBJECTS);
	ASSERT_UINT(in_file.lost, 0);
}

/* At whatever point: there is an answer, or what is missing is counted. */
TEST(a_disk_may_become_full_at_any_point)
{
	unsigned failed = 0, parts = 0, whole = 0;
	for (uint64_t room = 2 * MEGABYTE; !whole && room < 1000 * MEGABYTE; room += 4 * MEGABYTE) {
		struct hd_snapshot_state state;
		enum hd_status status = snapshot(room, &state);
		CU_ASSERT(status == HD_OK || status == HD_ERR_NOMEM);
		failed += status == HD_ERR_NOMEM;
		parts += status == HD_OK && state.lost;
		whole += status == HD_OK && !state.lost;
		CU_ASSERT(!whole || state.objects == OBJECTS);
	}
	CU_ASSERT(failed > 0 && parts > 0 && whole == 1);
}

SUITE(.name = "snapshot_spill")
