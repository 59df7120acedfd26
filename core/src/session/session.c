/* SPDX-License-Identifier: MIT */
#include "session/session.h"

#include <string.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/text.h"

enum hd_status hd_session_create(struct hd_session **ret, struct hd_error *err)
{
	struct hd_session *session = mem_calloc(1, sizeof(*session));
	if (!session)
		return fail_nomem(err);
	*ret = session;
	return HD_OK;
}

void hd_session_destroy(struct hd_session *session)
{
	if (!session)
		return;
	hd_session_close(session);
	mem_free(session);
}

void hd_session_close(struct hd_session *session)
{
	reach_deinit(&session->live);
	dominators_deinit(&session->dominators);
	graph_destroy(session->graph);
	mem_free(session->path);
	mem_free(session->deferred);
	session->graph = NULL;
	session->path = NULL;
	session->deferred = NULL;
	session->format = NULL;
}

enum hd_status hd_session_defer(struct hd_session *session, const char *path, struct hd_error *err)
{
	char *copy = mem_strndup(path, strlen(path));
	if (!copy)
		return fail_nomem(err);
	hd_session_close(session);
	session->deferred = copy;
	return HD_OK;
}

const char *hd_session_path(const struct hd_session *session)
{
	return session->path;
}

const struct hd_graph *hd_session_graph(const struct hd_session *session)
{
	return session->graph;
}

static uint64_t default_max_mem(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	return pages > 0 && page > 0 ? (uint64_t)pages / 4 * (uint64_t)page : (uint64_t)1 << 30;
}

static unsigned int default_workers(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 1 ? (unsigned int)online : 1;
}

void session_job(const struct settings *settings, const struct hd_sink *sink, struct job *job)
{
	*job = (struct job){
		.workers = settings->workers ? settings->workers : default_workers(),
		.max_mem = settings->max_mem ? settings->max_mem : default_max_mem(),
	};
	if (!sink)
		return;
	job->cancelled = sink->cancelled;
	job->progress = sink->progress;
	job->arg = sink->arg;
}

enum hd_status session_open(struct hd_session *session, const char *path, bool lenient,
			    struct job *job, struct hd_error *err)
{
	const struct format_options options = { .lenient = lenient };
	char *copy = mem_strndup(path, strlen(path));
	if (!copy)
		return fail_nomem(err);
	struct hd_graph *graph = NULL;
	const struct format *format = NULL;
	enum hd_status status = format_open(path, &options, job, &graph, &format, err);
	job_end(job);
	if (status != HD_OK) {
		mem_free(copy);
		return status;
	}
	hd_session_close(session);
	session->path = copy;
	session->graph = graph;
	session->format = format;
	return HD_OK;
}

void session_warn(const struct hd_session *session, const struct hd_sink *sink)
{
	size_t count = session->graph->finding_count;
	if (!count || !sink || !sink->warn)
		return;
	struct text text = { 0 };
	text_escape(&text, session->path, strlen(session->path));
	text_printf(&text, ": %zu finding%s (", count, count == 1 ? "" : "s");
	for (size_t i = 0; i < count; i++)
		text_printf(&text, "%s%s", i ? ", " : "", session->graph->findings[i].kind);
	text_puts(&text, "): the command info says more");
	if (text.bytes)
		sink->warn(sink->arg, text.bytes);
	text_deinit(&text);
}

enum hd_status hd_session_open(struct hd_session *session, const char *path, int lenient,
			       const struct hd_sink *sink, struct hd_error *err)
{
	if (!path)
		return fail(err, HD_ERR_ARGUMENT, 0, "no path to open");
	struct job job;
	session_job(&session->settings, sink, &job);
	TRY(session_open(session, path, lenient != 0, &job, err));
	session_warn(session, sink);
	return HD_OK;
}

enum hd_status session_live(struct hd_session *session, struct job *job, const struct reach **ret,
			    struct hd_error *err)
{
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
