/* SPDX-License-Identifier: MIT */
/*
 * Finds the types that declare static variables.  The runtime only sends the type of the object and
 * the name of the field, but it sends them in a fixed order (nettrace_fields.h), and with the
 * addresses of their slots.  So a variable is one of the fields with its name that can hold its
 * object.  The next variable is a later field: if both are in one type, the distance of the fields'
 * slots must match; if not, its slot must not be among those of the first type.  The declaring type
 * is certain if it is the same in every possible assignment of all variables to fields.
 *
 * Between statics of available modules there may be statics of modules that are not available, with
 * any name.  Two assumptions are made about such modules: none has two consecutive statics with the
 * names, types and layout of two statics in an available type, if no other available type has a
 * static with such a name; and none holds the instance that an available class of closures keeps of
 * itself.
 */
#include <string.h>

#include "format/nettrace/nettrace_fields.h"
#include "graph/heap_graph.h"
#include "util/alloc.h"
#include "util/sort.h"
#include "util/text.h"

#define NOTHING UINT64_MAX
/* Pairs of a variable and a field of its name. */
#define CHECKS_MAX ((uint64_t)1 << 24)
/* How many matches of a neighbour are checked before it is assumed to be possible. */
#define MATCHES_ASKED_MAX 64u

/* A field that may be a variable's. */
struct match {
	uint32_t field;
	bool is_behind; /* all variables before it can be fields */
	bool is_before; /* all variables after it can be fields */
};

struct variable {
	size_t first, end; /* its matches; none: the variable is ignored */
	uint64_t floor;    /* smallest key that the variable before it may have */
	uint32_t name;
	bool is_at_hand; /* its module must be available */
	bool may_be_unknown;
};

struct declarer_search {
	struct nt_types *types;
	const struct nt_static *rows;
	size_t count;
	uint32_t pointer_size;
	uint64_t checks;
	struct nt_fields fields;
	struct variable *variables; /* pages; count */
	struct match *matches;      /* pages */
	size_t matches_count, matches_capacity;
};

static const struct nt_field *field_of(const struct declarer_search *search, size_t match)
{
	return &search->fields.rows[search->matches[match].field];
}

/* Is it declared by the same type, maybe in another copy of the module? */
static bool is_same_declarer(const struct declarer_search *search, const struct nt_field *a,
			     const struct nt_field *b)
{
	const struct nt_assembly *assemblies = search->types->assemblies;
	return nt_same_type(a, b) ||
	       (a->type == b->type &&
		strcmp(assemblies[a->assembly].path, assemblies[b->assembly].path) == 0);
}

static enum hd_status name_variables(struct declarer_search *search)
{
	HD_CLEANUP(text) struct text text = { 0 };
	enum hd_status status = HD_OK;
	for (size_t i = 0; status == HD_OK && i < search->count; i++) {
		const struct nt_static *row = &search->rows[i];
		text.size = 0;
		nt_append_utf8(&text, &row->field);
		search->variables[i].name = NT_NO_NAME;
		if (text.failed) {
			status = fail_nomem(search->types->err);
		} else if (row->object && !(row->flags & NT_STATIC_OF_THREAD) && text.size) {
			status = nt_fields_name(&search->fields, text.bytes, text.size,
						&search->variables[i].name, search->types->err);
		}
	}
	return status;
}

/* Describe the object of a variable. */
static bool read_object(struct declarer_search *search, uint64_t id, struct text *name,
			struct nt_object *ret)
{
	struct nt_types *types = search->types;
	uint32_t row = nt_types_known(types, id);
	*ret = (struct nt_object){ .name = "" };
	if (row >= types->places_count)
		return true;
	name->size = 0;
	nt_append_sent(&types->rows[row], name);
	text_append(name, "", 1);
	if (name->failed)
		return false;
	*ret = (struct nt_object){ .type = types->rows[row].name.units ? &types->rows[row] : NULL,
				   .assembly = types->places[row].assembly,
				   .type_def = nt_type_def(&types->rows[row]),
				   .name = name->bytes };
	return true;
}

static enum hd_status match_variable(struct declarer_search *search, size_t index,
				     struct text *text)
{
	struct variable *variable = &search->variables[index];
	variable->first = variable->end = search->matches_count;
	if (variable->name == NT_NO_NAME)
		return HD_OK;
	const struct nt_name *name = &search->fields.names[variable->name];
	struct nt_object object;
	TRY_MEMORY(read_object(search, search->rows[index].type, text, &object),
		   search->types->err);
	search->checks += name->count;
	for (size_t i = 0; i < name->count && search->checks <= CHECKS_MAX; i++) {
		uint32_t field = search->fields.by_name[name->first + i];
		if (!nt_field_holds(search->types, &search->fields.rows[field], &object))
			continue;
		TRY_MEMORY(PAGES_RESERVE(search, matches), search->types->err);
		search->matches[search->matches_count++] = (struct match){ .field = field };
	}
	variable->end = search->matches_count;
	/* It holds the only instance of a class of closures; other code cannot name that class. */
	for (size_t i = variable->first; name->bytes[0] == '<' && i < variable->end; i++) {
		const struct nt_field *field = field_of(search, i);
		variable->is_at_hand |=
			object.type_def == field->type && object.assembly == field->assembly;
	}
	return HD_OK;
}

static enum hd_status match_variables(struct declarer_search *search)
{
	HD_CLEANUP(text) struct text text = { 0 };
	for (size_t i = 0; i < search->count; i++) {
		TRY(match_variable(search, i, &text));
		if (i % 256 == 0 && !job_step(search->types->job, 0, 0))
			return fail_cancelled(search->types->err);
	}
	return HD_OK;
}

/* The first unknown key that is at least @p key, or the number of keys. */
static size_t find_unknown(const struct nt_fields *fields, uint64_t key)
{
	return lower_bound_u64(fields->unknown, fields->unknown_count, key);
}

static bool matches_fit(const struct declarer_search *search, size_t a, size_t a_match, size_t b,
			size_t b_match)
{
	return nt_fields_fit(field_of(search, a_match), search->rows[a].slot,
			     field_of(search, b_match), search->rows[b].slot, search->pointer_size);
}

/* Does another available type have a field with that name? */
static bool is_unique(const struct declarer_search *search, uint32_t index)
{
	const struct nt_name *name = &search->fields.names[index];
	const struct nt_field *rows = search->fields.rows;
	const uint32_t *fields = search->fields.by_name + name->first;
	/* Compilers give names like "<>9__0_0" to fields of many types. */
	bool is_unique = name->count && name->bytes[0] != '<';
	for (size_t i = 1; is_unique && i < name->count; i++)
		is_unique = is_same_declarer(search, &rows[fields[0]], &rows[fields[i]]);
	return is_unique;
}

/* Are there two fields in one type, in this order, that a variable and the next one may be? */
static bool is_pair(const struct declarer_search *search, size_t index)
{
	const struct variable *a = &search->variables[index], *b = a + 1;
	size_t j = b->first;
	for (size_t i = a->first; i < a->end; i++) {
		const struct nt_field *field = field_of(search, i);
		while (j < b->end && field_of(search, j)->key <= field->key)
			j++;
		if (j < b->end && search->rows[index].slot && search->rows[index + 1].slot &&
		    nt_same_type(field, field_of(search, j)) &&
		    matches_fit(search, index, i, index + 1, j))
			return true;
	}
	return false;
}

/* Find the variables that cannot belong to a module that is not available. */
static void find_pairs(struct declarer_search *search)
{
	for (size_t i = 0; i + 1 < search->count; i++) {
		struct variable *a = &search->variables[i], *b = a + 1;
		if (a->first == a->end || b->first == b->end ||
		    (!is_unique(search, a->name) && !is_unique(search, b->name)) ||
		    !is_pair(search, i))
			continue;
		a->is_at_hand = b->is_at_hand = true;
	}
}

/*
 * The candidates for a variable, as seen from one side: fields, or statics of an unknown module.
 * From the front, keys of these begin at 0, from the back at NOTHING.
 */
struct variable_reach {
	size_t variable;    /* SIZE_MAX: there is none on that side */
	size_t first, last; /* the outermost of its matches that it can be; SIZE_MAX: none */
	uint64_t unknown;   /* and the outermost key in unknown modules */
	bool has_unknown;
};

/* Is the slot of a variable one of the type of another's match? */
static bool is_near(const struct declarer_search *search, size_t match, size_t variable,
		    size_t other)
{
	uint64_t slot = search->rows[variable].slot, address = search->rows[other].slot;
	return slot && address &&
	       nt_field_is_near(field_of(search, match), slot, address, search->pointer_size);
}

/* Can two consecutive variables be those fields, the first of which has the lower key? */
static bool may_follow(const struct declarer_search *search, size_t a, size_t a_match, size_t b,
		       size_t b_match)
{
	if (nt_same_type(field_of(search, a_match), field_of(search, b_match))) {
		return !search->rows[a].slot || !search->rows[b].slot ||
		       matches_fit(search, a, a_match, b, b_match);
	}
	return !is_near(search, a_match, a, b) && !is_near(search, b_match, b, a);
}

/* Can a variable be a field, considering what those before it may be? */
static bool can_follow(const struct declarer_search *search, const struct variable_reach *last,
		       size_t variable, size_t match)
{
	uint64_t key = field_of(search, match)->key;
	if (last->has_unknown && last->unknown < key &&
	    (last->variable == SIZE_MAX || !is_near(search, match, variable, last->variable)))
		return true;
	if (last->first == SIZE_MAX)
		return false;
	for (size_t i = last->first; i <= last->last && field_of(search, i)->key < key; i++) {
		if (i - last->first >= MATCHES_ASKED_MAX ||
		    (search->matches[i].is_behind &&
		     may_follow(search, last->variable, i, variable, match)))
			return true;
	}
	return false;
}

/* Can it, considering what those after it may be? */
static bool can_precede(const struct declarer_search *search, const struct variable_reach *last,
			size_t variable, size_t match)
{
	uint64_t key = field_of(search, match)->key;
	if (last->has_unknown && last->unknown > key &&
	    (last->variable == SIZE_MAX || !is_near(search, match, variable, last->variable)))
		return true;
	if (last->first == SIZE_MAX)
		return false;
	for (size_t i = last->last + 1; i-- > last->first && field_of(search, i)->key > key;) {
		if (last->last - i >= MATCHES_ASKED_MAX ||
		    (search->matches[i].is_before &&
		     may_follow(search, variable, match, last->variable, i)))
			return true;
	}
	return false;
}

/*
 * Smallest key that a variable of an unknown module may have after those before it; NOTHING: none.
 */
static uint64_t floor_of(const struct declarer_search *search, const struct variable_reach *last,
			 size_t variable)
{
	uint64_t floor = last->has_unknown ? last->unknown : NOTHING;
	if (last->first == SIZE_MAX)
		return floor;
	for (size_t i = last->first; i <= last->last; i++) {
		uint64_t key = field_of(search, i)->key;
		if (key >= floor)
			break;
		if (i - last->first >= MATCHES_ASKED_MAX ||
		    (search->matches[i].is_behind && !is_near(search, i, last->variable, variable)))
			return key;
	}
	return floor;
}

/* Largest key that it may have before those after it; 0: none. */
static uint64_t ceiling_of(const struct declarer_search *search, const struct variable_reach *last,
			   size_t variable)
{
	uint64_t ceiling = last->has_unknown ? last->unknown : 0;
	if (last->first == SIZE_MAX)
		return ceiling;
	for (size_t i = last->last + 1; i-- > last->first;) {
		uint64_t key = field_of(search, i)->key;
		if (key <= ceiling)
			break;
		if (last->last - i >= MATCHES_ASKED_MAX ||
		    (search->matches[i].is_before && !is_near(search, i, last->variable, variable)))
			return key;
	}
	return ceiling;
}

static void add_reach(struct variable_reach *reach, size_t match)
{
	if (reach->first == SIZE_MAX)
		reach->first = reach->last = match;
	reach->first = match < reach->first ? match : reach->first;
	reach->last = match > reach->last ? match : reach->last;
}

/* The pass from the first to the last: false when they cannot be fields at all. */
static bool go_forward(struct declarer_search *search)
{
	struct variable_reach last = { SIZE_MAX, SIZE_MAX, SIZE_MAX, 0, true };
	for (size_t i = 0; i < search->count; i++) {
		struct variable *variable = &search->variables[i];
		if (variable->first == variable->end)
			continue;
		struct variable_reach next = { i, SIZE_MAX, SIZE_MAX, 0, false };
		for (size_t k = variable->first; k < variable->end; k++) {
			search->matches[k].is_behind = can_follow(search, &last, i, k);
			if (search->matches[k].is_behind)
				add_reach(&next, k);
		}
		variable->floor = floor_of(search, &last, i);
		size_t unknown = find_unknown(&search->fields, variable->floor);
		if (!variable->is_at_hand && unknown < search->fields.unknown_count) {
			next.has_unknown = true;
			next.unknown = search->fields.unknown[unknown];
		}
		if (next.first == SIZE_MAX && !next.has_unknown)
			return false;
		last = next;
	}
	return true;
}

/* The pass from the last back to the first. */
static bool go_back(struct declarer_search *search)
{
	struct variable_reach last = { SIZE_MAX, SIZE_MAX, SIZE_MAX, NOTHING - 1, true };
	for (size_t i = search->count; i-- > 0;) {
		struct variable *variable = &search->variables[i];
		if (variable->first == variable->end)
			continue;
		struct variable_reach next = { i, SIZE_MAX, SIZE_MAX, 0, false };
		for (size_t k = variable->first; k < variable->end; k++) {
			search->matches[k].is_before = can_precede(search, &last, i, k);
			if (search->matches[k].is_before)
				add_reach(&next, k);
		}
		size_t unknown = find_unknown(&search->fields, ceiling_of(search, &last, i) + 1);
		if (!variable->is_at_hand && unknown) {
			next.has_unknown = true;
			next.unknown = search->fields.unknown[unknown - 1];
		}
		variable->may_be_unknown = next.has_unknown && next.unknown >= variable->floor;
		if (next.first == SIZE_MAX && !next.has_unknown)
			return false;
		last = next;
	}
	return true;
}

/* The one type that a variable can be of. */
static void choose_declarer(struct declarer_search *search, const struct variable *variable,
			    struct nt_declarer *ret)
{
	const struct nt_field *chosen = NULL;
	if (variable->may_be_unknown)
		return;
	for (size_t i = variable->first; i < variable->end; i++) {
		if (!search->matches[i].is_behind || !search->matches[i].is_before)
			continue;
		if (chosen && !is_same_declarer(search, chosen, field_of(search, i)))
			return;
		chosen = field_of(search, i);
	}
	if (!chosen)
		return;
	ret->metadata = nt_module_metadata(search->types, chosen->assembly);
	ret->assembly = chosen->assembly;
	ret->type = chosen->type;
}

static enum hd_status find_all_declarers(struct declarer_search *search, struct nt_declarer *ret)
{
	search->variables = pages_alloc(search->count, sizeof(*search->variables));
	TRY_MEMORY(search->variables, search->types->err);
	TRY(name_variables(search));
	TRY(nt_fields_read(&search->fields, search->types));
	TRY(match_variables(search));
	if (search->checks > CHECKS_MAX)
		return HD_OK;
	if (search->fields.unknown_count)
		find_pairs(search);
	if (!go_forward(search) || !go_back(search))
		return HD_OK;
	for (size_t i = 0; i < search->count; i++)
		choose_declarer(search, &search->variables[i], &ret[i]);
	return HD_OK;
}

enum hd_status nt_declarers_find(struct nt_types *types, const struct nt_static *rows, size_t count,
				 uint32_t pointer_size, struct nt_declarer *ret)
{
	if (!count || !types->positions)
		return HD_OK;
	struct declarer_search search = {
		.types = types, .rows = rows, .count = count, .pointer_size = pointer_size
	};
	enum hd_status status = find_all_declarers(&search, ret);
	pages_free(search.variables, count, sizeof(*search.variables));
	pages_free(search.matches, search.matches_capacity, sizeof(*search.matches));
	nt_fields_deinit(&search.fields);
	return status;
}
