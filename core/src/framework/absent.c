/* SPDX-License-Identifier: MIT */
#include "framework/absent.h"

#include <string.h>

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

void fact_append_name(struct text *text, enum fact fact)
{
	const struct fact_row *row = fact_row(fact);
	text_printf(text, "%s.%s", net_type_name(row->type), row->path);
}
