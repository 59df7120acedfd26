/* SPDX-License-Identifier: MIT */
#pragma once

#include "com.h"

/** The one object of the class: an ICorProfilerCallback to ICorProfilerCallback11.  Never freed. */
void *callbacks_object(void);

/** The QueryInterface of that object. */
hresult callbacks_query(void *self, const struct com_id *id, void **ret);
