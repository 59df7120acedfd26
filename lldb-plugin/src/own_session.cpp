// SPDX-License-Identifier: MIT
#include "own_session.h"

#include <cstring>

namespace
{

int cancelled(void *)
{
	return hd_interrupted();
}

} // namespace

OwnSession::OwnSession(hd_session *settings)
{
	if (hd_session_create(&handle_, nullptr) != HD_OK)
		return;
	for (const char *name : { "max-mem", "workers", "sysroot", "symbols", "runtime", "files",
				  "trust-files", "backend" }) {
		char value[HD_SETTING_SIZE];
		if (hd_session_get(settings, name, value, sizeof(value), nullptr) == HD_OK)
			(void)!hd_session_set(handle_, name, value, nullptr);
	}
}

OwnSession::~OwnSession()
{
	hd_session_destroy(handle_);
}

hd_sink quiet_sink()
{
	hd_sink sink = {};
	sink.struct_size = sizeof(sink);
	sink.cancelled = cancelled;
	return sink;
}

bool is_code_wanted(hd_session *settings)
{
	char value[HD_SETTING_SIZE];
	return hd_session_get(settings, "code", value, sizeof(value), nullptr) == HD_OK &&
	       std::strcmp(value, "on") == 0;
}
