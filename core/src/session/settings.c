/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "session/session.h"
#include "util/text.h"

static const struct {
	const char *name, *help;
} table[] = {
	{ "max-mem",
	  "memory that opening a file may take (512M, 2G; 0 = a quarter of the machine's)" },
	{ "workers", "threads for long work (1 to 64; 0 = the processors online)" },
	{ "width", "cut lines of text behind this column (0 = never)" },
	{ "color", "colours in text: auto, on or off" },
};

static const char *const colors[] = {
	[COLOR_AUTO] = "auto",
	[COLOR_ON] = "on",
	[COLOR_OFF] = "off",
};

const char *hd_setting_name(size_t index, const char **ret_help)
{
	if (index >= sizeof(table) / sizeof(table[0]))
		return NULL;
	if (ret_help)
		*ret_help = table[index].help;
	return table[index].name;
}

static enum hd_status no_setting(const char *name, struct hd_error *err)
{
	return fail(err, HD_ERR_ARGUMENT, 0,
		    "no setting \"%.40s\": there are max-mem, workers, width, color", name);
}

static enum hd_status set_color(struct settings *settings, const char *value, struct hd_error *err)
{
	for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++) {
		if (strcmp(colors[i], value) == 0) {
			settings->color = (enum color_setting)i;
			return HD_OK;
		}
	}
	return fail(err, HD_ERR_ARGUMENT, 0, "color is auto, on or off, not \"%.40s\"", value);
}

enum hd_status settings_set(struct settings *settings, const char *name, const char *value,
			    struct hd_error *err)
{
	if (strcmp(name, "color") == 0)
		return set_color(settings, value, err);
	uint64_t number = 0;
	bool parsed = parse_number(value, &number);
	if (strcmp(name, "max-mem") == 0) {
		if (!parsed) {
			return fail(err, HD_ERR_ARGUMENT, 0,
				    "max-mem is a size such as 512M, not \"%.40s\"", value);
		}
		settings->max_mem = number;
		return HD_OK;
	}
	if (strcmp(name, "workers") == 0) {
		if (!parsed || number > 64) {
			return fail(err, HD_ERR_ARGUMENT, 0,
				    "workers is a number from 0 to 64, not \"%.40s\"", value);
		}
		settings->workers = (unsigned int)number;
		return HD_OK;
	}
	if (strcmp(name, "width") == 0) {
		if (!parsed || number > 65535 || (number && number < 20)) {
			return fail(err, HD_ERR_ARGUMENT, 0,
				    "width is 0 or a number from 20 to 65535, not \"%.40s\"",
				    value);
		}
		settings->width = (uint32_t)number;
		return HD_OK;
	}
	return no_setting(name, err);
}

enum hd_status hd_session_set(struct hd_session *session, const char *name, const char *value,
			      struct hd_error *err)
{
	if (!name || !value)
		return fail(err, HD_ERR_ARGUMENT, 0, "a setting needs a name and a value");
	return settings_set(&session->settings, name, value, err);
}

enum hd_status hd_session_get(const struct hd_session *session, const char *name, char *buf,
			      size_t size, struct hd_error *err)
{
	const struct settings *settings = &session->settings;
	int used;
	if (strcmp(name, "max-mem") == 0) {
		used = snprintf(buf, size, "%" PRIu64, settings->max_mem);
	} else if (strcmp(name, "workers") == 0) {
		used = snprintf(buf, size, "%u", settings->workers);
	} else if (strcmp(name, "width") == 0) {
		used = snprintf(buf, size, "%" PRIu32, settings->width);
	} else if (strcmp(name, "color") == 0) {
		used = snprintf(buf, size, "%s", colors[settings->color]);
	} else {
		return no_setting(name, err);
	}
	if (used < 0 || (size_t)used >= size)
		return fail(err, HD_ERR_ARGUMENT, 0, "the buffer is too small");
	return HD_OK;
}
