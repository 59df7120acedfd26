/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COMMAND_TYPE_METHODS_H
#define HEAPDUMP_SRC_COMMAND_TYPE_METHODS_H

#include "clr/types/type.h"
#include "command/call.h"

/**
 * Write the methods of @p type as SOS's dumpmt -md does: first the slots of its vtable, inherited ones, too,
 * then the other methods that it declares.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status write_type_methods(struct call *call, const struct type *type);

#endif
