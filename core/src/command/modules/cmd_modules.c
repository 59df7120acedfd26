/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "analysis/name_match.h"
#include "command/table.h"
#include "targets/elf_image.h"
#include "targets/image_list.h"
#include "targets/target_files.h"
#include "targets/target_modules.h"

#define MODULES_OPTIONS(X)                                                                     \
	X(OPT_NAME, "name", VALUE_TEXT, "TEXT", "only images whose file's name contains TEXT", \
	  NULL)                                                                                \
	X(OPT_N, "n", VALUE_TEXT, "TEXT", "the same", NULL)                                    \
	X(OPT_VERBOSE, "verbose", VALUE_NONE, NULL,                                            \
	  "also build-ids, and whether the files are there and proven", NULL)                  \
	X(OPT_V, "v", VALUE_NONE, NULL, "the same", NULL)

OPTIONS(modules, MODULES_OPTIONS);

#define IMAGE_LIST(X)                                                                       \
	X(IMAGE_BASE, "base", NULL, KIND_ADDRESS, 0, 0, "where its first mapping begins")   \
	X(IMAGE_END, "end", NULL, KIND_ADDRESS, 0, 0, "where its last mapping ends")        \
	X(IMAGE_SIZE, "size", NULL, KIND_BYTES, 0, 0, "bytes from base to end")             \
	X(IMAGE_PATH, "path", NULL, KIND_TEXT, 0, 0, "its file; null: not known, or none")  \
	X(IMAGE_KIND, "kind", NULL, KIND_TEXT, 0, 0, "elf or pe (a managed module's file)") \
	X(IMAGE_TIMES, "times", NULL, KIND_NUMBER, 0, 0,                                    \
	  "how often the file is mapped as an image; the row is about the largest")         \
	X(IMAGE_BUILD_ID, "build_id", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                   \
	  "with -verbose: of an ELF image, in hex; null: not known")                        \
	X(IMAGE_FILE, "file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                           \
	  "with -verbose: state of the file on this machine")

COLUMNS(image, IMAGE_COLUMNS, IMAGE_LIST);

static const char *const file_states[] = {
	[TARGET_FILE_NONE] = "not used",
	[TARGET_FILE_MATCHED] = "found and proven",
	[TARGET_FILE_UNVERIFIED] = "found, but not proven",
	[TARGET_FILE_MISMATCH] = "another one",
	[TARGET_FILE_MISSING] = "not found",
	[TARGET_FILE_NOT_REGULAR] = "not a regular file",
	[TARGET_FILE_NO_IMAGE] = "neither ELF nor PE",
	[TARGET_FILE_REJECTED] = "another one",
};

#define IMAGES_SCHEMA(form)                                                          \
	{                                                                            \
		.name = "modules", .columns = image_columns, .count = IMAGE_COLUMNS, \
		.is_main = true, .lines = (form),                                    \
	}
static const struct schema short_schema =
	IMAGES_SCHEMA("{base:016X} {size:08X} {path?<no file>}\n");
static const struct schema verbose_schema =
	IMAGES_SCHEMA("{path?<no file>}\n    Address:         {base:016X}\n"
		      "    End:             {end:016X}\n    ImageSize:       {size:08X}\n"
		      "    IsPEImage:       {kind}\n    BuildId:         {build_id?<none>}\n"
		      "    File:            {file?<not known>}\n");

static const struct column total_columns[] = {
	{ "size", "", KIND_BYTES, 0, 0, "bytes of all images that are listed" },
};

SCHEMA(total, .name = "total", .lines = "Total image size: {size}\n");

static bool is_image_wanted(const struct mapped_image *image, const char *part)
{
	const char *slash = strrchr(image->path, '/');
	const char *file = slash ? slash + 1 : image->path;
	return !part || name_matches(file, strlen(file), part);
}

static void write_image(struct call *call, const struct mapped_image *image, bool is_verbose)
{
	const struct target *target = call->session->target;
	char build_id[2 * BUILD_ID_MAX + 1];
	struct cell cells[IMAGE_COLUMNS] = {
		[IMAGE_BASE] = cell_number(image->begin),
		[IMAGE_END] = cell_number(image->end),
		[IMAGE_SIZE] = cell_number(image->end - image->begin),
		[IMAGE_PATH] = cell_string(*image->path ? image->path : NULL),
		[IMAGE_TIMES] = cell_number(image->times),
		[IMAGE_KIND] = cell_shown(cell_string(image->is_managed ? "pe" : "elf"),
					  image->is_managed ? "yes" : "no"),
	};
	if (is_verbose) {
		cells[IMAGE_BUILD_ID] = cell_null();
		cells[IMAGE_FILE] =
			cell_string(file_states[target_file_state(target, image->path)]);
	}
	if (is_verbose && image->module &&
	    target_build_id(target, image->module, build_id, sizeof(build_id)))
		cells[IMAGE_BUILD_ID] = cell_string(build_id);
	answer_row(&call->answer, cells);
}

static enum hd_status run_modules(struct call *call)
{
	HD_CLEANUP(image_list) struct image_list list = { 0 };
	if (!call->session->target) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "a dump file does not say which modules there were; a core or a "
			    "process does");
	}
	TRY(image_list_read(call->session->target, &list, call->err));
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	bool is_verbose = call->options[OPT_VERBOSE].given || call->options[OPT_V].given;
	const char *part = call->options[OPT_NAME].given ? call->options[OPT_NAME].text
							 : call->options[OPT_N].text;
	uint64_t total = 0;
	answer_table(&call->answer, is_verbose ? &verbose_schema : &short_schema, &options);
	for (size_t i = 0; i < list.rows_count; i++) {
		if (!is_image_wanted(&list.rows[i], part))
			continue;
		total += list.rows[i].end - list.rows[i].begin;
		if (answer_wants_row(&call->answer))
			write_image(call, &list.rows[i], is_verbose);
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	const struct cell cells[] = { cell_number(total) };
	answer_record(&call->answer, &total_schema, cells);
	return HD_OK;
}

COMMAND(modules, .alias = "lm", .has_rows = true,
	.summary = "list the files that are mapped as images: native libraries and managed ones",
	.description =
		"The size is that of the address range that the mappings of the file take. A managed\n"
		"file that is mapped again, flat, to read its metadata, has one row. TEXT of\n"
		"-name is meant as that of -type (help dumpheap). Bytes that a core lacks are read from\n"
		"a file only if it is proven to be the one that the process had: -verbose opens each\n"
		"file, and says so. clrmodules lists the modules of the runtime, also those without a\n"
		"file.\n",
	.example = "modules -name libcoreclr -verbose", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_OPEN, .tells_findings = true, .options = modules_options);
