/* SPDX-License-Identifier: MIT */
/* covers: core/src/managed_elf */
#include <stdio.h>
#include <stdlib.h>

#include "arch/x86_64/frame_registers.h"
#include "linear.h"
#include "managed_elf/variables.h"
#include "runtime/coreclr/types/field.h"
#include "support/dwarf_check.h"
#include "support/fake_types.h"
#include "util/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Types, variables, their places and blocks, all of them as the input says; what is written is well-formed DWARF.  The input is
 * a row of bytes, which are zeros after its end:
 *
 *	u8	number of classes, of variables, of ranges, of scopes, of bounds
 *	class:	u8 flags (1: struct), padding, size, parent; 4 fields: u8 element, u8 offset, u8 type
 *	variable: u8 element, u8 type, u8 name
 *	range:	u8 variable, u16 begin, u16 end, u8 kind, number, second, offset
 *	scope:	u8 begin, end, first local, locals
 *	bound:	u16 native, u8 il
 */
#define CLASSES   8u
#define FIELDS    4u
#define START     UINT64_C(0x7f0012345000)
#define SIZE_MAX_ 4096u

struct input {
	const uint8_t *at;
	size_t size;
};

static uint8_t take(struct input *input)
{
	if (!input->size)
		return 0;
	input->size--;
	return *input->at++;
}

static uint16_t take_u16(struct input *input)
{
	uint8_t low = take(input);
	return (uint16_t)(low | take(input) << 8);
}

static const char *const names[] = { "a",         "<P>k__BackingField", "<local>5__2", "<>4__this",
				     "tab\there", "bad\xff\xfe",        "\x1b[31m",    "x" };
static const char *const type_names[] = { "System.Int32", "System.Int32&",
					  "Ns.Nobody",    "Ns.Nobody**&*",
					  "System.Void*", "*",
					  "Ns.List<A>[]", "" };
#define NAMES (sizeof(names) / sizeof(names[0]))

/* Classes whose fields and parents are any of them, also later ones. */
static void make_classes(struct fake_clr *fake, struct input *input, unsigned int count,
			 uint64_t *tables)
{
	static const char *const class_names[CLASSES] = { "A", "B<C>", "B<D>+E", "D",
							  "E", "F",    "G",      "H" };
	struct fake_types *types = fake_types_create(fake);
	struct {
		uint8_t padding, parent;
	} later[CLASSES];
	for (unsigned int i = 0; i < count; i++) {
		struct fake_field fields[FIELDS + 1] = { 0 };
		uint8_t flags = take(input), size = take(input);
		later[i].padding = take(input);
		later[i].parent = take(input);
		for (unsigned int k = 0; k < FIELDS; k++) {
			uint8_t element = take(input), offset = take(input), type = take(input);
			fields[k] =
				(struct fake_field){ .name = names[type % NAMES],
						     .element = element % 32,
						     .offset = offset,
						     .type = i && type & 1 ? tables[type % i] : 0 };
		}
		tables[i] = fake_class(
			types,
			&(struct fake_class){ .space = "Ns",
					      .name = class_names[i],
					      .fields = fields,
					      .type = { .base_size = 24 + 8u * (size % 16),
							.flags = flags & 1 ? 0x40000u : 0 } });
	}
	for (unsigned int i = 0; i < count; i++) {
		uint64_t ee_class =
			fake_peek_u64(&fake->memory, fake_at(fake, tables[i], L_MT_CLASS));
		fake_poke(&fake->memory, ee_class + 49, &later[i].padding, 1);
		if (later[i].parent)
			fake_poke_u64(&fake->memory, fake_at(fake, tables[i], L_MT_PARENT),
				      tables[later[i].parent % count]);
		/* The fields of another class. */
		if (later[i].parent & 0x80) {
			uint64_t other = fake_peek_u64(
				&fake->memory, fake_at(fake, tables[(i + 1) % count], L_MT_CLASS));
			fake_poke_u64(
				&fake->memory, fake_at(fake, ee_class, L_CLASS_FIELDS),
				fake_peek_u64(&fake->memory, fake_at(fake, other, L_CLASS_FIELDS)));
		}
	}
	fake_types_attach(types);
	fake_types_destroy(types);
}

static void make_variables(struct variable_making *making, struct input *input, unsigned int count,
			   const uint64_t *tables, unsigned int classes)
{
	struct method_variables *list = &making->variables;
	list->rows = mem_calloc(count + 1, sizeof(*list->rows));
	making->type_rows = mem_calloc(count + 1, sizeof(*making->type_rows));
	list->count = count;
	list->argument_count = count / 2;
	for (unsigned int i = 0; i < count; i++) {
		uint8_t element = take(input), type = take(input), name = take(input);
		const struct type *known =
			classes && type & 0x80
				? type_find(making->making->runtime, tables[type % classes])
				: NULL;
		const char *text = names[name % NAMES];
		list->rows[i].name = mem_strndup(text, strlen(text));
		uint32_t row =
			elf_types_of(&making->types, element % 32, known, type_names[type % 8]);
		making->type_rows[i] =
			row ? row : elf_types_of(&making->types, ELEMENT_U, NULL, "");
	}
}

static void make_lists(struct variable_making *making, struct input *input, const uint8_t *counts)
{
	uint8_t variable = 0;
	uint32_t native = 0;
	for (unsigned int i = 0; i < counts[0] && PAGES_RESERVE(&making->ranges, rows); i++) {
		/* The reader sorts them, and leaves out those that are empty. */
		struct variable_range row = { 0 };
		variable = (uint8_t)(variable + take(input) % 3);
		row.number = variable;
		row.begin = take_u16(input);
		row.end = row.begin + 1 + take_u16(input);
		row.home.kind = take(input) % (HOME_NONE + 1);
		row.home.number = take(input) % 16;
		row.home.second = take(input) % 16;
		row.home.offset = (int8_t)take(input);
		making->ranges.rows[making->ranges.rows_count++] = row;
	}
	for (unsigned int i = 0; i < 16 && PAGES_RESERVE(&making->scopes, locals); i++)
		making->scopes.locals[making->scopes.locals_count++] =
			(struct pdb_local){ i % 7, names[i % NAMES] };
	for (unsigned int i = 0; i < counts[1] && PAGES_RESERVE(&making->scopes, rows); i++) {
		struct pdb_scope scope = { .begin = take(input), .end = take(input) };
		scope.first_local = take(input) % 16;
		scope.locals = take(input) % (17 - scope.first_local);
		making->scopes.rows[making->scopes.rows_count++] = scope;
	}
	for (unsigned int i = 0; i < counts[2] && PAGES_RESERVE(&making->bounds, rows); i++) {
		native += take_u16(input) % 512;
		uint8_t il = take(input);
		making->bounds.rows[making->bounds.rows_count++] =
			(struct code_bound){ native, il == 0xff ? CODE_BOUND_NOTHING : il, il & 1 };
	}
}

/* Sorted as the runtime's are read, and as a PDB has them: by begin, outer ones first. */
static int compare_scopes(const void *a, const void *b)
{
	const struct pdb_scope *x = a, *y = b;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

static void write_and_check(struct variable_making *making, uint32_t begin, uint32_t end)
{
	HD_CLEANUP(text) struct text info = { 0 };
	HD_CLEANUP(text) struct text ranges = { 0 };
	const struct code_function function = { .start = START,
						.begin = START + begin,
						.end = START + end };
	struct dwarf_counts counts;
	text_append(&info, "head", 4);
	variables_write(making, &function, &info, &ranges);
	if (elf_types_write(&making->types, NULL, &info, NULL) != HD_OK)
		abort();
	const struct dwarf_sections sections = { &info, &making->locations, &ranges, 4 };
	const char *wrong = dwarf_check(&sections, &counts);
	if (wrong) {
		(void)fprintf(stderr, "%s\n", wrong);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	uint64_t tables[CLASSES];
	uint8_t counts[5];
	if (size > SIZE_MAX_)
		return 0;
	for (size_t i = 0; i < sizeof(counts); i++)
		counts[i] = take(&input);
	struct fake_clr *fake = fake_clr_create(NULL);
	unsigned int classes = counts[0] % (CLASSES + 1);
	make_classes(fake, &input, classes, tables);
	struct making about = { .runtime = fake_runtime(fake) };
	struct variable_making making = { .making = &about, .budget = 100000 };
	making.types.runtime = about.runtime;
	make_variables(&making, &input, counts[1] % 16, tables, classes);
	make_lists(&making, &input, counts + 2);
	if (making.scopes.rows_count && counts[3] & 0x80)
		qsort(making.scopes.rows, making.scopes.rows_count, sizeof(*making.scopes.rows),
		      compare_scopes);
	uint32_t begin = take_u16(&input);
	for (uint8_t i = take(&input) % 4; i; i--) {
		struct kept_variable *kept =
			mem_realloc(making.kept, making.kept_count + 1, sizeof(*kept));
		making.kept = kept;
		const char *name = names[take(&input) % NAMES];
		kept[making.kept_count++] =
			(struct kept_variable){ mem_strndup(name, strlen(name)),
						elf_types_of(&making.types, ELEMENT_I4, NULL, ""),
						take_u16(&input) };
	}
	struct linear linear = linear_begin(SIZE_MAX_);
	write_and_check(&making, begin, begin + 1 + take_u16(&input));
	linear_end(&linear, "managed_elf");
	variable_making_deinit(&making);
	fake_clr_destroy(fake);
	return 0;
}
