/* SPDX-License-Identifier: MIT */
/*
 * Outer classes of nested types.  The runtime sends only the simple name of a nested class; its
 * TypeDef in the assembly's file has the rest, if that is the file that was loaded: then all types
 * of the module have there the names that were sent.
 */
#include <errno.h>
#include <string.h>

#include "format/format.h"
#include "format/nettrace/nettrace_types.h"
#include "mem/file_memory.h"
#include "mem/named_file.h"
#include "metadata/image.h"
#include "metadata/metadata.h"
#include "util/alloc.h"
#include "util/text.h"

#define TOKEN_TYPE_DEF   0x02u
#define NESTING_MAX      32u
#define METADATA_MAX     ((uint64_t)512 << 20) /* of all files */
#define COLUMN_NAME      1u
#define COLUMN_NAMESPACE 2u

static struct metadata *read_metadata(struct nt_types *types, struct nt_assembly *assembly,
				      const struct mapped_file *mapped)
{
	struct file_memory file = file_memory_of(mapped);
	struct image image;
	if (!image_find_metadata(&file.memory, 0, false, &image) || !image.metadata_size ||
	    image.metadata_size > METADATA_MAX - types->metadata_size)
		return NULL;
	types->metadata_size += image.metadata_size;
	assembly->is_certain = assembly->pdb && image_has_pdb(&file.memory, 0, false, assembly->pdb,
							      assembly->pdb_age);
	uint8_t *bytes = mem_alloc(image.metadata_size, 1);
	if (!bytes)
		return NULL;
	struct metadata *metadata = NULL;
	if (!memory_read(&file.memory, image.metadata, bytes, image.metadata_size)) {
		mem_free(bytes);
		return NULL;
	}
	return metadata_create(bytes, image.metadata_size, &metadata, NULL) == HD_OK ? metadata
										     : NULL;
}

/*
 * Is its token that of its own TypeDef?  Pointers, including those to functions, have that of
 * UIntPtr (TypeDesc::GetMethodTable).
 */
static bool is_defined(const struct nt_type *type)
{
	bool is_pointer = type->element_type == NT_ELEMENT_PTR ||
			  type->element_type == NT_ELEMENT_BYREF ||
			  type->element_type == NT_ELEMENT_FNPTR;
	return type->token >> 24 == TOKEN_TYPE_DEF && type->token & 0xffffff &&
	       !(type->flags & NT_TYPE_ARRAY) && !is_pointer;
}

uint32_t nt_type_def(const struct nt_type *type)
{
	return is_defined(type) ? type->token & 0xffffff : 0;
}

/* Row of TypeDef of a type, 0: the metadata has none. */
static uint32_t type_def(const struct metadata *metadata, const struct nt_type *type)
{
	uint32_t rid = nt_type_def(type);
	return rid <= metadata->tables[MD_TYPE_DEF].rows ? rid : 0;
}

/* Length of the name of a TypeDef, with its namespace; "" if there is none. */
static void append_def(const struct metadata *metadata, uint32_t rid, struct text *text)
{
	const char *space = metadata_string(
		metadata, metadata_column(metadata, MD_TYPE_DEF, rid, COLUMN_NAMESPACE));
	text_puts(text, space);
	if (*space)
		text_puts(text, ".");
	text_puts(text, metadata_string(metadata,
					metadata_column(metadata, MD_TYPE_DEF, rid, COLUMN_NAME)));
}

void nt_append_sent(const struct nt_type *type, struct text *text)
{
	struct nt_utf16 name = type->name;
	for (uint32_t i = 0; i < name.units; i++) {
		uint16_t unit = nt_unit(&name, i);
		if (unit == '[')
			name.units = i;
		if (unit == '\\')
			i++;
	}
	size_t begin = text->size;
	nt_append_utf8(text, &name);
	if (text->failed)
		return;
	size_t to = begin;
	for (size_t i = begin; i < text->size; i++) {
		if (text->bytes[i] == '\\' && i + 1 < text->size)
			i++;
		text->bytes[to++] = text->bytes[i];
	}
	text->size = to;
}

/* Does the metadata name a type as it was sent? */
static bool names_same_type(const struct metadata *metadata, const struct nt_type *type,
			    struct text *sent, struct text *defined)
{
	uint32_t rid = type_def(metadata, type);
	if (!rid)
		return !is_defined(type);
	sent->size = defined->size = 0;
	nt_append_sent(type, sent);
	append_def(metadata, rid, defined);
	return !sent->failed && !defined->failed && sent->size == defined->size &&
	       (!sent->size || memcmp(sent->bytes, defined->bytes, sent->size) == 0);
}

/*
 * Do the types that were sent match the file of a module? *ret_any: whether there was a type to
 * compare.
 */
static bool is_right_file(const struct nt_types *types, uint32_t assembly,
			  const struct metadata *metadata, bool *ret_any)
{
	HD_CLEANUP(text) struct text sent = { 0 }, defined = { 0 };
	bool is_right = true;
	uint32_t row = types->assemblies[assembly].first;
	for (; is_right && row != HD_NONE; row = types->places[row].next) {
		const struct nt_type *type = &types->rows[row];
		if (!type->name.units)
			continue;
		is_right = names_same_type(metadata, type, &sent, &defined);
		*ret_any |= is_defined(type);
	}
	return is_right;
}

/* *@p ret_error gets the errno of a file that exists but cannot be read. */
static bool open_trace_module(const struct nt_types *types, const char *path,
			      struct mapped_file *ret, int *ret_error)
{
	const struct format_options *options = types->options;
	enum named_file_result result;
	if ((options && options->no_files) || !named_file_is(path))
		return false;
	int fd =
		named_file_open(options ? options->sysroot : NULL, path, NAMED_FILE_IMAGE, &result);
	if (fd >= 0 && mapped_file_adopt(fd, path, ret, NULL) == HD_OK)
		return true;
	bool is_there = fd >= 0 || result == NAMED_FILE_FAILED;
	if (is_there && errno != ENOENT && errno != ENOTDIR)
		*ret_error = errno;
	return false;
}

static struct metadata *metadata_of(struct nt_types *types, uint32_t index)
{
	struct nt_assembly *assembly = &types->assemblies[index];
	if (assembly->is_tried || !assembly->path)
		return assembly->metadata;
	assembly->is_tried = true;
	struct mapped_file mapped = { .fd = -1 };
	if (!open_trace_module(types, assembly->path, &mapped, &assembly->error))
		return NULL;
	struct metadata *metadata = mapped.bytes ? read_metadata(types, assembly, &mapped) : NULL;
	mapped_file_close(&mapped);
	/*
	 * Names can be guessed, and the author of a hostile trace must not be able to read a file
	 * with them.
	 */
	bool any = false, is_trusted = types->options && types->options->trust_files;
	if (metadata && !assembly->is_certain && !is_trusted) {
		metadata_destroy(metadata);
		metadata = NULL;
		assembly->is_unproven = true;
	} else if (metadata && !is_right_file(types, index, metadata, &any)) {
		metadata_destroy(metadata);
		metadata = NULL;
		assembly->is_other = true;
	}
	/* Programs that were built without a PDB have only the names. */
	if (!assembly->pdb)
		assembly->is_certain = any;
	assembly->metadata = metadata;
	return metadata;
}

const struct metadata *nt_module_metadata(struct nt_types *types, uint32_t assembly)
{
	const struct metadata *metadata = metadata_of(types, assembly);
	return types->assemblies[assembly].is_certain ? metadata : NULL;
}

/* Only names without a namespace can be of nested classes. */
static bool may_be_nested(const struct nt_type *type)
{
	for (uint32_t i = 0; i < type->name.units; i++) {
		uint16_t unit = nt_unit(&type->name, i);
		if (unit == '[')
			return true;
		if (unit == '.')
			return false;
	}
	return true;
}

/* Append the outer classes of a TypeDef, each with '+' behind it. */
static void append_outer(const struct metadata *metadata, uint32_t rid, struct text *text)
{
	uint32_t chain[NESTING_MAX];
	unsigned int count = 0;
	while (rid && count < NESTING_MAX) {
		rid = metadata_enclosing(metadata, rid);
		if (rid)
			chain[count++] = rid;
	}
	while (count) {
		append_def(metadata, chain[--count], text);
		text_puts(text, "+");
	}
}

void nt_append_type_def(const struct metadata *metadata, uint32_t rid, struct text *text)
{
	append_outer(metadata, rid, text);
	append_def(metadata, rid, text);
}

bool nt_is_unused(const struct nt_assembly *assembly)
{
	return assembly->is_unproven || assembly->is_other || assembly->error;
}

bool nt_append_outer(struct nt_types *types, size_t row, struct text *text)
{
	const struct nt_type *type = &types->rows[row];
	if (!may_be_nested(type) || type->flags & NT_TYPE_ARRAY)
		return false;
	const struct metadata *metadata = metadata_of(types, types->places[row].assembly);
	if (metadata)
		append_outer(metadata, type_def(metadata, type), text);
	return !metadata && nt_is_unused(&types->assemblies[types->places[row].assembly]);
}
