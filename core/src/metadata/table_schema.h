/* SPDX-License-Identifier: MIT */
#pragma once

#include "metadata/metadata.h"

/** How many tables ECMA-335 II.22 defines. */
#define MD_TYPE_SYSTEM_COUNT 0x2du
/** The same with the tables of portable PDBs, which are read only where there is a stream #Pdb. */
#define MD_SCHEMA_COUNT 0x38u

/** Sizes of indexes, from the header of the table stream. */
struct metadata_index_sizes {
	bool wide_strings, wide_guids, wide_blobs;
	bool wide_all; /**< a minimal delta (#JTD): every index has 4 bytes */
};

/** Fill columns, widths and row_size of every table, whose row counts are set already. */
void schema_layout(struct metadata *metadata, const struct metadata_index_sizes *sizes);
