/* SPDX-License-Identifier: MIT */
#include "runtime/descriptor.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "targets/target_modules.h"
#include "util/alloc.h"

#define DESCRIPTOR_MAGIC    0x0043414443434e44u /* "DNCCDAC\0" */
#define DESCRIPTOR_32_BIT   2u
#define POINTER_DATA_MAX    4096u
#define SUB_DESCRIPTORS_MAX 16u

/* One descriptor: its JSON, and the addresses that its indirect globals index. */
struct descriptor_part {
	json_t *root;
	json_t *types, *globals; /* borrowed from root, or NULL */
	uint64_t *pointers;
	uint32_t pointer_count;
};

struct descriptor {
	struct descriptor_part parts[DESCRIPTOR_PARTS_MAX]; /* the runtime's own comes first */
	size_t count;
};

static void part_deinit(struct descriptor_part *part)
{
	json_decref(part->root);
	mem_free(part->pointers);
	*part = (struct descriptor_part){ 0 };
}

void descriptor_destroy(struct descriptor *descriptor)
{
	if (!descriptor)
		return;
	for (size_t i = 0; i < descriptor->count; i++)
		part_deinit(&descriptor->parts[i]);
	mem_free(descriptor);
}

/* struct ContractDescriptor (debug/datadescriptor/contractdescriptorstub.c). */
struct descriptor_header {
	uint64_t magic;
	uint32_t flags;
	uint32_t json_size;
	uint64_t json;
	uint32_t pointer_count;
	uint64_t pointers;
};

static enum hd_status header_read(const struct target *target, const struct target_module *module,
				  uint64_t address, struct descriptor_header *ret,
				  struct hd_error *err)
{
	uint8_t bytes[40];
	if (address > UINT64_MAX - sizeof(bytes) ||
	    !memory_read(target->memory, address, bytes, sizeof(bytes)) ||
	    !target_module_pointer(target, module, address + 16, &ret->json) ||
	    !target_module_pointer(target, module, address + 32, &ret->pointers)) {
		return fail(err, HD_ERR_FAULT, address,
			    "the runtime's contract descriptor at 0x%" PRIx64
			    " is not in the target",
			    address);
	}
	ret->magic = load_u64(bytes);
	ret->flags = load_u32(bytes + 8);
	ret->json_size = load_u32(bytes + 12);
	ret->pointer_count = load_u32(bytes + 24);
	if (ret->magic != DESCRIPTOR_MAGIC || (ret->flags & DESCRIPTOR_32_BIT)) {
		return fail(err, HD_ERR_FORMAT, address,
			    "no contract descriptor of a 64-bit runtime at 0x%" PRIx64, address);
	}
	if (ret->json_size > DESCRIPTOR_JSON_MAX || ret->pointer_count > POINTER_DATA_MAX) {
		return fail(err, HD_ERR_FORMAT, address,
			    "the contract descriptor at 0x%" PRIx64
			    " says that it has %u bytes of JSON and %u pointers",
			    address, ret->json_size, ret->pointer_count);
	}
	return HD_OK;
}

static enum hd_status part_read_json(const struct target *target,
				     const struct descriptor_header *header,
				     struct descriptor_part *part, struct hd_error *err)
{
	HD_FREE char *text = mem_alloc((size_t)header->json_size + 1, 1);
	TRY_MEMORY(text, err);
	enum hd_status status = HD_OK;
	if (!header->json) {
		status = fail(err, HD_ERR_FAULT, 0,
			      "the contract descriptor is not in the target: its copy in the "
			      "runtime's file does not say where its text is");
	} else if (!memory_read(target->memory, header->json, text, header->json_size)) {
		status =
			fail(err, HD_ERR_FAULT, header->json,
			     "the contract descriptor's text at 0x%" PRIx64 " is not in the target",
			     header->json);
	} else {
		json_error_t error;
		part->root = json_loadb(text, header->json_size, 0, &error);
		if (!json_is_object(part->root)) {
			status = fail(err, HD_ERR_FORMAT, header->json,
				      "the contract descriptor's text at 0x%" PRIx64
				      " is not a JSON object",
				      header->json);
		}
	}
	if (status != HD_OK)
		return status;
	json_t *types = json_object_get(part->root, "types");
	json_t *globals = json_object_get(part->root, "globals");
	part->types = json_is_object(types) ? types : NULL;
	part->globals = json_is_object(globals) ? globals : NULL;
	return HD_OK;
}

static enum hd_status part_read_pointers(const struct target *target,
					 const struct target_module *module,
					 const struct descriptor_header *header,
					 struct descriptor_part *part, struct hd_error *err)
{
	part->pointers = mem_calloc((size_t)header->pointer_count + 1, sizeof(uint64_t));
	TRY_MEMORY(part->pointers, err);
	part->pointer_count = header->pointer_count;
	if (header->pointers > UINT64_MAX - (uint64_t)header->pointer_count * 8) {
		return fail(err, HD_ERR_FORMAT, header->pointers,
			    "the contract descriptor's pointers lie outside of memory");
	}
	/* An address that cannot be read stays 0: then the global that needs it is not known. */
	for (uint32_t i = 0; i < header->pointer_count; i++) {
		(void)target_module_pointer(target, module, header->pointers + 8u * (uint64_t)i,
					    &part->pointers[i]);
	}
	return HD_OK;
}

/* Add the descriptor at @p address to @p descriptor. */
static enum hd_status part_read(const struct target *target, const struct target_module *module,
				uint64_t address, struct descriptor *descriptor,
				struct hd_error *err)
{
	struct descriptor_part *part = &descriptor->parts[descriptor->count++];
	struct descriptor_header header = { 0 };
	TRY(header_read(target, module, address, &header, err));
	TRY(part_read_json(target, &header, part, err));
	return part_read_pointers(target, module, &header, part, err);
}

/* A number from an integer or a string ("0x..", decimal). */
static bool number_of_json(const json_t *value, uint64_t *ret)
{
	if (json_is_integer(value)) {
		*ret = (uint64_t)json_integer_value(value);
		return true;
	}
	const char *text = json_string_value(value);
	if (!text || !((*text >= '0' && *text <= '9') || *text == '-'))
		return false;
	char *end = NULL;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 0);
	if (errno || *end)
		return false;
	*ret = number;
	return true;
}

/* [v, "type"] or v: v. */
static const json_t *untyped_value(const json_t *value)
{
	return json_is_array(value) && json_array_size(value) == 2 ? json_array_get(value, 0)
								   : value;
}

/* A global's or sub-descriptor's value: v, [v, "type"], [index] or [[index], "type"]. */
static bool part_value(const struct descriptor_part *part, const json_t *json, uint64_t *ret)
{
	const json_t *value = untyped_value(json);
	if (!json_is_array(value))
		return number_of_json(value, ret);
	uint64_t index = 0;
	if (json_array_size(value) != 1 || !number_of_json(json_array_get(value, 0), &index) ||
	    index >= part->pointer_count || part->pointers[index] == 0)
		return false;
	*ret = part->pointers[index];
	return true;
}

/*
 * "subDescriptors": {"GC": [[index], "pointer"]}: the pointer leads to a variable that holds the
 * address of another descriptor, or 0 while its part of the runtime is not initialised.  A
 * descriptor that cannot be read counts as absent, unless memory is exhausted.
 */
static enum hd_status read_sub_descriptors(const struct target *target,
					   const struct target_module *module,
					   struct descriptor *descriptor, struct hd_error *err)
{
	json_t *list = json_object_get(descriptor->parts[0].root, "subDescriptors");
	const char *name = NULL;
	json_t *value = NULL;
	unsigned int seen = 0;
	json_object_foreach(list, name, value)
	{
		uint64_t variable = 0, address = 0;
		if (descriptor->count == DESCRIPTOR_PARTS_MAX || ++seen > SUB_DESCRIPTORS_MAX)
			break;
		if (!part_value(&descriptor->parts[0], value, &variable) ||
		    !memory_u64(target->memory, variable, &address) || address == 0)
			continue;
		struct hd_error ignored;
		enum hd_status status = part_read(target, module, address, descriptor, &ignored);
		if (status == HD_OK)
			continue;
		part_deinit(&descriptor->parts[--descriptor->count]);
		if (status == HD_ERR_NOMEM)
			return fail_nomem(err);
	}
	return HD_OK;
}

enum hd_status descriptor_read(const struct target *target, const struct target_module *module,
			       uint64_t address, struct descriptor **ret, struct hd_error *err)
{
	struct descriptor *descriptor = mem_calloc(1, sizeof(*descriptor));
	TRY_MEMORY(descriptor, err);
	enum hd_status status = part_read(target, module, address, descriptor, err);
	if (status == HD_OK)
		status = read_sub_descriptors(target, module, descriptor, err);
	if (status != HD_OK) {
		descriptor_destroy(descriptor);
		return status;
	}
	*ret = descriptor;
	return HD_OK;
}

bool descriptor_has_type(const struct descriptor *descriptor, const char *type)
{
	for (size_t i = 0; i < descriptor->count; i++) {
		if (json_object_get(descriptor->parts[i].types, type))
			return true;
	}
	return false;
}

bool descriptor_has_parts(const struct descriptor *descriptor)
{
	return json_object_get(descriptor->parts[0].root, "subDescriptors") != NULL;
}

bool descriptor_offset(const struct descriptor *descriptor, const char *type, const char *field,
		       int64_t *ret)
{
	for (size_t i = 0; i < descriptor->count; i++) {
		const json_t *fields = json_object_get(descriptor->parts[i].types, type);
		uint64_t number = 0;
		if (!number_of_json(untyped_value(json_object_get(fields, field)), &number))
			continue;
		if (number >= DESCRIPTOR_OFFSET_LIMIT)
			return false;
		*ret = (int64_t)number;
		return true;
	}
	return false;
}

bool descriptor_global(const struct descriptor *descriptor, const char *name, uint64_t *ret)
{
	for (size_t i = 0; i < descriptor->count; i++) {
		const struct descriptor_part *part = &descriptor->parts[i];
		if (part_value(part, json_object_get(part->globals, name), ret))
			return true;
	}
	return false;
}

const char *descriptor_text(const struct descriptor *descriptor, const char *name)
{
	for (size_t i = 0; i < descriptor->count; i++) {
		const struct descriptor_part *part = &descriptor->parts[i];
		const char *text =
			json_string_value(untyped_value(json_object_get(part->globals, name)));
		if (text)
			return text;
	}
	return NULL;
}
