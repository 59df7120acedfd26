/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "arch/arch.h"
#include "arch/arm64/register_table.h"
#include "mem/memory.h"
#include "runtime/coreclr/layouts/processor.h"

#define X(number) (ARM64_X0 + (number))

/*
 * A Thread has more registers (10, 11); before 10 the runtime's locks have a mutex of the C library in them, which is
 * 8 bytes longer here: of 9, what its descriptor does not tell about structures with locks is not known.
 */
#define UNKNOWN_IN_9(id, v10, v11)   \
	{                            \
		L_##id, NO, v10, v11 \
	}
static const struct layout_difference differences[] = {
	UNKNOWN_IN_9(THREAD_LINK, 152, 152),
	UNKNOWN_IN_9(THREAD_OS_ID, 336, 272),
	UNKNOWN_IN_9(THREAD_STACK_BASE, 160, 160),
	UNKNOWN_IN_9(THREAD_STACK_LIMIT, 168, 168),
	UNKNOWN_IN_9(THREAD_EXCEPTION, 376, 312),
	UNKNOWN_IN_9(THREAD_EXCEPTION_TRACKER, 392, 328),
	UNKNOWN_IN_9(THREAD_LOCAL_DATA, 608, 544),
	{ L_SOFTWARE_FRAME_CONTEXT, NO, 192, 192 },
	UNKNOWN_IN_9(MODULE_ASSEMBLY, 248, 248),
	UNKNOWN_IN_9(MODULE_PE_ASSEMBLY, 216, 216),
	UNKNOWN_IN_9(MODULE_BASE, 224, 224),
	UNKNOWN_IN_9(MODULE_FLAGS, 232, 232),
	UNKNOWN_IN_9(MODULE_PATH, 200, 200),
	UNKNOWN_IN_9(MODULE_LOADER_ALLOCATOR, 176, 176),
	UNKNOWN_IN_9(MODULE_DYNAMIC_METADATA, 840, 840),
	UNKNOWN_IN_9(MODULE_TYPE_DEF_MAP, 416, 416),
	UNKNOWN_IN_9(MODULE_METHOD_MAP, 448, 448),
	UNKNOWN_IN_9(MODULE_FIELD_MAP, 512, 480),
	UNKNOWN_IN_9(MODULE_TYPE_PARAMS, 600, 600),
	UNKNOWN_IN_9(MODULE_R2R, 704, 704),
	UNKNOWN_IN_9(R2R_ENTRY_POINTS, 360, 376),
	UNKNOWN_IN_9(BINDER_CONTEXT, 224, 200),
	UNKNOWN_IN_9(LOADER_EXPOSED, 752, 664),
	UNKNOWN_IN_9(LOADER_LOW_FREQUENCY, 688, 608),
	UNKNOWN_IN_9(LOADER_HIGH_FREQUENCY, 696, 616),
	UNKNOWN_IN_9(LOADER_STATICS, 704, 624),
	UNKNOWN_IN_9(LOADER_STUBS, 712, NO),
	UNKNOWN_IN_9(LOADER_EXECUTABLE, 720, 632),
	UNKNOWN_IN_9(LOADER_DYNAMIC_HELPERS, 728, 640),
	UNKNOWN_IN_9(LOADER_FIXUP_PRECODE, 736, 648),
	UNKNOWN_IN_9(LOADER_STUB_PRECODE, 744, 656),
	UNKNOWN_IN_9(STUBS_INDIRECTION, 408, 408),
	UNKNOWN_IN_9(STUBS_CACHE, 416, 416),
	UNKNOWN_IN_9(DOMAIN_ASSEMBLIES, 576, 576),
	UNKNOWN_IN_9(DOMAIN_NAME, 1080, 1080),
	UNKNOWN_IN_9(SYNC_CACHE_INDEX, 108, 108),
	UNKNOWN_IN_9(THREAD_STORE_FIRST, 88, 88),
	UNKNOWN_IN_9(THREAD_STORE_COUNT, 112, 96),
	UNKNOWN_IN_9(THREAD_STORE_PENDING, 124, 108),
};

static bool is_of_user(const struct runtime *runtime, uint64_t address)
{
	uint64_t code = 0;
	return memory_u64(runtime_memory(runtime), address + context_register(runtime, ARM64_PC),
			  &code) &&
	       code % 4 == 0 && code < runtime_arch(runtime)->space.user_end;
}

const struct processor_layout arm64_layout = {
	.machine = EM_AARCH64,
	.differences = differences,
	.difference_count = sizeof(differences) / sizeof(differences[0]),
	.first_release = 9,
	.before_return = 4,
	.saved_count = 12,
	.saved = { ARM64_FP, ARM64_LR, X(19), X(20), X(21), X(22), X(23), X(24), X(25), X(26),
		   X(27), X(28) },
	/* CalleeSavedRegisters, whose second is the return address, eight bytes, x8, x0 to x7. */
	.transition = { .saved = 0,
			.return_address = 8,
			.words = 104,
			.word_count = 9,
			.arguments = 112,
			.size = 176 },
	/* CalleeSavedRegisters, results, four vector registers; the stack pointer is a multiple of 16. */
	.hijack_8 = { .first_result = 96,
		      .result_count = 2,
		      .results = { X(0), X(1) },
		      .saved = 0,
		      .size = 176 },
	.hijack_10 = { .first_result = 96,
		       .result_count = 3,
		       .results = { X(0), X(1), X(2) },
		       .saved = 0,
		       .size = 192 },
	.hijack_11 = { .first_result = 96,
		       .result_count = 3,
		       .results = { X(0), X(1), X(2) },
		       .saved = 0,
		       .size = 208 },
	.context = { .flag = 0x00400000, .flags = 0, .registers = 8, .is_of_user = is_of_user },
	.first_pointer = X(19),
	.pointers = 0,
	.ambient_sp = ARM64_REGISTER_COUNT,
};
