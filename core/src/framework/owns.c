/* SPDX-License-Identifier: MIT */
#include "framework/owns.h"

#include <string.h>

#include "mem/memory.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "runtime/type.h"

/* Column of the table Assembly (ECMA-335, II.22.2), and the least size of an RSA key. */
#define ASSEMBLY_KEY 6u
#define KEY_SIZE     160u
#define ECMA_SIZE    16u

/* Namespaces of the framework as a whole, for names without a module; what follows is a dot, a plus, or nothing. */
static const char *const namespaces[] = {
	"System",
	"Interop",
	"Internal.Console",
	"Internal.Cryptography",
	"Internal.Runtime",
	"MS.Internal",
	"Windows",
	"Microsoft.AspNetCore",
	"Microsoft.CSharp",
	"Microsoft.CodeAnalysis",
	"Microsoft.Data.Sqlite",
	"Microsoft.DotNet",
	"Microsoft.EntityFrameworkCore",
	"Microsoft.Extensions",
	"Microsoft.IO",
	"Microsoft.JSInterop",
	"Microsoft.NET",
	"Microsoft.Net",
	"Microsoft.Quic",
	"Microsoft.VisualBasic",
	"Microsoft.Win32",
};

/* Beginnings of what has no namespace: what the compiler and the runtime make. */
static const char *const made[] = { "<Private", "ILStubClass", "DynamicClass" };

/* The last 8 bytes of the public keys that the framework's assemblies are signed with. */
static const uint64_t keys[] = {
	0xab373b125c30b485, /* 7cec85d7bea7798e, System.Private.CoreLib */
	0x93d25a4d3493c06d, /* b03f5f7f11d50a3a, most of System */
	0xcb382bd2bed9051d, /* cc7b13ffcd2ddd51, the rest of it */
	0xbbd22a879d1c8907, /* adb9793829ddae60, ASP.NET Core, extensions, Entity Framework */
	0xa95d0508c3f52b65, /* 31bf3856ad364e35, WPF */
};

static bool begins(const char *name, size_t size, const char *begin)
{
	size_t length = strlen(begin);
	return size >= length && memcmp(name, begin, length) == 0;
}

static bool is_made(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		if (begins(name, size, made[i]))
			return true;
	}
	return false;
}

static bool is_in_namespace(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++) {
		size_t length = strlen(namespaces[i]);
		if (begins(name, size, namespaces[i]) &&
		    (size == length || name[length] == '.' || name[length] == '+'))
			return true;
	}
	return false;
}

enum module_owner framework_owner_of_file(const char *path)
{
	if (!path || !*path)
		return OWNER_UNKNOWN;
	const char *slash = strrchr(path, '/'), *windows = strrchr(path, '\\');
	const char *file = slash > windows ? slash + 1 : windows ? windows + 1 : path;
	const char *shared = strstr(path, "shared");
	/* shared/Microsoft.NETCore.App/10.0.0/System.Private.CoreLib.dll */
	if (shared && shared > path && (shared[-1] == '/' || shared[-1] == '\\') &&
	    (shared[6] == '/' || shared[6] == '\\') && strncmp(shared + 7, "Microsoft.", 10) == 0) {
		size_t folder = strcspn(shared + 7, "/\\");
		if (folder > 4 && memcmp(shared + 7 + folder - 4, ".App", 4) == 0)
			return OWNER_FRAMEWORK;
	}
	size_t size = strlen(file);
	if (size > 4 && file[size - 4] == '.')
		size -= 4;
	bool is_facade = (size == 8 && memcmp(file, "mscorlib", 8) == 0) ||
			 (size == 11 && memcmp(file, "netstandard", 11) == 0) ||
			 (size == 11 && memcmp(file, "WindowsBase", 11) == 0);
	return is_facade || is_in_namespace(file, size) ? OWNER_FRAMEWORK : OWNER_PROGRAM;
}

/* By the key that the assembly is signed with. */
static enum module_owner owner_of_key(const struct metadata *metadata)
{
	uint32_t size;
	if (!metadata->tables[MD_ASSEMBLY].rows)
		return OWNER_UNKNOWN;
	const uint8_t *key = metadata_blob(
		metadata, metadata_column(metadata, MD_ASSEMBLY, 1, ASSEMBLY_KEY), &size);
	if (size == ECMA_SIZE)
		return OWNER_FRAMEWORK; /* b77a5c561934e089 */
	for (size_t i = 0; size >= KEY_SIZE && i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (load_u64(key + size - 8) == keys[i])
			return OWNER_FRAMEWORK;
	}
	return OWNER_PROGRAM;
}

static enum module_owner owner_of_module(const struct module *module)
{
	enum module_owner owner = module->metadata ? owner_of_key(module->metadata) : OWNER_UNKNOWN;
	return owner != OWNER_UNKNOWN ? owner : framework_owner_of_file(module->path);
}

/* The module of an array is that of its elements. */
static enum module_owner owner_of_type(struct runtime *runtime, const struct type *type)
{
	const struct module *module = module_find(runtime, type_home_module(runtime, type));
	return module ? owner_of_module(module) : OWNER_UNKNOWN;
}

bool framework_owns_type(struct runtime *runtime, const struct type *type)
{
	size_t size;
	const char *name = type_name(runtime, type, &size);
	if (is_made(name, size))
		return true;
	enum module_owner owner = owner_of_type(runtime, type);
	return owner == OWNER_UNKNOWN ? is_in_namespace(name, size) : owner == OWNER_FRAMEWORK;
}

/* The loaded type that a name begins with, up to any of its last dots. */
static const struct type *type_of_name(struct runtime *runtime, const char *name, size_t size)
{
	char buf[512];
	const struct type *type = NULL;
	if (size >= sizeof(buf))
		return NULL;
	memcpy(buf, name, size);
	buf[size] = '\0';
	for (unsigned int i = 0; i < 2 && !type; i++) {
		type = type_by_name(runtime, buf, 0);
		char *dot = strrchr(buf, '.');
		if (!dot)
			break;
		*dot = '\0';
	}
	return type;
}

bool framework_owns(struct runtime *runtime, const char *name, size_t size)
{
	if (is_made(name, size))
		return true;
	const struct type *type = runtime ? type_of_name(runtime, name, size) : NULL;
	return type ? framework_owns_type(runtime, type) : is_in_namespace(name, size);
}

/* The module with Main; NULL: not known. */
static const struct module *main_module(struct runtime *runtime)
{
	struct module *const *modules;
	size_t count;
	if (module_list(runtime, &modules, &count, NULL) != HD_OK)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (!modules[i]->is_dynamic && owner_of_module(modules[i]) == OWNER_PROGRAM)
			return module_find(runtime, modules[i]->address);
	}
	return NULL;
}

/* The first word of the name of its assembly: "Shop" of "Shop.Web". */
static const char *first_word(const struct module *module, size_t *size)
{
	const char *name = module->name ? module->name : "";
	*size = strcspn(name, ".");
	return name;
}

static bool is_of_program(struct runtime *runtime, const struct module *module)
{
	const struct module *first = main_module(runtime);
	size_t size, other;
	if (!first || !module || first == module)
		return true;
	const char *word = first_word(first, &size), *begin = first_word(module, &other);
	return size && size == other && memcmp(word, begin, size) == 0;
}

bool program_owns_module(struct runtime *runtime, const struct module *module)
{
	return !module->is_dynamic && owner_of_module(module) != OWNER_FRAMEWORK &&
	       is_of_program(runtime, module);
}

enum code_owner code_owner_of_type(struct runtime *runtime, const struct type *type)
{
	if (framework_owns_type(runtime, type))
		return CODE_OF_FRAMEWORK;
	return is_of_program(runtime, module_find(runtime, type_home_module(runtime, type)))
		       ? CODE_OF_PROGRAM
		       : CODE_OF_LIBRARY;
}

enum code_owner code_owner_of_method(struct runtime *runtime, uint64_t method_desc)
{
	struct method method;
	if (!method_read(runtime, method_desc, &method))
		return CODE_OF_PROGRAM;
	if (method.type)
		return code_owner_of_type(runtime, method.type);
	return is_of_program(runtime, method.module) ? CODE_OF_PROGRAM : CODE_OF_LIBRARY;
}
