/* SPDX-License-Identifier: MIT */
#include "framework/facts.h"

#include "framework/offsets/net_layout.h"

static const struct net_assembly_row assemblies[ASSEMBLIES] = {
#define X(id, name, origin) [ASSEMBLY_##id] = { name, origin },
	FRAMEWORK_ASSEMBLIES(X)
#undef X
};

static const struct net_type_row types[NET_TYPES] = {
#define X(id, name, assembly, first, last) \
	[NET_##id] = { name, ASSEMBLY_##assembly, { first, last } },
	FRAMEWORK_TYPES(X)
#undef X
};

static const struct fact_row facts[FACTS] = {
#define X(id, type, path, first, last) [FACT_##id] = { path, NET_##type, { first, last } },
	FRAMEWORK_FIELDS(X)
#undef X
};

const struct net_assembly_row *net_assembly_row(enum framework_assembly assembly)
{
	return &assemblies[assembly];
}

const struct net_type_row *net_type_row(enum net_type type)
{
	return &types[type];
}

const struct fact_row *fact_row(enum fact fact)
{
	return &facts[fact];
}

enum net_type net_type_main(enum net_type type)
{
	switch (type) {
#define X(id, main)    \
	case NET_##id: \
		return NET_##main;
		FRAMEWORK_TYPE_ALTERNATIVES(X)
#undef X
	default:
		return type;
	}
}

enum fact fact_main(enum fact fact)
{
	switch (fact) {
#define X(id, main)     \
	case FACT_##id: \
		return FACT_##main;
		FRAMEWORK_FIELD_ALTERNATIVES(X)
#undef X
	default:
		return fact;
	}
}

const char *net_type_name(enum net_type type)
{
	return types[type].name;
}

bool net_type_is(enum net_type type, const char *name, size_t size)
{
	return net_name_is(types[type].name, name, size);
}
