/* SPDX-License-Identifier: MIT */
#pragma once

#include "native/memory_account.h"

/** A part of one mapping that one owner has. */
struct memory_region {
	uint64_t start, end;
	const struct memory_mapping *mapping; /**< of the account */
	enum memory_kind kind; /**< all parts of arenas of malloc count as MEMORY_MALLOC_USED */
	const char *owner;     /**< as in the row; or NULL */
	bool is_reserved;      /**< only addresses: the program cannot use them as they are */
	bool is_blamed;        /**< kind is that of the region before it: memory_regions_blame() */
};

struct memory_regions {
	struct memory_region *rows; /**< ascending */
	size_t rows_count, rows_capacity;
};

/**
 * Take the mappings of an account apart by owner.
 *
 * @param[out] ret To be given to memory_regions_deinit(); borrows from @p account.  Untouched on
 * failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status memory_regions_read(const struct memory_account *account,
						struct memory_regions *ret, struct hd_error *err);
void memory_regions_deinit(struct memory_regions *regions);

/**
 * Give what is only reserved, and has no owner, to the one in front of it, which is a guess: mostly that
 * has reserved it to grow.
 */
void memory_regions_blame(struct memory_regions *regions);

/** Room for both texts of a kind. */
#define MEMORY_REGION_TEXT 96u

/**
 * The kind of a region in words for a person: "native heap: malloc", "[native heap: malloc,
 * reserve]".
 */
const char *memory_region_text(enum memory_kind kind, bool is_blamed, char buf[MEMORY_REGION_TEXT]);
/** The word for it in data: "malloc-used", "malloc-used-reserve". */
const char *memory_region_word(enum memory_kind kind, bool is_blamed, char buf[MEMORY_REGION_TEXT]);
/** The name that SOS has for it: "GCHeap", "Stack", "Image"; NULL: it goes by its protection there. */
const char *memory_region_sos_name(const struct memory_region *region);
/** The protection as SOS writes it: "PAGE_READWRITE". */
const char *memory_protection_name(uint32_t flags);
