/* SPDX-License-Identifier: MIT */
#include "command/report/growth_text.h"

static const char *process_words(enum same_process process)
{
	static const char *const words[] = { "perhaps another process", "the same process",
					     "another process", "another program" };
	return words[process];
}

const char *growth_more(uint64_t before, uint64_t after, char buf[40])
{
	buf[0] = after >= before ? '+' : '-';
	(void)format_bytes(after >= before ? after - before : before - after, buf + 1);
	return buf;
}

static void append_hours(const struct compared_with *with, struct text *ret)
{
	const char *about = with->is_approximate ? "about " : "";
	if (with->hours <= 0)
		return;
	if (with->hours < 2) {
		text_printf(ret, ", %s%.0f minutes earlier", about, with->hours * 60);
	} else {
		text_printf(ret, ", %s%.1f hours earlier", about, with->hours);
	}
}

/* The heaps in between, without their names: the page does not tell where files are. */
static void append_between(const struct heap_comparison *comparison, struct text *ret)
{
	const struct compared_with *with = comparison->with->next;
	char live[32];
	if (!with)
		return;
	text_puts(ret, "\nIn between, ");
	for (bool is_first = true; with; with = with->next, is_first = false) {
		text_printf(ret, "%s%s",
			    is_first     ? ""
			    : with->next ? ", "
					 : " and ",
			    format_bytes(with->before->live, live));
	}
	text_puts(ret, " were alive.");
	if (comparison->between && !comparison->objection) {
		text_printf(ret, " Nothing is told of steady growth, for of one of these: %s.",
			    comparison->between);
	}
}

void growth_summary(const struct heap_comparison *comparison, struct text *ret)
{
	const struct inventory *before = comparison->before, *after = &comparison->after;
	char was[32], is[32], more[40];
	text_printf(ret, " (%s", process_words(comparison->process));
	if (!comparison->is_later)
		append_hours(comparison->with, ret);
	text_printf(ret, "): %s were alive, %s are now (%s).", format_bytes(before->live, was),
		    format_bytes(after->live, is), growth_more(before->live, after->live, more));
	append_between(comparison, ret);
	if (comparison->objection) {
		text_printf(ret, "\nNo finding rests on this comparison: %s.",
			    comparison->objection);
		return;
	}
	if (comparison->olds && !comparison->by_address) {
		text_puts(ret, "\nOld objects have been moved since: only counts are compared.");
	}
	if (comparison->with->hours <= 0) {
		text_puts(ret,
			  "\nHow much time lies between the two is not known: -minutes says it, "
			  "for growth per hour.");
	}
}

static struct diff_side side_of_sums(const struct named_sums *sums)
{
	return (struct diff_side){ .types = sums->rows, .type_count = sums->rows_count };
}

enum hd_status growth_of_sums(const struct named_sums *before, const struct named_sums *after,
			      struct diff *ret, struct hd_error *err)
{
	const struct diff_side a = side_of_sums(before), b = side_of_sums(after);
	return diff_init(&a, &b, ret, err);
}
