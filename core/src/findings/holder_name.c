/* SPDX-License-Identifier: MIT */
/* The field of the program's own types that is to blame, and the element of a path that tells most: doc/report.md 2. */
#include "findings/rule.h"
#include "gc/heap.h"
#include "inspect/async_name.h"
#include "inspect/value.h"
#include "util/field_label.h"
#include "util/text.h"

#define CONTAINER "Microsoft.Extensions.DependencyInjection."
#define NO_STEP   SIZE_MAX

const char *report_variables_of(struct report *report, uint32_t type, enum variables_kind *ret)
{
	const struct hd_graph *graph = report->facts.graph;
	const struct heap *heap = report->facts.heap;
	HD_CLEANUP(text) struct text text = { 0 };
	*ret = VARIABLES_NONE;
	if (type >= graph->type_count || !graph->types[type].name)
		return "";
	const struct graph_type *row = &graph->types[type];
	*ret = variables_of_append(&text, heap ? heap->runtime : NULL,
				   heap ? typed_class(&report->facts, type) : NULL, row->name,
				   row->name_size);
	report->lacks_text |= text.failed;
	return *ret && text.size ? report_name(report, text.bytes, text.size) : "";
}

const char *report_method_name(struct report *report, const char *name, size_t size)
{
	HD_CLEANUP(text) struct text text = { 0 };
	if (!async_lambda_append(&text, name, size))
		return report_name(report, name, size);
	report->lacks_text |= text.failed;
	return report_name(report, text.bytes ? text.bytes : "", text.size);
}

/* A generic collection of a library: who has it is to blame, and not its array. */
static bool is_collection_class(const struct graph_type *type)
{
	const char *arguments = type->name ? memchr(type->name, '<', type->name_size) : NULL;
	size_t size = arguments ? (size_t)(arguments - type->name) : 0;
	return size && memmem(type->name, size, ".Collections.", strlen(".Collections."));
}

/* Does the program's code have the fields, or are they variables of a method of it? */
static bool is_own_code(const struct report_facts *facts, uint32_t node)
{
	const struct graph_type *type = facts_type(facts, node);
	size_t size;
	const char *machine =
		type->name ? async_box_machine(type->name, type->name_size, &size) : NULL;
	if (machine)
		return facts_name_is_own(facts, machine, size);
	return type_is_own(type) && !is_collection_class(type);
}

/* The static's name is a field of a type of the program. */
static void blame_root(struct report *report, struct held_by *holder)
{
	const char *name = holder->steps[0].link, *dot = strrchr(name, '.');
	if (!dot || strcmp(holder->root_kind, "stack") == 0 ||
	    !facts_name_is_own(&report->facts, name, strlen(name)))
		return;
	holder->blamed_type = report_name(report, name, (size_t)(dot - name));
	holder->blamed_field = dot + 1;
	holder->steps[0].is_blamed = true;
	holder->name = name;
}

/* The name of a class, or of the method whose variables its objects have. */
static const char *code_name(struct report *report, uint32_t node, enum variables_kind *ret)
{
	uint32_t type = report->facts.graph->node_types[node];
	const char *method = report_variables_of(report, type, ret);
	return *method ? method : report_type_name(report, type);
}

/* The program's type: of a box its state machine. */
static const char *own_type_name(struct report *report, uint32_t node)
{
	const struct graph_type *type = facts_type(&report->facts, node);
	size_t size;
	const char *machine = async_box_machine(type->name, type->name_size, &size);
	return machine ? report_name(report, machine, size)
		       : report_type_name(report, report->facts.graph->node_types[node]);
}

static void blame_field(struct report *report, struct held_by *holder, size_t step)
{
	const struct report_facts *facts = &report->facts;
	uint32_t node = holder->steps[step - 1].node;
	const char *field = holder->steps[step].link;
	enum variables_kind kind;
	if (*field++ != '.' || !is_own_code(facts, node))
		return;
	const char *owner = code_name(report, node, &kind);
	size_t size = field_name_size(field), label_size;
	if (kind == VARIABLES_CALL) { /* the box's own fields are the framework's */
		if (field[size] != '.')
			return;
		field += size + 1;
		size = field_name_size(field);
	}
	if (field_is_made(field, size))
		return;
	const char *label = field_label(field, size, &label_size);
	for (size_t i = 0; i < step; i++)
		holder->steps[i].is_blamed = false;
	holder->steps[step].is_blamed = true;
	holder->blamed_type = own_type_name(report, node);
	holder->blamed_field = report_name(report, label, label_size);
	holder->name = report_text(report, "%s.%s", owner, holder->blamed_field);
}

/* The step whose link is to blame; NO_STEP: none. */
static size_t blamed_step(const struct held_by *holder)
{
	size_t i = 0;
	while (i < holder->step_count && !holder->steps[i].is_blamed)
		i++;
	return i < holder->step_count ? i : NO_STEP;
}

/* A part of a container of services: it, its scopes, what it knows of services, and its lists of objects of any type. */
static bool is_of_container(const struct graph_type *type)
{
	static const char list[] = "System.Collections.Generic.List<System.Object>";
	static const char array[] = "System.Object[]";
	return type_contains(type, CONTAINER) ||
	       (type->name_size == strlen(list) && type_begins(type, list)) ||
	       (type->name_size == strlen(array) && type_begins(type, array));
}

/* Does an object of the container have services in it: in its lists, or in what it knows of how to make one? */
static bool has_services(const struct graph_type *type)
{
	return type_is_array(type) || type_contains(type, "CallSite");
}

/* The last step whose object is a service; NO_STEP: none. */
static size_t service_step(const struct report_facts *facts, const struct held_by *holder)
{
	size_t ret = NO_STEP;
	bool is_inside = false;
	for (size_t i = 0; i < holder->step_count; i++) {
		const struct graph_type *type = facts_type(facts, holder->steps[i].node);
		if (type_begins(type, CONTAINER)) {
			is_inside = true;
		} else if (is_inside && !is_of_container(type)) {
			is_inside = false;
			if (has_services(facts_type(facts, holder->steps[i - 1].node)))
				ret = i;
		}
	}
	return ret;
}

/* Is the last scope before a service the one of the host, as far as that is known? */
static bool is_of_root(const struct report_facts *facts, const struct held_by *holder, size_t step)
{
	while (step--) {
		struct member flag =
			facts_fact(facts, holder->steps[step].node, FACT_SERVICE_SCOPE_IS_ROOT);
		if (flag.state == MEMBER_READ)
			return flag.bits;
	}
	return facts->heap != NULL;
}

/* An object that a container has made says more than a field that leads to the container. */
static void name_by_service(struct report *report, struct held_by *holder)
{
	size_t service = service_step(&report->facts, holder), blamed = blamed_step(holder);
	if (service == NO_STEP || (blamed != NO_STEP && blamed > service))
		return;
	uint32_t type = report->facts.graph->node_types[holder->steps[service].node];
	holder->name =
		report_text(report, "%s (a %s of the host)", report_type_name(report, type),
			    is_of_root(&report->facts, holder, service) ? "singleton" : "service");
}

static bool is_delegate(const struct report_facts *facts, uint32_t node)
{
	struct object object;
	return facts_object(facts, node, &object) &&
	       type_is_delegate(facts->heap->runtime, object.type);
}

/* An event of the framework by its own name; next to the field of the program that has its object. */
static void name_by_event(struct report *report, struct held_by *holder)
{
	size_t last = holder->step_count - 1, blamed = blamed_step(holder), size;
	const char *link = holder->steps[last].link;
	if (!last || *link != '.' || blamed == last ||
	    !is_delegate(&report->facts, holder->subject))
		return;
	const char *label = field_label(link + 1, field_name_size(link + 1), &size);
	const char *owner = report_type_name(
		report, report->facts.graph->node_types[holder->steps[last - 1].node]);
	if (blamed == last - 1)
		owner = holder->name;
	int owner_size = (int)(blamed == last - 1 ? strlen(owner) : strcspn(owner, "<"));
	holder->name = report_text(report, "%.*s.%.*s", owner_size, owner, (int)size, label);
}

/* Where no links have names, the nearest object of the program tells most. */
static void name_by_type(struct report *report, struct held_by *holder)
{
	enum variables_kind kind;
	for (size_t i = holder->step_count - 1; i-- > 0;) {
		uint32_t node = holder->steps[i].node;
		if (!is_own_code(&report->facts, node) ||
		    type_is_array(facts_type(&report->facts, node)))
			continue;
		holder->steps[0].is_blamed = false;
		holder->blamed_type = own_type_name(report, node);
		holder->blamed_field = NULL;
		holder->name = code_name(report, node, &kind);
		return;
	}
}

void holder_name(struct report *report, struct held_by *ret)
{
	blame_root(report, ret);
	for (size_t i = 1; i < ret->step_count; i++)
		blame_field(report, ret, i);
	if (!report->facts.heap)
		name_by_type(report, ret);
	name_by_service(report, ret);
	name_by_event(report, ret);
}
