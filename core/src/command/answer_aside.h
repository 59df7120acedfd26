/* SPDX-License-Identifier: MIT */
/* The answer of a call, set aside while another one is written into a file. */
#pragma once

#include "command/call.h"

struct answer_aside {
	struct out out;
	struct json json;
	struct answer answer;
	bool as_json;
};

/** From now on the answer of @p call is in @p format, and goes to @p sink. */
void answer_set_aside(struct call *call, const struct hd_sink *sink, enum answer_format format,
		      struct answer_aside *ret);

/** Give the sink all that is left; HD_ERR_CANCELLED: it wants no more; HD_ERR_NOMEM. */
HD_NODISCARD enum hd_status answer_aside_flush(struct call *call);

/** The first answer goes on. */
void answer_take_back(struct call *call, const struct answer_aside *aside);
