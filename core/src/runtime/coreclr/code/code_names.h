/* SPDX-License-Identifier: MIT */
/* Finds what the code of methods names: classes of which it may use static variables, methods that it may call. */
#pragma once

#include "runtime/coreclr/modules/module.h"
#include "runtime/type.h"

struct job;

/** Whether a name is one of those that are looked for: bits of its own for each. */
struct code_search {
	uint64_t (*match)(const void *arg, const char *name);
	const void *arg;
};

/**
 * All bits of the members that the IL of a method names ("Shop.Mailer.Outbox"), of its MethodDesc;
 * UINT64_MAX: its code is not there, so it may name any.  Cost: linear in the code.
 */
uint64_t code_names_of_method(struct runtime *runtime, uint64_t method_desc,
			      const struct code_search *search);
/** The same for the code of an async method, by the type of its state machine. */
uint64_t code_names_of_machine(struct runtime *runtime, const struct type *machine,
			       const struct code_search *search);

/** Does the IL of a method branch back?  false also when it is not there.  Cost: linear in the code. */
bool code_has_loop(struct runtime *runtime, uint64_t method_desc);

/** A member that code names. */
struct code_use {
	const struct module *module;
	uint32_t class_row; /**< of TypeDef: code_class_of() the code */
	/** The method's name, "Place"; of a lambda and of a state machine that of the method around it. */
	const char *method;
	/** The row of MethodDef that has the code, and the innermost name of it: of a lambda "<Place>b__0". */
	uint32_t rid;
	const char *body;
	uint32_t type_row;  /**< of TypeDef: by this type others call what has that name */
	const char *member; /**< "Shop.Mailer.Send" */
	bool is_taken;      /**< its address is taken, as for a delegate */
};

struct code_uses {
	void (*visit)(void *arg, const struct code_use *use);
	void *arg;
	bool is_cut; /**< set: some code is not there, or there is more than is read */
};

/**
 * Visit all members that the code of a module names, method by method.
 *
 * @retval HD_OK
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the code of the module, of which 64 MB are read at most.
 */
HD_NODISCARD enum hd_status code_uses_visit(struct runtime *runtime, const struct module *module,
					    struct code_uses *uses, struct job *job,
					    struct hd_error *err);

/**
 * Visit the full names of the interfaces that the class at row @p type of TypeDef declares.  Cost: linear in the declarations of
 * the module.
 */
void code_interfaces_visit(struct runtime *runtime, const struct module *module, uint32_t type,
			   void (*visit)(void *arg, const char *name), void *arg);

/** Is the type at row @p type of TypeDef a struct?  Its values are part of objects, of locals and of state machines. */
bool code_is_struct(struct runtime *runtime, const struct module *module, uint32_t type);

/** May others call the method at row @p rid of MethodDef by the name of a class that it inherits from? */
bool code_is_override(const struct metadata *metadata, uint32_t rid);

/** Does the code of a module use members of the assembly that another module is? */
bool code_refers_to(const struct module *module, const struct module *other);

/** Row of the class that a type is in which the compiler has made for it ("<Place>d__5"); @p type itself of others. */
uint32_t code_class_of(const struct metadata *metadata, uint32_t type);
