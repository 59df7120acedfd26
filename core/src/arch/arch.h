/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The facts about a processor.  A folder arch/NAME has everything of one: its struct arch in
 * arch.c, and the functions that it points to.  CONTRIBUTING.md ("Adding a processor") has the list.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gc_info_encoding;
struct memory;
struct text;

/** Most registers of a frame, and most words in which a kernel hands out a thread's registers. */
#define ARCH_REGISTERS_MAX 34u
#define ARCH_WORDS_MAX     34u

/** In a place for the number of a register or word: none. */
#define ARCH_NONE 0xffu

/** The registers of one frame, and the places where it has saved its caller's registers. */
struct registers {
	const struct arch *arch; /**< whose numbers are indices here */
	uint64_t values[ARCH_REGISTERS_MAX];
	uint64_t slots[ARCH_REGISTERS_MAX]; /**< address from which a value was loaded, 0: it is
					     * still in the thread's register */
};

/** Where the unwind codes of a managed function lie. */
struct unwind_function {
	uint64_t begin;       /**< address of the function (or funclet) */
	uint64_t unwind_info; /**< address of its UNWIND_INFO */
	uint64_t image_base;  /**< the address that chained RUNTIME_FUNCTIONs are relative to */
	bool is_active;       /**< the instruction pointer was interrupted and is not a return
			       * address, so it may be in an epilogue */
};

/** The address space of a process, as a processor and its kernels lay it out. */
struct address_space {
	/** Nothing of a process lies below (vm.mmap_min_addr), and nothing from the end on. */
	uint64_t user_begin, user_end;
	/** Bytes of the smallest page that a kernel has, and of the largest: powers of two. */
	uint64_t page_min, page_max;
	uint64_t
		signal_stack; /**< bytes that CoreCLR maps for the signals of a thread, after a page
				* that guards them */
	uint64_t red_zone;    /**< bytes below the stack pointer that a function may use */
	/** Bytes from the stack pointer of a signal handler that has returned to the ucontext_t of the kernel. */
	uint64_t signal_record;
	/** The bits of an address of code; the others of a pointer may be its signature. */
	uint64_t code_mask;
};

/** The first byte of the page of @p page bytes that holds @p address. */
static inline uint64_t page_of(uint64_t page, uint64_t address)
{
	return address & ~(page - 1);
}

/** Where the page after the one that holds @p address begins; 0 after the last one. */
static inline uint64_t page_after(uint64_t page, uint64_t address)
{
	return (address | (page - 1)) + 1;
}

/** @p size, rounded up to whole pages; wraps to 0 in the last page. */
static inline uint64_t page_align(uint64_t page, uint64_t size)
{
	return (size + page - 1) & ~(page - 1);
}

/** NT_PRSTATUS of 64-bit Linux: where its parts lie, in bytes. */
struct prstatus_layout {
	uint32_t size, signal, pid, registers;
	uint8_t count;  /**< words of registers */
	uint8_t thread; /**< the word that points to the thread's control block, or ARCH_NONE */
};

/** Registers of which a pass over code knows what is in them, for it was written there as a constant. */
struct code_constants {
	uint64_t values[32];
	uint32_t known;  /**< bit for each register: its value is known, */
	uint32_t loaded; /**< and for each of these: it is what lies at that address */
};

static inline void code_constant_set(struct code_constants *constants, unsigned int number,
				     uint64_t value, bool is_loaded)
{
	constants->values[number] = value;
	constants->known |= 1u << number;
	constants->loaded = (constants->loaded & ~(1u << number)) | (uint32_t)is_loaded << number;
}

/** Where an instruction goes to. */
struct code_reference {
	uint64_t address;
	bool is_cell; /**< the address of the code lies there */
};

/** The work of a processor that a table cannot describe.  None is NULL, but where it says so. */
struct arch_ops {
	/** Does the code at @p ip return from a signal handler? */
	bool (*is_signal_return)(struct memory *memory, uint64_t ip);
	/**
	 * The registers in the ucontext_t at @p address, if there is one with the kernel's layout;
	 * slots are its words.  @return false, and @p ret untouched, if there is none
	 */
	bool (*signal_context)(struct memory *memory, uint64_t address, struct registers *ret);
	/**
	 * The address that an instruction could not read or write, as the record at @p address says; false: the
	 * signal came for another reason.  NULL: the record does not say it.
	 */
	bool (*fault_address)(struct memory *memory, uint64_t address, uint64_t *ret);
	/**
	 * Is a thread with these registers in the system call futex, where it waits without a limit of time
	 * (futex(2): FUTEX_WAIT, FUTEX_WAIT_BITSET)?  NULL: that is not known.
	 */
	bool (*waits_without_end)(struct memory *memory, const struct registers *registers);
	/** Does a call instruction end at @p address?  Also true if its bytes are not in the target. */
	bool (*follows_call)(struct memory *memory, uint64_t address);
	/**
	 * Undo the frame of a managed function by its unwind codes.
	 *
	 * @param[in,out] registers In: the function's registers; out: those of its caller.
	 * Untouched on failure.
	 * @return false when the codes or the stack cannot be read, or contradict themselves
	 */
	bool (*managed_step)(struct memory *memory, const struct unwind_function *function,
			     struct registers *registers);
	/**
	 * How many bytes the unwind data at @p address takes, with the address of its handler: GCInfo of ReadyToRun
	 * code follows.  @p ret_length: bytes of the function, or 0 if the data does not say it.
	 */
	bool (*unwind_extent)(struct memory *memory, uint64_t address, uint64_t *ret_size,
			      uint64_t *ret_length);
	/**
	 * Does the frame of a managed function that was interrupted at @p registers exist? false in
	 * its prologue and epilogue, and when that cannot be told.
	 */
	bool (*frame_is_whole)(struct memory *memory, const struct unwind_function *function,
			       const struct registers *registers);
	/**
	 * Append, as call frame instructions of DWARF, what managed_step does at each instruction of a function of
	 * @p size bytes; they begin with the rules of entry_rows.  NULL: that is not known.
	 *
	 * @return false, and nothing is appended: the codes cannot be read, contradict themselves, or cannot be said so
	 */
	bool (*managed_rows)(struct memory *memory, const struct unwind_function *function,
			     uint64_t size, struct text *ret);
	/**
	 * If there is a precode at @p code, the stub that CoreCLR makes in front of a method: the
	 * MethodDesc that it loads, and where it jumps to.
	 */
	bool (*precode_method)(struct memory *memory, uint64_t code, uint64_t *ret);
	bool (*precode_target)(struct memory *memory, uint64_t code, uint64_t *ret);
	/**
	 * Where the instruction of @p size bytes at @p address calls or jumps to.
	 *
	 * @param[in,out] constants All zeros for the first of some instructions that follow each other.
	 * @return false: it does neither, or its target is not known.  NULL: that is never known
	 */
	bool (*call_target)(const uint8_t *bytes, size_t size, uint64_t address,
			    struct code_constants *constants, struct code_reference *ret);
	/** Leave a function that has neither a frame nor unwind information; false: it cannot be. */
	bool (*leaf_step)(struct memory *memory, struct registers *registers);
};

/** Where a caller's registers are when a function begins, as call frame instructions; addresses have the factor -8. */
struct entry_rows {
	uint8_t bytes[8], size;
};

/** The numbers that DWARF has for registers. */
struct dwarf_numbers {
	const uint8_t *registers; /**< the register of each of the first numbers */
	uint8_t count;            /**< how many these are */
	uint8_t first_float;      /**< the number of the first floating-point register, */
	uint8_t floats;           /**< and how many have the numbers from there on */
};

/** A processor. */
struct arch {
	const char *name;         /**< as messages write it: "x86-64" */
	const char *const *words; /**< as debuggers name it, in small letters; NULL at the end */
	uint16_t machine;         /**< e_machine of its ELF files */
	uint8_t register_count;   /**< at most ARCH_REGISTERS_MAX */
	uint8_t sp, ip, fp, lr;   /**< numbers of registers; ip is the last; lr: ARCH_NONE if there
				   * is none */
	uint8_t return_column;    /**< the number in DWARF of the return address */
	struct entry_rows entry_rows;
	/** Names, by number; debuggers know the registers by them, too. */
	const char *const *register_names;
	const uint8_t *words_of_registers; /**< the kernel's word of each register */
	struct dwarf_numbers dwarf;
	uint64_t scratch; /**< bit for each register that a call does not preserve */
	struct prstatus_layout prstatus;
	struct address_space space;
	uint32_t relative_relocation; /**< R_*_RELATIVE */
	const struct arch_ops *ops;
	const struct gc_info_encoding *gc_info;
};

/** The processors that are read. */
extern const struct arch arch_x86_64, arch_arm64;

/** The processor of ELF files with that e_machine, or NULL: it is not read. */
const struct arch *arch_of_machine(uint16_t machine);
/** The processor that a debugger calls @p word ("i386:x86-64"), or NULL. */
const struct arch *arch_of_word(const char *word);
/** The names of all processors that are read, "x86-64, arm64". */
void arch_names(char *buf, size_t size);
/** The processor on which this library runs; its processes can be read. */
const struct arch *arch_of_host(void);

/**
 * Read a processor that is made up, too: tests show with it that nothing else depends on a
 * processor.  NULL: no longer.  Not while another thread reads.
 */
void arch_set_made_up(const struct arch *arch);

/** Is it a register that a call does not preserve? */
static inline bool arch_is_scratch(const struct arch *arch, unsigned int number)
{
	return arch->scratch >> number & 1;
}

/** The number of the register that DWARF calls @p number, or ARCH_NONE. */
static inline uint8_t arch_of_dwarf(const struct arch *arch, uint64_t number)
{
	return number < arch->dwarf.count ? arch->dwarf.registers[number] : (uint8_t)ARCH_NONE;
}

/** The number in DWARF of register @p number, or ARCH_NONE. */
static inline uint8_t arch_to_dwarf(const struct arch *arch, unsigned int number)
{
	for (uint8_t i = 0; i < arch->dwarf.count; i++) {
		if (arch->dwarf.registers[i] == number)
			return i;
	}
	return (uint8_t)ARCH_NONE;
}

/** The value of a register among the kernel's words of a thread. */
static inline uint64_t arch_word(const struct arch *arch, const uint64_t words[ARCH_WORDS_MAX],
				 unsigned int number)
{
	return words[arch->words_of_registers[number]];
}

/** Where the thread's control block lies, by the kernel's words of a thread; 0: not known. */
static inline uint64_t arch_thread_block(const struct arch *arch,
					 const uint64_t words[ARCH_WORDS_MAX])
{
	return arch->prstatus.thread == ARCH_NONE ? 0 : words[arch->prstatus.thread];
}

/** The stack pointer, the instruction pointer, and the frame pointer of a frame. */
static inline uint64_t registers_sp(const struct registers *registers)
{
	return registers->values[registers->arch->sp];
}

static inline uint64_t registers_ip(const struct registers *registers)
{
	return registers->values[registers->arch->ip];
}

static inline uint64_t registers_fp(const struct registers *registers)
{
	return registers->values[registers->arch->fp];
}
