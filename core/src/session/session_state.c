/* SPDX-License-Identifier: MIT */
#include "session/session_state.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <heapdump/debugger.h>

#include "format/format.h"
#include "roots/root_set.h"
#include "snapshot/snapshot.h"
#include "targets/process/cgroup.h"
#include "util/alloc.h"
#include "util/caller_struct.h"
#include "util/opening.h"
#include "util/own_folders.h"
#include "util/signal_hold.h"
#include "util/sink.h"
#include "util/text.h"

static uint64_t default_max_mem(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t most =
		pages > 0 && page > 0 ? (uint64_t)pages / 4 * (uint64_t)page : (uint64_t)1 << 30;
	/* Reading the copy also needs memory. */
	uint64_t group = cgroup_free("", (int)getpid());
	uint64_t share = group == UINT64_MAX ? most : group / 4 * 3;
	share = share ? share : 1;
	return share < most ? share : most;
}

static unsigned int default_workers(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 1 ? (unsigned int)online : 1;
}

enum hd_status session_create_like(const struct hd_session *other, struct hd_session **ret,
				   struct hd_error *err)
{
	struct hd_session *session = mem_calloc(1, sizeof(*session));
	TRY_MEMORY(session, err);
	session->settings.defaults = other->settings.defaults;
	*ret = session;
	return HD_OK;
}

enum hd_status hd_session_create(struct hd_session **ret, struct hd_error *err)
{
	if (!ret)
		return fail(err, HD_ERR_ARGUMENT, 0, "there is no place for the session");
	struct hd_session *session = mem_calloc(1, sizeof(*session));
	TRY_MEMORY(session, err);
	/*
	 * Determined now: the answers are in files, which a process in a sandbox cannot open later.
	 */
	session->settings.defaults.workers = default_workers();
	session->settings.defaults.max_mem = default_max_mem();
	session->settings.width = WIDTH_AUTO;
	const char *folders[OWN_FOLDERS_MAX];
	(void)own_folders(folders);
	json_object_seed(0);
	*ret = session;
	return HD_OK;
}

void hd_session_destroy(struct hd_session *session)
{
	if (!session)
		return;
	hd_session_close(session);
	mem_free(session->texts.sysroot);
	mem_free(session->texts.symbols);
	mem_free(session->texts.runtime);
	mem_free(session->label);
	mem_free(session);
}

void hd_session_close(struct hd_session *session)
{
	if (!session)
		return;
	reach_deinit(&session->live);
	dominators_deinit(&session->dominators);
	session_async_drop(session);
	graph_destroy(session->graph);
	root_set_destroy(session->roots);
	heap_destroy(session->heap);
	runtime_destroy(session->runtime);
	target_destroy(session->target);
	mem_free(session->path);
	mem_free(session->deferred);
	session->graph = NULL;
	session->roots = NULL;
	session->heap = NULL;
	session->runtime = NULL;
	session->target = NULL;
	session->path = NULL;
	session->deferred = NULL;
	session->format = NULL;
	session->selected = 0;
}

enum hd_status hd_session_defer(struct hd_session *session, const char *path, struct hd_error *err)
{
	if (!session || !path)
		return fail(err, HD_ERR_ARGUMENT, 0, "no session, or no path to open");
	char *copy = mem_strndup(path, strlen(path));
	TRY_MEMORY(copy, err);
	hd_session_close(session);
	session->deferred = copy;
	return HD_OK;
}

enum hd_status hd_session_label(struct hd_session *session, const char *path, struct hd_error *err)
{
	if (!session)
		return fail(err, HD_ERR_ARGUMENT, 0, "there is no session");
	char *copy = path ? mem_strndup(path, strlen(path)) : NULL;
	if (path && !copy)
		return fail_nomem(err);
	mem_free(session->label);
	session->label = copy;
	return HD_OK;
}

void hd_session_sandbox(struct hd_session *session, const char *state)
{
	if (!session)
		return;
	(void)snprintf(session->sandbox, sizeof(session->sandbox), "%s", state ? state : "");
}

const char *hd_session_path(const struct hd_session *session)
{
	return session ? session->path : NULL;
}

const struct hd_graph *hd_session_graph(const struct hd_session *session)
{
	bool has_graph = session && session->graph && graph_has_forward(session->graph);
	return has_graph ? session->graph : NULL;
}

void session_job(const struct settings *settings, const struct hd_sink *sink, struct job *job)
{
	*job = (struct job){
		.workers = settings->workers ? settings->workers : settings->defaults.workers,
		.max_mem = settings->max_mem ? settings->max_mem : settings->defaults.max_mem,
	};
	if (!sink)
		return;
	job->cancelled = sink->cancelled;
	job->progress = sink->progress;
	job->arg = sink->arg;
}

/* A process id, if no file has that name. */
static bool is_process(const char *path, int *ret)
{
	size_t digits = strspn(path, "0123456789");
	uint64_t number = 0;
	if (!digits || path[digits])
		return false;
	int place = open_as(HD_OPEN_PLACE, path);
	if (place >= 0) {
		(void)close(place);
		return false;
	}
	if (!parse_number(path, &number) || number > INT_MAX)
		return false;
	*ret = (int)number;
	return true;
}

static struct target_options target_options(const struct settings *settings, const struct job *job)
{
	static const char *const backends[] = { NULL, "file", "process", "debugger" };
	return (struct target_options){
		.sysroot = settings->sysroot,
		.symbols = settings->symbols,
		.runtime = settings->runtime,
		.no_files = settings->no_files,
		.trust_files = settings->trust_files,
		.max_mem = job->max_mem,
		.stop_seconds = settings->max_stop ? settings->max_stop : PROCESS_STOP_SECONDS,
		.copy_all = settings->copy_all || settings->asked.account,
		.residency = settings->asked.residency,
		.backend = backends[settings->backend],
	};
}

/* Replace what is open by what was opened; @p path is owned from now on. */
static void replace_opened(struct hd_session *session, char *path, struct hd_graph *graph,
			   const struct format *format, struct target *target,
			   struct runtime *runtime)
{
	hd_session_close(session);
	session->path = path;
	session->graph = graph;
	session->format = format;
	session->target = target;
	session->runtime = runtime;
}

enum hd_status session_open(struct hd_session *session, const char *path,
			    const struct settings *settings, struct job *job, struct hd_error *err)
{
	const struct format_options options = { .lenient = settings->lenient,
						.exact = settings->exact,
						.snapshot = settings->snapshot,
						.no_files = settings->no_files,
						.trust_files = settings->trust_files,
						.sysroot = settings->sysroot };
	const struct target_options target_with = target_options(settings, job);
	char *copy = mem_strndup(path, strlen(path));
	TRY_MEMORY(copy, err);
	struct hd_graph *graph = NULL;
	const struct format *format = NULL;
	struct target *target = NULL;
	struct runtime *runtime = NULL;
	int pid = 0;
	bool is_core = false, is_live = is_process(path, &pid);
	enum hd_status status = is_live ? HD_OK : target_is_core(path, &is_core, err);
	if (status == HD_OK && is_live) {
		status = session_attach(pid, &target_with, job, &target, &runtime, err);
	} else if (status == HD_OK && is_core) {
		status = target_open_core(path, &target_with, job, &target, err);
	} else if (status == HD_OK) {
		status = format_open(path, &options, job, &graph, &format, err);
	}
	job_end(job);
	if (status != HD_OK) {
		mem_free(copy);
		return status;
	}
	replace_opened(session, copy, graph, format, target, runtime);
	session->is_exact = options.exact;
	session->snapshot = options.snapshot;
	return HD_OK;
}

bool session_is_open(const struct hd_session *session)
{
	return session->graph || session->target;
}

enum hd_status session_heap(struct hd_session *session, struct job *job, struct heap **ret,
			    struct hd_error *err)
{
	if (!session->runtime)
		TRY(runtime_open(session->target, job, &session->runtime, err));
	if (!session->heap)
		TRY(heap_open(session->runtime, &session->heap, err));
	*ret = session->heap;
	return HD_OK;
}

/* Replace the roots that the session has by @p roots, also in its graph. */
static enum hd_status replace_roots(struct hd_session *session, struct root_set *roots,
				    struct job *job, struct hd_error *err)
{
	reach_deinit(&session->live);
	dominators_deinit(&session->dominators);
	enum hd_status status = HD_OK;
	if (session->graph)
		status = snapshot_set_roots(session->graph, roots, job, err);
	if (status != HD_OK) {
		graph_destroy(session->graph);
		session->graph = NULL;
	}
	root_set_destroy(session->roots);
	session->roots = roots;
	return status;
}

enum hd_status session_roots(struct hd_session *session, bool conservative, struct job *job,
			     const struct root_set **ret, struct hd_error *err)
{
	if (!session->roots || session->roots->is_conservative != conservative) {
		struct heap *heap;
		struct root_set *roots;
		TRY(session_heap(session, job, &heap, err));
		TRY(root_set_create(heap, conservative, job, &roots, err));
		TRY(replace_roots(session, roots, job, err));
	}
	*ret = session->roots;
	return HD_OK;
}

enum hd_status session_paths(struct hd_session *session, bool conservative, struct job *job,
			     struct hd_graph **ret, struct hd_error *err)
{
	if (session->target) {
		const struct root_set *roots;
		TRY(session_roots(session, conservative, job, &roots, err));
		if (!session->graph) {
			TRY(snapshot_create_nodes(session->heap, roots, job, &session->graph, err));
		}
	}
	*ret = session->graph;
	return HD_OK;
}

enum hd_status session_graph(struct hd_session *session, bool conservative, struct job *job,
			     struct hd_graph **ret, struct hd_error *err)
{
	struct hd_graph *graph;
	const struct csr *forward;
	TRY(session_paths(session, conservative, job, &graph, err));
	TRY(graph_forward(graph, job, &forward, err));
	*ret = graph;
	return HD_OK;
}

/* For a debugger that has a core file, and reads nothing itself. */
static size_t read_nothing(void *arg, uint64_t address, void *buf, size_t size)
{
	(void)arg, (void)address, (void)buf, (void)size;
	return 0;
}

/* Copy what the plug-in says, which may be of an older or a newer version of the library. */
static enum hd_status read_debugger(const struct hd_session *session,
				    const struct hd_debugger *debugger, struct hd_debugger *ret,
				    struct hd_error *err)
{
	if (!session || !debugger)
		return fail(err, HD_ERR_ARGUMENT, 0, "no session, or no debugger");
	if (!caller_struct_read(ret, sizeof(*ret), SIZE_TO(struct hd_debugger, register_count),
				debugger)) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "the plug-in was built for another version of the library than %s",
			    hd_version());
	}
	if (!ret->read && !ret->core)
		return fail(err, HD_ERR_ARGUMENT, 0, "the debugger neither reads nor has a core");
	for (size_t i = 0; ret->modules && i < ret->module_count; i++) {
		if (!ret->modules[i].path)
			return fail(err, HD_ERR_ARGUMENT, 0, "module %zu has no path", i);
	}
	return HD_OK;
}

enum hd_status hd_session_debugger(struct hd_session *session, const struct hd_debugger *debugger,
				   const struct hd_sink *sink, struct hd_error *err)
{
	struct hd_debugger with;
	struct hd_sink own;
	TRY(read_debugger(session, debugger, &with, err));
	if (sink) {
		TRY(sink_read(sink, false, &own, err));
		sink = &own;
	}
	if (!with.read)
		with.read = read_nothing;
	struct job job;
	session_job(&session->settings, sink, &job);
	const struct target_options options = target_options(&session->settings, &job);
	struct text path = { 0 };
	if (with.core) {
		text_puts(&path, with.core);
	} else {
		text_printf(&path, "%sprocess %d", with.is_core ? "core of " : "", (int)with.pid);
	}
	struct target *target = NULL;
	enum hd_status status = path.failed
					? fail_nomem(err)
					: target_open_debugger(&with, &options, &job, &target, err);
	job_end(&job);
	if (status != HD_OK) {
		text_deinit(&path);
		return status;
	}
	replace_opened(session, path.bytes, NULL, NULL, target, NULL);
	return HD_OK;
}

void hd_session_thread(struct hd_session *session, int32_t tid)
{
	/* The user of a debugger may have opened a file: then the choice of setthread stays. */
	bool is_debugger = session && session->target && session->target->debugger.route;
	if (session && (tid || is_debugger))
		session->selected = tid;
}

enum hd_status hd_session_open(struct hd_session *session, const char *path, int lenient,
			       const struct hd_sink *sink, struct hd_error *err)
{
	if (!session || !path)
		return fail(err, HD_ERR_ARGUMENT, 0, "no session, or no path to open");
	struct hd_sink own;
	if (sink) {
		TRY(sink_read(sink, false, &own, err));
		sink = &own;
	}
	struct job job;
	session_job(&session->settings, sink, &job);
	struct settings settings = session->settings;
	settings.lenient = lenient != 0;
	struct signal_hold too_large; /* unpacking writes a file in memory */
	signal_hold_begin(&too_large, HOLD_TOO_LARGE);
	enum hd_status status = session_open(session, path, &settings, &job, err);
	signal_hold_end(&too_large);
	TRY(status);
	session_warn(session, sink, true);
	return HD_OK;
}

enum hd_status session_live(struct hd_session *session, struct job *job, const struct reach **ret,
			    struct hd_error *err)
{
	const struct csr *forward;
	TRY(graph_forward(session->graph, job, &forward, err));
	if (!session->live.bitmap)
		TRY(reach_from_roots(session->graph, job, &session->live, err));
	*ret = &session->live;
	return HD_OK;
}

enum hd_status session_dominators(struct hd_session *session, struct job *job,
				  const struct dominators **ret, struct hd_error *err)
{
	if (!session->dominators.idom)
		TRY(dominators_init(session->graph, job, &session->dominators, err));
	*ret = &session->dominators;
	return HD_OK;
}
