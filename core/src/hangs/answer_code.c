/* SPDX-License-Identifier: MIT */
#include "hangs/answer_code.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "analysis/async/async_wait.h"
#include "inspect/async_name.h"
#include "runtime/coreclr/code/code_names.h"
#include "stack/thread_call.h"
#include "util/text.h"

#define SOURCE "System.Threading.Tasks.TaskCompletionSource"

/* Who calls a method that sets results does so, too: so often. */
#define ROUNDS 4u

/* "SetResult", "TrySetResult", "SetFromTask": what brings an answer; who gives up sets an exception. */
bool answer_is_set(const char *member)
{
	const char *dot = strrchr(member, '.');
	if (strncmp(member, SOURCE, strlen(SOURCE)) != 0 || !dot)
		return false;
	dot += strncmp(dot + 1, "Try", 3) == 0 ? 4 : 1;
	return strcmp(dot, "SetResult") == 0 || strcmp(dot, "SetFromTask") == 0;
}

static bool has_name(const struct answer_names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->rows[i], name) == 0)
			return true;
	}
	return false;
}

/* Is it a member that sets results, or by its name a method of the program that does? */
static bool is_setter(const struct answer_code *code, const char *member)
{
	const char *dot = strrchr(member, '.');
	if (answer_is_set(member))
		return true;
	return dot && has_name(&code->setters, dot + 1) &&
	       !framework_owns(code->waits->heap->runtime, member, strlen(member));
}

static void add_name(struct answer_code *code, struct answer_names *names, const char *name)
{
	if (has_name(names, name))
		return;
	if (names->count == ANSWER_METHODS_MAX || strlen(name) >= ANSWER_NAME_SIZE) {
		code->is_unknown = true;
		return;
	}
	strcpy(names->rows[names->count++], name);
}

/* Methods that begin the loop, and so may begin another one. */
static void note_beginner(struct answer_code *code, const struct code_use *use)
{
	const char *dot = strrchr(use->member, '.');
	if (dot && strcmp(dot + 1, code->loop) == 0 &&
	    !framework_owns(code->waits->heap->runtime, use->member, strlen(use->member)))
		add_name(code, &code->beginners, use->method);
}

static void note_setter(void *arg, const struct code_use *use)
{
	struct answer_code *code = arg;
	if (code->loop[0])
		note_beginner(code, use);
	if (code->is_direct ? !answer_is_set(use->member) : !is_setter(code, use->member))
		return;
	if (strcmp(code->loop, use->method) != 0)
		add_name(code, &code->setters, use->method);
}

/* Take the methods of the program that name a setter, once more. */
static enum hd_status read_code(struct answer_code *code, struct job *job, struct hd_error *err)
{
	struct runtime *runtime = code->waits->heap->runtime;
	struct module *const *modules;
	size_t count;
	TRY(module_list(runtime, &modules, &count, err));
	for (size_t i = 0; i < count; i++) {
		struct code_uses uses = { .visit = note_setter, .arg = code };
		const struct module *module = module_find(runtime, modules[i]->address);
		if (!module || !program_owns_module(runtime, module))
			continue;
		TRY(code_uses_visit(runtime, module, &uses, job, err));
		code->is_unknown |= uses.is_cut;
	}
	return HD_OK;
}

static uint64_t match_setter(const void *arg, const char *name)
{
	return is_setter(arg, name);
}

bool answer_code_sets(const struct answer_code *code, uint64_t method_desc)
{
	const struct code_search search = { match_setter, code };
	return code_names_of_method(code->waits->heap->runtime, method_desc, &search) != 0;
}

/* The name by which code knows a method, of a lambda that of the method around it: "Start" of "Shop.Link.Start.lambda". */
static void copy_short_name(char *name, size_t size, char *ret)
{
	static const char lambda[] = ".lambda";
	const size_t tail = sizeof(lambda) - 1;
	ret[0] = 0;
	while (size > tail && strcmp(name + size - tail, lambda) == 0)
		name[size -= tail] = 0;
	const char *dot = strrchr(name, '.');
	if (dot && strlen(dot + 1) < ANSWER_NAME_SIZE)
		strcpy(ret, dot + 1);
}

/* ret has room for ANSWER_NAME_SIZE bytes; "": its name is not known, or too long. */
static void short_name_of_method(const struct waits *waits, uint64_t method_desc, char *ret)
{
	HD_CLEANUP(text) struct text name = { 0 };
	(void)method_user_append(&name, waits->heap->runtime, method_desc);
	ret[0] = 0;
	if (name.size && !name.failed)
		copy_short_name(name.bytes, name.size, ret);
}

bool answer_code_may_set(const struct answer_code *code, uint64_t method_desc)
{
	char name[ANSWER_NAME_SIZE];
	short_name_of_method(code->waits, method_desc, name);
	return (name[0] && has_name(&code->beginners, name)) || answer_code_sets(code, method_desc);
}

bool answer_code_method_may_set(const struct answer_code *code, const struct async_node *method)
{
	struct async_graph *graph = code->waits->async;
	struct runtime *runtime = code->waits->heap->runtime;
	const struct async_method_key *key = &graph->methods.rows[method->method].key;
	const struct code_search search = { match_setter, code };
	HD_CLEANUP(text) struct text whole = { 0 };
	char name[ANSWER_NAME_SIZE];
	text_puts(&whole, async_node_name(graph, method));
	if (!whole.size || whole.failed)
		return true;
	copy_short_name(whole.bytes, whole.size, name);
	if (name[0] && has_name(&code->beginners, name))
		return true;
	return (key->machine ? code_names_of_machine(runtime, key->machine, &search)
			     : code_names_of_method(runtime, key->method_desc, &search)) != 0;
}

enum hd_status answer_code_read(struct answer_code *code, struct job *job, struct hd_error *err)
{
	code->loop[0] = 0;
	code->beginners.count = 0;
	if (!code->is_read) {
		code->is_direct = code->is_read = true;
		TRY(read_code(code, job, err));
		code->is_direct = false;
		code->direct = code->setters;
	}
	code->setters = code->direct;
	return HD_OK;
}

enum hd_status answer_code_follow(struct answer_code *code, uint64_t loop, struct job *job,
				  struct hd_error *err)
{
	size_t before = SIZE_MAX;
	short_name_of_method(code->waits, loop, code->loop);
	code->is_unknown |= !code->loop[0];
	for (size_t i = 0; i < code->setters.count; i++) {
		if (strcmp(code->setters.rows[i], code->loop) == 0)
			code->setters.rows[i][0] = 0;
	}
	for (unsigned int i = 0; i < ROUNDS && before != code->setters.count; i++) {
		before = code->setters.count;
		TRY(read_code(code, job, err));
	}
	return HD_OK;
}

uint64_t answer_source_of(const struct waits *waits, const struct thread_wait *wait)
{
	uint64_t source = 0;
	if (wait->kind != WAIT_TASK || wait->is_over || !wait->object.type ||
	    wait->user_frame == WAIT_NO_FRAME || wait->stack.is_partial || wait->stack.is_missing ||
	    !thread_waits_without_end(runtime_target(waits->heap->runtime), wait->thread->os_id))
		return 0;
	uint32_t row = async_graph_find(waits->async, wait->object.address);
	if (row != ASYNC_NO_NODE) {
		const struct async_node *end = &waits->async->rows[waits->async->rows[row].end];
		bool is_source = end->wait == AWAIT_SOURCE && end->next == ASYNC_NO_NODE;
		return is_source && !async_call_is_limited(waits->async, row) ? end->object : 0;
	}
	if (async_graph_type(waits->async, wait->object.type) != ASYNC_TASK ||
	    fact_of(waits->members, &wait->object, FACT_TASK_ACTION).bits ||
	    async_source_wait(waits->async, &wait->object, &source) != AWAIT_SOURCE)
		return 0;
	return source;
}
