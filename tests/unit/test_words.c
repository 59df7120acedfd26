/* SPDX-License-Identifier: MIT */
/* The prompt's words: what is quoted is read back as it was, whatever bytes it holds. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "statement.h"
#include "support/assert_more.h"
#include "support/suite.h"

/* In place of the library's: "ask" takes a text after the option -x, whose value is a word. */
int hd_command_raw(const char *name, const char *rest, size_t *ret)
{
	const char *at = rest + strspn(rest, " \n");
	if (strcmp(name, "ask") != 0)
		return 0;
	if (strncmp(at, "-x ", 3) == 0) {
		at += 3 + strcspn(at + 3, " ");
		at += strspn(at, " ");
	}
	*ret = (size_t)(at - rest);
	return *at && *at != '"';
}

static void check_words(const char *line, int argc, const char *const *argv)
{
	struct words words;
	CU_ASSERT_FATAL(words_init(&words, line));
	CU_ASSERT_EQUAL(words.argc, argc);
	CU_ASSERT_EQUAL(words.open_quote, '\0');
	for (int i = 0; i < argc && i < words.argc; i++)
		ASSERT_TEXT(words.argv[i], argv[i]);
	words_deinit(&words);
}

#define CHECK_WORDS(line, ...)                                              \
	do {                                                                \
		const char *const argv_[] = { __VA_ARGS__ };                \
		check_words(line, sizeof(argv_) / sizeof(argv_[0]), argv_); \
	} while (0)

TEST(words_are_cut_at_blanks_and_quotes_hold_them)
{
	CHECK_WORDS(" a\tbc \v\f d\r\n", "a", "bc", "d");
	CHECK_WORDS("'a b'c \"d'e\" f\\ g ''", "a bc", "d'e", "f g", "");
	CHECK_WORDS("\"a\\\"b\\\\c\\d\" 'e\\'", "a\"b\\c\\d", "e\\");
	CHECK_WORDS("a\\|b 'c|d' \"e>f\"", "a|b", "c|d", "e>f");
	CHECK_WORDS("$a a$ 5$'x'", "$a", "a$", "5x");
	CHECK_WORDS("$'a\\n\\t\\r\\e\\x1b\\x7F\\xff\\'\\\\|>' b", "a\n\t\r\033\033\x7f\xff'\\|>",
		    "b");
	CHECK_WORDS("$'\\x00\\xg1\\x1g\\q'", "x00xg1x1gq");
	CHECK_WORDS("a\\", "a\\");
}

TEST(a_pipe_or_a_file_ends_the_words)
{
	struct words words;
	CU_ASSERT_FATAL(words_init(&words, "info -x | grep 'a |b' "));
	CU_ASSERT_EQUAL(words.argc, 2);
	CU_ASSERT_EQUAL(words.pipe, '|');
	ASSERT_TEXT(words.rest, "grep 'a |b'");
	words_deinit(&words);
	CU_ASSERT_FATAL(words_init(&words, "info>>$'a\\x20b' "));
	CU_ASSERT_EQUAL(words.pipe, 'A');
	ASSERT_TEXT(words.rest, "a b");
	CU_ASSERT(!words.surplus);
	words_deinit(&words);
	CU_ASSERT_FATAL(words_init(&words, "info > a b"));
	CU_ASSERT(words.surplus);
	words_deinit(&words);
}

TEST(a_comment_is_one_that_is_not_quoted)
{
	static const struct {
		const char *line;
		bool is_comment;
	} lines[] = { { "# info", true },
		      { "  #info", true },
		      { "'#info'", false },
		      { "info #", false },
		      { "", false } };
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct words words;
		CU_ASSERT_FATAL(words_init(&words, lines[i].line));
		CU_ASSERT_EQUAL(words.is_comment, lines[i].is_comment);
		words_deinit(&words);
	}
}

TEST(the_last_word_and_its_open_quote_are_told)
{
	static const struct {
		const char *line;
		size_t last;
		char quote;
	} lines[] = { { "", 0, 0 },
		      { "ab", 0, 0 },
		      { "ab c", 3, 0 },
		      { "ab c ", 5, 0 },
		      { "ab c\\ ", 3, 0 },
		      { "ab 'c d", 3, '\'' },
		      { "ab \"c 'd", 3, '"' },
		      { "ab $'c d", 3, '$' },
		      { "ab 'c'", 3, 0 },
		      { "ab > c", 5, 0 },
		      { "ab > ", 5, 0 },
		      { "ab > c ", 7, 0 } };
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct words words;
		CU_ASSERT_FATAL(words_init(&words, lines[i].line));
		ASSERT_UINT(words.last, lines[i].last);
		CU_ASSERT_EQUAL(words.open_quote, lines[i].quote);
		words_deinit(&words);
	}
}

TEST(only_what_needs_quotes_gets_them)
{
	static const char *const rows[][2] = {
		{ "System.Object[]", "System.Object[]" },
		{ "List`1", "List`1" },
		{ "", "''" },
		{ "a b", "'a b'" },
		{ "a|b", "'a|b'" },
		{ "#a", "'#a'" },
		{ "Q''|touch${IFS}x;#", "\"Q''|touch${IFS}x;#\"" },
		{ "'\"\\", "\"'\\\"\\\\\"" },
		{ "a\nb'", "$'a\\x0ab\\''" },
		{ "\x9b", "$'\\x9b'" },
		{ "\xe2\x80\xae", "$'\\xe2\\x80\\xae'" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = words_quote(rows[i][0], '\0', true);
		REQUIRE(text);
		ASSERT_TEXT(text, rows[i][1]);
		free(text);
	}
}

TEST(what_nobody_sees_is_quoted_where_the_line_editor_could_show_it)
{
	static const char *const rows[][2] = {
		{ "\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac" },
		{ "a\xe2\x80\x8b", "$'a\\xe2\\x80\\x8b'" },
		{ "\xc2\xad", "$'\\xc2\\xad'" },
		{ "\xe2\x80\xae", "$'\\xe2\\x80\\xae'" },
		{ "\xef\xb8\x8f", "$'\\xef\\xb8\\x8f'" },
		{ "\xf3\xa0\x81\x81", "$'\\xf3\\xa0\\x81\\x81'" },
	};
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = words_quote(rows[i][0], '\0', true);
		REQUIRE(text);
		ASSERT_TEXT(text, rows[i][1]);
		free(text);
	}
	(void)setlocale(LC_CTYPE, "C");
}

/* @p word, between others, is read back; open, it goes on with what is typed after it. */
static void check_round_trip(const char *word, char open)
{
	char *text = words_quote(word, open, true), *head = words_quote(word, open, false);
	REQUIRE(text);
	REQUIRE(head);
	for (const char *at = text; *at; at++)
		CU_ASSERT_FATAL((unsigned char)*at >= 0x20 && *at != 0x7f);
	char line[1024];
	(void)snprintf(line, sizeof(line), "a %s b > %s", text, text);
	struct words words;
	CU_ASSERT_FATAL(words_init(&words, line));
	CU_ASSERT_EQUAL_FATAL(words.argc, 3);
	ASSERT_TEXT(words.argv[1], word);
	ASSERT_TEXT(words.argv[2], "b");
	CU_ASSERT_EQUAL(words.pipe, '>');
	ASSERT_TEXT(words.rest, word);
	CU_ASSERT(!words.surplus && !words.open_quote);
	words_deinit(&words);
	(void)snprintf(line, sizeof(line), "a %sz", head);
	CU_ASSERT_FATAL(words_init(&words, line));
	CU_ASSERT_EQUAL_FATAL(words.argc, 2);
	size_t size = strlen(word);
	CU_ASSERT(memcmp(words.argv[1], word, size) == 0);
	ASSERT_TEXT(words.argv[1] + size, "z");
	ASSERT_UINT(words.last, 2);
	words_deinit(&words);
	free(head);
	free(text);
}

TEST(any_bytes_are_read_back_in_any_locale)
{
	static const char often[] = "'\"\\|> \t\n$#-`xn\x1b\xc3\xa4\xe2\x80\xae";
	static const char quotes[] = { '\0', '\'', '"', '$' };
	unsigned int seed = 4711;
	for (unsigned int i = 0; i < 20000; i++) {
		/* half of them of what is dangerous, half of all bytes */
		char word[40] = "";
		size_t size = (size_t)rand_r(&seed) % sizeof(word);
		for (size_t k = 0; k < size; k++) {
			unsigned int r = (unsigned int)rand_r(&seed);
			word[k] = i % 2 ? often[r % (sizeof(often) - 1)] : (char)(r % 255 + 1);
		}
		word[size ? size - 1 : 0] = '\0';
		(void)setlocale(LC_CTYPE, i % 3 ? "C.UTF-8" : "C");
		check_round_trip(word, quotes[i / 2 % sizeof(quotes)]);
	}
	(void)setlocale(LC_CTYPE, "C");
}

static char seen[8][64];
static size_t seen_count;

static void see(void *arg, const char *candidate)
{
	(void)arg;
	if (seen_count < 8)
		(void)snprintf(seen[seen_count], sizeof(seen[0]), "%s", candidate);
	seen_count++;
}

static void check_names(const char *word, size_t count, const char *first)
{
	seen_count = 0;
	file_names_complete(word, see, NULL);
	ASSERT_UINT(seen_count, count);
	if (first && seen_count)
		ASSERT_TEXT(seen[0], first);
}

TEST(names_of_files_are_offered_in_order)
{
	char folder[] = "/tmp/heapdump-words-XXXXXX", before[4096];
	CU_ASSERT_FATAL(getcwd(before, sizeof(before)) && mkdtemp(folder) && chdir(folder) == 0);
	static const char *const names[] = { "b\nc", "b|d", "-x", ".hidden" };
	for (size_t i = 0; i < 4; i++) {
		FILE *file = fopen(names[i], "w");
		REQUIRE(file);
		(void)fclose(file);
	}
	check_names("", 3, "./-x");
	check_names("b", 2, "b\nc");
	check_names("b|", 1, "b|d");
	check_names(".h", 1, ".hidden");
	check_names("/no/such", 0, NULL);
	(void)setenv("HOME", folder, 1);
	check_names("~/b|", 1, NULL);
	CU_ASSERT(strncmp(seen[0], folder, strlen(folder)) == 0);
	check_names("no/such/", 0, NULL);
	char whole[64];
	(void)snprintf(whole, sizeof(whole), "%s/", folder);
	check_names(folder, 1, whole);
	for (size_t i = 0; i < 4; i++)
		(void)unlink(names[i]);
	CU_ASSERT_FATAL(chdir(before) == 0 && rmdir(folder) == 0);
}

TEST(the_text_of_a_command_is_one_word)
{
	CHECK_WORDS("ask SELECT 'a  b' || \"c\" > d", "ask", "SELECT 'a  b' || \"c\" > d");
	CHECK_WORDS("  ask  -x 'n'  a  b \n", "ask", "-x", "n", "a  b");
	CHECK_WORDS("ask a\\ b\n -- it's\n;\n", "ask", "a\\ b\n -- it's\n;");
	CHECK_WORDS("ask \"a > b\"", "ask", "a > b");
	CHECK_WORDS("asked a 'b c'", "asked", "a", "b c");
	CHECK_WORDS("ask", "ask");
}

TEST(after_its_end_a_text_may_go_to_a_pipe_or_a_file)
{
	struct words words;
	CU_ASSERT_FATAL(words_init(&words, "ask a; | b ';' c|d\n"));
	CU_ASSERT_EQUAL(words.argc, 2);
	ASSERT_TEXT(words.argv[1], "a;");
	CU_ASSERT_EQUAL(words.pipe, '|');
	ASSERT_TEXT(words.rest, "b ';' c|d");
	words_deinit(&words);
	CU_ASSERT_FATAL(words_init(&words, "ask -x 1 a\n > ';| x' ;>> 'b c'"));
	CU_ASSERT_EQUAL(words.argc, 4);
	ASSERT_TEXT(words.argv[3], "a\n > ';| x' ;");
	CU_ASSERT_EQUAL(words.pipe, 'A');
	ASSERT_TEXT(words.rest, "b c");
	words_deinit(&words);
	CU_ASSERT_FATAL(words_init(&words, "ask -x 1 | less"));
	CU_ASSERT_EQUAL(words.argc, 3);
	CU_ASSERT_EQUAL(words.pipe, '|');
	words_deinit(&words);
	CU_ASSERT_FATAL(words_init(&words, "ask a; b"));
	ASSERT_TEXT(words.argv[1], "a; b");
	words_deinit(&words);
}

TEST(a_text_goes_on_until_a_semicolon_ends_a_line)
{
	static const struct {
		const char *lines[5]; /* all but the last go on */
	} texts[] = {
		{ { "info\n" } },
		{ { "info 'a\n" } },
		{ { "ask\n" } },
		{ { "ask \"a\"\n" } },
		{ { "ask a;\n" } },
		{ { "ask a;  \t\r\n" } },
		{ { "ask a; -- done\n" } },
		{ { "ask a ; | b\n" } },
		{ { "ask a\n", "\n", "b\n", "  ;\n" } },
		{ { "ask 'a;\n", "b' \"c;\n", "\" `d;\n", "` [';\n", "];\n" } },
		{ { "ask a -- it's;\n", "/* 'b;\n", "*/ ;\n" } },
		{ { "ask a; b\n", ";\n" } },
		{ { "ask a--b;\n", ";\n" } },
		{ { "ask a - b / c * d;\n" } },
		{ { "ask '';\n" } },
		{ { "ask 'it''s' ;\n" } },
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct statement statement = { 0 };
		char whole[200] = "";
		for (size_t k = 0; k < 5 && texts[i].lines[k]; k++) {
			bool is_last = k == 4 || !texts[i].lines[k + 1];
			CU_ASSERT(statement_add(&statement, texts[i].lines[k]));
			CU_ASSERT_EQUAL(statement.goes_on, !is_last);
			(void)strcat(whole, texts[i].lines[k]);
		}
		ASSERT_TEXT(statement.line, whole);
		statement_clear(&statement);
		CU_ASSERT(statement_add(&statement, "ask b;"));
		ASSERT_TEXT(statement.line, "ask b;");
		CU_ASSERT_FALSE(statement.goes_on);
		statement_deinit(&statement);
	}
}

SUITE(.name = "words")
