/* SPDX-License-Identifier: MIT */
#include "command/heap/heap_call.h"

#include <string.h>

#include "command/completeness.h"
#include "util/job.h"
#include "util/sink.h"

const char *const generation_choices[] = { "gen0", "gen1", "gen2", "loh",   "poh", "foh",
					   "0",    "1",    "2",    "nongc", NULL };

enum hd_status no_generations(const struct call *call, const char *what)
{
	return fail(call->err, HD_ERR_UNSUPPORTED, 0,
		    "%s: this heap dump file does not say where the generations are; one made by "
		    "collect -generations does",
		    what);
}

uint8_t generation_choice(const char *choice)
{
	static const struct {
		const char *choice;
		enum generation generation;
	} table[] = {
		{ "loh", GENERATION_LOH },
		{ "poh", GENERATION_POH },
		{ "foh", GENERATION_NONGC },
		{ "nongc", GENERATION_NONGC },
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].choice, choice) == 0)
			return (uint8_t)table[i].generation;
	}
	return (uint8_t)(choice[strlen(choice) - 1] - '0');
}

struct range_choice range_choice(const struct value *heap, const struct value *segment,
				 const struct value *generation, const struct value *words)
{
	return (struct range_choice){
		.has_heap = heap && heap->given,
		.heap = heap ? heap->number : 0,
		.has_segment = segment && segment->given,
		.segment = segment ? segment->number : 0,
		.has_generation = generation && generation->given,
		.generation =
			generation && generation->given ? generation_choice(generation->text) : 0,
		.has_begin = words && words[0].given,
		.begin = words ? words[0].number : 0,
		.end = words ? words[1].number : 0,
	};
}

enum hd_status check_range(struct call *call)
{
	const struct value *begin = &call->words[0], *end = &call->words[1];
	if (end->given && end->number <= begin->number)
		return fail(call->err, HD_ERR_ARGUMENT, 0, "END must be greater than START");
	return HD_OK;
}

enum hd_status call_life(struct call *call, bool is_dead, struct life *ret)
{
	struct hd_graph *graph;
	const struct reach *live;
	TRY(session_graph(call->session, call_is_conservative(call), &call->job, &graph,
			  call->err));
	TRY(session_live(call->session, &call->job, &live, call->err));
	job_end(&call->job);
	*ret = life_of(graph, live, is_dead);
	return HD_OK;
}

#define LIVE_LIST(X)                                                                     \
	X(LIVE_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "objects that roots keep alive") \
	X(LIVE_ROOTS, "roots", NULL, KIND_NUMBER, 0, 0, "roots that are not weak")

COLUMNS(live, LIVE_COLUMNS, LIVE_LIST);

SCHEMA(live, .name = "live",
       .lines = "Calculating live objects complete: {count:*object} from {roots:*root}\n");

void life_write(const struct life *life, struct call *call)
{
	if (!life->graph)
		return;
	const struct cell cells[LIVE_COLUMNS] = {
		[LIVE_COUNT] = cell_number(life->live->count),
		[LIVE_ROOTS] = cell_number(life->roots),
	};
	answer_record(&call->answer, &live_schema, cells);
	completeness_json(call);
	completeness_write(call, DEAD_PERHAPS);
}

void gaps_report(struct call *call, struct gaps *gaps)
{
	HD_CLEANUP(text) struct text text = { 0 };
	gaps_settle(gaps, call->heap);
	char number[27];
	if (call->heap->gc_in_progress && gaps->damaged) {
		text_printf(&text,
			    "a garbage collection was moving objects: %s stretch%s of the heap "
			    "could not be walked, the totals are too low",
			    format_thousands(gaps->damaged, number),
			    gaps->damaged == 1 ? "" : "es");
	} else if (gaps->damaged) {
		call->findings = true;
		text_printf(&text,
			    "%s stretch%s of the heap cannot be walked, what lies there is not "
			    "counted: verifyheap says why",
			    format_thousands(gaps->damaged, number),
			    gaps->damaged == 1 ? "" : "es");
	} else if (gaps->missing) {
		text_printf(&text,
			    "%s bytes of the heap are not in the file, the totals are too low: "
			    "info says why",
			    format_thousands(gaps->missing_bytes, number));
	}
	if (text.bytes)
		sink_warn(call->sink, text.bytes);
}
