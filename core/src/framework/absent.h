/* SPDX-License-Identifier: MIT */
/* What the framework of a heap lacks, of what answers looked for. */
#ifndef HEAPDUMP_SRC_FRAMEWORK_ABSENT_H
#define HEAPDUMP_SRC_FRAMEWORK_ABSENT_H

#include "framework/facts.h"
#include "heap/heap.h"

struct text;

/** Forget what was looked for: a command begins. */
void facts_begin(struct heap *heap);

/**
 * The facts that were looked for since then, on objects of their types, and that this framework
 * does not have under any of the names that are known: each main row once, in the order of the
 * table.
 *
 * @param[out] ret Room for FACTS.
 * @return how many
 */
size_t facts_absent(const struct heap *heap, enum fact *ret);

/** Append "System.Threading.Tasks.Task.m_stateFlags". */
void fact_append_name(struct text *text, enum fact fact);

#endif
