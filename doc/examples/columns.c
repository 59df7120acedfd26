/* SPDX-License-Identifier: MIT */
/* columns TARGET COMMAND...: the columns of an answer, their types, and the sums of those that are numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <heapdump/heapdump.h>

/* What nobody reads any longer is given back, batch by batch. */
static void add_up(struct ArrowArrayStream *stream, const struct ArrowSchema *schema,
		   uint64_t *sums, uint64_t *rows)
{
	struct ArrowArray batch;
	while (stream->get_next(stream, &batch) == 0 && batch.release) {
		for (int64_t i = 0; i < batch.n_children; i++) {
			const struct ArrowArray *column = batch.children[i];
			if (schema->children[i]->format[0] != 'L')
				continue;
			const uint8_t *valid = column->buffers[0];
			const uint64_t *values = column->buffers[1];
			for (int64_t row = 0; row < batch.length; row++)
				if (!valid || valid[row / 8] >> row % 8 & 1)
					sums[i] += values[row];
		}
		*rows += (uint64_t)batch.length;
		batch.release(&batch);
	}
}

static void print_columns(struct ArrowArrayStream *stream)
{
	struct ArrowSchema schema;
	if (stream->get_schema(stream, &schema) != 0) {
		fprintf(stderr, "%s\n", stream->get_last_error(stream));
		return;
	}
	uint64_t *sums = calloc((size_t)schema.n_children + 1, sizeof(*sums)), rows = 0;
	if (sums)
		add_up(stream, &schema, sums, &rows);
	printf("%" PRIu64 " rows\n", rows);
	for (int64_t i = 0; sums && i < schema.n_children; i++) {
		const struct ArrowSchema *column = schema.children[i];
		printf("%s %s", column->name, column->format);
		if (column->format[0] == 'L')
			printf(" sum %" PRIu64, sums[i]);
		printf("\n");
	}
	free(sums);
	schema.release(&schema);
}

int main(int argc, char **argv)
{
	const struct hd_sink sink = { .struct_size = sizeof(sink) };
	struct hd_session *session = NULL;
	struct ArrowArrayStream stream = { .release = NULL };
	struct hd_error err = { .message = "two words or more: TARGET COMMAND..." };
	int status = HD_EXIT_USAGE;
	if (argc > 2 && hd_session_create(&session, &err) == HD_OK &&
	    hd_session_open(session, argv[1], 0, NULL, &err) == HD_OK) {
		const struct hd_arrow_request request = { .struct_size = sizeof(request),
							  .argv = (const char *const *)&argv[2],
							  .argc = argc - 2 };
		status = hd_arrow_run(session, &request, &sink, &stream, &err);
	}
	hd_session_destroy(session); /* the stream does not need it any longer */
	if (stream.release) {
		print_columns(&stream);
		stream.release(&stream);
	} else {
		fprintf(stderr, "%s\n", err.message);
	}
	return status;
}
