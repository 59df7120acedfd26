/* SPDX-License-Identifier: MIT */
#include "support/dwarf_check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "managed_elf/dwarf.h"

#define ABBREVIATIONS 64u
#define DEPTH_MAX     80u
#define ATTRIBUTES    12u

/* An abbreviation, as elf_abbreviations has it. */
struct abbreviation {
	uint64_t tag;
	bool has_children;
	size_t count;
	uint8_t attributes[ATTRIBUTES], forms[ATTRIBUTES];
};

/* An entry that was read. */
struct entry {
	size_t offset, parent; /* parent: index of the entry that it is in; SIZE_MAX: none */
	uint64_t tag, size, place, type;
	bool has_type, has_size;
	uint8_t state; /* of the search for circles: 1 open, 2 done */
};

struct checker {
	const struct dwarf_sections *sections;
	struct abbreviation abbreviations[ABBREVIATIONS];
	struct entry *entries;
	size_t count, capacity;
	size_t at;
	const char *wrong;
};

static uint64_t fail_with(struct checker *checker, const char *wrong)
{
	if (!checker->wrong)
		checker->wrong = wrong;
	return 0;
}

static uint64_t take_leb(struct checker *checker, const uint8_t *bytes, size_t size, size_t *at)
{
	uint64_t value = 0;
	for (unsigned int shift = 0; *at < size && shift < 64; shift += 7) {
		uint8_t byte = bytes[(*at)++];
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	return fail_with(checker, "a number is cut");
}

static void read_abbreviations(struct checker *checker)
{
	size_t at = 0, size = elf_abbreviations_size;
	const uint8_t *bytes = elf_abbreviations;
	while (at < size && bytes[at]) {
		size_t number = bytes[at++];
		struct abbreviation *row = &checker->abbreviations[number % ABBREVIATIONS];
		row->tag = take_leb(checker, bytes, size, &at);
		row->has_children = bytes[at++];
		for (; at + 1 < size && bytes[at]; at += 2, row->count++) {
			row->attributes[row->count % ATTRIBUTES] = bytes[at];
			row->forms[row->count % ATTRIBUTES] = bytes[at + 1];
		}
		at += 2;
		if (row->count > ATTRIBUTES)
			(void)fail_with(checker, "too many attributes");
	}
	if (at + 1 != size)
		(void)fail_with(checker, "abbreviations do not end");
}

static uint64_t take_fixed(struct checker *checker, size_t size)
{
	const struct text *info = checker->sections->info;
	uint64_t value = 0;
	if (info->size - checker->at < size)
		return fail_with(checker, "an entry is cut");
	memcpy(&value, info->bytes + checker->at, size);
	checker->at += size;
	return value;
}

static uint64_t take_number(struct checker *checker)
{
	const struct text *info = checker->sections->info;
	return take_leb(checker, (const uint8_t *)info->bytes, info->size, &checker->at);
}

static void skip_string(struct checker *checker)
{
	const struct text *info = checker->sections->info;
	const char *begin = info->bytes + checker->at;
	const char *end = memchr(begin, 0, info->size - checker->at);
	if (!end) {
		(void)fail_with(checker, "a name has no end");
		return;
	}
	for (const char *at = begin; at < end; at++) {
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			(void)fail_with(checker, "a name has a control character");
	}
	checker->at += (size_t)(end - begin) + 1;
}

/* Pairs of addresses, with an expression each in .debug_loc. */
static void check_list(struct checker *checker, const struct text *list, uint64_t offset,
		       bool has_places)
{
	uint64_t pair[2], last = 0;
	for (;;) {
		if (offset > list->size || list->size - offset < sizeof(pair)) {
			(void)fail_with(checker, "a list has no end");
			return;
		}
		memcpy(pair, list->bytes + offset, sizeof(pair));
		offset += sizeof(pair);
		if (!pair[0] && !pair[1])
			return;
		if (pair[0] >= pair[1] || (!has_places && pair[0] < last))
			(void)fail_with(checker, "a range is empty, or not after the one before");
		last = pair[1];
		if (has_places) {
			uint16_t size = 0;
			if (list->size - offset >= sizeof(size))
				memcpy(&size, list->bytes + offset, sizeof(size));
			if (!size || list->size - offset < sizeof(size) + size)
				(void)fail_with(checker, "a place is cut");
			offset += sizeof(size) + size;
		}
	}
}

static uint64_t take_attribute(struct checker *checker, struct entry *entry, uint8_t attribute,
			       uint8_t form)
{
	switch (form) {
	case FORM_STRING:
		skip_string(checker);
		return 0;
	case FORM_DATA1:
		return take_fixed(checker, 1);
	case FORM_DATA4:
	case FORM_REF4:
		return take_fixed(checker, 4);
	case FORM_ADDR:
		return take_fixed(checker, 8);
	case FORM_UDATA:
	case FORM_SDATA:
		return take_number(checker);
	case FORM_FLAG_PRESENT:
		return 1;
	case FORM_EXPRLOC: {
		uint64_t size = take_number(checker);
		if (size > checker->sections->info->size - checker->at)
			return fail_with(checker, "an expression is cut");
		checker->at += (size_t)size;
		return 0;
	}
	case FORM_SEC_OFFSET: {
		uint64_t offset = take_fixed(checker, 4);
		if (attribute == AT_LOCATION)
			check_list(checker, checker->sections->locations, offset, true);
		if (attribute == AT_RANGES && entry->tag == TAG_LEXICAL_BLOCK)
			check_list(checker, checker->sections->ranges, offset, false);
		return offset;
	}
	default:
		return fail_with(checker, "an unknown form");
	}
}

static void take_entry(struct checker *checker, size_t parent, const struct abbreviation *about,
		       size_t offset)
{
	struct entry entry = { .offset = offset, .parent = parent, .tag = about->tag };
	for (size_t i = 0; i < about->count && !checker->wrong; i++) {
		uint64_t value =
			take_attribute(checker, &entry, about->attributes[i], about->forms[i]);
		switch (about->attributes[i]) {
		case AT_TYPE:
			entry.type = value;
			entry.has_type = true;
			break;
		case AT_BYTE_SIZE:
			entry.size = value;
			entry.has_size = true;
			break;
		case AT_DATA_MEMBER_LOCATION:
			entry.place = value;
			break;
		default:
			break;
		}
	}
	if (checker->count == checker->capacity) {
		checker->capacity = checker->capacity * 2 + 64;
		checker->entries =
			realloc(checker->entries, checker->capacity * sizeof(*checker->entries));
		if (!checker->entries)
			abort();
	}
	checker->entries[checker->count++] = entry;
}

static void take_entries(struct checker *checker)
{
	size_t parents[DEPTH_MAX], depth = 0;
	const struct text *info = checker->sections->info;
	for (checker->at = checker->sections->begin; checker->at < info->size && !checker->wrong;) {
		size_t offset = checker->at;
		uint64_t number = take_number(checker);
		if (!number) {
			if (!depth)
				(void)fail_with(checker, "an end where nothing began");
			depth -= depth > 0;
			continue;
		}
		const struct abbreviation *about = &checker->abbreviations[number % ABBREVIATIONS];
		if (number >= ABBREVIATIONS || !about->tag) {
			(void)fail_with(checker, "an unknown abbreviation");
			return;
		}
		take_entry(checker, depth ? parents[depth - 1] : SIZE_MAX, about, offset);
		if (about->has_children && depth == DEPTH_MAX)
			(void)fail_with(checker, "entries are nested too deep");
		else if (about->has_children)
			parents[depth++] = checker->count - 1;
	}
	if (depth)
		(void)fail_with(checker, "an entry has no end");
}

static struct entry *entry_at(struct checker *checker, uint64_t offset)
{
	size_t low = 0, high = checker->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (checker->entries[middle].offset < offset) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < checker->count && checker->entries[low].offset == offset
		       ? &checker->entries[low]
		       : NULL;
}

static bool is_type(uint64_t tag)
{
	return tag == TAG_BASE_TYPE || tag == TAG_TYPEDEF || tag == TAG_POINTER_TYPE ||
	       tag == TAG_REFERENCE_TYPE || tag == TAG_STRUCTURE_TYPE ||
	       tag == TAG_ENUMERATION_TYPE || tag == TAG_ARRAY_TYPE;
}

/* Members are in their structs; visit what a struct holds by value.  Recursion: a test, and the chains are short. */
static void visit_struct(struct checker *checker, size_t index, unsigned int depth)
{
	struct entry *entry = &checker->entries[index];
	if (entry->state == 1 || depth > 1000) {
		(void)fail_with(checker, "a struct holds itself");
		return;
	}
	if (entry->state == 2)
		return;
	entry->state = 1;
	for (size_t i = index + 1; i < checker->count && checker->entries[i].parent != SIZE_MAX;
	     i++) {
		const struct entry *member = &checker->entries[i];
		if (member->parent != index ||
		    (member->tag != TAG_MEMBER && member->tag != TAG_INHERITANCE))
			continue;
		const struct entry *type = entry_at(checker, member->type);
		if (member->place > entry->size)
			(void)fail_with(checker, "a member is not in its struct");
		if (type && type->tag == TAG_STRUCTURE_TYPE) {
			if (member->place + type->size > entry->size)
				(void)fail_with(checker, "a struct is larger than what holds it");
			visit_struct(checker, (size_t)(type - checker->entries), depth + 1);
		}
	}
	entry->state = 2;
}

const char *dwarf_check(const struct dwarf_sections *sections, struct dwarf_counts *ret)
{
	struct checker *checker = calloc(1, sizeof(*checker));
	if (!checker)
		abort();
	checker->sections = sections;
	read_abbreviations(checker);
	take_entries(checker);
	*ret = (struct dwarf_counts){ .entries = checker->count };
	for (size_t i = 0; i < checker->count && !checker->wrong; i++) {
		const struct entry *entry = &checker->entries[i], *type;
		ret->structs += entry->tag == TAG_STRUCTURE_TYPE;
		ret->variables += entry->tag == TAG_VARIABLE || entry->tag == TAG_FORMAL_PARAMETER;
		type = entry->has_type ? entry_at(checker, entry->type) : NULL;
		if (entry->has_type && (!type || !is_type(type->tag)))
			(void)fail_with(checker, "a reference leads to no type");
		if (entry->tag == TAG_STRUCTURE_TYPE)
			visit_struct(checker, i, 0);
	}
	const char *wrong = checker->wrong;
	free(checker->entries);
	free(checker);
	return wrong;
}
