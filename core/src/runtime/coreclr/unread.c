/* SPDX-License-Identifier: MIT */
/* Runtimes that are known by name, and whose heaps are not read. */
#include "runtime/coreclr/unread.h"

#include <string.h>

#include "runtime/coreclr/features.h"
#include "targets/target_modules.h"
#include "util/text.h"

enum hd_status fail_old_release(const struct target *target, const char *version, size_t length,
				struct hd_error *err)
{
	bool is_known = length > 0 && length < 32;
	/* Since .NET Core 3.0 a process sends the events that a .gcdump is made of. */
	const char *advice = target->kind == TARGET_CORE
				     ? "dotnet-dump or ClrMD reads its cores; of a process, "
				       "heapdump collect makes a .gcdump that it reads"
				     : "heapdump collect PID -o FILE.gcdump works, and "
				       "heapdump reads that file";
	return fail(err, HD_ERR_UNSUPPORTED, 0,
		    "this is %s%.*s, whose heap is not read (heapdump reads .NET %u to %u): %s",
		    is_known ? ".NET " : "probably a .NET Core older than .NET 5",
		    is_known ? (int)length : 0, version, coreclr_releases[0].major,
		    coreclr_releases[CORECLR_RELEASES - 1].major, advice);
}

static bool is_mono(const char *path)
{
	static const char *const libraries[] = { "libmonosgen-2.0.so", "libmonoboehm-2.0.so",
						 "libmono-2.0.so" };
	static const char *const programs[] = { "mono", "mono-sgen", "mono-boehm" };
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strcmp(name, programs[i]) == 0)
			return true;
	}
	return false;
}

/* The Mono of .NET is a libcoreclr.so, too. */
static bool exports_mono(const struct target *target, const struct target_module *module)
{
	uint64_t address = 0;
	return target_symbol(target, module, "mono_jit_exec", &address, NULL);
}

const struct target_module *find_mono(const struct target *target, const struct target_module *clr)
{
	if (clr && exports_mono(target, clr))
		return clr;
	for (size_t i = 0; i < target->module_count; i++) {
		if (is_mono(target->modules[i].path))
			return &target->modules[i];
	}
	return NULL;
}

enum hd_status fail_mono(const struct target_module *module, struct hd_error *err)
{
	return fail(err, HD_ERR_UNSUPPORTED, module->base,
		    "a program of Mono (%s), whose heap is not read: Mono's own profiler "
		    "(mono --profile=log:heapshot) shows it",
		    module->path);
}
