/* SPDX-License-Identifier: MIT */
/* Objects of classes that are not meant to pile up: doc/report.md 4.20. */
#include "findings/owners.h"
#include "findings/rule.h"
#include "inspect/value.h"

#define MANY   1000u
#define FEW    50u
#define SAMPLE 100u

/* {0}, {1}: the words of its row; {2}: what they stand for. */
static const struct telling of_known = {
	.id = "known-types:{holder}:{full}",
	.title = "{objects} {type} in {holder}",
	.sentence = "{objects} {type} are held by {holder} ({bytes}{2}): {0}.",
	.look_at = "{1}",
	.next = "gcroot -type {full}",
};

/* How the name of a class is compared. */
enum match {
	MATCH_CLASS,   /* the class, with any type arguments */
	MATCH_BEGIN,   /* all names that begin so */
	MATCH_DERIVED, /* the class and those that derive from it */
};

/* Add a row for another class. */
static const struct known_pile {
	const char *name;
	enum match match;
	uint32_t least;
	bool is_costly;  /* each has more than memory */
	bool is_waste;   /* a quarter of the live heap is too much, whether it grows or not */
	enum fact unset; /* a Boolean field that must not be set; FACTS: none */
	enum fact
		stands_for; /* a field with the program's object that each is about; FACTS: none */
	const char *sentence; /* after "N X are held: " */
	const char *look_at;
} known_piles[] = {
	{ "System.Exception", MATCH_DERIVED, MANY, false, false, FACTS, FACTS,
	  "exceptions keep their stack traces, and what their Data refers to",
	  "who stores exceptions: a message or a counter takes less" },
	{ "System.Data.DataRow", MATCH_DERIVED, MANY, false, false, FACTS, FACTS,
	  "each row of a DataTable takes several objects, and tables keep their deleted rows until "
	  "AcceptChanges",
	  "who keeps the DataTable, and whether it needs all rows" },
	{ "System.Linq.Expressions.", MATCH_BEGIN, MANY, false, false, FACTS, FACTS,
	  "expression trees are made again and again, where one could be kept and used again",
	  "who builds expressions, and stores them: is the key of the cache equal for equal ones?" },
	{ "System.Text.RegularExpressions.Regex", MATCH_DERIVED, MANY, false, false, FACTS, FACTS,
	  "each was compiled for itself", "who makes a Regex for each call" },
	{ "System.Reflection.Emit.DynamicMethod", MATCH_CLASS, MANY, true, false, FACTS, FACTS,
	  "each has machine code of its own", "who makes a DynamicMethod for each call" },
	{ "System.Reflection.RuntimeAssembly", MATCH_CLASS, MANY, true, false, FACTS, FACTS,
	  "an assembly is never unloaded, unless its load context is; an XmlSerializer that is "
	  "made "
	  "with other arguments than a type makes a new one each time",
	  "who loads or makes assemblies: XmlSerializer, Roslyn scripts, Assembly.Load(byte[])" },
	{ "System.Reflection.Emit.RuntimeAssemblyBuilder", MATCH_CLASS, FEW, true, false, FACTS,
	  FACTS, "a dynamic assembly is never unloaded, unless it is collectible",
	  "who makes dynamic assemblies: proxies, serializers" },
	{ "Microsoft.Extensions.Logging.LoggerFactoryScopeProvider+Scope", MATCH_CLASS, MANY, false,
	  false, FACTS, FACTS, "logger scopes are kept that were not disposed",
	  "calls of BeginScope without using" },
	{ "Microsoft.EntityFrameworkCore.ChangeTracking.Internal.InternalEntityEntry",
	  MATCH_DERIVED, MANY, false, true, FACTS, FACT_ENTITY_ENTRY_ENTITY,
	  "a DbContext tracks every entity that it has loaded, as long as it lives",
	  "who keeps a DbContext for long, and queries that could use AsNoTracking" },
	{ "System.Net.Http.SocketsHttpHandler", MATCH_CLASS, FEW, true, false,
	  FACT_HTTP_HANDLER_DISPOSED, FACTS, "each has connections of its own",
	  "who makes an HttpClient for each call" },
	{ "System.Net.Sockets.Socket", MATCH_CLASS, MANY, true, false, FACT_SOCKET_DISPOSED, FACTS,
	  "each has a descriptor", "who opens connections, and where they are closed" },
	{ "System.IO.FileSystemWatcher", MATCH_CLASS, FEW, true, false, FACT_FILE_WATCHER_DISPOSED,
	  FACTS, "each has a thread of its own or a descriptor",
	  "who makes watchers, and where they are disposed" },
	{ "System.Diagnostics.Activity", MATCH_CLASS, MANY, false, false, FACTS, FACTS,
	  "spans that are kept keep their parents and tags",
	  "who starts activities and never stops them, or keeps the chain of their parents" },
	{ "System.Text.Json.JsonDocument", MATCH_CLASS, MANY, false, true, FACTS, FACTS,
	  "a JsonDocument keeps all of its text and an index of it, in arrays of a pool that only "
	  "Dispose gives back",
	  "who keeps a JsonDocument or a JsonElement: JsonElement.Clone() takes one property out" },
	{ "System.Threading.ExecutionContext", MATCH_CLASS, MANY, false, false, FACTS, FACTS,
	  "captured contexts keep the values of each AsyncLocal",
	  "what AsyncLocal values refer to, and who captures contexts for long" },
};

/* The objects of one row of the table. */
struct known_found {
	uint32_t sample[SAMPLE];
	size_t sample_count;
	uint64_t count, bytes;
	struct member_ages ages;
	uint32_t asked; /* the type of which is_one was asked last, + 1 */
	bool is_one;
	uint32_t type; /* that with most of them */
	uint32_t item; /* the type of the last object that one stands for, or HD_NONE */
	uint64_t of_type;
};

static bool is_known(const struct report_facts *facts, uint32_t type,
		     const struct known_pile *known)
{
	const struct graph_type *row = &facts->graph->types[type];
	const struct type *class;
	switch (known->match) {
	case MATCH_CLASS:
		return type_is_class(row, known->name);
	case MATCH_BEGIN:
		return type_begins(row, known->name) && !type_is_array(row);
	default:
		class = typed_class(facts, type);
		return class && !class->component_size &&
		       type_derives_from(facts->heap->runtime, class, 0, known->name);
	}
}

/* Is the object held, not explained, and not one that was closed? */
static bool is_open(struct report *report, uint32_t node, const struct known_pile *known)
{
	const struct report_facts *facts = &report->facts;
	if (facts->classes[node] != CLASS_PROCESS || waste_is_explained(report, node))
		return false;
	struct member set = { .state = MEMBER_ABSENT };
	if (known->unset != FACTS)
		set = facts_fact(facts, node, known->unset);
	return !set.bits;
}

/* Does an object of the same row dominate it?  Then its bytes are counted there. */
static bool is_inside(const struct report_facts *facts, uint32_t node,
		      const struct known_pile *known, struct known_found *found)
{
	uint32_t idom = facts_idom(facts, node);
	uint32_t type =
		idom < facts->graph->object_count ? facts->graph->node_types[idom] : HD_NONE;
	if (type >= facts->graph->type_count)
		return false;
	if (found->asked != type + 1) {
		found->asked = type + 1;
		found->is_one = is_known(facts, type, known);
	}
	return found->is_one;
}

/* The bytes of the object that it stands for, where it does not dominate that itself. */
static uint64_t bytes_of_item(const struct report_facts *facts, uint32_t node,
			      const struct known_pile *known, struct known_found *found)
{
	uint32_t item = known->stands_for == FACTS
				? HD_NONE
				: facts_fact_node(facts, node, known->stands_for);
	if (item == HD_NONE || item >= facts->graph->object_count)
		return 0;
	found->item = facts->graph->node_types[item];
	return facts_idom(facts, item) == node ? 0 : facts_retained(facts, item);
}

static void add_known_type(struct report *report, uint32_t type, const struct known_pile *known,
			   struct known_found *found)
{
	const struct report_facts *facts = &report->facts;
	struct typed_nodes all = typed_nodes(facts, type);
	uint64_t count = 0;
	for (uint32_t i = 0; i < all.count; i++) {
		uint32_t node = all.nodes[i];
		if (!is_open(report, node, known))
			continue;
		/* A sample of all parts: what is added later replaces the first ones, more and more seldom. */
		size_t at = found->count < SAMPLE ? found->sample_count++ : found->count % SAMPLE;
		if (found->count % (found->count / SAMPLE + 1) == 0)
			found->sample[at] = node;
		found->count++;
		count++;
		if (!is_inside(facts, node, known, found)) {
			found->bytes += facts_retained(facts, node) +
					bytes_of_item(facts, node, known, found);
		}
		ages_add(&found->ages, facts, node);
	}
	if (count > found->of_type) {
		found->of_type = count;
		found->type = type;
	}
}

/* A pile that was found before is the same one: what is known of the class is added to it. */
static bool is_told_before(struct report *report, const struct known_pile *known,
			   const struct known_found *found, const struct report_finding *one)
{
	const struct report_finding *growing = report_growing(report, found->sample[0]);
	for (size_t i = 0; i < report->findings_count; i++) {
		struct report_finding *finding = &report->findings[i];
		bool is_around =
			finding == growing || (finding->growth.state != GROWTH_NOT_ASKED &&
					       finding->bytes >= found->bytes &&
					       strcmp(finding->holder.name, one->holder.name) == 0);
		if (finding->severity > one->severity ||
		    (finding->member_type != found->type && !is_around))
			continue;
		also_explains(&finding->explains, one->id);
		finding->sentence =
			report_text(report, "%s %s %s are in it: %s.", finding->sentence,
				    report_number(report, found->count),
				    report_short_name(report, found->type), known->sentence);
		finding->look_at = known->look_at;
		return true;
	}
	return false;
}

static enum hd_status add_known_finding(struct report *report, const struct known_pile *known,
					const struct known_found *found, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct owners owners;
	struct report_finding finding = { .severity = SEVERITY_LOW,
					  .confidence = CONFIDENCE_MEDIUM,
					  .bytes = found->bytes,
					  .objects = found->count,
					  .member_type = found->type };
	owners_find(facts, HD_NONE, found->sample, found->sample_count, &owners);
	finding.growth = growth_of(facts, &found->ages, owners.rows, owners.count);
	bool is_large = known->is_costly || found->bytes >= facts_limit(facts) / 2;
	bool is_waste = known->is_waste && finding.growth.state != GROWTH_TURNS &&
			facts_permille(facts, found->bytes) >= 250 && found->bytes >= 4 * MEGABYTE;
	if (is_waste || (finding.growth.state == GROWTH_GROWS && is_large))
		finding.severity = SEVERITY_MEDIUM;
	holder_find(report, owners.count ? owners.rows[0].node : found->sample[0], &finding.holder);
	finding.id = report_text(report, "known-types:%s:%s", finding.holder.name,
				 report_type_name(report, found->type));
	if (is_told_before(report, known, found, &finding))
		return HD_OK;
	finding_count(&finding, "objects", found->count);
	for (size_t i = 0; i < found->sample_count; i++)
		finding_sample(&finding, found->sample[i]);
	const char *item = found->item == HD_NONE
				   ? ""
				   : report_text(report, ", with objects like %s",
						 report_type_name(report, found->item));
	return finding_tell(report, &finding, &of_known,
			    (const char *[]){ known->sentence, known->look_at, item }, err);
}

static enum hd_status find_known_types(struct report *report, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	for (size_t i = 0; i < sizeof(known_piles) / sizeof(known_piles[0]); i++) {
		struct known_found found = { .type = HD_NONE, .item = HD_NONE };
		for (uint32_t type = 0; type < facts->graph->type_count; type++) {
			if (facts_live_count(facts, type) && is_known(facts, type, &known_piles[i]))
				add_known_type(report, type, &known_piles[i], &found);
		}
		rule_met(report, found.count);
		if (found.count >= known_piles[i].least)
			TRY(add_known_finding(report, &known_piles[i], &found, err));
	}
	return HD_OK;
}

const struct report_rule known_types_rule = {
	.name = "known-types",
	.turn = TURN_KINDS,
	.threshold = "1,000 live objects of a class that is not meant to pile up (50 of some)",
	.needs = RULE_FIELDS,
	.find = find_known_types,
};
