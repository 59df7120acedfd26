/* SPDX-License-Identifier: MIT */
/* Commands about a heap that its runtime has sent: what no event tells. */
#include <inttypes.h>
#include <stdio.h>

#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/dump_text.h"
#include "support/nettrace_graph.h"
#include "support/suite.h"

/* Objects of 0x1000 on; the last one lies in no range, and nothing refers to it. */
#define FROZEN 0x9000u

static const struct nt_node nodes[] = { { 0x1000, 24, 0x100, 1 },
					{ 0x1020, 40, 0x100, 0 },
					{ FROZEN, 32, 0x200, 0 } };
static const uint64_t edges[] = { 0x1020 };

struct fixture {
	struct nettrace_maker maker;
	struct hd_session *session;
};

static void begin(struct fixture *fixture)
{
	*fixture = (struct fixture){ .maker = { .version = 4, .pointer_size = 8, .pid = 7 } };
	nettrace_begin(&fixture->maker);
	nettrace_type(&fixture->maker, 0x100, MODULE, 0x2000002, 0, "Shop.Order");
	nettrace_gc_start(&fixture->maker, 1);
	nettrace_root(&fixture->maker, 0x1000, NT_ROOT_STACK, 0);
	nettrace_nodes(&fixture->maker, 0, nodes, 3);
	nettrace_edges(&fixture->maker, 0, edges, 1);
}

static void open(struct fixture *fixture)
{
	struct dump_file file;
	struct hd_error err = { 0 };
	struct nettrace_maker *maker = &fixture->maker;
	nettrace_gc_end(maker, 1);
	nettrace_end(maker);
	dump_file_make(&file, (const char *)maker->file.bytes, maker->file.size);
	ASSERT_UINT_FATAL(hd_session_create(&fixture->session, NULL), HD_OK);
	ASSERT_UINT(hd_session_open(fixture->session, file.path, 0, NULL, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	dump_file_close(&file);
}

static void end(struct fixture *fixture)
{
	hd_session_destroy(fixture->session);
	nettrace_deinit(&fixture->maker);
}

/* Is @p part in the answer? */
static void check(struct fixture *fixture, const char *line, const char *part, bool is_there)
{
	struct answer answer = command_run(fixture->session, line);
	const char *text = *answer.err.message ? answer.err.message : answer_text(&answer);
	if (!strstr(text, part) == is_there)
		ASSERT_TEXT(text, part);
	answer_deinit(&answer);
}

TEST(frozen_objects_have_roots_where_generations_are_known)
{
	struct fixture fixture;
	begin(&fixture);
	nettrace_type(&fixture.maker, 0x200, MODULE, 0x2000003, 0, "Shop.Literal");
	nettrace_range(&fixture.maker, 2, 0x1000, 0x800);
	open(&fixture);
	const struct hd_graph *graph = fixture.session->graph;
	ASSERT_UINT_FATAL(graph->root_count, 2);
	ASSERT_UINT(graph->roots[1].kind, HD_ROOT_GC);
	ASSERT_UINT(graph_id(graph, graph->roots[1].node), FROZEN);
	check(&fixture, "gcroot 9000", "(frozen object)", true);
	check(&fixture, "dumpheap -dead", "Total 0 objects", true);
	check(&fixture, "dumpheap -dead", "Incomplete", false);
	check(&fixture, "info", "Frozen objects", false);
	check(&fixture, "info --json", "\"frozen_known\": true", true);
	check(&fixture, "dumpgen gen2", "this tells it: dumpheap -stat -gen GENERATION", true);
	check(&fixture, "dumpgen gen2", "collect -generations", false);
	end(&fixture);
}

TEST(frozen_objects_are_not_called_dead_where_they_are_not_known)
{
	static const char lost[] = "frozen objects (literals, types) have no roots in this file";
	struct fixture fixture;
	begin(&fixture);
	nettrace_type(&fixture.maker, 0x200, MODULE, 0x2000003, 0, "Shop.Literal");
	open(&fixture);
	ASSERT_UINT_FATAL(fixture.session->graph->root_count, 1);
	check(&fixture, "gcroot 9000", "Nothing was found that keeps 9000 alive", true);
	check(&fixture, "gcroot 9000", lost, true);
	check(&fixture, "gcroot 9000 --json", "\"findings\": [\"frozen-roots\"]", true);
	check(&fixture, "retained 9000", lost, true);
	check(&fixture, "dominators 9000", lost, true);
	check(&fixture, "dumpheap -dead", lost, true);
	check(&fixture, "dumpheap -live --json", "\"complete\": false", true);
	check(&fixture, "report", "nothing in this file roots 32 bytes", true);
	check(&fixture, "info", "Frozen objects (literals, types) have no roots", true);
	check(&fixture, "info", "Findings:    none", true);
	/* No answer about what is alive lacks anything. */
	check(&fixture, "gcroot 1020", "Incomplete", false);
	check(&fixture, "gcroot 1020 --json", "\"complete\": true", true);
	check(&fixture, "retained 1000", "Incomplete", false);
	check(&fixture, "dominators", "Incomplete", false);
	check(&fixture, "dumpheap -dead 1000 2000", "Incomplete", false);
	check(&fixture, "eeheap", "one made by collect -generations does", true);
	end(&fixture);
}

TEST(names_that_were_sent_before_tell_of_another_session)
{
	static const char before[] = "Tracing:     the process was traced before";
	for (unsigned int is_named = 0; is_named < 2; is_named++) {
		struct fixture fixture;
		begin(&fixture);
		if (is_named)
			nettrace_type(&fixture.maker, 0x200, MODULE, 0x2000003, 0, "Shop.Literal");
		open(&fixture);
		check(&fixture, "info", before, !is_named);
		check(&fixture, "info --json", "\"traced_before\": true", !is_named);
		/* Without the runtime's own event source tracing leaves nothing. */
		check(&fixture, "info", "it has no event sources", is_named);
		end(&fixture);
	}
}

TEST(an_event_source_without_its_metadata_was_not_traced)
{
	struct fixture fixture;
	begin(&fixture);
	nettrace_type(&fixture.maker, 0x200, MODULE, 0x2000003, 0,
		      "System.Diagnostics.Tracing.NativeRuntimeEventSource");
	open(&fixture);
	check(&fixture, "info", "no sign that the process was traced before", true);
	check(&fixture, "info --json", "\"traced_before\": false", true);
	end(&fixture);
}

TEST(a_text_log_has_the_name_of_the_program_and_the_times_of_the_collection)
{
	static const struct {
		const char *command, *begin;
	} rows[] = {
		{ "/usr/bin/dotnet /srv/shop.dll 80", "a 2 shop " },
		{ "dotnet exec --depsfile a.json \"/srv/my shop/shop.dll\" x.dll", "a 2 shop " },
		{ "C:\\dotnet\\dotnet.exe shop.dll", "a 2 shop " },
		{ "/srv/shop --port 80 y.dll", "a 2 shop " },
		{ "dotnet build", "a 2 clrhost " },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture fixture;
		char part[64];
		begin(&fixture);
		nettrace_process(&fixture.maker, rows[i].command);
		open(&fixture);
		const struct graph_domain *domain = fixture.session->graph->domains.rows;
		CU_ASSERT(domain->has_start && domain->has_end);
		CU_ASSERT(domain->start < domain->end && domain->end <= UINT32_MAX);
		(void)snprintf(part, sizeof(part), "%s%" PRIx64 "\n", rows[i].begin, domain->start);
		check(&fixture, "export - -format rpm", part, true);
		(void)snprintf(part, sizeof(part), "c%s%" PRIx64 "\n", rows[i].begin + 3,
			       domain->end);
		check(&fixture, "export - -format rpm", part, true);
		end(&fixture);
	}
}

SUITE(.name = "trace_answers")
