/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "session/session_state.h"
#include "targets/target_options.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/opening.h"
#include "util/text.h"

static const struct {
	const char *name, *help;
} table[] = {
	{ "max-mem", "memory that opening may take (512M, 2G; 0 = a part of the free memory)" },
	{ "max-stop", "seconds for which a process may be stopped while it is copied (1 to 3600)" },
	{ "workers", "threads for long work (1 to 64; 0 = the processors online)" },
	{ "width", "columns that names are shortened to fit (auto: the terminal's; 0: never)" },
	{ "color", "colours in text: auto, on or off" },
	{ "format", "format of answers: text, json, ndjson or csv (the rows of the main table)" },
	{ "raw-csv", "no apostrophe in csv before what a spreadsheet would run: on or off" },
	{ "sysroot", "look up the files that a core names below this folder (empty = /)" },
	{ "symbols", "look up PDBs and symbol files (lines, names) in this folder (empty = none)" },
	{ "runtime",
	  "of several .NET runtimes, the one in the module of this name (empty = the first)" },
	{ "files", "read module files next to a core for what it lacks: on or off" },
	{ "trust-files", "use module files that nothing proves to be right: on or off" },
	{ "copy-all", "copy all memory of a process, also what no answer needs: on or off" },
	{ "exact", "read a .nettrace as dotnet-gcdump does, to the byte: on or off" },
	{ "snapshot", "which heap snapshot of a .nettrace to read (0 = the first)" },
	{ "pager", "send answers at the prompt of heapdump through $PAGER, or less: on or off" },
	{ "code", "let a debugger know the managed code of what it debugs: on or off" },
	{ "backend", "how a debugger's memory is read: auto, file, process or debugger" },
};

static const char *const colors[] = {
	[COLOR_AUTO] = "auto",
	[COLOR_ON] = "on",
	[COLOR_OFF] = "off",
	NULL,
};

static const char *const formats[] = {
	[FORMAT_TEXT] = "text",
	[FORMAT_JSON] = "json",
	[FORMAT_NDJSON] = "ndjson",
	[FORMAT_CSV] = "csv",
	NULL,
};

const char *hd_setting_name(size_t index, const char **ret_help)
{
	if (index >= sizeof(table) / sizeof(table[0]))
		return NULL;
	if (ret_help)
		*ret_help = table[index].help;
	return table[index].name;
}

static const char *const backends[] = {
	[BACKEND_AUTO] = "auto",
	[BACKEND_FILE] = "file",
	[BACKEND_PROCESS] = "process",
	[BACKEND_DEBUGGER] = "debugger",
	NULL,
};

static const char *const switches[] = { "off", "on", NULL };

const char *const *settings_choices(const char *name)
{
	static const struct {
		const char *name;
		const char *const *choices;
	} lists[] = {
		{ "color", colors },         { "backend", backends }, { "files", switches },
		{ "trust-files", switches }, { "exact", switches },   { "format", formats },
		{ "copy-all", switches },    { "pager", switches },   { "raw-csv", switches },
		{ "code", switches },
	};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (strcmp(lists[i].name, name) == 0)
			return lists[i].choices;
	}
	return NULL;
}

static enum hd_status no_setting(const char *name, struct hd_error *err)
{
	return fail(
		err, HD_ERR_ARGUMENT, 0,
		"no setting \"%.40s\": there are max-mem, max-stop, workers, width, color, format, "
		"raw-csv, sysroot, symbols, runtime, files, trust-files, copy-all, exact, snapshot, code, "
		"backend, pager",
		name);
}

/* Index of @p value among the choices of the setting, case ignored. */
static enum hd_status index_of_choice(const char *name, const char *value, unsigned int *ret,
				      struct hd_error *err)
{
	const char *const *choices = settings_choices(name);
	char list[128];
	size_t used = 0;
	for (unsigned int i = 0; choices && choices[i]; i++) {
		if (strcasecmp(choices[i], value) == 0) {
			*ret = i;
			return HD_OK;
		}
		const char *before = i == 0 ? "" : !choices[i + 1] ? " or " : ", ";
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", before,
					 choices[i]);
	}
	return fail(err, HD_ERR_ARGUMENT, 0, "%s is %s, not \"%.40s\"", name, list, value);
}

/* Settings that are a folder, or "" for none. */
static const char *const folders[] = { "sysroot", "symbols" };

static bool is_folder(const char *name)
{
	return strcmp(name, folders[0]) == 0 || strcmp(name, folders[1]) == 0;
}

/* The only setting that is a name. */
static bool is_name(const char *name)
{
	return strcmp(name, "runtime") == 0;
}

/* The text of a setting that is a folder or a name; NULL: it has none. */
static const char **text_of(struct settings *settings, const char *name)
{
	return is_name(name)                   ? &settings->runtime
	       : strcmp(name, folders[0]) == 0 ? &settings->sysroot
					       : &settings->symbols;
}

static enum hd_status set_folder(struct settings *settings, const char *name, const char *value,
				 struct hd_error *err)
{
	int folder = *value ? open_as(HD_OPEN_FOLDER, value) : -1;
	if (*value && folder < 0) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "%s must be a folder, and \"%.200s\" is not one", name, value);
	}
	if (folder >= 0)
		(void)close(folder);
	*text_of(settings, name) = *value ? value : NULL;
	return HD_OK;
}

static enum hd_status set_number(struct settings *settings, const char *name, const char *value,
				 struct hd_error *err)
{
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
	if (strcmp(name, "max-stop") == 0) {
		if (!parsed || !number || number > PROCESS_STOP_SECONDS_MAX) {
			return fail(err, HD_ERR_ARGUMENT, 0,
				    "max-stop is a number of seconds from 1 to %u, not \"%.40s\"",
				    PROCESS_STOP_SECONDS_MAX, value);
		}
		settings->max_stop = (unsigned int)number;
		return HD_OK;
	}
	if (strcmp(name, "workers") == 0) {
		if (!parsed || number > JOB_WORKERS_MAX) {
			return fail(err, HD_ERR_ARGUMENT, 0,
				    "workers is a number from 0 to 64, not \"%.40s\"", value);
		}
		settings->workers = (unsigned int)number;
		return HD_OK;
	}
	if (strcmp(name, "snapshot") == 0) {
		if (!parsed || number > UINT32_MAX) {
			return fail(err, HD_ERR_ARGUMENT, 0, "snapshot is a number, not \"%.40s\"",
				    value);
		}
		settings->snapshot = (uint32_t)number;
		return HD_OK;
	}
	if (strcmp(name, "width") == 0) {
		if (strcasecmp(value, "auto") == 0) {
			settings->width = WIDTH_AUTO;
			return HD_OK;
		}
		if (!parsed || number > 65535 || (number && number < 20)) {
			return fail(err, HD_ERR_ARGUMENT, 0,
				    "width is auto, 0 or a number from 20 to 65535, not \"%.40s\"",
				    value);
		}
		settings->width = (uint32_t)number;
		return HD_OK;
	}
	return no_setting(name, err);
}

/* Set a value that is one of the setting's choices. */
static void set_choice(struct settings *settings, const char *name, unsigned int chosen)
{
	if (strcmp(name, "color") == 0) {
		settings->color = (enum color_setting)chosen;
	} else if (strcmp(name, "format") == 0) {
		settings->format = (enum answer_format)chosen;
	} else if (strcmp(name, "backend") == 0) {
		settings->backend = (enum backend_setting)chosen;
	} else if (strcmp(name, "files") == 0) {
		settings->no_files = chosen == 0;
	} else if (strcmp(name, "trust-files") == 0) {
		settings->trust_files = chosen != 0;
	} else if (strcmp(name, "copy-all") == 0) {
		settings->copy_all = chosen != 0;
	} else if (strcmp(name, "raw-csv") == 0) {
		settings->raw_csv = chosen != 0;
	} else if (strcmp(name, "pager") == 0) {
		settings->front.no_pager = chosen == 0;
	} else if (strcmp(name, "code") == 0) {
		settings->front.no_code = chosen == 0;
	} else {
		settings->exact = chosen != 0;
	}
}

enum hd_status settings_set(struct settings *settings, const char *name, const char *value,
			    struct hd_error *err)
{
	unsigned int chosen = 0;
	if (settings_choices(name)) {
		TRY(index_of_choice(name, value, &chosen, err));
		set_choice(settings, name, chosen);
		return HD_OK;
	}
	if (is_folder(name))
		return set_folder(settings, name, value, err);
	if (is_name(name) && strlen(value) >= HD_SETTING_SIZE) {
		return fail(err, HD_ERR_ARGUMENT, 0, "%s is a name of fewer than %d bytes", name,
			    HD_SETTING_SIZE);
	}
	if (is_name(name)) {
		*text_of(settings, name) = *value ? value : NULL;
		return HD_OK;
	}
	return set_number(settings, name, value, err);
}

enum hd_status hd_session_set(struct hd_session *session, const char *name, const char *value,
			      struct hd_error *err)
{
	if (!session || !name || !value) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "a setting needs a session, a name and a value");
	}
	if (!is_folder(name) && !is_name(name))
		return settings_set(&session->settings, name, value, err);
	char *copy = mem_strndup(value, strlen(value));
	TRY_MEMORY(copy, err);
	enum hd_status status = settings_set(&session->settings, name, copy, err);
	if (status != HD_OK) {
		mem_free(copy);
		return status;
	}
	char **own = is_name(name)                   ? &session->texts.runtime
		     : strcmp(name, folders[0]) == 0 ? &session->texts.sysroot
						     : &session->texts.symbols;
	mem_free(*own);
	*own = copy;
	return HD_OK;
}

/* Which of its choices a setting has. */
static unsigned int chosen_of(const struct settings *settings, const char *name)
{
	const struct {
		const char *name;
		unsigned int chosen;
	} all[] = {
		{ "color", settings->color },           { "format", settings->format },
		{ "raw-csv", settings->raw_csv },       { "backend", settings->backend },
		{ "files", !settings->no_files },       { "trust-files", settings->trust_files },
		{ "copy-all", settings->copy_all },     { "exact", settings->exact },
		{ "pager", !settings->front.no_pager }, { "code", !settings->front.no_code },
	};
	size_t i = 0;
	while (i + 1 < sizeof(all) / sizeof(all[0]) && strcmp(all[i].name, name) != 0)
		i++;
	return all[i].chosen;
}

enum hd_status hd_session_get(const struct hd_session *session, const char *name, char *buf,
			      size_t size, struct hd_error *err)
{
	if (!session || !name || !buf) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "a setting needs a session, a name and a buffer");
	}
	const struct settings *settings = &session->settings;
	const char *const *choices = settings_choices(name);
	int used;
	if (choices) {
		used = snprintf(buf, size, "%s", choices[chosen_of(settings, name)]);
	} else if (strcmp(name, "max-mem") == 0) {
		used = snprintf(buf, size, "%" PRIu64, settings->max_mem);
	} else if (strcmp(name, "max-stop") == 0) {
		used = snprintf(buf, size, "%u",
				settings->max_stop ? settings->max_stop : PROCESS_STOP_SECONDS);
	} else if (strcmp(name, "workers") == 0) {
		used = snprintf(buf, size, "%u", settings->workers);
	} else if (strcmp(name, "width") == 0 && settings->width == WIDTH_AUTO) {
		used = snprintf(buf, size, "auto");
	} else if (strcmp(name, "width") == 0) {
		used = snprintf(buf, size, "%" PRIu32, settings->width);
	} else if (is_folder(name) || is_name(name)) {
		struct settings copy = *settings;
		const char *text = *text_of(&copy, name);
		used = snprintf(buf, size, "%s", text ? text : "");
	} else if (strcmp(name, "snapshot") == 0) {
		used = snprintf(buf, size, "%" PRIu32, settings->snapshot);
	} else {
		return no_setting(name, err);
	}
	if (used < 0 || (size_t)used >= size)
		return fail(err, HD_ERR_ARGUMENT, 0, "the buffer is too small");
	return HD_OK;
}
