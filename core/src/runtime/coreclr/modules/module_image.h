/* SPDX-License-Identifier: MIT */
#pragma once

#include "metadata/image.h"
#include "runtime/coreclr/modules/module.h"

/** Most bytes of metadata of one module, and of all modules together. */
#define MODULE_METADATA_MAX   ((uint32_t)256 << 20)
#define MODULE_METADATA_TOTAL ((uint64_t)1 << 30)

/** Most segments of a lookup map that are read. */
#define LOOKUP_SEGMENTS_MAX 1024u

/**
 * Read path, image and metadata of @p module.  What is missing is told in its member missing and in
 * the target's findings.
 *
 * @param budget Bytes of metadata that may still be read.
 */
void module_load(struct runtime *runtime, struct module *module, uint64_t *budget);

/**
 * The UTF-16 string at @p address as UTF-8, to be given to mem_free(); NULL: there is none, it is
 * missing, or memory is exhausted.
 */
char *runtime_read_utf16(struct runtime *runtime, uint64_t address);

/**
 * Address of the image that the runtime's Module @p module was loaded from.
 *
 * @param[out] ret_is_mapped The sections lie at their RVAs; otherwise they lie as in the file.
 * @return false: it has no image, or it is not known
 */
bool module_base(struct runtime *runtime, uint64_t module, uint64_t *ret_base, bool *ret_is_mapped);
