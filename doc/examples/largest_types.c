/* SPDX-License-Identifier: MIT */
/* largest_types TARGET OBJECT: the ten types that take most of a heap, and what keeps an object alive. */
#include <inttypes.h>
#include <stdio.h>

#include <heapdump/heapdump.h>

/* Text of a target may hold what a terminal would act on. */
static void print_text(const struct hd_value *value)
{
	char text[1000];
	hd_escape(value->text ? value->text : "?", value->text ? value->size : 1, text,
		  sizeof(text));
	printf("%s", text);
}

static void print_largest(const struct hd_rows *rows)
{
	const struct hd_table *types = hd_rows_find(rows, "types");
	const int size = hd_table_column(types, "size"), name = hd_table_column(types, "name");
	uint64_t count = hd_rows_count(rows, types);
	for (uint64_t i = 1; size >= 0 && name >= 0 && i <= 10 && i <= count; i++) {
		const struct hd_value *values = hd_rows_at(rows, types, count - i); /* ascending */
		printf("%12" PRIu64 " ", values[size].number);
		print_text(&values[name]);
		printf("\n");
	}
}

/* Called for each row while the command finds it; non-zero would end the command. */
static int print_root(void *arg, const struct hd_table *table, const struct hd_value *values)
{
	const int kind = hd_table_column(table, "kind"), type = hd_table_column(table, "type");
	const int address = hd_table_column(table, "address");
	(void)arg;
	if (table->is_main && kind >= 0) {
		print_text(&values[kind]);
		printf(":\n");
	} else if (address >= 0 && type >= 0) {
		printf("  -> %" PRIx64 " ", values[address].number);
		print_text(&values[type]);
		printf("\n");
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct hd_sink sink = { .struct_size = sizeof(sink) };
	const struct hd_visitor visitor = { .struct_size = sizeof(visitor), .row = print_root };
	const char *const stat[] = { "dumpheap", "-stat" };
	const char *gcroot[] = { "gcroot", argc == 3 ? argv[2] : "" };
	struct hd_session *session = NULL;
	struct hd_rows *rows = NULL;
	struct hd_error err = { 0 };
	int status = HD_EXIT_USAGE;
	if (argc == 3 && hd_session_create(&session, &err) == HD_OK &&
	    hd_session_open(session, argv[1], 0, NULL, &err) == HD_OK) {
		status = hd_rows_run(session, 2, stat, &sink, &rows, &err);
		print_largest(rows);
		if (status == HD_EXIT_OK)
			status = hd_query(session, 2, gcroot, &visitor, &sink, &err);
	}
	if (status > HD_EXIT_FINDINGS)
		fprintf(stderr, "%s\n", argc == 3 ? err.message : "two words: TARGET OBJECT");
	hd_rows_free(rows);
	hd_session_destroy(session);
	return status;
}
