/* SPDX-License-Identifier: MIT */
/* The line on standard error that says why answers may be incomplete. */
#include <inttypes.h>
#include <string.h>

#include "graph/heap_graph.h"
#include "runtime/coreclr/modules/module_proof.h"
#include "session/session_state.h"
#include "targets/target.h"
#include "targets/target_files.h"
#include "util/findings.h"
#include "util/sink.h"
#include "util/text.h"

/* How many findings are told in full. */
#define TOLD_MAX 2u

/* The new findings of a session. */
struct news {
	struct text told, kinds;
	size_t told_count, more;
};

static void add_kind(struct text *kinds, const char *kind)
{
	size_t size = strlen(kind);
	for (const char *at = kinds->bytes; at && (at = strstr(at, kind)); at += size) {
		bool begins = at == kinds->bytes || at[-1] == ' ';
		if (begins && (!at[size] || at[size] == ','))
			return;
	}
	text_printf(kinds, "%s%s", kinds->size ? ", " : "", kind);
}

static void add_finding(struct news *news, enum finding_kind kind, uint64_t count,
			const char *detail)
{
	if (news->told_count == TOLD_MAX) {
		news->more++;
		add_kind(&news->kinds, finding_name(kind));
		return;
	}
	text_printf(&news->told, "%s%s", news->told_count++ ? "; " : "", finding_name(kind));
	if (count > 1)
		text_printf(&news->told, " (%" PRIu64 ")", count);
	text_puts(&news->told, ": ");
	text_puts(&news->told, detail);
}

/*
 * Does a finding of @p kind belong to the pass about @p told: one kind of loss, or everything
 * without a loss?
 */
static bool is_of_pass(enum finding_kind kind, enum finding_kind told)
{
	const struct finding_traits *traits = finding_traits(kind);
	if (told == FINDING_KINDS)
		return !traits->losses && !traits->is_harmless;
	return traits->losses && kind == told;
}

static void add_of_target(struct news *news, const struct findings *findings, bool is_about_heap,
			  enum finding_kind told)
{
	for (size_t i = 0; i < findings->count; i++) {
		struct finding *row = &findings->rows[i];
		bool is_asked = is_about_heap || !finding_traits(row->kind)->is_of_heap;
		if (row->is_told || !is_asked || !is_of_pass(row->kind, told))
			continue;
		add_finding(news, row->kind, 0, row->detail);
		row->is_told = true;
	}
}

static void add_of_graph(struct news *news, const struct hd_graph *graph, enum finding_kind told,
			 bool is_of_names)
{
	for (size_t i = 0; i < graph->findings.count; i++) {
		const struct graph_finding *row = &graph->findings.rows[i];
		if (is_of_pass(row->kind, told) &&
		    finding_traits(row->kind)->is_of_names == is_of_names)
			add_finding(news, row->kind, row->count, row->detail);
	}
}

static void write_news(const struct hd_session *session, const struct hd_sink *sink,
		       const struct news *news)
{
	HD_CLEANUP(text) struct text text = { 0 };
	text_printf(&text, "%s: %s", session->path, news->told.bytes ? news->told.bytes : "");
	if (news->more) {
		text_printf(&text, "; and %zu more (%s): the command info lists them", news->more,
			    news->kinds.bytes ? news->kinds.bytes : "");
	}
	if (text.bytes && !text.failed)
		sink_warn(sink, text.bytes);
}

void session_warn(struct hd_session *session, const struct hd_sink *sink, bool is_about_heap)
{
	struct news news = { 0 };
	if (!sink || !sink->warn)
		return;
	if (session->runtime)
		module_prove_all(session->runtime);
	if (session->target)
		target_add_file_findings(session->target);
	/*
	 * First those for which roots, references or objects are missing, the worst before the
	 * others.
	 */
	for (enum finding_kind told = 0; told <= FINDING_KINDS; told++) {
		if (session->target) {
			add_of_target(&news, &session->target->findings, is_about_heap, told);
		} else if (session->format) {
			add_of_graph(&news, session->graph, told, false);
		}
	}
	if (news.told_count)
		write_news(session, sink, &news);
	text_deinit(&news.told);
	text_deinit(&news.kinds);
}

void session_warn_names(struct hd_session *session, const struct hd_sink *sink)
{
	struct news news = { 0 };
	if (!sink || !sink->warn || !session->format || session->is_told_of_names)
		return;
	session->is_told_of_names = true;
	add_of_graph(&news, session->graph, FINDING_KINDS, true);
	if (news.told_count)
		write_news(session, sink, &news);
	text_deinit(&news.told);
	text_deinit(&news.kinds);
}

void session_warned(struct hd_session *session)
{
	for (size_t i = 0; session->target && i < session->target->findings.count; i++)
		session->target->findings.rows[i].is_told = true;
}
