/* SPDX-License-Identifier: MIT */
/* covers: core/src/targets/debugger.c core/src/targets/symbol.c core/src/targets/elf_image.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <heapdump/debugger.h>

#include "runtime/runtime.h"
#include "targets/target.h"
#include "targets/target_modules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The first bytes of the input say how the debugger answers and what it lists
 * (make_debugger_images.py writes such inputs); the others are its memory, in up to PARTS pieces at
 * any addresses, and the core file that it has.
 */
#define PARTS   4u
#define MODULES 3u
#define THREADS 2u

enum answer {
	ANSWER_HONEST,
	ANSWER_SHORT,    /* less than was asked for and is there */
	ANSWER_TOO_MUCH, /* more than was asked for, in number */
	ANSWER_CHANGING, /* something else each time */
	ANSWER_ANYWHERE, /* there is memory everywhere */
	ANSWER_KINDS
};

struct head {
	uint8_t answer, flags; /* 1: with a core file; 2: a backend; 4: which; 8: no memory */
	uint8_t modules, threads;
	uint16_t sizes[PARTS]; /* of the pieces, bytes */
	uint64_t stack_pointer;
	uint64_t places[PARTS];  /* addresses */
	uint64_t bases[MODULES]; /* of the images */
	uint64_t words[THREADS]; /* of registers */
};

#define WITH_CORE    1u
#define WITH_BACKEND 2u
#define OF_FILE      4u
#define NO_MEMORY    8u

struct debuggee {
	struct head head;
	const uint8_t *data;
	size_t size;
	uint32_t reads;
};

static size_t read_honest(const struct debuggee *debuggee, uint64_t address, void *buf, size_t size)
{
	size_t begin = 0;
	for (size_t i = 0; i < PARTS && begin < debuggee->size; i++) {
		size_t length = debuggee->head.sizes[i];
		if (length > debuggee->size - begin)
			length = debuggee->size - begin;
		uint64_t offset = address - debuggee->head.places[i];
		if (address >= debuggee->head.places[i] && offset < length) {
			size_t left = length - (size_t)offset;
			size = size < left ? size : left;
			memcpy(buf, debuggee->data + begin + offset, size);
			return size;
		}
		begin += length;
	}
	return 0;
}

/* The debuggee's bytes again and again, over the whole address space. */
static void repeat(const struct debuggee *debuggee, uint64_t address, uint8_t *bytes, size_t size)
{
	if (!debuggee->size) {
		memset(bytes, 0, size);
		return;
	}
	size_t at = (size_t)(address % debuggee->size);
	while (size) {
		size_t piece = debuggee->size - at < size ? debuggee->size - at : size;
		memcpy(bytes, debuggee->data + at, piece);
		bytes += piece;
		size -= piece;
		at = 0;
	}
}

static size_t read_any(void *arg, uint64_t address, void *buf, size_t size)
{
	struct debuggee *debuggee = arg;
	uint8_t *bytes = buf;
	size_t got = read_honest(debuggee, address, buf, size);
	debuggee->reads++;
	switch (debuggee->head.answer % ANSWER_KINDS) {
	case ANSWER_SHORT:
		return got > 24 ? got / 2 : got;
	case ANSWER_TOO_MUCH:
		return got ? SIZE_MAX - debuggee->reads % 3u : 0;
	case ANSWER_CHANGING:
		if (got)
			bytes[debuggee->reads % got] ^= (uint8_t)debuggee->reads;
		return got;
	case ANSWER_ANYWHERE:
		repeat(debuggee, address + got, bytes + got, size - got);
		return size;
	default:
		return got;
	}
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Everything that is asked of a target. */
static void use(struct target *target)
{
	uint8_t buf[64];
	char id[129];
	for (size_t i = 0; i < target->module_count; i++) {
		const struct target_module *module = &target->modules[i];
		uint64_t address = 0, value;
		require(module->path != NULL);
		(void)target_build_id(target, module, id, sizeof(id));
		if (target_symbol(target, module, "g_dacTable", &address, NULL))
			(void)target_module_pointer(target, module, address, &value);
		(void)memory_prefix(target->memory, module->base, buf, sizeof(buf));
	}
	(void)memory_prefix(target->memory, UINT64_MAX - 7, buf, sizeof(buf));
	struct runtime *runtime = NULL;
	if (runtime_open(target, NULL, &runtime, NULL) == HD_OK)
		runtime_destroy(runtime);
}

#define REGISTERS 17u

static void fill_lists(const struct head *head, struct hd_debugger_module *modules,
		       struct hd_debugger_thread *threads, uint64_t registers[THREADS][REGISTERS])
{
	static const char *const paths[MODULES] = { "/program", "/usr/lib/libcoreclr.so", NULL };
	for (size_t i = 0; i < MODULES; i++) {
		modules[i] =
			(struct hd_debugger_module){ .path = paths[i], .base = head->bases[i] };
	}
	for (size_t i = 0; i < THREADS; i++) {
		threads[i] = (struct hd_debugger_thread){ .tid = 7, .number = (uint32_t)i + 1 };
		for (size_t k = 0; k < REGISTERS; k++)
			registers[i][k] = head->words[i] * k;
		threads[i].registers = registers[i];
	}
}

/* Any debugger: no crash, no hang, nothing read past what it gave. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct debuggee debuggee = { .size = size };
	if (size < sizeof(debuggee.head))
		return 0;
	memcpy(&debuggee.head, data, sizeof(debuggee.head));
	const struct head *head = &debuggee.head;
	debuggee.data = data + sizeof(*head);
	debuggee.size = size - sizeof(*head);
	struct hd_debugger_module modules[MODULES];
	struct hd_debugger_thread threads[THREADS];
	uint64_t registers[THREADS][REGISTERS];
	fill_lists(head, modules, threads, registers);
	char path[32];
	int fd = -1;
	if (head->flags & WITH_CORE) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		require(fd >= 0 &&
			write(fd, debuggee.data, debuggee.size) == (ssize_t)debuggee.size);
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	const struct hd_debugger debugger = {
		.struct_size = sizeof(debugger),
		.arg = &debuggee,
		.read = head->flags & NO_MEMORY ? NULL : read_any,
		.core = fd >= 0 ? path : NULL,
		.stack_pointer = head->stack_pointer,
		.modules = modules,
		.module_count = head->modules % (MODULES + 1),
		.threads = threads,
		.thread_count = head->threads % (THREADS + 1),
		.register_count = REGISTERS,
	};
	const char *backend = head->flags & OF_FILE ? "file" : "debugger";
	const struct target_options options = {
		.no_files = true,
		.max_mem = (uint64_t)64 << 20,
		.backend = head->flags & WITH_BACKEND ? backend : NULL,
	};
	struct target *target = NULL;
	struct hd_error err = { 0 };
	if (target_open_debugger(&debugger, &options, NULL, &target, &err) == HD_OK) {
		use(target);
	} else {
		require(!target && err.message[0]);
	}
	target_destroy(target);
	if (fd >= 0)
		(void)close(fd);
	return 0;
}
