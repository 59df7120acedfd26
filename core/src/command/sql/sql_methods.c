/* SPDX-License-Identifier: MIT */
/* The table methods: all code of methods, a row for each body. */
#include "command/names/code_rows.h"
#include "command/sql/sql_table.h"
#include "gc/heap.h"
#include "runtime/coreclr/code/method_list.h"
#include "util/alloc.h"
#include "util/text.h"

#define METHODS_LIST(X)                                                                      \
	X(METHODS_DESC, "method_desc", NULL, KIND_ADDRESS, 0, 0, "the MethodDesc")           \
	X(METHODS_NAME, "name", NULL, KIND_TEXT, 0, 0, "name of the method, with arguments") \
	X(METHODS_TYPE, "type", NULL, KIND_TEXT, 0, 0, "name of its type")                   \
	X(METHODS_MT, "mt", NULL, KIND_ADDRESS, 0, 0,                                        \
	  "MethodTable of its type; NULL: a stub or dynamic method without one")             \
	X(METHODS_TOKEN, "token", NULL, KIND_ADDRESS, 0, 0,                                  \
	  "its metadata token; 0: a dynamic method")                                         \
	X(METHODS_MODULE, "module", NULL, KIND_ADDRESS, 0, 0,                                \
	  "address of the runtime's Module; NULL: none")                                     \
	X(METHODS_CODE, "code", NULL, KIND_ADDRESS, 0, 0, "where the code begins")           \
	X(METHODS_SIZE, "size", NULL, KIND_BYTES, 0, 0,                                      \
	  "bytes of it, handlers included; NULL: not known")                                 \
	X(METHODS_KIND, "kind", NULL, KIND_TEXT, 0, 0, "JIT or ReadyToRun")                  \
	X(METHODS_CURRENT, "is_current", NULL, KIND_FLAG, 0, 0,                              \
	  "does a call of the method run it?  NULL: not known")

COLUMNS(methods, METHODS_COLUMNS, METHODS_LIST);

struct methods {
	struct heap *heap;
	struct method_bodies bodies;
	size_t next;
	bool is_method; /* that of the row was read */
	struct method method;
	struct text name;
};

static void close_methods(void *cursor)
{
	HD_FREE struct methods *methods = cursor;
	method_bodies_deinit(&methods->bodies);
	text_deinit(&methods->name);
}

static enum hd_status open_methods(struct sql_source *source, const struct sql_table *table,
				   const struct sql_request *request, void **ret)
{
	(void)table;
	(void)request;
	struct methods *methods = mem_calloc(1, sizeof(*methods));
	TRY_MEMORY(methods, source->call->err);
	methods->heap = source->heap;
	enum hd_status status = method_bodies_read(source->heap->runtime, &source->call->job,
						   &methods->bodies, source->call->err);
	if (status != HD_OK) {
		close_methods(methods);
		return status;
	}
	*ret = methods;
	return HD_OK;
}

static enum hd_status next_method(void *cursor, bool *ret)
{
	struct methods *methods = cursor;
	*ret = methods->next < methods->bodies.rows_count;
	if (*ret) {
		const struct method_body *body = &methods->bodies.rows[methods->next++];
		methods->is_method =
			method_read(methods->heap->runtime, body->method_desc, &methods->method);
	}
	return HD_OK;
}

static struct cell size_cell(struct heap *heap, const struct method_body *body)
{
	struct code_info code;
	uint32_t size =
		runtime_code_at(heap->runtime, body->start, &code) && code.start == body->start
			? code_size(heap, &code)
			: 0;
	return size ? cell_number(size) : (struct cell){ 0 };
}

static struct cell current_cell(const struct methods *methods, const struct method_body *body)
{
	const struct method_body *current =
		methods->is_method ? method_body_current(methods->heap->runtime, &methods->bodies,
							 &methods->method)
				   : NULL;
	return current ? cell_flag(current == body) : (struct cell){ 0 };
}

static struct cell name_cell(struct methods *methods, const struct method_body *body)
{
	methods->name.size = 0;
	runtime_method_signature(methods->heap->runtime, body->method_desc, &methods->name);
	if (methods->name.failed)
		return (struct cell){ 0 };
	return cell_text(methods->name.bytes, methods->name.size);
}

/* The cell for a fact of the MethodDesc; empty if it cannot be read. */
static struct cell method_desc_cell(const struct methods *methods, enum methods_column column)
{
	const struct method *method = &methods->method;
	struct cell cell = { 0 };
	if (!methods->is_method)
		return cell;
	if (column == METHODS_TOKEN)
		return cell_number(method->rid ? 0x06000000 | method->rid : 0);
	if (column == METHODS_MT && method->type)
		return cell_number(method->type->method_table);
	if (column == METHODS_MODULE && method->module)
		return cell_number(method->module->address);
	if (column == METHODS_TYPE) {
		size_t size;
		const char *name = method_owner_name(methods->heap->runtime, method, &size);
		return cell_text(name, size);
	}
	return cell;
}

static void methods_cell(void *cursor, size_t column, struct cell *ret)
{
	struct methods *methods = cursor;
	const struct method_body *body = &methods->bodies.rows[methods->next - 1];
	switch ((enum methods_column)column) {
	case METHODS_DESC:
		*ret = cell_number(body->method_desc);
		break;
	case METHODS_NAME:
		*ret = name_cell(methods, body);
		break;
	case METHODS_CODE:
		*ret = cell_number(body->start);
		break;
	case METHODS_SIZE:
		*ret = size_cell(methods->heap, body);
		break;
	case METHODS_KIND:
		*ret = cell_string(code_kind(body->is_precompiled));
		break;
	case METHODS_CURRENT:
		*ret = current_cell(methods, body);
		break;
	case METHODS_TYPE:
	case METHODS_MT:
	case METHODS_TOKEN:
	case METHODS_MODULE:
		*ret = method_desc_cell(methods, (enum methods_column)column);
		break;
	case METHODS_COLUMNS:
		*ret = (struct cell){ 0 };
		break;
	}
}

static double estimate_methods(const struct sql_source *source)
{
	(void)source;
	return 20000;
}

const struct sql_table sql_methods_table = {
	.name = "methods",
	.help = "the methods that have code, a row for each code",
	.columns = methods_columns,
	.count = METHODS_COLUMNS,
	.is_of_heaps = true,
	.estimate = estimate_methods,
	.open = open_methods,
	.next = next_method,
	.cell = methods_cell,
	.close = close_methods,
};
