/* SPDX-License-Identifier: MIT */
/* covers: core/src/runtime/coreclr core/src/gc core/src/roots core/src/verify core/src/stack core/src/snapshot */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <heapdump/command.h>

#include "linear.h"
#include "support/fake_core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * A whole core with changes at its structures, and every command about it.  The input is
 *
 *	u64	commands that are left out: bit i % 64 is for line i of lines[]
 *	patches, PATCH_SIZE bytes each, up to PATCHES_MAX:
 *	u16	piece of the core (fake_core.h)
 *	u16	place in it: a word, or with AT_BYTE in how a byte
 *	u8	how: what is written there
 *	u8	repeat: to the next words as well
 *	u64	value
 *
 * A byte after the patches chooses the core: RELEASES[byte]; without one it is the first.
 *
 * make_patches.py writes such inputs.
 */
#define PATCH_SIZE  14u
#define PATCHES_MAX 64u
#define AT_BYTE     0x80u
#define HOW_MASK    0x07u

enum how {
	HOW_U64,
	HOW_U32,
	HOW_U16,
	HOW_U8,
	HOW_ADD,     /* a small number with a sign to the u64 there */
	HOW_POINTER, /* the address of piece (value), word (value >> 16) */
	HOW_CHAIN,   /* the address of the word after (value): a list through the piece */
	HOW_COPY,    /* the words of piece (value), from word (value >> 16) on */
};

/* %1 is an object, %2 an array, %3 a string, %4 a MethodTable, %5 the Module, %6 an address of code. */
static const char *const lines[] = {
	"info",
	"info -layout --json",
	"gcroot %1",
	"gcroot %3 -all -conservative",
	"gcroot -type String",
	"gcroot -mt %4 --json",
	"pathto %1 %3",
	"objsize %1 -stat",
	"objsize -mt %4",
	"retained %2",
	"assert -max System.String=1 -max-heap 1M",
	"dominators -top 20",
	"dumpheap -stat",
	"dumpheap",
	"dumpheap -strings",
	"dumpheap -thinlock",
	"dumpheap -live -stat",
	"dumpheap -gen 2 -dead --json",
	"dumpobj %1",
	"dumpobj %3 -refs",
	"dumparray %2 -details",
	"dumpcollection %1",
	"dumpcollection %3 --json",
	"dumpconcurrentdictionary %1",
	"dumpconcurrentqueue %2",
	"dumpvc %4 %1",
	"dumpmt %4",
	"dumpclass %4",
	"printexception",
	"printexception %1 -nested",
	"dumpdelegate %1",
	"verifyheap",
	"verifyobj %2",
	"eeheap",
	"eeheap -gc --json",
	"gcwhere %1",
	"dq %1",
	"dp %2 -count 5 --json",
	"db %1",
	"dw %1",
	"dd %1",
	"dc %1 -count 9 --json",
	"symbolize /dev/null",
	"du %1",
	"registers",
	"listnearobj %2",
	"clrthreads",
	"clrthreads --json",
	"syncblk -all",
	"clrstack -all -roots",
	"clrstack -all --json",
	"clrstack -all -a -r -f",
	"waits -all",
	"waits --json",
	"hang",
	"threadpool -wi",
	"threadpoolqueue --json",
	"timerinfo",
	"dumpasync -fields",
	"dumptasks",
	"dumphttp",
	"dumprequests",
	"dumpexceptions",
	"name2ee * System.Object",
	"ip2md %1",
	"dumpmd %1 --json",
	"dumpmt %4 -md",
	"token2ee * 02000002 --json",
	"token2ee * 06000001",
	"gchandles",
	"gchandles -stat --json",
	"finalizequeue -detail",
	"finalizequeue -allReady --json",
	"dumpgen 0",
	"gcheapstat -unreachable",
	"notreachableinrange 0 ffffffffffff",
	"ephrefs -stat",
	"ephtoloh",
	"balance",
	"strings",
	"roots",
	"roots -conservative --json",
	"types",
	"diff %0 -limit 5",
	"export %e",
	"triage",
	"triage --json",
	"report --json",
	"report -o %h",
	"clrmodules -verbose --json",
	"modules -verbose",
	"dumpmodule %5 -mt",
	"dumpassembly %5",
	"dumpdomain",
	"dumpalc %1",
	"dumpalc --json",
	"ip2md %6",
	"dumpil %6",
	"clru %6",
	"gcinfo %6",
	"ehinfo %6 --json",
	"dumpsig %3 %5",
	"dumpsigelem %3 %5 --json",
	"eeversion",
	"crashinfo --json",
	"analyzeoom",
	"sizestats --format csv",
	"memory -detail -live",
	"memory --json",
	"maddress -images -reserve -reserveHeuristic",
	"maddress -summary --json",
	"threadstate 21220",
	"threads --json",
	"setthread -thread 1",
	"clrstack -n -p -l",
	"dumpstackobjects -verify",
	"setthread -all",
	"dumpstackobjects -all --json",
	"parallelstacks -all",
	"parallelstacks -noasync --json",
	"taskstate %1",
	"dumptasks --json",
	"dumpasync -tasks -completed --json",
	"dumpasync -stats",
	"dumphttp --json",
	"dumprequests --json",
	"hang --json",
	"referrers %1",
	"referrers -mt %4 --format ndjson",
	"finalizequeue --format csv",
	"report -conservative -top 0 --format csv",
	"report -against %0 -minutes 5 --json",
	"report -against %0 %0 -fail-on growth --json",
	"sql SELECT type, count(*), sum(size) FROM objects GROUP BY type",
	"sql SELECT * FROM refs LIMIT 9",
	"sql SELECT * FROM fields WHERE type LIKE '%' LIMIT 99",
	"sql SELECT * FROM arrays WHERE type LIKE '%' LIMIT 99 --format ndjson",
	"sql SELECT count(*), max(retained), sum(live) FROM objects",
	"sql SELECT * FROM strings, exceptions, modules, methods, types, roots, handles LIMIT 9",
	"sql SELECT * FROM threads, frames, segments, sync_blocks, finalizer_queue LIMIT 9 --json",
	"sql SELECT * FROM findings, damage, tasks, waits, timers LIMIT 9",
	"sql SELECT * FROM work_items, http_requests, requests LIMIT 9",
	"export %e -format heapsnapshot",
	"export %e -format hprof",
	"export %e -format folded",
	"export %e -format speedscope",
	"export %e -format sqlite",
	"export %e -format rpm -live",
	"export %e -format elf",
	"export %e -format arrows",
	"export %e -format arrows -table refs",
	"export %e -format arrows -table strings",
	"export %e -format arrows -table roots",
};

#define WORDS 16 /* of a line, at most */
#define LINES (sizeof(lines) / sizeof(lines[0]))

/* The last one is of the future: its fields have moved, and its descriptor lacks some names. */
static const unsigned int RELEASES[] = { 10, 11, 12 };
#define CORES (sizeof(RELEASES) / sizeof(RELEASES[0]))

/* A core, and the file that is opened. */
struct whole {
	struct fake_core core;
	uint8_t *image; /* the file's bytes */
	char path[64];
};
static struct whole wholes[CORES], *whole;
static char out[] = "/tmp/heapdump-fuzz-XXXXXX";
static char out_file[64], page_file[64];

static void remove_out(void)
{
	(void)unlink(out_file);
	(void)unlink(page_file);
	(void)rmdir(out);
	for (size_t i = 0; i < CORES; i++)
		fake_core_free(&wholes[i].core);
}

static struct fake_core make_core(unsigned int release)
{
	static const char *const without[] = { "Thread.OSId", "RealCodeHeader.GCInfo",
					       "SyncTableEntries", "GCInfoVersion", NULL };
	struct layout layout;
	if (release <= 11)
		return fake_core_of(&(struct fake_core_options){ .release = release });
	layout_init(&layout);
	layout_fill(&layout, 11, ORIGIN_SERIES);
	for (size_t i = 0; i < L_COUNT; i++)
		layout.offsets[i] += layout_has(&layout, (enum layout_field)i) ? 8 : 0;
	return fake_core_of(&(struct fake_core_options){
		.release = release, .layout = &layout, .without = without });
}

static void make_whole(struct whole *ret, unsigned int release)
{
	ret->core = make_core(release);
	size_t size = ret->core.bytes.size;
	int fd = memfd_create("core", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)size))
		abort();
	ret->image = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ret->image == MAP_FAILED)
		abort();
	memcpy(ret->image, ret->core.bytes.bytes, size);
	(void)snprintf(ret->path, sizeof(ret->path), "/proc/self/fd/%d", fd);
}

static void make_all(void)
{
	if (!mkdtemp(out) || atexit(remove_out))
		abort();
	(void)snprintf(out_file, sizeof(out_file), "%s/o.gcdump", out);
	(void)snprintf(page_file, sizeof(page_file), "%s/o.html", out);
	for (size_t i = 0; i < CORES; i++)
		make_whole(&wholes[i], RELEASES[i]);
}

static uint64_t word_address(uint64_t value)
{
	const struct fake_core *core = &whole->core;
	const struct fake_piece_place *piece = &core->pieces[(value & 0xffff) % core->count];
	return piece->address + 8 * ((value >> 16) % (piece->size / 8 + 1));
}

/* Write up to 8 bytes at @p place of @p piece, as far as they are in it. */
static void put(const struct fake_piece_place *piece, uint64_t place, uint64_t value, size_t size)
{
	if (place >= piece->size)
		return;
	size_t room = (size_t)(piece->size - place);
	memcpy(whole->image + piece->offset + place, &value, size < room ? size : room);
}

static uint64_t word_at(const struct fake_piece_place *piece, uint64_t place)
{
	uint64_t word = 0;
	if (piece->size >= sizeof(word) && place <= piece->size - sizeof(word))
		memcpy(&word, whole->image + piece->offset + place, sizeof(word));
	return word;
}

static void put_one(const struct fake_piece_place *piece, uint64_t place, uint8_t how,
		    uint64_t value, uint64_t step)
{
	static const uint8_t sizes[] = { 8, 4, 2, 1 };
	switch ((enum how)(how & HOW_MASK)) {
	case HOW_ADD:
		put(piece, place, word_at(piece, place) + (uint64_t)(int8_t)value, 8);
		break;
	case HOW_POINTER:
		put(piece, place, word_address(value), 8);
		break;
	case HOW_CHAIN:
		put(piece, place, piece->address + place + 8 + (value & 0x3f) * 8, 8);
		break;
	case HOW_COPY: {
		const struct fake_core *core = &whole->core;
		const struct fake_piece_place *from = &core->pieces[(value & 0xffff) % core->count];
		put(piece, place, word_at(from, 8 * ((value >> 16 & 0xffff) + step)), 8);
		break;
	}
	default:
		put(piece, place, value, sizes[how & 3]);
		break;
	}
}

static void apply(const uint8_t *patch)
{
	uint16_t numbers[2];
	uint64_t value;
	memcpy(numbers, patch, sizeof(numbers));
	memcpy(&value, patch + 6, sizeof(value));
	const struct fake_core *core = &whole->core;
	const struct fake_piece_place *piece = &core->pieces[numbers[0] % core->count];
	uint64_t place = (patch[4] & AT_BYTE ? 1 : 8) * (uint64_t)numbers[1] % piece->size;
	for (uint64_t i = 0; i <= patch[5]; i++)
		put_one(piece, place + 8 * i, patch[4], value, i);
}

static int swallow(void *arg, const char *text, size_t size)
{
	(void)arg;
	(void)text;
	(void)size;
	return 0;
}

/* The words of a line, with what stands for its %. */
static int make_words(const char *line, char *buf, size_t size, const char **argv)
{
	const struct fake_core *core = &whole->core;
	const uint64_t values[] = { 0,          core->object, core->array, core->string,
				    core->type, core->module, core->code };
	int argc = 0;
	(void)snprintf(buf, size, "%s", line);
	static char numbers[WORDS][32];
	for (char *word; argc < WORDS && (word = strsep(&buf, " ")) != NULL; argc++) {
		argv[argc] = word;
		if (word[0] != '%')
			continue;
		const char *file = word[1] == 'e'   ? out_file
				   : word[1] == 'h' ? page_file
				   : word[1] == '0' ? whole->path
						    : NULL;
		if (file) {
			argv[argc] = file;
			continue;
		}
		(void)snprintf(numbers[argc], sizeof(numbers[argc]), "%" PRIx64,
			       values[word[1] - '0']);
		argv[argc] = numbers[argc];
	}
	return argc;
}

static void run_all(uint64_t left_out)
{
	const struct hd_sink sink = { .struct_size = sizeof(sink), .write = swallow };
	static const char *const settings[][3] = { { "set", "workers", "1" },
						   { "set", "max-mem", "64M" },
						   { "set", "files", "off" } };
	struct hd_session *session = NULL;
	if (hd_session_create(&session, NULL) != HD_OK)
		abort();
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		if (hd_command_run(session, 3, settings[i], &sink, NULL) != HD_EXIT_OK)
			abort();
	}
	struct linear linear = linear_begin(whole->core.bytes.size);
	enum hd_status status = hd_session_open(session, whole->path, 0, &sink, NULL);
	linear_end(&linear, "open");
	for (size_t i = 0; i < LINES && status == HD_OK; i++) {
		char buf[128];
		const char *argv[WORDS];
		if (left_out >> (i % 64) & 1)
			continue;
		int argc = make_words(lines[i], buf, sizeof(buf), argv);
		linear = linear_begin(whole->core.bytes.size);
		(void)hd_command_run(session, argc, argv, &sink, NULL);
		linear_end(&linear, lines[i]);
	}
	hd_session_destroy(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t left_out = 0;
	if (!wholes[0].image)
		make_all();
	if (size < sizeof(left_out))
		return 0;
	memcpy(&left_out, data, sizeof(left_out));
	data += sizeof(left_out);
	size -= sizeof(left_out);
	bool has_release = size % PATCH_SIZE == 1;
	whole = &wholes[has_release ? data[size - 1] % CORES : 0];
	size_t count = size / PATCH_SIZE < PATCHES_MAX ? size / PATCH_SIZE : PATCHES_MAX;
	for (size_t i = 0; i < count; i++)
		apply(data + i * PATCH_SIZE);
	run_all(left_out);
	/* Put the changed bytes back. */
	for (size_t i = 0; i < count; i++) {
		uint16_t number;
		memcpy(&number, data + i * PATCH_SIZE, sizeof(number));
		const struct fake_core *core = &whole->core;
		const struct fake_piece_place *piece = &core->pieces[number % core->count];
		memcpy(whole->image + piece->offset, core->bytes.bytes + piece->offset,
		       piece->size);
	}
	return 0;
}
