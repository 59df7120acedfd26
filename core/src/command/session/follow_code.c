/* SPDX-License-Identifier: MIT */
/* The code of a process that a debugger runs and stops: <heapdump/code.h>. */
#include <stdio.h>

#include <heapdump/code.h>

#include "gc/heap.h"
#include "managed_elf/code_files.h"
#include "managed_elf/method_place.h"
#include "mem/mapped_file.h"
#include "mem/memory.h"
#include "runtime/runtime.h"
#include "session/session_state.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/caller_struct.h"
#include "util/job.h"
#include "util/sink.h"

struct hd_code {
	struct code_files files;
};

enum hd_status hd_code_create(struct hd_code **ret, struct hd_error *err)
{
	if (!ret)
		return fail(err, HD_ERR_ARGUMENT, 0, "there is no place for the code");
	struct hd_code *code = mem_calloc(1, sizeof(*code));
	TRY_MEMORY(code, err);
	*ret = code;
	return HD_OK;
}

void hd_code_destroy(struct hd_code *code)
{
	if (code)
		code_files_deinit(&code->files);
	mem_free(code);
}

/* A question about the target of a session. */
struct question {
	struct hd_session *session;
	struct hd_sink sink;
	struct job job;
	struct runtime *runtime;
};

static enum hd_status begin(struct question *question, struct hd_session *session,
			    struct hd_error *err)
{
	struct heap *heap;
	question->session = session;
	if (!session)
		return fail(err, HD_ERR_ARGUMENT, 0, "no session");
	if (!session->target) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "neither a process nor a core is open, so there is no code");
	}
	session_job(&session->settings, question->sink.struct_size ? &question->sink : NULL,
		    &question->job);
	mapped_files_guard_begin();
	target_set_job(session->target, &question->job);
	TRY(session_heap(session, &question->job, &heap, err));
	question->runtime = heap->runtime;
	return HD_OK;
}

/* The end of the question; the status is that of the target, if it does not answer any more. */
static enum hd_status finish(struct question *question, enum hd_status status, struct hd_error *err)
{
	if (!question->session || !question->session->target)
		return status;
	enum hd_status answered = target_check(question->session->target, err);
	target_set_job(question->session->target, NULL);
	job_end(&question->job);
	mapped_files_guard_end();
	return answered == HD_OK ? status : answered;
}

static bool write_part(void *arg, const char *bytes, size_t size)
{
	const struct hd_sink *sink = arg;
	return sink->write(sink->arg, bytes, size) == 0;
}

enum hd_status hd_code_update(struct hd_code *code, struct hd_session *session,
			      const struct hd_sink *sink, struct hd_code_change *ret,
			      struct hd_error *err)
{
	struct question question = { 0 };
	HD_CLEANUP(code_files) struct code_files found = { 0 };
	struct hd_code_change change = { 0 };
	if (!code)
		return fail(err, HD_ERR_ARGUMENT, 0, "no code");
	if (!caller_struct_read(&change, sizeof(change), SIZE_TO(struct hd_code_change, functions),
				ret))
		return fail(err, HD_ERR_ARGUMENT, 0, "no place for the change");
	TRY(sink_read(sink, true, &question.sink, err));
	enum hd_status status = begin(&question, session, err);
	if (status == HD_OK) {
		const struct managed_elf_output output = { write_part, &question.sink, false };
		code->files.has_uncalled = runtime_target(question.runtime)->kind == TARGET_CORE;
		status = code_files_update(&code->files, question.runtime, &question.job, &output,
					   &found, err);
	}
	TRY(finish(&question, status, err));
	code_files_deinit(&code->files);
	code->files = found;
	found = (struct code_files){ 0 };
	change.file = code->files.file;
	change.gone = code->files.gone;
	change.gone_count = code->files.gone_count;
	change.functions = code->files.functions;
	(void)caller_struct_write(ret, &change, sizeof(change),
				  SIZE_TO(struct hd_code_change, functions));
	return HD_OK;
}

/* The debugger's memory as it is. */
struct direct {
	struct memory memory;
	size_t (*read)(void *arg, uint64_t address, void *buf, size_t size);
	void *arg;
};

static size_t direct_read(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	const struct direct *direct = (const struct direct *)memory;
	size_t got = direct->read(direct->arg, address, buf, size);
	return got < size ? got : size;
}

static const struct memory_ops direct_ops = { .read = direct_read };

int hd_code_is_current(const struct hd_code *code,
		       size_t (*read)(void *arg, uint64_t address, void *buf, size_t size),
		       void *arg)
{
	struct direct direct = { .memory = { .ops = &direct_ops }, .read = read, .arg = arg };
	return code && read && code_files_are_current(&code->files, &direct.memory);
}

uint64_t hd_code_method(const struct hd_code *code, uint64_t address)
{
	return code ? code_files_method(&code->files, address) : 0;
}

uint64_t hd_code_awaits(const struct hd_code *code, const struct hd_debugger *debugger)
{
	struct hd_debugger own;
	if (!code ||
	    !caller_struct_read(&own, sizeof(own), SIZE_TO(struct hd_debugger, register_count),
				debugger) ||
	    !own.read || !own.threads || !own.thread_count || !own.threads->registers)
		return 0;
	struct direct direct = { .memory = { .ops = &direct_ops },
				 .read = own.read,
				 .arg = own.arg };
	return code_files_awaits(&code->files, &direct.memory, own.threads->registers,
				 own.register_count);
}

enum hd_status hd_code_at(struct hd_session *session, uint64_t address, struct hd_code_place *ret,
			  struct hd_error *err)
{
	struct question question = { 0 };
	HD_CLEANUP(method_place) struct method_place found = { 0 };
	if (!ret || ret->struct_size != sizeof(*ret))
		return fail(err, HD_ERR_ARGUMENT, 0, "no place for the method");
	enum hd_status status = begin(&question, session, err);
	if (status == HD_OK)
		status = method_place_find(question.runtime, address, &found, err);
	TRY(finish(&question, status, err));
	*ret = (struct hd_code_place){
		.struct_size = sizeof(*ret),
		.method = found.method_desc,
		.first_line = found.first_line,
		.last_line = found.last_line,
		.suspends = found.suspends,
	};
	(void)snprintf(ret->name, sizeof(ret->name), "%s", found.name.bytes);
	(void)snprintf(ret->file, sizeof(ret->file), "%s",
		       found.file.bytes ? found.file.bytes : "");
	return HD_OK;
}

enum hd_status hd_code_line(struct hd_session *session, struct hd_code_line *line,
			    struct hd_error *err)
{
	struct question question = { 0 };
	struct hd_code_line own;
	if (!caller_struct_read(&own, sizeof(own), SIZE_TO(struct hd_code_line, reserved), line) ||
	    !own.file)
		return fail(err, HD_ERR_ARGUMENT, 0, "there is no line, or it has no file");
	struct code_line wanted = { .file = own.file, .line = own.line, .address = own.address };
	enum hd_status status = begin(&question, session, err);
	if (status == HD_OK)
		status = code_line_find(question.runtime, &question.job, &wanted, err);
	TRY(finish(&question, status, err));
	own.found = wanted.found;
	own.is_there = wanted.is_there;
	(void)caller_struct_write(line, &own, sizeof(own), SIZE_TO(struct hd_code_line, reserved));
	return HD_OK;
}
