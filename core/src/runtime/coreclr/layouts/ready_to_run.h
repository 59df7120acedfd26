/* SPDX-License-Identifier: MIT */
#pragma once

/* READYTORUN_HEADER (inc/readytorun.h): u32 "RTR", u16 major, u16 minor; sections from +16 on {type, RVA, size}. */
#define R2R_SIGNATURE     0x00525452u
#define R2R_MAJOR         4u
#define R2R_SECTIONS      12u
#define R2R_SECTION_FIRST 16u
#define R2R_SECTION_SIZE  12u
#define R2R_SECTIONS_MAX  256u
/** Type of the section of import sections. */
#define R2R_IMPORTS 101u
/** Type of the section of the methods that have code, a NativeArray by rows of MethodDef (doc/coreclr.md 12.3). */
#define R2R_METHODS 103u
/**
 * Type of the section of exception clauses: for each method that has some, RVAs of its code and of its first clause, which
 * ascend; the last row has only the end.  A clause: flags, try begin and end, handler begin and end, filter, in u32s.
 */
#define R2R_CLAUSES     104u
#define R2R_CLAUSES_ROW 8u
#define R2R_CLAUSE_SIZE 24u
/** Type of the section of debug info, and the first major version whose bounds are packed. */
#define R2R_DEBUG_INFO   105u
#define R2R_PACKED_MAJOR 16u

/* READYTORUN_IMPORT_SECTION: RVA, size, flags, type, size of an entry, signatures, maps. */
#define R2R_IMPORT_SIZE       20u
#define R2R_IMPORT_BYTES      4u
#define R2R_IMPORT_ENTRY_SIZE 11u
#define R2R_IMPORT_MAPS       16u
#define R2R_IMPORTS_MAX       1024u
/**
 * How many maps follow each offset of the look-up table of maps (GCREFMAP_LOOKUP_STRIDE,
 * gcrefmap.h).
 */
#define R2R_MAP_STRIDE 1024u
