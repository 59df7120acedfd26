/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/names.h"

#include <inttypes.h>

#include "util/text.h"

enum hd_status aot_names_read(struct runtime *runtime, struct hd_error *err)
{
	(void)runtime;
	(void)err;
	return HD_OK;
}

void aot_names_destroy(struct runtime *runtime)
{
	(void)runtime;
}

uint64_t aot_known_type(const struct runtime *runtime, enum aot_known type)
{
	(void)runtime;
	(void)type;
	return 0;
}

void aot_type_name(struct runtime *runtime, uint64_t method_table, struct text *text)
{
	if (method_table == runtime->tables.free) {
		text_printf(text, "Free");
	} else {
		text_printf(text, "<unknown type %" PRIx64 ">", method_table);
	}
}
