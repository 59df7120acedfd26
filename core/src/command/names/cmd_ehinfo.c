/* SPDX-License-Identifier: MIT */
/* ehinfo: the exception clauses of the code of a method. */
#include "command/names/shown_code.h"
#include "command/table.h"
#include "gc/heap.h"
#include "runtime/coreclr/code/clauses.h"
#include "runtime/coreclr/modules/token_name.h"
#include "runtime/type.h"

#define CLAUSE_LIST(X)                                                                           \
	X(CLAUSE_INDEX, "index", NULL, KIND_NUMBER, 0, 0,                                        \
	  "in the order in which the runtime looks at them, inner ones first")                   \
	X(CLAUSE_KIND, "kind", NULL, KIND_TEXT, 0, 0, "TYPED (a catch), FILTER, FINALLY, FAULT") \
	X(CLAUSE_TYPE, "type", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                               \
	  "TYPED: the type of the exceptions; null: not known")                                  \
	X(CLAUSE_DUPLICATE, "is_duplicate", NULL, KIND_FLAG, 0, 0,                               \
	  "is it for a part of a try block that the compiler has moved?")                        \
	X(CLAUSE_TRY_BEGIN, "try_begin", NULL, KIND_ADDRESS, 0, 0,                               \
	  "address where the try block begins")                                                  \
	X(CLAUSE_TRY_END, "try_end", NULL, KIND_ADDRESS, 0, 0, "address after it")               \
	X(CLAUSE_TRY_IL, "try_il", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                         \
	  "offset in the IL of its first instruction; no member: not known")                     \
	X(CLAUSE_TRY_FILE, "try_file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                       \
	  "its source file; no member: no PDB tells it")                                         \
	X(CLAUSE_TRY_LINE, "try_line", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "line in that")     \
	X(CLAUSE_BEGIN, "handler_begin", NULL, KIND_ADDRESS, 0, 0,                               \
	  "address where the handler begins")                                                    \
	X(CLAUSE_END, "handler_end", NULL, KIND_ADDRESS, 0, 0, "address after it")               \
	X(CLAUSE_IL, "handler_il", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "as try_il")            \
	X(CLAUSE_FILE, "handler_file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "as try_file")        \
	X(CLAUSE_LINE, "handler_line", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "as try_line")      \
	X(CLAUSE_FILTER, "filter", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                        \
	  "FILTER: address where the filter begins")                                             \
	X(CLAUSE_TRY_FROM, .heading = "try_from", .kind = KIND_NUMBER)       /**< text only */   \
	X(CLAUSE_TRY_TO, .heading = "try_to", .kind = KIND_NUMBER)           /**< text only */   \
	X(CLAUSE_FROM, .heading = "from", .kind = KIND_NUMBER)               /**< text only */   \
	X(CLAUSE_TO, .heading = "to", .kind = KIND_NUMBER)                   /**< text only */   \
	X(CLAUSE_FILTER_FROM, .heading = "filter_from", .kind = KIND_NUMBER) /**< text only */

COLUMNS(clause, CLAUSE_COLUMNS, CLAUSE_LIST);

SCHEMA(clause, .name = "clauses", .is_main = true,
       .lines = "\nEHHandler {index}: {kind}[ catch({type})][?is_duplicate  duplicate]\n"
		"Clause:  \\[{try_begin:016}, {try_end:016}\\] \\[{try_from:x}, {try_to:x}\\]"
		"[=try_il   IL_{try_il:04}]{try_file:s}\n"
		"Handler: \\[{handler_begin:016}, {handler_end:016}\\] \\[{from:x}, {to:x}\\]"
		"[=handler_il   IL_{handler_il:04}]{handler_file:s}\n"
		"[=filter Filter:  \\[{filter:016}\\] \\[{filter_from:x}\\]\n]");

static const struct table_options bare = { .limit = UINT64_MAX, .no_heading = true };

static const char *kind_of(uint32_t flags)
{
	return flags & CLAUSE_IS_FILTER    ? "FILTER"
	       : flags & CLAUSE_IS_FINALLY ? "FINALLY"
	       : flags & CLAUSE_IS_FAULT   ? "FAULT"
					   : "TYPED";
}

/* The type that a clause catches, as text. */
static void put_type(struct call *call, const struct shown_code *shown,
		     const struct code_clause *clause, struct text *text)
{
	struct runtime *runtime = call->heap->runtime;
	const struct module *module = shown->method.rid ? shown->method.module : NULL;
	if (clause->token) {
		if (module && module->metadata)
			(void)token_name(runtime, module, clause->token, text);
	} else if (clause->type) {
		const struct type *type = type_find(runtime, clause->type);
		size_t size;
		if (type) {
			const char *name = type_name(runtime, type, &size);
			text_append(text, name, size);
		}
	}
}

static void write_clause(struct call *call, const struct shown_code *shown, size_t index,
			 const struct code_clause *clause)
{
	uint64_t start = shown->code.start;
	HD_CLEANUP(text) struct text type = { 0 };
	struct cell cells[CLAUSE_COLUMNS] = {
		[CLAUSE_INDEX] = cell_number(index),
		[CLAUSE_KIND] = cell_string(kind_of(clause->flags)),
		[CLAUSE_DUPLICATE] = cell_flag(clause->flags & CLAUSE_IS_DUPLICATED),
		[CLAUSE_TRY_BEGIN] = cell_number(start + clause->try_begin),
		[CLAUSE_TRY_END] = cell_number(start + clause->try_end),
		[CLAUSE_TRY_FROM] = cell_number(clause->try_begin),
		[CLAUSE_TRY_TO] = cell_number(clause->try_end),
		[CLAUSE_BEGIN] = cell_number(start + clause->handler_begin),
		[CLAUSE_END] = cell_number(start + clause->handler_end),
		[CLAUSE_FROM] = cell_number(clause->handler_begin),
		[CLAUSE_TO] = cell_number(clause->handler_end),
	};
	shown_code_place(shown, shown_code_first(shown, clause->try_begin, clause->try_end),
			 &cells[CLAUSE_TRY_IL], &cells[CLAUSE_TRY_FILE], &cells[CLAUSE_TRY_LINE]);
	shown_code_place(shown, shown_code_first(shown, clause->handler_begin, clause->handler_end),
			 &cells[CLAUSE_IL], &cells[CLAUSE_FILE], &cells[CLAUSE_LINE]);
	if (clause->flags & CLAUSE_IS_FILTER) {
		cells[CLAUSE_FILTER] = cell_number(start + clause->filter);
		cells[CLAUSE_FILTER_FROM] = cell_number(clause->filter);
	} else if (!(clause->flags & (CLAUSE_IS_FINALLY | CLAUSE_IS_FAULT))) {
		put_type(call, shown, clause, &type);
		cells[CLAUSE_TYPE] = type.size ? cell_text(type.bytes, type.size) : cell_null();
	}
	answer_row(&call->answer, cells);
	call->out.text.failed |= type.failed;
}

static const struct column end_columns[] = {
	{ "complete", NULL, KIND_FLAG, 0, 0, "could all clauses be read?" },
};
static const struct schema end_schema = { SCHEMA_COLUMNS(end_columns) };

static enum hd_status write_clauses(struct call *call, const struct shown_code *shown,
				    const struct code_clauses *clauses)
{
	shown_code_write(call, shown);
	answer_table(&call->answer, &clause_schema, &bare);
	for (size_t i = 0; i < clauses->rows_count; i++) {
		if (answer_wants_row(&call->answer))
			write_clause(call, shown, i, &clauses->rows[i]);
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	const struct cell cells[] = { cell_flag(!clauses->is_partial) };
	answer_data(&call->answer, &end_schema, cells);
	if (clauses->is_partial) {
		answer_remark(&call->answer,
			      "Exception clauses cannot be read: some, or all, are missing.\n");
	} else if (!clauses->rows_count) {
		answer_remark(&call->answer, "The method has no exception clauses.\n");
	}
	return HD_OK;
}

static enum hd_status run_ehinfo(struct call *call)
{
	HD_CLEANUP(shown_code) struct shown_code shown = { 0 };
	HD_CLEANUP(code_clauses) struct code_clauses clauses = { 0 };
	TRY(shown_code_find(call, &shown));
	TRY_MEMORY(code_clauses_read(call->heap->runtime, &shown.code, &clauses), call->err);
	return write_clauses(call, &shown, &clauses);
}

COMMAND(ehinfo, .has_rows = true,
	.summary = "show the exception clauses of a method's code: what they guard and catch",
	.description =
		"METHOD is the address of a MethodDesc, or one in the code of a method. Each clause has\n"
		"the addresses of its try block and of its handler, the same as offsets, and the IL and\n"
		"the line at which they begin. dumpil shows the clauses of the IL.\n",
	.example = "ehinfo 7f0f794a1ba0", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_METADATA, .words = { { "METHOD", VALUE_ADDRESS, false } });
