/* SPDX-License-Identifier: MIT */
/* Whether what no root reaches can be called dead, and what no object does unreachable from it. */
#include "command/completeness.h"

#include "format/format.h"
#include "session/losses.h"

/* What the graph lacks that matters where roots do, or do not. */
static size_t losses_of(const struct call *call, bool with_roots, struct met_loss *ret)
{
	size_t count = session_losses(call->session, ret), kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (with_roots || !ret[i].loss->is_of_roots)
			ret[kept++] = ret[i];
	}
	return kept;
}

bool call_merges_roots(const struct call *call)
{
	return call->session->format == &gcdump_format;
}

void merged_roots_write(struct call *call, const char *indent)
{
	if (call->as_json || !call_merges_roots(call))
		return;
	out_printf(
		&call->out,
		"%sA .gcdump has one root of each kind for an object, however many there were.\n",
		indent);
}

bool call_is_complete(const struct call *call)
{
	struct met_loss met[LOSSES_MAX];
	return !session_losses(call->session, met);
}

static void write_losses(struct call *call, bool with_roots, const char *consequence)
{
	struct met_loss met[LOSSES_MAX] = { 0 };
	struct out *out = &call->out;
	size_t count = call->as_json ? 0 : losses_of(call, with_roots, met);
	if (!count)
		return;
	out_puts(out, "Incomplete: ");
	losses_write(met, count, &out->text);
	out_printf(out, ": %s (info says more).\n", consequence);
}

void completeness_write(struct call *call, const char *consequence)
{
	write_losses(call, true, consequence);
}

void links_completeness_write(struct call *call, const char *consequence)
{
	write_losses(call, false, consequence);
}

static void losses_json(struct call *call, bool with_roots)
{
	struct met_loss met[LOSSES_MAX];
	struct json *json = &call->json;
	size_t count = losses_of(call, with_roots, met);
	json_bool(json, "complete", !count);
	json_array(json, "findings");
	for (size_t i = 0; i < count; i++)
		json_string(json, NULL, met[i].loss->kind);
	json_end(json);
}

void completeness_json(struct call *call)
{
	losses_json(call, true);
}

void links_completeness_json(struct call *call)
{
	losses_json(call, false);
}
