/* SPDX-License-Identifier: MIT */
/* Where the fields of the runtime's structures are: by its contract descriptor, and by tables. */
#include "runtime/coreclr/layout_fill.h"

#include "arch/arch.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layouts/processor.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/types/method_table.h"
#include "runtime/descriptor.h"
#include "util/text.h"

/* The last release whose heap was compared with other tools. */
#define MAJOR_LAST 11u
/* How many fields that a newer release lacks are told by name. */
#define MISSING_TOLD 8u

#define ADVICE_SYSROOT "give the folder with the runtime's files by --sysroot, or take a full dump"

const char *coreclr_files_advice(const struct runtime *runtime)
{
	return target_advice(runtime->target, coreclr_of(runtime)->descriptor.address,
			     ADVICE_SYSROOT);
}

/* Without these no object can be read. */
static const enum layout_field needed[] = { L_MT_FLAGS, L_MT_BASE_SIZE, L_MT_CLASS, L_MT_PARENT,
					    L_CLASS_METHOD_TABLE };

/* Report the fields that the last known release has and that this one does not tell. */
static void report_missing_fields(struct runtime *runtime)
{
	struct layout last;
	HD_CLEANUP(text) struct text names = { 0 };
	size_t count = 0;
	layout_init(&last);
	layout_fill(&last, MAJOR_LAST, ORIGIN_SERIES);
	for (size_t i = 0; i < L_COUNT; i++) {
		const char *type, *field;
		if (!layout_has(&last, (enum layout_field)i) ||
		    layout_has(&coreclr_of(runtime)->layout, (enum layout_field)i))
			continue;
		layout_name((enum layout_field)i, &type, &field);
		if (count++ < MISSING_TOLD)
			text_printf(&names, "%s%s.%s", count > 1 ? ", " : "", type, field);
	}
	if (count) {
		findings_add(&runtime->target->findings, FINDING_MISSING_FIELDS, NULL,
			     "the descriptor of .NET %s does not say where %zu of the fields are "
			     "that are read here (%s%s): answers that need them leave something "
			     "out (info -layout lists them)",
			     runtime->version, count, names.bytes ? names.bytes : "",
			     count > MISSING_TOLD ? ", ..." : "");
	}
}

/* Take the offset of @p field from the descriptor, which may have it as @p name. */
static void fill_field(const struct descriptor *descriptor, struct layout *layout,
		       enum layout_field field, const char *name)
{
	const char *type = NULL, *usual = NULL;
	int64_t offset = 0;
	layout_name(field, &type, &usual);
	if (descriptor_offset(descriptor, type, name ? name : usual, &offset))
		layout_set(layout, field, offset, ORIGIN_DESCRIPTOR);
}

void layout_take_descriptor(struct layout *layout, const struct descriptor *descriptor)
{
	enum layout_field field;
	const char *name;
	for (size_t i = 0; (name = layout_renamed(i, &field)) != NULL; i++)
		fill_field(descriptor, layout, field, name);
	for (size_t i = 0; i < L_COUNT; i++)
		fill_field(descriptor, layout, (enum layout_field)i, NULL);
}

/* The offsets that the descriptor does not tell. */
static enum hd_status fill_from_tables(struct runtime *runtime, bool has_descriptor, bool is_known,
				       struct hd_error *err)
{
	const struct processor_layout *processor = processor_layout(runtime);
	struct layout *layout = &coreclr_of(runtime)->layout;
	unsigned int major = coreclr_of(runtime)->major;
	const char *name = runtime_arch(runtime)->name;
	if (!processor->differences) {
		layout_fill(layout, major, is_known ? ORIGIN_BUILD : ORIGIN_SERIES);
		return HD_OK;
	}
	if (major && major < processor->first_release) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    ".NET %s on %s is not read: only .NET %u and later are",
			    runtime->version, name, processor->first_release);
	}
	if (!has_descriptor) {
		return fail(
			err, HD_ERR_UNSUPPORTED, coreclr_of(runtime)->descriptor.address,
			"the contract descriptor of .NET %s is not in the target, and the offsets on "
			"%s are not known without it: %s",
			*runtime->version ? runtime->version : "of unknown version", name,
			coreclr_files_advice(runtime));
	}
	layout_fill_but(layout, major, processor->differences, processor->difference_count);
	return HD_OK;
}

enum hd_status coreclr_fill_layout(struct runtime *runtime, const struct descriptor *descriptor,
				   struct hd_error *err)
{
	layout_init(&coreclr_of(runtime)->layout);
	if (descriptor)
		layout_take_descriptor(&coreclr_of(runtime)->layout, descriptor);
	bool is_known = layout_build_find(runtime->build_id) != NULL;
	TRY(fill_from_tables(runtime, descriptor != NULL, is_known, err));
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (!layout_has(&coreclr_of(runtime)->layout, needed[i])) {
			return fail(err, HD_ERR_UNSUPPORTED,
				    coreclr_of(runtime)->descriptor.address,
				    "this runtime (.NET %s, build-id %s) is not known, and its "
				    "contract descriptor does not tell its layout: %s",
				    *runtime->version ? runtime->version : "of unknown version",
				    *runtime->build_id ? runtime->build_id : "unknown",
				    coreclr_files_advice(runtime));
		}
	}
	runtime->alloc_layout = coreclr_alloc_layout(runtime);
	struct findings *findings = &runtime->target->findings;
	if (coreclr_of(runtime)->major > MAJOR_LAST) {
		findings_add(findings, FINDING_NEWER_RUNTIME, NULL,
			     ".NET %s is newer than what was tried (%u): it is read by the names "
			     "in its descriptor, and what that does not name is not known",
			     runtime->version, MAJOR_LAST);
		report_missing_fields(runtime);
	} else if (!is_known && !descriptor) {
		findings_add(findings, FINDING_UNKNOWN_BUILD, coreclr_files_advice(runtime),
			     "the build %s of .NET %s is not known: offsets are those of its "
			     "release's series and may differ",
			     *runtime->build_id ? runtime->build_id : "without build-id",
			     runtime->version);
	}
	return HD_OK;
}
