/* SPDX-License-Identifier: MIT */
#include "unwind/cfi.h"

#include "arch/call_frame.h"
#include "unwind/cfi_description.h"
#include "unwind/dwarf_expr.h"
#include "unwind/dwarf_reader.h"
#include "util/alloc.h"

/* Most states that DW_CFA_remember_state may push. */
#define CFI_REMEMBER_MAX 16u

/* Where a register of the caller is (DWARF 5, 6.4.1). */
enum cfi_rule_kind {
	CFI_RULE_UNSPECIFIED, /* same value as in the frame itself; for the CFA: unknown */
	CFI_RULE_SAME_VALUE,
	CFI_RULE_UNDEFINED,
	CFI_RULE_OFFSET,
	CFI_RULE_VAL_OFFSET,
	CFI_RULE_REGISTER, /* for the CFA: that register plus offset */
	CFI_RULE_EXPRESSION,
	CFI_RULE_VAL_EXPRESSION,
};

struct cfi_rule {
	uint8_t kind; /* enum cfi_rule_kind */
	uint8_t reg;
	int64_t offset;       /* relative to the CFA */
	const uint8_t *bytes; /* the expression, in the reader's bytes */
	size_t size;
};

/* A row of the table. */
struct cfi_rules {
	struct cfi_rule cfa;
	struct cfi_rule registers[ARCH_REGISTERS_MAX];
};

/* The context in which instructions are run. */
struct cfi_program {
	const struct arch *arch; /* whose registers the numbers are */
	uint64_t code_align;
	int64_t data_align;
	unsigned int pointers;           /* how DW_CFA_set_loc encodes its address */
	uint64_t begin, pc;              /* start of the function; address whose row is wanted */
	const struct cfi_rules *initial; /* rules of the CIE, for DW_CFA_restore; NULL while the
					  * CIE itself is run */
};

struct runner {
	const struct cfi_program *program;
	struct dwarf_reader code;
	struct cfi_rules *rules;
	uint64_t location;
	struct cfi_rules remembered[CFI_REMEMBER_MAX];
	unsigned int depth;
	struct cfi_rule ignored; /* rules of registers that are not needed */
};

static struct cfi_rule *rule_of(struct runner *runner, uint64_t number)
{
	uint8_t reg = arch_of_dwarf(runner->program->arch, number);
	return reg == ARCH_NONE ? &runner->ignored : &runner->rules->registers[reg];
}

static void set_offset(struct runner *runner, enum cfi_rule_kind kind, uint64_t number,
		       uint64_t factor)
{
	*rule_of(runner, number) = (struct cfi_rule){
		.kind = (uint8_t)kind,
		.offset = (int64_t)(factor * (uint64_t)runner->program->data_align),
	};
}

static void set_expression(struct runner *runner, enum cfi_rule_kind kind, struct cfi_rule *rule)
{
	uint64_t size = dwarf_uleb(&runner->code);
	const uint8_t *bytes = dwarf_skip(&runner->code, size);
	if (bytes) {
		*rule = (struct cfi_rule){ .kind = (uint8_t)kind,
					   .bytes = bytes,
					   .size = (size_t)size };
	}
}

static void restore(struct runner *runner, uint64_t number)
{
	const struct cfi_rules *initial = runner->program->initial;
	uint8_t reg = arch_of_dwarf(runner->program->arch, number);
	if (!initial) {
		dwarf_fail(&runner->code);
	} else if (reg != ARCH_NONE) {
		runner->rules->registers[reg] = initial->registers[reg];
	}
}

static bool advance(struct runner *runner, unsigned int op)
{
	struct dwarf_reader *code = &runner->code;
	const struct cfi_program *program = runner->program;
	switch (op) {
	case CFA_SET_LOC:
		runner->location = dwarf_pointer(code, program->pointers, 0);
		return true;
	case CFA_ADVANCE_LOC1:
	case CFA_ADVANCE_LOC2:
	case CFA_ADVANCE_LOC4:
		runner->location += program->code_align *
				    dwarf_number(code, (size_t)1 << (op - CFA_ADVANCE_LOC1));
		return true;
	default:
		return false;
	}
}

/* A CFA that is a register plus an offset. */
static void set_cfa(struct runner *runner, uint64_t number, uint64_t offset)
{
	uint8_t reg = arch_of_dwarf(runner->program->arch, number);
	if (reg == ARCH_NONE) {
		dwarf_fail(&runner->code);
		return;
	}
	runner->rules->cfa = (struct cfi_rule){ .kind = CFI_RULE_REGISTER,
						.reg = reg,
						.offset = (int64_t)offset };
}

/* Change one part of it. */
static void change_cfa(struct runner *runner, bool is_offset, uint64_t value)
{
	struct cfi_rule *cfa = &runner->rules->cfa;
	uint8_t reg = is_offset ? cfa->reg : arch_of_dwarf(runner->program->arch, value);
	if (cfa->kind != CFI_RULE_REGISTER || reg == ARCH_NONE) {
		dwarf_fail(&runner->code);
	} else if (is_offset) {
		cfa->offset = (int64_t)value;
	} else {
		cfa->reg = reg;
	}
}

static bool define_cfa(struct runner *runner, unsigned int op)
{
	struct dwarf_reader *code = &runner->code;
	uint64_t align = (uint64_t)runner->program->data_align, number;
	switch (op) {
	case CFA_DEF_CFA:
		number = dwarf_uleb(code);
		set_cfa(runner, number, dwarf_uleb(code));
		return true;
	case CFA_DEF_CFA_SF:
		number = dwarf_uleb(code);
		set_cfa(runner, number, (uint64_t)dwarf_sleb(code) * align);
		return true;
	case CFA_DEF_CFA_REGISTER:
		change_cfa(runner, false, dwarf_uleb(code));
		return true;
	case CFA_DEF_CFA_OFFSET:
		change_cfa(runner, true, dwarf_uleb(code));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		change_cfa(runner, true, (uint64_t)dwarf_sleb(code) * align);
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		set_expression(runner, CFI_RULE_VAL_EXPRESSION, &runner->rules->cfa);
		return true;
	default:
		return false;
	}
}

static bool define_offset(struct runner *runner, unsigned int op)
{
	struct dwarf_reader *code = &runner->code;
	if (op != CFA_OFFSET_EXTENDED && op != CFA_OFFSET_EXTENDED_SF && op != CFA_VAL_OFFSET &&
	    op != CFA_VAL_OFFSET_SF && op != CFA_GNU_NEGATIVE_OFFSET_EXTENDED)
		return false;
	uint64_t number = dwarf_uleb(code);
	bool is_signed = op == CFA_OFFSET_EXTENDED_SF || op == CFA_VAL_OFFSET_SF;
	uint64_t factor = is_signed ? (uint64_t)dwarf_sleb(code) : dwarf_uleb(code);
	if (op == CFA_GNU_NEGATIVE_OFFSET_EXTENDED)
		factor = -factor;
	bool is_value = op == CFA_VAL_OFFSET || op == CFA_VAL_OFFSET_SF;
	set_offset(runner, is_value ? CFI_RULE_VAL_OFFSET : CFI_RULE_OFFSET, number, factor);
	return true;
}

static bool define_register(struct runner *runner, unsigned int op)
{
	struct dwarf_reader *code = &runner->code;
	uint64_t number;
	switch (op) {
	case CFA_RESTORE_EXTENDED:
		restore(runner, dwarf_uleb(code));
		return true;
	case CFA_UNDEFINED:
		*rule_of(runner, dwarf_uleb(code)) =
			(struct cfi_rule){ .kind = CFI_RULE_UNDEFINED };
		return true;
	case CFA_SAME_VALUE:
		*rule_of(runner, dwarf_uleb(code)) =
			(struct cfi_rule){ .kind = CFI_RULE_SAME_VALUE };
		return true;
	case CFA_REGISTER:
		number = dwarf_uleb(code);
		*rule_of(runner, number) = (struct cfi_rule){
			.kind = CFI_RULE_REGISTER,
			.reg = arch_of_dwarf(runner->program->arch, dwarf_uleb(code)),
		};
		return true;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		number = dwarf_uleb(code);
		set_expression(runner,
			       op == CFA_EXPRESSION ? CFI_RULE_EXPRESSION : CFI_RULE_VAL_EXPRESSION,
			       rule_of(runner, number));
		return true;
	default:
		return false;
	}
}

static bool run_other(struct runner *runner, unsigned int op)
{
	switch (op) {
	case CFA_REMEMBER_STATE:
		if (runner->depth == CFI_REMEMBER_MAX)
			return false;
		runner->remembered[runner->depth++] = *runner->rules;
		return true;
	case CFA_RESTORE_STATE:
		if (!runner->depth)
			return false;
		*runner->rules = runner->remembered[--runner->depth];
		return true;
	case CFA_GNU_ARGS_SIZE:
		(void)dwarf_uleb(&runner->code);
		return true;
	default:
		return op == CFA_NOP;
	}
}

static bool run_one(struct runner *runner)
{
	unsigned int op = (unsigned int)dwarf_number(&runner->code, 1);
	switch (op & CFA_HIGH) {
	case CFA_ADVANCE_LOC:
		runner->location += (op & CFA_LOW) * runner->program->code_align;
		return true;
	case CFA_OFFSET:
		set_offset(runner, CFI_RULE_OFFSET, op & CFA_LOW, dwarf_uleb(&runner->code));
		return true;
	case CFA_RESTORE:
		restore(runner, op & CFA_LOW);
		return true;
	default:
		return advance(runner, op) || define_cfa(runner, op) || define_offset(runner, op) ||
		       define_register(runner, op) || run_other(runner, op);
	}
}

/*
 * Run the call frame instructions (DWARF 5, 6.4.2, with GNU's extensions) of @p code up to the row
 * for program->pc.
 *
 * @param[in,out] rules Undefined on failure.
 * @return false when one is unknown or cannot be run
 */
static bool cfi_rules_run(const struct cfi_program *program, struct dwarf_reader code,
			  struct cfi_rules *rules)
{
	struct runner runner;
	runner.program = program;
	runner.code = code;
	runner.rules = rules;
	runner.location = program->begin;
	runner.depth = 0;
	while (dwarf_left(&runner.code) && runner.location <= program->pc) {
		if (!run_one(&runner))
			return false;
	}
	return !runner.code.is_bad;
}

/* A length with the meaning: the real one follows, with 8 bytes. */
#define LENGTH_64 0xffffffffu
/* Column of the return address. */

struct cfi *cfi_create(const struct target *target)
{
	struct cfi *cfi = mem_calloc(1, sizeof(*cfi));
	if (cfi)
		cfi->target = target;
	return cfi;
}

void cfi_destroy(struct cfi *cfi)
{
	if (!cfi)
		return;
	cfi_images_deinit(&cfi->images);
	mem_free(cfi);
}

/* Read the record at @p address: its length, then that many bytes. */
static bool read_record(struct memory *memory, uint64_t address, struct cfi_record *ret)
{
	uint32_t length;
	if (!memory_u32(memory, address, &length))
		return false;
	uint64_t size = length;
	address += sizeof(length);
	if (length == LENGTH_64) {
		if (!memory_u64(memory, address, &size))
			return false;
		address += sizeof(size);
	}
	if (!size || size > CFI_RECORD_MAX)
		return false;
	ret->address = address;
	ret->size = (size_t)size;
	return memory_read(memory, address, ret->bytes, ret->size);
}

/* Read the data that the letters of @p augmentation describe. */
static void read_augmentation(const char *augmentation, struct dwarf_reader *reader,
			      struct cfi_description *ret)
{
	for (const char *letter = augmentation + 1; *letter; letter++) {
		switch (*letter) {
		case 'R':
			ret->pointers = (unsigned int)dwarf_number(reader, 1);
			break;
		case 'L':
			ret->lsda_pointers = (unsigned int)dwarf_number(reader, 1);
			break;
		case 'P': {
			unsigned int encoding = (unsigned int)dwarf_number(reader, 1);
			if (encoding != PE_OMIT)
				(void)dwarf_pointer(reader, encoding & ~PE_INDIRECT, 0);
			break;
		}
		case 'S':
			ret->is_signal = true;
			break;
		default:
			return; /* its data has unknown size; all of it is skipped */
		}
	}
}

static bool read_cie(const struct arch *arch, const struct cfi_record *record,
		     struct cfi_description *ret)
{
	struct dwarf_reader reader = dwarf_reader(record->bytes, record->size, record->address);
	uint64_t id = dwarf_number(&reader, 4), version = dwarf_number(&reader, 1);
	const char *augmentation = (const char *)reader.at;
	const uint8_t *nul = memchr(reader.at, 0, dwarf_left(&reader));
	if (id || !nul || (version != 1 && version != 3 && version != 4))
		return false;
	reader.at = nul + 1;
	if (version == 4 && (dwarf_number(&reader, 1) != 8 || dwarf_number(&reader, 1)))
		return false; /* sizes of addresses and of segment selectors */
	ret->code_align = dwarf_uleb(&reader);
	ret->data_align = dwarf_sleb(&reader);
	uint64_t column = version == 1 ? dwarf_number(&reader, 1) : dwarf_uleb(&reader);
	if (column != arch->return_column)
		return false;
	if (augmentation[0] == 'z') {
		uint64_t size = dwarf_uleb(&reader);
		struct dwarf_reader data = reader;
		ret->has_augmentation = true;
		if (!dwarf_skip(&reader, size))
			return false;
		read_augmentation(augmentation, &data, ret);
		if (data.is_bad)
			return false;
	} else if (augmentation[0]) {
		return false;
	}
	ret->cie_code = reader;
	return !reader.is_bad;
}

/* The address of the language's data; 0: none, or of a form that is not read. */
static uint64_t read_lsda(struct dwarf_reader reader, unsigned int pointers)
{
	struct dwarf_reader raw = reader;
	if (pointers == PE_OMIT || pointers & PE_INDIRECT || (pointers & ~PE_FORMAT) == PE_DATAREL)
		return 0;
	uint64_t address = dwarf_pointer(&reader, pointers, 0);
	bool is_null = dwarf_pointer(&raw, pointers & PE_FORMAT, 0) == 0;
	return reader.is_bad || is_null ? 0 : address;
}

/* Find and read what describes the function at @p pc. */
bool cfi_describe(struct cfi *cfi, uint64_t pc, struct cfi_description *ret)
{
	struct memory *memory = cfi->target->memory;
	const struct cfi_image *image = cfi_images_find(&cfi->images, cfi->target, pc);
	uint64_t address;
	if (!image || !cfi_image_fde(memory, image, pc, &address) ||
	    !read_record(memory, address, &cfi->fde))
		return false;
	struct dwarf_reader reader = dwarf_reader(cfi->fde.bytes, cfi->fde.size, cfi->fde.address);
	uint64_t distance = dwarf_number(&reader, 4);
	*ret = (struct cfi_description){ .pointers = PE_ABSPTR, .lsda_pointers = PE_OMIT };
	if (!distance || !read_record(memory, cfi->fde.address - distance, &cfi->cie) ||
	    !read_cie(cfi->target->arch, &cfi->cie, ret))
		return false;
	struct cfi_function *function = &ret->function;
	function->begin = dwarf_pointer(&reader, ret->pointers, 0);
	function->size = dwarf_pointer(&reader, ret->pointers & PE_FORMAT, 0);
	function->record = cfi->fde.size + cfi->cie.size;
	if (ret->has_augmentation) {
		uint64_t size = dwarf_uleb(&reader);
		if (size)
			function->lsda = read_lsda(reader, ret->lsda_pointers);
		(void)dwarf_skip(&reader, size);
	}
	ret->fde_code = reader;
	return !reader.is_bad && (ret->pointers & ~PE_FORMAT) != PE_DATAREL &&
	       pc >= function->begin && pc - function->begin < function->size;
}

static bool find_rules(const struct arch *arch, const struct cfi_description *description,
		       uint64_t pc, struct cfi_rules *ret)
{
	struct cfi_program program = {
		.arch = arch,
		.code_align = description->code_align,
		.data_align = description->data_align,
		.pointers = description->pointers,
		.begin = description->function.begin,
		.pc = pc,
	};
	struct cfi_rules initial = { 0 };
	if (!cfi_rules_run(&program, description->cie_code, &initial))
		return false;
	program.initial = &initial;
	*ret = initial;
	return cfi_rules_run(&program, description->fde_code, ret);
}

static bool find_cfa(struct memory *memory, const struct cfi_rule *rule,
		     const struct registers *registers, uint64_t *ret)
{
	switch (rule->kind) {
	case CFI_RULE_REGISTER:
		*ret = registers->values[rule->reg] + (uint64_t)rule->offset;
		return true;
	case CFI_RULE_VAL_EXPRESSION:
		return dwarf_expr_run(memory, registers, rule->bytes, rule->size, NULL, ret);
	default:
		return false;
	}
}

/* The value of the caller's register by @p rule, and where it lies. */
static bool find_register(struct memory *memory, const struct cfi_rule *rule, uint64_t cfa,
			  const struct registers *registers, uint64_t *ret_value,
			  uint64_t *ret_slot)
{
	uint64_t place = cfa + (uint64_t)rule->offset;
	switch (rule->kind) {
	case CFI_RULE_OFFSET:
		*ret_slot = place;
		return memory_u64(memory, place, ret_value);
	case CFI_RULE_EXPRESSION:
		if (!dwarf_expr_run(memory, registers, rule->bytes, rule->size, &cfa, ret_slot))
			return false;
		return memory_u64(memory, *ret_slot, ret_value);
	case CFI_RULE_REGISTER:
		if (rule->reg == ARCH_NONE)
			return false;
		*ret_value = registers->values[rule->reg];
		*ret_slot = registers->slots[rule->reg];
		return true;
	case CFI_RULE_VAL_OFFSET:
		*ret_value = place;
		*ret_slot = 0;
		return true;
	case CFI_RULE_VAL_EXPRESSION:
		*ret_slot = 0;
		return dwarf_expr_run(memory, registers, rule->bytes, rule->size, &cfa, ret_value);
	case CFI_RULE_UNDEFINED:
		*ret_value = 0;
		*ret_slot = 0;
		return true;
	default:
		return true;
	}
}

/* Does the caller have more of the stack?  A function that keeps its link register may need none. */
static bool is_above(const struct registers *registers, const struct registers *caller)
{
	return registers_sp(caller) > registers_sp(registers) ||
	       (registers->arch->lr != ARCH_NONE &&
		registers_sp(caller) == registers_sp(registers) &&
		registers_ip(caller) != registers_ip(registers));
}

static enum cfi_result apply_rules(struct memory *memory, const struct cfi_rules *rules,
				   bool is_signal, struct registers *registers)
{
	const struct arch *arch = registers->arch;
	unsigned int place = arch_of_dwarf(arch, arch->return_column);
	const struct cfi_rule *address = &rules->registers[place];
	struct registers caller = *registers;
	uint64_t cfa;
	/* Only a link register has the return address without a rule. */
	bool is_kept =
		address->kind == CFI_RULE_UNSPECIFIED || address->kind == CFI_RULE_SAME_VALUE;
	if (address->kind == CFI_RULE_UNDEFINED)
		return CFI_END;
	if ((is_kept && place != arch->lr) || !find_cfa(memory, &rules->cfa, registers, &cfa))
		return CFI_NONE;
	caller.values[arch->sp] = cfa;
	caller.slots[arch->sp] = 0;
	for (unsigned int i = 0; i < arch->register_count; i++) {
		if (!find_register(memory, &rules->registers[i], cfa, registers, &caller.values[i],
				   &caller.slots[i]))
			return CFI_NONE;
	}
	caller.values[arch->ip] = caller.values[place] & arch->space.code_mask;
	caller.slots[arch->ip] = caller.slots[place];
	/* Only code that a signal interrupted may be on another stack. */
	if (!is_signal && !is_above(registers, &caller))
		return CFI_NONE;
	if (!registers_ip(&caller))
		return CFI_END;
	*registers = caller;
	return is_signal ? CFI_SIGNAL : CFI_FRAME;
}

enum cfi_result cfi_step(struct cfi *cfi, bool is_exact, struct registers *registers)
{
	struct memory *memory = cfi->target->memory;
	const struct arch *arch = registers->arch;
	uint64_t pc = registers_ip(registers);
	struct cfi_description description;
	struct cfi_rules rules;
	/* By its code, as libgcc does (x86_64_fallback_frame_state): musl has no FDE for it. */
	if (arch->ops->is_signal_return(memory, pc) &&
	    arch->ops->signal_context(memory, registers_sp(registers) + arch->space.signal_record,
				      registers))
		return CFI_SIGNAL;
	/* A call may be the last instruction of its function. */
	pc -= is_exact ? 0 : 1;
	if (!cfi_describe(cfi, pc, &description) || !find_rules(arch, &description, pc, &rules))
		return CFI_NONE;
	return apply_rules(memory, &rules, description.is_signal, registers);
}

bool cfi_function_at(struct cfi *cfi, uint64_t pc, struct cfi_function *ret)
{
	struct cfi_description description;
	if (!cfi_describe(cfi, pc, &description))
		return false;
	*ret = description.function;
	return true;
}
