/* SPDX-License-Identifier: MIT */
#include "util/broker_set.h"

#include <stdbool.h>

static struct hd_broker broker;
static bool is_set;

void hd_broker_set(const struct hd_broker *with)
{
	is_set = with && with->struct_size == sizeof(*with);
	if (is_set)
		broker = *with;
}

const struct hd_broker *broker_current(void)
{
	return is_set ? &broker : 0;
}
