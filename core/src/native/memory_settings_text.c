/* SPDX-License-Identifier: MIT */
#include "native/memory_settings_text.h"

#include <string.h>
#include <strings.h>

#include "util/text.h"

/* Where nothing has set it: what is known of that. */
static const char *unset_text(const struct memory_settings *settings, bool is_of_runtime)
{
	if (!settings->has_environment) {
		return settings->has_config && is_of_runtime ? "not in runtimeconfig.json"
							     : "not known";
	}
	return settings->has_config || !is_of_runtime ? "not set" : "not set in its environment";
}

void memory_setting_append(struct text *text, const struct memory_settings *settings,
			   enum memory_setting_name name)
{
	const struct memory_setting *setting = &settings->rows[name];
	text_printf(text, "%s is ", setting->name);
	if (setting->source == MEMORY_SET_NOWHERE) {
		text_puts(text, unset_text(settings, name != MEMORY_SETTING_ARENAS));
		return;
	}
	bool is_config = setting->source == MEMORY_SET_IN_CONFIG;
	/* The GC reads its variables as hexadecimal, with or without 0x. */
	bool is_hex = !is_config && name != MEMORY_SETTING_ARENAS && *setting->value &&
		      strncasecmp(setting->value, "0x", 2) != 0;
	text_printf(text, "%s%s in %s", is_hex ? "0x" : "",
		    *setting->value ? setting->value : "set to nothing",
		    is_config ? "runtimeconfig.json" : "its environment");
}

/* Append the limits that the GC has made of the settings. */
static void append_limits(struct text *text, const struct gc_limits *limits)
{
	char size[32];
	if (limits->has_adaptation)
		text_printf(text, "; DATAS is %s", limits->is_adaptive ? "on" : "off");
	if (limits->is_known && limits->heap) {
		text_printf(text, "; the GC lets the heap have %s",
			    format_bytes(limits->heap, size));
	} else if (limits->is_known) {
		text_printf(text, "; the GC has no limit of its own, and goes by %s of memory",
			    format_bytes(limits->machine, size));
	}
}

/* The GC asks for a percentage only where no number of bytes is set (gc.cpp, compute_hard_limit). */
static enum memory_setting_name limit_setting(const struct memory_settings *settings)
{
	const struct memory_setting *bytes = &settings->rows[MEMORY_SETTING_LIMIT];
	const struct memory_setting *percent = &settings->rows[MEMORY_SETTING_LIMIT_PERCENT];
	bool has_bytes = bytes->source != MEMORY_SET_NOWHERE &&
			 bytes->value[strspn(bytes->value, "0xX")] != '\0';
	return !has_bytes && percent->source != MEMORY_SET_NOWHERE ? MEMORY_SETTING_LIMIT_PERCENT
								   : MEMORY_SETTING_LIMIT;
}

void memory_settings_append_gc(struct text *text, const struct memory_settings *settings)
{
	text_puts(text, "DOTNET_GCConserveMemory, DOTNET_GCDynamicAdaptationMode (DATAS, for the "
			"server GC) or DOTNET_GCHeapHardLimit make the heap smaller; here ");
	memory_setting_append(text, settings, MEMORY_SETTING_CONSERVE);
	text_puts(text, ", ");
	memory_setting_append(text, settings, MEMORY_SETTING_DATAS);
	text_puts(text, ", ");
	memory_setting_append(text, settings, limit_setting(settings));
	append_limits(text, &settings->limits);
}
