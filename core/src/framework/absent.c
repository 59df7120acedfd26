/* SPDX-License-Identifier: MIT */
#include "framework/absent.h"

#include <string.h>

#include "framework/survey.h"
#include "util/text.h"

void facts_begin(struct heap *heap)
{
	memset(&heap->facts, 0, sizeof(heap->facts));
}

size_t facts_absent(const struct heap *heap, enum fact *ret)
{
	bool found[FACTS] = { false }, absent[FACTS] = { false };
	size_t count = 0;
	for (enum fact fact = 0; fact < FACTS; fact++) {
		found[fact_main(fact)] |= fact_ledger_has(heap->facts.found, fact);
		absent[fact_main(fact)] |= fact_ledger_has(heap->facts.absent, fact);
	}
	for (enum fact fact = 0; fact < FACTS; fact++) {
		if (absent[fact] && !found[fact])
			ret[count++] = fact;
	}
	return count;
}

void net_types_look(struct heap *heap, const enum net_type *list)
{
	for (; *list != NET_TYPES; list++)
		fact_ledger_add(heap->facts.types, *list);
}

size_t net_types_absent(const struct heap *heap, enum net_type *ret)
{
	struct framework_survey survey;
	size_t count = 0;
	bool is_any = false;
	for (size_t i = 0; i < FACT_LEDGER_WORDS; i++)
		is_any |= heap->facts.types[i] != 0;
	if (!is_any || framework_survey_make(heap->runtime, &survey, NULL) != HD_OK)
		return 0;
	for (enum net_type type = 0; type < NET_TYPES; type++) {
		if (survey.type_is_missing[type] && fact_ledger_has(heap->facts.types, type))
			ret[count++] = type;
	}
	return count;
}

void fact_append_name(struct text *text, enum fact fact)
{
	const struct fact_row *row = fact_row(fact);
	text_printf(text, "%s.%s", net_type_name(row->type), row->path);
}
