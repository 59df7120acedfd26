/* SPDX-License-Identifier: MIT */
#include "analysis/requests/server_requests.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"

#define STRUCT_FLAGS 0x00040000u
#define ENUM_FLAGS   0x00060000u
#define KESTREL      "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http"

/* Offsets of the fields of HttpProtocol, from the object's begin. */
enum {
	METHOD_TEXT = 8,
	PATH = 16,
	STATUS_CODE = 24,
	STATUS = 28,
	METHOD = 29,
	VERSION = 30
};

static struct fake_clr *fake;
static struct fake_types *types;
static struct members *members;
static struct server_requests requests;
static uint64_t context_type, protocol_type, connection_type, other_type;

static uint64_t make_enum(uint64_t base, const char *name, const char *const *names)
{
	struct fake_field fields[8] = { { .name = "value__", .element = ELEMENT_U1 } };
	for (size_t i = 0; names[i]; i++) {
		fields[i + 1] = (struct fake_field){
			.name = names[i], .element = ELEMENT_U1, .is_literal = true, .constant = i
		};
	}
	return fake_class(
		types, &(struct fake_class){
			       .space = KESTREL,
			       .name = name,
			       .fields = fields,
			       .type = { .base_size = 24, .flags = ENUM_FLAGS, .parent = base } });
}

static void make_protocol_types(void)
{
	static const char *const states[] = { "RequestPending",   "ParsingRequestLine",
					      "ParsingHeaders",   "AppStarted",
					      "HeadersCommitted", NULL };
	static const char *const methods[] = { "Get", "Put", "Custom", NULL };
	static const char *const versions[] = { "Http10", "Http11", "Http2", NULL };
	uint64_t base = fake_class(types, &(struct fake_class){ .space = "System",
								.name = "Enum",
								.type = { .base_size = 24 } });
	const struct fake_field protocol[] = {
		{ .name = "_methodText", .element = ELEMENT_CLASS, .offset = METHOD_TEXT - 8 },
		{ .name = "<Path>k__BackingField", .element = ELEMENT_CLASS, .offset = PATH - 8 },
		{ .name = "_statusCode", .element = ELEMENT_I4, .offset = STATUS_CODE - 8 },
		{ .name = "_requestProcessingStatus",
		  .element = ELEMENT_U1,
		  .type = make_enum(base, "RequestProcessingStatus", states),
		  .offset = STATUS - 8 },
		{ .name = "<Method>k__BackingField",
		  .element = ELEMENT_U1,
		  .type = make_enum(base, "HttpMethod", methods),
		  .offset = METHOD - 8 },
		{ .name = "_httpVersion",
		  .element = ELEMENT_U1,
		  .type = make_enum(base, "HttpVersion", versions),
		  .offset = VERSION - 8 },
		{ .name = NULL },
	};
	protocol_type = fake_class(types, &(struct fake_class){ .space = KESTREL,
								.name = "HttpProtocol",
								.fields = protocol,
								.type = { .base_size = 48 } });
	connection_type = fake_class(
		types,
		&(struct fake_class){ .space = KESTREL,
				      .name = "Http1Connection",
				      .inherited = 6,
				      .type = { .base_size = 48, .parent = protocol_type } });
}

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	make_protocol_types();
	const struct fake_field references[] = {
		{ .name = "<Collection>k__BackingField", .element = ELEMENT_CLASS },
		{ .name = NULL },
	};
	uint64_t references_type = fake_class(
		types, &(struct fake_class){ .name = "FeatureReferences",
					     .fields = references,
					     .type = { .base_size = 24, .flags = STRUCT_FLAGS } });
	const struct fake_field context[] = {
		{ .name = "_features", .element = ELEMENT_VALUE, .type = references_type },
		{ .name = NULL },
	};
	context_type = fake_class(types, &(struct fake_class){ .space = "Microsoft.AspNetCore.Http",
							       .name = "DefaultHttpContext",
							       .fields = context,
							       .type = { .base_size = 24 } });
	other_type = fake_class(
		types, &(struct fake_class){ .name = "OtherServer", .type = { .base_size = 24 } });
	fake_types_attach(types);
	(void)fake_segment(fake, 0, GENERATION_0, 0x4000);
}

static void tear_down(void)
{
	server_requests_deinit(&requests);
	members_destroy(members);
	members = NULL;
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

/* A connection in state number @p status that answers the enum's method number @p method. */
static uint64_t make_connection(uint8_t status, uint8_t method, const char *text)
{
	uint64_t string = text ? fake_string(fake, text) : 0, path = fake_string(fake, "/orders");
	uint64_t connection = fake_object(fake, connection_type, 0);
	fake_poke_u64(&fake->memory, connection + METHOD_TEXT, string);
	fake_poke_u64(&fake->memory, connection + PATH, path);
	fake_poke_u32(&fake->memory, connection + STATUS_CODE, 202);
	fake_poke_u32(&fake->memory, connection + STATUS,
		      status | (uint32_t)method << 8 | 1u << 16);
	return connection;
}

static uint64_t make_context(uint64_t features)
{
	uint64_t context = fake_object(fake, context_type, 0);
	fake_poke_u64(&fake->memory, context + 8, features);
	return context;
}

static void read_requests(size_t count)
{
	struct heap *heap = fake_heap(fake);
	ASSERT_UINT(members_create(heap, &members, NULL), HD_OK);
	ASSERT_UINT(server_requests_read(heap, members, NULL, &requests, NULL), HD_OK);
	CU_ASSERT_FATAL(requests.rows_count == count);
}

static void check_method(const struct served_request *request, const char *expected)
{
	struct text text = { 0 };
	bool is_known = server_method_append(&text, fake->heap, request);
	CU_ASSERT_EQUAL(is_known, expected != NULL);
	if (is_known)
		ASSERT_TEXT(text.bytes, expected);
	text_deinit(&text);
}

TEST(the_application_has_a_request_while_its_context_has_features)
{
	uint64_t running = make_connection(3, 0, "GET"), responding = make_connection(4, 0, "GET");
	uint64_t stream = make_connection(0, 0, "GET"), idle = make_connection(0, 0, "GET");
	uint64_t contexts[4] = { make_context(running), make_context(0), make_context(responding),
				 make_context(stream) };
	(void)idle;
	read_requests(3);
	ASSERT_UINT(requests.rows[0].context, contexts[0]);
	ASSERT_UINT(requests.rows[0].features.address, running);
	ASSERT_UINT(requests.rows[0].state, SERVER_RUNNING);
	ASSERT_UINT(requests.rows[0].status, 202);
	CU_ASSERT(requests.rows[0].has_status && requests.rows[0].strings[SERVER_PATH]);
	ASSERT_TEXT(server_protocol(fake->heap, &requests.rows[0]), "HTTP/1.1");
	ASSERT_UINT(requests.rows[1].context, contexts[2]);
	ASSERT_UINT(requests.rows[1].state, SERVER_RESPONDING);
	ASSERT_UINT(requests.rows[2].context, contexts[3]);
	ASSERT_UINT(requests.rows[2].state, SERVER_RUNNING);
	ASSERT_UINT(requests.unknown, 0);
}

TEST(a_request_whose_head_is_not_complete_has_no_context)
{
	uint64_t line = make_connection(1, 0, NULL), headers = make_connection(2, 0, NULL);
	read_requests(2);
	ASSERT_UINT(requests.rows[0].context, 0);
	ASSERT_UINT(requests.rows[0].features.address, line);
	ASSERT_UINT(requests.rows[1].features.address, headers);
	ASSERT_UINT(requests.rows[1].state, SERVER_READING);
}

TEST(a_method_that_nobody_asked_for_is_that_of_the_enum)
{
	(void)make_context(make_connection(3, 1, NULL));
	(void)make_context(make_connection(3, 2, "BREW"));
	(void)make_context(make_connection(3, 2, NULL));
	read_requests(3);
	check_method(&requests.rows[0], "PUT");
	check_method(&requests.rows[1], "BREW");
	check_method(&requests.rows[2], NULL);
}

TEST(of_another_server_nothing_is_known)
{
	uint64_t features = fake_object(fake, other_type, 0);
	(void)make_context(features);
	(void)make_context(0x123450);
	read_requests(1);
	ASSERT_UINT(requests.unknown, 1);
	CU_ASSERT(!requests.rows[0].has_status);
	CU_ASSERT_PTR_NULL(server_protocol(fake->heap, &requests.rows[0]));
	check_method(&requests.rows[0], NULL);
}

SUITE(.name = "server requests", .set_up = set_up, .tear_down = tear_down)
