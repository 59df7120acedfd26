/* SPDX-License-Identifier: MIT */
/* The entries of types in .debug_info (doc/managed-elf.md 9). */
#include <string.h>

#include "managed_elf/dwarf.h"
#include "managed_elf/elf_types.h"
#include "managed_elf/names.h"
#include "runtime/coreclr/types/field.h"
#include "util/leb.h"

/* Where things are in an array or a string: after the MethodTable the length, and in arrays with bounds those. */
#define LENGTH_OFFSET     8u
#define BOUNDS_OFFSET     16u
#define STRING_CHARACTERS 12u
#define ARRAY_HEAD        24u /* of BaseSize, without bounds */
#define RANK_MAX          32u

/* Longest chain of base classes, and of structs whose first field is as large as they are. */
#define CHAIN_MAX 64u

/* Most fields of a type in which names of the compiler become those of the source: each is compared with all. */
#define RENAMED_MAX 512u

/* A unit while the entries of types are appended to it. */
struct entry_writer {
	struct elf_types *table;
	struct text *info;
	uint8_t element; /* of the enum that is written */
};

/* Primitives by enum element_type: their name, and the word of C for them, which debuggers know. */
static const struct base_type {
	const char *name, *word;
	uint8_t encoding;
} bases[] = {
	[ELEMENT_VOID] = { "System.Void", "void", 0 },
	[ELEMENT_BOOLEAN] = { "System.Boolean", "bool", ENCODING_BOOLEAN },
	[ELEMENT_CHAR] = { "System.Char", "char16_t", ENCODING_UTF },
	[ELEMENT_I1] = { "System.SByte", "signed char", ENCODING_SIGNED },
	[ELEMENT_U1] = { "System.Byte", "unsigned char", ENCODING_UNSIGNED },
	[ELEMENT_I2] = { "System.Int16", "short", ENCODING_SIGNED },
	[ELEMENT_U2] = { "System.UInt16", "unsigned short", ENCODING_UNSIGNED },
	[ELEMENT_I4] = { "System.Int32", "int", ENCODING_SIGNED },
	[ELEMENT_U4] = { "System.UInt32", "unsigned int", ENCODING_UNSIGNED },
	[ELEMENT_I8] = { "System.Int64", "long", ENCODING_SIGNED },
	[ELEMENT_U8] = { "System.UInt64", "unsigned long", ENCODING_UNSIGNED },
	[ELEMENT_R4] = { "System.Single", "float", ENCODING_FLOAT },
	[ELEMENT_R8] = { "System.Double", "double", ENCODING_FLOAT },
	[ELEMENT_I] = { "System.IntPtr", "long", ENCODING_SIGNED },
	[ELEMENT_U] = { "System.UIntPtr", "unsigned long", ENCODING_UNSIGNED },
};

const char *type_base_name(uint8_t element)
{
	return element < sizeof(bases) / sizeof(bases[0]) ? bases[element].name : NULL;
}

static void put_name(struct text *info, const char *name, size_t size)
{
	elf_name_append(info, name, size);
	text_append(info, "", 1);
}

static void put_string(struct text *info, const char *name)
{
	put_name(info, name, strlen(name));
}

static void put_type_name(struct entry_writer *writer, const struct type *type)
{
	size_t size;
	const char *name = type_name(writer->table->runtime, type, &size);
	put_name(writer->info, name, size);
}

/*
 * LLDB takes a struct with a `<` in its name for a template, shows the name without what follows, and takes all that have the
 * same name then for the same type.  So it is told what follows, as the only argument, in a pack, which GDB does not read.
 */
static void put_arguments(struct entry_writer *writer, const struct type *type)
{
	size_t size;
	const char *name = type_name(writer->table->runtime, type, &size);
	const char *begin = strchr(name, '<');
	if (!begin)
		return;
	size -= (size_t)(begin + 1 - name);
	if (size && begin[size] == '>')
		size--;
	uint32_t row = elf_types_word(writer->table, begin + 1, size);
	if (!row)
		return;
	text_uleb(writer->info, ABBREV_PACK);
	text_uleb(writer->info, ABBREV_PACKED);
	elf_types_use(writer->table, row, writer->info);
	text_fixed(writer->info, 0, 1);
}

/* A member; @return where its entry is. */
static uint32_t put_member(struct entry_writer *writer, const char *name, uint32_t row,
			   uint64_t offset)
{
	uint32_t entry = (uint32_t)writer->info->size;
	text_uleb(writer->info, ABBREV_MEMBER);
	put_string(writer->info, name);
	elf_types_use(writer->table, row, writer->info);
	text_uleb(writer->info, offset);
	writer->table->members++;
	return entry;
}

static uint32_t put_method_table(struct entry_writer *writer)
{
	return put_member(writer, "MethodTable", TYPE_ANYTHING, 0);
}

static uint32_t base_row_of(struct entry_writer *writer, uint8_t element)
{
	return elf_types_of(writer->table, element, NULL, "");
}

static void begin_struct(struct entry_writer *writer, const struct type *type, uint64_t size)
{
	text_uleb(writer->info, ABBREV_STRUCT);
	put_type_name(writer, type);
	text_uleb(writer->info, size);
}

static void end_entry(struct entry_writer *writer)
{
	text_fixed(writer->info, 0, 1);
}

void elf_entry_end(struct text *info, size_t begin, size_t children, uint8_t without)
{
	if (info->size > children) {
		text_fixed(info, 0, 1);
	} else if (!info->failed) {
		info->bytes[begin] = (char)without;
	}
}

/* An array type of elements whose number is in another member. */
static uint32_t put_counted_array(struct entry_writer *writer, uint32_t element, uint32_t length)
{
	uint32_t entry = (uint32_t)writer->info->size;
	text_uleb(writer->info, ABBREV_ARRAY);
	elf_types_use(writer->table, element, writer->info);
	text_uleb(writer->info, ABBREV_COUNT_IN_MEMBER);
	text_fixed(writer->info, length, 4);
	end_entry(writer);
	return entry;
}

/* The same of a number that is known. */
static uint32_t put_fixed_array(struct entry_writer *writer, uint32_t element, uint64_t count)
{
	uint32_t entry = (uint32_t)writer->info->size;
	text_uleb(writer->info, ABBREV_ARRAY);
	elf_types_use(writer->table, element, writer->info);
	text_uleb(writer->info, ABBREV_COUNT);
	text_uleb(writer->info, count);
	end_entry(writer);
	return entry;
}

/* A member whose type comes after the struct; @return where the reference to it is. */
static uint32_t put_later_member(struct entry_writer *writer, const char *name, uint64_t offset)
{
	text_uleb(writer->info, ABBREV_MEMBER);
	put_string(writer->info, name);
	uint32_t place = (uint32_t)writer->info->size;
	text_fixed(writer->info, 0, 4);
	text_uleb(writer->info, offset);
	writer->table->members++;
	return place;
}

static void set_reference(struct entry_writer *writer, uint32_t place, uint32_t entry)
{
	if (!writer->info->failed)
		memcpy(writer->info->bytes + place, &entry, sizeof(entry));
}

static void put_string_type(struct entry_writer *writer, const struct type *type)
{
	begin_struct(writer, type, STRING_CHARACTERS);
	(void)put_method_table(writer);
	uint32_t length =
		put_member(writer, "length", base_row_of(writer, ELEMENT_I4), LENGTH_OFFSET);
	uint32_t place = put_later_member(writer, "chars", STRING_CHARACTERS);
	end_entry(writer);
	set_reference(writer, place,
		      put_counted_array(writer, base_row_of(writer, ELEMENT_CHAR), length));
}

/* The elements of an array; TYPE_UNKNOWN where their size is another one than the array's. */
static uint32_t element_row(struct entry_writer *writer, const struct type *type)
{
	uint64_t handle = type->links.per_inst;
	const struct type *element = handle & 2 ? NULL : type_find(writer->table->runtime, handle);
	uint32_t row = element ? elf_types_stored(writer->table, element) : TYPE_ANYTHING;
	return elf_types_size(writer->table, row) == type->component_size ? row : TYPE_UNKNOWN;
}

static void put_array_type(struct entry_writer *writer, const struct type *type)
{
	uint32_t element = element_row(writer, type), data = 0, lengths = 0, bounds = 0, entry;
	uint32_t rank = type->category == CATEGORY_MD_ARRAY && type->base_size >= ARRAY_HEAD
				? (type->base_size - ARRAY_HEAD) / 8
				: 0;
	begin_struct(writer, type, type->base_size - DWARF_ADDRESS);
	put_arguments(writer, type);
	(void)put_method_table(writer);
	uint32_t length =
		put_member(writer, "length", base_row_of(writer, ELEMENT_I4), LENGTH_OFFSET);
	if (rank && rank <= RANK_MAX) {
		lengths = put_later_member(writer, "lengths", BOUNDS_OFFSET);
		bounds = put_later_member(writer, "bounds", BOUNDS_OFFSET + 4 * (uint64_t)rank);
	}
	if (element)
		data = put_later_member(writer, "data", type->base_size - DWARF_ADDRESS);
	end_entry(writer);
	if (bounds) {
		entry = put_fixed_array(writer, base_row_of(writer, ELEMENT_I4), rank);
		set_reference(writer, lengths, entry);
		set_reference(writer, bounds, entry);
	}
	if (data)
		set_reference(writer, data, put_counted_array(writer, element, length));
}

/* The base class of @p type; NULL: there is none, or the chain of them has no end. */
static const struct type *base_of(struct entry_writer *writer, const struct type *type)
{
	struct runtime *runtime = writer->table->runtime;
	const struct type *base = type->parent ? type_find(runtime, type->parent) : NULL,
			  *at = base;
	if (type_is_struct(type) || !base || base->category != CATEGORY_CLASS ||
	    elf_types_content_size(writer->table, base) >
		    elf_types_content_size(writer->table, type))
		return NULL;
	for (unsigned int i = 0; at; i++) {
		if (i == CHAIN_MAX)
			return NULL;
		at = at->parent ? type_find(runtime, at->parent) : NULL;
	}
	return base;
}

/*
 * The struct that is all of @p type: a field as large as itself.  Debuggers would not come to an end if such a chain led back
 * to its beginning.
 */
static const struct type *only_part(struct entry_writer *writer, const struct type *type)
{
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	struct elf_types *table = writer->table;
	if (field_list_read(table->runtime, type, &list, NULL) != HD_OK)
		return NULL;
	for (size_t i = 0; i < list.count; i++) {
		const struct field *field = &list.rows[i];
		if (field->is_static || !field->type || !type_is_struct(field->type))
			continue;
		uint32_t row = elf_types_stored(table, field->type);
		if (table->rows[row].kind == KIND_STRUCT &&
		    elf_types_size(table, row) >= elf_types_content_size(table, type))
			return field->type;
	}
	return NULL;
}

static bool chain_ends(struct entry_writer *writer, const struct type *type)
{
	unsigned int count = 0;
	for (; type && count < CHAIN_MAX; count++)
		type = only_part(writer, type);
	return !type;
}

/* The fields of a type while they are written. */
struct member_list {
	const struct type *type;
	const struct field_list *fields;
	uint64_t size;       /* of the content */
	uint64_t head;       /* bytes in front of the first field */
	bool has_whole_part; /* a struct that is as large as all was met: no other one is asked about */
};

/* Can a member of that type be there? */
static bool is_sound(struct entry_writer *writer, struct member_list *members,
		     const struct field *field, uint32_t row)
{
	const struct elf_types *table = writer->table;
	uint64_t size = elf_types_size(table, row), at = members->head + field->offset;
	if (!row || !size || at + size > members->size)
		return false;
	if (table->rows[row].kind != KIND_STRUCT || size < members->size)
		return true;
	/* The chain is followed once for each type: it may be long, and a hostile type has many such fields. */
	if (members->has_whole_part)
		return false;
	members->has_whole_part = true;
	return chain_ends(writer, field->type);
}

static bool has_field(const struct member_list *members, const char *name, size_t size)
{
	for (size_t i = 0; i < members->fields->count; i++) {
		const struct field *field = &members->fields->rows[i];
		if (!field->is_static && strncmp(field->name, name, size) == 0 &&
		    !field->name[size])
			return true;
	}
	return false;
}

const char *elf_field_word(const char *name, size_t *ret_size)
{
	const size_t length = strlen(name);
	if (*name != '<' && length > 1 && name[length - 1] == '@') {
		*ret_size = length - 1;
		return name;
	}
	const char *end = *name == '<' ? strchr(name, '>') : NULL;
	size_t size = end ? (size_t)(end - name - 1) : 0;
	bool is_made = size && (strcmp(end, ">k__BackingField") == 0 ||
				(end[1] == '5' && end[2] == '_' && end[3] == '_'));
	*ret_size = is_made ? size : 0;
	return name + 1;
}

/* Debuggers cannot read names with a `<`. */
static void put_field_name(struct entry_writer *writer, const struct member_list *members,
			   const char *name)
{
	size_t size;
	const char *word = elf_field_word(name, &size);
	if (size && members->fields->count <= RENAMED_MAX && !has_field(members, word, size)) {
		put_name(writer->info, word, size);
	} else {
		put_string(writer->info, name);
	}
}

static void put_field(struct entry_writer *writer, struct member_list *members,
		      const struct field *field)
{
	uint32_t row =
		elf_types_of(writer->table, field->element_type, field->type, field->type_name);
	if (writer->table->members >= MEMBERS_MAX || !is_sound(writer, members, field, row))
		return;
	text_uleb(writer->info, ABBREV_MEMBER);
	put_field_name(writer, members, field->name);
	elf_types_use(writer->table, row, writer->info);
	text_uleb(writer->info, members->head + field->offset);
	writer->table->members++;
}

static enum hd_status put_struct(struct entry_writer *writer, const struct type *type, uint32_t row,
				 struct hd_error *err)
{
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	bool is_value = type_is_struct(type);
	const struct type *base = base_of(writer, type);
	struct member_list members = { .type = type,
				       .fields = &list,
				       .size = elf_types_size(writer->table, row),
				       .head = is_value ? 0 : DWARF_ADDRESS };
	size_t begin = writer->info->size;
	begin_struct(writer, type, members.size);
	size_t children = writer->info->size;
	put_arguments(writer, type);
	if (base) {
		text_uleb(writer->info, ABBREV_BASE_CLASS);
		elf_types_use(writer->table, elf_types_content(writer->table, base), writer->info);
		text_uleb(writer->info, 0);
	} else if (!is_value) {
		(void)put_method_table(writer);
	}
	if (writer->table->members < MEMBERS_MAX &&
	    field_list_read(writer->table->runtime, type, &list, err) == HD_ERR_NOMEM)
		return HD_ERR_NOMEM;
	for (size_t i = 0; i < list.count; i++) {
		if (!list.rows[i].is_static && list.rows[i].declaring == type)
			put_field(writer, &members, &list.rows[i]);
	}
	elf_entry_end(writer->info, begin, children, ABBREV_EMPTY_STRUCT);
	return HD_OK;
}

/* The number that an enum is stored as. */
static uint8_t enum_element(struct entry_writer *writer, const struct type *type)
{
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	if (field_list_read(writer->table->runtime, type, &list, NULL) != HD_OK)
		return 0;
	for (size_t i = 0; i < list.count; i++) {
		if (!list.rows[i].is_static)
			return list.rows[i].element_type;
	}
	return 0;
}

static int64_t signed_value(uint8_t element, uint64_t value)
{
	switch (element) {
	case ELEMENT_I1:
		return (int8_t)value;
	case ELEMENT_I2:
		return (int16_t)value;
	case ELEMENT_I4:
		return (int32_t)value;
	default:
		return (int64_t)value;
	}
}

static void put_enumerator(void *arg, const char *name, uint64_t value)
{
	struct entry_writer *writer = arg;
	if (writer->table->members++ >= MEMBERS_MAX)
		return;
	text_uleb(writer->info, ABBREV_ENUMERATOR);
	put_string(writer->info, name);
	text_sleb(writer->info, signed_value(writer->element, value));
}

static void put_enum(struct entry_writer *writer, const struct type *type)
{
	uint8_t element = enum_element(writer, type);
	uint32_t base = base_row_of(writer, element);
	size_t begin = writer->info->size;
	writer->element = element;
	text_uleb(writer->info, ABBREV_ENUM);
	put_type_name(writer, type);
	elf_types_use(writer->table, base ? base : base_row_of(writer, ELEMENT_I4), writer->info);
	text_uleb(writer->info, base ? element_size(element) : 4);
	size_t children = writer->info->size;
	enum_constants(writer->table->runtime, type, put_enumerator, writer);
	elf_entry_end(writer->info, begin, children, ABBREV_EMPTY_ENUM);
}

static enum hd_status put_content(struct entry_writer *writer, uint32_t number,
				  struct hd_error *err)
{
	const struct type *type = writer->table->rows[number].type;
	switch (type->category) {
	case CATEGORY_SZ_ARRAY:
	case CATEGORY_MD_ARRAY:
		put_array_type(writer, type);
		return HD_OK;
	default:
		if (!type->is_string)
			return put_struct(writer, type, number, err);
		put_string_type(writer, type);
		return HD_OK;
	}
}

static void put_address(struct entry_writer *writer, const struct type_row *row)
{
	if (!row->target) {
		text_uleb(writer->info, ABBREV_POINTER_TO_ANYTHING);
	} else {
		text_uleb(writer->info,
			  row->kind == KIND_POINTER ? ABBREV_POINTER : ABBREV_REFERENCE);
		elf_types_use(writer->table, row->target, writer->info);
	}
	text_fixed(writer->info, DWARF_ADDRESS, 1);
}

/* A name for a type of C, which comes after it. */
static void put_base(struct entry_writer *writer, const struct base_type *base, uint64_t size)
{
	text_uleb(writer->info, ABBREV_TYPEDEF);
	put_string(writer->info, base->name);
	size_t place = writer->info->size;
	text_fixed(writer->info, 0, 4);
	set_reference(writer, (uint32_t)place, (uint32_t)writer->info->size);
	text_uleb(writer->info, ABBREV_BASE);
	put_string(writer->info, base->word);
	text_fixed(writer->info, base->encoding, 1);
	text_fixed(writer->info, size, 1);
}

static enum hd_status put_row(struct entry_writer *writer, uint32_t number, struct hd_error *err)
{
	const struct type_row row = writer->table->rows[number];
	writer->table->rows[number].entry = (uint32_t)writer->info->size;
	switch (row.kind) {
	case KIND_BASE:
		put_base(writer, &bases[row.target], element_size((uint8_t)row.target));
		break;
	case KIND_STRUCT:
		return put_content(writer, number, err);
	case KIND_ENUM:
		put_enum(writer, row.type);
		break;
	case KIND_POINTER:
	case KIND_REFERENCE:
		put_address(writer, &row);
		break;
	default:
		text_uleb(writer->info, ABBREV_DECLARATION);
		put_string(writer->info, row.name);
		break;
	}
	return HD_OK;
}

static void set_uses(struct entry_writer *writer)
{
	const struct elf_types *table = writer->table;
	for (size_t i = 0; i < table->uses_count; i++) {
		uint32_t row;
		memcpy(&row, writer->info->bytes + table->uses[i], sizeof(row));
		set_reference(writer, table->uses[i], table->rows[row].entry);
	}
}

enum hd_status elf_types_write(struct elf_types *table, struct job *job, struct text *info,
			       struct hd_error *err)
{
	struct entry_writer writer = { .table = table, .info = info };
	/* Writing one appends those that it needs. */
	for (uint32_t i = 1; i < table->rows_count; i++) {
		TRY(put_row(&writer, i, err));
		TRY_MEMORY(!table->failed && !info->failed, err);
		TRY(job_check_memory(job, info->size, err));
		TRY(job_check(job, 1, err));
	}
	set_uses(&writer);
	return HD_OK;
}
