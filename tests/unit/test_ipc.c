/* SPDX-License-Identifier: MIT */
#include "collect/ipc.h"
#include "support/assert_more.h"
#include "support/suite.h"

#define HEAD "DOTNET_IPC_V1\0"

/* Compare a message with bytes that were written down by hand. */
static void expect(const struct text *message, const char *bytes, size_t size)
{
	ASSERT_UINT_FATAL(message->size, size);
	CU_ASSERT(memcmp(message->bytes, bytes, size) == 0);
}

TEST(a_command_is_framed)
{
	static const char expected[] = HEAD "\x1c\0\x02\x01\0\0\x01\x02\x03\x04\x05\x06\x07\x08";
	const uint64_t id = 0x0807060504030201;
	struct text message = { 0 };
	ipc_message(&message, IPC_STOP_TRACING, &id, sizeof(id));
	expect(&message, expected, sizeof(expected) - 1);
	text_deinit(&message);
}

TEST(sessions_are_asked_for_as_each_version_has_them)
{
	static const struct ipc_session session = { 256, 8, { 0x1980001, 5, "AB" } };
#define PROVIDER "\x01\0\0\0\x01\0\x98\x01\0\0\0\0\x05\0\0\0\x03\0\0\0A\0B\0\0\0\0\0\0\0"
	static const char two[] = HEAD "\x3b\0\x02\x03\0\0\0\x01\0\0\x01\0\0\0\x01" PROVIDER;
	static const char three[] = HEAD "\x3c\0\x02\x04\0\0\0\x01\0\0\x01\0\0\0\x01\0" PROVIDER;
	static const char four[] =
		HEAD "\x43\0\x02\x05\0\0\0\x01\0\0\x01\0\0\0\x08\0\0\0\0\0\0\0\0" PROVIDER;
	static const char five[] =
		HEAD "\x4c\0\x02\x06\0\0\0\0\0\0\0\x01\0\0\x01\0\0\0\x08\0\0\0\0\0\0\0\0" PROVIDER
		     "\0\0\0\0\0";
	static const struct {
		enum ipc_command command;
		const char *bytes;
		size_t size;
	} cases[] = {
		{ IPC_COLLECT_TRACING_2, two, sizeof(two) - 1 },
		{ IPC_COLLECT_TRACING_3, three, sizeof(three) - 1 },
		{ IPC_COLLECT_TRACING_4, four, sizeof(four) - 1 },
		{ IPC_COLLECT_TRACING_5, five, sizeof(five) - 1 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text message = { 0 };
		ipc_collect_message(&message, cases[i].command, &session);
		expect(&message, cases[i].bytes, cases[i].size);
		text_deinit(&message);
	}
}

static enum hd_status parse(const char *head, size_t *size, bool *is_error)
{
	return ipc_parse_reply((const uint8_t *)head, size, is_error, NULL);
}

TEST(a_profiler_is_sent_with_its_path_and_data)
{
	/* "/e", U+00E9, U+1F600; ipc-protocol.md of dotnet/diagnostics has the order. */
	static const char payload[] = "\x10\x27\0\0"
				      "ABCDEFGHIJKLMNOP"
				      "\6\0\0\0/\0e\0\xe9\0\x3d\xd8\0\xde\0\0"
				      "\3\0\0\0a\0b";
	struct text message = { 0 }, data = { 0 };
	text_append(&data, "a\0b", 3);
	struct ipc_profiler profiler = { .timeout_ms = 10000,
					 .path = "/e\xc3\xa9\xf0\x9f\x98\x80",
					 .data = &data };
	memcpy(profiler.class_id, "ABCDEFGHIJKLMNOP", 16);
	CU_ASSERT_FATAL(ipc_profiler_message(&message, &profiler));
	CU_ASSERT_EQUAL(message.size, 20 + sizeof(payload) - 1);
	CU_ASSERT_EQUAL(memcmp(message.bytes + 14, "\x3f\0\3\1\0\0", 6), 0);
	CU_ASSERT_EQUAL(memcmp(message.bytes + 20, payload, sizeof(payload) - 1), 0);
	text_deinit(&message);
	while (data.size < 65535)
		text_append(&data, "abcdefgh", 8);
	CU_ASSERT(!ipc_profiler_message(&message, &profiler));
	CU_ASSERT_EQUAL(message.size, 0);
	text_deinit(&message);
	text_deinit(&data);
}

TEST(replies_are_told_from_garbage)
{
	size_t size = 0;
	bool is_error = true;
	ASSERT_UINT(parse(HEAD "\x1c\0\xff\0\0\0", &size, &is_error), HD_OK);
	ASSERT_UINT(size, 28);
	CU_ASSERT(!is_error);
	ASSERT_UINT(parse(HEAD "\x18\0\xff\xff\0\0", &size, &is_error), HD_OK);
	CU_ASSERT(is_error);
	ASSERT_UINT(parse(HEAD "\xff\xff\xff\0\0\0", &size, &is_error), HD_OK);
	ASSERT_UINT(size, 65535);
	/* Shorter than its header, an error without a code, another set, id, magic. */
	ASSERT_UINT(parse(HEAD "\x13\0\xff\0\0\0", &size, &is_error), HD_ERR_FORMAT);
	ASSERT_UINT(parse(HEAD "\x16\0\xff\xff\0\0", &size, &is_error), HD_ERR_FORMAT);
	ASSERT_UINT(parse(HEAD "\x1c\0\x02\0\0\0", &size, &is_error), HD_ERR_FORMAT);
	ASSERT_UINT(parse(HEAD "\x1c\0\xff\x07\0\0", &size, &is_error), HD_ERR_FORMAT);
	ASSERT_UINT(parse("DOTNET_IPC_V2\0\x1c\0\xff\0\0\0", &size, &is_error), HD_ERR_FORMAT);
}

TEST(a_runtime_introduces_itself)
{
	static const char bytes[] = "ADVR_V1\0"
				    "0123456789abcdef\x39\x05\0\0\0\0\0\0\0";
	struct ipc_advertise advertise;
	CU_ASSERT_FATAL(sizeof(bytes) >= IPC_ADVERTISE_SIZE);
	CU_ASSERT(ipc_parse_advertise((const uint8_t *)bytes, &advertise));
	ASSERT_UINT(advertise.pid, 1337);
	CU_ASSERT(memcmp(advertise.cookie, "0123456789abcdef", 16) == 0);
	CU_ASSERT(!ipc_parse_advertise((const uint8_t *)"ADVR_V2\0", &advertise));
}

/* pid, cookie, "", "L", "", "a", then the version. */
static const char info[] = "\x01\0\0\0\0\0\0\0"
			   "0123456789abcdef"
			   "\0\0\0\0"
			   "\x02\0\0\0L\0\0\0"
			   "\0\0\0\0"
			   "\x02\0\0\0a\0\0\0"
			   "\x07\0\0\0\x31\0\x30\0.\0\x30\0.\0\x31\0\0\0";

TEST(the_version_is_found)
{
	struct text text = { 0 };
	CU_ASSERT(ipc_parse_runtime_version((const uint8_t *)info, sizeof(info) - 1, &text));
	ASSERT_TEXT(text.bytes, "10.0.1");
	text_deinit(&text);
}

TEST(no_cut_of_it_is_read_past_its_end)
{
	for (size_t size = 0; size < sizeof(info) - 1; size++) {
		struct text text = { 0 };
		uint8_t *copy = malloc(size ? size : 1);
		REQUIRE(copy);
		memcpy(copy, info, size);
		CU_ASSERT(!ipc_parse_runtime_version(copy, size, &text));
		free(copy);
		text_deinit(&text);
	}
}

TEST(known_errors_have_words)
{
	REQUIRE(ipc_error_text(0x8013136a));
	ASSERT_TEXT(ipc_error_text(0x8013136a), "a profiler is active in it");
	CU_ASSERT_PTR_NULL(ipc_error_text(0x12345678));
}

SUITE(.name = "ipc")
