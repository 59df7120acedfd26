/* SPDX-License-Identifier: MIT */
#include "analysis/threads/frame_variables.h"

#include "runtime/coreclr/code/debug_info.h"
#include "runtime/coreclr/code/source.h"
#include "runtime/runtime_ops.h"
#include "util/alloc.h"

/* Bytes of a boxed struct that are none of its fields: its MethodTable, and the header of objects. */
#define BOX_OVERHEAD 16u

/* A frame whose variables are read. */
struct frame_reading {
	struct heap *heap;
	const struct stack_frame *frame;
	const struct frame_registers *registers;
};

const char *variable_state_name(enum variable_state state)
{
	static const char *const names[] = {
		[VARIABLE_KNOWN] = "known",         [VARIABLE_NOWHERE] = "nowhere",
		[VARIABLE_LOST] = "lost-register",  [VARIABLE_FLOAT] = "float-register",
		[VARIABLE_PARTS] = "in-two-places", [VARIABLE_UNREADABLE] = "unreadable",
	};
	return names[state];
}

static bool read_register(const struct frame_reading *reading, unsigned int number, uint64_t *ret)
{
	if (!reading->registers || number >= ARCH_REGISTERS_MAX ||
	    !(reading->registers->known >> number & 1))
		return false;
	*ret = reading->registers->values[number];
	return true;
}

/* Find where the variable is; its value, if it is in a register and not @p is_wide. */
static enum variable_state locate_variable(const struct frame_reading *reading,
					   const struct variable_home *home, bool is_wide,
					   struct frame_variable *row, uint64_t *ret_word)
{
	uint64_t word = 0;
	switch (home->kind) {
	case HOME_NONE:
		return VARIABLE_NOWHERE;
	case HOME_FLOAT_REGISTER:
		return VARIABLE_FLOAT;
	case HOME_REGISTER:
	case HOME_REGISTER_ADDRESS:
	case HOME_STACK:
	case HOME_STACK_ADDRESS:
		break;
	default:
		return VARIABLE_PARTS;
	}
	row->base = home->number;
	row->offset = home->offset;
	if (!read_register(reading, home->number, &word))
		return VARIABLE_LOST;
	if (home->kind == HOME_REGISTER && !is_wide) {
		*ret_word = word;
		return VARIABLE_KNOWN;
	}
	if (home->kind == HOME_STACK || home->kind == HOME_STACK_ADDRESS)
		word += (uint64_t)(int64_t)home->offset;
	if (home->kind == HOME_STACK_ADDRESS && !memory_u64(reading->heap->memory, word, &word))
		return VARIABLE_UNREADABLE;
	row->address = word;
	return word ? VARIABLE_KNOWN : VARIABLE_UNREADABLE;
}

/* A type that is stored as a number has the element type of that number. */
static uint8_t element_of(struct heap *heap, uint8_t element, const struct type *type)
{
	return element == ELEMENT_VALUE && type ? type_storage(heap->runtime, type) : element;
}

static void find_variable_object(struct heap *heap, struct frame_variable *row)
{
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	uint64_t address = row->value.address;
	struct object object;
	if (address && address % 8 == 0 && object_read(heap, &window, address, &object) &&
	    !object.type->is_free)
		row->object = object;
}

static void read_variable_value(const struct frame_reading *reading,
				const struct method_variable *variable, uint64_t word,
				struct frame_variable *row)
{
	struct heap *heap = reading->heap;
	bool is_by_ref = variable->element_type == ELEMENT_BYREF;
	const struct type *type = is_by_ref ? NULL : variable->type;
	/* The type is not known: the whole word. */
	uint8_t element = variable->element_type
				  ? element_of(heap, variable->element_type, variable->type)
				  : ELEMENT_U;
	if (row->address) {
		value_read(heap, element, type, row->address, &row->value);
		if (row->value.form == FORM_MISSING)
			row->state = VARIABLE_UNREADABLE;
	} else {
		value_of_word(heap, element, type, word, &row->value);
	}
	if (row->value.form == FORM_REFERENCE)
		find_variable_object(heap, row);
	if (is_by_ref && row->state == VARIABLE_KNOWN && row->value.bits && variable->target_type) {
		value_read(heap, element_of(heap, variable->target_type, variable->type),
			   variable->type, row->value.bits, &row->target);
	}
}

/* A struct that does not fit into a register: if one has it, it has its address (doc/coreclr.md 12.13). */
static bool is_wide(struct heap *heap, const struct method_variable *variable)
{
	return variable->type &&
	       element_of(heap, variable->element_type, variable->type) == ELEMENT_VALUE &&
	       variable->type->base_size > BOX_OVERHEAD + 8;
}

static void read_variable_row(const struct frame_reading *reading,
			      const struct method_variable *variable,
			      const struct variable_home *home, struct frame_variable *row)
{
	uint64_t word = 0;
	*row = (struct frame_variable){ .home = home->kind, .base = ARCH_NONE };
	row->value.form = row->target.form = FORM_MISSING;
	row->state = locate_variable(reading, home, is_wide(reading->heap, variable), row, &word);
	if (row->state == VARIABLE_KNOWN)
		read_variable_value(reading, variable, word, row);
}

/* The variables of a program whose symbols have them. */
static enum hd_status read_by_symbols(const struct frame_reading *reading, uint64_t place,
				      struct frame_variables *ret, struct hd_error *err)
{
	struct runtime *runtime = reading->heap->runtime;
	HD_FREE struct variable_home *homes = NULL;
	struct frame_variables variables = { 0 };
	TRY(runtime_ops(runtime)->functions->variables(runtime, place, &variables.method, &homes,
						       err));
	size_t count = variables.method.count;
	variables.rows = mem_calloc(count + 1, sizeof(*variables.rows));
	if (!variables.rows) {
		frame_variables_deinit(&variables);
		return fail_nomem(err);
	}
	variables.has_homes = count > 0;
	for (size_t i = 0; i < count; i++) {
		read_variable_row(reading, &variables.method.rows[i], &homes[i],
				  &variables.rows[i]);
	}
	*ret = variables;
	return HD_OK;
}

enum hd_status frame_variables_read(struct heap *heap, const struct stack_frame *frame,
				    const struct frame_registers *registers,
				    struct frame_variables *ret, struct hd_error *err)
{
	struct runtime *runtime = heap->runtime;
	const struct frame_reading reading = { heap, frame, registers };
	struct frame_variables variables = { 0 };
	/* A return address is after the call. */
	uint64_t place = frame->ip - !frame->is_active, *budget = coreclr_debug_budget(runtime);
	const struct function_ops *functions = runtime_ops(runtime)->functions;
	if (functions && functions->variables)
		return read_by_symbols(&reading, place, ret, err);
	struct code_info code;
	uint32_t il = IL_UNKNOWN;
	bool has_code = budget && runtime_code_at(runtime, place, &code) &&
			code.method_desc == frame->method_desc;
	if (has_code)
		(void)runtime_il_at(runtime, &code, place, budget, &il);
	TRY(method_variables_read(runtime, frame->method_desc, il, &variables.method, err));
	size_t count = variables.method.count;
	HD_FREE struct variable_home *homes = mem_calloc(count + 1, sizeof(*homes));
	variables.rows = mem_calloc(count + 1, sizeof(*variables.rows));
	if (!homes || !variables.rows) {
		frame_variables_deinit(&variables);
		return fail_nomem(err);
	}
	if (has_code) {
		variables.has_homes =
			runtime_variable_homes(runtime, &code, place, budget, homes, count);
	} else {
		for (size_t i = 0; i < count; i++)
			homes[i].kind = HOME_NONE;
	}
	for (size_t i = 0; i < count; i++) {
		read_variable_row(&reading, &variables.method.rows[i], &homes[i],
				  &variables.rows[i]);
	}
	*ret = variables;
	return HD_OK;
}

/* Bytes of debug info that are read in advance: a deep recursion has the same again and again. */
#define TOUCHED_MAX ((uint64_t)64 << 20)

static void touch_frames(struct runtime *runtime, const struct thread_stack *stack,
			 uint64_t *budget)
{
	uint64_t before = 0;
	for (size_t i = 0; i < stack->frames_count && *budget; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		uint64_t place = frame->ip - !frame->is_active;
		struct code_info code;
		struct variable_home home;
		uint32_t il;
		if (frame->kind != STACK_MANAGED || place == before ||
		    !runtime_code_at(runtime, place, &code))
			continue;
		before = place;
		(void)runtime_il_at(runtime, &code, place, budget, &il);
		(void)runtime_variable_homes(runtime, &code, place, budget, &home, 1);
		method_variables_touch(runtime, frame->method_desc);
	}
}

enum hd_status frame_variables_touch(struct runtime *runtime, struct job *job, struct hd_error *err)
{
	static const struct stack_options options = { .no_roots = true };
	struct stack_walker *walker;
	uint64_t budget = TOUCHED_MAX;
	TRY(stack_walker_create(runtime, NULL, &walker, err));
	enum hd_status status = HD_OK;
	for (size_t i = 0; i < runtime_thread_count(runtime) && status == HD_OK; i++) {
		struct thread_stack stack;
		status = stack_walk(walker, runtime_thread_at(runtime, i), &options, job, &stack,
				    err);
		if (status != HD_OK)
			break;
		touch_frames(runtime, &stack, &budget);
		thread_stack_deinit(&stack);
	}
	stack_walker_destroy(walker);
	return status;
}

void frame_variables_deinit(struct frame_variables *variables)
{
	method_variables_deinit(&variables->method);
	mem_free(variables->rows);
	*variables = (struct frame_variables){ 0 };
}
