/* SPDX-License-Identifier: MIT */
/* dumpsig and dumpsigelem: what the bytes of a signature mean. */
#include <inttypes.h>

#include "command/modules/module_rows.h"
#include "command/table.h"
#include "gc/heap.h"
#include "mem/memory.h"
#include "runtime/coreclr/code/signature_text.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/alloc.h"

/* Most bytes that are read of a signature, whose length nothing says. */
#define SIGNATURE_READ_MAX 16384u

#define SIGNATURE_LIST(X)                                                                     \
	X(SIGNATURE_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "where it begins")          \
	X(SIGNATURE_MODULE, "module", NULL, KIND_ADDRESS, 0, 0,                               \
	  "the Module whose metadata its tokens mean")                                        \
	X(SIGNATURE_TEXT, "signature", NULL, KIND_TEXT, 0, 0, "what it says, in SOS's words") \
	X(SIGNATURE_SIZE, "size", NULL, KIND_BYTES, 0, 0, "bytes of it that were read")       \
	X(SIGNATURE_COMPLETE, "complete", NULL, KIND_FLAG, 0, 0,                              \
	  "could all of it be read? no: it is cut, or not a signature")                       \
	X(SIGNATURE_TYPE, "type", NULL, KIND_TEXT, 0, 0,                                      \
	  "the full name of the type; null: not known") /* of dumpsigelem only */

COLUMNS(signature, SIGNATURE_COLUMNS, SIGNATURE_LIST);

static const struct schema signature_schema = {
	.columns = signature_columns,
	.count = SIGNATURE_TYPE,
	.lines = "{signature}\n",
};
static const struct schema element_schema = {
	SCHEMA_COLUMNS(signature_columns),
	.lines = "{signature}\n",
};

#define PART_LIST(X)                                                                      \
	X(PART_KIND, "part", "Part", KIND_TEXT, 9, LOOK_LEFT,                             \
	  "return, parameter, type (of a field or property), local, or argument (of "     \
	  "a generic method)")                                                            \
	X(PART_NUMBER, "number", "Number", KIND_NUMBER, 6, 0,                             \
	  "which of the parameters, locals or arguments, from 0")                         \
	X(PART_OFFSET, "offset", "Offset", KIND_NUMBER, 6, 0, "where its bytes begin")    \
	X(PART_SIZE, "size", "Size", KIND_BYTES, 4, 0, "how many bytes it has")           \
	X(PART_TEXT, "signature", NULL, KIND_TEXT, 0, 0, "what they say, in SOS's words") \
	X(PART_TYPE, "type", "Type", KIND_TEXT, 0, LOOK_LEFT,                             \
	  "the full name of the type; null: not known")

COLUMNS(part, PART_COLUMNS, PART_LIST);

static const struct schema parts_schema = {
	.name = "parts",
	SCHEMA_COLUMNS(part_columns),
	.is_main = true,
};

/* The bytes at the address that a command was given. */
struct signature_bytes {
	const struct module *module;
	uint8_t *bytes; /* for mem_free() */
	uint32_t size;
};

static enum hd_status read_bytes(struct call *call, struct signature_bytes *ret)
{
	uint64_t address = call->words[0].number;
	const struct module *module;
	TRY(call_module(call, call->words[1].number, false, &module));
	uint8_t *bytes = mem_alloc(SIGNATURE_READ_MAX, 1);
	TRY_MEMORY(bytes, call->err);
	size_t size = memory_prefix(call->heap->memory, address, bytes, SIGNATURE_READ_MAX);
	if (!size) {
		mem_free(bytes);
		return fail(call->err, HD_ERR_FAULT, address,
			    "the bytes at %" PRIx64 " are not in the target; info says what is "
			    "missing",
			    address);
	}
	*ret = (struct signature_bytes){ module, bytes, (uint32_t)size };
	return HD_OK;
}

static const char *part_kind(const struct signature_head *head, uint32_t index)
{
	switch (head->first & SIGNATURE_KIND) {
	case SIGNATURE_FIELD:
		return "type";
	case SIGNATURE_LOCALS:
		return "local";
	case SIGNATURE_INSTANCE:
		return "argument";
	case SIGNATURE_PROPERTY:
		return index ? "parameter" : "type";
	default:
		return index ? "parameter" : "return";
	}
}

/* The full name of the type that [begin, begin + size) is. */
static struct cell type_cell(struct runtime *runtime, const struct module *module,
			     const uint8_t *begin, size_t size, struct text *text)
{
	const struct type_arguments none = { 0 };
	if (!module->metadata)
		return cell_null();
	signature_type_name(runtime, module, begin, (uint32_t)size, none, text);
	return cell_text(text->bytes, text->size);
}

/* All of it in one line; where it is unsound, the line ends.  Returns the bytes that are sound. */
static uint32_t signature_line(struct runtime *runtime, const struct signature_bytes *from,
			       struct signature_head *ret_head, struct text *text,
			       bool *ret_is_complete)
{
	struct signature signature = { from->bytes, from->bytes + from->size };
	const uint8_t *sound = signature.at;
	*ret_is_complete = signature_head_read(&signature, ret_head);
	if (!*ret_is_complete)
		return 0;
	signature_head_text(ret_head, text);
	bool has_list = (ret_head->first & SIGNATURE_KIND) != SIGNATURE_FIELD;
	for (uint32_t i = 0; *ret_is_complete && i < ret_head->types; i++) {
		sound = signature.at;
		if (has_list && i == ret_head->has_return)
			text_puts(text, ret_head->has_return ? " (" : "(");
		text_puts(text, i > ret_head->has_return ? "," : "");
		*ret_is_complete = signature_type_text(runtime, from->module, &signature, text);
	}
	if (*ret_is_complete && has_list) {
		text_puts(text, ret_head->types > ret_head->has_return ? ")"
				: ret_head->has_return                 ? " ()"
								       : "()");
	}
	return (uint32_t)((*ret_is_complete ? signature.at : sound) - from->bytes);
}

static enum hd_status write_parts(struct call *call, const struct signature_bytes *from,
				  const struct signature_head *head, uint32_t limit)
{
	struct signature signature = { from->bytes, from->bytes + from->size };
	struct signature_head again;
	HD_CLEANUP(text) struct text text = { 0 }, type = { 0 };
	(void)signature_head_read(&signature, &again);
	answer_table(&call->answer, &parts_schema, NULL);
	for (uint32_t i = 0; i < head->types; i++) {
		const uint8_t *begin = signature.at;
		text.size = type.size = 0;
		if (begin - from->bytes >= limit ||
		    !signature_type_text(call->heap->runtime, from->module, &signature, &text))
			break;
		const size_t size = (size_t)(signature.at - begin);
		struct cell cells[PART_COLUMNS] = {
			[PART_KIND] = cell_string(part_kind(head, i)),
			[PART_OFFSET] = cell_number((uint64_t)(begin - from->bytes)),
			[PART_SIZE] = cell_number(size),
			[PART_TEXT] = cell_text(text.bytes, text.size),
		};
		if (i >= head->has_return && (head->first & SIGNATURE_KIND) != SIGNATURE_FIELD)
			cells[PART_NUMBER] = cell_number(i - head->has_return);
		if (answer_wants_row(&call->answer)) {
			cells[PART_TYPE] =
				type_cell(call->heap->runtime, from->module, begin, size, &type);
			answer_row(&call->answer, cells);
		}
		TRY(text.failed || type.failed ? fail_nomem(call->err) : call_check(call));
	}
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

static void write_end(struct call *call, const struct signature_bytes *from, uint32_t size,
		      bool is_complete)
{
	if (!is_complete) {
		answer_remark(&call->answer,
			      "After %" PRIu32 " bytes it is cut, or not a signature.\n", size);
	}
	if (!from->module->metadata) {
		answer_remark(&call->answer, "The metadata of this module is not there; info says "
					     "what to do.\n");
	}
}

static enum hd_status write_signature(struct call *call, const struct signature_bytes *from)
{
	struct signature_head head = { 0 };
	HD_CLEANUP(text) struct text line = { 0 };
	bool is_complete;
	uint64_t address = call->words[0].number;
	uint32_t size = signature_line(call->heap->runtime, from, &head, &line, &is_complete);
	if (!line.size) {
		return fail(call->err, HD_ERR_FORMAT, address,
			    "no signature begins at %" PRIx64 ", with the byte 0x%02x; "
			    "dumpsigelem shows a type that begins there",
			    address, from->bytes[0]);
	}
	const struct cell cells[SIGNATURE_TYPE] = {
		[SIGNATURE_ADDRESS] = cell_number(address),
		[SIGNATURE_MODULE] = cell_number(from->module->address),
		[SIGNATURE_TEXT] = cell_text(line.bytes, line.size),
		[SIGNATURE_SIZE] = cell_number(size),
		[SIGNATURE_COMPLETE] = cell_flag(is_complete),
	};
	answer_record(&call->answer, &signature_schema, cells);
	TRY_MEMORY(!line.failed, call->err);
	TRY(write_parts(call, from, &head, size));
	write_end(call, from, size, is_complete);
	return HD_OK;
}

static enum hd_status run_dumpsig(struct call *call)
{
	struct signature_bytes from;
	TRY(read_bytes(call, &from));
	enum hd_status status = write_signature(call, &from);
	mem_free(from.bytes);
	return status;
}

static enum hd_status run_dumpsigelem(struct call *call)
{
	struct signature_bytes from;
	struct text text = { 0 };
	HD_CLEANUP(text) struct text type = { 0 };
	uint64_t address = call->words[0].number;
	TRY(read_bytes(call, &from));
	struct signature signature = { from.bytes, from.bytes + from.size };
	bool is_complete = signature_type_text(call->heap->runtime, from.module, &signature, &text);
	uint32_t size = (uint32_t)(signature.at - from.bytes);
	enum hd_status status = HD_OK;
	if (text.failed) {
		status = fail_nomem(call->err);
	} else if (!text.size) {
		status = fail(call->err, HD_ERR_FORMAT, address,
			      "no type begins at %" PRIx64 ", with the byte 0x%02x; dumpsig shows "
			      "a whole signature",
			      address, from.bytes[0]);
	} else {
		struct cell cells[SIGNATURE_COLUMNS] = {
			[SIGNATURE_ADDRESS] = cell_number(address),
			[SIGNATURE_MODULE] = cell_number(from.module->address),
			[SIGNATURE_TEXT] = cell_text(text.bytes, text.size),
			[SIGNATURE_SIZE] = cell_number(size),
			[SIGNATURE_COMPLETE] = cell_flag(is_complete),
			[SIGNATURE_TYPE] = cell_null(),
		};
		if (is_complete) {
			cells[SIGNATURE_TYPE] = type_cell(call->heap->runtime, from.module,
							  from.bytes, size, &type);
		}
		answer_record(&call->answer, &element_schema, cells);
		write_end(call, &from, size, is_complete);
		call->out.text.failed |= type.failed;
	}
	text_deinit(&text);
	mem_free(from.bytes);
	return status;
}

COMMAND(dumpsig, .has_rows = true,
	.summary = "show what the bytes of a signature of a method, field or locals say",
	.description =
		"ADDR is where the signature begins, in metadata or in a dynamic method: dumpmd and\n"
		"dumpil show it. MODULE is the Module that its tokens belong to. The first line has\n"
		"SOS's words, such as UI1 for System.Byte and !0, !!0 for parameters of generics.\n",
	.example = "dumpsig 7f0ff80220ea 7f0f79538438", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_METADATA,
	.words = { { "ADDR", VALUE_ADDRESS, false }, { "MODULE", VALUE_ADDRESS, false } });

COMMAND(dumpsigelem, .summary = "show the one type that begins at an address inside a signature",
	.description =
		"For a signature of which only parts are sound, or that has no first byte, as that\n"
		"of a TypeSpec. ADDR is where the type begins, MODULE what its tokens belong to.\n",
	.example = "dumpsigelem 7f0ff80220ee 7f0f79538438", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_METADATA,
	.words = { { "ADDR", VALUE_ADDRESS, false }, { "MODULE", VALUE_ADDRESS, false } });
