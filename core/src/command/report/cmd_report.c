/* SPDX-License-Identifier: MIT */
#include "command/completeness.h"
#include "command/report/report_against.h"
#include "command/report/report_answer.h"
#include "command/report/report_file.h"
#include "command/table.h"
#include "findings/rule.h"
#include "native/native_share.h"

#define DEFAULT_TOP 8u

static const char *const severities[] = { "high", "medium", NULL };

#define REPORT_OPTIONS(X)                                                          \
	X(OPT_OUTPUT, "o", VALUE_OUTPUT, "FILE",                                   \
	  "write it to FILE, which ends in .html, .json, .txt or .csv", NULL)      \
	X(OPT_AGAINST, "against", VALUE_FILE, "OTHER",                             \
	  "compare with OTHER, an earlier dump, core or process", NULL)            \
	X(OPT_MINUTES, "minutes", VALUE_NUMBER, "N",                               \
	  "time from OTHER to what is open, for rates (as the files say)", NULL)   \
	X(OPT_TOP, "top", VALUE_NUMBER, "N", "show N findings (8); 0 = all", NULL) \
	X(OPT_FAIL_ON, "fail-on", VALUE_CHOICE, "SEVERITY",                        \
	  "high, medium: what ends with status 1 (medium)", severities)            \
	X(OPT_CONSERVATIVE, "conservative", VALUE_CONSERVATIVE, NULL,              \
	  "all words on stacks are references", NULL)

OPTIONS(report, REPORT_OPTIONS);

static enum severity fail_on(const struct call *call)
{
	const struct value *value = &call->options[OPT_FAIL_ON];
	return value->given && value->text[0] == 'h' ? SEVERITY_HIGH : SEVERITY_MEDIUM;
}

static enum hd_status check_report(struct call *call)
{
	const struct value *output = &call->options[OPT_OUTPUT];
	if (call->options[OPT_MINUTES].given && !call->options[OPT_AGAINST].given)
		return call_usage(call, "-minutes needs -against");
	return output->given ? report_file_check(call, output->text) : HD_OK;
}

static enum hd_status show_report(struct call *call, const struct report *report)
{
	const struct value *output = &call->options[OPT_OUTPUT];
	uint64_t most = call_limit(call, OPT_TOP, DEFAULT_TOP);
	if (output->given)
		return report_file_write(call, report, output->text, most);
	return report_answer(call, report, most);
}

/* A rule is left out if it is not known what is in memory. */
static enum hd_status read_native(struct call *call, struct native_share *ret, bool *ret_known)
{
	struct hd_error err = { 0 };
	if (!call->heap)
		return HD_OK;
	enum hd_status status =
		native_share_read(call->session->target, call->heap, &call->job, ret, &err);
	if (status == HD_ERR_NOMEM || status == HD_ERR_CANCELLED) {
		*call->err = err;
		return status;
	}
	*ret_known = status == HD_OK;
	return HD_OK;
}

static enum hd_status report_present(struct call *call, const struct compared_with *with)
{
	struct facts_of of = { .graph = call->graph, .heap = call->heap, .with = with };
	if (call->heap) {
		TRY(session_roots(call->session, call_is_conservative(call), &call->job, &of.roots,
				  call->err));
	}
	TRY(session_dominators(call->session, &call->job, &of.dominators, call->err));
	of.is_complete = call_is_complete(call);
	struct native_share native;
	bool has_native = false;
	TRY(read_native(call, &native, &has_native));
	of.native = has_native ? &native : NULL;
	HD_CLEANUP(report) struct report report = { 0 };
	TRY(report_make(&report, &of, &call->job, call->err));
	TRY(show_report(call, &report));
	call->findings = report_has(&report, fail_on(call));
	return HD_OK;
}

static enum hd_status run_report(struct call *call)
{
	const struct value *against = &call->options[OPT_AGAINST];
	HD_CLEANUP(other_heap) struct other_heap other = { 0 };
	if (!against->given)
		return report_present(call, NULL);
	enum hd_status status =
		other_heap_read(call, against->text, call->options[OPT_MINUTES].number, &other);
	if (status == HD_OK)
		status = report_present(call, &other.with);
	return status;
}

COMMAND(report, .top_level = TOP_LEVEL_ALWAYS, .writes = true, .has_rows = true,
	.summary = "find leaks and waste: findings with evidence, and what to look at",
	.description =
		"Rules look for what piles up: events that nobody unsubscribes, collections that only\n"
		"grow, registrations with tokens, caches without limit, finalizers that wait, disposed\n"
		"objects that are still held, nearly empty collections, equal strings, and more. Each\n"
		"finding has a severity, its bytes, a sentence, and the next command. Severity high\n"
		"needs more than size: growth, or objects that are finished. doc/report.md has all\n"
		"rules. Ends with status 1 if there is a finding of severity high or medium. A FILE that\n"
		"ends in .html is one page for a browser: findings, the tree of dominators, a map of the\n"
		"heap, tables. It needs no network, and appears under its name when it is complete.\n"
		"With -against, findings say what became of them since OTHER: what goes on growing is\n"
		"more severe, what has stopped is less; and what grew is listed by holder, root and\n"
		"type.\n",
	.needs = NEEDS_REPORT, .options = report_options, .check = check_report);
