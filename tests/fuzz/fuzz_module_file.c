/* SPDX-License-Identifier: MIT */
/*
 * covers: core/src/targets/symbol.c core/src/targets/symbol_at.c core/src/targets/elf_image.c
 * core/src/targets/elf_file.c core/src/targets/symbol_files.c core/src/targets/function_names.c core/src/targets/module_files.c core/src/targets/code_place.c core/src/unwind/cfi_image.c
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/x86_64/frame_registers.h"
#include "linear.h"
#include "runs.h"
#include "support/elf_maker.h"
#include "targets/code_place.h"
#include "targets/image_list.h"
#include "targets/target_files.h"
#include "targets/target_modules.h"
#include "unwind/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The input is a module's file, which a core names and does not have the bytes of: its symbols, its
 * build-id and its call frame information are read out of it; so is .symtab, and .gnu_debuglink,
 * which may lead to the file itself.  After the head come its bytes
 * (runs.h; make_module_files.py writes such inputs).
 */
#define IS_PROVEN \
	1u /* the core has the first page, so that the file is proven; else it is trusted */
#define IS_TWICE     2u /* the file is mapped again after itself */
#define IS_PROGRAM   4u /* the core says that it is the program: AT_PHDR, AT_ENTRY */
#define IN_SYSROOT   8u
#define HAS_SYMBOLS  16u /* the folder is also one that the user has named for symbols */
#define BASE         ((uint64_t)0x7f1200000000)
#define STACK        ((uint64_t)0x7ffe00000000)
#define STACK_WORDS  512u
#define PAGE         ((uint64_t)4096)
#define STEPS_MAX    64u
#define SYMBOL_BYTES ((uint64_t)64 << 20)

struct head {
	uint8_t flags;
	uint8_t function; /* a page of the file that has code */
	uint16_t size;    /* of the file */
};

/** A folder of this process with the file. */
static char folder[] = "/tmp/heapdump-fuzz-XXXXXX";
static char path[64];

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void remove_folder(void)
{
	(void)unlink(path);
	(void)rmdir(folder);
}

static void write_module(const uint8_t *data, size_t size)
{
	if (!path[0]) {
		require(mkdtemp(folder) && !atexit(remove_folder));
		(void)snprintf(path, sizeof(path), "%s/libmodule.so", folder);
	}
	require(write_file(path, data, size));
}

/* A thread in the module, whose stack is full of addresses of both. */
static void add_stack(struct elf_maker *maker, uint64_t code)
{
	uint64_t words[STACK_WORDS];
	for (uint64_t i = 0; i < STACK_WORDS; i++)
		words[i] = i % 3 ? code + i % 64 : STACK + 8 * i + 64;
	elf_maker_load(maker, STACK, words, sizeof(words), sizeof(words), PF_R | PF_W);
	elf_maker_thread(maker, 1, NULL, 6);
}

static struct text make_core(const struct head *head, const uint8_t *data)
{
	struct elf_maker maker;
	uint64_t end = (head->size + PAGE - 1) / PAGE * PAGE;
	const char *named = head->flags & IN_SYSROOT ? strrchr(path, '/') : path;
	elf_maker_init(&maker);
	const uint64_t auxv[][2] = { { AT_PHDR, BASE + sizeof(Elf64_Ehdr) },
				     { AT_PHNUM, 8 },
				     { AT_ENTRY, BASE + PAGE * head->function } };
	if (head->flags & IS_PROGRAM)
		elf_maker_auxv(&maker, auxv, sizeof(auxv) / sizeof(auxv[0]));
	for (unsigned int i = 0; i < (head->flags & IS_TWICE ? 2u : 1u); i++)
		elf_maker_file(&maker, BASE + i * end, BASE + (i + 1) * end, 0, named);
	if (head->flags & IS_PROVEN && head->size >= PAGE)
		elf_maker_load(&maker, BASE, data, PAGE, PAGE, PF_R | PF_X);
	add_stack(&maker, BASE + PAGE * head->function);
	struct text core = elf_maker_build(&maker);
	elf_maker_deinit(&maker);
	return core;
}

static enum hd_status open_core(const struct text *core, const struct target_options *options,
				struct target **ret, struct hd_error *err)
{
	char name[64];
	int fd = memfd_create("core", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, core->bytes, core->size) == (ssize_t)core->size);
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	enum hd_status status = target_open_core(name, options, NULL, ret, err);
	(void)close(fd);
	return status;
}

static void walk(const struct target *target, uint64_t ip)
{
	struct registers registers = { .arch = &arch_x86_64 };
	for (unsigned int i = 0; i < REG_ROWS; i++)
		registers.values[i] = STACK + 256 + 8 * (uint64_t)i;
	registers.values[REG_RSP] = STACK + 64;
	registers.values[REG_RIP] = ip;
	struct cfi *cfi = cfi_create(target);
	bool is_exact = true;
	for (unsigned int i = 0; cfi && i < STEPS_MAX; i++) {
		struct registers before = registers;
		enum cfi_result result = cfi_step(cfi, is_exact, &registers);
		if (result != CFI_FRAME && result != CFI_SIGNAL)
			break;
		require(result == CFI_SIGNAL || registers.values[REG_RSP] > before.values[REG_RSP]);
		is_exact = result == CFI_SIGNAL;
	}
	cfi_destroy(cfi);
}

/* Symbols that are looked for, and the one that is found again by its address. */
static void use_module(const struct target *target, const struct target_module *module)
{
	static const char *const names[] = { "g_dacTable", "DotNetRuntimeContractDescriptor",
					     "function", "no_such_function", "" };
	char id[2 * 64 + 1];
	if (target_build_id(target, module, id, sizeof(id)))
		require(strlen(id) % 2 == 0 && id[0]);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t address, length, pointer, begin, budget = SYMBOL_BYTES;
		char name[SYMBOL_NAME_MAX + 1];
		if (!target_symbol(target, module, names[i], &address, &length))
			continue;
		(void)target_module_pointer(target, module, address, &pointer);
		if (target_symbol_at(target, module, address, &budget, name, &begin))
			require(begin <= address && name[0]);
		require(budget <= SYMBOL_BYTES);
	}
}

static void use(struct target *target, const struct head *head)
{
	struct image_list images = { 0 };
	struct text text = { 0 };
	uint64_t budget = SYMBOL_BYTES;
	for (size_t i = 0; i < target->module_count; i++)
		use_module(target, &target->modules[i]);
	if (image_list_read(target, &images, NULL) == HD_OK)
		require(images.rows_count <= target->module_count + target->map.mapping_count);
	image_list_deinit(&images);
	const uint64_t places[] = { 0,          1,         0x10, 0x408, 0xfff, PAGE, 2 * PAGE + 8,
				    head->size, UINT32_MAX };
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint64_t ip = BASE + PAGE * head->function + places[i];
		target_code_place(target, head->flags & HAS_SYMBOLS ? folder : NULL, ip, i % 2,
				  &budget, &text);
		walk(target, ip);
	}
	text_deinit(&text);
	target_add_file_findings(target);
}

/* Any file of a module: no crash, no hang, and no more time than its bytes are worth. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct head head;
	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	uint8_t *bytes = runs_unpack(head.size, data + sizeof(head), size - sizeof(head));
	write_module(bytes, head.size);
	struct text core = make_core(&head, bytes);
	const struct target_options options = { .trust_files = !(head.flags & IS_PROVEN),
						.sysroot = head.flags & IN_SYSROOT ? folder : NULL,
						.max_mem = (uint64_t)64 << 20 };
	struct target *target = NULL;
	struct hd_error err = { 0 };
	struct linear linear = linear_begin(core.size + head.size);
	if (open_core(&core, &options, &target, &err) == HD_OK)
		use(target, &head);
	else
		require(err.message[0]);
	linear_end(&linear, "module file");
	target_destroy(target);
	text_deinit(&core);
	free(bytes);
	return 0;
}
