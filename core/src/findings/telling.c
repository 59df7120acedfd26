/* SPDX-License-Identifier: MIT */
/* Weighs findings, and puts their parts into the words of their rule. */
#include "findings/rule.h"
#include "util/text.h"

static bool is_used(const struct least *least)
{
	return least->objects || least->bytes || least->permille || least->half_limits ||
	       least->grows;
}

static bool is_enough(const struct report_facts *facts, const struct report_finding *finding,
		      const struct least *least)
{
	return finding->objects >= least->objects && finding->bytes >= least->bytes &&
	       facts_permille(facts, finding->bytes) >= least->permille &&
	       finding->bytes >= facts_limit(facts) * least->half_limits / 2 &&
	       (!least->grows || finding->growth.state == GROWTH_GROWS);
}

bool finding_weigh(const struct report *report, const struct telling *telling,
		   struct report_finding *finding)
{
	for (unsigned int i = 0; i <= SEVERITY_INFO; i++) {
		if (!is_used(&telling->least[i]) ||
		    !is_enough(&report->facts, finding, &telling->least[i]))
			continue;
		finding->severity = (enum severity)i;
		return true;
	}
	return false;
}

/* The names of places, without a digit that may follow. */
enum place {
	OBJECTS,
	BYTES,
	SHARE,
	TYPE,
	FULL,
	HOLDER,
	METHOD,
	COUNT,
	SIZE,
	PLACES
};
static const char *const places[PLACES] = { "objects", "bytes",  "share", "type", "full",
					    "holder",  "method", "count", "size" };

static const char *part_of(struct report *report, const struct report_finding *finding,
			   const char *const *texts, const char *name)
{
	unsigned int place = 0;
	while (place < PLACES && strncmp(name, places[place], strlen(places[place])) != 0)
		place++;
	size_t index = (size_t)(name[strcspn(name, "0123456789}")] - '0');
	uint64_t count = index < FINDING_COUNTS ? finding->counts[index].value : 0;
	switch (place) {
	case OBJECTS:
		return report_number(report, finding->objects);
	case BYTES:
		return report_bytes(report, finding->bytes);
	case SHARE:
		return report_share(report, finding->bytes);
	case TYPE:
		return report_short_name(report, finding->member_type);
	case FULL:
		return report_type_name(report, finding->member_type);
	case HOLDER:
		return finding->holder.name;
	case METHOD:
		return finding->method;
	case COUNT:
		return report_number(report, count);
	case SIZE:
		return report_bytes(report, count);
	default:
		return texts[index];
	}
}

/* The words with all parts in their places, in the report's arena. */
static const char *fill_in(struct report *report, const struct report_finding *finding,
			   const char *const *texts, const char *words)
{
	HD_CLEANUP(text) struct text text = { 0 };
	const char *place;
	for (; (place = strchr(words, '{')); words = strchr(place, '}') + 1) {
		text_append(&text, words, (size_t)(place - words));
		text_puts(&text, part_of(report, finding, texts, place + 1));
	}
	report->lacks_text |= text.failed;
	return text.size ? report_text(report, "%s%s", text.bytes, words) : words;
}

enum hd_status finding_tell(struct report *report, struct report_finding *finding,
			    const struct telling *telling, const char *const *texts,
			    struct hd_error *err)
{
	bool is_one = finding->objects == 1;
	const char *title = is_one ? telling->title_of_one : NULL;
	const char *sentence = is_one ? telling->sentence_of_one : NULL;
	finding->id = fill_in(report, finding, texts, telling->id);
	finding->title = fill_in(report, finding, texts, title ? title : telling->title);
	finding->sentence =
		fill_in(report, finding, texts, sentence ? sentence : telling->sentence);
	finding->look_at = fill_in(report, finding, texts, telling->look_at);
	finding->next = fill_in(report, finding, texts, telling->next);
	return finding_add(report, finding, err);
}
