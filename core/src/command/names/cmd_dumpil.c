/* SPDX-License-Identifier: MIT */
/* dumpil: the instructions of a method, as its compiler wrote them. */
#include <inttypes.h>

#include "command/table.h"
#include "gc/heap.h"
#include "metadata/il.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/modules/module_facts.h"
#include "runtime/coreclr/modules/module_proof.h"
#include "runtime/coreclr/modules/token_name.h"
#include "util/alloc.h"

/* Column of MethodDef (ECMA-335 II.22.26). */
#define METHOD_RVA    0u
#define METHOD_TOKENS 0x06000000u

/* Targets of a switch that are shown. */
#define TARGETS_SHOWN_MAX 4096u

#define HEAD_LIST(X)                                                                               \
	X(HEAD_METHOD, "method_desc", NULL, KIND_ADDRESS, 0, 0, "the MethodDesc")                  \
	X(HEAD_NAME, "name", NULL, KIND_TEXT, 0, 0, "name of the method, with arguments")          \
	X(HEAD_TOKEN, "token", NULL, KIND_ADDRESS, 0, 0, "its metadata token")                     \
	X(HEAD_MODULE, "module", NULL, KIND_ADDRESS, 0, 0, "the Module that has the IL")           \
	X(HEAD_ADDRESS, "il", NULL, KIND_ADDRESS, 0, 0, "where the instructions begin")            \
	X(HEAD_SIZE, "size", NULL, KIND_BYTES, 0, 0, "bytes of the instructions")                  \
	X(HEAD_STACK, "max_stack", NULL, KIND_NUMBER, 0, 0, "most values on the evaluation stack") \
	X(HEAD_LOCALS, "locals", NULL, KIND_ADDRESS, 0, 0,                                         \
	  "token of the signature of the local variables; 0x0: there are none")                    \
	X(HEAD_LOCALS_SIGNATURE, "locals_signature", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,        \
	  "where that signature begins, for dumpsig")

COLUMNS(head, HEAD_COLUMNS, HEAD_LIST);

SCHEMA(head, .lines = "Method Name: {name}\n"
		      "ilAddr = {il:016} ({size} bytes, token 0x{token:08}, maxstack {max_stack})\n"
		      "[Signature of the locals: {locals_signature:016}\n]");

#define IL_LIST(X)                                                                    \
	X(IL_COLUMN_OFFSET, "offset", NULL, KIND_NUMBER, 0, 0, "place in the IL")     \
	X(IL_COLUMN_SIZE, "size", NULL, KIND_BYTES, 0, 0, "bytes of the instruction") \
	X(IL_COLUMN_OPCODE, "opcode", NULL, KIND_TEXT, 0, 0,                          \
	  "the instruction; null: the byte is not one")                               \
	X(IL_COLUMN_OPERAND, "operand", NULL, KIND_TEXT, 0, 0,                        \
	  "a number, a target, or what the token names; null: none, or not "          \
	  "known")                                                                    \
	X(IL_COLUMN_TOKEN, "token", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT, "the metadata token")

COLUMNS(il, IL_COLUMNS, IL_LIST);

SCHEMA(il, .name = "instructions", .is_main = true,
       .lines = "IL_{offset:04}: [{opcode}[ {operand}|[ <token 0x{token:08}>]]|<not an "
		"instruction>]\n");

#define CLAUSE_LIST(X)                                                                   \
	X(CLAUSE_KIND, "kind", NULL, KIND_TEXT, 0, 0,                                    \
	  "catch, filter, finally, fault; null: another number")                         \
	X(CLAUSE_TRY_BEGIN, "try_begin", NULL, KIND_NUMBER, 0, 0,                        \
	  "offset where the try block begins")                                           \
	X(CLAUSE_TRY_END, "try_end", NULL, KIND_NUMBER, 0, 0, "offset after it")         \
	X(CLAUSE_HANDLER_BEGIN, "handler_begin", NULL, KIND_NUMBER, 0, 0,                \
	  "offset where the handler begins")                                             \
	X(CLAUSE_HANDLER_END, "handler_end", NULL, KIND_NUMBER, 0, 0, "offset after it") \
	X(CLAUSE_TYPE, "type", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                       \
	  "catch: the type of the exceptions")                                           \
	X(CLAUSE_FILTER, "filter", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                 \
	  "filter: offset where it begins")

COLUMNS(clause, CLAUSE_COLUMNS, CLAUSE_LIST);

static const struct schema clauses_schema = {
	.name = "clauses",
	SCHEMA_COLUMNS(clause_columns),
	.lines =
		"{kind?<unknown kind>}: try IL_{try_begin:04}..IL_{try_end:04}, handler "
		"IL_{handler_begin:04}..IL_{handler_end:04}[, of {type}][, filter IL_{filter:04}]\n",
};

static const struct table_options bare = { .limit = UINT64_MAX, .no_heading = true };

static void switch_text(const struct il_instruction *instruction, struct text *text)
{
	text_puts(text, "(");
	for (uint32_t i = 0; i < instruction->count && i < TARGETS_SHOWN_MAX; i++) {
		text_printf(text, "%sIL_%04" PRIx64, i ? ", " : "",
			    (uint64_t)il_switch_target(instruction, i));
	}
	text_puts(text, instruction->count > TARGETS_SHOWN_MAX ? ", ...)" : ")");
}

/* Write the operand of an instruction as text; nothing for a token without a name. */
static void operand_text(struct runtime *runtime, const struct module *module,
			 const struct il_instruction *instruction, struct text *text)
{
	char real[32];
	double number;
	float single;
	switch ((enum il_operand)instruction->opcode->operand) {
	case IL_NONE:
		break;
	case IL_I8:
	case IL_U8:
	case IL_U16:
	case IL_I32:
	case IL_I64:
		text_printf(text, "%" PRId64, instruction->number);
		break;
	case IL_R32: {
		uint32_t bits = (uint32_t)instruction->bits;
		memcpy(&single, &bits, sizeof(single));
		text_puts(text, format_real((double)single, true, real, sizeof(real)));
		break;
	}
	case IL_R64:
		memcpy(&number, &instruction->bits, sizeof(number));
		text_puts(text, format_real(number, false, real, sizeof(real)));
		break;
	case IL_SHORT_BRANCH:
	case IL_BRANCH:
		text_printf(text, "IL_%04" PRIx64, (uint64_t)instruction->number);
		break;
	case IL_SWITCH:
		switch_text(instruction, text);
		break;
	case IL_TOKEN:
		(void)token_name(runtime, module, (uint32_t)instruction->number, text);
		break;
	}
}

static enum hd_status write_instructions(struct call *call, const struct module *module,
					 const uint8_t *code, uint32_t size, uint32_t *ret_end)
{
	struct il_instruction instruction;
	HD_CLEANUP(text) struct text text = { 0 };
	uint32_t offset = 0;
	enum hd_status status = HD_OK;
	answer_table(&call->answer, &il_schema, &bare);
	while (status == HD_OK && il_next(code, size, offset, &instruction)) {
		struct cell cells[IL_COLUMNS] = {
			[IL_COLUMN_OFFSET] = cell_number(offset),
			[IL_COLUMN_SIZE] = cell_number(instruction.size),
		};
		text.size = 0;
		if (instruction.opcode) {
			cells[IL_COLUMN_OPCODE] = cell_string(instruction.opcode->name);
			operand_text(call->heap->runtime, module, &instruction, &text);
			if (instruction.opcode->operand == IL_TOKEN)
				cells[IL_COLUMN_TOKEN] = cell_number((uint32_t)instruction.number);
		}
		if (text.size)
			cells[IL_COLUMN_OPERAND] = cell_text(text.bytes, text.size);
		if (answer_wants_row(&call->answer))
			answer_row(&call->answer, cells);
		offset += instruction.size;
		status = text.failed ? fail_nomem(call->err) : call_check(call);
	}
	*ret_end = offset;
	if (status == HD_OK)
		(void)answer_table_end(&call->answer);
	return status;
}

static const char *clause_kind(uint32_t kind)
{
	switch (kind) {
	case IL_CATCH:
		return "catch";
	case IL_FILTER:
		return "filter";
	case IL_FINALLY:
		return "finally";
	case IL_FAULT:
		return "fault";
	default:
		return NULL;
	}
}

static void write_clause(struct call *call, const struct module *module,
			 const struct il_clause *clause)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct cell cells[CLAUSE_COLUMNS] = {
		[CLAUSE_KIND] = cell_string(clause_kind(clause->kind)),
		[CLAUSE_TRY_BEGIN] = cell_number(clause->try_begin),
		[CLAUSE_TRY_END] = cell_number((uint64_t)clause->try_begin + clause->try_size),
		[CLAUSE_HANDLER_BEGIN] = cell_number(clause->handler_begin),
		[CLAUSE_HANDLER_END] =
			cell_number((uint64_t)clause->handler_begin + clause->handler_size),
	};
	if (clause->kind == IL_CATCH) {
		cells[CLAUSE_TYPE] = cell_null();
		if (token_name(call->heap->runtime, module, clause->token, &text))
			cells[CLAUSE_TYPE] = cell_text(text.bytes, text.size);
	} else if (clause->kind == IL_FILTER) {
		cells[CLAUSE_FILTER] = cell_number(clause->token);
	}
	answer_row(&call->answer, cells);
	call->out.text.failed |= text.failed;
}

static const struct column end_columns[] = {
	{ "complete", NULL, KIND_FLAG, 0, 0, "could all instructions and clauses be read?" },
};
static const struct schema end_schema = { SCHEMA_COLUMNS(end_columns) };

static enum hd_status write_body(struct call *call, const struct module *module,
				 const struct il_body *body, const uint8_t *code)
{
	struct il_clauses clauses;
	struct il_clause clause;
	uint32_t end;
	TRY(write_instructions(call, module, code, body->code_size, &end));
	answer_table(&call->answer, &clauses_schema, &bare);
	il_clauses_begin(&clauses, call->heap->memory, body);
	while (il_clauses_next(&clauses, &clause)) {
		if (answer_wants_row(&call->answer))
			write_clause(call, module, &clause);
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	bool is_complete = end == body->code_size && !clauses.is_broken;
	const struct cell cells[] = { cell_flag(is_complete) };
	answer_data(&call->answer, &end_schema, cells);
	if (end != body->code_size)
		answer_remark(&call->answer, "The last instruction is cut.\n");
	if (clauses.is_broken) {
		answer_remark(&call->answer,
			      "The exception clauses cannot be read to their end.\n");
	}
	return HD_OK;
}

/* Where the signature of the local variables lies in the target; 0: there is none, or not known. */
static uint64_t locals_signature(struct runtime *runtime, const struct module *module,
				 uint32_t token)
{
	uint32_t size;
	if (token >> 24 != MD_STAND_ALONE_SIG)
		return 0;
	const uint8_t *blob = metadata_blob(
		module->metadata,
		metadata_column(module->metadata, MD_STAND_ALONE_SIG, token & 0xffffff, 0), &size);
	return module_blob_address(runtime, module, blob);
}

static void write_head(struct call *call, const struct method *method, const struct il_body *body)
{
	HD_CLEANUP(text) struct text name = { 0 };
	runtime_method_signature(call->heap->runtime, method->address, &name);
	struct cell cells[HEAD_COLUMNS] = {
		[HEAD_METHOD] = cell_number(method->address),
		[HEAD_NAME] = cell_text(name.bytes, name.size),
		[HEAD_TOKEN] = cell_number(METHOD_TOKENS | method->rid),
		[HEAD_MODULE] = cell_number(method->module->address),
		[HEAD_ADDRESS] = cell_number(body->code),
		[HEAD_SIZE] = cell_number(body->code_size),
		[HEAD_STACK] = cell_number(body->max_stack),
		[HEAD_LOCALS] = cell_number(body->locals),
	};
	uint64_t locals = locals_signature(call->heap->runtime, method->module, body->locals);
	if (locals)
		cells[HEAD_LOCALS_SIGNATURE] = cell_number(locals);
	answer_record(&call->answer, &head_schema, cells);
	call->out.text.failed |= name.failed;
}

/* Find the body of a method; the message says why there is none. */
static enum hd_status find_body(struct call *call, const struct method *method, struct il_body *ret)
{
	struct runtime *runtime = call->heap->runtime;
	uint64_t address = method->address;
	if (!method->rid || !method->module) {
		return fail(call->err, HD_ERR_UNSUPPORTED, address,
			    "%" PRIx64 " is a dynamic method or a stub: its IL is not read",
			    address);
	}
	if (!method->module->metadata) {
		return fail(call->err, HD_ERR_NOTFOUND, address,
			    "the metadata of its module are not there; info says what to do");
	}
	uint32_t rva =
		metadata_column(method->module->metadata, MD_METHOD, method->rid, METHOD_RVA);
	if (!rva) {
		return fail(call->err, HD_ERR_NOTFOUND, address,
			    "the method has no IL: it is abstract, or native code does its work");
	}
	module_prove(runtime, method->module->address);
	uint64_t place = module_rva(runtime, method->module, rva);
	if (!place) {
		return fail(call->err, HD_ERR_NOTFOUND, address,
			    method->module->is_dynamic
				    ? "the IL of dynamic modules is not read"
				    : "its module has no image with the IL, or it cannot be read");
	}
	if (!il_body_read(call->heap->memory, place, ret)) {
		return fail(call->err, HD_ERR_FAULT, place,
			    "the IL at %" PRIx64 " is not in the target, or not the body of a "
			    "method; info says what is missing",
			    place);
	}
	return HD_OK;
}

static enum hd_status run_dumpil(struct call *call)
{
	uint64_t address = call->words[0].number;
	struct method method;
	struct il_body body;
	if (!method_read(call->heap->runtime, address, &method)) {
		return fail(call->err, HD_ERR_NOTFOUND, address,
			    "no MethodDesc at %" PRIx64 "; name2ee, ip2md and dumpmt -md show them",
			    address);
	}
	TRY(find_body(call, &method, &body));
	if (body.code_size > IL_CODE_MAX) {
		return fail(call->err, HD_ERR_FORMAT, body.code,
			    "the body of the method says that it has %" PRIu32 " bytes of IL",
			    body.code_size);
	}
	HD_FREE uint8_t *code = mem_alloc((size_t)body.code_size + 1, 1);
	TRY_MEMORY(code, call->err);
	enum hd_status status;
	if (memory_read(call->heap->memory, body.code, code, body.code_size)) {
		write_head(call, &method, &body);
		status = write_body(call, method.module, &body, code);
	} else {
		status = fail(call->err, HD_ERR_FAULT, body.code,
			      "the IL at %" PRIx64 " is not in the target; info says what is "
			      "missing",
			      body.code);
	}
	return status;
}

COMMAND(dumpil, .has_rows = true, .summary = "show the IL of a method, with what its tokens name",
	.description =
		"METHOD is the address of a MethodDesc, as name2ee, ip2md and dumpmt -md show it. The\n"
		"IL is read from the image of the module; what a core lacks of it comes from the\n"
		"module's file, if that is proven to be the one. Exception clauses follow.\n",
	.example = "dumpil 7f0f7953e830", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_METADATA, .words = { { "METHOD", VALUE_ADDRESS, false } });
