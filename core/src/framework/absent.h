/* SPDX-License-Identifier: MIT */
/*
 * Tells which types and fields answers have looked for, and the framework of the heap does not
 * have.
 */
#pragma once

#include "framework/facts.h"
#include "gc/heap.h"

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

/**
 * Note that objects of these types are looked for by their names: if the framework has a type under
 * another name, none are found.
 *
 * @param list NET_TYPES ends it.
 */
void net_types_look(struct heap *heap, const enum net_type *list);

/**
 * The types that were looked for, and that the loaded assembly of their row does not have, in the
 * order of the table.  Cost: the metadata of the loaded assemblies, only if types were looked for.
 *
 * @param[out] ret Room for NET_TYPES.
 * @return how many
 */
size_t net_types_absent(const struct heap *heap, enum net_type *ret);

/** Append "System.Threading.Tasks.Task.m_stateFlags". */
void fact_append_name(struct text *text, enum fact fact);
