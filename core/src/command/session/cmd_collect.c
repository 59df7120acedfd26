/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collect/collect.h"
#include "collect/inside.h"
#include "command/session/collect_answer.h"
#include "command/session/export_graph.h"
#include "command/table.h"
#include "format/nettrace/nettrace_check.h"
#include "targets/target.h"
#include "util/read_at.h"
#include "util/sink.h"

static const char *const format_choices[] = { "gcdump", "nettrace",   "rpm",   "heapsnapshot",
					      "folded", "speedscope", "hprof", NULL };

#define COLLECT_OPTIONS(X)                                                                      \
	X(OPT_OUTPUT, "o", VALUE_OUTPUT, "FILE",                                                \
	  "where to, - for standard output (PID-DATE-TIME.gcdump)", NULL)                       \
	X(OPT_FORMAT, "format", VALUE_CHOICE, "NAME",                                           \
	  "gcdump, nettrace, rpm, heapsnapshot, folded, speedscope, hprof (as FILE ends)",      \
	  format_choices)                                                                       \
	X(OPT_GENERATIONS, "generations", VALUE_NONE, NULL,                                     \
	  "with the address ranges of the generations", NULL)                                   \
	X(OPT_BUFFER, "buffer", VALUE_NUMBER, "SIZE",                                           \
	  "memory of the process for the first try (512M; by its size)", NULL)                  \
	X(OPT_TIMEOUT, "timeout", VALUE_NUMBER, "SECONDS",                                      \
	  "longest time that it may take (60 a try, more for large processes)", NULL)           \
	X(OPT_LIVE, "live", VALUE_NONE, NULL, "leave out what no root keeps alive", NULL)       \
	X(OPT_PORT, "port", VALUE_SOCKET, "PATH",                                               \
	  "wait at PATH for a program that was started with DOTNET_DiagnosticPorts=PATH", NULL) \
	X(OPT_INSIDE, "inside", VALUE_NONE, NULL,                                               \
	  "let the process write FILE itself, by a profiler that it loads for this", NULL)

OPTIONS(collect, COLLECT_OPTIONS);

#define TIMEOUT_MAX       86400u
#define PORT_TIMEOUT      30u
#define MACHINE_NAME_SIZE 256u
#define TICKS_PER_SECOND  10000000

/* One run of the command. */
struct collection {
	struct call *call;
	struct endpoint endpoint;
	struct dotnet_process process;
	char path[PATH_MAX];
	const struct format *format;
	bool is_straight; /* to the output, a device, a FIFO, ...: written at the end, as it comes */
	struct collected collected;
	int pid;
	uint64_t began, deadline; /* by collect_now_ms(); 0: none was given */
	/* what was written */
	uint64_t objects, references, roots, size;
	bool has_roots;
};

static void say(void *arg, const char *line)
{
	const struct collection *collection = arg;
	sink_note(collection->call->sink, line);
}

/* The process that was asked for, else the one that is open. */
static enum hd_status wanted_pid(const struct call *call, int *ret)
{
	const struct value *word = &call->words[0];
	const struct target *target = call->session->target;
	if (!word->given && target && target->kind != TARGET_CORE && target->pid > 0) {
		*ret = target->pid;
		return HD_OK;
	}
	if (!word->given) {
		return call_usage(call,
				  "no process is given (ps lists them; of one that a debugger has "
				  "stopped export writes the heap)");
	}
	if (!word->number || word->number > INT_MAX) {
		return fail(call->err, HD_ERR_ARGUMENT, 0, "PID is the number of a process, not %s",
			    word->text);
	}
	*ret = (int)word->number;
	return HD_OK;
}

static enum hd_status refuse_stopped(const struct call *call, int pid)
{
	/* A signal may be just about to be over. */
	for (int i = 0; i < 5; i++) {
		if (!process_is_stopped(pid))
			return HD_OK;
		const struct timespec pause = { .tv_nsec = 10000000 };
		(void)nanosleep(&pause, NULL);
	}
	errno = 0;
	return fail(call->err, HD_ERR_OS, 0,
		    "process %d is stopped (by a debugger or a signal) and cannot answer: let it "
		    "continue, or use export, which reads the memory of a stopped process",
		    pid);
}

static enum hd_status wait_at_port(struct collection *collection, const char *path)
{
	struct call *call = collection->call;
	const struct patience patience = {
		.job = &call->job,
		.deadline = collection->deadline ? collection->deadline
						 : collect_now_ms() + (uint64_t)PORT_TIMEOUT * 1000
	};
	HD_CLEANUP(text) struct text line = { 0 };
	text_printf(&line, "start the program with DOTNET_DiagnosticPorts=%s,nosuspend", path);
	if (line.bytes)
		sink_note(call->sink, line.bytes);
	job_begin(&call->job, "Waiting for a runtime to connect", 0);
	return endpoint_listen(path, &patience, &collection->endpoint, call->err);
}

static enum hd_status find_endpoint(struct collection *collection)
{
	struct call *call = collection->call;
	const struct value *port = &call->options[OPT_PORT];
	if (port->given)
		return wait_at_port(collection, port->text);
	TRY(refuse_stopped(call, collection->pid));
	TRY(dotnet_process_find(collection->pid, &collection->process, call->err));
	collection->endpoint = endpoint_of(&collection->process);
	return HD_OK;
}

static const struct format *collect_format(const struct call *call)
{
	return output_format(&call->options[OPT_FORMAT], &call->options[OPT_OUTPUT],
			     &gcdump_format);
}

/* The process writes the file, under a name that it understands, and in its own way. */
static enum hd_status check_inside(const struct call *call)
{
	static const int others[] = { OPT_FORMAT, OPT_GENERATIONS, OPT_BUFFER, OPT_LIVE, OPT_PORT };
	const struct value *path = &call->options[OPT_OUTPUT];
	if (!call->options[OPT_INSIDE].given)
		return HD_OK;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (call->options[others[i]].given) {
			return fail(call->err, HD_ERR_ARGUMENT, 0, "-inside does not go with -%s",
				    collect_options[others[i]].name);
		}
	}
	if (!path->given || path->text[0] != '/') {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "-inside needs -o with an absolute path: the process writes the file");
	}
	if (!format_of_path(path->text)) {
		return fail(
			call->err, HD_ERR_ARGUMENT, 0,
			"-o %s: with -inside the ending says the format: .gcdump, .nettrace, .heap, "
			".heapsnapshot, .folded, .speedscope.json or .hprof",
			path->text);
	}
	return HD_OK;
}

static enum hd_status check_arguments(const struct call *call)
{
	const struct value *timeout = &call->options[OPT_TIMEOUT];
	if (timeout->given && (!timeout->number || timeout->number > TIMEOUT_MAX)) {
		return fail(call->err, HD_ERR_ARGUMENT, 0, "-timeout is 1 to %u seconds",
			    TIMEOUT_MAX);
	}
	if (call->options[OPT_BUFFER].given && !call->options[OPT_BUFFER].number)
		return fail(call->err, HD_ERR_ARGUMENT, 0, "-buffer is a size such as 512M");
	if (call->settings.snapshot) {
		return fail(
			call->err, HD_ERR_ARGUMENT, 0,
			"--snapshot is about a .nettrace that is there: collect takes a snapshot "
			"of its own");
	}
	if (call->options[OPT_PORT].given && call->words[0].given)
		return call_usage(call, "give a process or -port, not both");
	TRY(check_inside(call));
	if (call->options[OPT_LIVE].given && collect_format(call) == &nettrace_format) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "a .nettrace holds what the process sent: -live needs another format");
	}
	const struct value *path = &call->options[OPT_OUTPUT];
	const struct format *format = collect_format(call);
	return path->given && output_is_stdout(path->text)
		       ? output_check(call, format->extension, format->is_binary)
		       : HD_OK;
}

/* Can a file be made there?  The process is not asked for what cannot be kept. */
static enum hd_status try_path(struct collection *collection)
{
	struct hd_error *err = collection->call->err;
	const char *path = collection->path;
	collection->is_straight = output_is_stdout(path);
	if (collection->is_straight)
		return HD_OK;
	if (!*path) {
		errno = 0;
		return fail(err, HD_ERR_ARGUMENT, 0, "-o '': the name of the file is empty");
	}
	return output_place_check(path, &collection->is_straight, err);
}

/* Where to; an existing file is replaced at the end. */
static enum hd_status find_path(struct collection *collection)
{
	const struct call *call = collection->call;
	const struct value *path = &call->options[OPT_OUTPUT];
	collection->format = collect_format(call);
	size_t size = sizeof(collection->path);
	int length;
	if (path->given) {
		length = snprintf(collection->path, size, "%s", path->text);
	} else {
		const time_t now = time(NULL);
		struct tm tm;
		char date[32];
		if (!localtime_r(&now, &tm) || !strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm))
			date[0] = '\0';
		length = snprintf(collection->path, size, "%d-%s%s", collection->pid, date,
				  collection->format->extension);
	}
	if (length < 0 || (size_t)length >= size) {
		return fail(call->err, HD_ERR_ARGUMENT, 0, "the name of the file is too long");
	}
	return call->options[OPT_INSIDE].given ? HD_OK : try_path(collection);
}

static enum hd_status check(void *arg, int fd, struct collected_check *ret, struct hd_error *err)
{
	const struct collection *collection = arg;
	struct nettrace_check found;
	TRY(nettrace_check(fd, "the trace", &collection->call->job, &found, err));
	*ret = (struct collected_check){ .snapshot = found.snapshot,
					 .is_whole = found.is_whole,
					 .objects = found.objects,
					 .references = found.references,
					 .unnamed = found.unnamed };
	return HD_OK;
}

static enum hd_status collect_trace(struct collection *collection)
{
	struct call *call = collection->call;
	const bool is_kept = collection->format == &nettrace_format && !collection->is_straight;
	const struct collect_options options = {
		.buffer = call->options[OPT_BUFFER].number,
		.deadline = collection->deadline,
		.generations = call->options[OPT_GENERATIONS].given,
		.path = is_kept ? collection->path : NULL,
		.say = say,
		.check = check,
		.arg = collection,
	};
	struct collected *collected = &collection->collected;
	TRY(collect_snapshot(&collection->endpoint, &options, &call->job, collected, call->err));
	collection->objects = collected->objects;
	collection->references = collected->references;
	return HD_OK;
}

/* Does another line say so already, or why it is so? */
static bool is_told(const struct collected *collected, enum finding_kind kind)
{
	if (!collected->is_complete)
		return kind != FINDING_DAMAGED;
	switch (kind) {
	case FINDING_SNAPSHOTS:
	case FINDING_LOST_EVENTS:
	case FINDING_OTHER_LOSSES:
	case FINDING_TRUNCATED:
		return true;
	case FINDING_UNRESOLVED_TYPE:
		return collected->unnamed;
	default:
		return false;
	}
}

/* Say what the reader has found in a trace, which the file in the end may not tell. */
static void tell_findings(const struct collection *collection, const struct hd_graph *graph)
{
	char number[NUMBER_SIZE];
	for (size_t i = 0; i < graph->findings.count; i++) {
		const struct graph_finding *finding = &graph->findings.rows[i];
		struct text line = { 0 };
		if (is_told(&collection->collected, finding->kind))
			continue;
		text_printf(&line, "%s (%s)%s", finding_name(finding->kind),
			    format_thousands(finding->count, number), finding->detail ? ": " : "");
		if (finding->detail)
			text_puts(&line, finding->detail);
		if (line.bytes)
			sink_warn(collection->call->sink, line.bytes);
		text_deinit(&line);
	}
}

/*
 * Add what the trace does not tell: the machine's name, which @p machine will hold, and its local
 * time.
 */
static void add_machine(struct graph_info *info, char machine[MACHINE_NAME_SIZE])
{
	const time_t now = time(NULL);
	struct tm local;
	if (gethostname(machine, MACHINE_NAME_SIZE - 1) == 0 && machine[0])
		info->machine = machine;
	if (info->time && localtime_r(&now, &local))
		info->time += (uint64_t)(local.tm_gmtoff * TICKS_PER_SECOND);
}

static void count_exported(struct collection *collection, const struct exporting *exporting)
{
	const struct export_counts counts = export_count(exporting);
	collection->objects = counts.objects;
	collection->references = counts.references;
	collection->roots = counts.roots;
	collection->has_roots = true;
}

/* Read the trace into a graph and write that. */
static enum hd_status convert_trace(struct collection *collection)
{
	struct call *call = collection->call;
	static const char trace[] = "what the process sent";
	const struct dump_input sent = { .path = trace, .fd = collection->collected.file.fd };
	const struct format_options options = { .lenient = call->settings.lenient,
						.exact = call->settings.exact,
						.snapshot = collection->collected.snapshot,
						.no_files = call->settings.no_files,
						.trust_files = call->settings.trust_files,
						.sysroot = call->settings.sysroot };
	struct hd_session own = { .settings = call->session->settings };
	TRY(format_open_fd(&sent, &options, &call->job, &own.graph, &own.format, call->err));
	tell_findings(collection, own.graph);
	char machine[MACHINE_NAME_SIZE] = "";
	add_machine(&own.graph->info, machine);
	struct exporting exporting = {
		.session = &own,
		.graph = own.graph,
		.format = collection->format,
		.live_only = call->options[OPT_LIVE].given,
		.copy_options = options,
		.job = &call->job,
		.err = call->err,
	};
	if (options.exact && exporting.format == &gcdump_format && !exporting.live_only)
		exporting.copied = trace;
	exporting.copied_fd = &collection->collected.file.fd;
	enum hd_status status = export_prepare(&exporting);
	if (status == HD_OK)
		count_exported(collection, &exporting);
	if (exporting.copied) {
		/* From the trace: what was read of it for the counts and findings is in the way. */
		hd_session_close(&own);
		exporting.graph = NULL;
	}
	if (status == HD_OK && output_is_stdout(collection->path)) {
		status = export_output(&exporting, call);
	} else if (status == HD_OK) {
		status = export_file(&exporting, collection->path, &collection->size);
	}
	hd_session_close(&own);
	return status;
}

/* The stream to the output, or to a file that is open. */
static enum hd_status copy_stream(struct collection *collection, struct output_file *file)
{
	struct call *call = collection->call;
	char bytes[65536];
	for (uint64_t at = 0; at < collection->collected.size;) {
		ssize_t got =
			read_at(collection->collected.file.fd, bytes, sizeof(bytes), (off_t)at);
		if (got <= 0) {
			return fail(call->err, HD_ERR_OS, 0, "the trace cannot be read back: %s",
				    got ? strerrordesc_np(errno) : "it was cut");
		}
		if (file ? !output_file_write(file, bytes, (size_t)got)
			 : !output_write(&call->out, bytes, (size_t)got))
			break;
		at += (uint64_t)got;
		TRY(job_check(&call->job, 0, call->err));
	}
	return HD_OK;
}

/* The same for what is not a regular file. */
static enum hd_status copy_straight(struct collection *collection)
{
	struct call *call = collection->call;
	struct output_file file;
	if (output_is_stdout(collection->path))
		return copy_stream(collection, NULL);
	TRY(output_file_open(&file, collection->path, &call->job, call->err));
	enum hd_status status = copy_stream(collection, &file);
	if (status == HD_OK)
		return output_file_commit(&file, call->err);
	output_file_abandon(&file);
	return status;
}

static enum hd_status finish_collection(struct collection *collection)
{
	struct collected *collected = &collection->collected;
	struct hd_error *err = collection->call->err;
	if (collection->format != &nettrace_format) {
		TRY(convert_trace(collection));
	} else if (collection->is_straight) {
		TRY(copy_straight(collection));
	} else {
		collection->size = collected->size;
		TRY(output_file_commit(&collected->file, err));
	}
	if (collection->is_straight)
		collection->size = 0; /* nobody can look at it again */
	collection->call->is_written = !output_is_stdout(collection->path);
	return HD_OK;
}

static void report_collection(struct collection *collection)
{
	struct call *call = collection->call;
	const struct collected *collected = &collection->collected;
	call->findings = call->findings || collected->findings.count;
	const struct collect_answer answer = {
		.pid = collection->pid,
		.path = collection->path,
		.format = collection->format->name,
		.objects = collection->objects,
		.references = collection->references,
		.roots = collection->roots,
		.has_roots = collection->has_roots,
		.size = collection->size,
		.seconds = (double)(collect_now_ms() - collection->began) / 1e3,
		.is_complete = collected->is_complete && !call->findings,
		.collected = collected,
	};
	collect_answer_write(call, &answer);
}

static enum hd_status prepare_collection(struct collection *collection)
{
	const struct call *call = collection->call;
	const struct value *timeout = &call->options[OPT_TIMEOUT];
	if (timeout->given)
		collection->deadline = collection->began + timeout->number * 1000;
	if (!call->options[OPT_PORT].given)
		TRY(wanted_pid(call, &collection->pid));
	/* Without a name the file takes that of the process, which is not known yet. */
	if (call->options[OPT_OUTPUT].given)
		TRY(find_path(collection));
	TRY(find_endpoint(collection));
	collection->pid = collection->endpoint.pid;
	return call->options[OPT_OUTPUT].given ? HD_OK : find_path(collection);
}

/* The process writes the file; what it says about it is put where the report looks. */
static enum hd_status collect_from_inside(struct collection *collection)
{
	struct call *call = collection->call;
	struct collected *collected = &collection->collected;
	struct watch watch = watch_of(collection->pid, collect_now_ms());
	struct inside_answer answer = { 0 };
	HD_CLEANUP(text) struct text library = { 0 };
	struct room room;
	room_read("", collection->pid, &room);
	const struct patience patience = {
		.job = &call->job,
		.watch = &watch,
		.deadline = collection->deadline ? collection->deadline
						 : collect_now_ms() + room_seconds(&room) * 1000
	};
	job_begin(&call->job, "Waiting for the process", 0);
	TRY(inside_find_library(collection->pid, &library, call->err));
	TRY(inside_collect(&collection->endpoint, library.bytes, collection->path, &patience,
			   &answer, call->err));
	call->is_written = true;
	collection->objects = answer.objects;
	collection->references = answer.references;
	collection->roots = answer.roots;
	collection->has_roots = true;
	collection->size = answer.size;
	collected->tries = 1;
	collected->is_complete = answer.is_complete;
	if (!answer.is_complete) {
		findings_add(
			&collected->findings, FINDING_PARTIAL,
			"collect without -inside, which tries again with more memory",
			"events are missing, as when the process has too little memory for them");
	}
	return HD_OK;
}

static enum hd_status run_collect(struct call *call)
{
	TRY(check_arguments(call));
	struct collection collection = { .call = call,
					 .endpoint = { .listener = -1, .waiting = -1 },
					 .collected = { .file = { .fd = -1 } },
					 .began = collect_now_ms() };
	enum hd_status status = prepare_collection(&collection);
	const bool is_inside = call->options[OPT_INSIDE].given;
	if (status == HD_OK)
		status = is_inside ? collect_from_inside(&collection) : collect_trace(&collection);
	/* The process is done with: what follows takes its time without it. */
	endpoint_deinit(&collection.endpoint);
	if (status == HD_OK && !is_inside)
		status = finish_collection(&collection);
	job_end(&call->job);
	if (status == HD_OK)
		report_collection(&collection);
	collected_deinit(&collection.collected);
	dotnet_process_deinit(&collection.process);
	return status;
}

COMMAND(collect, .writes = true, .role = HD_ROLE_SYSTEM, .follows = true,
	.summary = "take a snapshot of the heap of a running .NET process",
	.description =
		"The runtime of the process is asked over its diagnostics socket: its garbage collector\n"
		"walks the heap, and nothing attaches to the process. The process is stopped while that\n"
		"happens (a second for some million objects) and needs memory for a buffer. When\n"
		"events are lost, it is done again with a larger buffer; when objects are still missing\n"
		"at the end, the snapshot is kept and the exit status is 1. Without PID: the process\n"
		"that is open. What the process sends is kept in $TMPDIR, or /tmp, until FILE is written\n"
		"from it; for a .nettrace, which is the same data, next to FILE.\n"
		"With -inside the runtime loads our profiler, which writes FILE from within the process and\n"
		"leaves again: FILE is an absolute path as the process sees it, and gets its owner.\n",
	.example = "collect 4711 -o shop.gcdump", .needs = NEEDS_NOTHING,
	.options = collect_options, .words = { { "PID", VALUE_PROCESS, true } });
