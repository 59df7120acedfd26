/* SPDX-License-Identifier: MIT */
#include "command/crash.h"

#include <inttypes.h>

#include "inspect/locate.h"

/* gc_state (gcinterface.dac.h): no background GC. */
#define GC_STATE_FREE 2

/* Is the code that of the runtime, or of a GC that it was told to load (libclrgc.so, libclrgcexp.so)? */
static bool is_of_runtime(const struct clr *clr, const struct fault *fault)
{
	const char *path = fault->mapping ? fault->mapping->path : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;
	return path && (strcmp(path, clr->module->path) == 0 ||
			(slash && strncmp(slash + 1, "libclrgc", 8) == 0));
}

void crash_find(const struct call *call, struct crash *ret)
{
	struct crash crash = { 0 };
	const struct heap *heap = call->heap;
	if (heap && fault_find(heap->clr->target, &crash.fault)) {
		crash.is_there = true;
		crash.is_in_gc = is_of_runtime(heap->clr, &crash.fault);
		for (unsigned int i = 0; i < REG_ROWS; i++) {
			uint64_t value = crash.fault.registers.values[i];
			if (i == REG_RIP || i == REG_RSP || !heap_segment_at(heap, value))
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
	       (heap->gc_in_progress || any_marks || heap->clr->gc.gc_state != GC_STATE_FREE);
}

void crash_line(struct call *call, const struct crash *crash, bool any_marks)
{
	struct out *out = &call->out;
	const struct fault *fault = &crash->fault;
	out_printf(out, "%s in thread 0x%" PRIx32 ", at ", target_crash_name(fault->signal),
		   (uint32_t)fault->tid);
	if (fault->mapping) {
		const char *slash = strrchr(fault->mapping->path, '/');
		const char *name = slash ? slash + 1 : fault->mapping->path;
		text_escape(&out->text, name, strlen(name));
		out_printf(out, "+0x%" PRIx64, fault->offset);
	} else {
		out_printf(out, "%" PRIx64, fault->registers.values[REG_RIP]);
	}
	if (crash_is_collecting(call, crash, any_marks))
		out_puts(out, ", while it was collecting garbage");
	out_puts(out, "\n");
}

/* What lies at an address that a register holds, in one word for a script. */
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
	struct out *out = &call->out;
	const struct object *object = &location->object;
	out_printf(out, "    %-4s ", name);
	out_styled(out, STYLE_ADDRESS, "%" PRIx64, value);
	switch (location->place) {
	case PLACE_OBJECT:
	case PLACE_INSIDE: {
		size_t size;
		const char *type = type_name(call->heap->clr, object->type, &size);
		out_puts(out, " ");
		if (location->place == PLACE_INSIDE) {
			out_printf(out, "%" PRIu64 " bytes into %" PRIx64 ", ",
				   value - object->address, object->address);
		}
		out_type(out, type, size, object->type->method_table);
		out_printf(out, ", %" PRIu64 " bytes\n", object->size);
		return;
	}
	case PLACE_SKIPPED:
		if (location->damage.kind == DAMAGE_PLUG_NODE) {
			out_puts(out, " a word that the collection wrote over a dead object\n");
			return;
		}
		out_printf(out,
			   " not an object: %016" PRIx64 " at %" PRIx64
			   " is not a MethodTable, up to %" PRIx64 "\n",
			   location->damage.word, location->damage.address,
			   location->damage.address + location->damage.skipped);
		return;
	case PLACE_BETWEEN:
	case PLACE_OUTSIDE:
		out_puts(out, " between the objects\n");
		break;
	}
}

static void json_register(struct json *json, struct clr *clr, const char *name, uint64_t value,
			  const struct location *location)
{
	bool any = location->place == PLACE_OBJECT || location->place == PLACE_INSIDE;
	json_object(json, NULL);
	json_string(json, "register", name);
	json_address(json, "value", value);
	json_string(json, "place", place_word(location));
	if (any) {
		size_t size;
		const char *type = type_name(clr, location->object.type, &size);
		json_address(json, "object", location->object.address);
		json_text(json, "type", type, size);
	} else if (location->place == PLACE_SKIPPED) {
		json_address(json, "object", location->damage.address);
		json_address(json, "word", location->damage.word);
	}
	json_end(json);
}

static enum hd_status write_registers(struct call *call, const struct crash *crash)
{
	for (size_t i = 0; i < crash->count; i++) {
		struct location location;
		const char *name = register_names[crash->registers[i]];
		TRY(object_locate(call->heap, crash->addresses[i], &call->job, &location,
				  call->err));
		if (call->as_json) {
			json_register(&call->json, call->heap->clr, name, crash->addresses[i],
				      &location);
		} else {
			write_register(call, name, crash->addresses[i], &location);
		}
	}
	return HD_OK;
}

enum hd_status crash_write_text(struct call *call, const struct crash *crash, bool any_marks)
{
	if (!crash->is_there)
		return HD_OK;
	out_puts(&call->out, "The process ended by ");
	crash_line(call, crash, any_marks);
	if (crash->is_in_gc)
		TRY(write_registers(call, crash));
	out_puts(&call->out, "\n");
	return HD_OK;
}

enum hd_status crash_write_json(struct call *call, const struct crash *crash, bool any_marks)
{
	struct json *json = &call->json;
	const struct fault *fault = &crash->fault;
	if (!crash->is_there) {
		json_null(json, "crash");
		return HD_OK;
	}
	json_object(json, "crash");
	json_string(json, "signal", target_crash_name(fault->signal));
	json_number(json, "thread", (uint64_t)(uint32_t)fault->tid);
	json_address(json, "ip", fault->registers.values[REG_RIP]);
	json_string(json, "module", fault->mapping ? fault->mapping->path : NULL);
	json_number(json, "offset", fault->offset);
	json_bool(json, "collecting", crash_is_collecting(call, crash, any_marks));
	json_array(json, "registers");
	enum hd_status status = crash->is_in_gc ? write_registers(call, crash) : HD_OK;
	json_end(json);
	json_end(json);
	return status;
}
