/* SPDX-License-Identifier: MIT */
/* The sections .debug_info, .debug_abbrev and .debug_ranges (DWARF 4): one unit with a subprogram for each function. */
#include "managed_elf/dwarf.h"
#include "managed_elf/making.h"
#include "managed_elf/variables.h"
#include "mem/memory.h"
#include "util/leb.h"

#define VERSION 4u

/* Offsets have 32 bits. */
#define UNIT_SIZE_MAX ((size_t)1 << 30)

/*
 * Many functions: then only those have variables whose source is known, as long as .debug_info and .debug_loc are not larger
 * than this.  With all variables of 200,000 methods GDB would take 800 MB.
 */
#define MANY_FUNCTIONS     100000u
#define VARIABLES_SIZE_MAX ((size_t)32 << 20)

/* After so many functions the bytes are counted. */
#define CHECKED_EACH 1024u

/* Most bytes of debug info, rows of PDBs, and steps in blocks. */
#define DECODED_MAX ((uint64_t)256 << 20)

/* Debuggers take names as they are in C: in C++ LLDB would write ::Ns.Type.Method. */
#define LANGUAGE_C99 0x0cu

/* @return where the offset of the unit's ranges is, which write_unit() sets, as it does the size */
static size_t write_head(struct text *info)
{
	text_fixed(info, 0, 4);
	text_fixed(info, VERSION, 2);
	text_fixed(info, 0, 4);
	text_fixed(info, DWARF_ADDRESS, 1);
	text_uleb(info, ABBREV_UNIT);
	text_append(info, "heapdump", sizeof("heapdump"));
	text_fixed(info, LANGUAGE_C99, 1);
	text_append(info, "managed code", sizeof("managed code"));
	text_append(info, "/", sizeof("/"));
	text_fixed(info, 0, 4);
	size_t place = info->size;
	text_fixed(info, 0, 4);
	text_fixed(info, 0, DWARF_ADDRESS); /* what the ranges are relative to */
	return place;
}

size_t managed_elf_name_size(const char *name, size_t size)
{
	size_t depth = 0, end;
	for (end = size; end && (end == size ? name[end - 1] == ')' : depth != 0); end--)
		depth += (size_t)(name[end - 1] == ')') - (size_t)(name[end - 1] == '(');
	return depth || !end ? size : end;
}

/* A name without its arguments; of a funclet the words for it follow. */
static void write_name(const char *name, bool is_funclet, struct text *info)
{
	size_t size = strlen(name);
	if (is_funclet) {
		const char *words = strrchr(name, '[');
		size = words && words > name ? (size_t)(words - 1 - name) : size;
	}
	text_append(info, name, managed_elf_name_size(name, size));
	text_puts(info, name + size);
	text_append(info, "", 1);
}

/*
 * The line where the method begins is for GDB: to a line that has no code it does not take the next one if another method
 * begins there.
 */
static void write_function(const struct code_function *function, const char *name,
			   const struct method_source *source, uint8_t abbreviation,
			   struct text *info)
{
	text_uleb(info, abbreviation);
	write_name(name, function->part != CODE_METHOD, info);
	text_fixed(info, function->begin, DWARF_ADDRESS);
	text_fixed(info, function->end - function->begin, 4);
	text_uleb(info, 1);
	text_fixed(info, OP_CALL_FRAME_CFA, 1);
	if (source->file) {
		text_fixed(info, source->file, 4);
		text_fixed(info, source->line, 4);
	}
}

/* The sections while they are written. */
struct unit_writer {
	struct making *making;
	const char *names;
	struct text *info, *ranges;
	struct text
		all; /* the ranges of the unit: all functions; they come last in .debug_ranges */
	struct variable_making variables;
	bool has_variables; /* the method that was read last has some */
	bool is_large;      /* there are many functions with a name */
};

static void unit_writer_deinit(struct unit_writer *writer)
{
	text_deinit(&writer->all);
	variable_making_deinit(&writer->variables);
}

/* Has the method of the function variables that are to be written? */
static enum hd_status find_variables(struct unit_writer *writer, size_t number, bool *ret)
{
	struct making *making = writer->making;
	const struct code_function *function = &making->functions->rows[number];
	struct variable_making *variables = &writer->variables;
	*ret = false;
	if (function->begin < function->start || function->end - function->start > UINT32_MAX)
		return HD_OK;
	if (writer->is_large &&
	    (!making->sources[number].file ||
	     writer->info->size + variables->locations.size > VARIABLES_SIZE_MAX)) {
		making->counts.without_variables++;
		return HD_OK;
	}
	if (variables->start != function->start)
		TRY(variables_read(variables, function, &writer->has_variables));
	*ret = writer->has_variables;
	return HD_OK;
}

static enum hd_status write_functions(struct unit_writer *writer)
{
	struct making *making = writer->making;
	size_t named = 0;
	for (size_t i = 0; i < making->functions->rows_count; i++)
		named += making->names[i] != 0;
	writer->is_large = named > MANY_FUNCTIONS;
	struct text *info = writer->info, *all = &writer->all;
	for (size_t i = 0; i < making->functions->rows_count; i++) {
		const struct code_function *function = &making->functions->rows[i];
		bool has_variables;
		TRY(job_check(making->job, 1, making->err));
		if (i % CHECKED_EACH == 0) {
			TRY(making_check_memory(making,
						all->size + writer->variables.locations.size));
		}
		if (!making->names[i] || info->size > UNIT_SIZE_MAX ||
		    function->end - function->begin > UINT32_MAX)
			continue;
		TRY(find_variables(writer, i, &has_variables));
		const struct method_source *source = &making->sources[i];
		uint8_t without = source->file ? ABBREV_LINED_FUNCTION : ABBREV_FUNCTION;
		size_t begin = info->size;
		write_function(function, writer->names + making->names[i], source,
			       (uint8_t)(without + has_variables), info);
		if (has_variables) {
			size_t children = info->size;
			variables_write(&writer->variables, function, info, writer->ranges);
			elf_entry_end(info, begin, children, without);
		}
		text_fixed(all, function->begin, DWARF_ADDRESS);
		text_fixed(all, function->end, DWARF_ADDRESS);
		TRY_MEMORY(!info->failed && !all->failed && !writer->ranges->failed &&
				   !writer->variables.locations.failed &&
				   !writer->variables.types.failed,
			   making->err);
	}
	return HD_OK;
}

/* DWARF 4, 6.1.2: the same ranges for who looks a unit up by an address; pairs begin at a multiple of their size. */
#define ARANGES_VERSION 2u
#define ARANGES_HEAD    16u

static enum hd_status write_aranges(struct unit_writer *writer)
{
	struct making *making = writer->making;
	const size_t pair = (size_t)2 * DWARF_ADDRESS;
	struct elf_section *section =
		elf_section_add(&making->sections, ".debug_aranges", SHT_PROGBITS, 0);
	TRY_MEMORY(section, making->err);
	struct text *text = &section->data;
	uint64_t size = ARANGES_HEAD - 4 + writer->all.size + pair;
	text_fixed(text, size < UINT32_MAX ? size : ARANGES_HEAD - 4 + pair, 4);
	text_fixed(text, ARANGES_VERSION, 2);
	text_fixed(text, 0, 4);
	text_fixed(text, DWARF_ADDRESS, 1);
	text_fixed(text, 0, 1);
	text_fixed(text, 0, 4);
	for (size_t i = 0; size < UINT32_MAX && i < writer->all.size; i += pair) {
		const uint8_t *range = (const uint8_t *)writer->all.bytes + i;
		uint64_t begin = load_u64(range);
		text_fixed(text, begin, DWARF_ADDRESS);
		text_fixed(text, load_u64(range + DWARF_ADDRESS) - begin, DWARF_ADDRESS);
	}
	text_fixed(text, 0, DWARF_ADDRESS);
	text_fixed(text, 0, DWARF_ADDRESS);
	TRY_MEMORY(!text->failed, making->err);
	return making_check_memory(making, writer->all.size);
}

static enum hd_status write_unit(struct unit_writer *writer)
{
	struct making *making = writer->making;
	struct text *info = writer->info;
	size_t place = write_head(info);
	TRY(write_functions(writer));
	TRY(elf_types_write(&writer->variables.types, making->job, info, making->err));
	TRY(making_check_memory(making, writer->all.size + writer->variables.locations.size));
	text_fixed(info, 0, 1);
	uint32_t at = (uint32_t)writer->ranges->size;
	text_append(writer->ranges, writer->all.bytes, writer->all.size);
	text_fixed(writer->ranges, 0, DWARF_ADDRESS);
	text_fixed(writer->ranges, 0, DWARF_ADDRESS);
	TRY_MEMORY(!info->failed && !writer->ranges->failed && info->size < UINT32_MAX &&
			   writer->ranges->size < UINT32_MAX,
		   making->err);
	uint32_t size = (uint32_t)(info->size - sizeof(size));
	memcpy(info->bytes, &size, sizeof(size));
	memcpy(info->bytes + place, &at, sizeof(at));
	return HD_OK;
}

enum hd_status making_units(struct making *making)
{
	struct elf_section *section =
		elf_section_add(&making->sections, ".debug_abbrev", SHT_PROGBITS, 0);
	TRY_MEMORY(section, making->err);
	text_append(&section->data, (const char *)elf_abbreviations, elf_abbreviations_size);
	size_t first = making->sections.rows_count;
	TRY_MEMORY(elf_section_add(&making->sections, ".debug_ranges", SHT_PROGBITS, 0) &&
			   elf_section_add(&making->sections, ".debug_info", SHT_PROGBITS, 0) &&
			   elf_section_add(&making->sections, ".debug_loc", SHT_PROGBITS, 0),
		   making->err);
	struct elf_section *rows = making->sections.rows;
	HD_CLEANUP(unit_writer)
	struct unit_writer writer = {
		.making = making,
		.names = rows[making->strings].data.bytes,
		.ranges = &rows[first].data,
		.info = &rows[first + 1].data,
		.variables = { .making = making, .budget = DECODED_MAX },
	};
	TRY(write_unit(&writer));
	rows[first + 2].data = writer.variables.locations;
	writer.variables.locations = (struct text){ 0 };
	return making->has_ranges ? write_aranges(&writer) : HD_OK;
}
