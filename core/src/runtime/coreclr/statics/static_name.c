/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/statics/static.h"
#include "runtime/statics.h"
#include "util/field_label.h"
#include "util/text.h"

void coreclr_static_name(struct runtime *runtime, const struct static_slot *slot, struct text *text)
{
	const struct module *module = module_find(runtime, type_home_module(runtime, slot->type));
	size_t size;
	const char *type = type_name(runtime, slot->type, &size), *name = "";
	text_append(text, type, size);
	text_puts(text, ".");
	if (module && module->metadata) {
		name = metadata_string(
			module->metadata,
			metadata_column(module->metadata, MD_FIELD, slot->token & 0x00ffffff, 1));
	}
	name = field_label(name, strlen(name), &size);
	if (size) {
		text_append(text, name, size);
	} else {
		text_printf(text, "<field %08" PRIx32 ">", slot->token);
	}
}
