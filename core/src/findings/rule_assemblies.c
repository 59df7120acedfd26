/* SPDX-License-Identifier: MIT */
/* Assemblies that were made while the program ran: doc/report.md 4.27. */
#include <string.h>

#include "findings/rule.h"
#include "gc/heap.h"
#include "runtime/coreclr/modules/module.h"
#include "util/text.h"

/* Serializers and proxies make some dozens, once. */
#define ASSEMBLIES_MEDIUM 100u
#define ASSEMBLIES_HIGH   1000u

/* {0}: the name of one of them. */
static const struct telling of_assemblies = {
	.least = { [SEVERITY_HIGH] = { .objects = ASSEMBLIES_HIGH },
		   [SEVERITY_MEDIUM] = { .objects = ASSEMBLIES_MEDIUM } },
	.id = "assemblies",
	.title = "{objects} assemblies without a file are loaded",
	.sentence =
		"{objects} assemblies have no file: the program made them, or loaded them from bytes{0}; "
		"{count1} of them by Reflection.Emit. The runtime keeps the types and the code of each in "
		"native memory, which is not counted here, until its load context is unloaded.",
	.look_at =
		"what makes assemblies again and again: scripts, serializers, compiled expressions, proxies; "
		"keep and use again what was made",
	.next = "clrmodules",
};

/* One that was loaded from bytes has no path, or only a name; so have those inside of a single-file program. */
static bool is_without_file(const struct runtime *runtime, const struct module *module)
{
	bool has_folder = !module->path || strchr(module->path, '/');
	return module->is_dynamic || (!has_folder && !runtime_is_single_file(runtime));
}

static enum hd_status find_assemblies(struct report *report, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct module *const *modules;
	size_t count;
	uint64_t emitted = 0;
	struct hd_error reason;
	const char *name = NULL;
	struct report_finding finding = {
		.member_type = HD_NONE,
		.holder = { .subject = HD_NONE, .root_kind = "none", .name = "the runtime" }
	};
	enum hd_status status = module_list(facts->heap->runtime, &modules, &count, &reason);
	if (status == HD_ERR_NOMEM || status == HD_ERR_CANCELLED) {
		*err = reason;
		return status;
	}
	if (status != HD_OK) {
		rule_lacks(report, "the list of modules cannot be read");
		return HD_OK;
	}
	for (size_t i = 0; i < count; i++) {
		const struct module *module = modules[i];
		if (!is_without_file(facts->heap->runtime, module))
			continue;
		finding.objects++;
		emitted += module->is_dynamic;
		name = name ? name : module->name;
	}
	rule_met(report, finding.objects);
	if (!finding_weigh(report, &of_assemblies, &finding))
		return HD_OK;
	finding_count(&finding, "assemblies", finding.objects);
	finding_count(&finding, "by Reflection.Emit", emitted);
	const char *one = name ? report_text(report, " (one is %s)", name) : "";
	return finding_tell(report, &finding, &of_assemblies, (const char *[]){ one }, err);
}

const struct report_rule assemblies_rule = {
	.name = "assemblies",
	.turn = TURN_DEFECTS,
	.threshold = "100 assemblies that have no file",
	.needs = RULE_FIELDS,
	.is_outside = true,
	.find = find_assemblies,
};
