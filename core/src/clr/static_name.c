/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "clr/module.h"
#include "clr/static.h"
#include "util/text.h"

/* How compilers name the field of an auto-property. */
#define BACKING_SUFFIX ">k__BackingField"

void static_slot_name(struct clr *clr, const struct static_slot *slot, struct text *text)
{
	const struct module *module = module_find(clr, type_home_module(clr, slot->type));
	size_t size;
	const char *type = type_name(clr, slot->type, &size), *name = "";
	text_append(text, type, size);
	text_puts(text, ".");
	if (module && module->metadata) {
		name = metadata_string(
			module->metadata,
			metadata_column(module->metadata, MD_FIELD, slot->token & 0x00ffffff, 1));
	}
	size_t length = strlen(name), suffix = strlen(BACKING_SUFFIX);
	if (!length) {
		text_printf(text, "<field %08" PRIx32 ">", slot->token);
	} else if (name[0] == '<' && length > suffix + 1 &&
		   strcmp(name + length - suffix, BACKING_SUFFIX) == 0) {
		text_append(text, name + 1, length - suffix - 1);
	} else {
		text_append(text, name, length);
	}
}
