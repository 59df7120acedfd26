/* SPDX-License-Identifier: MIT */
#include "session/losses.h"

#include <string.h>

#include "graph/heap_graph.h"
#include "targets/target.h"

/* Kinds with the same words become one. */
static size_t merge_met_losses(struct met_loss *met, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (kept && strcmp(finding_traits(met[kept - 1].kind)->lost_one,
				   finding_traits(met[i].kind)->lost_one) == 0) {
			met[kept - 1].count += met[i].count;
		} else {
			met[kept++] = met[i];
		}
	}
	return kept;
}

void losses_write(struct met_loss *met, size_t count, struct text *text)
{
	count = merge_met_losses(met, count);
	for (size_t i = 0; i < count; i++) {
		const struct finding_traits *traits = finding_traits(met[i].kind);
		char number[NUMBER_SIZE];
		if (i)
			text_puts(text, i + 1 < count ? ", " : " and ");
		if (traits->lost_many && met[i].count > 1) {
			text_printf(text, "%s %s", format_thousands(met[i].count, number),
				    traits->lost_many);
		} else {
			text_puts(text, traits->lost_one);
		}
	}
}

static size_t meet(enum finding_kind kind, uint64_t count, struct met_loss *met, size_t met_count)
{
	if (!finding_traits(kind)->losses)
		return met_count;
	for (size_t i = 0; i < met_count; i++) {
		if (met[i].kind != kind)
			continue;
		/* Two commands have met it: the later one may have read more. */
		if (met[i].count < count)
			met[i].count = count;
		return met_count;
	}
	met[met_count] = (struct met_loss){ .kind = kind, .count = count };
	return met_count + 1;
}

size_t session_losses(const struct hd_session *session, struct met_loss ret[FINDING_KINDS])
{
	size_t count = 0;
	if (session->target) {
		const struct findings *findings = &session->target->findings;
		for (size_t i = 0; i < findings->count; i++)
			count = meet(findings->rows[i].kind, findings->rows[i].count, ret, count);
	} else if (session->graph) {
		const struct hd_graph *graph = session->graph;
		for (size_t i = 0; i < graph->findings.count; i++) {
			count = meet(graph->findings.rows[i].kind, graph->findings.rows[i].count,
				     ret, count);
		}
	}
	return count;
}

size_t session_dead_losses(const struct hd_session *session, struct met_loss ret[FINDING_KINDS])
{
	size_t count = session_losses(session, ret);
	if (!session->target && session->graph && session->graph->origins.lacks_frozen)
		count = meet(FINDING_FROZEN_ROOTS, 0, ret, count);
	return count;
}
