/* SPDX-License-Identifier: MIT */
#include "command/names/code_rows.h"

#include "gc/heap.h"
#include "runtime/coreclr/code/tier.h"
#include "unwind/gc_info.h"

#define BODY_LIST(X)                                                                   \
	X(BODY_START, "start", NULL, KIND_ADDRESS, 0, 0, "where the code begins")      \
	X(BODY_SIZE, "size", NULL, KIND_BYTES, 0, 0, "bytes of it, handlers included") \
	X(BODY_KIND, "kind", NULL, KIND_TEXT, 0, 0, "JIT or ReadyToRun")               \
	X(BODY_TIER, "tier", NULL, KIND_TEXT, 0, 0,                                    \
	  "how far it is optimised, as SOS names it; null: not known")                 \
	X(BODY_CURRENT, "is_current", NULL, KIND_FLAG, 0, 0,                           \
	  "does a call of the method run it?  null: not known")                        \
	X(BODY_METHOD_DESC, "method_desc", NULL, KIND_ADDRESS, 0, 0,                   \
	  "the MethodDesc; of a generic method that of the instantiation")             \
	X(BODY_METHOD, "method", NULL, KIND_TEXT, 0, 0, "name and arguments of that")

COLUMNS(body, BODY_COLUMNS, BODY_LIST);

const struct schema bodies_schema = {
	.name = "code",
	SCHEMA_COLUMNS(body_columns),
	.lines = "CodeAddr:             {start:016} ({kind}[, {size} bytes][?tier , {tier}]"
		 "[?is_current , current])[?method  {method}]\n",
};

uint32_t code_size(struct heap *heap, const struct code_info *code)
{
	const struct gc_info_query query = { .arch = runtime_arch(heap->runtime),
					     .version = code->gc_info_version };
	HD_CLEANUP(gc_info) struct gc_info info = { 0 };
	uint32_t size = 0;
	if (gc_info_decode(heap->memory, code->gc_info, &query, &info) == GC_INFO_OK)
		size = info.code_length;
	return size;
}

const char *code_kind(bool is_precompiled)
{
	return is_precompiled ? "ReadyToRun" : "JIT";
}

static void write_named_body(struct call *call, const struct method_body *body,
			     const struct cell *current, bool has_name)
{
	struct code_info code;
	HD_CLEANUP(text) struct text name = { 0 };
	uint32_t size = runtime_code_at(call->heap->runtime, body->start, &code) &&
					code.start == body->start
				? code_size(call->heap, &code)
				: 0;
	struct method method;
	enum code_tier tier = method_read(call->heap->runtime, body->method_desc, &method)
				      ? method_tier(call->heap->runtime, &method, body->start,
						    body->is_precompiled)
				      : TIER_UNKNOWN;
	runtime_method_signature(call->heap->runtime, body->method_desc, &name);
	struct cell cells[BODY_COLUMNS] = {
		[BODY_START] = cell_number(body->start),
		[BODY_KIND] = cell_string(code_kind(body->is_precompiled)),
		[BODY_TIER] = cell_string(code_tier_name(tier)),
		[BODY_CURRENT] = *current,
		[BODY_METHOD_DESC] = cell_number(body->method_desc),
		[BODY_METHOD] = cell_shown(cell_text(name.bytes, name.size), has_name ? NULL : ""),
	};
	if (tier == TIER_READY_TO_RUN) /* which the kind has said */
		cells[BODY_TIER].shown = "";
	if (size)
		cells[BODY_SIZE] = cell_number(size);
	answer_row(&call->answer, cells);
	call->out.text.failed |= name.failed;
}

void write_body(struct call *call, const struct method_body *body, bool is_known, bool is_current)
{
	const struct cell current = is_known ? cell_flag(is_current) : (struct cell){ 0 };
	write_named_body(call, body, &current, true);
}

void write_bodies(struct call *call, const struct method_bodies *bodies,
		  const struct method *method)
{
	const struct method_body *current =
		method_body_current(call->heap->runtime, bodies, method);
	size_t count, first = method_bodies_of(bodies, method->address, &count);
	answer_table(&call->answer, &bodies_schema, NULL);
	for (size_t i = first; i < first + count; i++) {
		const struct cell flag =
			current ? cell_flag(current == &bodies->rows[i]) : (struct cell){ 0 };
		write_named_body(call, &bodies->rows[i], &flag, false);
	}
	(void)answer_table_end(&call->answer);
}

static const struct column end_columns[] = {
	{ "complete", NULL, KIND_FLAG, 0, 0, "could all tables of code be read?" },
};
static const struct schema end_schema = { SCHEMA_COLUMNS(end_columns) };

void write_bodies_end(struct call *call, const struct method_bodies *bodies)
{
	const struct cell cells[] = { cell_flag(!bodies->is_partial) };
	answer_data(&call->answer, &end_schema, cells);
	if (bodies->is_partial) {
		answer_remark(
			&call->answer,
			"Some tables of compiled code cannot be read: a method may have code that "
			"is not shown.\n");
	}
}
