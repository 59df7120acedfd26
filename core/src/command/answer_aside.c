/* SPDX-License-Identifier: MIT */
#include "command/answer_aside.h"

void answer_set_aside(struct call *call, const struct hd_sink *sink, enum answer_format format,
		      struct answer_aside *ret)
{
	*ret = (struct answer_aside){ call->out, call->json, call->answer, call->as_json };
	out_init(&call->out, sink, 0, false);
	call->as_json = format == FORMAT_JSON;
	call->out.is_document = call->as_json;
	call->out.ends_crlf = format == FORMAT_CSV;
	call->json = (struct json){ .out = &call->out };
	answer_init(&call->answer, format, &call->out, &call->json);
	call->answer.is_raw_csv = call->settings.raw_csv;
}

enum hd_status answer_aside_flush(struct call *call)
{
	out_flush(&call->out);
	if (!call->out.stopped)
		return HD_OK;
	return call->out.text.failed ? fail_nomem(call->err) : fail_cancelled(call->err);
}

void answer_take_back(struct call *call, const struct answer_aside *aside)
{
	text_deinit(&call->out.text);
	call->out = aside->out;
	call->json = aside->json;
	call->answer = aside->answer;
	call->as_json = aside->as_json;
}
