/* SPDX-License-Identifier: MIT */
#include "metadata/attribute.h"

#include <string.h>

/* Does a constructor (CustomAttributeType: tag 2 MethodDef, 3 MemberRef) belong to the named attribute? */
static bool is_constructor_of(const struct metadata *metadata, uint32_t constructor,
			      const char *name)
{
	const char *point = strrchr(name, '.');
	enum md_table table = MD_TYPE_DEF;
	uint32_t rid = 0;
	if ((constructor & 7) == 2) {
		rid = metadata_owner(metadata, MD_METHOD, constructor >> 3);
	} else if ((constructor & 7) == 3) { /* MemberRefParent: tag 0 TypeDef, 1 TypeRef */
		uint32_t parent = metadata_column(metadata, MD_MEMBER_REF, constructor >> 3, 0);
		if ((parent & 7) > 1)
			return false;
		table = parent & 1 ? MD_TYPE_REF : MD_TYPE_DEF;
		rid = parent >> 3;
	}
	size_t space_size = point ? (size_t)(point - name) : 0;
	const char *last = metadata_string(metadata, metadata_column(metadata, table, rid, 1));
	const char *space = metadata_string(metadata, metadata_column(metadata, table, rid, 2));
	return strcmp(last, point ? point + 1 : name) == 0 && strlen(space) == space_size &&
	       memcmp(space, name, space_size) == 0;
}

/* HasCustomAttribute: tag 3 is a TypeDef. */
const uint8_t *metadata_type_attribute(const struct metadata *metadata, uint32_t rid,
				       const char *name, uint32_t *ret_size)
{
	uint32_t key = rid << 5 | 3, rows = metadata->tables[MD_CUSTOM_ATTRIBUTE].rows;
	bool is_sorted = !metadata->has_pointer_tables;
	uint32_t row = is_sorted ? metadata_search(metadata, MD_CUSTOM_ATTRIBUTE, 0, key) : 1;
	for (; row <= rows; row++) {
		if (metadata_column(metadata, MD_CUSTOM_ATTRIBUTE, row, 0) != key) {
			if (is_sorted)
				return NULL;
			continue;
		}
		if (is_constructor_of(metadata,
				      metadata_column(metadata, MD_CUSTOM_ATTRIBUTE, row, 1),
				      name)) {
			return metadata_blob(metadata,
					     metadata_column(metadata, MD_CUSTOM_ATTRIBUTE, row, 2),
					     ret_size);
		}
	}
	return NULL;
}
