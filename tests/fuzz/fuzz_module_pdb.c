/* SPDX-License-Identifier: MIT */
/* covers: core/src/runtime/coreclr/modules/module_pdb.c core/src/metadata/image.c core/src/util/inflate.c */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "linear.h"
#include "runs.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module_pdb.h"
#include "support/elf_maker.h"
#include "support/fake_clr.h"
#include "targets/target_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The input is the file of a managed module, which a core names and has only the first page of, and
 * a PDB next to it.  After the head come the bytes of both, one after the other (runs.h;
 * make_module_pdbs.py writes such inputs).
 */
#define IS_MAPPED   1u /* the image lies in memory as its sections say, and not as in the file */
#define IS_TRUSTED  2u /* the core does not have the headers, and the user trusts the files */
#define HAS_SYMBOLS 4u /* the folder with the PDB is one that the user has named */
#define BASE        ((uint64_t)0x7f1200000000)
#define PAGE        ((uint64_t)4096)
#define BUDGET      ((uint64_t)1 << 20)
#define MAX_MEM     ((uint64_t)64 << 20)
#define NAMES       4u

struct head {
	uint8_t flags, unused;
	uint16_t module_size, pdb_size;
};

/** A folder of this process with the two files. */
static char folder[] = "/tmp/heapdump-fuzz-XXXXXX";
static char module_path[64], pdb_path[64];
static struct fake_clr *fake;

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void remove_all(void)
{
	(void)unlink(module_path);
	(void)unlink(pdb_path);
	(void)rmdir(folder);
	fake_clr_destroy(fake);
}

static void make_all(void)
{
	require(mkdtemp(folder) != NULL);
	(void)snprintf(module_path, sizeof(module_path), "%s/module.dll", folder);
	(void)snprintf(pdb_path, sizeof(pdb_path), "%s/module.pdb", folder);
	fake = fake_clr_create(NULL);
	(void)fake_runtime(fake);
	require(!atexit(remove_all));
}

static struct target *open_core(const struct head *head, const uint8_t *module)
{
	const struct target_options options = { .trust_files = head->flags & IS_TRUSTED,
						.max_mem = MAX_MEM };
	uint64_t end = (head->module_size + PAGE - 1) / PAGE * PAGE;
	struct elf_maker maker;
	elf_maker_init(&maker);
	elf_maker_file(&maker, BASE, BASE + end, 0, module_path);
	if (!(head->flags & IS_TRUSTED) && head->module_size >= PAGE)
		elf_maker_load(&maker, BASE, module, PAGE, PAGE, PF_R);
	elf_maker_load(&maker, BASE - 16 * PAGE, "own", 4, PAGE, PF_R);
	struct text core = elf_maker_build(&maker);
	elf_maker_deinit(&maker);
	char name[64];
	int fd = memfd_create("core", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, core.bytes, core.size) == (ssize_t)core.size);
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	struct target *target = NULL;
	struct hd_error err = { 0 };
	require(target_open_core(name, &options, NULL, &target, &err) == HD_OK || err.message[0]);
	(void)close(fd);
	text_deinit(&core);
	return target;
}

static void use(struct pdb *pdb)
{
	uint64_t budget = BUDGET;
	for (uint32_t method = 1; method < 8; method++) {
		const char *names[NAMES] = { NULL };
		struct pdb_point point;
		uint32_t value;
		if (pdb_point_at(pdb, method, 0x10, &point))
			(void)pdb_document(pdb, point.document);
		(void)pdb_local_names(pdb, method, 0, &budget, names, NAMES);
		(void)pdb_await_at(pdb, method, 0, &budget, &value);
	}
	require(budget <= BUDGET);
}

/* A PDB that is found has the id that the module names; one that is there and is not taken is told. */
static void look(struct target *target, const struct head *head)
{
	struct runtime *runtime = fake->runtime;
	struct target *own_target = runtime->target;
	struct memory *own_memory = runtime->memory;
	struct module module = { .image_base = BASE, .is_mapped = head->flags & IS_MAPPED };
	uint64_t budget = BUDGET;
	runtime->target = target;
	runtime->memory = target->memory;
	size_t before = target->findings.count;
	struct pdb *pdb = module_pdb_open(runtime, &module,
					  head->flags & HAS_SYMBOLS ? folder : NULL, &budget);
	require(budget <= BUDGET);
	if (pdb) {
		require(target->findings.count == before);
		use(pdb);
	}
	pdb_destroy(pdb);
	runtime->target = own_target;
	runtime->memory = own_memory;
}

/* Any module, any PDB: no crash, no hang, and no more memory than the bytes are worth. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct head head;
	if (!fake)
		make_all();
	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	size_t total = (size_t)head.module_size + head.pdb_size;
	uint8_t *bytes = runs_unpack(total, data + sizeof(head), size - sizeof(head));
	require(write_file(module_path, bytes, head.module_size));
	require(write_file(pdb_path, bytes + head.module_size, head.pdb_size));
	struct target *target = open_core(&head, bytes);
	if (target) {
		/* A PDB that is inside may become so much larger; so much may be taken for it. */
		struct linear linear = linear_begin(total + BUDGET / 8);
		look(target, &head);
		linear_end(&linear, "module PDB");
	}
	target_destroy(target);
	free(bytes);
	return 0;
}
