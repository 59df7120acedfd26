/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/code/method_list.h"

/** Bytes of the method's code, handlers included, out of its GCInfo; 0: not known. */
uint32_t code_size(struct heap *heap, const struct code_info *code);

/** "JIT" or "ReadyToRun". */
const char *code_kind(bool is_precompiled);

/** The columns of a table of bodies, "code". */
extern const struct schema bodies_schema;

/** Write one row of bodies_schema; @p is_known: is it known which one runs when the method is called? */
void write_body(struct call *call, const struct method_body *body, bool is_known, bool is_current);

/** Write the bodies of one method as a table "code": none, or some. */
void write_bodies(struct call *call, const struct method_bodies *bodies,
		  const struct method *method);

/** Say that tables of code could not be read, as data and as a remark. */
void write_bodies_end(struct call *call, const struct method_bodies *bodies);
