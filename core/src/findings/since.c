/* SPDX-License-Identifier: MIT */
/* Judges findings by the growth between two heaps: doc/report.md 7. */
#include <ctype.h>
#include <inttypes.h>

#include "findings/comparison.h"
#include "findings/rule.h"
#include "util/alloc.h"
#include "util/text.h"

#define SAMPLE_MIN    16u
#define MEMBERS_LEAST 16u
#define CLAIMED_UP    10u
#define PER_HOUR_MAX  1e18

/* Do the old members stay, and what was put in?  A collection may have moved some: less than most tells nothing. */
static bool stays(const struct since *since, bool *is_known)
{
	bool has_sample = since->sampled >= SAMPLE_MIN;
	uint64_t survived = since->survived, sampled = since->sampled;
	bool are_there = has_sample && survived * 5 >= sampled * 4;
	bool are_gone = has_sample && survived * 5 < sampled;
	*is_known = are_there || are_gone || since->has_changes;
	if (are_there || are_gone)
		return are_there;
	return since->has_changes && since->removed <= since->inserted / 10;
}

static enum severity worse(enum severity a, enum severity b)
{
	return a < b ? a : b;
}

static enum severity severity_of_growth(const struct report *report, const struct since *since,
					enum severity severity)
{
	uint64_t limit = facts_limit(&report->facts);
	bool is_known, is_leak = stays(since, &is_known);
	if (since->count < MEMBERS_LEAST || since->bytes < limit / 2)
		return severity;
	/* Members that go in also come out: it is not full yet. */
	if (is_known && !is_leak)
		return worse(severity, SEVERITY_LOW);
	bool is_steady = !is_known && since->series.is_steady;
	bool goes_on =
		(is_leak || is_steady) && since->bytes >= limit && since->state == SINCE_GREW;
	return worse(severity, goes_on ? SEVERITY_HIGH : SEVERITY_MEDIUM);
}

enum severity since_severity(const struct report *report, const struct since *since,
			     enum severity severity)
{
	if (!since || !comparison_is_used(report))
		return severity;
	switch (since->state) {
	case SINCE_GREW:
	case SINCE_NEW:
		return severity_of_growth(report, since, severity);
	case SINCE_SAME:
	case SINCE_SHRANK:
		return severity < SEVERITY_LOW ? SEVERITY_LOW : severity;
	default:
		return severity;
	}
}

static const char *rate_text(struct report *report, const struct since *since)
{
	double rate = since->bytes_per_hour < 0 ? -since->bytes_per_hour : since->bytes_per_hour;
	if (!since->has_rate || rate < 1 || rate > PER_HOUR_MAX)
		return "";
	return report_text(report, " (%s per hour)", report_bytes(report, (uint64_t)rate));
}

static const char *changes_text(struct report *report, const struct since *since)
{
	char in[NUMBER_SIZE], out[NUMBER_SIZE];
	if (!since->has_changes)
		return "";
	return report_text(report, "; %s were put in and %s taken out",
			   format_thousands(since->inserted, in),
			   format_thousands(since->removed, out));
}

static const char *survivors_text(struct report *report, const struct since *since)
{
	if (!since->sampled)
		return "";
	return report_text(report,
			   "; of %" PRIu32 " old ones that were looked at, %" PRIu32
			   " are still there",
			   since->sampled, since->survived);
}

/* "from 4,000 over 5,000 and 6,000 to 7,000 objects" */
static const char *counts_text(struct report *report, const struct since *since)
{
	const struct since_series *series = &since->series;
	char number[NUMBER_SIZE];
	const char *text =
		report_text(report, "from %s", format_thousands(since->count_before, number));
	for (uint32_t i = 0; i < series->count; i++) {
		const char *word = !i ? " over " : i + 1 < series->count ? ", " : " and ";
		text = report_text(report, "%s%s%s", text, word,
				   format_thousands(series->counts[i], number));
	}
	return report_text(report, "%s to %s objects", text,
			   format_thousands(since->count, number));
}

static const char *growth_text(struct report *report, const struct since *since)
{
	const struct since_series *series = &since->series;
	const char *bytes = report_bytes(report, since->bytes - since->bytes_before);
	const char *over = "since the other dump it grew ";
	if (series->count) {
		over = report_text(report, "in %" PRIu32 " dumps it grew %s", series->count + 2,
				   series->is_steady ? "steadily, " : "");
	}
	return report_text(report, "%s%s, by %s%s%s%s", over, counts_text(report, since), bytes,
			   rate_text(report, since), changes_text(report, since),
			   survivors_text(report, since));
}

const char *since_text(struct report *report, const struct since *since)
{
	uint64_t least = report->comparison->before->least;
	switch (since->state) {
	case SINCE_NEW:
		return report_text(report, "the other dump has less than %s of it",
				   report_bytes(report, least));
	case SINCE_GREW:
		return growth_text(report, since);
	case SINCE_SAME:
		if (since->series.has_stopped) {
			return report_text(report, "it grew %s, and has stopped",
					   counts_text(report, since));
		}
		return report_text(report, "it has not grown since the other dump%s",
				   changes_text(report, since));
	case SINCE_SHRANK:
		return report_text(report, "since the other dump it became %s smaller%s",
				   report_bytes(report, since->bytes_before - since->bytes),
				   changes_text(report, since));
	default:
		if (!since->bytes_before)
			return "the other dump does not tell what it had of it";
		return report_text(report,
				   "since the other dump it changed too little to tell whether it "
				   "grows%s",
				   changes_text(report, since));
	}
}

static const struct told_finding *told_before(const struct heap_comparison *comparison,
					      const char *id)
{
	for (size_t i = 0; i < comparison->before->findings_count; i++) {
		if (strcmp(comparison->before->findings[i].id, id) == 0)
			return &comparison->before->findings[i];
	}
	return NULL;
}

static struct since since_told(const struct heap_comparison *comparison,
			       const struct report_finding *finding,
			       const struct told_finding *told)
{
	struct since since = { .count_before = told->objects,
			       .bytes_before = told->bytes,
			       .count = finding->objects,
			       .bytes = finding->bytes };
	uint64_t more = since.bytes > since.bytes_before ? since.bytes - since.bytes_before : 0;
	uint64_t less = since.bytes < since.bytes_before ? since.bytes_before - since.bytes : 0;
	uint64_t least =
		told->bytes / 20 > comparison->noise ? told->bytes / 20 : comparison->noise;
	if (more >= least) {
		since.state = SINCE_GREW;
	} else if (less >= least) {
		since.state = SINCE_SHRANK;
	} else if (since.count <= since.count_before) {
		since.state = SINCE_SAME;
	}
	since_rate(comparison, &since);
	return since;
}

static void judge_told(struct report *report, struct report_finding *finding,
		       const struct since *since)
{
	finding->growth.since = since;
	const char *text = since_text(report, since);
	finding->sentence =
		report_text(report, "%s %c%s.", finding->sentence, toupper(text[0]), text + 1);
	if (!finding->rule->rests_on_growth)
		return;
	if (since->state == SINCE_GREW && finding->severity == SEVERITY_MEDIUM)
		finding->severity = SEVERITY_HIGH;
	bool stopped = since->state == SINCE_SAME || since->state == SINCE_SHRANK;
	if (stopped && finding->severity == SEVERITY_MEDIUM)
		finding->severity = SEVERITY_LOW;
}

static enum hd_status tell_since(struct report *report, struct hd_error *err)
{
	struct heap_comparison *comparison = report->comparison;
	comparison->told = mem_calloc(report->findings_count + 1, sizeof(*comparison->told));
	TRY_MEMORY(comparison->told, err);
	for (size_t i = 0; i < report->findings_count; i++) {
		struct report_finding *finding = &report->findings[i];
		const struct told_finding *told = told_before(comparison, finding->id);
		if (finding->growth.since || !told)
			continue;
		comparison->told[i] = since_told(comparison, finding, told);
		judge_told(report, finding, &comparison->told[i]);
	}
	return HD_OK;
}

/* Does a finding already speak of it? */
static bool has_finding(const struct report *report, const struct holding *holding)
{
	if (facts_is_claimed(&report->facts, holding->subject, CLAIMED_UP))
		return true;
	for (size_t i = 0; i < report->findings_count; i++) {
		const struct report_finding *finding = &report->findings[i];
		bool is_large = finding->severity <= SEVERITY_MEDIUM;
		if (strcmp(finding->holder.name, holding->name) == 0 &&
		    (is_large || finding->member_type == holding->type))
			return true;
	}
	return false;
}

/* {0}: what became of it. */
static const struct telling of_growth = {
	.id = "growth:{holder}:{full}",
	.title = "{objects} {type} in {holder}",
	.sentence = "{holder} holds {objects} objects of type {type}: {bytes}; {0}.",
	.look_at = "who adds to {holder}, and when something leaves it",
	.next = "gcroot -type {full}",
};

static const struct report_rule growth_rule = {
	.name = "growth",
	.threshold = "more of it than in the other dump",
};

static enum hd_status add_growth(struct report *report, const struct change *change,
				 struct hd_error *err)
{
	const struct holding *holding = change->after;
	struct report_finding finding = { .bytes = holding->bytes,
					  .objects = holding->count,
					  .member_type = holding->type,
					  .growth = { .state = GROWTH_GROWS,
						      .reason = GROWTH_OF_TWO,
						      .since = &change->since,
						      .has_count = holding->owner.has_count,
						      .has_version = holding->owner.has_version,
						      .count = holding->owner.count,
						      .version = holding->owner.version } };
	finding.severity = since_severity(report, &change->since, SEVERITY_LOW);
	holder_find(report, holding->subject, &finding.holder);
	const char *const texts[] = { since_text(report, &change->since) };
	report->running = &growth_rule;
	return finding_tell(report, &finding, &of_growth, texts, err);
}

bool comparison_has_growth(const struct report *report)
{
	for (size_t i = 0; i < report->findings_count; i++) {
		const struct report_finding *finding = &report->findings[i];
		const struct since *since = finding->growth.since;
		if (finding->severity <= SEVERITY_MEDIUM && since &&
		    (since->state == SINCE_GREW || since->state == SINCE_NEW))
			return true;
	}
	return false;
}

enum hd_status comparison_conclude(struct report *report, struct hd_error *err)
{
	const struct heap_comparison *comparison = report->comparison;
	if (!comparison_is_used(report))
		return HD_OK;
	TRY(tell_since(report, err));
	for (size_t i = 0; i < comparison->changes_count; i++) {
		const struct change *change = &comparison->changes[i];
		enum since_state state = change->since.state;
		bool is_more = state == SINCE_GREW || state == SINCE_NEW;
		if (!is_more || change->after->root != CLASS_PROCESS || change->after->has_limit ||
		    has_finding(report, change->after))
			continue;
		TRY(add_growth(report, change, err));
	}
	return HD_OK;
}
