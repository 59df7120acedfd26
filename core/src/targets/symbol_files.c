/* SPDX-License-Identifier: MIT */
#include "targets/symbol_files.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "mem/named_file.h"
#include "targets/target_modules.h"
#include "util/alloc.h"
#include "util/read_at.h"
#include "util/text.h"

/** Most modules whose files are looked up. */
#define MODULES_MAX 1024u
/** A build-id in hexadecimal digits, with the NUL. */
#define ID_SIZE (2 * BUILD_ID_MAX + 1)
/** Bytes of a file that are read at a time for its CRC. */
#define CRC_PART ((size_t)1 << 16)
/** Most bytes of .gnu_debuglink: a name, padding, and the CRC. */
#define LINK_SIZE_MAX (NAME_MAX + 8u)

#define ADVICE "give the folder with the symbol files of this very build as --symbols DIR"

struct symbol_files {
	char *folder; /* or NULL */
	struct module_names {
		uint64_t base; /* of the module */
		struct function_names names;
	} * rows;
	size_t count;
};

struct search;
/* Take what is wanted out of a file that is proven; is_done: no other file is needed. */
typedef void take_file(struct search *search, const struct elf_file *file, const char *folder,
		       const char *path);

/* A search for the symbols of one module. */
struct search {
	struct target *target;
	const char *path, *name; /* of the module's file; its last part */
	char id[ID_SIZE];
	uint64_t *budget;
	take_file *take;
	bool is_done;
	struct function_names found;
	struct debug_bytes debug;
	bool tells_links; /* the user hears of a file that .gnu_debuglink names and is not taken */
	bool is_told;     /* the same of the file that is looked at now */
	struct text refused; /* why the first file with a fitting name was not taken; or empty */
	char link[NAME_MAX + 1]; /* .gnu_debuglink of the own file; "": none */
	uint32_t link_crc;
};

struct symbol_files *symbol_files_create(void)
{
	return mem_calloc(1, sizeof(struct symbol_files));
}

static void forget(struct symbol_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		function_names_deinit(&files->rows[i].names);
	mem_free(files->rows);
	mem_free(files->folder);
	*files = (struct symbol_files){ 0 };
}

void symbol_files_destroy(struct symbol_files *files)
{
	if (!files)
		return;
	forget(files);
	mem_free(files);
}

/*
 * The CRC of .gnu_debuglink is that of zlib, of the whole file.  The target may have made it: it may
 * be sparse and enormous, and grow meanwhile.
 */
static bool has_crc(struct search *search, int fd, uint32_t wanted)
{
	struct stat info;
	if (fstat(fd, &info) != 0 || info.st_size < 0 || (uint64_t)info.st_size > *search->budget)
		return false;
	*search->budget -= (uint64_t)info.st_size;
	HD_FREE uint8_t *part = mem_alloc(CRC_PART, 1);
	uLong crc = crc32(0, NULL, 0);
	ssize_t got = part ? (ssize_t)CRC_PART : -1;
	for (off_t at = 0; at <= info.st_size && got == (ssize_t)CRC_PART; at += got) {
		got = read_at(fd, part, CRC_PART, at);
		if (got > 0)
			crc = crc32(crc, part, (uInt)got);
	}
	return got >= 0 && crc == wanted;
}

static bool has_id(const struct search *search, const struct elf_file *file)
{
	uint8_t bytes[BUILD_ID_MAX];
	char id[ID_SIZE] = "";
	size_t size = elf_file_build_id(file, bytes);
	for (size_t i = 0; i < size; i++)
		(void)snprintf(id + 2 * i, 3, "%02x", (unsigned int)bytes[i]);
	return strcmp(id, search->id) == 0;
}

static void refuse(struct search *search, const char *folder, const char *path, const char *why)
{
	if (!search->refused.size)
		text_printf(&search->refused, "%s%s %s", folder ? folder : "", path, why);
}

/* Read the names out of a file that is proven; a table of all functions replaces a smaller one. */
static void take_names(struct search *search, const struct elf_file *file, const char *folder,
		       const char *path)
{
	struct function_names names;
	enum hd_status status = function_names_read(search->target, file, search->budget, &names);
	if (status == HD_ERR_FORMAT) {
		refuse(search, folder, path, "has a symbol table that cannot be read");
	} else if (status == HD_ERR_NOMEM) {
		refuse(search, folder, path, "has a symbol table that needs too much memory");
	} else if (status == HD_OK && (names.is_whole || !search->found.count)) {
		function_names_deinit(&search->found);
		search->found = names;
		search->is_done = names.is_whole;
	} else if (status == HD_OK) {
		function_names_deinit(&names);
	}
}

/* .gnu_debuglink: a name, zeros up to a multiple of 4 bytes, and a CRC in the file's byte order. */
static void take_link(struct search *search, const struct elf_file *file)
{
	const Elf_Data *data = elf_file_section(file, ".gnu_debuglink", LINK_SIZE_MAX);
	const char *name = data ? data->d_buf : NULL;
	size_t size = name ? strnlen(name, data->d_size) : 0, at = (size + 4) & ~(size_t)3;
	if (!size || size > NAME_MAX || at + 4 > data->d_size || memchr(name, '/', size))
		return;
	memcpy(search->link, name, size + 1);
	search->link_crc = load_u32((const uint8_t *)name + at);
}

/* Open the file @p path below @p folder (NULL: /), if it has the build-id; false: it is not there. */
static bool open_proven(struct search *search, const char *folder, const char *path,
			struct elf_file *ret)
{
	enum named_file_result result;
	int fd = named_file_open(folder, path, NAMED_FILE_IMAGE, &result);
	if (fd < 0)
		return false;
	if (elf_file_open(fd, ret)) {
		if (has_id(search, ret))
			return true;
		elf_file_close(ret);
	}
	(void)close(fd);
	/*
	 * Nobody is told anything about a file that the target names and is not its own.  A link is out
	 * of the program's own file.
	 */
	if (search->is_told)
		refuse(search, folder, path, "is of another build");
	return false;
}

static void close_proven(struct elf_file *file)
{
	int fd = file->fd;
	elf_file_close(file);
	(void)close(fd);
}

static void try_file(struct search *search, const char *folder, const char *path)
{
	struct elf_file file;
	if (search->is_done || !open_proven(search, folder, path, &file))
		return;
	search->take(search, &file, folder, path);
	close_proven(&file);
}

/*
 * Make a path of a pattern, where %n is the name of the module's file, %i the build-id, and %a and %r
 * its first two digits and the rest; false: it is too long.
 */
static bool fill_pattern(const struct search *search, const char *pattern, char path[PATH_MAX])
{
	size_t used = 0;
	for (const char *at = pattern; *at; at++) {
		int size = 1;
		const char *part = at;
		if (*at == '%') {
			at++;
			part = *at == 'n' ? search->name : *at == 'r' ? search->id + 2 : search->id;
			size = *at == 'a' ? 2 : (int)strlen(part);
		}
		int got = snprintf(path + used, PATH_MAX - used, "%.*s", size, part);
		if (got < 0 || (size_t)got >= PATH_MAX - used)
			return false;
		used += (size_t)got;
	}
	return true;
}

/*
 * Search the user's folder, as distributions, linkers, .NET, symbol stores (dotnet-symbol) and
 * debuginfod name such files.
 */
static void search_folder(struct search *search, const char *folder)
{
	static const char *const patterns[] = { "/.build-id/%a/%r.debug",
						"/%n.debug",
						"/%n.dbg",
						"/_.debug/elf-buildid-sym-%i/_.debug",
						"/%i/debuginfo",
						"/%n",
						"/%n/elf-buildid-%i/%n" };
	char path[PATH_MAX];
	search->is_told = true;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		if (fill_pattern(search, patterns[i], path))
			try_file(search, folder, path);
	}
	search->is_told = false;
}

/* Read the file that .gnu_debuglink names, in one of the places where GDB looks for it. */
static void try_link(struct search *search, const char *path)
{
	const char *sysroot = search->target->options.sysroot;
	struct elf_file file;
	if (search->is_done || !open_proven(search, sysroot, path, &file))
		return;
	if (has_crc(search, file.fd, search->link_crc))
		search->take(search, &file, sysroot, path);
	close_proven(&file);
}

static void search_links(struct search *search)
{
	static const char *const places[][2] = { { "", "" },
						 { "", ".debug/" },
						 { "/usr/lib/debug", "" } };
	int folder_size = (int)(search->name - search->path); /* with the slash */
	char path[PATH_MAX];
	search->is_told = search->tells_links;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && search->link[0]; i++) {
		int size = snprintf(path, sizeof(path), "%s%.*s%s%s", places[i][0], folder_size,
				    search->path, places[i][1], search->link);
		if (size > 0 && size < PATH_MAX)
			try_link(search, path);
	}
	search->is_told = false;
}

/* Search what the target names and what is installed: only with the build-id it is the module's. */
static void search_system(struct search *search)
{
	const char *sysroot = search->target->options.sysroot;
	struct elf_file own;
	char path[PATH_MAX];
	if (named_file_is(search->path) && open_proven(search, sysroot, search->path, &own)) {
		search->take(search, &own, sysroot, search->path);
		take_link(search, &own);
		close_proven(&own);
	}
	if (fill_pattern(search, "/usr/lib/debug/.build-id/%a/%r.debug", path))
		try_file(search, sysroot, path);
	search_links(search);
}

/* Forget what was found if the user has another folder now; false: memory is exhausted. */
static bool set_folder(struct symbol_files *files, const char *folder)
{
	if (files->folder ? folder && strcmp(files->folder, folder) == 0 : !folder)
		return true;
	forget(files);
	files->folder = folder ? mem_strndup(folder, strlen(folder)) : NULL;
	return files->folder || !folder;
}

/* Search all files; what for is in @p search.  false: the module has no build-id. */
static bool search_all(struct search *search, const struct target_module *module,
		       const char *folder)
{
	const char *slash = strrchr(search->path, '/');
	search->name = slash ? slash + 1 : search->path;
	if (!target_build_id(search->target, module, search->id, sizeof(search->id)) ||
	    strlen(search->id) < (size_t)2 * BUILD_ID_MIN)
		return false;
	if (folder && *folder)
		search_folder(search, folder);
	if (!search->target->options.no_files)
		search_system(search);
	return true;
}

/* NOLINTBEGIN(readability-non-const-parameter): the search takes off the budget what it reads. */
static struct function_names search_names(struct target *target, const struct target_module *module,
					  const char *path, const char *folder, uint64_t *budget)
/* NOLINTEND(readability-non-const-parameter) */
{
	struct search search = {
		.target = target, .path = path, .budget = budget, .take = take_names
	};
	if (search_all(&search, module, folder) && !search.is_done && search.refused.size) {
		findings_add(&target->findings, FINDING_SYMBOL_FILE, ADVICE,
			     "no names of functions that are not exported for %s: %s", path,
			     search.refused.bytes);
	}
	text_deinit(&search.refused);
	return search.found;
}

/* Read all bytes of a file with DWARF: who reads that must not meet a file that changes meanwhile. */
static void take_debug(struct search *search, const struct elf_file *file, const char *folder,
		       const char *path)
{
	struct stat info;
	if (!elf_file_has_section(file, ".debug_info") || fstat(file->fd, &info) != 0 ||
	    info.st_size <= 0)
		return;
	uint64_t size = (uint64_t)info.st_size;
	HD_FREE uint8_t *bytes = NULL;
	if (size <= *search->budget && target_reserve(search->target, size, 1, NULL) == HD_OK)
		bytes = mem_alloc(size, 1);
	if (!bytes) {
		refuse(search, folder, path, "needs too much memory");
		return;
	}
	*search->budget -= size;
	if (read_at(file->fd, bytes, size, 0) != (ssize_t)size) {
		refuse(search, folder, path, "cannot be read");
		return;
	}
	search->debug = (struct debug_bytes){ .bytes = bytes, .size = size };
	search->is_done = true;
	bytes = NULL;
}

bool symbol_files_debug(struct target *target, const struct target_module *module, const char *path,
			uint64_t budget, struct debug_bytes *ret)
{
	struct search search = {
		.target = target,
		.path = path,
		.budget = &budget,
		.take = take_debug,
		.tells_links = true,
	};
	if (search_all(&search, module, target->options.symbols) && !search.is_done &&
	    search.refused.size) {
		findings_add(&target->findings, FINDING_SYMBOL_FILE, ADVICE,
			     "own fields, static fields and lines of %s are not known: %s", path,
			     search.refused.bytes);
	}
	text_deinit(&search.refused);
	*ret = search.debug;
	return search.is_done;
}

void debug_bytes_deinit(struct debug_bytes *debug)
{
	mem_free(debug->bytes);
	*debug = (struct debug_bytes){ 0 };
}

const struct function_names *symbol_files_of(struct target *target,
					     const struct target_module *module, const char *path,
					     const char *folder, uint64_t *budget)
{
	struct symbol_files *files = target->files.symbol_files;
	if (!set_folder(files, folder))
		return NULL;
	for (size_t i = 0; i < files->count; i++) {
		if (files->rows[i].base == module->base)
			return &files->rows[i].names;
	}
	if (!files->rows)
		files->rows = mem_alloc(MODULES_MAX, sizeof(*files->rows));
	if (!files->rows || files->count == MODULES_MAX)
		return NULL;
	struct module_names *row = &files->rows[files->count++];
	*row = (struct module_names){ .base = module->base,
				      .names = search_names(target, module, path, folder, budget) };
	return &row->names;
}
