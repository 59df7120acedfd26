/* SPDX-License-Identifier: MIT */
#include "util/field_label.h"

#include <string.h>

#include "util/text.h"

/* The bracket that closes the one that @p name begins with; @p size: none does. */
static size_t closing(const char *name, size_t size)
{
	size_t depth = 0, i = 0;
	for (; i < size; i++) {
		depth += name[i] == '<';
		if (name[i] == '>' && !--depth)
			break;
	}
	return i;
}

/* Is @p rest what follows the name of a property, a variable, or a parameter of a class? */
static bool is_of_named(const char *rest, size_t size)
{
	static const char variable[] = "5__";
	return (size == strlen("k__BackingField") && memcmp(rest, "k__BackingField", size) == 0) ||
	       (size > strlen(variable) && memcmp(rest, variable, strlen(variable)) == 0) ||
	       (size == 1 && *rest == 'P');
}

const char *field_label(const char *name, size_t size, size_t *ret_size)
{
	static const char this[] = "<>4__this";
	*ret_size = size;
	if (size == strlen(this) && memcmp(name, this, size) == 0) {
		*ret_size = strlen("this");
		return "this";
	}
	if (size > 1 && name[size - 1] == '@') { /* F# */
		(*ret_size)--;
		return name;
	}
	size_t close = size && *name == '<' ? closing(name, size) : size;
	if (close < 2 || close == size || !is_of_named(name + close + 1, size - close - 1))
		return name;
	*ret_size = close - 1;
	return name + 1;
}

bool field_is_made(const char *name, size_t size)
{
	return (size > 2 && memcmp(name, "<>", 2) == 0) ||
	       (size > 5 && memcmp(name, "CS$<>", 5) == 0);
}

static size_t name_size(const char *name, size_t size)
{
	size_t depth = 0, i = 0;
	for (; i < size && (depth || (name[i] != '.' && name[i] != '[')); i++) {
		depth += name[i] == '<';
		depth -= name[i] == '>' && depth;
	}
	return i;
}

size_t field_name_size(const char *name)
{
	return name_size(name, strlen(name));
}

void field_labels_append(struct text *text, const char *link, size_t size)
{
	for (size_t i = 0; i < size;) {
		size_t length = name_size(link + i, size - i), label_size;
		const char *label = field_label(link + i, length, &label_size);
		text_append(text, label, label_size);
		i += length;
		if (i < size)
			text_append(text, link + i++, 1);
	}
}
