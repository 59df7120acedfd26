/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>
#include <unistd.h>

#include "command/completeness.h"
#include "command/other_session.h"
#include "command/report/report_answer.h"
#include "command/report/report_file.h"
#include "command/table.h"
#include "findings/comparison.h"
#include "findings/rule.h"
#include "format/format.h"
#include "native/memory_share.h"
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

/* The part of the other heap, of -against, that is kept. */
struct other_heap {
	struct inventory inventory;
	struct compared_with with;
};

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
	HD_CLEANUP(report) struct report report = { 0 };
	TRY(report_make(&report, &of, &call->job, call->err));
	TRY(inventory_make(&report, &ret->inventory, call->err));
	TRY(inventory_keep(&ret->inventory, &report, call->err));
	job_end(&call->job);
	return HD_OK;
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

/*
 * Open another dump, core or process, take its inventory, and close it.
 *
 * @param minutes Between the two, as the user says; 0: the files' own times are used.
 * @param[out] ret Its inventory is to be given to inventory_deinit(), also on failure.  Not to be moved.
 */
static enum hd_status other_heap_read(struct call *call, const char *name, uint64_t minutes,
				      struct other_heap *ret)
{
	HD_CLEANUP(other_session) struct hd_session *session = NULL;
	*ret = (struct other_heap){ .with = { .name = name } };
	TRY(other_session_open(call, name, &session));
	TRY(take_inventory(call, session, ret));
	ret->inventory.pid = heap_pid_of(session);
	ret->with.before = &ret->inventory;
	ret->with.pid = heap_pid_of(call->session);
	ret->with.is_same_file = is_same_file(call->session, session);
	find_hours(call, session, minutes, ret);
	session_warn(session, call->sink, true);
	return HD_OK;
}

/* All earlier heaps, in the order of time. */
struct earlier_heaps {
	struct other_heap rows[EARLIER_MAX];
};

static void earlier_heaps_deinit(struct earlier_heaps *earlier)
{
	for (size_t i = 0; i < EARLIER_MAX; i++)
		inventory_deinit(&earlier->rows[i].inventory);
	*earlier = (struct earlier_heaps){ .rows = { { .with = { 0 } } } };
}

_Static_assert(EARLIER_MAX == WORDS_MAX + 1, "-against, and each word");

#define DEFAULT_TOP 8u

enum fail_on {
	FAIL_ON_HIGH,
	FAIL_ON_MEDIUM,
	FAIL_ON_GROWTH
};
static const char *const severities[] = { "high", "medium", "growth", NULL };

#define REPORT_OPTIONS(X)                                                            \
	X(OPT_OUTPUT, "o", VALUE_OUTPUT, "FILE",                                     \
	  "write it to FILE, which ends in .html, .json, .txt or .csv", NULL)        \
	X(OPT_AGAINST, "against", VALUE_FILE, "OTHER",                               \
	  "compare with OTHER, an earlier dump, core or process (or several)", NULL) \
	X(OPT_MINUTES, "minutes", VALUE_NUMBER, "N",                                 \
	  "time from OTHER to what is open, for rates (as the files say)", NULL)     \
	X(OPT_TOP, "top", VALUE_NUMBER, "N", "show N findings (8); 0 = all", NULL)   \
	X(OPT_FAIL_ON, "fail-on", VALUE_CHOICE, "SEVERITY",                          \
	  "high, medium, growth: what ends with status 1 (medium)", severities)      \
	X(OPT_CONSERVATIVE, "conservative", VALUE_CONSERVATIVE, NULL,                \
	  "all words on stacks are references", NULL)

OPTIONS(report, REPORT_OPTIONS);

static enum fail_on fail_on(const struct call *call)
{
	const struct value *value = &call->options[OPT_FAIL_ON];
	enum fail_on ret = FAIL_ON_HIGH;
	if (!value->given)
		return FAIL_ON_MEDIUM;
	while (strcmp(severities[ret], value->text) != 0)
		ret++;
	return ret;
}

/* Does a finding end the command with status 1?  Where growth is asked for and nothing can be said of it, that does. */
static bool fails(const struct call *call, const struct report *report)
{
	if (fail_on(call) == FAIL_ON_GROWTH)
		return !comparison_is_used(report) || comparison_has_growth(report);
	return report_has(report, fail_on(call) == FAIL_ON_HIGH ? SEVERITY_HIGH : SEVERITY_MEDIUM);
}

static enum hd_status check_report(struct call *call)
{
	const struct value *output = &call->options[OPT_OUTPUT];
	if (call->options[OPT_MINUTES].given && !call->options[OPT_AGAINST].given)
		return call_usage(call, "-minutes needs -against");
	if (call->words[0].given && !call->options[OPT_AGAINST].given)
		return call_usage(call, "-against comes before earlier dumps");
	if (fail_on(call) == FAIL_ON_GROWTH && !call->options[OPT_AGAINST].given)
		return call_usage(call, "-fail-on growth needs -against");
	return output->given ? report_file_check(call, output->text) : HD_OK;
}

static enum hd_status show_report(struct call *call, const struct report *report,
				  struct look_state *state)
{
	const struct value *output = &call->options[OPT_OUTPUT];
	uint64_t most = call_limit(call, OPT_TOP, DEFAULT_TOP);
	if (output->given)
		return report_file_write(call, report, output->text, most);
	return report_answer(call, report, state, most);
}

/* A rule is left out if it is not known what is in memory. */
static enum hd_status read_native(struct call *call, struct memory_share *ret, bool *ret_known)
{
	struct hd_error err = { 0 };
	if (!call->heap)
		return HD_OK;
	enum hd_status status =
		memory_share_read(call->session->target, call->heap, &call->job, ret, &err);
	if (status == HD_ERR_NOMEM || status == HD_ERR_CANCELLED) {
		*call->err = err;
		return status;
	}
	*ret_known = status == HD_OK;
	return HD_OK;
}

/* Found while dominators are. */
struct meanwhile {
	struct call *call;
	struct async_graph *async;
	struct look_state state;
};

static void meanwhile_deinit(struct meanwhile *meanwhile)
{
	look_state_deinit(&meanwhile->state);
}

static enum hd_status look_meanwhile(void *arg)
{
	struct meanwhile *meanwhile = arg;
	struct call *call = meanwhile->call;
	if (!call->heap)
		return HD_OK;
	TRY(session_async(call->session, &call->job, &meanwhile->async, call->err));
	bool is_shown = !call->is_inner && !call->options[OPT_OUTPUT].given;
	return is_shown ? look_at_state(call, &meanwhile->state) : HD_OK;
}

static enum hd_status report_present(struct call *call, const struct compared_with *with)
{
	struct facts_of of = { .graph = call->graph, .heap = call->heap, .with = with };
	if (call->heap) {
		TRY(session_roots(call->session, call_is_conservative(call), &call->job, &of.roots,
				  call->err));
	}
	HD_CLEANUP(meanwhile) struct meanwhile meanwhile = { .call = call };
	TRY(session_dominators_while(call->session, &call->job, look_meanwhile, &meanwhile,
				     &of.dominators, call->err));
	of.async = meanwhile.async;
	of.is_complete = call_is_complete(call);
	struct memory_share native;
	bool has_native = false;
	TRY(read_native(call, &native, &has_native));
	of.native = has_native ? &native : NULL;
	HD_CLEANUP(report) struct report report = { 0 };
	TRY(report_make(&report, &of, &call->job, call->err));
	call->findings |= fails(call, &report);
	return show_report(call, &report, &meanwhile.state);
}

static enum hd_status run_report(struct call *call)
{
	const struct value *against = &call->options[OPT_AGAINST];
	uint64_t minutes = call->options[OPT_MINUTES].number;
	HD_CLEANUP(earlier_heaps) struct earlier_heaps earlier = { 0 };
	if (!against->given)
		return report_present(call, NULL);
	TRY(other_heap_read(call, against->text, minutes, &earlier.rows[0]));
	for (size_t i = 0; i < WORDS_MAX && call->words[i].given; i++) {
		TRY(other_heap_read(call, call->words[i].text, minutes, &earlier.rows[i + 1]));
		earlier.rows[i].with.next = &earlier.rows[i + 1].with;
	}
	return report_present(call, &earlier.rows[0].with);
}

COMMAND(report, .top_level = TOP_LEVEL_ALWAYS, .writes = true, .has_rows = true,
	.summary = "find leaks and waste: findings with evidence, and what to look at",
	.description =
		"Rules look for what piles up: events that nobody unsubscribes, collections that only\n"
		"grow, registrations with tokens, caches without limit, finalizers that wait, disposed\n"
		"objects that are still held, nearly empty collections, equal strings, and more. Each\n"
		"finding has a severity, its bytes, a sentence, and the next command. Severity high\n"
		"needs more than size: growth, or objects that are finished. doc/report.md has all\n"
		"rules. Ends with status 1 if there is a finding of severity high or medium, a crash,\n"
		"damage of the heap, or a verdict of hang, which come first. A FILE that\n"
		"ends in .html is one page for a browser: findings, the tree of dominators, a map of the\n"
		"heap, tables. It needs no network, and appears under its name when it is complete.\n"
		"With -against, findings say what became of them since OTHER: what goes on growing is\n"
		"more severe, what has stopped is less; and what grew is listed by holder, root and\n"
		"type. Further words are later dumps of a series: then it says what grows steadily.\n"
		"With -fail-on growth only those findings count that grew or are new since OTHER; then\n"
		"dumps that cannot be compared end with status 1, too.\n",
	.example = "report -against monday.core tuesday.core", .needs = NEEDS_REPORT,
	.options = report_options, .check = check_report,
	.words = { { "OTHER2", VALUE_FILE, true },
		   { "OTHER3", VALUE_FILE, true },
		   { "OTHER4", VALUE_FILE, true } });
