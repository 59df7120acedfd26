/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/fail.h"

/** Tables that are read: of ECMA-335 II.22, and from MD_DOCUMENT on of portable PDBs. */
enum md_table {
	MD_MODULE = 0x00,
	MD_TYPE_REF = 0x01,
	MD_TYPE_DEF = 0x02,
	MD_FIELD_PTR = 0x03,
	MD_FIELD = 0x04,
	MD_METHOD_PTR = 0x05,
	MD_METHOD = 0x06,
	MD_PARAM_PTR = 0x07,
	MD_PARAM = 0x08,
	MD_INTERFACE_IMPL = 0x09,
	MD_MEMBER_REF = 0x0a,
	MD_CONSTANT = 0x0b,
	MD_CUSTOM_ATTRIBUTE = 0x0c,
	MD_STAND_ALONE_SIG = 0x11,
	MD_MODULE_REF = 0x1a,
	MD_TYPE_SPEC = 0x1b,
	MD_ASSEMBLY = 0x20,
	MD_ASSEMBLY_REF = 0x23,
	MD_EXPORTED_TYPE = 0x27,
	MD_NESTED_CLASS = 0x29,
	MD_GENERIC_PARAM = 0x2a,
	MD_METHOD_SPEC = 0x2b,
	MD_DOCUMENT = 0x30,
	MD_METHOD_DEBUG = 0x31,
	MD_LOCAL_SCOPE = 0x32,
	MD_LOCAL_VARIABLE = 0x33,
	MD_STATE_MACHINE_METHOD = 0x36,
	MD_CUSTOM_DEBUG = 0x37,
	MD_TABLE_COUNT = 64
};

#define MD_COLUMNS_MAX 9u

/** The metadata of one module, over bytes that it owns.  Every access is checked. */
struct metadata {
	uint8_t *bytes;
	uint32_t size;
	struct {
		uint32_t rows;
		uint32_t offset; /**< offset of row 1, in bytes */
		uint16_t row_size;
		uint8_t columns;
		uint8_t widths[MD_COLUMNS_MAX];
	} tables[MD_TABLE_COUNT];
	struct {
		uint32_t offset, size;
	} strings, blobs, guids, user_strings,
		pdb;             /**< pdb: the stream #Pdb; size 0: it is not a portable PDB */
	bool has_pointer_tables; /**< stream #-: FieldPtr and MethodPtr tables are in use */
	uint32_t *enclosing;     /**< by TypeDef RID: RID of the enclosing type, 0 = none */
	/** By RID of a field or method: its row of FieldPtr or MethodPtr, 0 = none; NULL: not in use. */
	uint32_t *field_rows, *method_rows;
};

/**
 * Read a metadata root ("BSJB", ECMA-335 II.24).
 *
 * @param bytes Owned by the metadata from now on (mem_free()), also on failure.
 * @param[out] ret To be given to metadata_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_FORMAT
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status metadata_create(uint8_t *bytes, uint32_t size, struct metadata **ret,
					    struct hd_error *err);
/** NULL is allowed. */
void metadata_destroy(struct metadata *metadata);

/** Column @p column (from 0, in the order of II.22) of row @p rid (from 1); 0 outside the table. */
uint32_t metadata_column(const struct metadata *metadata, enum md_table table, uint32_t rid,
			 unsigned int column);
/** A string of #Strings; "" when out of bounds.  Borrowed; may hold any bytes except NUL. */
const char *metadata_string(const struct metadata *metadata, uint32_t index);
/** A blob of #Blob; *ret_size is 0 when out of bounds. */
const uint8_t *metadata_blob(const struct metadata *metadata, uint32_t index, uint32_t *ret_size);
/**
 * A string of #US, which the instruction ldstr names by its index.
 *
 * @param[out] ret_units UTF-16 units, which are not aligned
 * @return NULL when it is out of bounds, or cut
 */
const uint8_t *metadata_user_string(const struct metadata *metadata, uint32_t index,
				    uint32_t *ret_units);
/** The module version id (16 bytes), or NULL. */
const uint8_t *metadata_mvid(const struct metadata *metadata);
/** RID of the type that TypeDef @p rid is nested in, or 0. */
uint32_t metadata_enclosing(const struct metadata *metadata, uint32_t rid);
/** TypeDef RID that owns Field or MethodDef @p rid; 0 = none.  Cost: a binary search. */
uint32_t metadata_owner(const struct metadata *metadata, enum md_table table, uint32_t rid);
/**
 * Fields (MD_FIELD) or methods (MD_METHOD) of TypeDef @p type: list positions from the returned
 * one to *@p ret_end, to be given to metadata_member().
 */
uint32_t metadata_members(const struct metadata *metadata, enum md_table table, uint32_t type,
			  uint32_t *ret_end);
/** RID of the field or method at a list position; 0 outside. */
uint32_t metadata_member(const struct metadata *metadata, enum md_table table, uint32_t position);
/**
 * In @p table, which is sorted by @p column: the first row whose column is at least @p key; rows +
 * 1 when there is none.  If the table is not sorted, the result is any row.
 */
uint32_t metadata_search(const struct metadata *metadata, enum md_table table, unsigned int column,
			 uint32_t key);

/** Read a compressed number (II.23.2) from [*@p at, @p end) and move on; false when it is cut. */
bool metadata_compressed(const uint8_t **at, const uint8_t *end, uint32_t *ret);
