/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/modules/module_pdb.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem/named_file.h"
#include "metadata/image.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module_proof.h"
#include "targets/target.h"
#include "targets/target_files.h"
#include "util/alloc.h"
#include "util/findings.h"
#include "util/inflate.h"
#include "util/read_at.h"
#include "util/text.h"

/* An id as symbol stores write it: 32 digits of the GUID; behind it always the same. */
#define GUID_DIGITS 32u
#define STORE_AGE   "ffffffff"
#define KEY_SIZE    (GUID_DIGITS + sizeof(STORE_AGE))

#define ADVICE "give the folder with the PDBs of this very build as --symbols DIR"

/* A search for one PDB. */
struct search {
	struct runtime *runtime;
	const struct module *module;
	uint64_t *budget;
	struct image_pdb wanted;
	char key[KEY_SIZE];  /* in lower case */
	struct text refused; /* why the first file that was there was not taken; empty: none */
};

/* The GUID in the order in which it is written. */
static void make_key(const uint8_t *id, char key[KEY_SIZE])
{
	static const uint8_t order[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	for (size_t i = 0; i < sizeof(order); i++)
		(void)snprintf(key + 2 * i, 3, "%02x", (unsigned int)id[order[i]]);
	memcpy(key + GUID_DIGITS, STORE_AGE, sizeof(STORE_AGE));
}

/* "a7d5...d667-9f3c1a2b": GUID and time stamp. */
#define ID_SIZE (GUID_DIGITS + 10)
static const char *show_id(const uint8_t *id, char buf[ID_SIZE])
{
	char key[KEY_SIZE];
	make_key(id, key);
	const uint8_t *stamp = id + IMAGE_GUID_SIZE;
	(void)snprintf(buf, ID_SIZE, "%.32s-%02x%02x%02x%02x", key, (unsigned int)stamp[3],
		       (unsigned int)stamp[2], (unsigned int)stamp[1], (unsigned int)stamp[0]);
	return buf;
}

static const char *module_label(const struct search *search)
{
	const char *path = search->module->path;
	return path && *path ? path : search->module->name ? search->module->name : "a module";
}

static void refuse(struct search *search, const char *path, const char *why)
{
	if (!search->refused.size)
		text_printf(&search->refused, "%s%s%s", path, *path ? " " : "", why);
}

/* All bytes of an open file; NULL: they cannot be read, or are too many. */
static uint8_t *read_all(int fd, uint64_t *budget, uint32_t *ret_size)
{
	struct stat info;
	if (fstat(fd, &info) != 0 || info.st_size <= 0 || (uint64_t)info.st_size > *budget ||
	    (uint64_t)info.st_size > UINT32_MAX)
		return NULL;
	size_t size = (size_t)info.st_size;
	uint8_t *bytes = mem_alloc(size, 1);
	if (bytes && read_at(fd, bytes, size, 0) != (ssize_t)size) {
		mem_free(bytes);
		bytes = NULL;
	}
	if (bytes)
		*budget -= size;
	*ret_size = (uint32_t)size;
	return bytes;
}

/* Say that a PDB has another id: its own is only named if the user has named the folder. */
static void refuse_id(struct search *search, const char *path, const struct pdb *pdb, bool is_named)
{
	char why[64 + 2 * ID_SIZE], theirs[ID_SIZE], ours[ID_SIZE];
	(void)show_id(search->wanted.id, ours);
	if (is_named) {
		(void)snprintf(why, sizeof(why), "is of another build: its id is %s, not %s",
			       show_id(pdb_id(pdb), theirs), ours);
	} else {
		(void)snprintf(why, sizeof(why), "is of another build: its id is not %s", ours);
	}
	refuse(search, path, why);
}

/* A PDB out of @p bytes, which are taken over, if it has the id that is wanted. */
static struct pdb *take_pdb(struct search *search, const char *path, uint8_t *bytes, uint32_t size,
			    bool is_named)
{
	struct hd_error err = { 0 };
	struct pdb *pdb = NULL;
	if (pdb_create(bytes, size, &pdb, &err) == HD_ERR_FORMAT) {
		refuse(search, path, is_named ? err.message : "is damaged");
	} else if (pdb && search->wanted.is_portable &&
		   memcmp(pdb_id(pdb), search->wanted.id, PDB_ID_SIZE) != 0) {
		refuse_id(search, path, pdb, is_named);
		pdb_destroy(pdb);
		pdb = NULL;
	}
	return pdb;
}

/* Read the PDB in an open file, which is closed; NULL: it is not the one. */
static struct pdb *read_pdb(struct search *search, int fd, const char *path, bool is_named)
{
	uint32_t size = 0;
	uint8_t *bytes = read_all(fd, search->budget, &size);
	(void)close(fd);
	if (!bytes) {
		refuse(search, path, "cannot be read, or is too large");
		return NULL;
	}
	return take_pdb(search, path, bytes, size, is_named);
}

/*
 * Open the PDB @p path below @p folder (NULL: /); -1: there is no such file, or it is not a PDB.
 *
 * Where the target has named the file, and not the user the folder, no byte of it may be shown.
 */
static int open_pdb(struct search *search, const char *folder, const char *path)
{
	enum named_file_result result;
	int fd = named_file_open(folder, path, NAMED_FILE_PDB, &result);
	if (result == NAMED_FILE_NO_IMAGE)
		refuse(search, path, "is not a portable PDB");
	return fd;
}

/* The PDB @p path in a folder that the user has named. */
static struct pdb *try_path(struct search *search, const char *folder, const char *path)
{
	int fd = open_pdb(search, folder, path);
	return fd < 0 ? NULL : read_pdb(search, fd, path, true);
}

/* The PDB in the image itself, which the target or the proven file of the module has. */
static struct pdb *search_inside(struct search *search)
{
	const struct image_pdb *wanted = &search->wanted;
	uint32_t unpacked_size = wanted->unpacked_size, packed_size = wanted->packed_size;
	if (!wanted->packed || unpacked_size / INFLATE_FACTOR_MAX > packed_size) {
		refuse(search, "", "the PDB inside it is damaged");
		return NULL;
	}
	if (!unpacked_size || unpacked_size > *search->budget || packed_size > *search->budget ||
	    target_reserve(search->runtime->target, 1, (uint64_t)unpacked_size, NULL) != HD_OK) {
		refuse(search, "", "the PDB inside it is too large (set max-mem)");
		return NULL;
	}
	*search->budget -= unpacked_size;
	uint8_t *packed = mem_alloc(packed_size, 1), *unpacked = mem_alloc(unpacked_size, 1);
	bool is_there =
		packed && memory_read(search->runtime->memory, wanted->packed, packed, packed_size);
	bool is_whole =
		unpacked && is_there && inflate_raw(packed, packed_size, unpacked, unpacked_size);
	mem_free(packed);
	if (is_whole)
		return take_pdb(search, "its own PDB", unpacked, unpacked_size, true);
	mem_free(unpacked);
	if (!is_there) {
		refuse(search, "", "the target does not have the PDB inside it");
	} else {
		refuse(search, "", "the PDB inside it is damaged");
	}
	return NULL;
}

static void to_case(char *text, bool is_upper)
{
	for (; *text; text++) {
		if (is_upper && *text >= 'a' && *text <= 'z') {
			*text = (char)(*text - 'a' + 'A');
		} else if (!is_upper && *text >= 'A' && *text <= 'Z') {
			*text = (char)(*text - 'A' + 'a');
		}
	}
}

/* NAME/KEY/NAME: stores differ in the case of letters.  And NAME, as tools put it into a folder. */
static struct pdb *search_store(struct search *search, const char *store)
{
	static const struct {
		bool is_upper_id, is_upper_age;
	} cases[] = { { false, false }, { false, true }, { true, true } };
	char names[2][IMAGE_PDB_NAME_SIZE], path[2 * (size_t)IMAGE_PDB_NAME_SIZE + KEY_SIZE + 4];
	struct pdb *pdb = NULL;
	memcpy(names[0], search->wanted.name, sizeof(names[0]));
	memcpy(names[1], names[0], sizeof(names[1]));
	to_case(names[1], false);
	size_t count = strcmp(names[0], names[1]) == 0 ? 1 : 2;
	for (size_t i = 0; i < count && !pdb; i++) {
		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]) && !pdb; k++) {
			char key[KEY_SIZE];
			memcpy(key, search->key, sizeof(key));
			to_case(key + GUID_DIGITS, cases[k].is_upper_age);
			if (cases[k].is_upper_id)
				to_case(key, true);
			const int most = (int)IMAGE_PDB_NAME_SIZE - 1;
			(void)snprintf(path, sizeof(path), "/%.*s/%s/%.*s", most, names[i], key,
				       most, names[i]);
			pdb = try_path(search, store, path);
		}
	}
	(void)snprintf(path, sizeof(path), "/%s", names[0]);
	return pdb ? pdb : try_path(search, store, path);
}

/* May the files next to @p path be used: is it the file that the target had? */
static bool is_proven(struct search *search, const char *path)
{
	struct target *target = search->runtime->target;
	if (!target->files.files)
		return target->kind != TARGET_CORE;
	module_prove_image(search->runtime, search->module->address, search->module->image_base);
	enum target_file_state state = target_file_state(target, path);
	return state == TARGET_FILE_MATCHED ||
	       (state == TARGET_FILE_UNVERIFIED && target->options.trust_files);
}

/* Next to the file from which the module is mapped. */
static struct pdb *search_beside(struct search *search)
{
	const struct target *target = search->runtime->target;
	const struct target_mapping *mapping =
		search->module->image_base
			? target_mapping_at(&target->map, search->module->image_base)
			: NULL;
	const char *path = mapping ? mapping->path : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;
	char beside[PATH_MAX];
	if (!slash || target->options.no_files || !named_file_is(path) ||
	    (size_t)snprintf(beside, sizeof(beside), "%.*s/%s", (int)(slash - path), path,
			     search->wanted.name) >= sizeof(beside))
		return NULL;
	int fd = open_pdb(search, target->options.sysroot, beside);
	if (fd < 0)
		return NULL;
	/* No byte of it is read before that. */
	if (!is_proven(search, path)) {
		(void)close(fd);
		refuse(search, beside, "lies next to a file that is not proven to be the module's");
		return NULL;
	}
	return read_pdb(search, fd, beside, false);
}

struct pdb *module_pdb_open(struct runtime *runtime, const struct module *module,
			    const char *symbols,
			    uint64_t *budget) /* NOLINT(readability-non-const-parameter) */
{
	struct search search = { .runtime = runtime, .module = module, .budget = budget };
	struct pdb *pdb = NULL;
	if (!module->image_base ||
	    !image_find_pdb(runtime->memory, module->image_base, module->is_mapped, &search.wanted))
		return NULL;
	if (search.wanted.is_embedded)
		pdb = search_inside(&search);
	if (!pdb && search.wanted.is_portable) {
		make_key(search.wanted.id, search.key);
		if (symbols && *symbols)
			pdb = search_store(&search, symbols);
		if (!pdb)
			pdb = search_beside(&search);
	}
	if (!pdb && search.refused.size) {
		findings_add(&runtime->target->findings, FINDING_PDB, ADVICE,
			     "no lines of source code for %s: %s", module_label(&search),
			     search.refused.bytes);
	}
	text_deinit(&search.refused);
	return pdb;
}
