/* SPDX-License-Identifier: MIT */
/* Objects that say themselves that they are disposed or closed, and that something still holds: doc/report.md 4.7. */
#include <strings.h>

#include "findings/owners.h"
#include "findings/rule.h"
#include "mem/memory.h"

#define OBJECTS_MIN 1000u
#define SAMPLE      100u

static const struct telling of_finished = {
	.least = { [SEVERITY_HIGH] = { .objects = OBJECTS_MIN, .half_limits = 1 },
		   [SEVERITY_LOW] = { .objects = OBJECTS_MIN } },
	.id = "finished:{holder}:{full}",
	.title = "{objects} disposed {type} in {holder}",
	.sentence = "{objects} of {count1} live {type} are disposed or closed, but {holder} still "
		    "holds them ({bytes}, {share} of the live heap).",
	.look_at = "where {type} should leave {holder} when it is disposed",
	.next = "gcroot -type {full}",
};

/* "_disposed", "isClosed", "<IsDisposed>k__BackingField". */
static bool is_flag_name(const char *name)
{
	static const char *const names[] = { "disposed", "isdisposed", "closed", "isclosed" };
	char plain[32];
	size_t size = 0;
	name += *name == '<' || *name == '_';
	name += strncmp(name, "m_", 2) == 0 ? 2 : 0;
	while (name[size] && name[size] != '>' && size + 1 < sizeof(plain)) {
		plain[size] = name[size];
		size++;
	}
	plain[size] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(plain, names[i]) == 0)
			return true;
	}
	return false;
}

/* Where the flag is in objects of the class; 0: it has none. */
static uint32_t flag_offset(const struct report_facts *facts, const struct type *class)
{
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	uint32_t ret = 0;
	if (field_list_read(facts->heap->runtime, class, &list, NULL) != HD_OK)
		return 0;
	for (size_t i = 0; i < list.count && !ret; i++) {
		const struct field *field = &list.rows[i];
		if (!field->is_static && field->element_type == ELEMENT_BOOLEAN &&
		    is_flag_name(field->name))
			ret = field->offset + OBJECT_FIELDS;
	}
	return ret;
}

static uint64_t count_set(const struct report_facts *facts, const struct typed_nodes *all,
			  uint32_t offset, uint64_t *ret_bytes)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < all->count; i++) {
		uint8_t flag;
		uint64_t at = graph_id(facts->graph, all->nodes[i]) + offset;
		if (facts->classes[all->nodes[i]] != CLASS_PROCESS ||
		    !memory_u8(facts->heap->memory, at, &flag) || flag != 1)
			continue;
		count++;
		*ret_bytes += facts_retained(facts, all->nodes[i]);
	}
	return count;
}

static bool any_turns(const struct owners *owners)
{
	for (size_t i = 0; i < owners->count; i++) {
		if (counted_turns(&owners->rows[i]))
			return true;
	}
	return false;
}

static enum hd_status check_finished_type(struct report *report, uint32_t type,
					  struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct typed_nodes all = typed_nodes(facts, type);
	const struct type *class = typed_class(facts, type);
	uint32_t offset = class ? flag_offset(facts, class) : 0, sample[SAMPLE];
	uint64_t bytes = 0;
	if (!offset)
		return HD_OK;
	uint64_t count = count_set(facts, &all, offset, &bytes);
	rule_met(report, count);
	if (count * 10 < (uint64_t)all.count * 9)
		return HD_OK;
	struct owners owners;
	size_t sampled = typed_sample(&all, sample, SAMPLE);
	owners_find(facts, HD_NONE, sample, sampled, &owners);
	if (any_turns(&owners) || facts_is_claimed(facts, sample[0], 1) ||
	    (facts_permille(facts, bytes) < 50 && !owners.count))
		return HD_OK;
	struct report_finding finding = { .confidence = owners.count ? CONFIDENCE_HIGH
								     : CONFIDENCE_MEDIUM,
					  .bytes = bytes,
					  .objects = count };
	if (!finding_weigh(report, &of_finished, &finding))
		return HD_OK;
	struct member_ages ages = typed_ages(facts, all.nodes, all.count);
	finding.growth = growth_of(facts, &ages, owners.rows, owners.count);
	finding_about(report, &finding, owners.count ? owners.rows[0].node : sample[0], sample[0]);
	finding_count(&finding, "disposed", count);
	finding_count(&finding, "alive", all.count);
	for (uint32_t i = 0; i < all.count && finding.severity == SEVERITY_HIGH; i++)
		facts_claim(facts, all.nodes[i]);
	return finding_tell(report, &finding, &of_finished, NULL, err);
}

static enum hd_status find_finished(struct report *report, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		/* Dispose of a framework's type often means "return to a pool" or "commit". */
		if (facts_live_count(facts, type) >= OBJECTS_MIN &&
		    type_is_own(&facts->graph->types[type]))
			TRY(check_finished_type(report, type, err));
	}
	return HD_OK;
}

const struct report_rule finished_rule = {
	.name = "finished",
	.turn = TURN_STATES,
	.threshold = "1,000 live objects of a type of the program, of which 90 % say that they are "
		     "disposed",
	.needs = RULE_FIELDS,
	.find = find_finished,
};
