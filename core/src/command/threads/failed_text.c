/* SPDX-License-Identifier: MIT */
#include "command/threads/failed_text.h"

#include <inttypes.h>
#include <string.h>

#include "command/threads/wait_text.h"
#include "inspect/value.h"
#include "runtime/type.h"
#include "util/text.h"

/* Bytes of a message that are shown. */
#define MESSAGE_MAX 120u

void append_failure(struct text *text, struct heap *heap, const struct failed_try *failed)
{
	struct exception_info info = { 0 };
	const struct object object = { .address = failed->exception, .type = failed->type };
	size_t size;
	const char *name = type_name(heap->runtime, failed->type, &size);
	text_append(text, name, size);
	if (!exception_read(heap, &object, &info))
		return;
	if (info.message) {
		size_t length = strlen(info.message), shown = length;
		if (length > MESSAGE_MAX)
			shown = MESSAGE_MAX;
		while (shown < length && shown > 0 && utf8_continues(info.message[shown]))
			shown--;
		text_puts(text, ", \"");
		text_append(text, info.message, shown);
		text_puts(text, shown < length ? "...\"" : "\"");
	}
	exception_info_deinit(&info);
}

void append_tries(struct text *text, struct heap *heap, const struct failed_try *failed)
{
	if (!failed)
		return;
	text_printf(text, ", where at least %" PRIu64 " tries have failed (", failed->count);
	append_failure(text, heap, failed);
	text_puts(text, ")");
}

void append_retry(struct text *text, const struct waits *waits, const struct failed_try *failed,
		  uint32_t trier, uint64_t count)
{
	const struct thread_wait *thread = wait_node_thread(waits, trier);
	text_printf(text,
		    count == 1 ? "%" PRIu64 " other waits for " : "%" PRIu64 " others wait for ",
		    count);
	if (thread) {
		append_thread(text, waits->heap, thread->thread);
		text_puts(text, " in ");
	} else {
		text_puts(text, "a call of ");
	}
	text_puts(text, failed->method);
	text_puts(text, ", which tries again and again");
	append_tries(text, waits->heap, failed);
}
