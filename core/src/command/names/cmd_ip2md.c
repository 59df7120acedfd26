/* SPDX-License-Identifier: MIT */
/* ip2md and dumpmd: a method by an address of its code, or by its MethodDesc. */
#include <inttypes.h>
#include <string.h>

#include "command/names/code_rows.h"
#include "command/table.h"
#include "command/threads/source_text.h"
#include "gc/heap.h"
#include "metadata/il.h"
#include "runtime/coreclr/code/method_types.h"
#include "runtime/coreclr/code/r2r_methods.h"
#include "runtime/coreclr/modules/module_proof.h"

#define MD_LIST(X)                                                                             \
	X(MD_COLUMN_ADDRESS, "method_desc", NULL, KIND_ADDRESS, 0, 0, "the MethodDesc")        \
	X(MD_COLUMN_NAME, "name", NULL, KIND_TEXT, 0, 0, "name of the method, with arguments") \
	X(MD_COLUMN_CLASS, "ee_class", NULL, KIND_ADDRESS, 0, 0,                               \
	  "EEClass of its type; null: a stub or dynamic method without one")                   \
	X(MD_COLUMN_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "MethodTable of its type")             \
	X(MD_COLUMN_TOKEN, "token", NULL, KIND_ADDRESS, 0, 0,                                  \
	  "its metadata token; 0x0: a dynamic method")                                         \
	X(MD_COLUMN_MODULE, "module", NULL, KIND_ADDRESS, 0, 0, "the Module that defines it")  \
	X(MD_COLUMN_FILE, "file", NULL, KIND_TEXT, 0, 0, "file of the module")                 \
	X(MD_COLUMN_SIGNATURE, "signature", NULL, KIND_ADDRESS, 0, 0,                          \
	  "where its signature begins, for dumpsig; null: not known")                          \
	X(MD_COLUMN_IL, "il", NULL, KIND_ADDRESS, 0, 0,                                        \
	  "where its IL begins, for dumpil; null: it has none, or that is not in the target")  \
	X(MD_COLUMN_JITTED, "is_jitted", NULL, KIND_FLAG, 0, 0,                                \
	  "has it code, of the JIT or ReadyToRun?")                                            \
	X(MD_COLUMN_CODE, "current_code", NULL, KIND_ADDRESS, 0, 0,                            \
	  "the code that a call of it runs; null: none, or not known")

COLUMNS(md, MD_COLUMNS, MD_LIST);

SCHEMA(md, .lines = "MethodDesc:           {method_desc:016}\n"
		    "Method Name:          {name}\nClass:                {ee_class:016}\n"
		    "MethodTable:          {mt:016}\nmdToken:              {token:016}\n"
		    "Module:               {module:016}\n[File:                 {file}\n]"
		    "[Signature:            {signature:016}\n]"
		    "[IL Addr:              {il:016}\n]"
		    "IsJitted:             {is_jitted}\n"
		    "Current CodeAddr:     [=current_code {current_code:016}|[?is_jitted <not "
		    "known>|{current_code:016}]]\n");

/* Where the IL of a method begins, as dumpil says; 0: it has none, or it cannot be read. */
static uint64_t method_il(struct call *call, const struct method *method)
{
	struct runtime *runtime = call->heap->runtime;
	const struct module *module = method->rid ? method->module : NULL;
	struct il_body body;
	uint32_t rva = module && module->metadata
			       ? metadata_column(module->metadata, MD_METHOD, method->rid, 0)
			       : 0;
	if (!rva)
		return 0;
	module_prove(runtime, module->address);
	uint64_t place = module_rva(runtime, module, rva);
	return place && il_body_read(call->heap->memory, place, &body) ? body.code : 0;
}

static void write_method(struct call *call, const struct method *method,
			 const struct method_bodies *bodies)
{
	struct runtime *runtime = call->heap->runtime;
	const struct method_body *current = method_body_current(runtime, bodies, method);
	HD_CLEANUP(text) struct text name = { 0 };
	size_t count;
	(void)method_bodies_of(bodies, method->address, &count);
	runtime_method_signature(runtime, method->address, &name);
	struct cell cells[MD_COLUMNS] = {
		[MD_COLUMN_ADDRESS] = cell_number(method->address),
		[MD_COLUMN_NAME] = cell_text(name.bytes, name.size),
		[MD_COLUMN_TOKEN] = cell_number(method->rid ? 0x06000000 | method->rid : 0),
		[MD_COLUMN_JITTED] = cell_flag(count != 0),
	};
	if (method->type) {
		cells[MD_COLUMN_CLASS] = cell_number(method->type->links.ee_class);
		cells[MD_COLUMN_MT] = cell_number(method->type->method_table);
	}
	if (method->module) {
		const char *path = method->module->path;
		cells[MD_COLUMN_MODULE] = cell_number(method->module->address);
		cells[MD_COLUMN_FILE] = cell_string(path && *path ? path : NULL);
	}
	uint64_t signature = method_signature_address(runtime, method);
	if (signature)
		cells[MD_COLUMN_SIGNATURE] = cell_number(signature);
	uint64_t il = method_il(call, method);
	if (il)
		cells[MD_COLUMN_IL] = cell_number(il);
	if (current)
		cells[MD_COLUMN_CODE] = cell_number(current->start);
	answer_record(&call->answer, &md_schema, cells);
	write_bodies(call, bodies, method);
	write_bodies_end(call, bodies);
	call->out.text.failed |= name.failed;
}

static enum hd_status run_dumpmd(struct call *call)
{
	struct runtime *runtime = call->heap->runtime;
	uint64_t address = call->words[0].number;
	HD_CLEANUP(method_bodies) struct method_bodies bodies = { 0 };
	struct method method;
	if (!method_read(runtime, address, &method)) {
		return fail(call->err, HD_ERR_NOTFOUND, address, "no MethodDesc at %" PRIx64 "%s",
			    address,
			    runtime_has_code_at(runtime, address) ? ": it is code; try ip2md" : "");
	}
	TRY(method_bodies_read(runtime, &call->job, &bodies, call->err));
	write_method(call, &method, &bodies);
	return HD_OK;
}

#define IP_LIST(X)                                                                       \
	X(IP_ADDRESS, "ip", NULL, KIND_ADDRESS, 0, 0, "the address that was asked for")  \
	X(IP_KIND, "kind", NULL, KIND_TEXT, 0, 0,                                        \
	  "JIT, ReadyToRun, runtime (a function of the runtime itself) or stub")         \
	X(IP_START, "start", NULL, KIND_ADDRESS, 0, 0, "where the method's code begins") \
	X(IP_SIZE, "size", NULL, KIND_BYTES, 0, 0, "bytes of it, handlers included")     \
	X(IP_OFFSET, "offset", NULL, KIND_NUMBER, 0, 0, "the address less the start")    \
	X(IP_HANDLER, "is_handler", NULL, KIND_FLAG, 0, 0,                               \
	  "is it in a catch, finally or filter block?")                                  \
	X(IP_FILE, "source_file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                    \
	  "path of the source file, as the compiler saw it; no member: no PDB tells it") \
	X(IP_LINE, "line", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "line in that file")    \
	X(IP_CALL_FILE, "call_source_file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,          \
	  "a call ends at the address, which comes from this file: that is where a "     \
	  "frame with this return address is; no member: it is the line of the address") \
	X(IP_CALL_LINE, "call_line", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "line in that file")

COLUMNS(ip, IP_COLUMNS, IP_LIST);

SCHEMA(ip, .lines = "Code:                 {kind}[, from {start:016}[, {size} bytes], "
		    "+0x{offset:x}[?is_handler  (in a handler)]]\n"
		    "[Source file:          {source_file} @ {line}\n]"
		    "[Call that ends here:  {call_source_file} @ {call_line}\n]");

/* Code of the JIT or ReadyToRun; false: @p ip is not in such a method. */
static bool find_code(struct call *call, uint64_t ip, struct cell *cells, uint64_t *ret)
{
	struct code_info code;
	if (!runtime_code_at(call->heap->runtime, ip, &code))
		return false;
	uint32_t size = code_size(call->heap, &code);
	if (size && ip - code.start >= size)
		return false;
	cells[IP_KIND] = cell_string(code_kind(code.is_precompiled));
	cells[IP_START] = cell_number(code.start);
	cells[IP_OFFSET] = cell_number(ip - code.start);
	cells[IP_HANDLER] = cell_flag(code.is_funclet);
	if (size)
		cells[IP_SIZE] = cell_number(size);
	*ret = code.method_desc;
	return true;
}

/*
 * The beginning of a body, which the runtime's tables of entry points tell even where those of the image are
 * missing.
 */
static bool find_start(const struct method_bodies *bodies, uint64_t ip, struct cell *cells,
		       uint64_t *ret)
{
	for (size_t i = 0; i < bodies->rows_count; i++) {
		const struct method_body *body = &bodies->rows[i];
		if (body->start != ip)
			continue;
		cells[IP_KIND] = cell_string(code_kind(body->is_precompiled));
		cells[IP_START] = cell_number(ip);
		cells[IP_OFFSET] = cell_number(0);
		*ret = body->method_desc;
		return true;
	}
	return false;
}

/* The runtime's own functions that are methods, and stubs. */
static bool find_stub(struct call *call, uint64_t ip, struct cell *cells, uint64_t *ret)
{
	uint64_t unused;
	if (!runtime_method_at(call->heap->runtime, ip, ret))
		return false;
	cells[IP_KIND] = cell_string(
		coreclr_fcall_method(call->heap->runtime, ip, &unused) ? "runtime" : "stub");
	return true;
}

static enum hd_status no_method(struct call *call, uint64_t ip)
{
	struct runtime *runtime = call->heap->runtime;
	struct method method;
	const char *why = "";
	HD_CLEANUP(text) struct text name = { 0 };
	uint64_t module;
	uint32_t rid;
	if (coreclr_uncalled_method(runtime, ip, &module, &rid)) {
		method_row_signature(runtime, module, rid, &name);
		TRY_MEMORY(!name.failed, call->err);
		return fail(call->err, HD_ERR_NOTFOUND, ip,
			    "%" PRIx64 " is in the ReadyToRun code of %s, which nobody has called: "
			    "try token2ee %" PRIx64 " %" PRIx32,
			    ip, name.size ? name.bytes : "a method", module, 0x06000000 | rid);
	}
	if (method_read(runtime, ip, &method)) {
		why = ": it is a MethodDesc; try dumpmd";
	} else if (runtime_has_code_at(runtime, ip)) {
		why = ", or the tables that tell it are not there; info says what is missing";
	}
	return fail(call->err, HD_ERR_NOTFOUND, ip, "%" PRIx64 " is not in the code of a method%s",
		    ip, why);
}

/* The line of the call that ends at @p ip, where it is not that of the instruction there. */
static void find_call_line(struct call *call, uint64_t method_desc, uint64_t ip, struct cell *cells)
{
	struct runtime *runtime = call->heap->runtime;
	struct code_info code;
	struct cell file = { 0 }, line = { 0 };
	if (!runtime_code_at(runtime, ip - 1, &code) || code.method_desc != method_desc ||
	    !runtime_arch(runtime)->ops->follows_call(call->heap->memory, ip))
		return;
	source_text_cells(call, method_desc, ip - 1, &file, &line);
	if (!line.is_there || (cells[IP_LINE].is_there && cells[IP_LINE].number == line.number &&
			       !strcmp(cells[IP_FILE].text.bytes, file.text.bytes)))
		return;
	cells[IP_CALL_FILE] = file;
	cells[IP_CALL_LINE] = line;
}

static enum hd_status answer_ip(struct call *call, uint64_t ip, const struct method_bodies *bodies)
{
	struct cell cells[IP_COLUMNS] = { [IP_ADDRESS] = cell_number(ip) };
	struct method method;
	uint64_t method_desc;
	if (!find_code(call, ip, cells, &method_desc) &&
	    !find_start(bodies, ip, cells, &method_desc) &&
	    !find_stub(call, ip, cells, &method_desc))
		return no_method(call, ip);
	if (!method_read(call->heap->runtime, method_desc, &method)) {
		return fail(call->err, HD_ERR_NOTFOUND, ip,
			    "%" PRIx64 " is code of the MethodDesc %" PRIx64
			    ", which cannot be read",
			    ip, method_desc);
	}
	source_text_cells(call, method_desc, ip, &cells[IP_FILE], &cells[IP_LINE]);
	find_call_line(call, method_desc, ip, cells);
	answer_record(&call->answer, &ip_schema, cells);
	write_method(call, &method, bodies);
	return HD_OK;
}

static enum hd_status run_ip2md(struct call *call)
{
	HD_CLEANUP(method_bodies) struct method_bodies bodies = { 0 };
	TRY(method_bodies_read(call->heap->runtime, &call->job, &bodies, call->err));
	return answer_ip(call, call->words[0].number, &bodies);
}

COMMAND(ip2md, .summary = "find the method that an address of code belongs to",
	.description =
		"The address may be code of the JIT or of a ReadyToRun image, a function of the\n"
		"runtime that is a method, or the stub of a method that is not compiled yet. If it\n"
		"is a return address, the line of the call is shown, too: clrstack shows that one.\n",
	.example = "ip2md 7f0f794a1ba0", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_METADATA, .words = { { "IP", VALUE_ADDRESS, false } });

COMMAND(dumpmd, .summary = "describe a method by its MethodDesc, with all its code",
	.description = "A method that was compiled again has several bodies.\n",
	.example = "dumpmd 7f0f7953e830", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_METADATA, .words = { { "ADDR", VALUE_ADDRESS, false } });
