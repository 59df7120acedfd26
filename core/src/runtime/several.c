/* SPDX-License-Identifier: MIT */
#include "runtime/several.h"

#include <string.h>

#include "runtime/descriptor.h"
#include "runtime/runtime_base.h"
#include "targets/target.h"
#include "targets/target_modules.h"
#include "util/findings.h"
#include "util/text.h"

/* Most runtimes that are told of, and most modules that are looked at. */
#define RUNTIMES_TOLD    8u
#define MODULES_SEEN_MAX 4096u

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool runtime_is_meant(const struct target *target, const struct target_module *module)
{
	const char *name = target->options.runtime;
	return !name || strcmp(name, module->path) == 0 ||
	       strcmp(name, file_name(module->path)) == 0;
}

/* The kind of the runtime whose descriptor is there. */
static const char *described_kind(const struct target *target, const struct target_module *module,
				  uint64_t address)
{
	struct descriptor *descriptor = NULL;
	struct hd_error err;
	bool is_aot = false;
	if (descriptor_read(target, module, address, &descriptor, &err) == HD_OK) {
		const char *flavor = descriptor_text(descriptor, "RuntimeFlavor");
		is_aot = flavor && strcmp(flavor, "NativeAot") == 0;
	}
	descriptor_destroy(descriptor);
	return is_aot ? "NativeAOT" : "CoreCLR";
}

/* The kind of the runtime in a module; NULL: it has none. */
static const char *kind_of(const struct target *target, const struct target_module *module)
{
	uint64_t address = 0;
	if (target_symbol(target, module, "g_dacTable", &address, NULL))
		return "CoreCLR";
	if (target_symbol(target, module, "DotNetRuntimeDebugHeader", &address, NULL))
		return "NativeAOT";
	return target_symbol(target, module, "DotNetRuntimeContractDescriptor", &address, NULL)
		       ? described_kind(target, module, address)
		       : NULL;
}

struct found_runtime {
	const struct target_module *module;
	const char *kind;
};

static size_t find_all(const struct target *target, struct found_runtime ret[RUNTIMES_TOLD])
{
	size_t count = 0;
	for (size_t i = 0;
	     i < target->module_count && i < MODULES_SEEN_MAX && count < RUNTIMES_TOLD; i++) {
		const char *kind = kind_of(target, &target->modules[i]);
		if (kind)
			ret[count++] = (struct found_runtime){ &target->modules[i], kind };
	}
	return count;
}

/* The shortest text that means only this one. */
static const char *name_of(const struct found_runtime *all, size_t count, size_t index)
{
	const char *path = all[index].module->path, *name = file_name(path);
	for (size_t i = 0; i < count; i++) {
		if (i != index && strcmp(file_name(all[i].module->path), name) == 0)
			return path;
	}
	return name;
}

void runtime_report_others(const struct runtime *runtime)
{
	struct target *target = runtime->target;
	struct found_runtime all[RUNTIMES_TOLD];
	size_t count = find_all(target, all);
	for (size_t i = 0; i < count; i++) {
		if (runtime->path && strcmp(all[i].module->path, runtime->path) == 0)
			continue;
		findings_add(&target->findings, FINDING_OTHER_RUNTIME, NULL,
			     "there is another .NET runtime, of which nothing is shown: %s in %s; "
			     "the option --runtime %s, or the setting runtime, chooses it",
			     all[i].kind, all[i].module->path, name_of(all, count, i));
	}
}

enum hd_status runtime_fail_name(const struct target *target, struct hd_error *err)
{
	HD_CLEANUP(text) struct text list = { 0 };
	struct found_runtime all[RUNTIMES_TOLD];
	size_t count = find_all(target, all);
	for (size_t i = 0; i < count; i++) {
		text_printf(&list, "%s%s (%s)", i ? ", " : "", name_of(all, count, i), all[i].kind);
	}
	return fail(err, HD_ERR_ARGUMENT, 0,
		    "no .NET runtime in a module with the name \"%.200s\" (runtime): %s%s",
		    target->options.runtime, count ? "there are " : "no other was found",
		    list.bytes ? list.bytes : "");
}
