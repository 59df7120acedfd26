/* SPDX-License-Identifier: MIT */
#include "collect/ipc.h"

#include <string.h>

#define MAGIC_SIZE ((size_t)14)

static const char magic[] = "DOTNET_IPC_V1";

static void ipc_put(struct text *text, const void *bytes, size_t size)
{
	text_append(text, bytes, size);
}

static void ipc_put_u8(struct text *text, uint8_t value)
{
	ipc_put(text, &value, sizeof(value));
}

static void ipc_put_u32(struct text *text, uint32_t value)
{
	ipc_put(text, &value, sizeof(value));
}

static void ipc_put_u64(struct text *text, uint64_t value)
{
	ipc_put(text, &value, sizeof(value));
}

/* UTF-16 with a zero unit, which is counted; "" has a count of 0. */
static void put_string(struct text *text, const char *ascii)
{
	size_t units = *ascii ? strlen(ascii) + 1 : 0;
	ipc_put_u32(text, (uint32_t)units);
	for (size_t i = 0; i < units; i++) {
		const char unit[2] = { ascii[i], 0 };
		ipc_put(text, unit, sizeof(unit));
	}
}

void ipc_message(struct text *message, enum ipc_command command, const void *payload, size_t size)
{
	const uint16_t total = (uint16_t)(IPC_HEADER_SIZE + size);
	const uint8_t head[6] = { (uint8_t)total,
				  (uint8_t)(total >> 8),
				  (uint8_t)(command >> 8),
				  (uint8_t)command,
				  0,
				  0 };
	ipc_put(message, magic, MAGIC_SIZE);
	ipc_put(message, head, sizeof(head));
	if (size)
		ipc_put(message, payload, size);
}

/* The character at *@p at of UTF-8, which goes on; a byte that is no part of one is itself. */
static uint32_t take_character(const char **at)
{
	const uint8_t *bytes = (const uint8_t *)*at;
	size_t length = utf8_length(*at, strlen(*at));
	*at += length ? length : 1;
	if (length < 2)
		return bytes[0];
	uint32_t character = bytes[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++)
		character = character << 6 | (bytes[i] & 0x3fu);
	return character;
}

static void put_unit(struct text *text, uint32_t unit)
{
	const uint8_t bytes[2] = { (uint8_t)unit, (uint8_t)(unit >> 8) };
	ipc_put(text, bytes, sizeof(bytes));
}

/* UTF-16 with a zero unit, which is counted. */
static void put_path(struct text *text, const char *utf8)
{
	HD_CLEANUP(text) struct text units = { 0 };
	while (*utf8) {
		uint32_t character = take_character(&utf8);
		if (character >= 0x10000) {
			put_unit(&units, 0xd800 + ((character - 0x10000) >> 10));
			character = 0xdc00 + ((character - 0x10000) & 0x3ff);
		}
		put_unit(&units, character);
	}
	put_unit(&units, 0);
	ipc_put_u32(text, (uint32_t)(units.size / 2));
	if (units.bytes)
		ipc_put(text, units.bytes, units.size);
	text->failed = text->failed || units.failed;
}

bool ipc_profiler_message(struct text *message, const struct ipc_profiler *profiler)
{
	HD_CLEANUP(text) struct text payload = { 0 };
	ipc_put_u32(&payload, profiler->timeout_ms);
	ipc_put(&payload, profiler->class_id, sizeof(profiler->class_id));
	put_path(&payload, profiler->path);
	ipc_put_u32(&payload, (uint32_t)profiler->data->size);
	if (profiler->data->size)
		ipc_put(&payload, profiler->data->bytes, profiler->data->size);
	bool fits = payload.size <= UINT16_MAX - IPC_HEADER_SIZE;
	if (fits)
		ipc_message(message, IPC_ATTACH_PROFILER, payload.bytes, payload.size);
	message->failed = message->failed || payload.failed;
	return fits;
}

void ipc_collect_message(struct text *message, enum ipc_command command,
			 const struct ipc_session *session)
{
	HD_CLEANUP(text) struct text payload = { 0 };
	const bool is_5 = command == IPC_COLLECT_TRACING_5;
	if (is_5)
		ipc_put_u32(&payload, 0); /* the stream goes over this connection */
	ipc_put_u32(&payload, session->buffer_mb);
	ipc_put_u32(&payload, 1); /* NetTrace */
	if (is_5 || command == IPC_COLLECT_TRACING_4) {
		ipc_put_u64(&payload, session->rundown);
	} else {
		ipc_put_u8(&payload, session->rundown != 0);
	}
	if (command != IPC_COLLECT_TRACING_2)
		ipc_put_u8(&payload, 0); /* no stacks */
	ipc_put_u32(&payload, 1);
	ipc_put_u64(&payload, session->provider.keywords);
	ipc_put_u32(&payload, session->provider.level);
	put_string(&payload, session->provider.name);
	put_string(&payload, "");
	if (is_5) { /* no filter: all events */
		ipc_put_u8(&payload, 0);
		ipc_put_u32(&payload, 0);
	}
	ipc_message(message, command, payload.bytes, payload.size);
	message->failed = message->failed || payload.failed;
}

enum hd_status ipc_parse_reply(const uint8_t *header, size_t *ret_size, bool *ret_is_error,
			       struct hd_error *err)
{
	size_t size = header[14] | (size_t)header[15] << 8;
	if (memcmp(header, magic, MAGIC_SIZE) != 0 || header[16] != 0xff)
		return fail(err, HD_ERR_FORMAT, 0, "not an answer of a .NET runtime");
	if ((header[17] != 0 && header[17] != 0xff) || size < IPC_HEADER_SIZE ||
	    (header[17] && size < IPC_HEADER_SIZE + 4))
		return fail(err, HD_ERR_FORMAT, 0, "an answer that breaks the protocol");
	*ret_size = size;
	*ret_is_error = header[17] == 0xff;
	return HD_OK;
}

bool ipc_parse_advertise(const uint8_t *bytes, struct ipc_advertise *ret)
{
	if (memcmp(bytes, "ADVR_V1", 8) != 0)
		return false;
	memcpy(ret->cookie, bytes + 8, sizeof(ret->cookie));
	memcpy(&ret->pid, bytes + 24, sizeof(ret->pid));
	return true;
}

/* Skip a string, or append its ASCII to @p ret; false: it goes past the end. */
static bool take_string(const uint8_t *payload, size_t size, size_t *at, struct text *ret)
{
	uint32_t units;
	if (size - *at < sizeof(units))
		return false;
	memcpy(&units, payload + *at, sizeof(units));
	*at += sizeof(units);
	if (units > (size - *at) / 2)
		return false;
	for (uint32_t i = 0; ret && i < units; i++) {
		const uint8_t *unit = payload + *at + 2 * (size_t)i;
		if (!unit[0] && !unit[1])
			break;
		const bool is_plain = !unit[1] && unit[0] >= ' ' && unit[0] <= '~';
		text_append(ret, is_plain ? (const char *)unit : "?", 1);
	}
	*at += 2 * (size_t)units;
	return true;
}

bool ipc_parse_runtime_version(const uint8_t *payload, size_t size, struct text *ret)
{
	size_t at = 24; /* u64 pid, cookie; command line, OS, architecture, entry assembly */
	if (size < at)
		return false;
	for (int i = 0; i < 4; i++) {
		if (!take_string(payload, size, &at, NULL))
			return false;
	}
	return take_string(payload, size, &at, ret) && ret->size > 0 && !ret->failed;
}

const char *ipc_error_text(uint32_t code)
{
	switch (code) {
	case IPC_BAD_ENCODING:
		return "it does not understand the request";
	case IPC_UNKNOWN_COMMAND:
		return "its version does not have the command";
	case 0x80131386:
		return "it speaks another version of the protocol";
	case 0x80131515:
		return "it does not support that";
	case IPC_PROFILER_ACTIVE:
		return "a profiler is active in it";
	case 0x80131371:
		return "its runtime has not started yet: try again";
	case 0x8013135b:
		return "it is not available yet: try again";
	case 0x80070057:
		return "it does not take the arguments";
	case 0x80004005:
		return "it could not do it";
	default:
		return NULL;
	}
}
