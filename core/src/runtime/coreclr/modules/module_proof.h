/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/**
 * Compare the file of the image at @p base, which belongs to the runtime's Module @p module, with
 * what the runtime keeps about its metadata in its own memory: the number of rows of each table and
 * the sizes of the heaps.  Cores of gcore and of the kernel hold nothing else of a managed image.
 * Does nothing when no file is needed, or when there is nothing to compare.
 */
void module_prove_image(struct runtime *runtime, uint64_t module, uint64_t base);

/** The same for the image that @p module was loaded from; to be called before its code is read. */
void module_prove(struct runtime *runtime, uint64_t module);

/**
 * The same for all modules, if a file was opened that is not proven yet: code that follows
 * arbitrary words can read the file of a module that nobody asked for.
 */
void module_prove_all(struct runtime *runtime);
