/* SPDX-License-Identifier: MIT */
/* Keys and values of collections as cells. */
#ifndef HEAPDUMP_SRC_COMMAND_ITEM_TEXT_H
#define HEAPDUMP_SRC_COMMAND_ITEM_TEXT_H

#include "analysis/collections/collection.h"
#include "command/objects/object.h"

/** Writing many keys, or many values, needs this. */
struct item_texts {
	struct call *call;
	struct window window;
	struct text shown, text; /**< of the last item */
	uint32_t units;          /**< of a string that are shown in text */
	bool is_key; /**< text has the type of an object, data the fields of a struct as text */
	const struct type *type; /**< of the fields that are known, or NULL */
	struct field_list fields;
};

void item_texts_init(struct item_texts *texts, struct call *call, bool is_full);
void item_texts_deinit(struct item_texts *texts);

/** A key or value; its cells are borrowed from its item_texts until the next one. */
struct item_shown {
	struct value_out value;
	const struct type *type; /**< of a reference that of the object; NULL: not known */
	struct cell type_cell;
	struct cell text;  /**< for data: what the value means, a string as a whole */
	struct cell shown; /**< for text: the value and what it means */
};

/** Read a key or value; all of @p ret is absent when there is none. */
void item_show(struct item_texts *texts, const struct item_value *item, struct item_shown *ret);

/** Is it a struct whose fields are known? */
bool item_is_struct(const struct item_shown *shown);

#endif
