/* SPDX-License-Identifier: MIT */
/* covers: core/src/clr core/src/heap core/src/roots core/src/verify core/src/stack core/src/snapshot */
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

/* %1 is an object, %2 an array, %3 a string, %4 a MethodTable. */
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
	"report --json",
	"report -o %h",
};

#define LINES (sizeof(lines) / sizeof(lines[0]))

static struct fake_core base;
static uint8_t *image; /* the core's bytes, of the file that is opened */
static char path[64], out[] = "/tmp/heapdump-fuzz-XXXXXX";
static char out_file[64], page_file[64];

static void remove_out(void)
{
	(void)unlink(out_file);
	(void)unlink(page_file);
	(void)rmdir(out);
	fake_core_free(&base);
}

static void make_core(void)
{
	base = fake_core_make();
	int fd = memfd_create("core", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)base.bytes.size) || !mkdtemp(out) || atexit(remove_out))
		abort();
	image = mmap(NULL, base.bytes.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (image == MAP_FAILED)
		abort();
	memcpy(image, base.bytes.bytes, base.bytes.size);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)snprintf(out_file, sizeof(out_file), "%s/o.gcdump", out);
	(void)snprintf(page_file, sizeof(page_file), "%s/o.html", out);
}

static uint64_t word_address(uint64_t value)
{
	const struct fake_piece_place *piece = &base.pieces[(value & 0xffff) % base.count];
	return piece->address + 8 * ((value >> 16) % (piece->size / 8 + 1));
}

/* Write up to 8 bytes at @p place of @p piece, as far as they are in it. */
static void put(const struct fake_piece_place *piece, uint64_t place, uint64_t value, size_t size)
{
	if (place >= piece->size)
		return;
	size_t room = (size_t)(piece->size - place);
	memcpy(image + piece->offset + place, &value, size < room ? size : room);
}

static uint64_t word_at(const struct fake_piece_place *piece, uint64_t place)
{
	uint64_t word = 0;
	if (piece->size >= sizeof(word) && place <= piece->size - sizeof(word))
		memcpy(&word, image + piece->offset + place, sizeof(word));
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
		const struct fake_piece_place *from = &base.pieces[(value & 0xffff) % base.count];
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
	const struct fake_piece_place *piece = &base.pieces[numbers[0] % base.count];
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
	const uint64_t values[] = { 0, base.object, base.array, base.string, base.type };
	int argc = 0;
	(void)snprintf(buf, size, "%s", line);
	static char numbers[8][32];
	for (char *word; (word = strsep(&buf, " ")) != NULL; argc++) {
		argv[argc] = word;
		if (word[0] != '%')
			continue;
		const char *file = word[1] == 'e'   ? out_file
				   : word[1] == 'h' ? page_file
				   : word[1] == '0' ? path
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
	struct linear linear = linear_begin(base.bytes.size);
	enum hd_status status = hd_session_open(session, path, 0, &sink, NULL);
	linear_end(&linear, "open");
	for (size_t i = 0; i < LINES && status == HD_OK; i++) {
		char buf[128];
		const char *argv[8];
		if (left_out >> (i % 64) & 1)
			continue;
		int argc = make_words(lines[i], buf, sizeof(buf), argv);
		linear = linear_begin(base.bytes.size);
		(void)hd_command_run(session, argc, argv, &sink, NULL);
		linear_end(&linear, lines[i]);
	}
	hd_session_destroy(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t left_out = 0;
	if (!image)
		make_core();
	if (size < sizeof(left_out))
		return 0;
	memcpy(&left_out, data, sizeof(left_out));
	data += sizeof(left_out);
	size -= sizeof(left_out);
	size_t count = size / PATCH_SIZE < PATCHES_MAX ? size / PATCH_SIZE : PATCHES_MAX;
	for (size_t i = 0; i < count; i++)
		apply(data + i * PATCH_SIZE);
	run_all(left_out);
	/* What was changed, as it was. */
	for (size_t i = 0; i < count; i++) {
		uint16_t number;
		memcpy(&number, data + i * PATCH_SIZE, sizeof(number));
		const struct fake_piece_place *piece = &base.pieces[number % base.count];
		memcpy(image + piece->offset, base.bytes.bytes + piece->offset, piece->size);
	}
	return 0;
}
