/* SPDX-License-Identifier: MIT */
#include "framework/survey.h"

#include <stdlib.h>
#include <string.h>

#include "framework/absent.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/findings.h"

/* Columns of TypeDef, Field and TypeRef (ECMA-335, II.22). */
#define TYPE_NAME    1u
#define TYPE_EXTENDS 3u
#define FIELD_NAME   1u
#define REF_NAME     1u

/* TypeDefOrRef: the two lowest bits are the table. */
#define CODED_DEF 0u
#define CODED_REF 1u

#define BASES_MAX  32u
#define NAMES_TOLD 3u

/* The state of a row of the table. */
enum row_state {
	ROW_UNKNOWN,
	ROW_PRESENT,
	ROW_MISSING
};

struct survey {
	struct runtime *runtime;
	unsigned int release;                   /* 0: not known */
	uint8_t types[NET_TYPES], facts[FACTS]; /* enum row_state */
};

static bool is_in_release(const struct survey *survey, struct net_releases releases)
{
	if (!survey->release)
		return !releases.last;
	return releases.first <= survey->release &&
	       (!releases.last || survey->release <= releases.last);
}

/* The last part of a full name. */
static const char *own_name(const char *full)
{
	const char *plus = strrchr(full, '+'), *dot = strrchr(full, '.');
	const char *after = plus ? plus : dot;
	return after ? after + 1 : full;
}

static bool has_full_name(const struct metadata *metadata, uint32_t rid, const char *full)
{
	HD_CLEANUP(text) struct text text = { 0 };
	typedef_name(metadata, rid, &text);
	bool has =
		text.bytes && text.size == strlen(full) && memcmp(text.bytes, full, text.size) == 0;
	return has;
}

static bool declares_field(const struct metadata *metadata, uint32_t rid, const char *name,
			   size_t size)
{
	uint32_t end, at = metadata_members(metadata, MD_FIELD, rid, &end);
	for (; at < end; at++) {
		const char *field = metadata_string(
			metadata,
			metadata_column(metadata, MD_FIELD, metadata_member(metadata, MD_FIELD, at),
					FIELD_NAME));
		if (strncmp(field, name, size) == 0 && !field[size])
			return true;
	}
	return false;
}

/* Has a type of the framework's core with that name fields of its own? */
static bool is_without_fields(const char *name)
{
	return strcmp(name, own_name(net_type_name(NET_OBJECT))) == 0 ||
	       strcmp(name, own_name(net_type_name(NET_VALUE_TYPE))) == 0;
}

/* The first field of a path, in the type or a base class; base classes of other modules say nothing. */
static enum row_state state_of_path(const struct metadata *metadata, uint32_t rid, const char *path)
{
	size_t size = strcspn(path, ".");
	for (unsigned int i = 0; i < BASES_MAX; i++) {
		if (declares_field(metadata, rid, path, size))
			return ROW_PRESENT;
		uint32_t base = metadata_column(metadata, MD_TYPE_DEF, rid, TYPE_EXTENDS);
		if (!base)
			return ROW_MISSING;
		if ((base & 3) == CODED_REF &&
		    is_without_fields(metadata_string(
			    metadata, metadata_column(metadata, MD_TYPE_REF, base >> 2, REF_NAME))))
			return ROW_MISSING;
		if ((base & 3) != CODED_DEF)
			return ROW_UNKNOWN;
		rid = base >> 2;
	}
	return ROW_UNKNOWN;
}

static void survey_type(struct survey *survey, const struct metadata *metadata, enum net_type type,
			uint32_t rid)
{
	survey->types[type] = ROW_PRESENT;
	for (enum fact fact = 0; fact < FACTS; fact++) {
		if (fact_row(fact)->type == type) {
			survey->facts[fact] =
				(uint8_t)state_of_path(metadata, rid, fact_row(fact)->path);
		}
	}
}

static void survey_assembly(struct survey *survey, const struct metadata *metadata,
			    enum framework_assembly assembly)
{
	uint32_t count = metadata->tables[MD_TYPE_DEF].rows;
	for (enum net_type type = 0; type < NET_TYPES; type++) {
		if (net_type_row(type)->assembly == assembly)
			survey->types[type] = ROW_MISSING;
	}
	for (uint32_t rid = 1; rid <= count; rid++) {
		const char *name = metadata_string(
			metadata, metadata_column(metadata, MD_TYPE_DEF, rid, TYPE_NAME));
		for (enum net_type type = 0; type < NET_TYPES; type++) {
			const struct net_type_row *row = net_type_row(type);
			if (row->assembly == assembly && survey->types[type] == ROW_MISSING &&
			    strcmp(own_name(row->name), name) == 0 &&
			    has_full_name(metadata, rid, row->name))
				survey_type(survey, metadata, type, rid);
		}
	}
	for (enum fact fact = 0; fact < FACTS; fact++) {
		enum net_type type = fact_row(fact)->type;
		if (net_type_row(type)->assembly == assembly && survey->types[type] == ROW_MISSING)
			survey->facts[fact] = ROW_MISSING;
	}
}

static void survey_modules(struct survey *survey, struct module *const *modules, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct module *module = module_find(survey->runtime, modules[i]->address);
		if (!module || !module->metadata || !module->name)
			continue;
		for (enum framework_assembly assembly = 0; assembly < ASSEMBLIES; assembly++) {
			if (strcmp(module->name, net_assembly_row(assembly)->name) == 0)
				survey_assembly(survey, module->metadata, assembly);
		}
	}
}

static void conclude_types(const struct survey *survey, struct framework_survey *ret)
{
	bool is_present[NET_TYPES] = { false };
	for (enum net_type type = 0; type < NET_TYPES; type++)
		is_present[net_type_main(type)] |= survey->types[type] != ROW_MISSING;
	for (enum net_type type = 0; type < NET_TYPES; type++) {
		if (survey->types[type] == ROW_UNKNOWN ||
		    !is_in_release(survey, net_type_row(type)->releases))
			continue;
		ret->asked++;
		ret->type_is_missing[type] = !is_present[net_type_main(type)];
		ret->missing += ret->type_is_missing[type];
	}
}

static void conclude_facts(const struct survey *survey, struct framework_survey *ret)
{
	bool is_present[FACTS] = { false };
	for (enum fact fact = 0; fact < FACTS; fact++)
		is_present[fact_main(fact)] |= survey->facts[fact] == ROW_PRESENT;
	for (enum fact fact = 0; fact < FACTS; fact++) {
		if (survey->facts[fact] == ROW_UNKNOWN ||
		    !is_in_release(survey, fact_row(fact)->releases))
			continue;
		ret->asked++;
		ret->fact_is_missing[fact] = !is_present[fact_main(fact)];
		ret->missing += ret->fact_is_missing[fact];
	}
}

void framework_survey_modules(struct runtime *runtime, struct module *const *modules, size_t count,
			      struct framework_survey *ret)
{
	struct survey survey = {
		.runtime = runtime,
		.release = (unsigned int)strtoul(runtime_version(runtime), NULL, 10),
	};
	survey_modules(&survey, modules, count);
	*ret = (struct framework_survey){ 0 };
	conclude_types(&survey, ret);
	conclude_facts(&survey, ret);
}

enum hd_status framework_survey_make(struct runtime *runtime, struct framework_survey *ret,
				     struct hd_error *err)
{
	struct module *const *modules;
	size_t count;
	TRY(module_list(runtime, &modules, &count, err));
	framework_survey_modules(runtime, modules, count, ret);
	return HD_OK;
}

/* The first ones by name: a type before the fields of others. */
static void append_missing(const struct framework_survey *survey, struct text *text)
{
	size_t told = 0;
	for (enum net_type type = 0; type < NET_TYPES && told < NAMES_TOLD; type++) {
		if (survey->type_is_missing[type])
			text_printf(text, "%s%s", told++ ? ", " : "", net_type_name(type));
	}
	for (enum fact fact = 0; fact < FACTS && told < NAMES_TOLD; fact++) {
		if (!survey->fact_is_missing[fact] || survey->type_is_missing[fact_row(fact)->type])
			continue;
		text_puts(text, told++ ? ", " : "");
		fact_append_name(text, fact);
	}
	if (survey->missing > told)
		text_puts(text, ", ...");
}

void framework_survey_report(struct runtime *runtime, const struct framework_survey *survey)
{
	HD_CLEANUP(text) struct text text = { 0 };
	if (!survey->missing)
		return;
	append_missing(survey, &text);
	findings_add(runtime_findings(runtime), FINDING_FRAMEWORK, NULL,
		     "%zu of %zu types and fields that answers use are not in this framework: %s",
		     survey->missing, survey->asked, text.bytes ? text.bytes : "...");
}
