// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_CORE_FILE_H
#define HEAPDUMP_LLDB_CORE_FILE_H

#include <lldb/API/LLDB.h>
#include <string>

/// Path of the core file that this LLDB has mapped for @p process, or "": none of those that are
/// mapped, or more than one, has the same bytes of memory.
std::string mapped_core(lldb::SBProcess &process);

#endif
