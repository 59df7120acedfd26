/* SPDX-License-Identifier: MIT */
/* covers: core/src/metadata/pdb.c core/src/metadata/metadata.c */
#include <stdlib.h>
#include <string.h>

#include "linear.h"
#include "metadata/pdb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define METHODS_MAX   300u
#define DOCUMENTS_MAX 300u
#define LOCALS_MAX    30u
#define BUDGET        (1u << 20)

/* Names and awaits: within the budget, and with no number that was not asked for. */
static void read_names(const struct pdb *pdb, uint32_t method, uint32_t place, uint64_t *budget)
{
	const char *names[LOCALS_MAX + 1] = { NULL };
	uint64_t before = *budget;
	uint32_t value;
	(void)pdb_local_names(pdb, method, place, budget, names, LOCALS_MAX);
	(void)pdb_await_at(pdb, method, place, budget, &value);
	(void)pdb_local_signature(pdb, method, &value);
	if (*budget > before || names[LOCALS_MAX])
		abort();
	for (size_t i = 0; i < LOCALS_MAX; i++) {
		if (names[i] && !*names[i])
			abort();
	}
}

static void read_pdb(struct pdb *pdb)
{
	struct pdb_point point;
	uint64_t budget = BUDGET;
	for (uint32_t method = 0; method < METHODS_MAX; method++) {
		/* A later place never has an earlier point, nor a place a point after it. */
		uint32_t before = 0;
		static const uint32_t places[] = { 0, 1, 7, 100, 5000, UINT32_MAX };
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			read_names(pdb, method, places[i], &budget);
			if (!pdb_point_at(pdb, method, places[i], &point))
				continue;
			if (point.il > places[i] || point.il < before ||
			    !pdb_method_size(pdb, method))
				abort();
			before = point.il;
			const char *name = pdb_document(pdb, point.document);
			if (name && !*name)
				abort();
		}
	}
	for (uint32_t i = 0; i < DOCUMENTS_MAX; i++)
		(void)pdb_document(pdb, i);
}

/* Any bytes as a portable PDB: no crash, no hang, nothing out of bounds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = size <= UINT32_MAX ? mem_alloc(size ? size : 1, 1) : NULL;
	struct pdb *pdb = NULL;
	if (!bytes)
		return 0;
	if (size)
		memcpy(bytes, data, size);
	struct linear linear = linear_begin(size);
	if (pdb_create(bytes, (uint32_t)size, &pdb, NULL) == HD_OK) {
		read_pdb(pdb);
		pdb_destroy(pdb);
	}
	linear_end(&linear, "pdb");
	return 0;
}
