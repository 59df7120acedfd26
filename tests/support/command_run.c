/* SPDX-License-Identifier: MIT */
#include "support/command_run.h"

#include <stdlib.h>

#include "support/assert_more.h"
#include "support/dump_text.h"

#define WORDS 24

int command_words(const char *line, char *buf, size_t size, const char **argv, int capacity)
{
	int argc = 0;
	char *out = buf;
	CU_ASSERT_FATAL(strlen(line) < size);
	while (*line) {
		char end = *line == '\'' ? '\'' : ' ';
		line += end == '\'';
		CU_ASSERT_FATAL(argc < capacity);
		argv[argc++] = out;
		while (*line && *line != end)
			*out++ = *line++;
		*out++ = '\0';
		line += *line == '\'';
		line += *line == ' ';
	}
	return argc;
}

static int take(void *arg, const char *bytes, size_t size)
{
	struct answer *answer = arg;
	/* Not text_append(): its allocations may be those that fail. */
	if (answer->text.capacity - answer->text.size <= size) {
		answer->text.capacity = 2 * answer->text.size + size + 1;
		answer->text.bytes = realloc(answer->text.bytes, answer->text.capacity);
		REQUIRE(answer->text.bytes);
	}
	memcpy(answer->text.bytes + answer->text.size, bytes, size);
	answer->text.size += size;
	answer->text.bytes[answer->text.size] = '\0';
	return 0;
}

static void take_warning(void *arg, const char *line)
{
	struct answer *answer = arg;
	text_puts(&answer->warnings, line);
	text_puts(&answer->warnings, "\n");
}

struct answer command_run_on(struct hd_session *session, const char *line, bool color)
{
	char buf[4096];
	const char *argv[WORDS];
	int argc = command_words(line, buf, sizeof(buf), argv, WORDS);
	struct answer answer = { 0 };
	const struct hd_sink sink = { .struct_size = sizeof(sink),
				      .arg = &answer,
				      .write = take,
				      .warn = take_warning,
				      .color = color };
	answer.status = hd_command_run(session, argc, argv, &sink, &answer.err);
	return answer;
}

struct answer command_run(struct hd_session *session, const char *line)
{
	return command_run_on(session, line, false);
}

void answer_deinit(struct answer *answer)
{
	free(answer->text.bytes);
	text_deinit(&answer->warnings);
	*answer = (struct answer){ 0 };
}

const char *answer_text(const struct answer *answer)
{
	return answer->text.bytes ? answer->text.bytes : "";
}

struct hd_session *session_with(const char *text)
{
	struct dump_file file;
	dump_file_make(&file, text, strlen(text));
	struct hd_session *session = NULL;
	CU_ASSERT_FATAL(hd_session_create(&session, NULL) == HD_OK);
	struct hd_error err = { 0 };
	enum hd_status status = hd_session_open(session, file.path, 0, NULL, &err);
	ASSERT_TEXT(err.message, "");
	CU_ASSERT_FATAL(status == HD_OK);
	dump_file_close(&file);
	return session;
}
