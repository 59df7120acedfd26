/* SPDX-License-Identifier: MIT */
#include "stack/explicit_frame.h"
#include "util/alloc.h"

void frame_chain_deinit(struct frame_chain *chain)
{
	pages_free(chain->rows, chain->rows_capacity, sizeof(*chain->rows));
	*chain = (struct frame_chain){ 0 };
}
