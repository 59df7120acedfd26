/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/clauses.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/function_list.h"

/* Shared by code.c, code_jit.c and code_r2r.c. */

/** RangeSection: a range of code and what made it (codeman.h); stubs have neither of the last two. */
struct code_section {
	uint64_t begin, end;
	uint64_t module; /**< ReadyToRun: the Module; else 0 */
	uint64_t heap;   /**< code of the JIT: the CodeHeapListNode; else 0 */
};

/**
 * The entry points of one ReadyToRun image, sorted.  The runtime only has those of methods that
 * were called.
 */
struct r2r_image {
	uint64_t module, begin; /**< the section that the image belongs to */
	uint64_t functions;     /**< RUNTIME_FUNCTION array, 0: the image could not be read */
	uint32_t function_count;
	unsigned int gc_info_version;
	uint64_t *entries; /**< addresses of code, ascending; */
	uint32_t *order;   /**< for each entry, its index in method_descs */
	uint64_t *method_descs;
	size_t entries_count, entries_capacity, method_descs_count, method_descs_capacity;
	uint64_t buckets_at; /**< where the address of the next is */
	uint64_t buckets;    /**< the map that they come from, and how many more it has after its
			   * first */
	uint32_t bucket_count;
	uint32_t *rids;  /**< of each function, once r2r_method_rows() was asked */
	bool was_asked;  /**< for them */
	bool is_partial; /**< some entries are not in the target: each is looked up in the map */
};

/** The tables that look-ups of code have made. */
struct code_tables {
	struct r2r_image *images;
	size_t images_count, images_capacity;
	size_t last_image;     /**< the image that was asked for last */
	uint64_t buckets_read; /**< buckets of all images' maps; limited */
	uint32_t probes;       /**< buckets that look-ups have visited; limited */
	uint64_t rids,
		decoded; /**< rows of r2r_method_rows() of all images, and bytes read for them; limited */
	struct source_cache
		*sources; /**< see runtime/coreclr/code/source.h; NULL until the first look-up */
};

/** The tables of @p runtime, made the first time; NULL when memory is exhausted, and of another runtime. */
struct code_tables *code_tables(struct runtime *runtime);

/** RUNTIME_FUNCTION: RVAs (readytorun.h, clrnt.h); end is 0 where the unwind data says it (processor_layout). */
struct runtime_function {
	uint32_t begin, end, unwind_info;
};
/** Bytes of one. */
uint64_t runtime_function_size(const struct runtime *runtime);
/** One of the bytes at @p at. */
struct runtime_function runtime_function_of(const struct runtime *runtime, const uint8_t *at);
/** The RVA where @p function of the code at @p base ends; 0: it is not known. */
uint64_t runtime_function_end(const struct runtime *runtime, uint64_t base,
			      const struct runtime_function *function);
bool runtime_function_read(struct runtime *runtime, uint64_t table, uint32_t index,
			   struct runtime_function *ret);
/** Index of the last of @p count functions whose start is not above @p rva. */
bool runtime_function_find(struct runtime *runtime, uint64_t table, uint32_t count, uint64_t rva,
			   uint32_t *ret_index);

/** These give what runtime_code_at() gives; unwind_info is 0 when there is none. */
bool jitted_code(struct runtime *runtime, const struct code_section *section, uint64_t code,
		 struct code_info *ret);
bool precompiled_code(struct runtime *runtime, const struct code_section *section, uint64_t code,
		      struct code_info *ret);
void r2r_image_deinit(struct r2r_image *image);

/** The image of @p section, read once; NULL when memory is exhausted or there are too many. */
const struct r2r_image *find_r2r_image(struct runtime *runtime, const struct code_section *section);

/** A handler of a method, or the filter of one. */
struct clause_handler {
	uint32_t offset; /**< in the method's code */
	uint8_t part;    /**< enum code_part */
};

/** The handlers of one method, ascending; reused for the next. */
struct clause_handlers {
	struct clause_handler *rows;
	size_t rows_count, rows_capacity;
};
void clause_handlers_deinit(struct clause_handlers *handlers);

/**
 * Read the clauses of a method of the JIT, whose RealCodeHeader is at @p header; none, if they cannot be read.
 *
 * @return false when memory is exhausted
 */
bool clauses_of_jitted(struct runtime *runtime, uint64_t header, struct clause_handlers *ret);
/** The same for the @p size bytes of clauses of a ReadyToRun image at @p clauses. */
bool clauses_of_precompiled(struct runtime *runtime, uint64_t clauses, uint64_t size,
			    struct clause_handlers *ret);
/** Which part of the method the funclet at @p offset is: an enum code_part. */
uint8_t clauses_part_of(const struct clause_handlers *handlers, uint32_t offset);

/** The RangeSection at @p address. */
bool code_section_read(struct runtime *runtime, uint64_t address, struct code_section *ret);
/** The RangeSection of the code at @p code. */
bool code_section_find(struct runtime *runtime, uint64_t code, struct code_section *ret);

/** The places of the nibble map of a section of the JIT, and of what leads to it. */
void jitted_places(struct runtime *runtime, const struct code_section *section,
		   struct code_places *places);
/** The place of the map of the entry points of an image, and of what leads to it. */
void precompiled_places(const struct r2r_image *image, struct code_places *places);

/** All sections of code. */
struct code_sections {
	uint64_t *rows; /**< addresses of RangeSections, ascending; some may be there twice */
	size_t rows_count, rows_capacity;
	uint32_t tables;            /**< of the map that were read: limited */
	struct code_places *places; /**< gets where the map is; NULL: nobody asks */
	bool is_partial;            /**< some could not be read */
};

/**
 * Read the map of code.
 *
 * @param[in,out] sections Zeroed; to be given to code_sections_deinit() in any case.
 * @return false when memory is exhausted
 */
bool code_sections_read(struct runtime *runtime, struct code_sections *sections);
void code_sections_deinit(struct code_sections *sections);

struct method_bodies;
/** Append one body; false when memory is exhausted. */
bool method_bodies_add(struct method_bodies *bodies, uint64_t method_desc, uint64_t start,
		       bool is_precompiled);
/**
 * Append all bodies of @p section; what cannot be read makes them partial.  false when memory is
 * exhausted.
 */
bool jitted_bodies(struct runtime *runtime, const struct code_section *section,
		   struct method_bodies *bodies);
bool precompiled_bodies(struct runtime *runtime, const struct code_section *section,
			struct method_bodies *bodies);
