/* SPDX-License-Identifier: MIT */
/*
 * The layout of the compiler (MetadataFieldLayoutAlgorithm.cs of src/coreclr/tools/Common): doc/nativeaot.md 7.1.
 */
#include "framework/offsets/net_layout.h"

#include <string.h>

#include "framework/offsets/net_rows.h"

/* Values are 1, 2, 4 or 8 bytes large: the power of two of the largest. */
#define LARGEST 3u
/* A struct that is larger does not exist. */
#define SIZE_MAX_OF_VALUE ((uint32_t)1 << 20)

static const struct net_rows {
	const struct net_layout_row *rows;
	const size_t *count;
} all_rows[] = {
	{ net_rows_collections, &net_rows_collections_count },
	{ net_rows_tasks, &net_rows_tasks_count },
	{ net_rows_threading, &net_rows_threading_count },
	{ net_rows_servers, &net_rows_servers_count },
	{ net_rows_http, &net_rows_http_count },
	{ net_rows_others, &net_rows_others_count },
};

const struct net_layout_row *net_layout_at(size_t index)
{
	for (size_t i = 0; i < sizeof(all_rows) / sizeof(all_rows[0]); i++) {
		if (index < *all_rows[i].count)
			return &all_rows[i].rows[index];
		index -= *all_rows[i].count;
	}
	return NULL;
}

const struct net_layout_row *net_layout_find(const char *name, size_t size, unsigned int release,
					     unsigned int index)
{
	const struct net_layout_row *row;
	for (size_t i = 0; (row = net_layout_at(i)); i++) {
		if (row->first <= release && release <= row->last &&
		    net_name_is(row->name, name, size) && index-- == 0)
			return row;
	}
	return NULL;
}

uint32_t net_code_size(char code)
{
	switch (code) {
	case 'z': /* bool */
	case 'a': /* sbyte */
	case 'b': /* byte */
		return 1;
	case 'c': /* char */
	case 's': /* short */
	case 't': /* ushort */
		return 2;
	case 'i': /* int */
	case 'j': /* uint */
	case 'f': /* float */
		return 4;
	case 'l': /* long */
	case 'm': /* ulong */
	case 'd': /* double */
	case 'n': /* IntPtr */
	case 'u': /* UIntPtr */
	case 'p': /* a pointer */
	case 'o':
		return 8;
	default:
		return 0;
	}
}

/* A field while it has no offset yet. */
struct unplaced {
	size_t field; /* index in the layout; fields inside of it come after it */
	struct net_value value;
	uint32_t offset; /* that it says */
	bool is_placed;
};

struct placing {
	struct net_layout *layout;
	struct unplaced rows[NET_FIELDS_MAX];
	size_t count;
	uint32_t at, align;
	bool has_references;
};

static uint32_t parse_number(const char **at)
{
	uint32_t number = 0;
	for (; **at >= '0' && **at <= '9'; (*at)++)
		number = number * 10 + (uint32_t)(**at - '0');
	return number;
}

/* "l", "!1", "v16,8", and what the field is then. */
static bool parse_code(const char **at, const struct net_value *arguments, size_t arguments_count,
		       struct net_field *field, struct net_value *ret)
{
	field->code = *(*at)++;
	*ret = (struct net_value){ .code = field->code, .has_references = field->code == 'o' };
	if (field->code == '!') {
		field->argument = (uint8_t)parse_number(at);
		if (field->argument >= arguments_count)
			return false;
		*ret = arguments[field->argument];
	} else if (field->code == 'v' || field->code == 'w') {
		ret->code = 0;
		ret->has_references = field->code == 'w';
		ret->size = parse_number(at);
		ret->align = 1;
		if (**at == ',') {
			(*at)++;
			ret->align = parse_number(at);
		}
	} else {
		ret->size = ret->align = net_code_size(field->code);
	}
	field->size = ret->size;
	return ret->size && ret->size <= SIZE_MAX_OF_VALUE && ret->align &&
	       ret->align <= ret->size && !(ret->align & (ret->align - 1));
}

/* Take the fields of @p row apart. */
static bool parse_fields(const struct net_layout_row *row, const struct net_value *arguments,
			 size_t arguments_count, struct placing *placing)
{
	const char *at = row->fields;
	struct net_layout *layout = placing->layout;
	while (*at) {
		struct net_field field = { .is_inside = *at == '+' };
		struct net_value value;
		at += field.is_inside;
		field.name = at;
		field.name_size = (uint32_t)strcspn(at, " ");
		at += field.name_size + (at[field.name_size] == ' ');
		if (layout->count == NET_FIELDS_MAX ||
		    !parse_code(&at, arguments, arguments_count, &field, &value))
			return false;
		if (*at == '@') {
			at++;
			field.offset = parse_number(&at);
		}
		if (!field.is_inside) {
			placing->rows[placing->count++] = (struct unplaced){
				.field = layout->count, .value = value, .offset = field.offset
			};
			placing->has_references |= value.has_references;
		}
		layout->fields[layout->count++] = field;
		at += *at == ';';
	}
	return true;
}

/* Put a field to @p offset, and those that are inside of it. */
static void put(struct placing *placing, struct unplaced *row, uint32_t offset, uint32_t align)
{
	struct net_layout *layout = placing->layout;
	layout->fields[row->field].offset = offset;
	for (size_t i = row->field + 1; i < layout->count && layout->fields[i].is_inside; i++)
		layout->fields[i].offset += offset;
	if (offset + row->value.size > placing->at)
		placing->at = offset + row->value.size;
	if (align > placing->align)
		placing->align = align;
	row->is_placed = true;
}

static void put_next(struct placing *placing, struct unplaced *row, uint32_t align)
{
	put(placing, row, (placing->at + align - 1) & ~(align - 1), align);
}

/* Is it a reference, or a number of 1 << power bytes? */
static bool is_plain(const struct unplaced *row, unsigned int power, bool is_reference)
{
	return !row->is_placed && row->value.code && row->value.size == 1u << power &&
	       (row->value.code == 'o') == is_reference;
}

/* The first such field that has no place yet; NULL: there is none. */
static struct unplaced *find_plain(struct placing *placing, unsigned int power, bool is_reference)
{
	for (size_t i = 0; i < placing->count; i++) {
		if (is_plain(&placing->rows[i], power, is_reference))
			return &placing->rows[i];
	}
	return NULL;
}

static bool has_larger(struct placing *placing, unsigned int power)
{
	for (unsigned int i = power + 1; i <= LARGEST; i++) {
		if (find_plain(placing, i, false))
			return true;
	}
	return find_plain(placing, LARGEST, true) != NULL;
}

/* Small fields come right behind those of the base class, as long as larger ones would leave a gap there. */
static void fill_gap(struct placing *placing)
{
	if (placing->at % 8 == 0)
		return;
	for (unsigned int i = 0; i < LARGEST; i++) {
		struct unplaced *small = NULL;
		if (placing->at % (2u << i) == 0)
			continue;
		if (!has_larger(placing, i))
			return;
		unsigned int power = i + 1;
		while (!small && power-- > 0)
			small = find_plain(placing, power, false);
		if (!small)
			return;
		i = power;
		put_next(placing, small, 1u << i);
	}
}

static void put_plain(struct placing *placing, unsigned int power, bool is_reference)
{
	for (size_t i = 0; i < placing->count; i++) {
		if (is_plain(&placing->rows[i], power, is_reference))
			put_next(placing, &placing->rows[i], 1u << power);
	}
}

/* Large ones first, and references before numbers; structs come last. */
static void place_by_size(struct placing *placing)
{
	fill_gap(placing);
	put_plain(placing, LARGEST, true);
	for (unsigned int power = LARGEST + 1; power-- > 0;)
		put_plain(placing, power, false);
	for (size_t i = 0; i < placing->count; i++) {
		if (!placing->rows[i].is_placed)
			put_next(placing, &placing->rows[i], placing->rows[i].value.align);
	}
}

static void place_in_order(struct placing *placing, uint32_t pack)
{
	for (size_t i = 0; i < placing->count; i++) {
		uint32_t align = placing->rows[i].value.align;
		put_next(placing, &placing->rows[i], pack && pack < align ? pack : align);
	}
}

static void place_as_said(struct placing *placing, uint32_t begin)
{
	for (size_t i = 0; i < placing->count; i++) {
		struct unplaced *row = &placing->rows[i];
		put(placing, row, begin + row->offset, row->value.align);
	}
}

/* Is the order of the fields that of the source?  Not where references are among them. */
static bool is_in_order(const struct placing *placing, const struct net_layout_row *row)
{
	return (row->kind == NET_CLASS_IN_ORDER || row->kind == NET_STRUCT_IN_ORDER) &&
	       !placing->has_references;
}

static void place(struct placing *placing, const struct net_layout_row *row, uint32_t begin)
{
	uint32_t least = begin + row->size;
	if (row->kind == NET_CLASS_EXPLICIT || row->kind == NET_STRUCT_EXPLICIT) {
		place_as_said(placing, begin);
	} else if (row->kind == NET_STRUCT_INLINE) {
		place_in_order(placing, 0);
		placing->at *= row->size;
		return;
	} else if (is_in_order(placing, row)) {
		place_in_order(placing, row->pack);
	} else {
		place_by_size(placing);
		return;
	}
	if (row->size && placing->at < least)
		placing->at = least;
}

bool net_layout_make(const struct net_layout_row *row, const struct net_value *arguments,
		     size_t arguments_count, uint32_t begin, struct net_layout *ret)
{
	struct placing placing;
	ret->count = 0;
	placing.layout = ret;
	placing.count = 0;
	placing.at = begin;
	placing.align = 1;
	placing.has_references = false;
	if (!parse_fields(row, arguments, arguments_count, &placing))
		return false;
	place(&placing, row, begin);
	ret->end = placing.at;
	ret->size = placing.at;
	if (row->kind >= NET_STRUCT) {
		uint32_t size = placing.at ? placing.at : 1;
		ret->size = (size + placing.align - 1) & ~(placing.align - 1);
	}
	ret->align = placing.align;
	ret->has_references = placing.has_references;
	return true;
}
