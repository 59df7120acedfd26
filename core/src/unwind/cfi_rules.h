/* SPDX-License-Identifier: MIT */
#pragma once

#include "unwind/dwarf_reader.h"
#include "unwind/registers.h"

/** Most states that DW_CFA_remember_state may push. */
#define CFI_REMEMBER_MAX 16u

/** Where a register of the caller is (DWARF 5, 6.4.1). */
enum cfi_rule_kind {
	CFI_RULE_UNSPECIFIED, /**< same value as in the frame itself; for the CFA: unknown */
	CFI_RULE_SAME_VALUE,
	CFI_RULE_UNDEFINED,
	CFI_RULE_OFFSET,
	CFI_RULE_VAL_OFFSET,
	CFI_RULE_REGISTER, /**< for the CFA: that register plus offset */
	CFI_RULE_EXPRESSION,
	CFI_RULE_VAL_EXPRESSION,
};

struct cfi_rule {
	uint8_t kind; /**< enum cfi_rule_kind */
	uint8_t reg;
	int64_t offset;       /**< relative to the CFA */
	const uint8_t *bytes; /**< the expression, in the reader's bytes */
	size_t size;
};

/** A row of the table. */
struct cfi_rules {
	struct cfi_rule cfa;
	struct cfi_rule registers[ARCH_REGISTERS_MAX];
};

/** The context in which instructions are run. */
struct cfi_program {
	const struct arch *arch; /**< whose registers the numbers are */
	uint64_t code_align;
	int64_t data_align;
	unsigned int pointers;           /**< how DW_CFA_set_loc encodes its address */
	uint64_t begin, pc;              /**< start of the function; address whose row is wanted */
	const struct cfi_rules *initial; /**< rules of the CIE, for DW_CFA_restore; NULL while the
					  * CIE itself is run */
};

/**
 * Run the call frame instructions (DWARF 5, 6.4.2, with GNU's extensions) of @p code up to the row
 * for program->pc.
 *
 * @param[in,out] rules Undefined on failure.
 * @return false when one is unknown or cannot be run
 */
bool cfi_rules_run(const struct cfi_program *program, struct dwarf_reader code,
		   struct cfi_rules *rules);
