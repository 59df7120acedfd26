# SPDX-License-Identifier: MIT
"""The variables of managed frames as GDB and LLDB show them with an ELF file of heapdump; runs inside of both.

In GDB by `source`; in LLDB by `command script import`, after the file was loaded.  A line for each frame, "FRAME " and JSON: sp, name, variables (name, local, value), and objects (address, type, fields, items) that
variables refer to.  A value is {"kind": gone, number, real, address, ref or struct, "value": ...}.
"""
from __future__ import annotations

import json
import sys
from typing import Any

Json = dict[str, Any]
# Most elements of an array that are listed, and frames of a thread.
ITEMS = 10
FRAMES = 200
# Types of C with a sign.
SIGNED = ("int", "long", "short", "char", "signed char")
GONE: Json = {"kind": "gone", "value": None}


def tell(sp: int, name: str, variables: list[Json], objects: list[Json]) -> None:
    """Print a frame."""
    row = {"sp": sp, "name": name, "variables": variables, "objects": objects}
    print("FRAME " + json.dumps(row), flush=True)


def in_gdb() -> None:
    """All managed frames of all threads of GDB's core."""
    import gdb  # pylint: disable=import-error,import-outside-toplevel

    def value_of(val: Any) -> Json:
        if val.is_optimized_out:
            return GONE
        kind = val.type.strip_typedefs().code
        if kind == gdb.TYPE_CODE_PTR:
            return {"kind": "address", "value": int(val)}
        if kind == gdb.TYPE_CODE_REF:
            return {"kind": "ref", "value": int(val.referenced_value().address)}
        if kind == gdb.TYPE_CODE_FLT:
            return {"kind": "real", "value": float(val)}
        if kind == gdb.TYPE_CODE_STRUCT:
            address = int(val.address) if val.address is not None else None
            return {"kind": "struct", "value": address, "fields": fields_of(val)}
        return {"kind": "number", "value": int(val)}

    def fields_of(val: Any) -> list[Json]:
        rows: list[Json] = []
        for field in val.type.strip_typedefs().fields():
            if field.is_base_class:
                rows += fields_of(val[field])
            elif field.type.strip_typedefs().code != gdb.TYPE_CODE_ARRAY:
                rows.append({"name": field.name, **value_of(val[field])})
        return rows

    def object_of(val: Any) -> Json | None:
        kind = val.type.strip_typedefs()
        if kind.code != gdb.TYPE_CODE_PTR or not int(val):
            return None
        target = kind.target().strip_typedefs()
        if target.code != gdb.TYPE_CODE_STRUCT or not target.fields():
            return None
        content = val.dereference()
        names = [field.name for field in content.type.fields()]
        row: Json = {"address": int(val), "type": target.tag, "fields": fields_of(content)}
        if "chars" in names and target.tag == "System.String":
            row["text"] = content["chars"].string("utf-16", "strict", int(content["length"]))
        if "data" in names and "length" in names:
            length = min(int(content["length"]), ITEMS)
            row["items"] = [value_of(content["data"][i]) for i in range(length)]
        return row

    def frame_of(frame: Any) -> None:
        variables, objects = [], []
        block = frame.block()
        while block:
            for symbol in block:
                if not symbol.is_argument and not symbol.is_variable:
                    continue
                val = symbol.value(frame)
                variables.append(
                    {"name": symbol.name, "local": symbol.is_variable, **value_of(val)}
                )
                if not val.is_optimized_out and (row := object_of(val)):
                    objects.append(row)
            if block.function:
                break
            block = block.superblock
        tell(int(frame.read_register("rsp")) & (1 << 64) - 1, frame.name(), variables, objects)

    for thread in gdb.selected_inferior().threads():
        thread.switch()
        frame, count = gdb.newest_frame(), 0
        while frame and count < FRAMES:
            if frame.name() and "." in frame.name():
                frame_of(frame)
            try:
                frame = frame.older()
            except gdb.error:
                break
            count += 1


def in_lldb(debugger: Any) -> None:
    """The same in LLDB: frames of its last module."""
    import lldb  # pylint: disable=import-error,import-outside-toplevel

    def value_of(val: Any) -> Json:
        kind = val.GetType().GetCanonicalType()
        if not val.GetError().Success():
            return GONE
        if kind.IsReferenceType():
            raw = val.GetData().ReadRawData(lldb.SBError(), 0, kind.GetByteSize())
            return {"kind": "ref", "value": int.from_bytes(raw or b"", "little")}
        if kind.GetTypeClass() in (lldb.eTypeClassStruct, lldb.eTypeClassClass):
            address = val.GetLoadAddress()
            address = None if address == lldb.LLDB_INVALID_ADDRESS else address
            return {"kind": "struct", "value": address, "fields": fields_of(val)}
        if val.GetValue() is None:
            return GONE
        if kind.IsPointerType():
            return {"kind": "address", "value": val.GetValueAsUnsigned()}
        basic = kind.GetBasicType()
        if basic == lldb.eBasicTypeFloat:
            return {"kind": "real", "value": val.GetData().GetFloat(lldb.SBError(), 0)}
        if basic == lldb.eBasicTypeDouble:
            return {"kind": "real", "value": val.GetData().GetDouble(lldb.SBError(), 0)}
        # LLDB 14 takes a register's 64 bits for a number, and shows its true size.
        size = kind.GetByteSize()
        raw = val.GetData().ReadRawData(lldb.SBError(), 0, size)
        is_signed = kind.GetTypeClass() == lldb.eTypeClassEnumeration or kind.GetName() in SIGNED
        return {"kind": "number", "value": int.from_bytes(raw, "little", signed=is_signed)}

    def fields_of(val: Any) -> list[Json]:
        rows: list[Json] = []
        bases = val.GetType().GetNumberOfDirectBaseClasses()
        for i in range(val.GetNumChildren()):
            child = val.GetChildAtIndex(i)
            if i < bases:
                rows += fields_of(child)
            elif not child.GetType().GetCanonicalType().IsArrayType():
                rows.append({"name": child.GetName(), **value_of(child)})
        return rows

    def object_of(val: Any) -> Json | None:
        kind = val.GetType()
        if not kind.IsPointerType() or not val.GetValueAsUnsigned():
            return None
        content = val.Dereference()
        if not content.GetNumChildren():
            return None
        row: Json = {
            "address": val.GetValueAsUnsigned(),
            "type": content.GetType().GetName(),
            "fields": fields_of(content),
        }
        length = content.GetChildMemberWithName("length").GetValueAsUnsigned()
        data = content.GetChildMemberWithName("data")
        if data.IsValid() and data.GetType().GetCanonicalType().IsArrayType():
            row["items"] = [
                value_of(data.GetChildAtIndex(i, lldb.eNoDynamicValues, True))
                for i in range(min(length, ITEMS))
            ]
        return row

    target = debugger.GetSelectedTarget()
    module = target.GetModuleAtIndex(target.GetNumModules() - 1)
    for thread in target.GetProcess():
        for i in range(min(thread.GetNumFrames(), FRAMES)):
            frame = thread.GetFrameAtIndex(i)
            if frame.GetModule() != module or not frame.GetFunction().IsValid():
                continue
            variables, objects = [], []
            for is_local in (False, True):
                for val in frame.GetVariables(not is_local, is_local, False, True):
                    shown = value_of(val)
                    variables.append({"name": val.GetName(), "local": is_local, **shown})
                    if shown["kind"] == "address" and (row := object_of(val)):
                        objects.append(row)
            tell(frame.GetSP(), frame.GetFunctionName(), variables, objects)


def __lldb_init_module(debugger: Any, _: Any) -> None:
    in_lldb(debugger)


if "gdb" in sys.modules:
    in_gdb()
