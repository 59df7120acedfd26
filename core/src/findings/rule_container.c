/* SPDX-License-Identifier: MIT */
/* Disposable services that the root container keeps, and scopes that nobody disposes: doc/report.md 4.5. */
#include "findings/rule.h"

#define SCOPE        "Microsoft.Extensions.DependencyInjection.ServiceLookup.ServiceProviderEngineScope"
#define SERVICES_MIN 1000u
/* A library has a scope for each of its own things, too: they count by their part of what is alive. */
#define SCOPES_SHARE 0.05
/* Services of all scopes that are looked at. */
#define SERVICES_MAX 20000000u

static const struct telling of_services = {
	.id = "container:{full}",
	.title = "{objects} {type} in the root container",
	.sentence = "{objects} transient {type} were resolved from the root container, which keeps "
		    "what is disposable until it is disposed itself ({bytes}).",
	.look_at = "where {type} is resolved: it needs a scope",
	.next = "gcroot -type {full}",
};

static const struct telling of_scopes = {
	.id = "container:scopes",
	.title = "{objects} scopes of the container",
	.sentence = "{objects} scopes of the container are alive and not disposed ({bytes}): each "
		    "CreateScope needs a Dispose.",
	.look_at = "calls of CreateScope without using",
	.next = "gcroot -type " SCOPE,
};

static bool is_set(const struct report_facts *facts, uint32_t node, enum fact fact)
{
	struct member flag = facts_fact(facts, node, fact);
	return flag.bits;
}

static void count_services(struct report *report, uint32_t scope, uint64_t *left, struct tally *ret)
{
	const struct report_facts *facts = &report->facts;
	uint32_t list = facts_fact_node(facts, scope, FACT_SERVICE_SCOPE_ITEMS);
	const struct csr *forward = &facts->graph->forward;
	if (list == HD_NONE)
		return;
	uint64_t begin = csr_begin(forward, list), end = csr_begin(forward, list + 1);
	if (end - begin > *left) {
		rule_limited(report);
		return;
	}
	*left -= end - begin;
	for (; begin < end; begin++) {
		uint32_t node = forward->targets[begin];
		if (!graph_is_missing(facts->graph, node)) {
			tally_add(ret, facts->graph->node_types[node], node,
				  facts_retained(facts, node));
		}
	}
}

static enum hd_status add_services(struct report *report, uint32_t scope,
				   const struct tally *services, size_t top, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct report_finding finding = { .severity = SEVERITY_HIGH,
					  .bytes = services->bytes[top],
					  .objects = services->counts[top] };
	finding_about(report, &finding, scope, services->first[top]);
	finding_count(&finding, "services", services->counts[top]);
	uint32_t list = facts_fact_node(facts, scope, FACT_SERVICE_SCOPE_ITEMS);
	facts_claim(facts, list);
	struct typed_nodes all = typed_nodes(facts, finding.member_type);
	for (uint32_t i = 0; i < all.count; i++)
		facts_claim(facts, all.nodes[i]);
	return finding_tell(report, &finding, &of_services, NULL, err);
}

static enum hd_status add_scopes(struct report *report, uint32_t first, uint64_t count,
				 uint64_t bytes, struct hd_error *err)
{
	struct report_finding finding = { .severity =
						  facts_share(&report->facts, bytes) < SCOPES_SHARE
							  ? SEVERITY_LOW
							  : SEVERITY_MEDIUM,
					  .bytes = bytes,
					  .objects = count };
	finding_about(report, &finding, first, first);
	finding_count(&finding, "scopes", count);
	return finding_tell(report, &finding, &of_scopes, NULL, err);
}

static enum hd_status find_container(struct report *report, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	uint32_t type = typed_next(facts, HD_NONE, SCOPE), first = HD_NONE;
	uint64_t scopes = 0, bytes = 0, left = SERVICES_MAX;
	if (type == HD_NONE)
		return HD_OK;
	struct typed_nodes all = typed_nodes(facts, type);
	for (uint32_t i = 0; i < all.count; i++) {
		uint32_t scope = all.nodes[i];
		if (is_set(facts, scope, FACT_SERVICE_SCOPE_DISPOSED) ||
		    facts->classes[scope] != CLASS_PROCESS)
			continue;
		if (!is_set(facts, scope, FACT_SERVICE_SCOPE_IS_ROOT)) {
			first = scopes++ ? first : scope;
			bytes += facts_retained(facts, scope);
			continue;
		}
		struct tally services = { .count = 0 };
		count_services(report, scope, &left, &services);
		size_t top = tally_top(&services);
		if (top == services.count)
			continue;
		rule_met(report, services.counts[top]);
		if (services.counts[top] >= SERVICES_MIN)
			TRY(add_services(report, scope, &services, top, err));
	}
	return scopes >= SERVICES_MIN ? add_scopes(report, first, scopes, bytes, err) : HD_OK;
}

const struct report_rule container_rule = {
	.name = "container",
	.turn = TURN_DEFECTS,
	.threshold = "1,000 disposable services of one type in the root container, or 1,000 scopes",
	.needs = RULE_FIELDS,
	.find = find_container,
};
