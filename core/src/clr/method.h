/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_CLR_METHOD_H
#define HEAPDUMP_SRC_CLR_METHOD_H

#include "clr/clr.h"

/**
 * The method that the code at @p code belongs to: compiled by the JIT, ReadyToRun code, or the
 * stub that stands for a method before it is compiled.
 *
 * @param[out] ret_method_desc Untouched on failure.
 * @return false when it is none of these, or the tables that say so cannot be read
 */
bool clr_method_at(struct clr *clr, uint64_t code, uint64_t *ret_method_desc);

#endif
