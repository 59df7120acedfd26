/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_CLR_MODULE_PROOF_H
#define HEAPDUMP_SRC_CLR_MODULE_PROOF_H

#include "clr/clr.h"

/**
 * Have the file of the image at @p base, of the runtime's Module @p module, compared with what the runtime
 * keeps of its metadata in its own memory: the numbers of rows of all tables and the sizes of the heaps.
 * Cores of gcore and of the kernel hold nothing else of a managed image.  Nothing is said where no file
 * is needed, or there is nothing to compare.
 */
void module_prove_image(struct clr *clr, uint64_t module, uint64_t base);

/** The same for the image that @p module was loaded from; before its code is read. */
void module_prove(struct clr *clr, uint64_t module);

/**
 * The same for all modules, if a file that nothing has proven yet was opened: whoever reads words that may be
 * anything can meet a file whose module nobody asked for.
 */
void module_prove_all(struct clr *clr);

#endif
