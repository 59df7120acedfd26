/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/fake_clr.h"
#include "support/metadata_maker.h"

/* Structures that hang on the modules of a fake runtime, at the offsets that .NET 10 has. */

enum {
	FAKE_MODULE_PATH = 200,
	FAKE_MODULE_PE_ASSEMBLY = 216,
	FAKE_MODULE_IMAGE = 224,
	FAKE_MODULE_ASSEMBLY = 248,
	FAKE_MODULE_TYPE_DEFS = 416,
	FAKE_MODULE_METHODS = 448,
	FAKE_MODULE_FIELDS = 512,
	FAKE_MODULE_TYPE_PARAMS = 600,
	FAKE_MODULE_READY_TO_RUN = 704,
	FAKE_MODULE_DYNAMIC_METADATA = 840,
	FAKE_MODULE_SIZE = 1280,
};

/** Another Module, all of it zero. */
uint64_t fake_module(struct fake_clr *fake);
/** Metadata of a module as Reflection.Emit leaves it: no image. */
void fake_metadata(struct fake_clr *fake, uint64_t module, const struct metadata_maker *maker);
/** A PE image, in @p memory (NULL: the target's own), and the objects that lead to it. */
uint64_t fake_image(struct fake_clr *fake, uint64_t module, const struct metadata_maker *maker,
		    const struct image_kind *kind, struct fake_memory *memory);
/** The AppDomain, with these modules in its list (0 = an emptied slot); after fake_runtime(). */
void fake_domain(struct fake_clr *fake, const uint64_t *modules, size_t count);
/** A lookup map of @p count pointers at @p address. */
void fake_lookup_map(struct fake_clr *fake, uint64_t address, const uint64_t *values,
		     uint32_t count);
/** The table of constructed types of @p module, with one bucket for every two. */
void fake_type_params(struct fake_clr *fake, uint64_t module, const uint64_t *handles,
		      uint32_t count);
/** Generic arguments of a MethodTable. */
void fake_arguments(struct fake_clr *fake, uint64_t method_table, const uint64_t *arguments,
		    uint16_t count);
/** A TypeDesc handle: pointer or byref to @p argument. */
uint64_t fake_param_type(struct fake_clr *fake, uint8_t element, uint64_t argument);
/** FieldDescs of a type: pairs of words as in field.h. */
void fake_field_descs(struct fake_clr *fake, uint64_t method_table, uint16_t instance,
		      uint16_t statics, const uint32_t (*words)[2], size_t count);
/** A MethodDesc of a chunk of its own. */
uint64_t fake_method_desc(struct fake_clr *fake, uint64_t method_table, uint32_t rid);
