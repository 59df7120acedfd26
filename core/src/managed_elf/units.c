/* SPDX-License-Identifier: MIT */
/* The sections .debug_info, .debug_abbrev and .debug_ranges (DWARF 4): one unit with a subprogram for each function. */
#include "managed_elf/making.h"
#include "util/leb.h"

#define VERSION      4u
#define ADDRESS_SIZE 8u

/* Offsets have 32 bits. */
#define UNIT_SIZE_MAX ((size_t)1 << 30)

/* Tags, attributes, forms (DWARF 4, 7.5), and their values. */
enum {
	TAG_COMPILE_UNIT = 0x11,
	TAG_SUBPROGRAM = 0x2e,
	AT_NAME = 0x03,
	AT_STMT_LIST = 0x10,
	AT_LOW_PC = 0x11,
	AT_HIGH_PC = 0x12,
	AT_LANGUAGE = 0x13,
	AT_COMP_DIR = 0x1b,
	AT_PRODUCER = 0x25,
	AT_DECL_FILE = 0x3a,
	AT_DECL_LINE = 0x3b,
	AT_EXTERNAL = 0x3f,
	AT_FRAME_BASE = 0x40,
	AT_RANGES = 0x55,
	FORM_ADDR = 0x01,
	FORM_DATA4 = 0x06,
	FORM_STRING = 0x08,
	FORM_DATA1 = 0x0b,
	FORM_SEC_OFFSET = 0x17,
	FORM_EXPRLOC = 0x18,
	FORM_FLAG_PRESENT = 0x19,
	OP_CALL_FRAME_CFA = 0x9c,
};

/* Debuggers take names as they are in C: in C++ LLDB would write ::Ns.Type.Method. */
#define LANGUAGE_C99 0x0cu

enum {
	ABBREV_UNIT = 1,
	ABBREV_FUNCTION,
};

static const uint8_t abbreviations[] = {
	ABBREV_UNIT,
	TAG_COMPILE_UNIT,
	1,
	AT_PRODUCER,
	FORM_STRING,
	AT_LANGUAGE,
	FORM_DATA1,
	AT_NAME,
	FORM_STRING,
	AT_COMP_DIR,
	FORM_STRING,
	AT_STMT_LIST,
	FORM_SEC_OFFSET,
	AT_RANGES,
	FORM_SEC_OFFSET,
	AT_LOW_PC,
	FORM_ADDR,
	0,
	0,
	ABBREV_FUNCTION,
	TAG_SUBPROGRAM,
	0,
	AT_NAME,
	FORM_STRING,
	AT_LOW_PC,
	FORM_ADDR,
	AT_HIGH_PC,
	FORM_DATA4,
	AT_FRAME_BASE,
	FORM_EXPRLOC,
	AT_EXTERNAL,
	FORM_FLAG_PRESENT,
	AT_DECL_FILE,
	FORM_DATA4,
	AT_DECL_LINE,
	FORM_DATA4,
	0,
	0,
	0,
};

static void write_head(struct text *info)
{
	text_fixed(info, 0, 4); /* the size, which write_functions() sets */
	text_fixed(info, VERSION, 2);
	text_fixed(info, 0, 4);
	text_fixed(info, ADDRESS_SIZE, 1);
	text_uleb(info, ABBREV_UNIT);
	text_append(info, "heapdump", sizeof("heapdump"));
	text_fixed(info, LANGUAGE_C99, 1);
	text_append(info, "managed code", sizeof("managed code"));
	text_append(info, "/", sizeof("/"));
	text_fixed(info, 0, 4);
	text_fixed(info, 0, 4);
	text_fixed(info, 0, ADDRESS_SIZE); /* what the ranges are relative to */
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
			   const struct method_source *source, struct text *info)
{
	text_uleb(info, ABBREV_FUNCTION);
	write_name(name, function->part != CODE_METHOD, info);
	text_fixed(info, function->begin, ADDRESS_SIZE);
	text_fixed(info, function->end - function->begin, 4);
	text_uleb(info, 1);
	text_fixed(info, OP_CALL_FRAME_CFA, 1);
	text_fixed(info, source->file, 4);
	text_fixed(info, source->line, 4);
}

static enum hd_status write_functions(struct making *making, const char *names, struct text *info,
				      struct text *ranges)
{
	write_head(info);
	for (size_t i = 0; i < making->functions->rows_count; i++) {
		const struct code_function *function = &making->functions->rows[i];
		TRY(job_check(making->job, 1, making->err));
		if (!making->names[i] || info->size > UNIT_SIZE_MAX ||
		    function->end - function->begin > UINT32_MAX)
			continue;
		write_function(function, names + making->names[i], &making->sources[i], info);
		text_fixed(ranges, function->begin, ADDRESS_SIZE);
		text_fixed(ranges, function->end, ADDRESS_SIZE);
		TRY_MEMORY(!info->failed && !ranges->failed, making->err);
	}
	text_fixed(info, 0, 1);
	text_fixed(ranges, 0, ADDRESS_SIZE);
	text_fixed(ranges, 0, ADDRESS_SIZE);
	TRY_MEMORY(!info->failed && !ranges->failed, making->err);
	uint32_t size = (uint32_t)(info->size - sizeof(size));
	memcpy(info->bytes, &size, sizeof(size));
	return HD_OK;
}

enum hd_status making_units(struct making *making)
{
	struct elf_section *section =
		elf_section_add(&making->sections, ".debug_abbrev", SHT_PROGBITS, 0);
	TRY_MEMORY(section, making->err);
	text_append(&section->data, (const char *)abbreviations, sizeof(abbreviations));
	size_t ranges = making->sections.rows_count;
	TRY_MEMORY(elf_section_add(&making->sections, ".debug_ranges", SHT_PROGBITS, 0) &&
			   elf_section_add(&making->sections, ".debug_info", SHT_PROGBITS, 0),
		   making->err);
	return write_functions(making, making->sections.rows[making->strings].data.bytes,
			       &making->sections.rows[ranges + 1].data,
			       &making->sections.rows[ranges].data);
}
