/* SPDX-License-Identifier: MIT */
/* Whether what no root reaches can be called dead, and what no object does unreachable from it. */
#include "command/completeness.h"

#include <stdio.h>

#include "format/format.h"
#include "framework/absent.h"
#include "session/losses.h"
#include "util/sink.h"

/* The things that an answer is about. */
enum about {
	ABOUT_LINKS, /* no roots */
	ABOUT_ROOTS,
	ABOUT_DEAD, /* objects that have no root */
};

/* The losses of the graph that matter for such an answer. */
static size_t losses_of(const struct call *call, enum about about, struct met_loss *ret)
{
	size_t count = about == ABOUT_DEAD ? session_dead_losses(call->session, ret)
					   : session_losses(call->session, ret);
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (about != ABOUT_LINKS || finding_traits(ret[i].kind)->losses != LOSS_ROOTS)
			ret[kept++] = ret[i];
	}
	return kept;
}

static void tell_names(struct call *call, const char *const *names, size_t count)
{
	bool is_rows = !call->as_json && !answer_is_text(&call->answer);
	for (size_t i = 0; i < count; i++) {
		char line[512];
		(void)snprintf(line, sizeof(line),
			       "heapdump does not know %s of this framework: what needs it may be "
			       "missing or wrong here",
			       names[i]);
		if (is_rows) {
			sink_warn(call->sink, line);
		} else {
			answer_remark(&call->answer, "%s\n", line);
		}
	}
}

void call_tell_absent(struct call *call)
{
	const struct heap *heap = call->session->heap;
	enum fact facts[FACTS];
	enum net_type types[NET_TYPES];
	const char *names[FACTS + NET_TYPES];
	size_t begins[FACTS + NET_TYPES], type_count = heap ? net_types_absent(heap, types) : 0;
	size_t count = type_count + (heap ? facts_absent(heap, facts) : 0);
	HD_CLEANUP(text) struct text text = { 0 };
	for (size_t i = 0; i < count; i++) {
		begins[i] = text.size;
		if (i < type_count) {
			text_puts(&text, net_type_name(types[i]));
		} else {
			fact_append_name(&text, facts[i - type_count]);
		}
		text_append(&text, "", 1);
	}
	for (size_t i = 0; i < count; i++)
		names[i] = text.failed ? "?" : text.bytes + begins[i];
	call->is_absent_told = true;
	call->findings |= count > 0;
	answer_list(&call->answer, "absent_fields", names, count);
	tell_names(call, names, count);
}

void call_begin_facts(struct call *call)
{
	if (call->session->heap)
		facts_begin(call->session->heap);
}

void call_end_facts(struct call *call)
{
	const struct heap *heap = call->session->heap;
	enum fact facts[FACTS];
	enum net_type types[NET_TYPES];
	if (!call->is_absent_told && heap &&
	    (facts_absent(heap, facts) || net_types_absent(heap, types)))
		call_tell_absent(call);
}

bool call_merges_roots(const struct call *call)
{
	return call->session->format == &gcdump_format;
}

void merged_roots_write(struct call *call, const char *indent)
{
	if (call_merges_roots(call)) {
		answer_remark(&call->answer,
			      "%sA .gcdump has one root of each kind for an object, however many "
			      "there were.\n",
			      indent);
	}
}

bool call_is_complete(const struct call *call)
{
	struct met_loss met[FINDING_KINDS];
	return !session_losses(call->session, met);
}

bool call_knows_dead(const struct call *call)
{
	struct met_loss met[FINDING_KINDS];
	return !session_dead_losses(call->session, met);
}

bool call_lacks_frozen(const struct call *call)
{
	const struct hd_graph *graph = call->session->target ? NULL : call->session->graph;
	return graph && graph->origins.lacks_frozen;
}

static void write_losses(struct call *call, enum about about, const char *consequence)
{
	struct met_loss met[FINDING_KINDS] = { 0 };
	HD_CLEANUP(text) struct text losses = { 0 };
	size_t count = losses_of(call, about, met);
	if (!count)
		return;
	losses_write(met, count, &losses);
	answer_remark(&call->answer, "Incomplete: %s: %s (info says more).\n",
		      losses.bytes ? losses.bytes : "", consequence);
}

void completeness_write(struct call *call, const char *consequence)
{
	write_losses(call, ABOUT_ROOTS, consequence);
}

void links_completeness_write(struct call *call, const char *consequence)
{
	write_losses(call, ABOUT_LINKS, consequence);
}

static void losses_data(struct call *call, enum about about)
{
	static const struct column columns[] = {
		{ .name = "complete",
		  .kind = KIND_FLAG,
		  .help = "was all read that matters here?" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	struct met_loss met[FINDING_KINDS];
	const char *kinds[FINDING_KINDS];
	size_t count = losses_of(call, about, met);
	for (size_t i = 0; i < count; i++)
		kinds[i] = finding_name(met[i].kind);
	answer_record(&call->answer, &schema, (const struct cell[]){ cell_flag(!count) });
	answer_list(&call->answer, "findings", kinds, count);
}

void completeness_json(struct call *call)
{
	losses_data(call, ABOUT_ROOTS);
}

void links_completeness_json(struct call *call)
{
	losses_data(call, ABOUT_LINKS);
}

void dead_completeness_write(struct call *call, const char *consequence)
{
	write_losses(call, ABOUT_DEAD, consequence);
}

void dead_completeness_json(struct call *call)
{
	losses_data(call, ABOUT_DEAD);
}
