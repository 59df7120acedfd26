/* SPDX-License-Identifier: MIT */
#include "command/memory/word_rows.h"

#include <inttypes.h>

#include "command/objects/object.h"
#include "runtime/code.h"
#include "targets/code_place.h"

static const struct column columns[] = { WORD_LIST(LIST_ROW) };

const struct schema word_schema = {
	.name = "words",
	SCHEMA_COLUMNS(columns),
	.is_main = true,
	.lines = "[=address {address:012a}|  {register:-4}]  [=value {value:016}|????????????????]"
		 "[=said   {said}]\n",
};

void word_cells_deinit(struct word_cells *cells)
{
	text_deinit(&cells->name);
	text_deinit(&cells->text);
	text_deinit(&cells->said);
}

static const char *const means[] = {
	[WORD_OBJECT] = "object", [WORD_INSIDE] = "inside", [WORD_HEAP] = "heap",
	[WORD_TYPE] = "type",     [WORD_METHOD] = "method", [WORD_CODE] = "code",
	[WORD_STACK] = "stack",   [WORD_FILE] = "file",
};

static void put_type(struct call *call, const struct type *type, struct text *text)
{
	size_t size;
	const char *name = type_name(call->heap->runtime, type, &size);
	if (name) {
		text_append(text, name, size);
	} else {
		text_printf(text, "<unknown type %" PRIx64 ">", type->method_table);
	}
}

/* The name that is a cell of its own. */
static void put_name(struct call *call, const struct word_meaning *meaning, uint64_t word,
		     uint64_t *symbols, struct text *text)
{
	struct runtime *runtime = call->heap->runtime;
	switch (meaning->kind) {
	case WORD_OBJECT:
	case WORD_INSIDE:
		put_type(call, meaning->object.type, text);
		break;
	case WORD_TYPE:
		put_type(call, meaning->type, text);
		break;
	case WORD_METHOD:
	case WORD_CODE:
		runtime_method_signature(runtime, meaning->method_desc, text);
		break;
	case WORD_FILE:
		target_code_place(runtime_target(runtime), call->settings.symbols, word, true,
				  symbols, text);
		break;
	case WORD_PLAIN:
	case WORD_HEAP:
	case WORD_STACK:
		break;
	}
}

/* The words that a person reads beside it. */
static void put_said(struct call *call, const struct word_meaning *meaning, const struct text *name,
		     struct text *said)
{
	if (meaning->kind == WORD_TYPE) {
		text_puts(said, "MethodTable of ");
	} else if (meaning->kind == WORD_METHOD) {
		text_puts(said, "MethodDesc of ");
	} else if (meaning->is_stub) {
		text_puts(said, "stub of ");
	} else if (meaning->kind == WORD_INSIDE) {
		text_printf(said, "%" PRIu64 " bytes into %" PRIx64 " ", meaning->offset,
			    meaning->object.address);
	} else if (meaning->kind == WORD_HEAP) {
		text_puts(said, "GC heap, no object known");
	} else if (meaning->kind == WORD_STACK) {
		text_printf(said, "stack of thread %x", (unsigned int)meaning->thread->tid);
	}
	if (name->size)
		text_append(said, name->bytes, name->size);
	if (meaning->kind == WORD_CODE && meaning->offset)
		text_printf(said, "+0x%" PRIx64, meaning->offset);
	if (meaning->kind == WORD_OBJECT) {
		size_t before = said->size;
		text_puts(said, " ");
		object_note(call, &meaning->object, said);
		if (said->size == before + 1)
			said->size = before;
	}
}

enum hd_status word_cells(struct call *call, struct word_reader *reader, uint64_t word,
			  uint64_t *symbols, struct word_cells *kept, struct cell *cells)
{
	struct word_meaning meaning;
	uint32_t length;
	TRY(word_meaning(reader, word, &call->job, &meaning, call->err));
	kept->name.size = kept->text.size = kept->said.size = 0;
	put_name(call, &meaning, word, symbols, &kept->name);
	cells[WORD_VALUE] = cell_number(word);
	if (meaning.kind)
		cells[WORD_MEANS] = cell_string(means[meaning.kind]);
	if (kept->name.size)
		cells[WORD_NAME] = cell_text(kept->name.bytes, kept->name.size);
	if (meaning.object.type)
		cells[WORD_OBJECT_AT] = cell_number(meaning.object.address);
	if (meaning.kind == WORD_INSIDE || (meaning.kind == WORD_CODE && !meaning.is_stub))
		cells[WORD_OFFSET] = cell_number(meaning.offset);
	if (meaning.kind == WORD_CODE)
		cells[WORD_STUB] = cell_flag(meaning.is_stub);
	if (meaning.thread)
		cells[WORD_STACK_OF] = cell_number((uint32_t)meaning.thread->tid);
	if (answer_is_text(&call->answer)) {
		put_said(call, &meaning, &kept->name, &kept->said);
	} else if (meaning.kind == WORD_OBJECT &&
		   string_value(call->heap, word, STRING_MAX, &kept->text, &length)) {
		cells[WORD_TEXT] = kept->text.size ? cell_text(kept->text.bytes, kept->text.size)
						   : cell_string("");
	}
	if (kept->said.size)
		cells[WORD_SAID] = cell_text(kept->said.bytes, kept->said.size);
	if (kept->name.failed || kept->text.failed || kept->said.failed)
		return fail_nomem(call->err);
	return HD_OK;
}
