/* SPDX-License-Identifier: MIT */
#include "command/report/report_against.h"

#include <sys/stat.h>
#include <unistd.h>

#include "command/other_session.h"
#include "format/format.h"
#include "session/losses.h"
#include "targets/target.h"
#include "util/opening.h"

#define DUMP_TICKS 10000000.0
/* Copies of two files are often made within a minute: then the times say nothing. */
#define APPROXIMATE_MIN 60.0

/* Clocks that must not be compared with each other. */
enum heap_clock {
	CLOCK_NONE,
	CLOCK_WORLD, /* of this machine, or of its files */
	CLOCK_LOCAL, /* the local time of the machine that wrote a dump file */
	CLOCK_TRACE,
};

struct heap_time {
	enum heap_clock clock;
	double seconds;
	bool is_approximate;
};

static struct heap_time heap_time_of(const struct hd_session *session)
{
	const struct target *target = session->target;
	struct heap_time time = { .clock = CLOCK_NONE };
	if (target && target->time.tv_sec > 0) {
		time.clock = CLOCK_WORLD;
		time.seconds = (double)target->time.tv_sec + (double)target->time.tv_nsec / 1e9;
		time.is_approximate = target->kind == TARGET_CORE;
	} else if (!target && session->graph && session->graph->info.time) {
		time.clock = session->format == &nettrace_format ? CLOCK_TRACE : CLOCK_LOCAL;
		time.seconds = (double)session->graph->info.time / DUMP_TICKS;
	}
	return time;
}

static int heap_pid_of(const struct hd_session *session)
{
	if (session->target)
		return session->target->pid;
	uint64_t pid = session->graph ? session->graph->info.pid : 0;
	return pid <= INT32_MAX ? (int)pid : 0;
}

static void find_hours(const struct call *call, const struct hd_session *session, uint64_t minutes,
		       struct other_heap *ret)
{
	struct heap_time now = heap_time_of(call->session), before = heap_time_of(session);
	if (minutes) {
		ret->with.hours = (double)minutes / 60;
		return;
	}
	if (now.clock == CLOCK_NONE || now.clock != before.clock)
		return;
	double seconds = now.seconds - before.seconds;
	ret->with.is_approximate = now.is_approximate || before.is_approximate;
	double least = ret->with.is_approximate ? APPROXIMATE_MIN : 1;
	if (seconds >= least)
		ret->with.hours = seconds / 3600;
	ret->with.is_later = seconds <= -least;
}

/* Provide what the rules need of the other heap. */
static enum hd_status provide_other(struct call *call, struct hd_session *session,
				    struct facts_of *ret)
{
	bool conservative = call_is_conservative(call) && session->target;
	if (session->target) {
		TRY(other_session_heap(call, session, &ret->heap));
		TRY(session_roots(session, conservative, &call->job, &ret->roots, call->err));
	}
	TRY(session_graph(session, conservative, &call->job, &ret->graph, call->err));
	return session_dominators(session, &call->job, &ret->dominators, call->err);
}

static enum hd_status take_inventory(struct call *call, struct hd_session *session,
				     struct other_heap *ret)
{
	struct met_loss met[FINDING_KINDS];
	struct facts_of of = { 0 };
	TRY(provide_other(call, session, &of));
	of.is_complete = !session_losses(session, met);
	struct report report;
	enum hd_status status = report_make(&report, &of, &call->job, call->err);
	if (status == HD_OK)
		status = inventory_make(&report, &ret->inventory, call->err);
	if (status == HD_OK)
		status = inventory_keep(&ret->inventory, &report, call->err);
	report_deinit(&report);
	job_end(&call->job);
	return status;
}

/* Which file does a session have open?  False: a process, or nobody can say it. */
static bool file_identity(const struct hd_session *session, struct stat *ret)
{
	bool is_file = !session->target || session->target->kind == TARGET_CORE;
	int fd = is_file && session->path ? open_as(HD_OPEN_INPUT, session->path) : -1;
	bool is_known = fd >= 0 && fstat(fd, ret) == 0;
	if (fd >= 0)
		(void)close(fd);
	return is_known;
}

/* Is it the file that is open?  By its inode: a link is the same file. */
static bool is_same_file(const struct hd_session *a, const struct hd_session *b)
{
	struct stat first, second;
	return file_identity(a, &first) && file_identity(b, &second) &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino &&
	       a->snapshot == b->snapshot;
}

enum hd_status other_heap_read(struct call *call, const char *name, uint64_t minutes,
			       struct other_heap *ret)
{
	struct hd_session *session;
	*ret = (struct other_heap){ .with = { .name = name } };
	TRY(other_session_open(call, name, &session));
	enum hd_status status = take_inventory(call, session, ret);
	if (status == HD_OK) {
		ret->inventory.pid = heap_pid_of(session);
		ret->with.before = &ret->inventory;
		ret->with.pid = heap_pid_of(call->session);
		ret->with.is_same_file = is_same_file(call->session, session);
		find_hours(call, session, minutes, ret);
		session_warn(session, call->sink);
	}
	hd_session_destroy(session);
	return status;
}

void other_heap_deinit(struct other_heap *other)
{
	inventory_deinit(&other->inventory);
	*other = (struct other_heap){ 0 };
}
