// SPDX-License-Identifier: MIT
#include "core_file.h"

#include <cstring>
#include <elf.h>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

namespace
{

/// Stretches of memory that are compared, and bytes of each.
constexpr size_t compared_stretches = 16;
constexpr size_t compared_bytes = 1024;
/// Threads whose stack is compared: what differs most between two cores of one program.
constexpr uint32_t compared_threads = 16;
/// Cores have one program header for each range of memory, and not more than this.
constexpr size_t headers_max = 65535;

/// The files that this process has mapped from their beginning on.
std::set<std::string> mapped_files()
{
	std::set<std::string> files;
	std::ifstream maps("/proc/self/maps");
	std::string line;
	while (std::getline(maps, line)) {
		// address permissions offset device inode path
		std::istringstream fields(line);
		std::string address, permissions, offset, device, inode, path;
		fields >> address >> permissions >> offset >> device >> inode >> std::ws;
		std::getline(fields, path);
		if (!path.empty() && path[0] == '/' &&
		    offset.find_first_not_of('0') == std::string::npos)
			files.insert(path);
	}
	return files;
}

bool read_at(std::ifstream &file, uint64_t offset, void *buf, size_t size)
{
	file.clear();
	file.seekg(static_cast<std::streamoff>(offset));
	file.read(static_cast<char *>(buf), static_cast<std::streamsize>(size));
	return file.gcount() == static_cast<std::streamsize>(size);
}

/// The stretches of memory that @p file has, when it is a core.
std::vector<Elf64_Phdr> stretches_of(std::ifstream &file)
{
	std::vector<Elf64_Phdr> rows;
	Elf64_Ehdr header;
	if (!read_at(file, 0, &header, sizeof(header)) ||
	    std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_CORE ||
	    header.e_phentsize != sizeof(Elf64_Phdr))
		return rows;
	for (size_t i = 0; i < header.e_phnum && i < headers_max; i++) {
		Elf64_Phdr row;
		if (!read_at(file, header.e_phoff + i * sizeof(row), &row, sizeof(row)))
			break;
		if (row.p_type == PT_LOAD && row.p_filesz >= compared_bytes)
			rows.push_back(row);
	}
	return rows;
}

enum class Match {
	unknown,
	same,
	different
};

/// Has the core the same bytes @p offset after the beginning of @p row?
Match compare(std::ifstream &file, const Elf64_Phdr &row, uint64_t offset, lldb::SBProcess &process)
{
	char stored[compared_bytes], read[compared_bytes];
	lldb::SBError error;
	const uint64_t left = row.p_filesz - offset;
	const size_t size = left < sizeof(stored) ? static_cast<size_t>(left) : sizeof(stored);
	if (!read_at(file, row.p_offset + offset, stored, size))
		return Match::unknown; // it was cut short
	return process.ReadMemory(row.p_vaddr + offset, read, size, error) == size &&
			       std::memcmp(stored, read, size) == 0
		       ? Match::same
		       : Match::different;
}

bool is_core_of(const std::string &path, lldb::SBProcess &process)
{
	std::ifstream file(path, std::ios::binary);
	const std::vector<Elf64_Phdr> rows = stretches_of(file);
	const size_t step = rows.size() / compared_stretches + 1;
	bool is_same = false;
	for (size_t i = 0; i < rows.size(); i += step) {
		const Match match = compare(file, rows[i], 0, process);
		if (match == Match::different)
			return false;
		is_same |= match == Match::same;
	}
	for (uint32_t i = 0; i < process.GetNumThreads() && i < compared_threads; i++) {
		const uint64_t sp = process.GetThreadAtIndex(i).GetFrameAtIndex(0).GetSP();
		for (const Elf64_Phdr &row : rows) {
			if (sp >= row.p_vaddr && sp - row.p_vaddr < row.p_filesz &&
			    compare(file, row, sp - row.p_vaddr, process) == Match::different)
				return false;
		}
	}
	return is_same;
}

} // namespace

std::string mapped_core(lldb::SBProcess &process)
{
	std::string found;
	for (const std::string &path : mapped_files()) {
		if (!is_core_of(path, process))
			continue;
		if (!found.empty())
			return ""; // they cannot be told apart
		found = path;
	}
	return found;
}
