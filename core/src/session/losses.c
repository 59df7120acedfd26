/* SPDX-License-Identifier: MIT */
#include "session/losses.h"

#include <string.h>

#include "targets/target.h"

/* What --lenient does. */
#define LINE  "1 line of the file was left out"
#define LINES "lines of the file were left out"

static const struct loss losses[] = {
	/* of targets */
	{ "gc-in-progress", "a garbage collection was moving objects", NULL, false },
	{ "heap-bytes-missing", "bytes of the heap are missing", "bytes of the heap are missing",
	  false },
	{ "missing-stack", "1 stack could not be read", "stacks could not be read", true },
	{ "no-registers", "1 thread has no registers", "threads have no registers", true },
	{ "no-threads", "the threads, and so their stacks, are not known", NULL, true },
	{ "thread-list", "stacks of some threads are not known", NULL, true },
	/* Dependent handles, whose references it tells too, are among them. */
	{ "handle-table", "a part of the handle table could not be read", NULL, false },
	{ "finalizer-queue", "a part of a finalizer queue could not be read", NULL, true },
	{ "no-roots", "the roots could not be read", NULL, false },
	{ "unwalkable", "1 stretch of the heap could not be walked",
	  "stretches of the heap could not be walked", false },
	{ "bad-root", "1 root points outside the heap", "roots point outside the heap", true },
	{ "root-to-no-object", "1 root leads to no object", "roots lead to no object", true },
	{ "handle-to-no-object", "1 dependent handle leads to no object",
	  "dependent handles lead to no object", false },
	{ "reference-to-no-object", "1 reference leads to no object",
	  "references lead to no object", false },
	{ "segment-list", "a part of the heap's segments is not known", NULL, false },
	{ "gc-heap", "a part of the GC's heap is not known", NULL, false },
	/* of dump files */
	{ "partial-heap", "a part of the heap is not in the file", NULL, false },
	{ "missing-end-record", "the end of a section is not in the file", NULL, false },
	{ "cut-file", "the end of the file is missing", NULL, false },
	{ "undefined-node", "1 object is not in the file", "objects are not in the file", false },
	{ "repeated-id", "1 object has the id of another one and was left out",
	  "objects have the id of another one and were left out", false },
	{ "unresolved-reference", "1 reference leads to an object that is not in the file",
	  "references lead to objects that are not in the file", false },
	{ "unresolved-root", "1 root leads to an object that is not in the file",
	  "roots lead to objects that are not in the file", true },
	{ "bad-record", "1 record was left out", "records were left out", false },
	{ "bad-hex", LINE, LINES, false },
	{ "overflow", LINE, LINES, false },
	{ "missing-element", LINE, LINES, false },
	{ "bad-root-kind", LINE, LINES, true },
	{ "bad-root-flags", LINE, LINES, true },
	{ "outside-section", LINE, LINES, false },
	{ "long-line", LINE, LINES, false },
};

_Static_assert(sizeof(losses) / sizeof(losses[0]) <= LOSSES_MAX, "LOSSES_MAX");

const struct loss *loss_of(const char *kind)
{
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		if (strcmp(losses[i].kind, kind) == 0)
			return &losses[i];
	}
	return NULL;
}

const struct loss *loss_at(size_t index)
{
	return index < sizeof(losses) / sizeof(losses[0]) ? &losses[index] : NULL;
}

/* Kinds that are told in the same words become one. */
static size_t merge(struct met_loss *met, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (kept && strcmp(met[kept - 1].loss->one, met[i].loss->one) == 0) {
			met[kept - 1].count += met[i].count;
		} else {
			met[kept++] = met[i];
		}
	}
	return kept;
}

void losses_write(struct met_loss *met, size_t count, struct text *text)
{
	count = merge(met, count);
	for (size_t i = 0; i < count; i++) {
		const struct loss *loss = met[i].loss;
		char number[27];
		if (i)
			text_puts(text, i + 1 < count ? ", " : " and ");
		if (loss->many && met[i].count > 1) {
			text_printf(text, "%s %s", format_thousands(met[i].count, number),
				    loss->many);
		} else {
			text_puts(text, loss->one);
		}
	}
}

static size_t meet(const char *kind, uint64_t count, struct met_loss *met, size_t met_count)
{
	const struct loss *loss = loss_of(kind);
	if (!loss)
		return met_count;
	for (size_t i = 0; i < met_count; i++) {
		if (met[i].loss != loss)
			continue;
		/* Two commands have met it: the later one may have looked at more. */
		if (met[i].count < count)
			met[i].count = count;
		return met_count;
	}
	met[met_count] = (struct met_loss){ .loss = loss, .count = count };
	return met_count + 1;
}

size_t session_losses(const struct hd_session *session, struct met_loss ret[LOSSES_MAX])
{
	size_t count = 0;
	if (session->target) {
		const struct findings *findings = &session->target->findings;
		for (size_t i = 0; i < findings->count; i++)
			count = meet(findings->rows[i].kind, findings->rows[i].count, ret, count);
	} else if (session->graph) {
		const struct hd_graph *graph = session->graph;
		for (size_t i = 0; i < graph->finding_count; i++)
			count = meet(graph->findings[i].kind, graph->findings[i].count, ret, count);
	}
	return count;
}
