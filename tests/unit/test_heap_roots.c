/* SPDX-License-Identifier: MIT */
/* Asks commands about roots of a heap: a graph made by hand, with all that is known of them. */
#include "format/format.h"
#include "output/root_label.h"
#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

static struct hd_session *session;

/* 0 -> 1 -> 2 -> 3, and 4, which is dead; 1 is old. */
static const struct made_edge edges[] = { { 0, 1 }, { 1, 2 }, { 2, 3 } };
static const uint32_t types[] = { 0, 1, 1, 2, 2 };

#define ROOT(n, k, f, c)                                                         \
	{                                                                        \
		.node = (n), .container = (c), .kind = HD_ROOT_##k, .flags = (f) \
	}
static const struct graph_root roots[] = {
	ROOT(2, STACK, 0, HD_NONE),
	ROOT(2, STACK, HD_ROOT_INTERIOR, HD_NONE),
	ROOT(3, STACK, HD_ROOT_CONSERVATIVE, HD_NONE),
	ROOT(3, STACK, 0, HD_NONE),
	ROOT(3, STACK, 0, HD_NONE),
	ROOT(1, HANDLE, HD_ROOT_PINNED, HD_NONE),
	ROOT(3, HANDLE, HD_ROOT_WEAK, HD_NONE),
	ROOT(0, STATIC, 0, 0),
	ROOT(3, THREAD_STATIC, 0, 0),
	ROOT(3, FINALIZER, 0, HD_NONE),
	ROOT(3, INTERNAL, 0, HD_NONE),
	ROOT(3, GC, 0, HD_NONE),
};
#define ROOTS (sizeof(roots) / sizeof(roots[0]))

static const struct graph_root_detail details[ROOTS] = {
	{ 0x7fff10, NULL, "rbp-30", 0, 0, 0 },
	{ 0x7fff18, NULL, "rbp-28", 0, 0, 0 },
	{ 0x7fff20, NULL, "rsp+8", 0, 1, 0 },
	{ 0, NULL, "rbx", 1, 2, 0 },
	{ 0x7fff30, NULL, NULL, 1, HD_NONE, 0 },
	{ 0x500, NULL, NULL, HD_NONE, HD_NONE, GRAPH_HANDLE_PINNED },
	{ 0x508, NULL, NULL, HD_NONE, HD_NONE, GRAPH_HANDLE_WEAK_SHORT },
	{ 0x600, "Shop.Program.s_all", NULL, HD_NONE, HD_NONE, 0 },
	{ 0x700, "Shop.Program.t_last", NULL, 0, HD_NONE, 0 },
	{ 0x800, NULL, NULL, HD_NONE, HD_NONE, 0 },
	{ 0x900, "last thrown exception", NULL, 1, HD_NONE, GRAPH_HANDLE_STRONG },
	{ 0, NULL, NULL, HD_NONE, HD_NONE, 0 },
};

static const struct graph_thread threads[] = { { 0x4b94, 5, "worker\n1" }, { 0x4b95, 6, NULL } };
static const struct graph_frame frames[] = {
	{ 0x7fff00, 0x1234, "Shop.Program.Run(System.Int32)", 0x1b, 0, 0 },
	{ 0x7fff80, 0, "InlinedCallFrame", 0, 0, 0 },
	{ 0x7fffa0, 0x5678, "Shop.Program.Main()", 0, 0, 1 },
};

static void link_of(const void *arg, uint32_t from, uint32_t to, struct text *text)
{
	(void)arg;
	if (from == 1) {
		text_puts(text, " (dependent handle)");
	} else {
		text_printf(text, from == 0 ? "._items[%u]" : ".next", to);
	}
}

static uint64_t id_of(const void *arg, uint32_t node)
{
	(void)arg;
	(void)node;
	return 0; /* the graph has ids */
}

static unsigned int generation_of(const void *arg, uint32_t node)
{
	(void)arg;
	return node <= 1 ? 2 : 0;
}

static void *copy(const void *from, size_t count, size_t size)
{
	void *to = pages_alloc(count, size);
	REQUIRE(to);
	memcpy(to, from, count * size);
	return to;
}

static void set_up(void)
{
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = 5,
								  .type_count = 3,
								  .types = types,
								  .edges = edges,
								  .edge_count = 3,
								  .roots = roots,
								  .root_count = ROOTS });
	REQUIRE(graph);
	graph->origins.details = copy(details, ROOTS, sizeof(*details));
	graph->origins.threads = copy(threads, 2, sizeof(*threads));
	graph->origins.frames = copy(frames, 3, sizeof(*frames));
	graph->origins.thread_count = 2;
	graph->origins.frame_count = 3;
	graph->places.id = id_of; /* a heap's */
	graph->places.link = link_of;
	graph->places.generation = generation_of;
	CU_ASSERT_EQUAL(hd_session_create(&session, NULL), HD_OK);
	session->graph = graph;
	session->format = &rpm_format;
	session->path = mem_strndup("made", 4);
}

static void tear_down(void)
{
	hd_session_destroy(session);
}

static void check(const char *line, int status, const char *text)
{
	struct answer answer = command_run(session, line);
	CU_ASSERT_EQUAL(answer.status, status);
	ASSERT_TEXT(answer.err.message, "");
	ASSERT_TEXT(answer_text(&answer), text);
	answer_deinit(&answer);
}

static void check_has(const char *line, const char *part)
{
	struct answer answer = command_run(session, line);
	const char *text = answer.err.status ? answer.err.message : answer_text(&answer);
	if (!strstr(text, part))
		(void)printf("%s: \"%s\" lacks \"%s\"\n", line, text, part);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
	answer_deinit(&answer);
}

#define STACKS                                                  \
	"Thread 4b94 (managed 5) \"worker\\u000a1\":\n"         \
	"    7fff00 1234 Shop.Program.Run(System.Int32)+0x1b\n" \
	"        rbp-30: 00000000007fff10\n"                    \
	"        rbp-28: 00000000007fff18 (interior)\n"         \
	"          -> 1020             Type1 .next\n"           \
	"          -> 1030             Type2\n"                 \
	"\n"                                                    \
	"    7fff80 [InlinedCallFrame]\n"                       \
	"        rsp+8: 00000000007fff20 (conservative)\n"      \
	"          -> 1030             Type2\n"                 \
	"\n"                                                    \
	"Thread 4b95 (managed 6):\n"                            \
	"    7fffa0 5678 Shop.Program.Main()\n"                 \
	"        rbx:\n"                                        \
	"          -> 1030             Type2\n"                 \
	"\n"                                                    \
	"    (no frame)\n"                                      \
	"        00000000007fff30\n"                            \
	"          -> 1030             Type2\n"                 \
	"\n"

TEST(every_kind_of_root_has_its_form)
{
	check("gcroot 1030 -limit 100", HD_EXIT_OK,
	      STACKS
	      "HandleTable:\n"
	      "    0000000000000500 (pinned handle)\n"
	      "          -> 1010             Type1 (dependent handle)\n"
	      "          -> 1020             Type1 (continues at 1020 above)\n"
	      "\n"
	      "Static variables:\n"
	      "    0000000000000600 Shop.Program.s_all (static variable)\n"
	      "          -> 1000             Type0 ._items[1]\n"
	      "          -> 1010             Type1 (continues at 1010 above)\n"
	      "\n"
	      "Thread static variables:\n"
	      "    0000000000000700 Shop.Program.t_last (thread static variable, Thread 4b94 "
	      "(managed 5) \"worker\\u000a1\")\n"
	      "          -> 1030             Type2\n"
	      "\n"
	      "Finalizer queue:\n"
	      "    0000000000000800 (finalizer root)\n"
	      "          -> 1030             Type2\n"
	      "\n"
	      "Frozen objects:\n"
	      "    (frozen object)\n"
	      "          -> 1030             Type2\n"
	      "\n"
	      "Runtime:\n"
	      "    0000000000000900 last thrown exception (strong handle, Thread 4b95 (managed 6))\n"
	      "          -> 1030             Type2\n"
	      "\n"
	      "Weak roots (they keep nothing alive)\n"
	      "HandleTable:\n"
	      "    0000000000000508 (weak short handle)\n"
	      "          -> 1030             Type2\n"
	      "\n"
	      "Found 11 unique roots.\n");
	check("gcroot 1040", HD_EXIT_FINDINGS,
	      "Found 0 unique roots.\nNothing keeps 1040 alive: it is dead.\n");
}

TEST(a_young_collection_begins_at_older_objects)
{
	check("gcroot 1020 -gcgen 0 -nostacks", HD_EXIT_OK,
	      "Older generations:\n"
	      "    0000000000001010 (generation 2)\n"
	      "          -> 1010             Type1 (dependent handle)\n"
	      "          -> 1020             Type1\n"
	      "\n"
	      "Found 1 unique roots.\n"
	      "Left out by -nostacks: 2 stack roots that reach 1020.\n");
	check("gcroot 1040 -gcgen 1", HD_EXIT_FINDINGS,
	      "Found 0 unique roots.\n"
	      "A collection of generation 1 finds nothing that keeps 1040 alive: it would free "
	      "it.\n");
	check_has("gcroot 1020 -gcgen 2", "Found 4 unique roots");
	check_has("gcroot 1020 -gcgen 0 --json",
		  "{\"kind\": \"older\", \"handle\": null, \"flags\": [], \"name\": null");
	check("gcroot 1010 -gcgen 0", HD_EXIT_OK,
	      "1010 is in generation 2: a collection of generation 0 does not touch it.\n");
	check_has(
		"gcroot 1010 -gcgen 0 --json",
		"\"object\": \"0x1010\", \"reachable\": true, \"left_alone\": true, \"found\": 0");
}

TEST(json_has_what_is_known)
{
	check_has(
		"gcroot 1020 --json",
		"{\"kind\": \"stack\", \"handle\": null, \"flags\": [\"interior\"], \"name\": null, "
		"\"container\": null, \"address\": \"0x7fff18\", \"object\": \"0x1020\", "
		"\"thread\": {\"id\": 5, \"os_id\": 19348, \"name\": \"worker\\u000a1\"}, "
		"\"frame\": \"Shop.Program.Run(System.Int32)+0x1b\", \"slot\": \"rbp-28\", "
		"\"weak\": false, \"path\": [{\"address\": \"0x1020\", \"type\": \"Type1\", "
		"\"size\": 40, \"via\": null}]}");
	check_has("gcroot 1020 --json",
		  "{\"kind\": \"handle\", \"handle\": \"pinned\", \"flags\": [\"pinned\"]");
	check_has("gcroot 1020 --json", "\"via\": \"(dependent handle)\"");
	check_has("gcroot 1010 --json", "\"via\": \"._items[1]\"");
	check_has(
		"roots -kind thread-static --json",
		"\"kind\": \"thread-static\", \"handle\": null, \"flags\": [], \"name\": "
		"\"Shop.Program.t_last\", \"container\": {\"mt\": \"0x10\", \"name\": \"Type0\"}, "
		"\"address\": \"0x700\"");
}

TEST(roots_have_slots_names_and_threads)
{
	check("roots -thread 6", HD_EXIT_OK,
	      "          Object Kind          Flags                    Slot     OSID Class Name\n"
	      "            1030 stack                                           4b95 Type2 (rbx of "
	      "Shop.Program.Main())\n"
	      "            1030 stack                      00000000007fff30     4b95 Type2\n"
	      "            1030 internal                   0000000000000900     4b95 Type2 (last "
	      "thrown exception, strong handle)\n"
	      "Total 3 roots, 1 internal, 2 stack\n");
	check("roots -flag conservative", HD_EXIT_OK,
	      "          Object Kind          Flags                    Slot     OSID Class Name\n"
	      "            1030 stack         conservative 00000000007fff20     4b94 Type2 (rsp+8 "
	      "of [InlinedCallFrame])\n"
	      "Total 1 root, 1 stack\n");
	check_has("roots -container Type0", "Total 2 roots, 1 static, 1 thread-static");
	check("roots -stat", HD_EXIT_OK,
	      "       Count Kind          Container\n"
	      "           5 stack         \n"
	      "           1 internal      strong handle\n"
	      "           1 finalizer     \n"
	      "           1 handle        pinned handle\n"
	      "           1 handle        weak short handle\n"
	      "           1 static        Type0\n"
	      "           1 gc            \n"
	      "           1 thread-static Type0\n"
	      "Total 12 roots\n");
}

TEST(types_have_a_tree_of_what_keeps_them)
{
	check("gcroot -type Type1", HD_EXIT_OK,
	      "       Count      TotalSize  Path\n"
	      "           1             40  Shop.Program.Run(System.Int32) (local variable)\n"
	      "           1             40    -> Type1\n"
	      "           1             32  (pinned handle)\n"
	      "           1             32    -> Type1\n"
	      "2 of 2 objects, 72 of 72 bytes are reached from roots.\n");
	check("gcroot -mt 11 -nostacks -limit 2", HD_EXIT_OK,
	      "       Count      TotalSize  Path\n"
	      "           2             72  (pinned handle)\n"
	      "           2             72    -> Type1 (1 here)\n"
	      "           1             40      ... by 1 more branch\n"
	      "2 of 2 objects, 72 of 72 bytes are reached from roots (-limit 0 shows all "
	      "branches).\n");
	check("gcroot -type Type2 --json -limit 1", HD_EXIT_OK,
	      "{\"schema\": 1, \"command\": \"gcroot\", \"target\": \"made\", \"count\": 2, \"size\": 104, "
	      "\"found\": 1, \"found_size\": 48, \"truncated\": true, \"branches\": [{\"depth\": 0, "
	      "\"count\": 1, \"size\": 48, \"own\": 0, \"repeats\": false, \"kind\": \"thread-static\", "
	      "\"handle\": null, \"name\": \"Shop.Program.t_last\", \"container\": \"Type0\"}], "
	      "\"complete\": true, \"findings\": []}\n");
	check_has("gcroot -type Type2", "1 of 2 objects, 48 of 104 bytes are reached from roots; "
					"dead: 1.");
	check_has("gcroot -type Nothing", "no type contains \"Nothing\"");
	check_has("gcroot", "an id is missing (or -type TEXT, or -mt ID); usage: gcroot [ID] ");
	check_has("gcroot 1020 -type Type1", "not both");
	check_has("gcroot -type Type1 -weak", "-weak is about one object");
}

TEST(objsize_counts_what_all_of_a_type_keep)
{
	check_has("objsize -mt 11 -stat",
		  "Objects which 2 objects of Type1 transitively keep alive:\n");
	check_has("objsize -mt 11 -stat", "Total 3 objects, 120 bytes");
	check_has("objsize -mt 11 --json",
		  "\"object\": null, \"mt\": \"0x11\", \"of\": 2, \"count\": 3");
	check_has("objsize -mt 99", "no objects of a type 99; types lists the types");
	check_has("objsize", "an id is missing (or -mt ID); usage: objsize [ID] ");
	check_has("objsize 1000 -mt 11", "not both");
	check_has("objsize 1000 -strings", "a heap dump file has no texts");
}

TEST(the_dead_are_called_dead)
{
	check_has("retained 1040", "is dead: no root keeps it alive");
	check_has("dominators 1040", "1040 is dead");
	check_has("gcroot 1040 --json", "\"reachable\": false");
}

SUITE(.name = "heap roots", .set_up = set_up, .tear_down = tear_down)
