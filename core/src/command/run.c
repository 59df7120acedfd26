/* SPDX-License-Identifier: MIT */
/* The one way into every command: parse, run, report the outcome. */
#include <inttypes.h>
#include <stdio.h>

#include "answer/rows.h"
#include "command/call.h"
#include "command/objects/object.h"
#include "command/session/core_kind.h"
#include "command/type_words.h"
#include "format/format.h"
#include "graph/heap_graph.h"
#include "mem/mapped_file.h"
#include "runtime/runtime_ops.h"
#include "targets/target.h"
#include "util/signal_hold.h"
#include "util/sink.h"

static int exit_status(enum hd_status status, bool findings)
{
	switch (status) {
	case HD_OK:
		return findings ? HD_EXIT_FINDINGS : HD_EXIT_OK;
	case HD_ERR_ARGUMENT:
	case HD_ERR_NOTFOUND:
		return HD_EXIT_USAGE;
	case HD_ERR_CANCELLED:
		return HD_EXIT_INTERRUPTED;
	case HD_ERR_NOMEM:
	case HD_ERR_OS:
	case HD_ERR_FAULT:
	case HD_ERR_FORMAT:
	case HD_ERR_UNSUPPORTED:
		break;
	}
	return HD_EXIT_INPUT;
}

static void begin_document(struct call *call, const char *name)
{
	json_object(&call->json, NULL);
	json_number(&call->json, "schema", 1);
	json_string(&call->json, "command", name);
	const struct hd_session *session = call->session;
	const char *target = session->path ? session->path : session->deferred;
	json_string(&call->json, "target", target ? target : session->label);
}

void call_begin_document(struct call *call)
{
	begin_document(call, call->command->name);
}

void call_end_document(struct call *call, enum hd_status status)
{
	json_end_to(&call->json, 1);
	if (status != HD_OK) {
		json_object(&call->json, "error");
		json_string(&call->json, "status", hd_status_name(status));
		json_string(&call->json, "message", call->err->message);
		json_end(&call->json);
	}
	json_end(&call->json);
}

void call_tell_stop(const struct call *call, const struct hd_session *session)
{
	const struct target *target = session->target;
	if (!target || target->process.stopped_seconds <= 0)
		return;
	char line[96];
	(void)snprintf(line, sizeof(line), "process %d was stopped for %.1f ms to be copied",
		       target->pid, target->process.stopped_seconds * 1e3);
	sink_warn(call->sink, line);
}

/* The thing that the command is about. */
static enum needs needs_of(const struct call *call)
{
	return (enum needs)(call->command->needs & NEEDS_KIND);
}

/* A process that another command has opened: the sandbox of a prompt does not let it be opened again. */
static enum hd_status open_again(struct call *call)
{
	struct hd_session *session = call->session;
	struct hd_error reason = { 0 };
	int pid = session->target->pid;
	enum hd_status status =
		session_open(session, session->path, &call->settings, &call->job, &reason);
	if (status == HD_OK) {
		target_set_job(session->target, &call->job);
		call_tell_stop(call, session);
		return HD_OK;
	}
	if (status == HD_ERR_NOMEM || status == HD_ERR_CANCELLED) {
		*call->err = reason;
		return status;
	}
	return fail(
		call->err, status, 0,
		"not all that %s needs of process %d was copied when it was opened, and it cannot be "
		"opened again here (%s); ask in the shell: heapdump %d %s",
		call->command->name, pid, reason.message, pid, call->command->name);
}

/* Open what was deferred; something must be open then. */
static enum hd_status ensure_open(struct call *call)
{
	struct hd_session *session = call->session;
	const char *path = session->deferred;
	bool accounts = needs_of(call) == NEEDS_ACCOUNT;
	call->settings.asked.account = accounts;
	call->settings.asked.residency =
		accounts || needs_of(call) == NEEDS_OUTLINE || needs_of(call) == NEEDS_REPORT;
	/* Memory that was not copied when another command opened the process is gone. */
	if (!path && accounts && session->target && session->target->kind == TARGET_PROCESS &&
	    !session->target->debugger.route &&
	    (!session->target->process.residency || session->target->process.copy))
		TRY(open_again(call));
	if (path) {
		TRY(session_open(session, path, &call->settings, &call->job, call->err));
		if (session->target)
			target_set_job(session->target, &call->job);
		if (!call->command->tells_findings) {
			call_tell_stop(call, session);
			if (!session->target)
				session_warn(session, call->sink, true);
		}
	}
	if (session_is_open(session))
		return HD_OK;
	return fail(
		call->err, HD_ERR_ARGUMENT, 0,
		"nothing is open: open a heap dump file, a core or a process first (open FILE)");
}

/* Some commands have others that help better than those of all with the same needs. */
static const char *own_instead(const struct call *call)
{
	static const struct {
		const char *command, *instead;
	} rows[] = {
		{ "ip2md", "symbolize names addresses of code, and clrstack those of stacks" },
		{ "dumpmd", "symbolize names addresses of code, and clrstack those of stacks" },
		{ "name2ee",
		  "dumpheap -stat -type NAME finds types, and export FILE.perfmap lists methods" },
		{ "token2ee",
		  "dumpheap -stat -type NAME finds types, and export FILE.perfmap lists methods" },
		{ "dumpil", "a debugger shows the machine code: x/20i ADDRESS, disassemble" },
		{ "clru", "a debugger shows the machine code: x/20i ADDRESS, disassemble" },
		{ "gcinfo", "dumpstackobjects shows the references that frames keep" },
		{ "ehinfo", "printexception shows where an exception was thrown" },
		{ "dumpsig",
		  "clrstack and export FILE.perfmap have methods with their parameters" },
		{ "dumpsigelem",
		  "clrstack and export FILE.perfmap have methods with their parameters" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(call->command->name, rows[i].command) == 0)
			return rows[i].instead;
	}
	return NULL;
}

/* Has the runtime what the command asks for?  If not, say what to use instead. */
static enum hd_status check_runtime(const struct call *call)
{
	static const struct {
		uint32_t needs, capability;
		const char *what, *instead;
	} rows[] = {
		{ NEEDS_METADATA, RUNTIME_METADATA, "metadata of methods",
		  "clrstack shows where the methods of stacks are, and modules what lies there" },
		{ NEEDS_MODULES, RUNTIME_MODULES, "list of assemblies and their modules",
		  "modules shows the files that the program has loaded" },
		{ NEEDS_LOADER, RUNTIME_LOADER, "loader heaps",
		  "memory shows who has the memory of the process" },
		{ NEEDS_FIELDS, RUNTIME_FIELDS, "fields of types",
		  "dumpheap -stat counts objects by their types, and gcroot shows who keeps one" },
		{ NEEDS_THREADS, RUNTIME_THREADS, "list of managed threads",
		  "dumpheap shows the objects" },
	};
	uint32_t capabilities = runtime_capabilities(call->heap->runtime);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!(call->command->needs & rows[i].needs) || capabilities & rows[i].capability)
			continue;
		const char *instead = own_instead(call);
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "%s needs the %s, which a program with %s does not keep; %s",
			    call->command->name, rows[i].what,
			    runtime_ops(call->heap->runtime)->name,
			    instead ? instead : rows[i].instead);
	}
	return HD_OK;
}

/* Does the answer lack something where objects, roots or segments cannot be read? */
static bool is_about_heap(const struct call *call)
{
	bool is_of_runtime = needs_of(call) == NEEDS_RUNTIME || call->needs_no_heap;
	return !is_of_runtime || call->command->needs & NEEDS_SEGMENTS;
}

static enum hd_status provide_heap(struct call *call)
{
	TRY(session_heap(call->session, &call->job, &call->heap, call->err));
	TRY(check_runtime(call));
	if (call->heap->is_walkable || needs_of(call) == NEEDS_RUNTIME || call->needs_no_heap)
		return HD_OK;
	const char *advice, *reason = no_heap_reason(call->heap, &advice);
	return fail(call->err, HD_ERR_FAULT, 0, "%s; %s", reason,
		    advice ? advice : "info says what is missing");
}

bool call_is_conservative(const struct call *call)
{
	const struct option *options = call->command->options;
	for (size_t i = 0; options && options[i].name; i++) {
		if (options[i].kind == VALUE_CONSERVATIVE)
			return call->options[i].given;
	}
	return false;
}

/* Options that ask for what no dump file holds. */
static enum hd_status refuse_target_options(const struct call *call)
{
	const struct option *options = call->command->options;
	for (size_t i = 0; options && options[i].name; i++) {
		bool is_stacks = options[i].kind == VALUE_CONSERVATIVE;
		if (!call->options[i].given || (!is_stacks && options[i].kind != VALUE_THREAD))
			continue;
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "-%s needs a core or a process; a heap dump file has no %s",
			    options[i].name, is_stacks ? "stacks" : "threads");
	}
	return HD_OK;
}

/* Get at what the command is about. */
static enum hd_status provide(struct call *call)
{
	struct hd_session *session = call->session;
	const enum needs needs = needs_of(call);
	if (needs == NEEDS_NOTHING)
		return HD_OK;
	TRY(ensure_open(call));
	if (needs == NEEDS_OPEN || needs == NEEDS_OUTLINE || needs == NEEDS_ACCOUNT)
		return HD_OK;
	bool is_target = session->target;
	bool is_of_targets = needs == NEEDS_HEAP || needs == NEEDS_RUNTIME;
	if (is_of_targets && !is_target)
		return call_refuse_file(call);
	if (is_target)
		TRY(provide_heap(call));
	if (session->graph && !graph_is_heap(session->graph))
		TRY(refuse_target_options(call));
	if (is_of_targets || (needs == NEEDS_EITHER && is_target))
		return HD_OK;
	if (needs == NEEDS_PATHS) {
		return session_paths(session, call_is_conservative(call), &call->job, &call->graph,
				     call->err);
	}
	return session_graph(session, call_is_conservative(call), &call->job, &call->graph,
			     call->err);
}

/* A process that did not answer: what the command has found without it is wrong. */
static enum hd_status check_call_target(struct call *call, enum hd_status status)
{
	struct target *target = call->session->target;
	if (!target)
		return status;
	enum hd_status answered = target_check(target, call->err);
	target_set_job(target, NULL);
	return answered == HD_OK ? status : answered;
}

/* With the setting "format" on rows, what is about the front end itself still answers: else it stayed so. */
static void choose_format(struct call *call)
{
	const struct command *command = call->command;
	bool is_rows =
		call->settings.format == FORMAT_NDJSON || call->settings.format == FORMAT_CSV;
	bool is_set = call->settings.format == call->session->settings.format;
	if (is_rows && is_set && command && !command->has_rows && command->role != HD_ROLE_QUERY)
		call->settings.format = FORMAT_TEXT;
}

/* Only a table can be shown row by row. */
static enum hd_status check_format(const struct call *call)
{
	bool is_rows =
		call->settings.format == FORMAT_NDJSON || call->settings.format == FORMAT_CSV;
	if (!is_rows || call->command->has_rows)
		return HD_OK;
	return fail(call->err, HD_ERR_UNSUPPORTED, 0,
		    "%s does not answer with a table: --format is text or json for it",
		    call->command->name);
}

/* An answer may be empty because a newer release does not tell where its fields are. */
static bool is_doubtful(const struct call *call)
{
	return call->session->target && call->command->has_rows && !call->answer.rows &&
	       findings_has(&call->session->target->findings, FINDING_MISSING_FIELDS);
}

/* Will the answer have names that are shorter than they should be?  A file has all of them. */
static void note_names(struct call *call)
{
	const struct hd_session *session = call->session;
	if (!session->format || !session->graph->findings.short_names.hashes_count)
		return;
	call->answer.short_names = &session->graph->findings.short_names;
	call->answer.has_short_name = call->command->writes;
}

static enum hd_status run_parsed(struct call *call)
{
	TRY(check_format(call));
	if (call->command->check)
		TRY(call->command->check(call));
	session_job(&call->settings, call->sink, &call->job);
	if (call->answer.visit)
		call->answer.visit->max_mem = call->job.max_mem;
	mapped_files_guard_begin();
	if (call->session->target)
		target_set_job(call->session->target, &call->job);
	enum hd_status status = provide(call);
	if (status == HD_OK)
		status = call_find_types(call);
	call_begin_facts(call);
	if (status == HD_OK) {
		note_names(call);
		status = call->command->run(call);
	}
	if (status == HD_OK)
		call_end_facts(call);
	/* People believe zero objects of a name that no type has.  Programs ask before the type is loaded. */
	if (status == HD_OK && !call->answer.rows && answer_is_text(&call->answer))
		status = call_check_patterns(call);
	status = check_call_target(call, status);
	call->findings |= is_doubtful(call);
	if (call->answer.has_short_name && !call->command->tells_findings)
		session_warn_names(call->session, call->sink);
	/* open tells the number itself, info all of them. */
	if (call->session->target && !call->command->tells_findings)
		session_warn(call->session, call->sink, status != HD_OK || is_about_heap(call));
	/* A file was complete before it shrank, or has nothing to do with it. */
	if (!call->is_written && mapped_files_shrunk()) {
		status = fail(call->err, HD_ERR_OS, 0,
			      "%s shrank while it was open: its end reads as zeros, so this answer "
			      "is wrong; open a copy that nothing changes",
			      call->session->path ? call->session->path : "a file");
	}
	if (status != HD_ERR_OS && mapped_files_written()) {
		status = fail(call->err, HD_ERR_OS, 0,
			      "%s was changed while it was open, so this answer may be wrong; open "
			      "it again, or a copy that nothing changes",
			      call->session->path ? call->session->path : "a file");
	}
	mapped_files_guard_end();
	return status;
}

/* The status of the command once its answer is with the sink. */
static enum hd_status status_after_answer(struct call *call, enum hd_status status)
{
	out_flush(&call->out);
	if (!call->out.stopped || (status != HD_OK && status != HD_ERR_CANCELLED))
		return status;
	return call->out.text.failed ? fail_nomem(call->err) : fail_cancelled(call->err);
}

/* The file that was asked for is there: if the answer about it is lost, the command has still not failed. */
static enum hd_status written_status(struct call *call, enum hd_status status)
{
	bool is_taken = !call->sink->write || call->sink->write(call->sink->arg, "", 0) == 0;
	if (status == HD_OK && is_taken)
		return HD_OK;
	sink_warn(
		call->sink,
		"the file is written and complete; only the answer about it could not be written");
	*call->err = (struct hd_error){ 0 };
	return HD_OK;
}

static enum hd_status check_call(const struct hd_session *session, int argc,
				 const char *const *argv, struct hd_error *err)
{
	if (!session)
		return fail(err, HD_ERR_ARGUMENT, 0, "no session was given");
	if (!arguments_are_there(argc, argv))
		return fail(err, HD_ERR_ARGUMENT, 0, "a word of the command is missing");
	return HD_OK;
}

int command_visit(struct hd_session *session, int argc, const char *const *argv,
		  const struct hd_sink *sink, struct visit *visit, struct hd_error *err)
{
	struct hd_error unused = { 0 };
	struct hd_sink own;
	if (sink_read(sink, !visit, &own, err) != HD_OK ||
	    check_call(session, argc, argv, err) != HD_OK)
		return HD_EXIT_USAGE;
	sink = &own;
	struct signal_hold too_large; /* a limit on the size of files is an error */
	signal_hold_begin(&too_large, HOLD_TOO_LARGE);
	struct call call = { .session = session,
			     .settings = session->settings,
			     .sink = sink,
			     .err = err ? err : &unused };
	*call.err = (struct hd_error){ 0 };
	const char *name = argc > 0 ? argv[0] : "help";
	call.command = command_find(name);
	if (arguments_want_json(argc, argv))
		call.settings.format = FORMAT_JSON;
	const char *const help[] = { "help", name };
	if (call.command && arguments_want_help(argc, argv)) {
		call.command = command_find(help[0]);
		argv = help;
		argc = 2;
	}
	enum hd_status status = call.command ? arguments_parse(&call, argc, argv)
					     : help_unknown(HD_ERR_ARGUMENT, name, call.err);
	bool color = call.settings.color == COLOR_ON ||
		     (call.settings.color == COLOR_AUTO && sink->color);
	if (visit) {
		call.settings.format = FORMAT_ROWS;
	} else {
		choose_format(&call);
	}
	bool is_text = call.settings.format == FORMAT_TEXT;
	call.as_json = call.settings.format == FORMAT_JSON;
	uint32_t width = call.settings.width == WIDTH_AUTO ? sink->width : call.settings.width;
	out_init(&call.out, sink, is_text ? width : 0, color && is_text);
	call.out.is_full = is_text && call.settings.width == 0;
	call.out.is_document = call.as_json;
	call.out.ends_crlf = call.settings.format == FORMAT_CSV;
	call.json.out = &call.out;
	answer_init(&call.answer, call.settings.format, &call.out, &call.json);
	call.answer.visit = visit;
	call.answer.is_raw_csv = call.settings.raw_csv;
	if (call.as_json)
		begin_document(&call, call.command ? call.command->name : name);
	if (status == HD_OK)
		status = run_parsed(&call);
	job_end(&call.job);
	status = status_after_answer(&call, status);
	if (call.as_json) {
		call_end_document(&call, status);
		status = status_after_answer(&call, status);
	}
	if (call.is_written)
		status = written_status(&call, status);
	call.err->is_told = call.as_json && status != HD_OK && !call.out.text.failed;
	out_deinit(&call.out);
	text_deinit(&call.joined);
	signal_hold_end(&too_large);
	return exit_status(status, call.findings);
}

static enum hd_status run_inner(struct call *inner, int argc, const char *const *argv)
{
	TRY(arguments_parse(inner, argc, argv));
	inner->settings.format = FORMAT_ROWS;
	TRY(provide(inner));
	TRY(call_find_types(inner));
	return inner->command->run(inner);
}

enum hd_status command_rows(struct call *call, int argc, const char *const *argv,
			    struct hd_rows **ret)
{
	struct hd_rows *rows = rows_create();
	TRY_MEMORY(rows, call->err);
	struct call inner = { .session = call->session,
			      .settings = call->settings,
			      .sink = call->sink,
			      .command = command_find(argv[0]),
			      .is_inner = true,
			      .err = call->err };
	session_job(&inner.settings, inner.sink, &inner.job);
	rows_visit(rows)->max_mem = inner.job.max_mem;
	out_init(&inner.out, inner.sink, 0, false);
	answer_init(&inner.answer, FORMAT_ROWS, &inner.out, &inner.json);
	inner.answer.visit = rows_visit(rows);
	enum hd_status status = run_inner(&inner, argc, argv);
	job_end(&inner.job);
	if (rows_check(rows, call->err) != HD_OK)
		status = HD_ERR_NOMEM;
	out_deinit(&inner.out);
	text_deinit(&inner.joined);
	if (status != HD_OK) {
		hd_rows_free(rows);
		return status;
	}
	*ret = rows;
	return HD_OK;
}

int hd_command_run(struct hd_session *session, int argc, const char *const *argv,
		   const struct hd_sink *sink, struct hd_error *err)
{
	return command_visit(session, argc, argv, sink, NULL, err);
}

enum hd_status call_check(struct call *call)
{
	if (call->out.stopped || !job_step(&call->job, 0, 1))
		return fail_cancelled(call->err);
	return HD_OK;
}

uint64_t call_statistics_limit(const struct call *call, size_t stat, size_t limit)
{
	return call->options[stat].given ? call->options[limit].number : 0;
}

uint64_t call_limit(const struct call *call, size_t option, uint64_t fallback)
{
	if (!call->options[option].given)
		return fallback;
	return call->options[option].number ? call->options[option].number : UINT64_MAX;
}

/* How many references and roots name an id that is not defined. */
static void count_mentions(const struct hd_graph *graph, uint32_t node, uint64_t *references,
			   uint64_t *roots)
{
	for (uint64_t i = 0; i < graph->forward.edge_count; i++)
		*references += graph->forward.targets[i] == node;
	for (uint32_t i = 0; i < graph->root_count; i++)
		*roots += graph->roots[i].node == node;
}

static enum hd_status object_not_found(const struct call *call, uint64_t id, uint32_t node)
{
	const struct hd_graph *graph = call->graph;
	HD_CLEANUP(text) struct text text = { 0 };
	uint32_t above = graph_lower_bound(graph, id);
	if (above > 0)
		text_printf(&text, "%" PRIx64, graph_id(graph, above - 1));
	if (above < graph->object_count)
		text_printf(&text, "%s%" PRIx64, above > 0 ? ", " : "", graph_id(graph, above));
	HD_CLEANUP(text) struct text mentions = { 0 };
	if (node != HD_NONE) {
		uint64_t references = 0, roots = 0;
		char counts[2][COUNT_SIZE];
		count_mentions(graph, node, &references, &roots);
		text_printf(&mentions, "; %s and %s name it, but the file does not define it",
			    format_count(references, "reference", counts[0]),
			    format_count(roots, "root", counts[1]));
	}
	enum hd_status status =
		fail(call->err, HD_ERR_NOTFOUND, id, "no object %" PRIx64 " in this dump%s%s%s%s",
		     id, text.bytes ? " (nearest: " : "", text.bytes ? text.bytes : "",
		     text.bytes ? ")" : "", mentions.bytes ? mentions.bytes : "");
	return status;
}

/* For a heap: what is there instead. */
static enum hd_status no_node(struct call *call, uint64_t address)
{
	struct object object;
	TRY(call_heap_object(call, address, &object));
	return fail(call->err, HD_ERR_NOTFOUND, address,
		    "%" PRIx64 " is %s, which references do not lead to", address,
		    object.type->is_free ? "a Free block" : "not on the walk of the heap");
}

enum hd_status call_object(struct call *call, size_t index, uint32_t *ret)
{
	uint64_t id = call->words[index].number;
	uint32_t node = hd_graph_find(call->graph, id);
	if (call->heap && node == HD_NONE)
		return no_node(call, id);
	if (node == HD_NONE || graph_is_missing(call->graph, node))
		return object_not_found(call, id, node);
	*ret = node;
	return HD_OK;
}
