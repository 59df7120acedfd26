/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"
#include "util/text.h"

/* Messages of the .NET diagnostics IPC (doc/formats.md 8.2; ipc-protocol.md of dotnet/diagnostics). */

#define IPC_HEADER_SIZE    ((size_t)20)
#define IPC_ADVERTISE_SIZE ((size_t)34)

/** Command set and command. */
enum ipc_command {
	IPC_STOP_TRACING = 0x0201,
	IPC_COLLECT_TRACING_2 = 0x0203,
	IPC_COLLECT_TRACING_3 = 0x0204,
	IPC_COLLECT_TRACING_4 = 0x0205,
	IPC_COLLECT_TRACING_5 = 0x0206,
	IPC_ATTACH_PROFILER = 0x0301,
	IPC_PROCESS_INFO = 0x0400,
	IPC_RESUME_RUNTIME = 0x0401,
	IPC_PROCESS_INFO_2 = 0x0404,
};

/** HRESULTs of the runtime (ds-rt.h, corerror.xml). */
#define IPC_PROFILER_ACTIVE UINT32_C(0x8013136a)
#define IPC_BAD_ENCODING    UINT32_C(0x80131384)
#define IPC_UNKNOWN_COMMAND UINT32_C(0x80131385)

/** An event provider of a session. */
struct ipc_provider {
	uint64_t keywords;
	uint32_t level;
	const char *name; /**< ASCII */
};

/** A session of the runtime's, as we ask for it. */
struct ipc_session {
	uint32_t buffer_mb;
	uint64_t rundown; /**< keywords of the rundown provider; 0: none */
	struct ipc_provider provider;
};

/** Append the message of a command without payload, or with @p size bytes of it. */
void ipc_message(struct text *message, enum ipc_command command, const void *payload, size_t size);

/** Append the message that begins a session; @p command is one of IPC_COLLECT_TRACING_... */
void ipc_collect_message(struct text *message, enum ipc_command command,
			 const struct ipc_session *session);

/** A library that the runtime is to load as a profiler. */
struct ipc_profiler {
	uint32_t
		timeout_ms; /**< how long the runtime may wait for a concurrent collection to end */
	uint8_t class_id[16];
	const char *path;        /**< UTF-8, as the process sees it */
	const struct text *data; /**< what the profiler gets */
};

/** Append the message that sends a profiler; false: it has no room for the path and the data. */
bool ipc_profiler_message(struct text *message, const struct ipc_profiler *profiler);

/**
 * Look at the first IPC_HEADER_SIZE bytes of a reply.
 *
 * @param[out] ret_size Size of the whole reply, at least IPC_HEADER_SIZE.
 * @param[out] ret_is_error Whether its payload is an HRESULT.
 * @retval HD_ERR_FORMAT it is not a reply
 */
HD_NODISCARD enum hd_status ipc_parse_reply(const uint8_t *header, size_t *ret_size,
					    bool *ret_is_error, struct hd_error *err);

/** The message with which a runtime begins when it connects to us. */
struct ipc_advertise {
	uint8_t cookie[16];
	uint64_t pid; /**< its id in its own namespace */
};

/** Decode IPC_ADVERTISE_SIZE bytes; false if they are something else. */
bool ipc_parse_advertise(const uint8_t *bytes, struct ipc_advertise *ret);

/** Find the version of the runtime ("10.0.12") in the payload of IPC_PROCESS_INFO_2. */
bool ipc_parse_runtime_version(const uint8_t *payload, size_t size, struct text *ret);

/** The meaning of an HRESULT, in a few words; NULL: not known. */
const char *ipc_error_text(uint32_t code);
