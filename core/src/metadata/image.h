/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"

/** The contents of the headers of a PE image. */
struct image {
	uint64_t metadata;      /**< address of the metadata root */
	uint32_t metadata_size; /**< bytes */
	uint32_t timestamp;     /**< COFF TimeDateStamp */
	uint32_t image_size;    /**< OptionalHeader.SizeOfImage */
	uint32_t entry_point;   /**< token of the method that a program begins with; 0: a library */
	bool is_mapped;
};

/**
 * Find the CLI metadata of the PE image at @p base.
 *
 * @param is_mapped The sections lie at their RVAs; otherwise they lie as in the file.  @return
 * false when it is not such an image, or its headers cannot be read
 */
bool image_find_metadata(struct memory *memory, uint64_t base, bool is_mapped, struct image *ret);

/** Address of @p size bytes at @p rva in that image, or false. */
bool image_locate(struct memory *memory, uint64_t base, bool is_mapped, uint32_t rva, uint32_t size,
		  uint64_t *ret);

#define IMAGE_GUID_SIZE 16u

/**
 * Does the debug directory of that image name the PDB with this GUID and age?  For each build,
 * compilers make a new GUID, or compute it from the contents.
 */
bool image_has_pdb(struct memory *memory, uint64_t base, bool is_mapped, const uint8_t *guid,
		   uint32_t age);

/** Bytes of an id: GUID and time stamp, as in a portable PDB. */
#define IMAGE_PDB_ID_SIZE   20u
#define IMAGE_PDB_NAME_SIZE 256u

/** The debug directory's description of the image's PDB. */
struct image_pdb {
	bool is_portable; /**< id and name are those of a portable PDB */
	bool is_embedded; /**< the image contains a PDB, packed with deflate */
	uint64_t packed;  /**< address of its packed bytes; 0: they are damaged */
	uint32_t packed_size, unpacked_size;
	uint8_t id[IMAGE_PDB_ID_SIZE];
	char name[IMAGE_PDB_NAME_SIZE]; /**< name of its file, without folders; not "", "." or ".."
					 */
};

/**
 * Read the debug directory of that image.
 *
 * @return false when it names no portable PDB and contains none, or cannot be read
 */
bool image_find_pdb(struct memory *memory, uint64_t base, bool is_mapped, struct image_pdb *ret);
