/* SPDX-License-Identifier: MIT */
#include "snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <heapdump/heapdump.h>

#include "events_way.h"
#include "hold.h"
#include "kept_files.h"
#include "memory_use.h"
#include "out_path.h"
#include "own_socket.h"
#include "runtime.h"
#include "walk_way.h"
#include "write_line.h"

#define SNAPSHOT_WORKERS "1"  /* the program's processors are the program's */
#define FROZEN_RANGES    256u /* of 4 MB each, in all releases */

static int drop_answer(void *arg, const char *text, size_t size)
{
	(void)arg;
	(void)text;
	(void)size;
	return 0;
}

static void drop_line(void *arg, const char *line)
{
	(void)arg;
	(void)line;
}

static int is_cancelled(void *arg)
{
	const struct stopping *stop = arg;
	return stopping_is_asked(stop);
}

/* A sink that shows nothing, and stops the work when it is told so. */
static struct hd_sink silent_sink(struct stopping *stop)
{
	return (struct hd_sink){ .struct_size = sizeof(struct hd_sink),
				 .arg = stop,
				 .write = drop_answer,
				 .warn = drop_line,
				 .cancelled = is_cancelled,
				 .note = drop_line };
}

static enum hd_status set_memory(struct hd_session *session, struct hd_error *err)
{
	char text[24];
	(void)snprintf(text, sizeof(text), "%" PRIu64, memory_share());
	return hd_session_set(session, "max-mem", text, err);
}

/* A program that ends is not told what it has broken off. */
static void tell_no_page(const char *path, const struct hd_sink *sink, const struct hd_error *err)
{
	if (!is_cancelled(sink->arg))
		write_line("there is no page for %s: %s", path, err->message);
}

/* Write the page that says what a file holds, next to it.  The file is there, whatever happens. */
static void write_report(struct hd_session *session, const char *path, const struct hd_sink *sink)
{
	char page[PATH_MAX];
	struct hd_error err = { 0 };
	const char *const words[] = { "report", "-o", page };
	if ((size_t)snprintf(page, sizeof(page), "%s.html", path) >= sizeof(page))
		return;
	int status =
		hd_command_run(session, (int)(sizeof(words) / sizeof(words[0])), words, sink, &err);
	if (status != HD_EXIT_OK && status != HD_EXIT_FINDINGS)
		tell_no_page(path, sink, &err);
}

/* Run collect for this process. */
static int collect_own(struct hd_session *session, const struct settings *settings,
		       const char *path, const struct hd_sink *sink, struct hd_error *err)
{
	char pid[16];
	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	const char *const words[] = { "collect", pid, "-o", path, "-live" };
	int count = settings->is_live ? 5 : 4;
	return hd_command_run(session, count, words, sink, err);
}

/* When a program ends, the runtime removes its socket before it tells the profiler. */
static bool has_socket(struct hd_error *err)
{
	if (own_socket_exists())
		return true;
	err->status = HD_ERR_NOTFOUND;
	(void)snprintf(err->message, sizeof(err->message),
		       "the runtime's diagnostics socket is not there: the program ends, or "
		       "DOTNET_EnableDiagnostics_IPC=0 is set");
	return false;
}

/* Take it over the diagnostics socket; an exit status of the command. */
static int take_by_socket(const struct settings *settings, const char *path, struct stopping *stop,
			  struct hd_error *err)
{
	const struct hd_sink sink = silent_sink(stop);
	struct hd_session *session = NULL;
	int status = HD_EXIT_INPUT;
	if (!has_socket(err))
		return status;
	if (hd_session_create(&session, err) == HD_OK && set_memory(session, err) == HD_OK &&
	    hd_session_set(session, "workers", SNAPSHOT_WORKERS, err) == HD_OK)
		status = collect_own(session, settings, path, &sink, err);
	bool is_there = status == HD_EXIT_OK || status == HD_EXIT_FINDINGS;
	/* It may have gone meanwhile. */
	if (!is_there && err->os_errno == ENOENT)
		(void)has_socket(err);
	if (is_there && settings->has_report) {
		struct hd_error why = { 0 };
		if (hd_session_open(session, path, 0, &sink, &why) == HD_OK) {
			write_report(session, path, &sink);
		} else {
			tell_no_page(path, &sink, &why);
		}
	}
	hd_session_destroy(session);
	return status;
}

/* Write what has come; an exit status. */
static int finish_snapshot(struct hd_snapshot *snapshot, const struct settings *settings,
			   const char *path, struct stopping *stop, struct hd_snapshot_state *ret,
			   struct hd_error *err)
{
	*ret = (struct hd_snapshot_state){ .struct_size = sizeof(*ret) };
	const struct hd_sink sink = silent_sink(stop);
	if (hd_snapshot_finish(snapshot, path, NULL, &sink, err) != HD_OK)
		return HD_EXIT_INPUT;
	if (settings->has_report)
		write_report(hd_snapshot_session(snapshot), path, &sink);
	bool is_whole = hd_snapshot_state(snapshot, ret) == 0 && ret->is_complete;
	return is_whole ? HD_EXIT_OK : HD_EXIT_FINDINGS;
}

/*
 * Tell the snapshot which objects are frozen.  Ranges only grow, and no object that can be collected ever lies in
 * one, so that it does not matter what the program has done since the walk.
 */
static void tell_frozen(struct hd_snapshot *snapshot)
{
	static struct frozen_range ranges[FROZEN_RANGES];
	static struct hd_snapshot_range told[FROZEN_RANGES];
	uint32_t count = 0;
	if (!runtime_frozen(ranges, FROZEN_RANGES, &count) || count > FROZEN_RANGES)
		return;
	for (uint32_t i = 0; i < count; i++) {
		told[i].start = ranges[i].start;
		told[i].end = ranges[i].start + ranges[i].size;
	}
	/* Without, the file says that these objects have no roots. */
	enum hd_status ignored = hd_snapshot_frozen(snapshot, told, count, NULL);
	(void)ignored;
}

int snapshot_take_by_callbacks(const struct settings *settings, enum way way, const char *path,
			       struct stopping *stop, struct hd_snapshot_state *ret,
			       struct hd_error *err)
{
	const char *ending = strrchr(path, '.');
	const struct hd_snapshot_options options = {
		.struct_size = sizeof(options),
		.max_memory = memory_share(),
		.spill = path,
		.live = settings->is_live,
		.keep_trace = ending && strcmp(ending, ".nettrace") == 0,
	};
	struct hd_snapshot *snapshot = NULL;
	if (hd_snapshot_create(&options, &snapshot, err) != HD_OK)
		return HD_EXIT_INPUT;
	const char *why = way == WAY_WALK ? walk_way(snapshot, stop) : events_way(snapshot, stop);
	int status = HD_EXIT_INPUT;
	if (why) {
		err->status = HD_ERR_OS;
		(void)snprintf(err->message, sizeof(err->message), "%s", why);
	} else {
		tell_frozen(snapshot);
		/* Memory that the program takes now would not be there for the file. */
		bool is_wanted = settings->is_held && way == WAY_EVENTS && !stopping_is_asked(stop);
		bool is_held = is_wanted && hold_begin();
		if (is_wanted && !is_held) {
			write_line("the program goes on while %s is written: it cannot be held",
				   path);
		}
		status = finish_snapshot(snapshot, settings, path, stop, ret, err);
		if (is_held)
			hold_end();
	}
	hd_snapshot_destroy(snapshot);
	return status;
}

/* When the program ends, only the last way is still open. */
static enum way choose_way(const struct settings *settings, bool is_ending)
{
	if (settings->way != WAY_ANY)
		return settings->way;
	if (is_ending)
		return WAY_WALK;
	/* The bytes of the socket become a file, and the page is made of that file. */
	bool is_readable = !settings->has_report || !out_path_is_only_written(settings->out);
	bool is_socket =
		own_socket_exists() && !settings->is_held && is_readable && !memory_is_short();
	return is_socket ? WAY_SOCKET : WAY_EVENTS;
}

/* Has the disk as much free as the user wants it to have?  Else says so. */
static bool has_room(const struct settings *settings, const char *reason, const char *path)
{
	char folder[PATH_MAX];
	struct statvfs status;
	uint64_t room;
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path) + 1, path);
	if (!settings->free || statvfs(folder, &status) != 0 ||
	    __builtin_mul_overflow((uint64_t)status.f_bavail, (uint64_t)status.f_frsize, &room) ||
	    room >= settings->free)
		return true;
	write_line("there is no snapshot (%s): %s has only %" PRIu64 " MB free", reason, folder,
		   room >> 20);
	return false;
}

/* Why there is none.  The setting of the shell program that the library names is not one of the profiler. */
static void tell_failure(const char *reason, const struct hd_error *err)
{
	if (err->status == HD_ERR_NOMEM) {
		write_line(
			"there is no snapshot (%s): it needs more memory than the program can spare",
			reason);
	} else {
		write_line("there is no snapshot (%s): %s", reason, err->message);
	}
}

bool snapshot_take(const struct settings *settings, const char *reason, struct stopping *stop)
{
	char path[PATH_MAX];
	struct hd_error err = { 0 };
	bool is_ending = strcmp(reason, "exit") == 0;
	if (!out_path_make(settings->out, (int)getpid(), time(NULL), reason, path, sizeof(path))) {
		write_line("the name of the snapshot's file is too long");
		return true;
	}
	if (!has_room(settings, reason, path))
		return false;
	struct hd_snapshot_state unused;
	enum way way = choose_way(settings, is_ending);
	int status = way == WAY_SOCKET
			     ? take_by_socket(settings, path, stop, &err)
			     : snapshot_take_by_callbacks(settings, way, path, stop, &unused, &err);
	bool is_there = status == HD_EXIT_OK || status == HD_EXIT_FINDINGS;
	if (is_there)
		kept_files_trim(settings, path);
	if (status == HD_EXIT_FINDINGS) {
		write_line("%s: parts of the heap are missing", path);
	} else if (!is_there && !stopping_is_asked(stop)) {
		tell_failure(reason, &err);
	}
	return is_there || stopping_is_asked(stop);
}
