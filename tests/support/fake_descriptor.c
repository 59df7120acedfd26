/* SPDX-License-Identifier: MIT */
#include "support/fake_descriptor.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/fake_export.h"
#include "util/text.h"

static const struct {
	const char *name;
	enum fake_global global;
} variables[] = {
	{ "AppDomain", FAKE_APP_DOMAIN },           { "ThreadStore", FAKE_THREAD_STORE },
	{ "FinalizerThread", FAKE_FINALIZER },      { "GCThread", FAKE_GC_THREAD },
	{ "FreeObjectMethodTable", FAKE_FREE },     { "ObjectMethodTable", FAKE_OBJECT },
	{ "StringMethodTable", FAKE_STRING },       { "ObjectArrayMethodTable", FAKE_OBJECT_ARRAY },
	{ "ExceptionMethodTable", FAKE_EXCEPTION }, { "SyncTableEntries", FAKE_SYNC_TABLE },
};

static bool is_left_out(const char *const *without, const char *name)
{
	for (; without && *without; without++) {
		if (strcmp(*without, name) == 0)
			return true;
	}
	return false;
}

/* The name that the descriptor of the release has for a field. */
static const char *field_name(const struct fake_clr *fake, enum layout_field field,
			      const char *usual)
{
	enum layout_field renamed;
	const char *name;
	for (size_t i = 0; (name = layout_renamed(i, &renamed)) != NULL; i++) {
		if (renamed == field && fake_is_from(fake, 11))
			return name;
	}
	return usual;
}

/* Is the type of row @p field one of an earlier row? */
static bool is_type_done(enum layout_field field, const char *type)
{
	for (size_t i = 0; i < field; i++) {
		const char *other = NULL, *usual = NULL;
		layout_name((enum layout_field)i, &other, &usual);
		if (strcmp(other, type) == 0)
			return true;
	}
	return false;
}

static void put_fields(struct text *json, const struct fake_clr *fake, const char *of,
		       const char *const *without)
{
	const char *comma = "";
	for (size_t i = 0; i < L_COUNT; i++) {
		const char *type = NULL, *usual = NULL;
		char name[128];
		layout_name((enum layout_field)i, &type, &usual);
		(void)snprintf(name, sizeof(name), "%s.%s", type, usual);
		if (strcmp(type, of) != 0 || !layout_has(&fake->layout, (enum layout_field)i) ||
		    is_left_out(without, name))
			continue;
		text_printf(json, "%s\"%s\":%d", comma,
			    field_name(fake, (enum layout_field)i, usual), fake->layout.offsets[i]);
		comma = ",";
	}
}

static void put_types(struct text *json, const struct fake_clr *fake, const char *const *without)
{
	const char *comma = "";
	for (size_t i = 0; i < L_COUNT; i++) {
		const char *type = NULL, *usual = NULL;
		layout_name((enum layout_field)i, &type, &usual);
		if (is_type_done((enum layout_field)i, type))
			continue;
		text_printf(json, "%s\"%s\":{", comma, type);
		put_fields(json, fake, type, without);
		text_puts(json, "}");
		comma = ",";
	}
}

/* The numbers that Frames begin with. */
static void put_frames(struct text *json, const char *const *without)
{
	for (unsigned int kind = 1; kind <= FRAME_EXCEPTION_FILTER; kind++) {
		char name[64];
		(void)snprintf(name, sizeof(name), "%sIdentifier",
			       frame_kind_layout((enum frame_kind)kind)->name);
		if (!is_left_out(without, name))
			text_printf(json, ",\"%s\":\"0x%x\"", name, kind);
	}
}

struct fake_descriptor fake_descriptor_make(const struct fake_clr *fake, const char *const *without)
{
	struct fake_descriptor ret = { .pointer_count = 1 };
	struct text json = { 0 };
	text_puts(&json, "{\"version\":2,\"baseline\":\"empty\",\"types\":{");
	put_types(&json, fake, without);
	text_printf(&json, "},\"globals\":{\"RuntimeProductVersionString\":[\"%u.0.0\",\"string\"]",
		    fake->options.release);
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		if (is_left_out(without, variables[i].name))
			continue;
		text_printf(&json, ",\"%s\":[[%u],\"pointer\"]", variables[i].name,
			    ret.pointer_count);
		ret.pointers[ret.pointer_count++] = fake_global(variables[i].global);
	}
	put_frames(&json, without);
	text_puts(&json,
		  is_left_out(without, "GCInfoVersion") ? "}}" : ",\"GCInfoVersion\":\"0x5\"}}");
	if (json.failed)
		abort();
	ret.json = json;
	return ret;
}

void fake_descriptor_free(struct fake_descriptor *descriptor)
{
	text_deinit(&descriptor->json);
	*descriptor = (struct fake_descriptor){ .pointer_count = 0 };
}
