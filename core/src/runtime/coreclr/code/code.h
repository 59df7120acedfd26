/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/code.h"

/** runtime_ops.code_at of CoreCLR: by the range section map, code headers and images. */
bool coreclr_code_at(struct runtime *runtime, uint64_t code, struct code_info *ret);
/** Free the tables of ReadyToRun images, and PDBs, that look-ups have made (coreclr_close() does). */
struct code_tables;
void code_tables_destroy(struct code_tables *tables);

/**
 * Does the runtime say that it keeps managed code around @p code, even if the bytes are not in the
 * target?
 */
bool runtime_has_code_at(struct runtime *runtime, uint64_t code);

/**
 * Read an address of code that lies at @p address: in memory of the JIT, or in the data of a ReadyToRun
 * image.  Where only the image's file has that data, the address is for the image's preferred base, and is
 * moved to where the image was loaded (doc/coreclr.md 21.3).
 *
 * @return false when the target lacks the bytes; *@p ret is untouched
 */
bool runtime_code_pointer(struct runtime *runtime, uint64_t address, uint64_t *ret);

/**
 * Read what runtime_code_at() may read for any code of the target: the sections of code, and the tables
 * of JIT code; for at most 256 MB of code.
 */
void runtime_code_touch(struct runtime *runtime);

/**
 * Is the funclet of @p code the filter of one of its method's exception clauses
 * (IJitManager::IsFilterFunclet)?
 *
 * @return false when the clauses do not tell: it is ReadyToRun code, or they cannot be read
 */
bool coreclr_clauses_tell_filter(const struct runtime *runtime, const struct code_info *code,
				 bool *ret);

/**
 * The part of type @p type of the ReadyToRun image with header @p header; *@p ret_rva is relative to
 * the image.
 */
bool coreclr_r2r_section(const struct runtime *runtime, uint64_t header, uint32_t type,
			 uint32_t *ret_rva, uint32_t *ret_size);

/** runtime_ops.method_signature of CoreCLR. */
struct text;
void coreclr_method_signature(struct runtime *runtime, uint64_t method_desc, struct text *text);
