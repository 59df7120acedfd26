/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/code/code_names.h"

#include <string.h>

#include "metadata/il.h"
#include "runtime/coreclr/code/method_list.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module_proof.h"
#include "runtime/coreclr/modules/token_name.h"
#include "util/alloc.h"
#include "util/job.h"

/* Columns of the table of methods (ECMA-335 II.22.26). */
#define METHOD_ROW_RVA   0u
#define METHOD_ROW_FLAGS 2u
#define METHOD_ROW_NAME  3u
/* MethodAttributes (II.23.1.10). */
#define METHOD_VIRTUAL  0x40u
#define METHOD_NEW_SLOT 0x100u
/* TypeDef: the type that it inherits from, a coded index as below. */
#define TYPE_ROW_BASE 3u
/* InterfaceImpl: class, and a coded index of TypeDef, TypeRef or TypeSpec. */
#define IMPL_CLASS     0u
#define IMPL_INTERFACE 1u
#define CODED_BITS     2u
/* Names of Assembly and AssemblyRef. */
#define ASSEMBLY_NAME     7u
#define ASSEMBLY_REF_NAME 6u
/* Most bytes of the code of a method that are read here. */
#define CODE_READ_MAX ((uint32_t)1 << 20)
/* The same of a module: methods may say that they share their code. */
#define CODE_TOTAL_MAX ((uint64_t)64 << 20)
/* Classes around one another that are looked at, and bytes of the name of a method. */
#define OUTER_MAX        8u
#define METHOD_NAME_SIZE 256u

/* Whose names are wanted. */
struct name_visit {
	void (*visit)(void *arg, const char *name);
	void *arg;
	bool is_taken; /* set before visit: the address of what the name is of is taken */
	uint64_t size; /* bytes of code that were read */
	bool has_loop; /* the code branches back */
};

static bool branches_back(const struct il_instruction *instruction)
{
	const struct il_opcode *opcode = instruction->opcode;
	return opcode && (opcode->operand == IL_SHORT_BRANCH || opcode->operand == IL_BRANCH) &&
	       instruction->number <= (int64_t)instruction->offset;
}

static void visit_in_code(struct runtime *runtime, const struct module *module, const uint8_t *code,
			  uint32_t size, struct name_visit *wanted)
{
	struct il_instruction instruction;
	HD_CLEANUP(text) struct text name = { 0 };
	for (uint32_t at = 0; il_next(code, size, at, &instruction); at += instruction.size) {
		name.size = 0;
		wanted->has_loop |= branches_back(&instruction);
		if (!instruction.opcode || instruction.opcode->operand != IL_TOKEN ||
		    !token_name(runtime, module, (uint32_t)instruction.number, &name) || !name.size)
			continue;
		wanted->is_taken = strcmp(instruction.opcode->name, "ldftn") == 0 ||
				   strcmp(instruction.opcode->name, "ldvirtftn") == 0;
		wanted->visit(wanted->arg, name.bytes);
	}
}

/* False: the code of row @p rid of MethodDef is not there. */
static bool visit_names(struct runtime *runtime, const struct module *module, uint32_t rid,
			struct name_visit *wanted)
{
	struct il_body body;
	uint64_t place = 0;
	if (rid && module && module->metadata) {
		uint32_t rva = metadata_column(module->metadata, MD_METHOD, rid, METHOD_ROW_RVA);
		module_prove(runtime, module->address);
		place = rva ? module_rva(runtime, module, rva) : 0;
	}
	if (!place || !il_body_read(runtime->memory, place, &body) ||
	    body.code_size > CODE_READ_MAX)
		return false;
	HD_FREE uint8_t *code = mem_alloc((size_t)body.code_size + 1, 1);
	if (!code || !memory_read(runtime->memory, body.code, code, body.code_size))
		return false;
	wanted->size += body.code_size;
	visit_in_code(runtime, module, code, body.code_size, wanted);
	return true;
}

/* The bits that were found for a code_search. */
struct name_search {
	const struct code_search *search;
	uint64_t found;
};

static void note_bits(void *arg, const char *name)
{
	struct name_search *names = arg;
	names->found |= names->search->match(names->search->arg, name);
}

static uint64_t names_of(struct runtime *runtime, const struct method *method,
			 const struct code_search *search)
{
	struct name_search names = { .search = search };
	struct name_visit wanted = { .visit = note_bits, .arg = &names };
	return visit_names(runtime, method->module, method->rid, &wanted) ? names.found
									  : UINT64_MAX;
}

uint64_t code_names_of_method(struct runtime *runtime, uint64_t method_desc,
			      const struct code_search *search)
{
	struct method method;
	return method_read(runtime, method_desc, &method) ? names_of(runtime, &method, search)
							  : UINT64_MAX;
}

uint64_t code_names_of_machine(struct runtime *runtime, const struct type *machine,
			       const struct code_search *search)
{
	struct method_list list;
	struct method method;
	method_list_begin(&list, runtime, machine);
	while (method_list_next(&list, &method)) {
		if (method.name && strcmp(method.name, "MoveNext") == 0)
			return names_of(runtime, &method, search);
	}
	return UINT64_MAX;
}

static void ignore_name(void *arg, const char *name)
{
	(void)arg;
	(void)name;
}

bool code_has_loop(struct runtime *runtime, uint64_t method_desc)
{
	struct name_visit wanted = { .visit = ignore_name };
	struct method method;
	return method_read(runtime, method_desc, &method) &&
	       visit_names(runtime, method.module, method.rid, &wanted) && wanted.has_loop;
}

/* The state of code_uses_visit(). */
struct use_visit {
	const struct code_uses *uses;
	struct code_use use;
	const struct name_visit *wanted;
};

static void visit_use(void *arg, const char *name)
{
	struct use_visit *visit = arg;
	visit->use.member = name;
	visit->use.is_taken = visit->wanted->is_taken;
	visit->uses->visit(visit->uses->arg, &visit->use);
}

/* "Place" of "<Place>d__5" and "<Place>b__0"; the name itself of others.  False: in the brackets is nothing. */
static bool outer_name(const char *name, char *ret, size_t size)
{
	const char *end = *name == '<' ? strchr(name, '>') : NULL;
	size_t length = end ? (size_t)(end - name - 1) : strlen(name);
	if (!length || length >= size)
		return false;
	memcpy(ret, end ? name + 1 : name, length);
	ret[length] = '\0';
	return true;
}

static const char *name_of_type(const struct metadata *metadata, uint32_t type)
{
	return metadata_string(metadata, metadata_column(metadata, MD_TYPE_DEF, type, 1));
}

uint32_t code_class_of(const struct metadata *metadata, uint32_t type)
{
	for (unsigned int i = 0; i < OUTER_MAX && *name_of_type(metadata, type) == '<'; i++) {
		uint32_t outer = metadata_enclosing(metadata, type);
		if (!outer || outer > metadata->tables[MD_TYPE_DEF].rows)
			break;
		type = outer;
	}
	return type;
}

/* "Place" of "<Place>d__5", which is the name of a state machine, and "<Place>b__0" of "<<Place>b__0>d"; @p name itself of others. */
static bool body_name(const char *name, char *ret, size_t size)
{
	const char *end = *name == '<' ? strrchr(name, '>') : NULL;
	size_t length = end && end[1] == 'd' ? (size_t)(end - name - 1) : strlen(name);
	if (!length || length >= size)
		return false;
	memcpy(ret, length < strlen(name) ? name + 1 : name, length);
	ret[length] = '\0';
	return true;
}

/* Is the code at row @p rid of a type that the compiler has made for a method, as its state machine? */
static bool is_machine(const struct metadata *metadata, uint32_t rid, uint32_t type)
{
	const char *name = metadata_string(
		metadata, metadata_column(metadata, MD_METHOD, rid, METHOD_ROW_NAME));
	const char *end = strrchr(name_of_type(metadata, type), '>');
	return *name != '<' && end && end[1] == 'd';
}

/* The name of the method that has the code of row @p rid; a state machine's is MoveNext.  False: it has none. */
static bool name_of_code(const struct metadata *metadata, uint32_t rid, uint32_t type, bool is_made,
			 char *ret, size_t size)
{
	const char *name = metadata_string(
		metadata, metadata_column(metadata, MD_METHOD, rid, METHOD_ROW_NAME));
	return (is_made && *name != '<' && outer_name(name_of_type(metadata, type), ret, size)) ||
	       outer_name(name, ret, size);
}

/* The same with what the compiler put around it, as for a lambda. */
static bool name_of_body(const struct metadata *metadata, uint32_t rid, uint32_t type, char *ret,
			 size_t size)
{
	const char *name = metadata_string(
		metadata, metadata_column(metadata, MD_METHOD, rid, METHOD_ROW_NAME));
	return body_name(is_machine(metadata, rid, type) ? name_of_type(metadata, type) : name, ret,
			 size);
}

enum hd_status code_uses_visit(struct runtime *runtime, const struct module *module,
			       struct code_uses *uses, struct job *job, struct hd_error *err)
{
	const struct metadata *metadata = module->metadata;
	uint32_t methods = metadata ? metadata->tables[MD_METHOD].rows : 0;
	char method[METHOD_NAME_SIZE], body[METHOD_NAME_SIZE];
	struct name_visit wanted = { .visit = visit_use };
	struct use_visit visit = { .uses = uses,
				   .use = { .module = module, .method = method, .body = body },
				   .wanted = &wanted };
	wanted.arg = &visit;
	uses->is_cut |= !metadata;
	for (uint32_t i = 1; i <= methods && wanted.size < CODE_TOTAL_MAX; i++) {
		uint32_t type = metadata_owner(metadata, MD_METHOD, i);
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		visit.use.rid = i;
		visit.use.class_row = code_class_of(metadata, type);
		bool has_code = metadata_column(metadata, MD_METHOD, i, METHOD_ROW_RVA) != 0;
		bool is_made = type != visit.use.class_row;
		visit.use.type_row = is_made && is_machine(metadata, i, type)
					     ? metadata_enclosing(metadata, type)
					     : type;
		if (has_code &&
		    (!name_of_code(metadata, i, type, is_made, method, sizeof(method)) ||
		     !name_of_body(metadata, i, type, body, sizeof(body)) ||
		     !visit_names(runtime, module, i, &wanted)))
			uses->is_cut = true;
	}
	uses->is_cut |= wanted.size >= CODE_TOTAL_MAX;
	return HD_OK;
}

/* Append the name of what a coded index of TypeDef, TypeRef or TypeSpec leads to. */
static bool coded_name(struct runtime *runtime, const struct module *module, uint32_t coded,
		       struct text *name)
{
	static const uint32_t tables[1u << CODED_BITS] = { MD_TYPE_DEF, MD_TYPE_REF, MD_TYPE_SPEC };
	uint32_t table = tables[coded & ((1u << CODED_BITS) - 1)];
	return token_name(runtime, module, table << 24 | coded >> CODED_BITS, name) && name->size;
}

bool code_is_struct(struct runtime *runtime, const struct module *module, uint32_t type)
{
	HD_CLEANUP(text) struct text name = { 0 };
	uint32_t base = module->metadata ? metadata_column(module->metadata, MD_TYPE_DEF, type,
							   TYPE_ROW_BASE)
					 : 0;
	return coded_name(runtime, module, base, &name) &&
	       strcmp(name.bytes, "System.ValueType") == 0;
}

void code_interfaces_visit(struct runtime *runtime, const struct module *module, uint32_t type,
			   void (*visit)(void *arg, const char *name), void *arg)
{
	const struct metadata *metadata = module->metadata;
	HD_CLEANUP(text) struct text name = { 0 };
	uint32_t rows = metadata ? metadata->tables[MD_INTERFACE_IMPL].rows : 0;
	for (uint32_t i = 1; i <= rows; i++) {
		if (metadata_column(metadata, MD_INTERFACE_IMPL, i, IMPL_CLASS) != type)
			continue;
		uint32_t coded = metadata_column(metadata, MD_INTERFACE_IMPL, i, IMPL_INTERFACE);
		name.size = 0;
		if (coded_name(runtime, module, coded, &name))
			visit(arg, name.bytes);
	}
}

bool code_is_override(const struct metadata *metadata, uint32_t rid)
{
	uint32_t flags = metadata_column(metadata, MD_METHOD, rid, METHOD_ROW_FLAGS);
	return (flags & METHOD_VIRTUAL) && !(flags & METHOD_NEW_SLOT);
}

bool code_refers_to(const struct module *module, const struct module *other)
{
	const struct metadata *metadata = module->metadata, *wanted = other->metadata;
	if (!metadata || !wanted)
		return false;
	const char *name =
		metadata_string(wanted, metadata_column(wanted, MD_ASSEMBLY, 1, ASSEMBLY_NAME));
	for (uint32_t i = 1; *name && i <= metadata->tables[MD_ASSEMBLY_REF].rows; i++) {
		uint32_t column = metadata_column(metadata, MD_ASSEMBLY_REF, i, ASSEMBLY_REF_NAME);
		if (strcmp(metadata_string(metadata, column), name) == 0)
			return true;
	}
	return false;
}
