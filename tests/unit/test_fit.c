/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "output/fit.h"
#include "support/assert_more.h"
#include "support/suite.h"

#define BOX                                                                                             \
	"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Threading.Tasks.VoidTaskResult>" \
	"+AsyncStateMachineBox<WebShop.Server+<Handle>d__5>"

/* Names as the runtime has them, with type arguments shortened, and the name itself, too. */
static const struct {
	char kind;
	const char *name, *arguments, *whole;
} names[] = {
	{ FIT_TYPE, "System.String", "System.String", "String" },
	{ FIT_TYPE, "Program", "Program", "Program" },
	{ FIT_TYPE, "", "", "" },
	{ FIT_TYPE, "System.Collections.Generic.Dictionary<System.String, WebShop.Page>+Entry[]",
	  "System.Collections.Generic.Dictionary<String, Page>+Entry[]",
	  "Dictionary<String, Page>+Entry[]" },
	{ FIT_TYPE, "A.B<C.D<E.F, G.H+I>, J.K[][,]>", "A.B<D<F, I>, K[][,]>",
	  "B<D<F, I>, K[][,]>" },
	{ FIT_TYPE, "A.B<C.D<E.F>+G>", "A.B<D<F>+G>", "B<D<F>+G>" },
	{ FIT_TYPE, BOX,
	  "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<VoidTaskResult>"
	  "+AsyncStateMachineBox<Handle>",
	  "AsyncStateMachineBox<Handle>" },
	{ FIT_TYPE, "WebShop.Program+<>c", "WebShop.Program+<>c", "Program+<>c" },
	{ FIT_TYPE, "N.P+<Main>d__0", "N.P+<Main>d__0", "P+<Main>d__0" },
	{ FIT_TYPE, "N.P+<<Main>$>d__0", "N.P+<<Main>$>d__0", "P+<<Main>$>d__0" },
	{ FIT_TYPE, "N.List<N.P+<>c__DisplayClass1_0>", "N.List<<>c__DisplayClass1_0>",
	  "List<<>c__DisplayClass1_0>" },
	{ FIT_TYPE, "<PrivateImplementationDetails>", "<PrivateImplementationDetails>",
	  "<PrivateImplementationDetails>" },
	{ FIT_TYPE, "N.A`1[[N.B, file, Version=1.0.0.0]]", "N.A`1[[B, file, Version=1.0.0.0]]",
	  "A`1[[B, file, Version=1.0.0.0]]" },
	{ FIT_METHOD, "System.Threading.Thread.Sleep(System.Int32)",
	  "System.Threading.Thread.Sleep(Int32)", "Thread.Sleep(Int32)" },
	{ FIT_METHOD, "A.B.C..ctor(D.E ByRef, System.String[])", "A.B.C..ctor(E ByRef, String[])",
	  "C..ctor(E ByRef, String[])" },
	{ FIT_METHOD, "N.P.<Main>$(System.String[])", "N.P.<Main>$(String[])",
	  "P.<Main>$(String[])" },
	{ FIT_METHOD, "N.P+<Run>d__1.MoveNext()", "N.P+<Run>d__1.MoveNext()",
	  "P+<Run>d__1.MoveNext()" },
	{ FIT_METHOD, "Main()", "Main()", "Main()" },
	{ FIT_PATH, "/src/shop/Program.cs", "Program.cs", "Program.cs" },
	{ FIT_PATH, "C:\\src\\Program.cs", "Program.cs", "Program.cs" },
	{ FIT_PATH, "Program.cs", "Program.cs", "Program.cs" },
	{ FIT_PATH, "/src/", "", "" },
	/* damaged */
	{ FIT_TYPE, "A.B<<<<", "A.B<<<<", "B<<<<" },
	{ FIT_TYPE, ">>A.B<", ">>A.B<", ">>B<" },
	{ FIT_METHOD, "A.B(((C.D", "A.B(((D", "A.B(((D" },
};

TEST(names_lose_namespaces)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (int whole = 0; whole < 2; whole++) {
			struct text text = { 0 };
			fit_name(&text, names[i].name, strlen(names[i].name), names[i].kind, whole);
			text_append(&text, "", 1);
			ASSERT_TEXT(text.bytes, whole ? names[i].whole : names[i].arguments);
			text_deinit(&text);
		}
	}
}

static void check_line(const char *line, uint32_t width, const char *expected)
{
	struct text text = { 0 };
	fit_line(&text, line, strlen(line), width);
	text_append(&text, "", 1);
	ASSERT_TEXT(text.bytes, expected);
	text_deinit(&text);
}

#define WRAP "\022"

TEST(sentences_wrap)
{
	check_line("a  " WRAP "one two three", 20, "a  one two three");
	check_line("a  " WRAP "one two three", 0, "a  one two three");
	check_line("a  " WRAP "one two three", 10, "a  one two\n   three");
	check_line("a  " WRAP "one two three", 9, "a  one\n   two\n   three");
	check_line("a  " WRAP "one  seventeen two", 8, "a  one\n   seventeen\n   two");
	check_line("a  " WRAP "seventeen", 8, "a  seventeen");
	check_line("a  " WRAP "seventeen ", 8, "a  seventeen");
	check_line("abc " WRAP "d e", 2, "abc d\n    e");
	check_line("a " WRAP "\xc3\xa4\xc3\xa4 \033[1mbb\033[0m cc", 7,
		   "a \xc3\xa4\xc3\xa4 \033[1mbb\033[0m\n  cc");
}

TEST(texts_are_cut)
{
	struct text text = { 0 };
	fit_text(&text, "worker \xc3\xa4 of the pool", 22, 9);
	text_append(&text, "", 1);
	ASSERT_TEXT(text.bytes, "worker \xc3\xa4\xe2\x80\xa6");
	text_deinit(&text);
}

TEST(lines_fit)
{
	const char *line = "7f00  3 \016N.Dictionary<N.Key, N.Value>\017 (here)";
	check_line(line, 0, "7f00  3 N.Dictionary<N.Key, N.Value> (here)");
	check_line(line, 43, "7f00  3 N.Dictionary<N.Key, N.Value> (here)");
	check_line(line, 42, "7f00  3 N.Dictionary<Key, Value> (here)");
	check_line(line, 38, "7f00  3 Dictionary<Key, Value> (here)");
	check_line(line, 36,
		   "7f00  3 Dictiona\xe2\x80\xa6"
		   "<Key, Value> (here)");
	/* A name keeps 12 columns, and what is not one stays. */
	check_line(line, 20, "7f00  3 Dict\xe2\x80\xa6 Value> (here)");
	check_line("no names, and much too long", 20, "no names, and much too long");
	check_line("", 20, "");
	check_line("\016Name.Without.End.Of.It.Here", 20, "Name.Without.End.Of.It.Here");
	/* Colours take no column; characters of several bytes take one, and are not cut. */
	check_line("\033[36m\016A.\xc3\x84\xc3\x84\xc3\x84\017\033[0m", 5,
		   "\033[36mA.\xc3\x84\xc3\x84\xc3\x84\033[0m");
	check_line("\016ABCD\xc3\x84\xc3\x84\xc3\x84\xc3\x84\xc3\x84\xc3\x84KLMNOP\017", 15,
		   "ABCD\xc3\x84\xe2\x80\xa6\xc3\x84\xc3\x84\xc3\x84KLMNOP");
	/* The longest gives way first. */
	check_line("\016abcdefghijklmnopqrstuvwxyz\017 \016abcdefghijklmn\017", 32,
		   "abcdef\xe2\x80\xa6qrstuvwxyz\x20"
		   "abcdefghijklmn");
}

/* More names than are looked at, and unbalanced brackets: in linear time. */
TEST(long_lines_are_read_once)
{
	struct text line = { 0 }, ret = { 0 };
	for (size_t i = 0; i < 100000; i++)
		text_puts(&line, i % 2 ? "\016<.<<.<\017" : "<.(+");
	fit_line(&ret, line.bytes, line.size, 20);
	CU_ASSERT(ret.size > 0 && ret.size < line.size);
	CU_ASSERT_PTR_NULL(memchr(ret.bytes, FIT_TYPE, ret.size));
	ret.size = 0;
	fit_name(&ret, line.bytes, line.size, FIT_METHOD, true);
	CU_ASSERT(ret.size > 0);
	text_deinit(&line);
	text_deinit(&ret);
}

SUITE(.name = "fit")
