/* SPDX-License-Identifier: MIT */
#include "hangs/semaphore_code.h"

#include <string.h>

#include "runtime/coreclr/modules/token_name.h"
#include "util/job.h"

#define SEMAPHORE      "System.Threading.SemaphoreSlim"
#define ASYNC_ITERATOR "System.Collections.Generic.IAsyncEnumerator"
/* Methods that call one another until one has both, or until this is given up. */
#define ROUNDS_MAX 8u
/* Bodies whose callers are asked for: for each the interfaces of its class are gone through. */
#define ADDED_MAX 256u

/* The deeds of the code of one method. */
struct code_body {
	struct code_use use; /* of its last name; module is NULL before the first one */
	char name[SEMAPHORE_NAME_SIZE];
	bool names_field, waits, releases; /* of the semaphore itself */
	bool names_other;                  /* another member of SemaphoreSlim */
	bool enters, leaves, makes_lease;  /* by other methods */
	bool is_taken; /* a method that takes or gives back a place is taken for a delegate */
};

struct code_pass {
	struct runtime *runtime;
	struct semaphore_code *code;
	struct code_body body;
	size_t added; /* bodies of this round whose callers are asked for */
	bool has_changed, is_unknown;
};

/* Append without the arguments of generic types: "Shop.Hall`1<!0>.gate" is "Shop.Hall.gate". */
static bool append_plain(char *buf, size_t *used, const char *name)
{
	unsigned int depth = 0;
	bool is_number = false;
	for (const char *at = name; *at; at++) {
		bool begins = *at == '<' && at > name && !strchr(".+<", at[-1]);
		if (depth || begins) {
			depth += *at == '<';
			depth -= *at == '>';
			continue;
		}
		is_number = *at == '`' || (is_number && *at >= '0' && *at <= '9');
		if (is_number)
			continue;
		if (*used + 1 >= SEMAPHORE_NAME_SIZE)
			return false;
		buf[(*used)++] = *at;
	}
	buf[*used] = '\0';
	return true;
}

static size_t find_name(const struct semaphore_names *names, const char *plain)
{
	size_t row = 0;
	while (row < names->count && strcmp(names->rows[row], plain) != 0)
		row++;
	return row;
}

bool semaphore_names_add(struct semaphore_names *names, const char *type, const char *member)
{
	size_t used = 0;
	if (names->count == SEMAPHORE_NAMES_MAX)
		return false;
	char *row = names->rows[names->count];
	bool fits = append_plain(row, &used, type) && append_plain(row, &used, ".");
	/* A member's own name has no arguments; "<Place>b__0" is one. */
	if (!fits || used + strlen(member) >= SEMAPHORE_NAME_SIZE)
		return false;
	strcpy(row + used, member);
	if (find_name(names, row) == names->count) {
		names->are_called[names->count] = false;
		names->count++;
	}
	return true;
}

/* "Wait", "Release" of SemaphoreSlim; NULL: it is no member of that. */
static const char *semaphore_member(const char *name)
{
	size_t size = strlen(SEMAPHORE);
	return strncmp(name, SEMAPHORE, size) == 0 && name[size] == '.' ? name + size + 1 : NULL;
}

static bool is_wait(const char *member)
{
	return strcmp(member, "Wait") == 0 || strcmp(member, "WaitAsync") == 0;
}

static bool is_release(const char *member)
{
	return strcmp(member, "Release") == 0;
}

uint64_t semaphore_code_match(const void *arg, const char *name)
{
	const struct semaphore_code *code = arg;
	char plain[SEMAPHORE_NAME_SIZE];
	size_t used = 0;
	if (!append_plain(plain, &used, name))
		return 0;
	uint64_t bits = find_name(&code->fields, plain) < code->fields.count ? SEMAPHORE_NAMED : 0;
	if (find_name(&code->enterers, plain) < code->enterers.count)
		bits |= SEMAPHORE_ENTERS;
	if (find_name(&code->releasers, plain) < code->releasers.count)
		bits |= SEMAPHORE_RELEASES;
	return bits;
}

bool semaphore_code_has(const struct semaphore_code *code, uint64_t module)
{
	for (size_t i = 0; i < code->modules_count; i++) {
		if (code->modules[i]->address == module)
			return true;
	}
	return false;
}

/* Names that were added, for a type and for its interfaces. */
struct names_adding {
	struct semaphore_names *names;
	const char *member;
	bool is_full;
};

static void add_interface(void *arg, const char *name)
{
	struct names_adding *adding = arg;
	adding->is_full |= !semaphore_names_add(adding->names, name, adding->member);
}

/* The name of the type by which others call the body. */
static bool name_of_owner(const struct code_pass *pass, struct text *ret)
{
	const struct code_use *use = &pass->body.use;
	return token_name(pass->runtime, use->module, (uint32_t)MD_TYPE_DEF << 24 | use->type_row,
			  ret) &&
	       ret->size;
}

/* Callers of the body do what it does. */
static void add_to(struct code_pass *pass, struct semaphore_names *names)
{
	const struct code_body *body = &pass->body;
	if (pass->is_unknown || pass->added++ == ADDED_MAX) {
		pass->is_unknown = true;
		return;
	}
	const struct code_use *use = &body->use;
	HD_CLEANUP(text) struct text type = { 0 };
	struct names_adding adding = { .names = names, .member = body->name };
	size_t before = names->count;
	/* A lambda is called by a delegate, and an override by the name of another class. */
	if (strstr(body->name, ">b__") || code_is_override(use->module->metadata, use->rid) ||
	    !name_of_owner(pass, &type)) {
		pass->is_unknown = true;
		return;
	}
	add_interface(&adding, type.bytes);
	code_interfaces_visit(pass->runtime, use->module, use->type_row, add_interface, &adding);
	pass->is_unknown |= adding.is_full;
	pass->has_changed |= names->count > before;
}

/* Objects of the body's class give back a place when they are disposed of. */
static void add_lease(struct code_pass *pass)
{
	struct semaphore_code *code = pass->code;
	const struct code_use *use = &pass->body.use;
	HD_CLEANUP(text) struct text type = { 0 };
	size_t used = 0;
	for (size_t i = 0; i < code->leases_count; i++) {
		if (code->leases[i].module == use->module &&
		    code->leases[i].class_row == use->type_row)
			return;
	}
	struct semaphore_lease *lease = &code->leases[code->leases_count];
	if (code->leases_count == SEMAPHORE_LEASES_MAX || !name_of_owner(pass, &type) ||
	    code_is_struct(pass->runtime, use->module, use->type_row) ||
	    !append_plain(lease->constructor, &used, type.bytes) ||
	    used + strlen("..ctor") >= SEMAPHORE_NAME_SIZE) {
		pass->is_unknown = true;
		return;
	}
	strcpy(lease->constructor + used, "..ctor");
	lease->module = use->module;
	lease->class_row = use->type_row;
	code->leases_count++;
	pass->has_changed = true;
}

static bool is_dispose(const char *name)
{
	return strcmp(name, "Dispose") == 0 || strcmp(name, "DisposeAsync") == 0;
}

static bool is_constructor(const char *name)
{
	return strcmp(name, ".ctor") == 0 || strcmp(name, ".cctor") == 0;
}

/* The code has the semaphore, and neither takes nor gives back a place: a property is another name of the field. */
static void look_at_other(struct code_pass *pass)
{
	const struct code_body *body = &pass->body;
	HD_CLEANUP(text) struct text type = { 0 };
	struct semaphore_names *fields = &pass->code->fields;
	size_t before = fields->count;
	if (body->names_other || is_constructor(body->name))
		return;
	if (strncmp(body->name, "get_", 4) != 0 || !name_of_owner(pass, &type) ||
	    code_is_override(body->use.module->metadata, body->use.rid) ||
	    !semaphore_names_add(fields, type.bytes, body->name))
		pass->is_unknown = true;
	pass->has_changed |= fields->count > before;
}

static void note_example(char *ret, const struct code_pass *pass)
{
	HD_CLEANUP(text) struct text type = { 0 };
	size_t used = 0;
	if (!*ret && name_of_owner(pass, &type) && append_plain(ret, &used, type.bytes) &&
	    used + 1 + strlen(pass->body.name) < SEMAPHORE_NAME_SIZE) {
		ret[used] = '.';
		strcpy(ret + used + 1, pass->body.name);
	} else if (used) {
		*ret = '\0';
	}
}

static void note_iterator(void *arg, const char *name)
{
	bool *is_iterator = arg;
	*is_iterator |= strcmp(name, "System.Collections.IEnumerator") == 0 ||
			strncmp(name, ASYNC_ITERATOR, strlen(ASYNC_ITERATOR)) == 0;
}

/* Is it the code of an iterator?  Between two elements no call is in flight. */
static bool is_iterator(const struct code_pass *pass)
{
	const struct code_use *use = &pass->body.use;
	uint32_t type = metadata_owner(use->module->metadata, MD_METHOD, use->rid);
	bool ret = false;
	if (type != use->type_row)
		code_interfaces_visit(pass->runtime, use->module, type, note_iterator, &ret);
	return ret;
}

/* All names of a body were seen. */
static void end_body(struct code_pass *pass)
{
	const struct code_body *body = &pass->body;
	struct semaphore_code *code = pass->code;
	bool waits = body->names_field && body->waits;
	bool releases = body->names_field && body->releases;
	bool enters = waits || body->enters, leaves = releases || body->leaves;
	if (!body->use.module || !(body->names_field || enters || leaves))
		return;
	if (!pass->is_unknown)
		pass->is_unknown = body->is_taken || is_iterator(pass);
	if (waits)
		note_example(code->enters, pass);
	if (releases)
		note_example(code->releases, pass);
	if (enters == leaves) {
		if (!enters)
			look_at_other(pass);
	} else if (enters) {
		if (!body->makes_lease)
			add_to(pass, &code->enterers);
	} else if (is_dispose(body->name)) {
		add_lease(pass);
	} else if (strcmp(body->name, "Finalize") == 0) {
		pass->is_unknown = true;
	} else {
		add_to(pass, &code->releasers);
	}
}

static void begin_body(struct code_pass *pass, const struct code_use *use)
{
	pass->body = (struct code_body){ .use = *use };
	if (strlen(use->body) >= SEMAPHORE_NAME_SIZE) {
		pass->is_unknown = true;
		return;
	}
	strcpy(pass->body.name, use->body);
}

/* Does the code of a method name one of @p names?  Itself does not count as one that calls it. */
static bool note_call(struct semaphore_names *names, const char *plain)
{
	size_t row = find_name(names, plain);
	if (row == names->count)
		return false;
	names->are_called[row] = true;
	return true;
}

static void visit_use(void *arg, const struct code_use *use)
{
	struct code_pass *pass = arg;
	struct code_body *body = &pass->body;
	const char *member = semaphore_member(use->member);
	char plain[SEMAPHORE_NAME_SIZE];
	size_t used = 0;
	if (body->use.module != use->module || body->use.rid != use->rid) {
		end_body(pass);
		begin_body(pass, use);
	}
	if (member) {
		body->waits |= is_wait(member);
		body->releases |= is_release(member);
		body->names_other |= !is_wait(member) && !is_release(member);
		body->is_taken |= use->is_taken;
		return;
	}
	if (!append_plain(plain, &used, use->member))
		return;
	body->names_field |= find_name(&pass->code->fields, plain) < pass->code->fields.count;
	bool enters = note_call(&pass->code->enterers, plain);
	bool leaves = note_call(&pass->code->releasers, plain);
	body->is_taken |= (enters || leaves) && use->is_taken;
	body->enters |= enters;
	body->leaves |= leaves;
	for (size_t i = 0; i < pass->code->leases_count; i++)
		body->makes_lease |= strcmp(plain, pass->code->leases[i].constructor) == 0;
}

/* The modules that may use the fields: that of these, what refers to it, and so on. */
static enum hd_status find_modules(struct runtime *runtime, struct semaphore_code *code,
				   bool *is_full, struct hd_error *err)
{
	struct module *const *modules;
	size_t count;
	TRY(module_list(runtime, &modules, &count, err));
	code->modules[0] = code->home;
	code->modules_count = 1;
	for (size_t k = 0; k < code->modules_count; k++) {
		for (size_t i = 0; i < count; i++) {
			const struct module *module = module_find(runtime, modules[i]->address);
			if (!module || semaphore_code_has(code, module->address) ||
			    !code_refers_to(module, code->modules[k]))
				continue;
			*is_full |= code->modules_count == SEMAPHORE_MODULES_MAX;
			if (!*is_full)
				code->modules[code->modules_count++] = module;
		}
	}
	return HD_OK;
}

static enum hd_status read_once(struct code_pass *pass, struct job *job, struct hd_error *err)
{
	struct code_uses uses = { .visit = visit_use, .arg = pass };
	for (size_t i = 0; i < pass->code->modules_count; i++)
		TRY(code_uses_visit(pass->runtime, pass->code->modules[i], &uses, job, err));
	end_body(pass);
	begin_body(pass, &(struct code_use){ .body = "" });
	pass->is_unknown |= uses.is_cut;
	return HD_OK;
}

/* Does somebody call each of them?  Of an interface and its class one is enough, but all may be asked for here. */
static bool are_called(const struct semaphore_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		const char *member = strrchr(names->rows[i], '.');
		bool is_called = false;
		for (size_t k = 0; k < names->count; k++) {
			const char *other = strrchr(names->rows[k], '.');
			is_called |= names->are_called[k] && member && other &&
				     strcmp(member, other) == 0;
		}
		if (!is_called)
			return false;
	}
	return true;
}

enum hd_status semaphore_code_read(struct runtime *runtime, struct semaphore_code *code,
				   struct job *job, struct hd_error *err)
{
	struct code_pass pass = { .runtime = runtime, .code = code, .has_changed = true };
	if (!code->home || !code->home->metadata)
		return HD_OK;
	TRY(find_modules(runtime, code, &pass.is_unknown, err));
	for (unsigned int i = 0; pass.has_changed && !pass.is_unknown; i++) {
		size_t leases = code->leases_count;
		pass.has_changed = false;
		pass.added = 0;
		TRY(read_once(&pass, job, err));
		/* A method that makes such an object takes no place from its callers: ask again who does. */
		if (code->leases_count > leases) {
			code->enterers.count = code->releasers.count = 0;
			pass.is_unknown = false;
		}
		pass.is_unknown |= i == ROUNDS_MAX;
	}
	code->is_paired = !pass.is_unknown && *code->enters && *code->releases &&
			  are_called(&code->enterers) && are_called(&code->releasers);
	return HD_OK;
}
