/* SPDX-License-Identifier: MIT */
#include "fake_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <heapdump/command.h>

#include "runtime/coreclr/types/field.h"
#include "runtime/coreclr/types/method_table.h"
#include "session/session_state.h"
#include "support/fake_export.h"
#include "support/fake_types.h"
#include "targets/relocation.h"
#include "util/alloc.h"

#define STRUCT    0x00040000u
#define NULLABLE  0x00050000u
#define PRIMITIVE 0x00060000u
#define INT32     0x00070000u
#define MD_ARRAY  0x00080000u
#define SZ_ARRAY  0x000a0000u

#define OBJECTS_MAX 64u
#define PIECES_MAX  512u

struct piece {
	uint64_t address, words; /* words before this one, in first */
	uint64_t first;
};

static struct world {
	struct fake_clr *fake;
	struct fake_types *types;
	uint64_t objects[OBJECTS_MAX];
	unsigned int object_count;
	struct piece pieces[PIECES_MAX];
	unsigned int piece_count;
	uint64_t word_count;
	/* classes */
	uint64_t number, color, pair, exception, handler, holder, node;
} world;

static void add_object(uint64_t address)
{
	if (world.object_count == OBJECTS_MAX)
		abort();
	world.objects[world.object_count++] = address;
}

static void put_word(uint64_t address, uint64_t word)
{
	fake_poke_u64(&world.fake->memory, address, word);
}

static uint64_t make_struct(const char *space, const char *name, uint32_t flags, uint32_t base_size,
			    const struct fake_field *fields)
{
	return fake_class(world.types, &(struct fake_class){ .space = space,
							     .name = name,
							     .fields = fields,
							     .type = { .base_size = base_size,
								       .flags = flags } });
}

/* The structs that known.c explains, an enum, and one with references. */
static void make_structs(void)
{
	static const struct fake_field number[] = { { .name = "m_value", .element = ELEMENT_I4 },
						    { 0 } };
	static const struct fake_field color[] = {
		{ .name = "value__", .element = ELEMENT_I4 },
		{ .name = "Red", .element = ELEMENT_I4, .is_literal = true, .constant = 1 },
		{ .name = "Blue", .element = ELEMENT_I4, .is_literal = true, .constant = 4 },
		{ 0 }
	};
	world.number = make_struct("System", "Int32", INT32, 24, number);
	uint64_t parent = make_struct("System", "Enum", 0, 24, NULL);
	world.color = fake_class(world.types, &(struct fake_class){ .name = "Color",
								    .fields = color,
								    .type = { .base_size = 24,
									      .flags = PRIMITIVE,
									      .parent = parent } });
	const struct fake_field pair[] = {
		{ .name = "first", .element = ELEMENT_CLASS },
		{ .name = "second", .element = ELEMENT_I8, .offset = 8 },
		{ .name = "color", .element = ELEMENT_I4, .offset = 16, .type = world.color },
		{ 0 }
	};
	const struct gc_series one = { .size = 8 - 40, .offset = 8 };
	world.pair = fake_class(world.types, &(struct fake_class){ .name = "Pair",
								   .fields = pair,
								   .type = { .base_size = 40,
									     .flags = STRUCT,
									     .series = &one,
									     .series_count = 1 } });
}

/* A class with a field of every kind. */
static void make_holder(void)
{
	static const struct fake_field date[] = { { .name = "_dateData", .element = ELEMENT_U8 },
						  { 0 } };
	static const struct fake_field guid[] = { { .name = "_a", .element = ELEMENT_I4 }, { 0 } };
	static const struct fake_field decimal[] = {
		{ .name = "_flags", .element = ELEMENT_I4 },
		{ .name = "_hi32", .element = ELEMENT_U4, .offset = 4 },
		{ .name = "_lo64", .element = ELEMENT_U8, .offset = 8 },
		{ 0 }
	};
	const struct fake_field maybe[] = { { .name = "hasValue", .element = ELEMENT_BOOLEAN },
					    { .name = "value", .element = ELEMENT_I4, .offset = 4 },
					    { 0 } };
	const struct {
		const char *name;
		uint64_t type;
	} structs[] = {
		{ "date", make_struct("System", "DateTime", STRUCT, 24, date) },
		{ "guid", make_struct("System", "Guid", STRUCT, 32, guid) },
		{ "price", make_struct("System", "Decimal", STRUCT, 32, decimal) },
		{ "maybe", make_struct("System", "Nullable`1", NULLABLE, 24, maybe) },
		{ "pair", world.pair },
	};
	struct fake_field fields[32] = { { 0 } };
	unsigned int count = 0;
	for (uint8_t element = ELEMENT_BOOLEAN; element <= ELEMENT_R8; element++, count++) {
		fields[count] = (struct fake_field){ .name = "plain",
						     .element = element,
						     .offset = 8 * count };
	}
	for (size_t i = 0; i < sizeof(structs) / sizeof(structs[0]); i++, count++) {
		fields[count] = (struct fake_field){ .name = structs[i].name,
						     .type = structs[i].type,
						     .element = ELEMENT_VALUE,
						     .offset = 96 + 16 * (uint32_t)i };
	}
	fields[count++] =
		(struct fake_field){ .name = "text", .element = ELEMENT_CLASS, .offset = 184 };
	fields[count++] =
		(struct fake_field){ .name = "pointer", .element = ELEMENT_POINTER, .offset = 192 };
	fields[count++] = (struct fake_field){ .name = "shared",
					       .element = ELEMENT_CLASS,
					       .is_static = true };
	const struct gc_series one = { .size = 8 - 216, .offset = 192 };
	world.holder =
		fake_class(world.types, &(struct fake_class){ .space = "App",
							      .name = "Holder",
							      .fields = fields,
							      .type = { .base_size = 216,
									.flags = MT_FINALIZER,
									.series = &one,
									.series_count = 1 } });
}

static void make_delegate_type(void)
{
	static const struct fake_field base[] = {
		{ .name = "_target", .element = ELEMENT_CLASS },
		{ .name = "_methodPtr", .element = ELEMENT_I, .offset = 8 },
		{ .name = "_methodPtrAux", .element = ELEMENT_I, .offset = 16 },
		{ 0 }
	};
	static const struct fake_field multicast[] = {
		{ .name = "_invocationList", .element = ELEMENT_CLASS, .offset = 24 },
		{ .name = "_invocationCount", .element = ELEMENT_I, .offset = 32 },
		{ 0 }
	};
	uint64_t parent =
		fake_class(world.types, &(struct fake_class){ .space = "System",
							      .name = "Delegate",
							      .fields = base,
							      .type = { .base_size = 40 } });
	parent = fake_class(world.types,
			    &(struct fake_class){ .space = "System",
						  .name = "MulticastDelegate",
						  .fields = multicast,
						  .inherited = 3,
						  .type = { .base_size = 56, .parent = parent } });
	const struct gc_series two[] = { { .size = 8 - 56, .offset = 8 },
					 { .size = 8 - 56, .offset = 32 } };
	world.handler =
		fake_class(world.types, &(struct fake_class){ .name = "Handler",
							      .inherited = 5,
							      .type = { .base_size = 56,
									.parent = parent,
									.series = two,
									.series_count = 2 } });
}

static void make_exception_type(void)
{
	static const struct fake_field fields[] = {
		{ .name = "_message", .element = ELEMENT_CLASS },
		{ .name = "_innerException", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "_stackTrace", .element = ELEMENT_CLASS, .offset = 16 },
		{ .name = "_stackTraceString", .element = ELEMENT_CLASS, .offset = 24 },
		{ .name = "_HResult", .element = ELEMENT_I4, .offset = 32 },
		{ 0 }
	};
	const struct gc_series four = { .size = 32 - 56, .offset = 8 };
	world.exception =
		fake_class(world.types, &(struct fake_class){ .space = "System",
							      .name = "Exception",
							      .fields = fields,
							      .type = { .base_size = 56,
									.series = &four,
									.series_count = 1 } });
}

static void make_arrays(uint64_t text)
{
	struct fake_clr *fake = world.fake;
	const struct gc_run run = { .pointers = 1, .skip = 16 };
	uint64_t numbers = fake_type(fake, &(struct fake_type){ .base_size = 24,
								.component_size = 4,
								.flags = SZ_ARRAY,
								.per_inst = world.number });
	uint64_t pairs = fake_type(fake, &(struct fake_type){ .base_size = 24,
							      .component_size = 24,
							      .flags = SZ_ARRAY,
							      .per_inst = world.pair,
							      .runs = &run,
							      .run_count = 1,
							      .runs_offset = 16 });
	uint64_t table = fake_type(fake, &(struct fake_type){ .base_size = 24 + 16,
							      .component_size = 4,
							      .flags = MD_ARRAY,
							      .per_inst = world.number });
	uint64_t texts = fake_array_type(fake, fake->string_type);
	uint64_t jagged = fake_array_type(fake, texts);
	uint64_t array = fake_object(fake, numbers, 5);
	add_object(array);
	array = fake_object(fake, pairs, 3);
	for (uint64_t i = 0; i < 3; i++)
		put_word(array + 16 + 24 * i, text);
	add_object(array);
	array = fake_object(fake, table, 6);
	put_word(array + 16, 2 | (uint64_t)3 << 32);
	add_object(array);
	array = fake_object(fake, texts, 2);
	put_word(array + 16, text);
	add_object(array);
	uint64_t outer = fake_object(fake, jagged, 2);
	put_word(outer + 24, array);
	add_object(outer);
}

static void make_objects(void)
{
	struct fake_clr *fake = world.fake;
	uint64_t text = fake_string(fake, "a text of some length");
	add_object(text);
	add_object(fake_string(fake, ""));
	add_object(fake_string(fake, "twice"));
	add_object(fake_string(fake, "twice"));
	add_object(fake_object(fake, fake->object_type, 0));
	make_arrays(text);
	uint64_t holder = fake_object(fake, world.holder, 0);
	put_word(holder + 192, text);
	(void)fake_sync_block(fake, holder);
	add_object(holder);
	add_object(fake_free(fake, 64));
	uint64_t boxed = fake_object(fake, world.color, 0);
	put_word(boxed + 8, 5);
	add_object(boxed);
	uint64_t inner = fake_object(fake, world.exception, 0);
	uint64_t outer = fake_object(fake, world.exception, 0);
	uint64_t trace = fake_object(fake, world.objects[5] ? world.number : 0, 0);
	put_word(inner + 8, text);
	put_word(outer + 16, inner);
	put_word(outer + 24, world.objects[5]);
	add_object(inner);
	add_object(outer);
	add_object(trace);
	uint64_t closed = fake_object(fake, world.handler, 0);
	put_word(closed + 8, holder);
	put_word(closed + 16, fake->object_type);
	uint64_t list = fake_object(fake, fake->object_array_type, 2);
	put_word(list + 16, closed);
	put_word(list + 24, closed);
	uint64_t many = fake_object(fake, world.handler, 0);
	put_word(many + 8, many);
	put_word(many + 32, list);
	put_word(many + 40, 2);
	add_object(closed);
	add_object(many);
	fake_thread(fake)->exception = outer;
	(void)fake_context(fake, 256);
	add_object(fake_object(fake, fake->object_type, 0));
}

static void find_pieces(void)
{
	struct memory *memory = &world.fake->memory.memory;
	for (uint64_t at = memory_next(memory, 0); at != UINT64_MAX;) {
		uint64_t size = 0;
		if (!memory_run(memory, at, &size) || world.piece_count == PIECES_MAX)
			abort();
		world.pieces[world.piece_count++] =
			(struct piece){ at, size / 8, world.word_count };
		world.word_count += size / 8;
		at = memory_next(memory, at + size);
	}
}

static void make_world(void)
{
	struct fake_clr *fake = world.fake = fake_clr_create(NULL);
	world.types = fake_types_create(fake);
	make_structs();
	make_exception_type();
	make_delegate_type();
	make_holder();
	fake_types_export(world.types);
	(void)fake_segment(fake, 0, GENERATION_2, 0x400);
	add_object(fake_string(fake, "old"));
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	make_objects();
	(void)fake_segment(fake, 0, GENERATION_LOH, 0x400);
	add_object(fake_string(fake, "large"));
	fake_export(fake, &(struct fake_export){ 0 });
	fake_set_global(fake, FAKE_EXCEPTION, world.exception);
	find_pieces();
}

/* Address of word @p place, counted over all the pieces. */
static uint64_t address_of(uint64_t place)
{
	place %= world.word_count;
	unsigned int low = 0, high = world.piece_count;
	while (high - low > 1) {
		unsigned int middle = low + (high - low) / 2;
		if (world.pieces[middle].first <= place) {
			low = middle;
		} else {
			high = middle;
		}
	}
	return world.pieces[low].address + 8 * (place - world.pieces[low].first);
}

struct undo {
	uint64_t address, word;
};

static void change(const uint8_t *bytes, struct undo *ret)
{
	uint8_t what = bytes[0], width = (uint8_t)(8u >> (what >> 4 & 3));
	uint64_t value = load_u64(bytes + 4), address = address_of(load_u16(bytes + 2));
	uint64_t old = fake_peek_u64(&world.fake->memory, address), fresh = old;
	unsigned int byte = bytes[1] % 8u / width * width;
	uint64_t mask = width == 8 ? UINT64_MAX : (((uint64_t)1 << 8 * width) - 1) << 8 * byte;
	switch (what & 3) {
	case 0:
		fresh = value;
		break;
	case 1:
		fresh = address_of(value & 0xffff) + (value >> 16);
		break;
	case 2:
		fresh = (old >> 8 * byte) + value;
		break;
	default:
		fresh = (old >> 8 * byte) ^ value;
		break;
	}
	*ret = (struct undo){ address, old };
	put_word(address, (old & ~mask) | (fresh << 8 * byte & mask));
}

static int swallow(void *arg, const char *text, size_t size)
{
	(void)arg;
	(void)text;
	(void)size;
	return 0;
}

/* "dumpvc % @" and the like. */
static void run_line(struct hd_session *session, const char *line, uint64_t object)
{
	const struct hd_sink sink = { .struct_size = sizeof(sink), .write = swallow };
	char words[16][32];
	const char *argv[16];
	int argc = 0;
	uint64_t method_table = 0;
	(void)memory_u64(&world.fake->memory.memory, object, &method_table);
	while (*line && argc < 16) {
		size_t length = strcspn(line, " ");
		if (*line == '@' || *line == '%') {
			(void)snprintf(words[argc], sizeof(words[argc]), "%llx",
				       (unsigned long long)(*line == '@' ? object : method_table));
		} else {
			(void)snprintf(words[argc], sizeof(words[argc]), "%.*s", (int)length, line);
		}
		argv[argc] = words[argc];
		argc++;
		line += length + (line[length] == ' ');
	}
	(void)hd_command_run(session, argc, argv, &sink, NULL);
}

void fake_world_run(const char *const *lines, unsigned int object, const uint8_t *data, size_t size)
{
	if (!world.fake)
		make_world();
	struct target *target = &world.fake->target;
	struct undo undo[FAKE_CHANGES_MAX];
	size_t count = 0;
	while (size >= FAKE_CHANGE_SIZE && count < FAKE_CHANGES_MAX) {
		change(data, &undo[count++]);
		data += FAKE_CHANGE_SIZE;
		size -= FAKE_CHANGE_SIZE;
	}
	struct hd_session *session = NULL;
	if (hd_session_create(&session, NULL) != HD_OK)
		abort();
	session->target = target;
	session->path = mem_strndup("a.core", 6);
	session->settings.workers = 1;
	session->settings.max_mem = (uint64_t)256 << 20;
	for (; *lines; lines++)
		run_line(session, *lines, world.objects[object % world.object_count]);
	session->target = NULL;
	hd_session_destroy(session);
	findings_deinit(&target->findings);
	target->findings = (struct findings){ 0 };
	relocation_cache_destroy(target->files.relocations);
	target->files.relocations = relocation_cache_create();
	while (count--)
		put_word(undo[count].address, undo[count].word);
}
