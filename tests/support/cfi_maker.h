/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/fake_memory.h"
#include "unwind/cfi.h"

/* An image with one function and its call frame information, and the stack of a thread in it. */

#define BASE           UINT64_C(0x7f1200000000)
#define CFI_IMAGE_SIZE UINT64_C(0x4000)
#define FRAMES         UINT64_C(0x1000) /* .eh_frame */
#define HEADER         UINT64_C(0x2000) /* .eh_frame_hdr */
#define FUNCTION       UINT64_C(0x3000)
#define STACK          UINT64_C(0x7ffe00000000)
#define STACK_SIZE     UINT64_C(0x2000)
#define SP             (STACK + 0x100)

/** Encodings (Linux Standard Base, 10.5.1). */
enum {
	ABSPTR = 0x00,
	UDATA2 = 0x02,
	UDATA4 = 0x03,
	UDATA8 = 0x04,
	SDATA4 = 0x0b,
	SDATA8 = 0x0c,
	PCREL = 0x10,
	DATAREL = 0x30,
	OMIT = 0xff,
};

/** The content of the image; zeros: as GNU ld writes it. */
struct cfi_spec {
	const char *augmentation; /**< NULL: "zR" */
	uint8_t pointers;         /**< 0: PCREL | SDATA4 */
	uint8_t table;            /**< 0: DATAREL | SDATA4 */
	bool is_absolute;         /**< 0 means ABSPTR in both */
	bool with_length_64;
	uint8_t version; /**< 0: 1 */
	uint16_t type;   /**< 0: ET_DYN */
	uint64_t lsda;   /**< address, for an augmentation with L; 0: it has none */
	const char *cie, *fde;
	size_t cie_size, fde_size;
};

/** An image, a stack, and room for what names the image. */
struct cfi_world {
	struct fake_memory fake;
	struct target target;
	struct target_mapping mappings[4];
	struct target_module modules[4];
};

/** Instructions, as string literals. */
#define FDE_CODE(bytes) .fde = (bytes), .fde_size = sizeof(bytes) - 1
#define CIE_CODE(bytes) .cie = (bytes), .cie_size = sizeof(bytes) - 1

/** The image of @p spec in world->target, whose stack holds cfi_world_word() everywhere. */
void cfi_world_init(struct cfi_world *world, const struct cfi_spec *spec);
void cfi_world_deinit(struct cfi_world *world);

/** The word that cfi_world_init() left at @p address of the stack. */
uint64_t cfi_world_word(uint64_t address);

/** Write a number and go on after it. */
void cfi_world_put(struct cfi_world *world, uint64_t *at, uint64_t value, size_t size);

/** Each register has a value of its own; rsp is SP. */
struct registers cfi_world_registers(uint64_t ip);

/** A step in world->target, which changes nothing when there is no caller. */
enum cfi_result cfi_world_step(struct cfi_world *world, bool is_exact, struct registers *registers);
/** The same at @p offset in the function, interrupted there. */
enum cfi_result cfi_world_step_at(struct cfi_world *world, uint64_t offset, struct registers *ret);
