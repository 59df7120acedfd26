/* SPDX-License-Identifier: MIT */
#include "metadata/pdb.h"
#include "support/assert_more.h"
#include "support/metadata_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

/* Blobs of sequence points (PortablePdb-Metadata.md, "Sequence Points Blob"). */

/*
 * No locals. IL 0: line 10, columns 5 to 9 (0 lines, 4 columns); IL 3: hidden; IL 5: two lines
 * later (signed 2 = 4), column 5 + 8 (signed 8 = 16), 1 line long, column delta -1 (signed:
 * 0x7f); IL 0x85: one line back (signed -1 = 0x7f).
 */
static const uint8_t plain[] = { 0, /**/ 0, 0,    4, 10, 5,         /**/ 3, 0, 0, /**/
				 2, 1,      0x7f, 4, 16, /**/ 0x80, 0x80,   0, 2, 0x7f, 0 };
/* The document is in the blob: 1; then IL 1 line 300 (0x812c); document 2; IL 2. */
static const uint8_t two_documents[] = { 0x11,   1, /**/ 1, 0, 1, 0x81,   0x2c, 7, /**/ 0, 2,
					 /**/ 1, 0, 1,      2, 0, /**/ 0, 1 };

struct scene {
	struct metadata_maker maker;
	uint32_t part_src, part_file;
};

static uint32_t add_document(struct scene *scene, const void *name, size_t size)
{
	struct metadata_maker *maker = &scene->maker;
	uint32_t blob = maker_blob(maker, name, size);
	return MAKER_ROW(maker, MD_DOCUMENT, blob, 0, 0, 0);
}

static void add_method(struct scene *scene, uint32_t document, const void *points, size_t size)
{
	struct metadata_maker *maker = &scene->maker;
	uint32_t blob = size ? maker_blob(maker, points, size) : 0;
	MAKER_ROW(maker, MD_METHOD_DEBUG, document, blob);
}

static void begin(struct scene *scene)
{
	maker_init(&scene->maker);
	scene->maker.is_pdb = true;
	scene->maker.pdb_id = 0xab;
	scene->part_src = maker_blob(&scene->maker, "src", 3);
	scene->part_file = maker_blob(&scene->maker, "Program.cs", 10);
	const uint8_t name[] = { '/', 0, (uint8_t)scene->part_src, (uint8_t)scene->part_file };
	add_document(scene, name, sizeof(name));
	add_document(scene, (const uint8_t[]){ 0, (uint8_t)scene->part_file }, 2);
	add_method(scene, 1, plain, sizeof(plain));
	add_method(scene, 0, two_documents, sizeof(two_documents));
	add_method(scene, 1, NULL, 0);
	scene->maker.referenced[MD_METHOD] = 3;
}

static struct pdb *end(struct scene *scene)
{
	uint32_t size;
	uint8_t *bytes = maker_finish_mem(&scene->maker, &size);
	struct pdb *pdb = NULL;
	struct hd_error err = { 0 };
	if (pdb_create(bytes, size, &pdb, &err) != HD_OK)
		(void)fprintf(stderr, "%s\n", err.message);
	maker_deinit(&scene->maker);
	REQUIRE(pdb);
	return pdb;
}

static void check_point(const struct pdb *pdb, uint32_t method, uint32_t il, uint32_t line,
			uint32_t column)
{
	struct pdb_point point = { 0 };
	CU_ASSERT(pdb_point_at(pdb, method, il, &point));
	ASSERT_UINT(point.line, line);
	ASSERT_UINT(point.column, column);
}

/* Hidden points are left out of the list. */
static void check_list(const struct pdb *pdb)
{
	static const struct pdb_point expected[] = {
		{ .il = 0, .document = 1, .line = 10, .column = 5 },
		{ .il = 5, .document = 1, .line = 12, .column = 13 },
		{ .il = 0x85, .document = 1, .line = 11, .column = 13 },
	};
	struct pdb_points points = { 0 };
	CU_ASSERT_TRUE(pdb_points_read(pdb, 1, &points));
	ASSERT_UINT_FATAL(points.rows_count, 3);
	CU_ASSERT(memcmp(points.rows, expected, sizeof(expected)) == 0);
	CU_ASSERT_TRUE(pdb_points_read(pdb, 2, &points));
	ASSERT_UINT(points.rows_count, 2);
	CU_ASSERT_FALSE(pdb_points_read(pdb, 3, &points));
	ASSERT_UINT(points.rows_count, 0);
	pdb_points_deinit(&points);
}

static void check_all(struct pdb *pdb)
{
	check_list(pdb);
	uint8_t id[PDB_ID_SIZE];
	memset(id, 0xab, sizeof(id));
	CU_ASSERT(memcmp(pdb_id(pdb), id, sizeof(id)) == 0);
	check_point(pdb, 1, 0, 10, 5);
	check_point(pdb, 1, 2, 10, 5);
	check_point(pdb, 1, 4, 10, 5);
	check_point(pdb, 1, 5, 12, 13);
	check_point(pdb, 1, 0x84, 12, 13);
	check_point(pdb, 1, 0x85, 11, 13);
	check_point(pdb, 1, 0x7fffffff, 11, 13);
	check_point(pdb, 2, 1, 300, 7);
	struct pdb_point point = { .line = 77 };
	CU_ASSERT(!pdb_point_at(pdb, 2, 0, &point));
	CU_ASSERT(!pdb_point_at(pdb, 3, 0, &point));
	CU_ASSERT(!pdb_point_at(pdb, 4, 0, &point));
	CU_ASSERT(!pdb_point_at(pdb, 0, 0, &point));
	ASSERT_UINT(point.line, 77);
	CU_ASSERT(pdb_point_at(pdb, 2, 1, &point));
	ASSERT_UINT(point.document, 1);
	CU_ASSERT(pdb_point_at(pdb, 2, 2, &point));
	ASSERT_UINT(point.document, 2);
	ASSERT_UINT(point.line, 301);
	ASSERT_UINT(pdb_method_size(pdb, 1), sizeof(plain));
	ASSERT_UINT(pdb_method_size(pdb, 3), 0);
	ASSERT_TEXT(pdb_document(pdb, 1), "/src/Program.cs");
	ASSERT_TEXT(pdb_document(pdb, 2), "Program.cs");
	CU_ASSERT_PTR_NULL(pdb_document(pdb, 0));
	CU_ASSERT_PTR_NULL(pdb_document(pdb, 3));
}

TEST(points_and_documents_are_read)
{
	struct scene scene;
	begin(&scene);
	struct pdb *pdb = end(&scene);
	check_all(pdb);
	pdb_destroy(pdb);
}

/* LocalScope has an index of MethodDef: with 65,536 of them in the module it has four bytes. */
TEST(widths_follow_the_rows_of_the_module)
{
	struct scene scene;
	begin(&scene);
	MAKER_ROW(&scene.maker, MD_LOCAL_SCOPE, 2, 1, 1, 1, 3, 4);
	MAKER_ROW(&scene.maker, MD_LOCAL_VARIABLE, 0, 5, maker_string(&scene.maker, "count"));
	scene.maker.referenced[MD_METHOD] = 0x10000;
	uint32_t size;
	uint8_t *bytes = maker_finish_mem(&scene.maker, &size);
	maker_deinit(&scene.maker);
	struct metadata *metadata = NULL;
	CU_ASSERT(metadata_create(bytes, size, &metadata, NULL) == HD_OK);
	REQUIRE(metadata);
	ASSERT_UINT(metadata->tables[MD_METHOD].rows, 0);
	ASSERT_UINT(metadata_column(metadata, MD_LOCAL_SCOPE, 1, 0), 2);
	ASSERT_UINT(metadata_column(metadata, MD_LOCAL_SCOPE, 1, 5), 4);
	ASSERT_UINT(metadata_column(metadata, MD_LOCAL_VARIABLE, 1, 1), 5);
	ASSERT_TEXT(metadata_string(metadata, metadata_column(metadata, MD_LOCAL_VARIABLE, 1, 2)),
		    "count");
	metadata_destroy(metadata);
}

static void refuse(uint8_t *bytes, uint32_t size, const char *message)
{
	struct pdb *pdb = NULL;
	struct hd_error err = { 0 };
	CU_ASSERT(pdb_create(bytes, size, &pdb, &err) == HD_ERR_FORMAT);
	CU_ASSERT_PTR_NULL(pdb);
	CU_ASSERT(strstr(err.message, message) != NULL);
}

TEST(metadata_of_a_module_is_refused)
{
	struct scene scene;
	uint32_t size;
	begin(&scene);
	scene.maker.is_pdb = false;
	uint8_t *bytes = maker_finish_mem(&scene.maker, &size);
	refuse(bytes, size, "no stream #Pdb");
	maker_deinit(&scene.maker);
}

TEST(references_to_tables_of_pdbs_are_refused)
{
	struct scene scene;
	uint32_t size;
	begin(&scene);
	scene.maker.referenced[MD_DOCUMENT] = 5;
	uint8_t *bytes = maker_finish_mem(&scene.maker, &size);
	refuse(bytes, size, "tables that modules do not have");
	maker_deinit(&scene.maker);
}

static void check_damaged(const void *points, size_t size, uint32_t il, bool expected)
{
	struct scene scene;
	begin(&scene);
	add_method(&scene, 1, points, size);
	struct pdb *pdb = end(&scene);
	struct pdb_point point;
	CU_ASSERT(pdb_point_at(pdb, 4, il, &point) == expected);
	pdb_destroy(pdb);
}

TEST(damaged_points_have_no_line)
{
	/* The second point is cut off in its columns. */
	static const uint8_t cut[] = { 0, /**/ 0, 0, 4, 10, 5, /**/ 3, 1 };
	check_damaged(cut, sizeof(cut), 0, false);
	/* It is not needed: the third one, which ends the search, comes first. */
	static const uint8_t cut_later[] = {
		0, /**/ 0, 0, 4, 10, 5, /**/ 3, 0, 1, 2, 0, /**/ 3, 1
	};
	check_damaged(cut_later, sizeof(cut_later), 0, true);
	check_damaged(cut_later, sizeof(cut_later), 3, false);
	/* Lines before the first one. */
	static const uint8_t below[] = { 0, /**/ 0, 0, 4, 1, 5, /**/ 1, 0, 1, 0x79, 0 };
	check_damaged(below, sizeof(below), 1, false);
	/* Offsets that do not end: each step is 0x1fffffff. */
	static const uint8_t far[] = { 0,         /**/ 0xdf, 0xff, 0xff, 0xfe, 0, 1, 1, 1,
				       /**/ 0xdf, 0xff,      0xff, 0xff, 0,    1, 0, 0 };
	check_damaged(far, sizeof(far), 0x7fffffff, false);
	/* A number that begins with 0xff is not one. */
	static const uint8_t odd[] = { 0, 0xff };
	check_damaged(odd, sizeof(odd), 0, false);
	/* Only hidden points. */
	static const uint8_t hidden[] = { 0, 0, 0, 0 };
	check_damaged(hidden, sizeof(hidden), 0, false);
	/* A change of the document after the last point is nothing wrong. */
	static const uint8_t trailing[] = { 0, /**/ 0, 0, 4, 10, 5, /**/ 0, 2 };
	check_damaged(trailing, sizeof(trailing), 9, true);
}

static void check_name(const void *name, size_t size, const char *expected)
{
	struct scene scene;
	begin(&scene);
	(void)add_document(&scene, name, size);
	struct pdb *pdb = end(&scene);
	const char *got = pdb_document(pdb, 3);
	CU_ASSERT(expected ? got && !strcmp(got, expected) : !got);
	pdb_destroy(pdb);
}

TEST(names_of_documents_are_bounded)
{
	uint8_t many[3000] = { '/' };
	memset(many + 1, 5, sizeof(many) - 1); /* "Program.cs" each: the second blob of begin() */
	check_name(many, sizeof(many), NULL);
	check_name(many, 3, "Program.cs/Program.cs");
	check_name((const uint8_t[]){ '/', 0x70 }, 2, NULL); /* no blob there that fits */
	check_name((const uint8_t[]){ '/', 0xff }, 2, NULL);
	check_name("", 0, NULL);
	check_name("/", 1, NULL);
}

TEST(each_cut_is_refused_or_read_without_reading_past_the_end)
{
	struct scene scene;
	uint32_t size;
	begin(&scene);
	uint8_t *whole = maker_finish(&scene.maker, &size);
	maker_deinit(&scene.maker);
	for (uint32_t cut = 0; cut < size; cut++) {
		uint8_t *bytes = mem_alloc(cut ? cut : 1, 1);
		REQUIRE(bytes);
		if (cut)
			memcpy(bytes, whole, cut);
		struct pdb *pdb = NULL;
		if (pdb_create(bytes, cut, &pdb, NULL) != HD_OK)
			continue;
		struct pdb_point point;
		if (pdb_point_at(pdb, 1, 5, &point))
			ASSERT_UINT(point.line, 12);
		(void)pdb_document(pdb, 1);
		pdb_destroy(pdb);
	}
	free(whole);
}

/* Scopes of method 1: 0 to 100; in it 10 to 19 and 20 to 29; of method 2: 0 to 100. */
static void add_locals(struct scene *scene)
{
	struct metadata_maker *maker = &scene->maker;
	MAKER_ROW(maker, MD_LOCAL_SCOPE, 1, 1, 1, 1, 0, 100);
	MAKER_ROW(maker, MD_LOCAL_SCOPE, 1, 1, 3, 1, 10, 10);
	MAKER_ROW(maker, MD_LOCAL_SCOPE, 1, 1, 5, 1, 20, 10);
	MAKER_ROW(maker, MD_LOCAL_SCOPE, 2, 1, 6, 1, 0, 100);
	MAKER_ROW(maker, MD_LOCAL_VARIABLE, 0, 0, maker_string(maker, "count"));
	MAKER_ROW(maker, MD_LOCAL_VARIABLE, 0, 2, maker_string(maker, "outer"));
	MAKER_ROW(maker, MD_LOCAL_VARIABLE, 0, 2, maker_string(maker, "inner"));
	MAKER_ROW(maker, MD_LOCAL_VARIABLE, 1, 1, maker_string(maker, "CS$4$0000"));
	MAKER_ROW(maker, MD_LOCAL_VARIABLE, 0, 9, maker_string(maker, "beyond"));
	MAKER_ROW(maker, MD_LOCAL_VARIABLE, 0, 1, maker_string(maker, "other"));
}

#define LOCALS 3u

static void check_locals(const struct pdb *pdb, uint32_t method, uint32_t il,
			 const char *const expected[LOCALS])
{
	const char *names[LOCALS] = { NULL };
	uint64_t budget = 1000;
	CU_ASSERT(pdb_local_names(pdb, method, il, &budget, names, LOCALS));
	for (size_t i = 0; i < LOCALS; i++) {
		CU_ASSERT(!names[i] == !expected[i]);
		if (names[i] && expected[i])
			ASSERT_TEXT(names[i], expected[i]);
	}
}

TEST(locals_have_names_in_their_scopes)
{
	struct scene scene;
	begin(&scene);
	add_locals(&scene);
	struct pdb *pdb = end(&scene);
	check_locals(pdb, 1, 0, (const char *const[]){ "count", NULL, "outer" });
	check_locals(pdb, 1, 9, (const char *const[]){ "count", NULL, "outer" });
	check_locals(pdb, 1, 10, (const char *const[]){ "count", NULL, "inner" });
	check_locals(pdb, 1, 19, (const char *const[]){ "count", NULL, "inner" });
	check_locals(pdb, 1, 20, (const char *const[]){ "count", NULL, "outer" });
	check_locals(pdb, 2, 99, (const char *const[]){ NULL, "other", NULL });
	const char *names[LOCALS] = { NULL };
	uint64_t budget = 1000;
	CU_ASSERT(!pdb_local_names(pdb, 1, 100, &budget, names, LOCALS));
	CU_ASSERT(!pdb_local_names(pdb, 3, 0, &budget, names, LOCALS));
	CU_ASSERT(!pdb_local_names(pdb, 0, 0, &budget, names, LOCALS));
	budget = 2;
	CU_ASSERT(!pdb_local_names(pdb, 1, 10, &budget, names, LOCALS));
	ASSERT_UINT(budget, 0);
	pdb_destroy(pdb);
}

TEST(scopes_have_their_locals)
{
	struct scene scene;
	HD_CLEANUP(pdb_scopes) struct pdb_scopes scopes = { 0 };
	begin(&scene);
	add_locals(&scene);
	struct pdb *pdb = end(&scene);
	uint64_t budget = 1000;
	CU_ASSERT_TRUE_FATAL(pdb_scopes_read(pdb, 1, &budget, &scopes));
	ASSERT_UINT_FATAL(scopes.rows_count, 3);
	ASSERT_UINT(scopes.rows[1].begin, 10);
	ASSERT_UINT(scopes.rows[1].end, 20);
	ASSERT_UINT(scopes.rows[0].locals, 2);
	ASSERT_UINT(scopes.rows[1].locals, 1);
	ASSERT_TEXT(scopes.locals[scopes.rows[1].first_local].name, "inner");
	ASSERT_UINT(scopes.locals[scopes.rows[1].first_local].number, 2);
	CU_ASSERT(!pdb_scopes_read(pdb, 3, &budget, &scopes));
	budget = 2;
	CU_ASSERT(!pdb_scopes_read(pdb, 1, &budget, &scopes));
	ASSERT_UINT(budget, 0);
	pdb_destroy(pdb);
}

TEST(the_signature_of_locals_is_in_front_of_the_points)
{
	struct scene scene;
	begin(&scene);
	struct pdb *pdb = end(&scene);
	uint32_t signature = 77;
	CU_ASSERT(pdb_local_signature(pdb, 2, &signature));
	ASSERT_UINT(signature, two_documents[0]);
	CU_ASSERT(pdb_local_signature(pdb, 1, &signature));
	ASSERT_UINT(signature, 0);
	CU_ASSERT(!pdb_local_signature(pdb, 3, &signature));
	CU_ASSERT(!pdb_local_signature(pdb, 0, &signature));
	pdb_destroy(pdb);
}

/* Catch handler; yield 0x1c, resume 0x30, MoveNext 2; yield 0x1234, resume 0x1300, MoveNext 300. */
static const uint8_t awaits[] = { 0x40, 0,    0, 0, /**/ 0x1c, 0,    0, 0, 0x30, 0,   0, 0, 2, /**/
				  0x34, 0x12, 0, 0, 0,         0x13, 0, 0, 0x81, 0x2c };

static bool await_at(const void *bytes, size_t size, uint8_t kind, uint32_t method, uint32_t state,
		     uint32_t *ret)
{
	static const uint8_t wanted[16] = { 0xc5, 0x2a, 0xfd, 0x54, 0x25, 0xe9, 0x1a, 0x40,
					    0x9c, 0x2a, 0xf9, 0x4f, 0x17, 0x10, 0x72, 0xf8 };
	struct scene scene;
	uint64_t budget = 1000;
	begin(&scene);
	struct metadata_maker *maker = &scene.maker;
	uint32_t guid = maker_guid(maker, 0x11);
	memcpy(maker->guids.bytes + 16 * (size_t)(guid - 1), wanted, 16);
	maker->guids.bytes[16 * (size_t)(guid - 1)] = (uint8_t)(wanted[0] ^ kind);
	uint32_t other = maker_guid(maker, 0x22), blob = maker_blob(maker, bytes, size);
	/* Parents: a TypeDef (tag 3), then MethodDef 2 (tag 0), twice. */
	MAKER_ROW(maker, MD_CUSTOM_DEBUG, 1 << 5 | 3, guid, blob);
	MAKER_ROW(maker, MD_CUSTOM_DEBUG, 2 << 5, other, blob);
	MAKER_ROW(maker, MD_CUSTOM_DEBUG, 2 << 5, guid, blob);
	struct pdb *pdb = end(&scene);
	bool is_found = pdb_await_at(pdb, method, state, &budget, ret);
	pdb_destroy(pdb);
	return is_found;
}

TEST(awaits_have_a_place_in_il)
{
	uint32_t il = 77;
	CU_ASSERT(!await_at(awaits, sizeof(awaits), 0, 2, 2, &il));
	CU_ASSERT(!await_at(awaits, sizeof(awaits), 0, 1, 0, &il));
	CU_ASSERT(!await_at(awaits, sizeof(awaits), 0, 0x8000000, 0, &il));
	CU_ASSERT(!await_at(awaits, sizeof(awaits), 1, 2, 0, &il));
	CU_ASSERT(!await_at(awaits, 3, 0, 2, 0, &il));
	CU_ASSERT(!await_at(awaits, sizeof(awaits) - 1, 0, 2, 1, &il));
	ASSERT_UINT(il, 77);
	CU_ASSERT(await_at(awaits, sizeof(awaits), 0, 2, 0, &il));
	ASSERT_UINT(il, 0x1c);
	CU_ASSERT(await_at(awaits, sizeof(awaits), 0, 2, 1, &il));
	ASSERT_UINT(il, 0x1234);
}

SUITE(.name = "pdb")
