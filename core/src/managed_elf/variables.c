/* SPDX-License-Identifier: MIT */
#include "managed_elf/variables.h"

#include <string.h>

#include "arch/arch.h"
#include "managed_elf/dwarf.h"
#include "managed_elf/names.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/code/source.h"
#include "runtime/coreclr/types/field.h"
#include "util/alloc.h"
#include "util/leb.h"
#include "util/sort.h"

/* Most fields of `this` that are variables. */
#define KEPT_MAX 256u

/* Most arguments and locals with which their names are compared. */
#define NAMES_COMPARED 1000u

/* So many registers have an operation of their own. */
#define REGISTERS_SHORT 32u

/* Blocks of the source that are nested in each other. */
#define BLOCKS_MAX 64u

static void forget_kept(struct variable_making *making)
{
	for (size_t i = 0; i < making->kept_count; i++)
		mem_free(making->kept[i].name);
	making->kept_count = 0;
}

void variable_making_deinit(struct variable_making *making)
{
	elf_types_deinit(&making->types);
	text_deinit(&making->locations);
	method_variables_deinit(&making->variables);
	variable_ranges_deinit(&making->ranges);
	pdb_scopes_deinit(&making->scopes);
	code_bounds_deinit(&making->bounds);
	mem_free(making->type_rows);
	forget_kept(making);
	mem_free(making->kept);
}

/* By reference, and not `this`: a reference, as its value is meant where it is used. */
static uint32_t type_of(struct variable_making *making, const struct method_variable *variable,
			bool is_this)
{
	struct elf_types *types = &making->types;
	if (variable->element_type != ELEMENT_BYREF || !variable->type) {
		return elf_types_of(types, variable->element_type, variable->type,
				    variable->type_name);
	}
	uint32_t target = elf_types_stored(types, variable->type);
	return is_this ? elf_types_pointer(types, target) : elf_types_reference(types, target);
}

static bool find_types(struct variable_making *making)
{
	const struct method_variables *variables = &making->variables;
	making->type_rows = mem_calloc(variables->count + 1, sizeof(*making->type_rows));
	if (!making->type_rows)
		return false;
	for (size_t i = 0; i < variables->count; i++) {
		const struct method_variable *variable = &variables->rows[i];
		bool is_this = !i && variable->name && strcmp(variable->name, "this") == 0;
		uint32_t row = type_of(making, variable, is_this);
		making->type_rows[i] =
			row ? row : elf_types_of(&making->types, ELEMENT_U, NULL, "");
	}
	return !making->types.failed;
}

/* false: memory is exhausted */
static bool add_kept(struct variable_making *making, const struct field *field, uint64_t head)
{
	size_t size;
	const char *name = elf_field_word(field->name, &size);
	if (!size && *field->name != '<') {
		name = field->name;
		size = strlen(name);
	}
	uint32_t row = size ? elf_types_of(&making->types, field->element_type, field->type,
					   field->type_name)
			    : TYPE_UNKNOWN;
	if (!row)
		return true;
	if (making->kept_count == making->kept_capacity) {
		size_t capacity = grown_capacity(making->kept_capacity, sizeof(*making->kept));
		struct kept_variable *rows =
			mem_realloc(making->kept, capacity, sizeof(*making->kept));
		if (!rows)
			return false;
		making->kept = rows;
		making->kept_capacity = capacity;
	}
	char *copy = mem_strndup(name, size);
	if (!copy)
		return false;
	making->kept[making->kept_count++] =
		(struct kept_variable){ copy, row, head + field->offset };
	return true;
}

/* The variables of the source that are fields of `this`; false: memory is exhausted. */
static bool find_kept(struct variable_making *making)
{
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	const struct method_variables *variables = &making->variables;
	struct runtime *runtime = making->making->runtime;
	const struct method_variable *first = variables->rows;
	if (!variables->argument_count || !first->name || strcmp(first->name, "this") != 0 ||
	    !first->type || !type_name_is_made(type_name(runtime, first->type, NULL)))
		return true;
	enum hd_status status = field_list_read(runtime, first->type, &list, NULL);
	uint64_t head = type_is_struct(first->type) ? 0 : DWARF_ADDRESS;
	for (size_t i = 0; i < list.count && i < KEPT_MAX; i++) {
		const struct field *field = &list.rows[i];
		if (!field->is_static && field->declaring == first->type &&
		    !add_kept(making, field, head))
			return false;
	}
	return status != HD_ERR_NOMEM;
}

/* The blocks of the source, as the PDB has them. */
static void read_scopes(struct variable_making *making, const struct method *method,
			const struct code_info *code)
{
	struct runtime *runtime = making->making->runtime;
	uint64_t *unused;
	const struct pdb *pdb = method->rid && method->module
					? runtime_pdb(runtime, method->module, &unused)
					: NULL;
	making->scopes.rows_count = making->bounds.rows_count = 0;
	if (!pdb || !pdb_scopes_read(pdb, method->rid, &making->budget, &making->scopes) ||
	    !runtime_bounds_read(runtime, code, &making->budget, &making->bounds))
		making->scopes.rows_count = 0;
}

enum hd_status variables_read(struct variable_making *making, const struct code_function *function,
			      bool *ret)
{
	struct runtime *runtime = making->making->runtime;
	struct hd_error *err = making->making->err;
	struct method method;
	struct code_info code;
	method_variables_deinit(&making->variables);
	mem_free(making->type_rows);
	making->type_rows = NULL;
	forget_kept(making);
	making->types.runtime = runtime;
	*ret = false;
	making->start = function->start;
	if (!making->budget || !method_read(runtime, function->method_desc, &method) ||
	    !runtime_code_at(runtime, function->start, &code) || code.start != function->start)
		return HD_OK;
	TRY(method_variables_read(runtime, function->method_desc, IL_UNKNOWN, &making->variables,
				  err));
	if (!making->variables.count)
		return HD_OK;
	if (!runtime_variable_ranges_read(runtime, &code, &making->budget, &making->ranges))
		making->ranges.rows_count = 0;
	read_scopes(making, &method, &code);
	TRY_MEMORY(!making->ranges.failed && !making->scopes.failed && !making->bounds.failed &&
			   find_types(making) && find_kept(making),
		   err);
	*ret = true;
	return HD_OK;
}

/* A register by its number in DWARF. */
static void put_numbered(struct text *text, uint64_t number)
{
	if (number < REGISTERS_SHORT) {
		text_fixed(text, OP_REG0 + number, 1);
	} else {
		text_fixed(text, OP_REGX, 1);
		text_uleb(text, number);
	}
}

static void put_register(struct text *text, const struct arch *arch, uint8_t number)
{
	put_numbered(text, arch_to_dwarf(arch, number));
}

static void put_address(struct text *text, const struct arch *arch, uint8_t number, int32_t offset)
{
	text_fixed(text, OP_BREG0 + (uint64_t)arch_to_dwarf(arch, number), 1);
	text_sleb(text, offset);
}

static void put_piece(struct text *text, uint64_t size)
{
	text_fixed(text, OP_PIECE, 1);
	text_uleb(text, size);
}

/* The place of a value of @p size bytes as an expression; nothing: it cannot be said. */
static void put_place(struct text *text, const struct arch *arch, const struct variable_home *home,
		      uint64_t size)
{
	bool is_two = size > DWARF_ADDRESS && size <= 2 * (uint64_t)DWARF_ADDRESS;
	switch (home->kind) {
	case HOME_REGISTER:
		/* It has the address of what does not fit into it. */
		if (size <= DWARF_ADDRESS) {
			put_register(text, arch, home->number);
		} else {
			put_address(text, arch, home->number, 0);
		}
		break;
	case HOME_FLOAT_REGISTER:
		if (home->number < arch->dwarf.floats)
			put_numbered(text, (uint64_t)arch->dwarf.first_float + home->number);
		break;
	case HOME_REGISTER_ADDRESS:
		put_address(text, arch, home->number, 0);
		break;
	case HOME_STACK:
	case HOME_STACK_TWICE:
		put_address(text, arch, home->number, home->offset);
		break;
	case HOME_STACK_ADDRESS:
		put_address(text, arch, home->number, home->offset);
		text_fixed(text, OP_DEREF, 1);
		break;
	case HOME_REGISTERS:
	case HOME_REGISTER_STACK:
	case HOME_STACK_REGISTER:
		if (!is_two)
			break;
		if (home->kind == HOME_STACK_REGISTER) {
			put_address(text, arch, home->second, home->offset);
		} else {
			put_register(text, arch, home->number);
		}
		put_piece(text, DWARF_ADDRESS);
		if (home->kind == HOME_STACK_REGISTER) {
			put_register(text, arch, home->number);
		} else if (home->kind == HOME_REGISTERS) {
			put_register(text, arch, home->second);
		} else {
			put_address(text, arch, home->second, home->offset);
		}
		put_piece(text, size - DWARF_ADDRESS);
		break;
	default:
		break;
	}
}

/* Does a call lose the value? */
static bool is_scratch(const struct arch *arch, const struct variable_home *home)
{
	switch (home->kind) {
	case HOME_FLOAT_REGISTER:
		return true;
	case HOME_REGISTERS:
		return arch_is_scratch(arch, home->number) || arch_is_scratch(arch, home->second);
	case HOME_REGISTER:
	case HOME_REGISTER_ADDRESS:
	case HOME_REGISTER_STACK:
	case HOME_STACK_REGISTER:
		return arch_is_scratch(arch, home->number);
	default:
		return false;
	}
}

/* A function whose variables are written. */
struct function_writer {
	struct variable_making *making;
	const struct arch *arch;
	const struct code_function *function;
	struct text *info, *ranges;
	uint32_t begin, end; /* of the function in the method's code */
};

/*
 * Where a range ends for a debugger.  A value in a register that calls lose is never there during a call, but the range may end
 * with the call instruction, and GDB looks one byte before the return address.  LLDB looks at the return address itself, so a
 * range that ends there, and that another one does not follow, has one byte more if calls keep the value.
 */
static uint32_t end_of(const struct function_writer *writer, const struct variable_range *range,
		       bool is_followed)
{
	struct runtime *runtime = writer->making->making->runtime;
	if (is_scratch(writer->arch, &range->home))
		return range->end - 1;
	bool is_kept = !is_followed && range->end < writer->end &&
		       writer->arch->ops->follows_call(runtime_memory(runtime),
						       writer->function->start + range->end);
	return range->end + is_kept;
}

/* The part of a range that is in the function; false: none. */
static bool clip(const struct function_writer *writer, const struct variable_range *range,
		 bool is_followed, uint32_t *ret_begin, uint32_t *ret_end)
{
	uint32_t end = end_of(writer, range, is_followed);
	*ret_begin = range->begin > writer->begin ? range->begin : writer->begin;
	*ret_end = end < writer->end ? end : writer->end;
	return *ret_begin < *ret_end;
}

/* The ranges of a variable: rows from *@p ret_first on. */
static size_t ranges_of(const struct variable_making *making, uint32_t number, size_t *ret_first)
{
	const struct variable_ranges *ranges = &making->ranges;
	*ret_first = ROWS_FROM(ranges->rows, ranges->rows_count, number, number);
	return ROWS_ABOVE(ranges->rows, ranges->rows_count, number, number) - *ret_first;
}

/* Where a field of `this` is; nothing: `this` is not in a register or on the stack. */
static void put_kept_place(struct text *text, const struct arch *arch,
			   const struct variable_home *home, uint64_t offset)
{
	if (home->kind == HOME_REGISTER) {
		put_address(text, arch, home->number, (int32_t)offset);
	} else if (home->kind == HOME_STACK) {
		put_address(text, arch, home->number, home->offset);
		text_fixed(text, OP_DEREF, 1);
		text_fixed(text, OP_PLUS_UCONST, 1);
		text_uleb(text, offset);
	}
}

/* A variable that is written: one of the method, or a field of `this`, which is its variable 0. */
struct shown_variable {
	const char *name;
	uint32_t number, type;
	const struct kept_variable *kept; /* the field; or NULL */
	bool is_local;
};

/* Append the places to .debug_loc; @return how many; the last one is in *@p ret, and is for all of the function if *@p ret_all. */
static size_t put_places(struct function_writer *writer, const struct shown_variable *shown,
			 struct text *ret, bool *ret_all)
{
	struct variable_making *making = writer->making;
	struct text *list = &making->locations;
	uint64_t base = writer->function->start, size = elf_types_size(&making->types, shown->type);
	uint32_t begin, end;
	size_t first, count = ranges_of(making, shown->number, &first), written = 0;
	*ret_all = false;
	for (size_t i = first; i < first + count; i++) {
		const struct variable_range *range = &making->ranges.rows[i];
		bool is_followed = i + 1 < first + count && range[1].begin == range->end;
		if (!clip(writer, range, is_followed, &begin, &end))
			continue;
		ret->size = 0;
		if (shown->kept) {
			put_kept_place(ret, writer->arch, &range->home, shown->kept->offset);
		} else {
			put_place(ret, writer->arch, &range->home, size);
		}
		if (!ret->size)
			continue;
		*ret_all = !written && begin == writer->begin && end == writer->end;
		written++;
		text_fixed(list, base + begin, DWARF_ADDRESS);
		text_fixed(list, base + end, DWARF_ADDRESS);
		text_fixed(list, ret->size, 2);
		text_append(list, ret->bytes, ret->size);
	}
	text_fixed(list, 0, DWARF_ADDRESS);
	text_fixed(list, 0, DWARF_ADDRESS);
	return written;
}

static void put_variable(struct function_writer *writer, const struct shown_variable *shown)
{
	struct variable_making *making = writer->making;
	struct text *info = writer->info, *list = &making->locations;
	HD_CLEANUP(text) struct text place = { 0 };
	size_t begin = list->size;
	bool is_all;
	size_t places = put_places(writer, shown, &place, &is_all);
	bool is_one = places == 1 && is_all;
	if (!places || is_one)
		list->size = list->failed ? list->size : begin;
	unsigned int kind = !places  ? ABBREV_ARGUMENT_NOWHERE
			    : is_one ? ABBREV_ARGUMENT
				     : ABBREV_ARGUMENT_IN_PLACES;
	text_uleb(info, kind + (shown->is_local ? ABBREV_LOCAL - ABBREV_ARGUMENT : 0));
	elf_name_append(info, shown->name, strlen(shown->name));
	text_append(info, "", 1);
	elf_types_use(&making->types, shown->type, info);
	if (is_one) {
		text_uleb(info, place.size);
		text_append(info, place.bytes, place.size);
	} else if (places) {
		text_fixed(info, begin, 4);
	}
	info->failed |= place.failed;
}

/* The locals of a scope that the method has. */
static bool has_locals(const struct variable_making *making, const struct pdb_scope *scope)
{
	size_t count = making->variables.count - making->variables.argument_count;
	for (uint32_t i = 0; i < scope->locals; i++) {
		if (making->scopes.locals[scope->first_local + i].number < count)
			return true;
	}
	return false;
}

static void put_scope_locals(struct function_writer *writer, const struct pdb_scope *scope)
{
	struct variable_making *making = writer->making;
	size_t first = making->variables.argument_count;
	for (uint32_t i = 0; i < scope->locals; i++) {
		const struct pdb_local *local = &making->scopes.locals[scope->first_local + i];
		if (local->number >= making->variables.count - first)
			continue;
		uint32_t number = (uint32_t)first + local->number;
		put_variable(writer, &(struct shown_variable){ .name = local->name,
							       .number = number,
							       .type = making->type_rows[number],
							       .is_local = true });
	}
}

/* The code of a piece of IL, appended to .debug_ranges; @return how many ranges. */
static size_t put_code_ranges(struct function_writer *writer, uint32_t il_begin, uint32_t il_end)
{
	const struct code_bounds *bounds = &writer->making->bounds;
	uint64_t base = writer->function->start;
	size_t i = ROW_OF(bounds->rows, bounds->rows_count, native, writer->begin), count = 0;
	uint32_t open = UINT32_MAX;
	for (; i < bounds->rows_count && bounds->rows[i].native < writer->end; i++) {
		const struct code_bound *bound = &bounds->rows[i];
		uint32_t at = bound->native > writer->begin ? bound->native : writer->begin;
		/* The last one of several at one place counts. */
		if (i + 1 < bounds->rows_count && bounds->rows[i + 1].native <= at)
			continue;
		bool is_inside = bound->il >= il_begin && bound->il < il_end;
		if (is_inside == (open != UINT32_MAX))
			continue;
		if (!is_inside) {
			text_fixed(writer->ranges, base + open, DWARF_ADDRESS);
			text_fixed(writer->ranges, base + at, DWARF_ADDRESS);
			count++;
		}
		open = is_inside ? at : UINT32_MAX;
	}
	if (open != UINT32_MAX) {
		text_fixed(writer->ranges, base + open, DWARF_ADDRESS);
		text_fixed(writer->ranges, base + writer->end, DWARF_ADDRESS);
		count++;
	}
	return count;
}

/* Begin the block of a scope; false: the function has no code of it. */
static bool begin_block(struct function_writer *writer, const struct pdb_scope *scope,
			uint32_t il_end)
{
	size_t begin = writer->ranges->size;
	if (!put_code_ranges(writer, scope->begin, il_end))
		return false;
	text_fixed(writer->ranges, 0, DWARF_ADDRESS);
	text_fixed(writer->ranges, 0, DWARF_ADDRESS);
	text_uleb(writer->info, ABBREV_BLOCK);
	text_fixed(writer->info, begin, 4);
	return true;
}

/* Blocks that are open: the end of each in the IL. */
struct open_blocks {
	uint32_t ends[BLOCKS_MAX];
	size_t count;
};

/* Locals of an outermost scope belong to the function. */
static void put_scope(struct function_writer *writer, const struct pdb_scope *scope,
		      struct open_blocks *open, uint32_t *root_end)
{
	uint32_t end = scope->end;
	for (; open->count && scope->begin >= open->ends[open->count - 1]; open->count--)
		text_fixed(writer->info, 0, 1);
	if (!open->count && scope->begin >= *root_end) {
		*root_end = end;
		put_scope_locals(writer, scope);
		return;
	}
	uint32_t outer = open->count ? open->ends[open->count - 1] : *root_end;
	end = end < outer ? end : outer;
	if (!has_locals(writer->making, scope) || open->count == BLOCKS_MAX ||
	    !begin_block(writer, scope, end))
		return;
	put_scope_locals(writer, scope);
	open->ends[open->count++] = end;
}

static void put_locals(struct function_writer *writer)
{
	struct variable_making *making = writer->making;
	const struct pdb_scopes *scopes = &making->scopes;
	struct open_blocks open = { .count = 0 };
	uint32_t root_end = 0;
	/* Each block goes through the bounds. */
	uint64_t steps = (uint64_t)scopes->rows_count * (making->bounds.rows_count + 1);
	if (steps > making->budget)
		return;
	making->budget -= steps;
	for (size_t i = 0; i < scopes->rows_count; i++)
		put_scope(writer, &scopes->rows[i], &open, &root_end);
	for (; open.count; open.count--)
		text_fixed(writer->info, 0, 1);
}

/* Is there an argument or a local of that name? */
static bool has_variable(const struct variable_making *making, const char *name)
{
	const struct method_variables *variables = &making->variables;
	if (variables->argument_count + making->scopes.locals_count > NAMES_COMPARED)
		return true;
	for (size_t i = 0; i < variables->argument_count; i++) {
		if (variables->rows[i].name && strcmp(variables->rows[i].name, name) == 0)
			return true;
	}
	for (size_t i = 0; i < making->scopes.locals_count; i++) {
		if (strcmp(making->scopes.locals[i].name, name) == 0)
			return true;
	}
	return false;
}

void variables_write(struct variable_making *making, const struct code_function *function,
		     struct text *info, struct text *ranges)
{
	struct function_writer writer = {
		.making = making,
		.arch = runtime_arch(making->making->runtime),
		.function = function,
		.info = info,
		.ranges = ranges,
		.begin = (uint32_t)(function->begin - function->start),
		.end = (uint32_t)(function->end - function->start),
	};
	const struct method_variables *variables = &making->variables;
	for (size_t i = 0; i < variables->argument_count; i++) {
		if (variables->rows[i].name) {
			put_variable(&writer,
				     &(struct shown_variable){ .name = variables->rows[i].name,
							       .number = (uint32_t)i,
							       .type = making->type_rows[i] });
		}
	}
	for (size_t i = 0; i < making->kept_count; i++) {
		const struct kept_variable *kept = &making->kept[i];
		if (!has_variable(making, kept->name)) {
			put_variable(&writer, &(struct shown_variable){ .name = kept->name,
									.type = kept->type_row,
									.kept = kept,
									.is_local = true });
		}
	}
	put_locals(&writer);
}
