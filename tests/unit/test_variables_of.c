/* SPDX-License-Identifier: MIT */
#include "gc/heap.h"
#include "graph/heap_graph.h"
#include "inspect/variables_of.h"
#include "runtime/type.h"
#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/text.h"

#define BOX(machine)                                                                                         \
	"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Int32>+AsyncStateMachineBox<" machine \
	">"

TEST(objects_that_keep_variables_are_known_by_their_method)
{
	static const struct {
		const char *type, *method;
		enum variables_kind kind;
	} cases[] = {
		{ BOX("Shop.Cart+<Load>d__5"), "Shop.Cart.Load", VARIABLES_CALL },
		{ BOX("Shop.Cart+<>c+<<Load>b__0>d"), "Shop.Cart.Load.lambda", VARIABLES_CALL },
		{ BOX("Shop.Cart"), "", VARIABLES_NONE },
		{ "Shop.Cart+<Items>d__3", "Shop.Cart.Items", VARIABLES_STATE },
		{ "Shop.Cart+<Items>d__3[]", "", VARIABLES_NONE },
		{ "Shop.Cart+Line+<>c__DisplayClass3_0", "Shop.Cart.Line", VARIABLES_CLOSURE },
		{ "Shop.Cart+<>c__DisplayClass3_0<Shop.Line>", "Shop.Cart", VARIABLES_CLOSURE },
		{ "Shop.Cart+<>c__DisplayClass3_0[]", "", VARIABLES_NONE },
		{ "System.Func<Shop.Cart+<>c__DisplayClass3_0>", "", VARIABLES_NONE },
		{ "Shop.Cart+<>c", "", VARIABLES_NONE },
		{ "Shop.Cart", "", VARIABLES_NONE },
		{ "", "", VARIABLES_NONE },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text text = { 0 };
		ASSERT_UINT(variables_of_append(&text, NULL, NULL, cases[i].type,
						strlen(cases[i].type)),
			    cases[i].kind);
		ASSERT_TEXT(text.bytes ? text.bytes : "", cases[i].method);
		text_deinit(&text);
	}
}

/* Metadata has the names of the lambdas of a class. */
TEST(variables_of_lambdas_belong_to_the_method_that_has_them)
{
	static const char closure[] = "Hang.Orders+<>c__DisplayClass1_0";
	struct hd_error err = { 0 };
	struct hd_session *session = NULL;
	struct job job = { .workers = 1 };
	struct heap *heap;
	struct hd_graph *graph;
	struct text text = { 0 };
	ASSERT_UINT_FATAL(hd_session_create(&session, &err), HD_OK);
	ASSERT_UINT_FATAL(
		hd_session_open(session, HD_SOURCE_DIR "/corefiles/hang.core.zst", 0, NULL, &err),
		HD_OK);
	ASSERT_UINT_FATAL(session_heap(session, &job, &heap, &err), HD_OK);
	ASSERT_UINT_FATAL(session_graph(session, false, &job, &graph, &err), HD_OK);
	for (uint32_t i = 0; i < graph->type_count; i++) {
		const struct graph_type *row = &graph->types[i];
		if (row->name_size != strlen(closure) ||
		    memcmp(row->name, closure, row->name_size) != 0)
			continue;
		ASSERT_UINT(variables_of_append(&text, heap->runtime,
						type_find(heap->runtime, row->id), row->name,
						row->name_size),
			    VARIABLES_CLOSURE);
	}
	ASSERT_TEXT(text.bytes ? text.bytes : "", "Hang.Orders.Begin");
	text_deinit(&text);
	hd_session_destroy(session);
}

SUITE(.name = "variables_of")
