/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes CLI metadata (ECMA-335 II.24) as a test says: rows of tables, strings, blobs.  It knows
 * the tables on its own, so that a mistake in the reader's schemas shows.
 */
struct metadata_maker {
	struct {
		uint32_t *cells; /**< rows x columns */
		uint32_t rows, capacity;
	} tables[64];
	struct {
		uint8_t *bytes;
		size_t size, capacity;
	} strings, blobs, guids;
	/* how it is written */
	bool is_uncompressed; /**< stream #- */
	bool is_delta;        /**< with a stream #JTD: all indexes are wide */
	bool wide_strings, wide_blobs, wide_guids;
	bool extra; /**< 4 bytes more after the row counts */
	/* a portable PDB */
	bool is_pdb;             /**< with a stream #Pdb */
	uint8_t pdb_id;          /**< each byte of its id */
	uint32_t referenced[64]; /**< rows of the module's tables that it says */
};

void maker_init(struct metadata_maker *maker);
void maker_deinit(struct metadata_maker *maker);

/** Index of a string; "" is 0. */
uint32_t maker_string(struct metadata_maker *maker, const char *string);
uint32_t maker_blob(struct metadata_maker *maker, const void *bytes, size_t size);
/** Index (from 1) of 16 bytes that are all @p fill. */
uint32_t maker_guid(struct metadata_maker *maker, uint8_t fill);
/** Add a row; cells in the order of II.22.  Returns its RID. */
uint32_t maker_row(struct metadata_maker *maker, unsigned int table, const uint32_t *cells);
#define MAKER_ROW(maker, table, ...) maker_row((maker), (table), (const uint32_t[]){ __VA_ARGS__ })

/** TypeDef whose fields and methods begin at the next rows of those tables. */
uint32_t maker_type(struct metadata_maker *maker, const char *space, const char *name);
uint32_t maker_type_ref(struct metadata_maker *maker, const char *space, const char *name);
/** Field of the last TypeDef, of the type that @p signature (without its first byte) says. */
uint32_t maker_field(struct metadata_maker *maker, uint16_t flags, const char *name,
		     const void *signature, size_t size);
uint32_t maker_method(struct metadata_maker *maker, const char *name);
void maker_nest(struct metadata_maker *maker, uint32_t inner, uint32_t outer);

/** The bytes, for free(). */
uint8_t *maker_finish(const struct metadata_maker *maker, uint32_t *ret_size);
/** Same, of mem_alloc(): for metadata_create(). */
uint8_t *maker_finish_mem(const struct metadata_maker *maker, uint32_t *ret_size);

/** How an image is laid out. */
struct image_kind {
	bool is_mapped; /**< the section lies at its RVA, 0x2000, else at 0x400 */
	bool is_pe32;
	uint8_t pdb; /**< each byte of the GUID in its debug directory, of age 1; 0: it has none */
	const char
		*portable; /**< path of a portable PDB with that GUID and time stamp 0x12345678; or
			       * NULL */
	bool is_embedded;  /**< with pdb: the image contains a PDB, too */
	const uint8_t *packed; /**< the bytes of that; or NULL */
	uint32_t packed_size;
};

/** A PE image with @p metadata in its one section, for free(). */
uint8_t *maker_image(const struct image_kind *kind, const uint8_t *metadata, uint32_t size,
		     uint32_t *ret_size);
