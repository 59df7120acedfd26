/* SPDX-License-Identifier: MIT */
/* Caches that have no limit: doc/report.md 4.9. */
#include "findings/counted.h"
#include "findings/rule.h"

#define CACHE       "Microsoft.Extensions.Caching.Memory.MemoryCache"
#define ENTRY       "Microsoft.Extensions.Caching.Memory.CacheEntry"
#define ENTRIES_MIN 10000u
#define SAMPLE      2000u

#define TELLING_OF_CACHES                                                                    \
	.id = "caches:{holder}", .title = "{count0} entries in the MemoryCache of {holder}", \
	.look_at = "the options of the MemoryCache of {holder}, and its keys",               \
	.next = "dumpheap -stat -type CacheEntry"

/* {0}: its limit, or what is known of its entries. */
static const struct telling of_limited = {
	TELLING_OF_CACHES,
	.sentence =
		"The MemoryCache of {holder} has {count0} entries ({bytes}); its SizeLimit is {0}.",
};
static const struct telling of_unlimited = {
	TELLING_OF_CACHES,
	.sentence =
		"The MemoryCache of {holder} has no SizeLimit and {count0} entries ({bytes}); {0}.",
};

/* Does an entry belong to another cache?  It says so since .NET 6. */
static bool is_of_another(const struct report_facts *facts, uint32_t entry, uint32_t cache)
{
	struct member own = facts_fact(facts, entry, FACT_CACHE_ENTRY_CACHE);
	return own.state == MEMBER_READ && facts_node(facts, own.bits) != cache;
}

/* How many of the entries of a cache never expire, in percent; 101: not known. */
static unsigned int never_expire(const struct report_facts *facts, uint32_t cache)
{
	uint32_t type = typed_next(facts, HD_NONE, ENTRY), sample[SAMPLE];
	if (type == HD_NONE)
		return 101;
	struct typed_nodes all = typed_nodes(facts, type);
	size_t count = typed_sample(&all, sample, SAMPLE), never = 0, read = 0;
	for (size_t i = 0; i < count; i++) {
		if (is_of_another(facts, sample[i], cache))
			continue;
		struct member ticks = facts_fact(facts, sample[i], FACT_CACHE_ENTRY_EXPIRES);
		struct member sliding = facts_fact(facts, sample[i], FACT_CACHE_ENTRY_SLIDING);
		if (ticks.state != MEMBER_READ || sliding.state != MEMBER_READ)
			continue;
		read++;
		never += member_signed(&ticks) < 0 && member_signed(&sliding) <= 0;
	}
	return read ? (unsigned int)(never * 100 / read) : 101;
}

static uint64_t count_entries(struct report_facts *facts, uint32_t cache)
{
	static const enum fact parts[] = { FACT_MEMORY_CACHE_STRINGS, FACT_MEMORY_CACHE_OTHERS,
					   FACT_MEMORY_CACHE_ENTRIES };
	uint64_t sum = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct counted counted;
		uint32_t part = facts_fact_node(facts, cache, parts[i]);
		if (part != HD_NONE && counted_read(facts, part, &counted) && counted.has_count)
			sum += counted.count;
	}
	return sum;
}

static enum hd_status check_cache(struct report *report, uint32_t cache, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct member limit = facts_fact(facts, cache, FACT_MEMORY_CACHE_LIMIT);
	uint64_t entries = count_entries(facts, cache), bytes = facts_retained(facts, cache);
	if (limit.state != MEMBER_READ || entries < ENTRIES_MIN ||
	    facts_permille(facts, bytes) < 100)
		return HD_OK;
	rule_met(report, entries);
	bool has_limit = member_signed(&limit) >= 0;
	unsigned int never = never_expire(facts, cache);
	struct report_finding finding = { .severity = SEVERITY_MEDIUM,
					  .bytes = bytes,
					  .objects = facts->dominators->retained_count[cache] };
	if (has_limit) {
		finding.severity = SEVERITY_INFO;
	} else if (never >= 90 && never <= 100) {
		finding.severity = SEVERITY_HIGH;
	}
	finding_about(report, &finding, cache, cache);
	const char *text = "it is not known whether they expire";
	if (has_limit) {
		text = report_number(report, limit.bits);
	} else if (never <= 100) {
		text = report_text(report, "%u %% of them never expire", never);
	}
	finding_count(&finding, "entries", entries);
	facts_claim(facts, cache);
	return finding_tell(report, &finding, has_limit ? &of_limited : &of_unlimited,
			    (const char *[]){ text }, err);
}

static enum hd_status find_caches(struct report *report, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	for (uint32_t type = HD_NONE; (type = typed_next(facts, type, CACHE)) != HD_NONE;) {
		struct typed_nodes all = typed_nodes(facts, type);
		for (uint32_t i = 0; i < all.count; i++)
			TRY(check_cache(report, all.nodes[i], err));
	}
	return HD_OK;
}

const struct report_rule caches_rule = {
	.name = "caches",
	.turn = TURN_DEFECTS,
	.threshold = "10,000 entries of a MemoryCache without SizeLimit, and 10 % of the live heap",
	.needs = RULE_FIELDS,
	.rests_on_growth = true,
	.find = find_caches,
};
