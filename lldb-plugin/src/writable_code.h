// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_WRITABLE_CODE_H
#define HEAPDUMP_LLDB_WRITABLE_CODE_H

#include <lldb/API/LLDB.h>
#include <string>

/// Let a debugger write breakpoints into code of .NET, whose pages are shared and cannot be written to (W^X;
/// doc/managed-elf.md 6): the process calls mprotect().  Pages that are writable already are left alone.
///
/// @param[out] message why it cannot be done; "" when it was, or when nothing had to be done
/// @return how many ranges were changed
size_t make_code_writable(lldb::SBTarget &target, lldb::SBProcess &process, std::string &message);

/// Is @p address in memory that .NET runs, compiled code or a stub, and that no file has?  false: it is not, or that is
/// not known.
bool is_runtime_memory(lldb::SBTarget &target, lldb::SBProcess &process, uint64_t address);

#endif
