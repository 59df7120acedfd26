/* SPDX-License-Identifier: MIT */
#include "command/threads/variable_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/threads/frame_variables.h"
#include "command/objects/object.h"
#include "runtime/coreclr/code/source.h"

#define VARIABLE_LIST(X)                                                                           \
	X(VARIABLE_NAME, "name", NULL, KIND_TEXT, 0, 0, "its name in the source; null: not known") \
	X(VARIABLE_NUMBER, "number", NULL, KIND_NUMBER, 0, 0,                                      \
	  "its number in the IL: this is argument 0")                                              \
	X(VARIABLE_TYPE, "type", NULL, KIND_TYPE, 0, 0,                                            \
	  "name of the object's type, or else of the one that is declared")                        \
	X(VARIABLE_STATE, "state", NULL, KIND_TEXT, 0, 0,                                          \
	  "known, or why it has no value here: nowhere, lost-register, "                           \
	  "float-register, in-two-places or unreadable")                                           \
	X(VARIABLE_PLACE, "place", NULL, KIND_TEXT, 0, 0,                                          \
	  "the register that it is in, or register and offset")                                    \
	X(VARIABLE_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0,                                   \
	  "where it is on the stack; null: in a register")                                         \
	X(VARIABLE_VALUE, "value", NULL, KIND_ANY, 0, 0, "what it holds; a struct by its address") \
	X(VARIABLE_MEANING, "meaning", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                         \
	  "of the value: a string's text, an enum's name")                                         \
	X(VARIABLE_TARGET, "target", NULL, KIND_ANY, 0, LOOK_LEAVE_OUT,                            \
	  "what a ref or out argument refers to")                                                  \
	X(VARIABLE_TABLE, "method_table", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                   \
	  "of a struct, for dumpvc")                                                               \
	X(VARIABLE_WHERE, NULL, "where", KIND_TEXT, 0, 0,                                          \
	  NULL) /**< text only, as all that follow */                                              \
	X(VARIABLE_WORD, NULL, "word", KIND_NUMBER, 0, 0, NULL)                                    \
	X(VARIABLE_SHOWN, NULL, "text", KIND_TEXT, 0, 0, NULL)

COLUMNS(variable, VARIABLE_COLUMNS, VARIABLE_LIST);

static const struct schema parameter_schema = {
	.name = "parameters",
	SCHEMA_COLUMNS(variable_columns),
	.heading = "    PARAMETERS:",
	.lines = "        [{name}|<{name}>][=word  ({where}) = 0x{word:016}[?type  "
		 "{type}]\\d{text}\\.| = <no data>\\d{where}\\.]\n",
};

static const struct schema local_schema = {
	.name = "locals",
	SCHEMA_COLUMNS(variable_columns),
	.heading = "    LOCALS:",
	.lines = "        [{name}|<{name}>][=word  ({where}) = 0x{word:016}[?type  "
		 "{type}]\\d{text}\\.| = <no data>\\d{where}\\.]\n",
};

#define WHERE_SIZE 96u

static void show_place(const struct arch *arch, const struct frame_variable *row,
		       char place[STACK_SLOT_SIZE])
{
	const struct stack_root slot = { .base = row->base,
					 .is_register = row->home == HOME_REGISTER ||
							row->home == HOME_REGISTER_ADDRESS,
					 .offset = row->offset };
	stack_root_slot(arch, &slot, place);
}

/* Where it is; of a variable without a value, why not. */
static void show_where(const struct frame_variable *row, const char *place, char where[WHERE_SIZE])
{
	where[0] = '\0';
	switch (row->state) {
	case VARIABLE_KNOWN:
		if (row->address) {
			(void)snprintf(where, WHERE_SIZE, "0x%016" PRIx64, row->address);
		} else {
			(void)snprintf(where, WHERE_SIZE, "%s", place);
		}
		break;
	case VARIABLE_LOST:
		(void)snprintf(where, WHERE_SIZE, " (in %.3s, which is not known here)", place);
		break;
	case VARIABLE_FLOAT:
		(void)snprintf(where, WHERE_SIZE, " (in a floating-point register)");
		break;
	case VARIABLE_PARTS:
		(void)snprintf(where, WHERE_SIZE, " (in two places)");
		break;
	case VARIABLE_UNREADABLE:
		(void)snprintf(where, WHERE_SIZE, " (the target does not have %s)", place);
		break;
	case VARIABLE_NOWHERE:
		break;
	}
}

/* The value as a word: an address, or the bits. */
static uint64_t value_word(const struct value_out *value)
{
	return value->form == FORM_REFERENCE || value->form == FORM_STRUCT ? value->address
									   : value->bits;
}

static bool is_plain(const struct value_out *value)
{
	return value->form == FORM_TEXT && value->element_type != ELEMENT_BYREF &&
	       value->element_type != ELEMENT_POINTER && value->element_type != ELEMENT_I &&
	       value->element_type != ELEMENT_U && value->element_type != ELEMENT_FUNCTION_POINTER;
}

/* After the type: " 5 (Blue)", " \"text\"", " -> 42". */
static void show_value(const struct call *call, const struct value_out *value, const char *meaning,
		       const struct value_out *target, struct text *text)
{
	char buf[sizeof(value->text)];
	if (is_plain(value))
		text_printf(text, " %s", value->text);
	if (*meaning)
		text_printf(text, is_plain(value) ? " (%s)" : " %s", meaning);
	/* A struct is where the value says. */
	if (target->form == FORM_MISSING || target->form == FORM_STRUCT)
		return;
	HD_CLEANUP(text) struct text note = { 0 };
	value_text(target, buf, sizeof(buf));
	value_note(call, target, &note);
	text_printf(text, target->form == FORM_TEXT ? " -> %s" : " -> 0x%s", buf);
	if (note.size)
		text_printf(text, " (%s)", note.bytes);
	text->failed |= note.failed;
}

static void set_type(struct heap *heap, const struct method_variable *variable,
		     const struct frame_variable *row, struct cell *ret)
{
	const struct type *type = row->object.type;
	if (type) {
		size_t size;
		const char *name = type_name(heap->runtime, type, &size);
		*ret = cell_type(name, size, type->method_table);
		return;
	}
	if (variable->type_name[0]) {
		*ret = cell_type(variable->type_name, strlen(variable->type_name),
				 variable->type ? variable->type->method_table : 0);
	}
}

static void write_variable(struct call *call, const struct method_variable *variable,
			   const struct frame_variable *row, uint64_t number, bool is_local)
{
	struct heap *heap = call->heap;
	char place[STACK_SLOT_SIZE], where[WHERE_SIZE], unnamed[40];
	HD_CLEANUP(text) struct text meaning = { 0 }, shown = { 0 };
	bool is_known = row->state == VARIABLE_KNOWN;
	show_place(runtime_arch(call->heap->runtime), row, place);
	show_where(row, place, where);
	(void)snprintf(unnamed, sizeof(unnamed), "%s %" PRIu64, is_local ? "local" : "argument",
		       number);
	if (is_known) {
		value_note(call, &row->value, &meaning);
		show_value(call, &row->value, meaning.size ? meaning.bytes : "", &row->target,
			   &shown);
	}
	struct cell cells[VARIABLE_COLUMNS] = {
		[VARIABLE_NAME] = cell_string(variable->name),
		[VARIABLE_NUMBER] = cell_number(number),
		[VARIABLE_STATE] = cell_string(variable_state_name(row->state)),
		[VARIABLE_PLACE] = cell_string(place[0] ? place : NULL),
		[VARIABLE_WHERE] = cell_string(where),
		[VARIABLE_SHOWN] = cell_string(shown.size ? shown.bytes : ""),
	};
	cells[VARIABLE_NAME].shown = variable->name ? NULL : unnamed;
	set_type(heap, variable, row, &cells[VARIABLE_TYPE]);
	if (row->address)
		cells[VARIABLE_ADDRESS] = cell_number(row->address);
	if (is_known) {
		cells[VARIABLE_WORD] = cell_number(value_word(&row->value));
		cells[VARIABLE_VALUE] =
			row->value.form == FORM_MISSING
				? cell_of(KIND_ADDRESS, cell_number(row->value.bits))
				: value_cell(&row->value);
		if (row->target.form != FORM_STRUCT)
			cells[VARIABLE_TARGET] = value_cell(&row->target);
		cells[VARIABLE_MEANING] =
			cell_text(meaning.size ? meaning.bytes : NULL, meaning.size);
	}
	bool is_struct = row->value.form == FORM_STRUCT || row->target.form == FORM_STRUCT;
	if (is_struct && variable->type)
		cells[VARIABLE_TABLE] = cell_number(variable->type->method_table);
	answer_row(&call->answer, cells);
	call->out.text.failed |= meaning.failed | shown.failed;
}

/* The rows [first, end) of the variables. */
static enum hd_status write_variables(struct call *call, const struct frame_variables *variables,
				      const struct schema *schema, size_t first, size_t end)
{
	const struct table_options options = { .limit = UINT64_MAX };
	bool is_local = schema == &local_schema, is_empty = true;
	answer_table(&call->answer, schema, &options);
	for (size_t i = first; i < end; i++) {
		const struct method_variable *variable = &variables->method.rows[i];
		if (variable->is_hidden)
			continue;
		write_variable(call, variable, &variables->rows[i], i - first, is_local);
		TRY(call_check(call));
		is_empty = false;
	}
	if (is_empty)
		answer_remark(&call->answer, "        <no data>\n");
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

static enum hd_status write_both(struct call *call, const struct frame_details *details,
				 const struct frame_variables *variables)
{
	size_t arguments = variables->method.argument_count;
	if (details->parameters)
		TRY(write_variables(call, variables, &parameter_schema, 0, arguments));
	if (details->locals) {
		TRY(write_variables(call, variables, &local_schema, arguments,
				    variables->method.count));
		if (variables->method.no_locals) {
			answer_remark_styled(&call->answer, STYLE_NOTE, "        (%s)\n",
					     variables->method.no_locals);
		}
	}
	return HD_OK;
}

#define REGISTERS_IN_LINE 4u

/* SOS's lines of registers, by the names that their cells show; those that are not known are left out. */
static void frame_register_layout(struct out *out, const struct cell *cells)
{
	unsigned int count = 0;
	for (unsigned int i = 0; i < ARCH_REGISTERS_MAX; i++) {
		if (!cells[i].is_there)
			continue;
		out_printf(out, "%s%s=%016" PRIx64, count % REGISTERS_IN_LINE ? " " : "    ",
			   cells[i].shown, cells[i].number);
		if (++count % REGISTERS_IN_LINE == 0)
			out_puts(out, "\n");
	}
	if (count % REGISTERS_IN_LINE)
		out_puts(out, "\n");
}

static void write_frame_registers(struct call *call, const struct frame_registers *registers)
{
	const struct arch *arch = runtime_arch(call->heap->runtime);
	struct column columns[ARCH_REGISTERS_MAX];
	struct cell cells[ARCH_REGISTERS_MAX] = { 0 };
	const struct schema schema = {
		.name = "registers",
		.columns = columns,
		.count = arch->register_count,
		.layout = frame_register_layout,
	};
	for (unsigned int i = 0; i < arch->register_count; i++) {
		const char *name = arch->register_names[i];
		columns[i] = (struct column){ name, NULL, KIND_ADDRESS, 0, 0, "null: not known" };
		if (registers && registers->known >> i & 1)
			cells[i] = cell_number(registers->values[i]);
		cells[i].shown = name;
	}
	answer_record(&call->answer, &schema, cells);
}

enum hd_status frame_details_write(struct call *call, const struct frame_details *details,
				   const struct thread_stack *stack,
				   const struct stack_frame *frame)
{
	const struct frame_registers *registers =
		frame->registers ? &stack->registers[frame->registers - 1] : NULL;
	if (frame->kind != STACK_MANAGED)
		return HD_OK;
	if (details->registers)
		write_frame_registers(call, registers);
	if (!details->parameters && !details->locals)
		return HD_OK;
	HD_CLEANUP(frame_variables) struct frame_variables variables = { 0 };
	runtime_symbols_set(call->heap->runtime, call->settings.symbols);
	TRY(frame_variables_read(call->heap, frame, registers, &variables, call->err));
	return write_both(call, details, &variables);
}
