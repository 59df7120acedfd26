/* SPDX-License-Identifier: MIT */
#include "util/findings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"

/** The text of the row for findings that are not listed, with room for the largest number. */
#define REST_FORMAT "%" PRIu64 " more of this kind, which are not listed"
#define REST_SIZE   (sizeof(REST_FORMAT) + 20)

static struct finding *append_finding(struct findings *findings)
{
	if (findings->count == findings->capacity) {
		size_t capacity = grown_capacity(findings->capacity, sizeof(*findings->rows));
		struct finding *rows =
			mem_realloc(findings->rows, capacity, sizeof(*findings->rows));
		if (!rows)
			return NULL;
		findings->rows = rows;
		findings->capacity = capacity;
	}
	return &findings->rows[findings->count];
}

/* Count one that is not listed; @p rest is the row for these, or NULL if this is the first. */
static void add_rest(struct findings *findings, struct finding *rest, enum finding_kind kind)
{
	if (!rest) {
		rest = append_finding(findings);
		char *detail = rest ? mem_alloc(REST_SIZE, 1) : NULL;
		if (!detail)
			return;
		*rest = (struct finding){ .kind = kind, .detail = detail, .is_rest = true };
		findings->count++;
	}
	rest->count++;
	(void)snprintf(rest->detail, REST_SIZE, REST_FORMAT, rest->count);
}

static void add_finding_line(struct findings *findings, enum finding_kind kind, uint64_t count,
			     const char *advice, const char *line)
{
	struct finding *rest = NULL;
	size_t listed = 0;
	for (size_t i = 0; i < findings->count; i++) {
		struct finding *row = &findings->rows[i];
		if (row->kind != kind)
			continue;
		if (row->is_rest) {
			rest = row;
			continue;
		}
		if (strcmp(row->detail, line) == 0)
			return;
		listed++;
	}
	if (listed >= FINDINGS_LISTED) {
		add_rest(findings, rest, kind);
		return;
	}
	struct finding *row = append_finding(findings);
	char *detail = row ? mem_strndup(line, strlen(line)) : NULL;
	if (!detail)
		return;
	*row = (struct finding){ .kind = kind, .detail = detail, .count = count };
	if (!advice)
		advice = finding_traits(kind)->advice;
	if (advice)
		row->advice = mem_strndup(advice, strlen(advice));
	findings->count++;
}

void findings_add(struct findings *findings, enum finding_kind kind, const char *advice,
		  const char *format, ...)
{
	char line[1024];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	add_finding_line(findings, kind, 0, advice, line);
}

void findings_add_counted(struct findings *findings, enum finding_kind kind, uint64_t count,
			  const char *advice, const char *format, ...)
{
	char line[1024];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	add_finding_line(findings, kind, count, advice, line);
}

bool findings_has(const struct findings *findings, enum finding_kind kind)
{
	for (size_t i = 0; i < findings->count; i++) {
		if (findings->rows[i].kind == kind)
			return true;
	}
	return false;
}

void findings_cut(struct findings *findings, size_t count)
{
	while (findings->count > count) {
		struct finding *row = &findings->rows[--findings->count];
		mem_free(row->detail);
		mem_free(row->advice);
	}
}

void findings_deinit(struct findings *findings)
{
	findings_cut(findings, 0);
	mem_free(findings->rows);
	*findings = (struct findings){ 0 };
}
