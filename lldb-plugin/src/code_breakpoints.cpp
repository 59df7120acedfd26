// SPDX-License-Identifier: MIT
#include "code_breakpoints.h"

#include <algorithm>
#include <cctype>
#include <cinttypes>
#include <cstdio>

#include "publication.h"
#include "writable_code.h"

namespace
{

std::string text_of(const lldb::SBStructuredData &data)
{
	char text[HD_CODE_FILE_SIZE];
	const size_t size = data.GetStringValue(text, sizeof(text));
	return size && size < sizeof(text) ? std::string(text, size) : "";
}

uint64_t address_of(lldb::SBBreakpointLocation &place)
{
	const uint64_t address = place.GetLoadAddress();
	return place.IsEnabled() && address != LLDB_INVALID_ADDRESS ? address : 0;
}

bool ends_with(const std::string &path, const std::string &file)
{
	if (path.size() < file.size() ||
	    path.compare(path.size() - file.size(), file.size(), file) != 0)
		return false;
	return path.size() == file.size() || file[0] == '/' ||
	       path[path.size() - file.size() - 1] == '/';
}

bool has(const std::vector<std::string> &names, const std::string &name)
{
	return std::find(names.begin(), names.end(), name) != names.end();
}

/// A method without the number of its instance, or its arguments.
std::string plain_name(const std::string &name)
{
	return name.substr(0, std::min(name.find(" ["), name.find('(')));
}

/// A method without generic arguments, as its users write it; names that the compiler has made keep their <.
std::string bare_name(const std::string &name)
{
	std::string found;
	size_t depth = 0, made = 0;
	for (size_t i = 0; i < name.size(); i++) {
		const bool opens = name[i] == '<', closes = name[i] == '>';
		const auto before = static_cast<unsigned char>(i ? name[i - 1] : ' ');
		if (opens && !made &&
		    (depth || before == '_' || before >= 0x80 || std::isalnum(before))) {
			depth++;
		} else if (closes && depth) {
			depth--;
		} else if (!depth) {
			made += opens;
			made -= closes && made;
			found += name[i];
		}
	}
	return found;
}

} // namespace

CodeBreakpoints::Wish CodeBreakpoints::wish_of(lldb::SBBreakpoint &breakpoint)
{
	Wish wish;
	wish.breakpoint = breakpoint;
	// LLDB tells what a breakpoint is about in what it would save.
	const lldb::SBStructuredData resolver = breakpoint.SerializeToStructuredData()
							.GetValueForKey("Breakpoint")
							.GetValueForKey("BKPTResolver");
	const lldb::SBStructuredData options = resolver.GetValueForKey("Options");
	const std::string type = text_of(resolver.GetValueForKey("Type"));
	const lldb::SBStructuredData names = options.GetValueForKey("SymbolNames");
	if (type == "FileAndLine") {
		wish.file = text_of(options.GetValueForKey("FileName"));
		wish.line = static_cast<uint32_t>(
			options.GetValueForKey("LineNumber").GetIntegerValue(0));
	} else if (type == "SymbolName") {
		for (size_t i = 0; i < names.GetSize(); i++)
			wish.functions.push_back(plain_name(text_of(names.GetItemAtIndex(i))));
	}
	wish.is_open = type != "Address" && wish.file.empty() && wish.functions.empty();
	return wish;
}

void CodeBreakpoints::read(lldb::SBTarget &target, const hd_code *code)
{
	wishes_.clear();
	methods_.clear();
	generic_.clear();
	is_waiting_ = false;
	for (uint32_t i = 0; i < target.GetNumBreakpoints(); i++) {
		lldb::SBBreakpoint breakpoint = target.GetBreakpointAtIndex(i);
		if (!breakpoint.IsEnabled() || is_own(breakpoint))
			continue;
		Wish wish = wish_of(breakpoint);
		wish.waits = true;
		for (size_t j = 0; j < breakpoint.GetNumLocations(); j++) {
			lldb::SBBreakpointLocation place =
				breakpoint.GetLocationAtIndex(static_cast<uint32_t>(j));
			const uint64_t address = address_of(place);
			if (!address)
				continue;
			wish.waits = false;
			const uint64_t method = code ? hd_code_method(code, address) : 0;
			if (!method)
				continue;
			methods_.insert(method);
			// Other instances of it may come, for other types.
			const char *name = place.GetAddress().GetFunction().GetName();
			const std::string own = plain_name(name ? name : "");
			if (bare_name(own) != own)
				generic_.insert(bare_name(own));
		}
		is_waiting_ |= wish.waits;
		wishes_.push_back(wish);
	}
}

uint32_t CodeBreakpoints::line_of(hd_session *session, const Wish &wish)
{
	const std::pair<std::string, uint32_t> key(wish.file, wish.line);
	const auto known = lines_.find(key);
	if (known != lines_.end())
		return known->second;
	struct hd_code_line line = {};
	line.struct_size = sizeof(line);
	line.file = wish.file.c_str();
	line.line = wish.line;
	if (hd_code_line(session, &line, nullptr) != HD_OK || !line.found)
		return wish.line;
	return lines_[key] = line.found;
}

bool CodeBreakpoints::wants(hd_session *session, const hd_code_place &place)
{
	if (has_method(place.method))
		return true;
	std::string file = place.file;
	std::replace(file.begin(), file.end(), '\\', '/');
	const std::string name = plain_name(place.name), bare = bare_name(name);
	if (generic_.count(bare))
		return true;
	for (const Wish &wish : wishes_) {
		if (!wish.waits)
			continue;
		if (wish.is_open || has(wish.functions, name) || has(wish.functions, bare))
			return true;
		if (wish.file.empty() || !ends_with(file, wish.file))
			continue;
		const uint32_t line = line_of(session, wish);
		if (place.first_line <= line && line <= place.last_line)
			return true;
	}
	return false;
}

bool CodeBreakpoints::is_right(const std::function<hd_session *()> &session, const Wish &wish,
			       lldb::SBBreakpointLocation &place, uint64_t address, uint64_t method)
{
	if (place.GetAddress().GetLineEntry().GetLine() == wish.line)
		return true;
	const std::tuple<std::string, uint32_t, uint64_t> key(wish.file, wish.line, method);
	const auto known = rights_.find(key);
	if (known != rights_.end())
		return known->second;
	struct hd_code_line line = {};
	line.struct_size = sizeof(line);
	line.file = wish.file.c_str();
	line.line = wish.line;
	line.address = address;
	hd_session *opened = session();
	if (!opened || hd_code_line(opened, &line, nullptr) != HD_OK)
		return true;
	return rights_[key] = line.is_there || !line.found;
}

void CodeBreakpoints::check_place(const Wish &wish, lldb::SBBreakpointLocation &place,
				  lldb::SBTarget &target, const hd_code *code,
				  const std::function<hd_session *()> &session,
				  std::vector<std::string> &say)
{
	const uint64_t address = address_of(place);
	const uint64_t method = address ? hd_code_method(code, address) : 0;
	if (method && !wish.file.empty() && !is_right(session, wish, place, address, method))
		place.SetEnabled(false);
	lldb::SBProcess process = target.GetProcess();
	if (!address || method || !is_runtime_memory(target, process, address))
		return;
	place.SetEnabled(false);
	char text[256];
	(void)std::snprintf(
		text, sizeof(text),
		"breakpoint %" PRId32 " is disabled: 0x%" PRIx64
		" is a stub of the runtime, and a breakpoint there would end the process",
		wish.breakpoint.GetID(), address);
	say.emplace_back(text);
}

void CodeBreakpoints::check(lldb::SBTarget &target, const hd_code *code,
			    const std::function<hd_session *()> &session, bool is_told,
			    std::vector<std::string> &say)
{
	for (Wish &wish : wishes_) {
		for (size_t i = 0; i < wish.breakpoint.GetNumLocations(); i++) {
			lldb::SBBreakpointLocation place =
				wish.breakpoint.GetLocationAtIndex(static_cast<uint32_t>(i));
			check_place(wish, place, target, code, session, say);
		}
	}
	read(target, code);
	for (Wish &wish : wishes_) {
		const lldb::break_id_t number = wish.breakpoint.GetID();
		if (!wish.waits || !wish.breakpoint.IsEnabled() || !told_.insert(number).second)
			continue;
		say.push_back("breakpoint " + std::to_string(number) + " waits " +
			      (is_told ? "until the method is compiled"
				       : "for the next stop after its method was compiled"));
	}
}
