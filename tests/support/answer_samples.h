/* SPDX-License-Identifier: MIT */
/* Answers for the tests of their renderers: all that an answer may hold. */
#pragma once

#include "answer/answering.h"

/** Columns of sample_pet_schema. */
enum pet_column {
	PET_ADDRESS,
	PET_NAME,
	PET_KIND,
	PET_LEGS,
	PET_DEBT,
	PET_HOME_STREET,
	PET_HOME_NUMBER,
	PET_NOTE,
	PET_OWNER_NAME,
	PET_OWNER_AGE,
	PET_TRAITS,
	PET_CHIP,
	PET_COLUMNS
};

/** The main table of samples, and tables of its rows. */
extern const struct schema sample_pet_schema, sample_toy_schema, sample_nickname_schema;

/** One pet with a table and a list in its row, one without a name, and one too many; a record and a list. */
void sample_pets(struct answer *answer);
/** A view of text only, with a table in it; an object around a record and a table; and no record. */
void sample_shapes(struct answer *answer);
/** A list whose values are of several kinds, of which one is absent; a row of it that holds a record. */
void sample_list(struct answer *answer);
