/* SPDX-License-Identifier: MIT */
#pragma once

#include "metadata/metadata.h"

/*
 * Portable PDBs (doc/coreclr.md 12.14; dotnet/runtime: docs/design/specs/PortablePdb-Metadata.md):
 * metadata with a stream #Pdb and tables of documents and sequence points.
 */

/** Bytes of the id: a GUID and a time stamp, as in the CodeView entry of the module. */
#define PDB_ID_SIZE 20u

struct pdb;

/**
 * Read a portable PDB.
 *
 * @param bytes Owned by the PDB from now on (mem_free()), also on failure.
 * @param[out] ret To be given to pdb_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_FORMAT it is not a portable PDB, or damaged
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status pdb_create(uint8_t *bytes, uint32_t size, struct pdb **ret,
				       struct hd_error *err);
/** NULL is allowed. */
void pdb_destroy(struct pdb *pdb);

/** Its id, PDB_ID_SIZE bytes.  Borrowed. */
const uint8_t *pdb_id(const struct pdb *pdb);

/** Where a piece of IL comes from. */
struct pdb_point {
	uint32_t il;       /**< offset in the method's IL where it begins */
	uint32_t document; /**< RID of the Document */
	uint32_t line;     /**< from 1 */
	uint32_t column;   /**< from 1 */
};

/**
 * The last sequence point of MethodDef @p method at or before @p il that has a line (hidden ones
 * have none).
 *
 * Cost: linear in pdb_method_size().
 * @return false when there is none, or when the method's points are damaged before @p il
 */
bool pdb_point_at(const struct pdb *pdb, uint32_t method, uint32_t il, struct pdb_point *ret);

/** The sequence points of a method that have a line, by their IL; reused for the next. */
struct pdb_points {
	struct pdb_point *rows;
	size_t rows_count, rows_capacity;
	bool failed; /**< memory is exhausted */
};
void pdb_points_deinit(struct pdb_points *points);

/**
 * Read them; where they are damaged, those before that place.  Cost: linear in pdb_method_size().
 *
 * @return false when there are none, or memory is exhausted
 */
bool pdb_points_read(const struct pdb *pdb, uint32_t method, struct pdb_points *ret);

/** Bytes of the sequence points of MethodDef @p method; 0: it has none. */
uint32_t pdb_method_size(const struct pdb *pdb, uint32_t method);

/**
 * The names of the locals that are in scope at @p il of MethodDef @p method, by their number; one
 * of an inner scope comes before that of an outer one.
 *
 * @param[in,out] budget Rows that may be read, of which those that were are taken off.
 * @param[in,out] names Those of other numbers stay as they are.  Borrowed from the PDB.
 * @return false when the PDB has no scope of the method there, or the budget is spent
 */
bool pdb_local_names(const struct pdb *pdb, uint32_t method, uint32_t il, uint64_t *budget,
		     const char **names, size_t count);

/** A block of the source that has locals of its own. */
struct pdb_scope {
	uint32_t begin, end;          /**< offsets in the method's IL */
	uint32_t first_local, locals; /**< rows of the list of locals */
};

/** A local of a scope. */
struct pdb_local {
	uint32_t number;
	const char *name; /**< borrowed from the PDB */
};

/** The scopes of a method by where they begin, outer ones first, and their locals; reused for the next. */
struct pdb_scopes {
	struct pdb_scope *rows;
	size_t rows_count, rows_capacity;
	struct pdb_local *locals;
	size_t locals_count, locals_capacity;
	bool failed; /**< memory is exhausted */
};
void pdb_scopes_deinit(struct pdb_scopes *scopes);

/**
 * Read those of MethodDef @p method; locals that are not for people are left out.
 *
 * @param[in,out] budget Rows that may be read, of which those that were are taken off.
 * @return false when there are none, the budget is spent, or memory is exhausted
 */
bool pdb_scopes_read(const struct pdb *pdb, uint32_t method, uint64_t *budget,
		     struct pdb_scopes *ret);

/**
 * RID of the StandAloneSig of the locals of MethodDef @p method; 0: it has none.
 *
 * @return false when the PDB has nothing about the method; *@p ret is untouched
 */
bool pdb_local_signature(const struct pdb *pdb, uint32_t method, uint32_t *ret);

/**
 * Where the method MoveNext @p method of an async method waits in state @p state: the offset in
 * its IL.
 *
 * @param[in,out] budget Bytes that may be read, of which those that were are taken off.
 * @return false when the PDB does not say it, or is damaged; *@p ret is untouched
 */
bool pdb_await_at(const struct pdb *pdb, uint32_t method, uint32_t state, uint64_t *budget,
		  uint32_t *ret);

/**
 * The path of Document @p document, as the compiler saw it; NULL when it is damaged, or when memory
 * is exhausted.  Borrowed from the PDB; may hold any bytes except NUL.  It is made once.
 */
const char *pdb_document(struct pdb *pdb, uint32_t document);
