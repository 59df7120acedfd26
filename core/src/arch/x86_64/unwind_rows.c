/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/unwind_rows.h"

#include "arch/call_frame.h"
#include "arch/x86_64/frame_registers.h"
#include "arch/x86_64/opcodes.h"
#include "arch/x86_64/unwind_codes.h"
#include "arch/x86_64/unwind_info.h"
#include "mem/memory.h"
#include "util/alloc.h"
#include "util/leb.h"

/* Most codes of a function, those of chained infos included; the JIT writes some twenty. */
#define CODES_MAX     1024u
#define PUSHES_MAX    16u
#define WORD          8u
#define DEPTH_MAX     (UINT64_C(1) << 40)
#define CODE_ON_STACK 4096u

/* The number in DWARF of each register. */
static const uint8_t dwarf_of[REG_ROWS] = {
#define X(id, name, dwarf, kernel, signal) [REG_##id] = (dwarf),
	X86_64_REGISTERS(X)
#undef X
};

/* One unwind code, with what its UNWIND_INFO says about the frame register. */
struct step {
	struct unwind_code code;
	uint8_t frame_register;
	uint64_t frame_offset;
};

/* The codes of a function, the last of its prologue first. */
struct steps {
	struct step rows[CODES_MAX];
	size_t count;
	uint8_t prologue; /* bytes */
	bool is_chained;  /* its prologue is elsewhere */
};

/* The description while it is written. */
struct description {
	struct text *out;
	uint64_t size;        /* bytes of the function */
	const uint8_t *bytes; /* its code, */
	uint64_t known;       /* as far as it is there */
	uint64_t at;          /* offset in the function of the last row */
	uint64_t depth;       /* from rsp to the CFA */
	uint64_t
		base; /* from the frame's base, which saved registers are relative to, to the CFA */
	uint64_t allocated;         /* bytes that the prologue takes, but for pushes */
	unsigned int cfa;           /* the register that the CFA is relative to, */
	uint64_t cfa_offset;        /* and by how much */
	uint8_t pushes[PUSHES_MAX]; /* registers, in the order in which they are pushed */
	size_t pushes_count;
};

static bool add_steps(const struct unwind_info *info, bool is_first, struct steps *steps)
{
	struct unwind_code code;
	for (unsigned int i = 0; i < info->count; i += code.slots) {
		if (!unwind_code_at(info, i, &code) || steps->count == CODES_MAX)
			return false;
		/* The codes of a chained info were carried out before the function begins. */
		if (!is_first)
			code.offset = 0;
		steps->rows[steps->count++] = (struct step){ code, unwind_frame_register(info),
							     unwind_frame_offset(info) };
	}
	return true;
}

static bool read_steps(struct memory *memory, const struct unwind_function *function,
		       struct steps *steps)
{
	struct unwind_info info;
	uint64_t unused;
	if (!unwind_info_read(memory, function->unwind_info, &info))
		return false;
	steps->prologue = unwind_prologue(&info);
	steps->is_chained = info.is_chained;
	steps->count = 0;
	for (unsigned int chain = 0; chain <= UNWIND_CHAIN_MAX; chain++) {
		if (!add_steps(&info, chain == 0, steps))
			return false;
		if (!info.is_chained)
			return true;
		if (!unwind_info_next(memory, function->image_base, &info, &unused))
			return false;
	}
	return false;
}

static uint64_t taken_by(const struct unwind_code *code)
{
	switch (code->operation) {
	case PUSH_NONVOL:
		return WORD;
	case ALLOC_SMALL:
		return WORD * (uint64_t)code->info + WORD;
	case ALLOC_LARGE:
		return code->operand;
	default:
		return 0;
	}
}

/* How far the frame's base is from the CFA: rsp where the frame register is set, or after the prologue. */
static uint64_t base_of(const struct steps *steps)
{
	uint64_t depth = WORD;
	for (size_t i = steps->count; i-- > 0;) {
		uint8_t operation = steps->rows[i].code.operation;
		if (operation == SET_FPREG || operation == SET_FPREG_LARGE)
			return depth;
		depth += taken_by(&steps->rows[i].code);
	}
	return depth;
}

/* Go on to the row at @p offset, which is not before the last one. */
static void advance(struct description *description, uint64_t offset)
{
	uint64_t step = offset - description->at;
	description->at = offset;
	if (!step)
		return;
	if (step <= CFA_LOW) {
		text_fixed(description->out, CFA_ADVANCE_LOC | step, 1);
		return;
	}
	unsigned int width = step <= UINT8_MAX ? 0 : step <= UINT16_MAX ? 1 : 2;
	text_fixed(description->out, CFA_ADVANCE_LOC1 + width, 1);
	text_fixed(description->out, step, (size_t)1 << width);
}

static void define_cfa(struct description *description, unsigned int reg, uint64_t offset)
{
	bool is_same = reg == description->cfa;
	if (is_same && offset == description->cfa_offset)
		return;
	text_fixed(description->out, is_same ? CFA_DEF_CFA_OFFSET : CFA_DEF_CFA, 1);
	if (!is_same)
		text_uleb(description->out, dwarf_of[reg]);
	text_uleb(description->out, offset);
	description->cfa = reg;
	description->cfa_offset = offset;
}

/* The caller's @p reg is saved @p distance below the CFA. */
static bool save(struct description *description, unsigned int reg, uint64_t distance)
{
	if (distance % WORD || !distance || distance > DEPTH_MAX)
		return false;
	text_fixed(description->out, CFA_OFFSET | dwarf_of[reg], 1);
	text_uleb(description->out, distance / WORD);
	return true;
}

static bool take(struct description *description, const struct step *step)
{
	uint64_t taken = taken_by(&step->code);
	description->depth += taken;
	if (description->depth > DEPTH_MAX)
		return false;
	if (step->code.operation != PUSH_NONVOL) {
		description->allocated += taken;
	} else {
		if (description->pushes_count == PUSHES_MAX)
			return false;
		description->pushes[description->pushes_count++] = step->code.info;
	}
	if (description->cfa == REG_RSP)
		define_cfa(description, REG_RSP, description->depth);
	return step->code.operation != PUSH_NONVOL ||
	       save(description, step->code.info, description->depth);
}

/* The frame register is set to rsp + @p offset. */
static bool set_frame(struct description *description, const struct step *step, uint64_t offset)
{
	if (!step->frame_register || offset > description->depth)
		return false;
	define_cfa(description, step->frame_register, description->depth - offset);
	return true;
}

static bool describe(struct description *description, const struct step *step)
{
	switch (step->code.operation) {
	case PUSH_NONVOL:
	case ALLOC_SMALL:
	case ALLOC_LARGE:
		return take(description, step);
	case SET_FPREG:
		return set_frame(description, step, step->frame_offset);
	case SET_FPREG_LARGE:
		return set_frame(description, step, step->code.operand);
	case SAVE_NONVOL:
	case SAVE_NONVOL_FAR:
		return step->code.operand <= description->base &&
		       save(description, step->code.info, description->base - step->code.operand);
	case SPARE_CODE:
	case PUSH_MACHFRAME:
		return false;
	default: /* epilogues, vector registers */
		return true;
	}
}

static bool describe_prologue(struct description *description, const struct steps *steps)
{
	for (size_t i = steps->count; i-- > 0;) {
		const struct step *step = &steps->rows[i];
		if (step->code.offset < description->at)
			return false;
		/* The codes of a function that is shorter than they say. */
		if (step->code.offset >= description->size)
			return true;
		advance(description, step->code.offset);
		if (!describe(description, step))
			return false;
	}
	return true;
}

static bool has_bytes(const struct description *description, uint64_t at, const char *bytes,
		      size_t size)
{
	return at <= description->known && size <= description->known - at &&
	       memcmp(description->bytes + at, bytes, size) == 0;
}

/* Is there an instruction with these bytes and then a number of 8 bits, or of 32 bits? @return its bytes, or 0 */
static size_t with_number(const struct description *description, uint64_t at, const char *narrow,
			  const char *wide, int64_t *ret)
{
	size_t size = strlen(narrow);
	if (has_bytes(description, at, narrow, size) && at + size + 1 <= description->known) {
		uint8_t byte = description->bytes[at + size];
		*ret = byte < 0x80 ? byte : (int64_t)byte - 0x100;
		return size + 1;
	}
	size = strlen(wide);
	if (has_bytes(description, at, wide, size) && at + size + 4 <= description->known) {
		*ret = (int32_t)load_u32(description->bytes + at + size);
		return size + 4;
	}
	return 0;
}

static bool pushes_rbp(const struct description *description)
{
	for (size_t i = 0; i < description->pushes_count; i++) {
		if (description->pushes[i] == REG_RBP)
			return true;
	}
	return false;
}

/*
 * The codes do not say that rbp is the frame pointer, unless the function takes memory from the stack later
 * (genEstablishFramePointer() in codegencommon.cpp): mov rbp, rsp or lea rbp, [rsp+N] comes after the prologue that
 * they describe.  rbp is right even where a signal handler has another stack.
 */
static void describe_frame_pointer(struct description *description, const struct steps *steps)
{
	uint64_t at = steps->prologue;
	int64_t number = 0;
	size_t size;
	if (steps->is_chained || description->cfa != REG_RSP || !pushes_rbp(description) ||
	    at < description->at)
		return;
	if (has_bytes(description, at, "\x48\x8b\xec", 3) ||
	    has_bytes(description, at, "\x48\x89\xe5", 3)) {
		size = 3;
	} else {
		size = with_number(description, at, "\x48\x8d\x6c\x24", "\x48\x8d\xac\x24",
				   &number);
	}
	if (!size || number < 0 || (uint64_t)number > description->depth ||
	    at + size >= description->size)
		return;
	advance(description, at + size);
	define_cfa(description, REG_RBP, description->depth - (uint64_t)number);
}

/* How many bytes the pops of all pushed registers take at @p at; 0: there is something else. */
static size_t pops_at(const struct description *description, uint64_t at)
{
	uint64_t begin = at;
	for (size_t i = description->pushes_count; i-- > 0;) {
		uint8_t reg = description->pushes[i];
		char code[2] = { 0x41, (char)(0x58 | (reg & 7)) };
		size_t prefix = reg >= REG_R8;
		if (!has_bytes(description, at, code + 1 - prefix, 1 + prefix))
			return 0;
		at += 1 + prefix;
	}
	return (size_t)(at - begin);
}

/*
 * The size of the instruction at @p at if it gives back all that the prologue has taken but for the pushes; 0:
 * it does not.
 */
static size_t frees_at(const struct description *description, uint64_t at)
{
	uint64_t pushed = WORD * (uint64_t)description->pushes_count + WORD;
	int64_t number = 0;
	if (description->allocated == WORD && description->bytes[at] == 0x59) /* pop rcx */
		return 1;
	if (description->bytes[at] != 0x48)
		return 0;
	size_t size = with_number(description, at, "\x48\x83\xc4", "\x48\x81\xc4", &number);
	if (size)
		return number > 0 && (uint64_t)number == description->allocated ? size : 0;
	if (description->cfa != REG_RBP)
		return 0;
	/* lea rsp, [rbp+N]; mov rsp, rbp */
	size = with_number(description, at, "\x48\x8d\x65", "\x48\x8d\xa5", &number);
	if (!size && (has_bytes(description, at, "\x48\x8b\xe5", 3) ||
		      has_bytes(description, at, "\x48\x89\xec", 3)))
		size = 3;
	return size && (int64_t)description->cfa_offset - number == (int64_t)pushed ? size : 0;
}

/* A direct jump leads out of the function, when it ends an epilogue. */
static bool leaves_at(const struct description *description, uint64_t at)
{
	const uint8_t *bytes = description->bytes + at;
	uint64_t left = at < description->known ? description->known - at : 0;
	if (!left || !x86_64_is_leaving(bytes, (size_t)left, true))
		return false;
	if (bytes[0] == 0xeb)
		return false;
	if (bytes[0] != 0xe9 || left < 5)
		return bytes[0] != 0xe9;
	uint64_t target = at + 5 + (uint64_t)(int64_t)(int32_t)load_u32(bytes + 1);
	return target >= description->size;
}

/*
 * The epilogue that begins at @p at with pops; @return where it ends, or 0: it is none.  Its rows are followed by the one
 * that was there before, for what comes after it.
 */
static uint64_t describe_epilogue(struct description *description, uint64_t at)
{
	size_t pops = pops_at(description, at);
	if ((description->pushes_count && !pops) || !leaves_at(description, at + pops))
		return 0;
	const struct description before = *description;
	uint64_t depth = WORD * (uint64_t)description->pushes_count + WORD, end = at + pops;
	advance(description, at);
	text_fixed(description->out, CFA_REMEMBER_STATE, 1);
	define_cfa(description, REG_RSP, depth);
	for (size_t i = description->pushes_count; i-- > 0;) {
		uint8_t reg = description->pushes[i];
		at += reg >= REG_R8 ? 2 : 1;
		depth -= WORD;
		advance(description, at);
		define_cfa(description, REG_RSP, depth);
		text_fixed(description->out, CFA_SAME_VALUE, 1);
		text_uleb(description->out, dwarf_of[reg]);
	}
	/* No other instruction begins in the one that leaves. */
	if (end + 1 < description->size) {
		advance(description, end + 1);
		text_fixed(description->out, CFA_RESTORE_STATE, 1);
	}
	description->cfa = before.cfa;
	description->cfa_offset = before.cfa_offset;
	return end + 1;
}

/* Each place is looked at once for each push, and there are at most sixteen. */
static void describe_epilogues(struct description *description)
{
	uint64_t at = description->at;
	if (!description->allocated && !description->pushes_count)
		return;
	while (at < description->known) {
		size_t freed = frees_at(description, at);
		uint64_t end = 0;
		if (freed || !description->allocated)
			end = describe_epilogue(description, at + freed);
		at = end ? end : at + 1;
	}
}

static bool write_rows(struct description *description, const struct steps *steps)
{
	if (!describe_prologue(description, steps))
		return false;
	describe_frame_pointer(description, steps);
	describe_epilogues(description);
	return !description->out->failed;
}

bool unwind_rows_write(struct memory *memory, const struct unwind_function *function, uint64_t size,
		       struct text *ret)
{
	uint8_t on_stack[CODE_ON_STACK];
	struct steps steps;
	if (!read_steps(memory, function, &steps))
		return false;
	uint64_t wanted = size < UNWIND_CODE_MAX ? size : UNWIND_CODE_MAX;
	HD_FREE uint8_t *on_heap = wanted > CODE_ON_STACK ? mem_alloc((size_t)wanted, 1) : NULL;
	if (!on_heap && wanted > CODE_ON_STACK)
		wanted = CODE_ON_STACK;
	struct description description = {
		.out = ret,
		.size = size,
		.bytes = on_heap ? on_heap : on_stack,
		.depth = WORD,
		.base = base_of(&steps),
		.cfa = REG_RSP,
		.cfa_offset = WORD,
	};
	description.known = memory_prefix(memory, function->begin, on_heap ? on_heap : on_stack,
					  (size_t)wanted);
	size_t begin = ret->size;
	bool done = write_rows(&description, &steps);
	if (!done && ret->bytes)
		ret->size = begin;
	return done;
}
