/* SPDX-License-Identifier: MIT */
#include "command/session/crash.h"

#include "gc/heap.h"
#include "inspect/locate.h"

/* Is the code that of the runtime, or of a GC that it was told to load (libclrgc.so, libclrgcexp.so)? */
static bool is_of_runtime(const struct runtime *runtime, const struct fault *fault)
{
	const char *path = fault->mapping ? fault->mapping->path : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;
	return path && (strcmp(path, runtime_path(runtime)) == 0 ||
			(slash && strncmp(slash + 1, "libclrgc", 8) == 0));
}

void crash_find(const struct call *call, struct crash *ret)
{
	struct crash crash = { 0 };
	const struct heap *heap = call->heap;
	if (heap && fault_find(heap_target(heap), &crash.fault)) {
		crash.is_there = true;
		crash.is_in_gc = is_of_runtime(heap->runtime, &crash.fault);
		const struct arch *arch = crash.fault.registers.arch;
		for (unsigned int i = 0; i < arch->register_count; i++) {
			uint64_t value = crash.fault.registers.values[i];
			if (i == arch->ip || i == arch->sp || !heap_segment_at(heap, value))
				continue;
			crash.registers[crash.count] = (uint8_t)i;
			crash.addresses[crash.count++] = value;
		}
	}
	*ret = crash;
}

bool crash_is_collecting(const struct call *call, const struct crash *crash, bool any_marks)
{
	const struct heap *heap = call->heap;
	return crash->is_there && crash->is_in_gc &&
	       (heap->gc_in_progress || any_marks || heap_gc(heap)->gc_state != GC_STATE_FREE);
}

#define CRASH_LIST(X)                                                                       \
	X(CRASH_SIGNAL, "signal", NULL, KIND_TEXT, 0, 0, "name of the signal")              \
	X(CRASH_THREAD, "thread", NULL, KIND_NUMBER, 0, 0, "the thread's id in the system") \
	X(CRASH_IP, "ip", NULL, KIND_ADDRESS, 0, 0, "where the thread was")                 \
	X(CRASH_MODULE, "module", NULL, KIND_TEXT, 0, 0, "the file that is mapped there")   \
	X(CRASH_OFFSET, "offset", NULL, KIND_NUMBER, 0, 0, "the place in that file")        \
	X(CRASH_COLLECTING, "collecting", NULL, KIND_FLAG, 0, 0,                            \
	  "was the thread collecting garbage?")                                             \
	X(CRASH_ADDRESS, "address", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                  \
	  "the address that it could not read or write")                                    \
	X(CRASH_FILE, .heading = "file", .kind = KIND_TEXT) /**< text only: of the module */

#define CRASH_LINE                                                         \
	"{signal} in thread 0x{thread:x}, at [{file}+0x{offset:x}|{ip:x}]" \
	"[, which could not use the address {address:x}]"                  \
	"[?collecting , while it was collecting garbage]\n"

COLUMNS(crash, CRASH_COLUMNS, CRASH_LIST);

static const struct schema ended_schema = { .name = "crash",
					    SCHEMA_COLUMNS(crash_columns),
					    .lines = "The process ended by " CRASH_LINE };
SCHEMA(crash, .name = "crash", .lines = "Crash:       " CRASH_LINE);

static void crash_cells(const struct call *call, const struct crash *crash, bool any_marks,
			struct cell cells[CRASH_COLUMNS])
{
	const struct fault *fault = &crash->fault;
	cells[CRASH_SIGNAL] = cell_string(target_crash_name(fault->signal));
	cells[CRASH_THREAD] = cell_number((uint32_t)fault->tid);
	cells[CRASH_IP] = cell_number(registers_ip(&fault->registers));
	cells[CRASH_MODULE] = cell_string(fault->mapping ? fault->mapping->path : NULL);
	if (fault->mapping) {
		const char *slash = strrchr(fault->mapping->path, '/');
		cells[CRASH_FILE] = cell_string(slash ? slash + 1 : fault->mapping->path);
	}
	cells[CRASH_OFFSET] = cell_number(fault->offset);
	if (fault->has_address)
		cells[CRASH_ADDRESS] = cell_number(fault->address);
	cells[CRASH_COLLECTING] = cell_flag(crash_is_collecting(call, crash, any_marks));
}

#define REGISTER_LIST(X)                                                                       \
	X(REGISTER_NAME, "register", NULL, KIND_TEXT, 0, 0, "name of the register")            \
	X(REGISTER_VALUE, "value", NULL, KIND_ADDRESS, 0, 0, "what it holds")                  \
	X(REGISTER_PLACE, "place", NULL, KIND_TEXT, 0, 0, "what is there")                     \
	X(REGISTER_OBJECT, "object", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                    \
	  "the object there, or where the damage begins")                                      \
	X(REGISTER_TYPE, "type", NULL, KIND_TYPE, 0, LOOK_LEAVE_OUT, "name of its type")       \
	X(REGISTER_WORD, "word", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                        \
	  "what is there instead of a MethodTable")                                            \
	X(REGISTER_SIZE, .heading = "size", .kind = KIND_BYTES) /**< text only, as the next */ \
	X(REGISTER_END, .heading = "end", .kind = KIND_ADDRESS)                                \
	X(REGISTER_INTO, .heading = "into", .kind = KIND_BYTES)

COLUMNS(register, REGISTER_COLUMNS, REGISTER_LIST);

SCHEMA(register, .name = "registers",
       .lines = "    {register:-4} {value:a} [=size [?into {into} bytes into {object:x}, "
		"]{type}, {size} bytes|[=end not an object: {word:016} at {object:x} is not a "
		"MethodTable, up to {end:x}|[=word a word that the collection wrote over a dead "
		"object|between the objects]]]\n");

/* The kind of place that a register points to, in one word for a script. */
static const char *place_word(const struct location *location)
{
	switch (location->place) {
	case PLACE_OBJECT:
		return location->object.type->is_free ? "free" : "object";
	case PLACE_INSIDE:
		return location->object.type->is_free ? "inside-free" : "inside-object";
	case PLACE_SKIPPED:
		return location->damage.kind == DAMAGE_PLUG_NODE ? "plug-node" : "no-object";
	case PLACE_BETWEEN:
	case PLACE_OUTSIDE:
		break;
	}
	return "empty";
}

static void write_register(struct call *call, const char *name, uint64_t value,
			   const struct location *location)
{
	const struct object *object = &location->object;
	struct cell cells[REGISTER_COLUMNS] = {
		[REGISTER_NAME] = cell_string(name),
		[REGISTER_VALUE] = cell_number(value),
		[REGISTER_PLACE] = cell_string(place_word(location)),
	};
	if (location->place == PLACE_OBJECT || location->place == PLACE_INSIDE) {
		size_t size;
		const char *type = type_name(call->heap->runtime, object->type, &size);
		cells[REGISTER_OBJECT] = cell_number(object->address);
		cells[REGISTER_TYPE] = cell_type(type, size, object->type->method_table);
		cells[REGISTER_SIZE] = cell_number(object->size);
		cells[REGISTER_INTO] = cell_number(cells[REGISTER_VALUE].number - object->address);
	} else if (location->place == PLACE_SKIPPED) {
		const struct damage *damage = &location->damage;
		cells[REGISTER_OBJECT] = cell_number(damage->address);
		cells[REGISTER_WORD] = cell_number(damage->word);
		if (damage->kind != DAMAGE_PLUG_NODE)
			cells[REGISTER_END] = cell_number(damage->address + damage->skipped);
	}
	answer_row(&call->answer, cells);
}

static enum hd_status write_registers(struct call *call, const struct crash *crash)
{
	const char *const *names = runtime_arch(call->heap->runtime)->register_names;
	answer_table(&call->answer, &register_schema, NULL);
	for (size_t i = 0; crash->is_in_gc && i < crash->count; i++) {
		struct location location;
		TRY(object_locate(call->heap, crash->addresses[i], &call->job, &location,
				  call->err));
		write_register(call, names[crash->registers[i]], crash->addresses[i], &location);
	}
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

enum hd_status crash_write(struct call *call, const struct crash *crash, bool any_marks)
{
	static const struct column columns[] = {
		{ "crash", NULL, KIND_TEXT, 0, 0, "how the process ended" },
	};
	static const struct schema no_crash = { SCHEMA_COLUMNS(columns) };
	struct cell cells[CRASH_COLUMNS] = { 0 };
	if (!crash->is_there) {
		answer_record(&call->answer, &no_crash, cells);
		return HD_OK;
	}
	crash_cells(call, crash, any_marks, cells);
	answer_record_begin(&call->answer, &ended_schema, cells);
	TRY(write_registers(call, crash));
	answer_record_end(&call->answer);
	answer_remark(&call->answer, "\n");
	return HD_OK;
}

enum hd_status crash_write_data(struct call *call, const struct crash *crash, bool any_marks)
{
	return answer_is_text(&call->answer) ? HD_OK : crash_write(call, crash, any_marks);
}

void crash_write_line(struct call *call, const struct crash *crash, bool any_marks)
{
	struct cell cells[CRASH_COLUMNS] = { 0 };
	if (!crash->is_there)
		return;
	crash_cells(call, crash, any_marks, cells);
	answer_heading(&call->answer, &crash_schema, cells);
}
