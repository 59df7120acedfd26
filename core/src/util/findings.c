/* SPDX-License-Identifier: MIT */
#include "util/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"

static bool has_equal(const struct findings *findings, const char *kind, const char *line)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *row = &findings->rows[i];
		if (strcmp(row->kind, kind) == 0 && strcmp(row->detail, line) == 0)
			return true;
	}
	return false;
}

static void add(struct findings *findings, const char *kind, uint64_t count, const char *advice,
		const char *line)
{
	if (has_equal(findings, kind, line))
		return;
	if (findings->count == findings->capacity) {
		size_t capacity = grown_capacity(findings->capacity, sizeof(*findings->rows));
		struct finding *rows =
			mem_realloc(findings->rows, capacity, sizeof(*findings->rows));
		if (!rows)
			return;
		findings->rows = rows;
		findings->capacity = capacity;
	}
	struct finding row = { .kind = kind,
			       .detail = mem_strndup(line, strlen(line)),
			       .count = count };
	if (!row.detail)
		return;
	if (advice)
		row.advice = mem_strndup(advice, strlen(advice));
	findings->rows[findings->count++] = row;
}

void findings_add(struct findings *findings, const char *kind, const char *advice,
		  const char *format, ...)
{
	char line[1024];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	add(findings, kind, 0, advice, line);
}

void findings_add_counted(struct findings *findings, const char *kind, uint64_t count,
			  const char *advice, const char *format, ...)
{
	char line[1024];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	add(findings, kind, count, advice, line);
}

bool findings_has(const struct findings *findings, const char *kind)
{
	for (size_t i = 0; i < findings->count; i++) {
		if (strcmp(findings->rows[i].kind, kind) == 0)
			return true;
	}
	return false;
}

void findings_deinit(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		mem_free(findings->rows[i].detail);
		mem_free(findings->rows[i].advice);
	}
	mem_free(findings->rows);
	*findings = (struct findings){ 0 };
}
