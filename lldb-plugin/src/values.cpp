// SPDX-License-Identifier: MIT
#include "values.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <vector>

#include <heapdump/answer.h>

#include "lldb_session.h"

namespace
{

constexpr const char *category_name = "dotnet";
/// Bytes of a text that a summary shows.
constexpr size_t text_most = 1000;

/// Pointers to what has a dot in its name: no type of C has one.
constexpr const char *objects = "^[^ ]*\\..* \\*$";
/// References of C++: so the DWARF of NativeAOT programs has variables.
constexpr const char *references = "^[^ ]+ &$";
/// Bases of a class that are looked at.
constexpr int depth_most = 64;
/// Structs of the framework whose values have texts.
constexpr const char *structs =
	"^System\\.(DateTime|DateTimeOffset|DateOnly|TimeOnly|TimeSpan|Guid|Decimal|Nullable<.*>)$";

std::string hex(uint64_t number)
{
	char text[19];
	(void)std::snprintf(text, sizeof(text), "0x%" PRIx64, number);
	return text;
}

/// Text of the target, with what a terminal would act on as escapes, and not too long.
std::string shown(const hd_value &value)
{
	size_t size = value.size < text_most ? value.size : text_most;
	while (size && size < value.size && (value.text[size] & 0xc0) == 0x80)
		size--;
	std::vector<char> copy(6 * size + 1);
	std::string text(copy.data(), hd_escape(value.text, size, copy.data(), copy.size()));
	return size < value.size ? text + "..." : text;
}

/// The answer of a command.
class Answer
{
      public:
	Answer(hd_session *session, const std::vector<std::string> &words)
	{
		const hd_sink sink = quiet_sink();
		std::vector<const char *> argv;
		for (const std::string &word : words)
			argv.push_back(word.c_str());
		is_good_ = hd_rows_run(session, static_cast<int>(argv.size()), argv.data(), &sink,
				       &rows_, nullptr) <= HD_EXIT_FINDINGS;
	}
	~Answer()
	{
		hd_rows_free(rows_);
	}
	Answer(const Answer &) = delete;
	Answer &operator=(const Answer &) = delete;

	bool is_good() const
	{
		return is_good_;
	}
	/// A text, or a number; false when it is absent.
	bool member(const char *name, std::string &ret) const
	{
		const hd_value *value = is_good_ ? hd_rows_member(rows_, name) : nullptr;
		return value && take(*value, ret);
	}
	/// The same of a row of a table.
	bool cell(const char *table, uint64_t row, const char *name, std::string &ret) const
	{
		const hd_table *found = is_good_ ? hd_rows_find(rows_, table) : nullptr;
		const int column = found ? hd_table_column(found, name) : -1;
		const hd_value *values = column >= 0 ? hd_rows_at(rows_, found, row) : nullptr;
		return values && take(values[column], ret);
	}

      private:
	static bool take(const hd_value &value, std::string &ret)
	{
		switch (value.kind) {
		case HD_KIND_TEXT:
		case HD_KIND_TYPE:
			ret = shown(value);
			return true;
		case HD_KIND_NUMBER:
			ret = std::to_string(value.number);
			return true;
		case HD_KIND_ADDRESS:
			ret = hex(value.number);
			return true;
		default:
			return false;
		}
	}

	hd_rows *rows_ = nullptr;
	bool is_good_ = false;
};

/// Ask the commands that know special objects.
bool describe_kind(hd_session *session, const std::string &address, std::string &ret)
{
	std::string text, more;
	const Answer collection(session, { "dumpcollection", address, "-limit", "1" });
	if (collection.member("count", text)) {
		ret = "Count = " + text;
		return true;
	}
	const Answer exception(session, { "printexception", address });
	if (exception.cell(nullptr, 0, "type", text)) {
		ret = text + ": " +
		      (exception.cell(nullptr, 0, "message", more) ? more : "<no message>");
		return true;
	}
	const Answer delegate(session, { "dumpdelegate", address });
	ret.clear();
	for (uint64_t i = 0; delegate.cell(nullptr, i, "name", text); i++) {
		if (ret.size() + text.size() > text_most) {
			ret += i ? ", ..." : "-> ...";
			break;
		}
		ret += (i ? ", " : "-> ") + text;
	}
	if (!ret.empty())
		return true;
	const Answer task(session, { "taskstate", address });
	return task.member("status", ret) || task.member("state", ret);
}

/// Is it a class in the DWARF of a NativeAOT program: does it, or its base class, begin with a MethodTable?
bool is_own_class(lldb::SBType type)
{
	for (int i = 0; i < depth_most && type.IsValid(); i++) {
		if (!type.GetNumberOfDirectBaseClasses()) {
			const char *name = type.GetFieldAtIndex(0).GetName();
			return name && std::strcmp(name, "m_pEEType") == 0;
		}
		type = type.GetDirectBaseClassAtIndex(0).GetType();
	}
	return false;
}

/// LLDB asks for a summary.
bool summarize(lldb::SBValue value, lldb::SBTypeSummaryOptions, lldb::SBStream &stream)
{
	std::string text;
	lldb::SBTarget target = value.GetTarget();
	std::shared_ptr<Session> session = Session::find(target.GetDebugger().GetID());
	if (!session || !session->describe(value, text))
		return false;
	stream.Printf("%s", text.c_str());
	return true;
}

} // namespace

void Values::watch(lldb::SBDebugger &debugger)
{
	lldb::SBTypeCategory category = debugger.CreateCategory(category_name);
	category.AddTypeSummary(lldb::SBTypeNameSpecifier(objects, true),
				lldb::SBTypeSummary::CreateWithCallback(summarize));
	category.AddTypeSummary(
		lldb::SBTypeNameSpecifier(structs, true),
		lldb::SBTypeSummary::CreateWithCallback(summarize, lldb::eTypeOptionHideChildren));
	category.AddTypeSummary(lldb::SBTypeNameSpecifier(references, true),
				lldb::SBTypeSummary::CreateWithCallback(summarize));
	category.SetEnabled(true);
}

bool Values::open(lldb::SBTarget target, hd_session *settings)
{
	lldb::SBProcess process = target.GetProcess();
	if (!is_code_wanted(settings) || presence(process) != Presence::stopped)
		return false;
	const uint32_t id = process.GetUniqueID(), stop = process.GetStopID(true);
	if (session_ && id == process_ && stop == stop_)
		return session_->handle() != nullptr;
	lldb::SBDebugger debugger = target.GetDebugger();
	std::string message;
	process_ = id;
	stop_ = stop;
	tables_.clear();
	plain_.clear();
	session_ = std::make_unique<OwnSession>(settings);
	return session_->handle() && session_->follower().open_code(debugger, target, process,
								    session_->handle(), message);
}

bool Values::describe_object(uint64_t object, const std::string &type, std::string &ret)
{
	hd_session *session = session_->handle();
	const std::string address = hex(object);
	const Answer answer(session, { "dumpobj", address, "-nofields" });
	std::string table, name;
	if (!answer.member("mt", table) || !answer.member("type", name))
		return false;
	if (answer.member("string", ret)) {
		ret = '"' + ret + '"';
		return true;
	}
	if (!plain_.count(table)) {
		if (describe_kind(session, address, ret) ||
		    Answer(session, { "dumpobj", address }).member("text", ret))
			return true;
		plain_.insert(table);
	}
	// The class of the object, where that is not the variable's.
	ret = "(" + name + ")";
	return name != type;
}

bool Values::describe_nullable(lldb::SBValue &value, std::string &ret)
{
	lldb::SBValue inner = value.GetChildAtIndex(1);
	lldb::SBType type = inner.GetType().GetCanonicalType();
	const std::string name = type.GetName() ? type.GetName() : "";
	ret = "null";
	if (!value.GetChildAtIndex(0).GetValueAsUnsigned())
		return true;
	ret = "{...}";
	if (type.GetTypeClass() == lldb::eTypeClassStruct) {
		// To ask for its summary would come here again.
		if (name.find('<') == name.npos && !describe_struct(inner, name, ret))
			ret = "{...}";
		return true;
	}
	const char *text = inner.GetSummary() ? inner.GetSummary() : inner.GetValue();
	if (text)
		ret = text;
	return true;
}

bool Values::describe_struct(lldb::SBValue &value, const std::string &type, std::string &ret)
{
	// System.Nullable
	if (type.find('<') != type.npos && value.GetNumChildren() == 2)
		return describe_nullable(value, ret);
	const uint64_t address = value.GetLoadAddress();
	if (address == LLDB_INVALID_ADDRESS)
		return false;
	if (!tables_.count(type)) {
		std::string table;
		const Answer answer(session_->handle(), { "name2ee", "*!" + type });
		(void)answer.cell("matches", 0, "mt", table);
		tables_[type] = table;
	}
	return !tables_[type].empty() &&
	       Answer(session_->handle(), { "dumpvc", tables_[type], hex(address) })
		       .member("text", ret);
}

bool Values::describe(lldb::SBValue &value, hd_session *settings, std::string &ret)
{
	lldb::SBType type = value.GetType().GetCanonicalType();
	const bool is_reference = type.IsReferenceType();
	if ((is_reference && !is_own_class(type.GetDereferencedType())) ||
	    !open(value.GetTarget(), settings))
		return false;
	if (!type.IsPointerType() && !is_reference) {
		const char *name = type.GetName();
		return name && describe_struct(value, name, ret);
	}
	lldb::SBType pointee = is_reference ? type.GetDereferencedType() : type.GetPointeeType();
	const char *name = pointee.GetName();
	if (!name || (pointee.GetTypeClass() != lldb::eTypeClassStruct && !is_reference))
		return false;
	const uint64_t object = value.GetValueAsUnsigned(0);
	if (object)
		return describe_object(object, name, ret);
	ret = "null";
	return true;
}
