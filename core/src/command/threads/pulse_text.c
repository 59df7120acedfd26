/* SPDX-License-Identifier: MIT */
#include "command/threads/pulse_text.h"

#include <inttypes.h>

#include "hangs/lost_pulse.h"
#include "inspect/async_name.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/text.h"

static void append_place(struct text *text, const struct waits *waits, uint64_t method,
			 uint64_t count)
{
	text_printf(text, "%" PRIu64 " in ", count);
	(void)method_user_append(text, waits->heap->runtime, method);
}

void append_lost_pulse(struct text *text, const struct waits *waits, const struct lost_pulse *pulse)
{
	size_t size;
	const char *name = type_name(waits->heap->runtime, pulse->other->object.type, &size);
	text_printf(text, "Probably nobody wakes %" PRIu64 " threads that wait in Monitor.Wait of ",
		    pulse->threads);
	text_escape(text, name, size);
	text_printf(text, " %" PRIx64 ": ", pulse->object);
	append_place(text, waits, pulse->many_method, pulse->alike);
	text_puts(text, ", ");
	append_place(text, waits, pulse->other_method, pulse->other_alike);
	if (pulse->threads > pulse->alike + pulse->other_alike)
		text_puts(text, ", and more in other methods");
}

void append_lost_pulse_cause(struct text *text)
{
	text_puts(text, "their class calls Pulse and never PulseAll: it wakes one, who may wait "
			"for another condition and waits again");
}
