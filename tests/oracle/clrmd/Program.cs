// SPDX-License-Identifier: MIT
// clrmd CORE OUT PARTS TYPES [DAC]: everything that the runtime's own data access library (DAC), asked through
// ClrMD, says about the heap and the roots of a core. tests/oracle/facts.c writes the same lines from heapdump's
// own reading.
//
// PARTS: comma-separated, of those below, each written to OUT.PART when it is complete. The DAC dies in some of
// them on some cores; the others can then be had from another run. TYPES: a file with N, q and t lines as below,
// whose instantiated types are asked for their statics, too: ClrMD cannot enumerate them.
//
// One record a line, fields separated by tabs; addresses, MethodTables and tokens are hex without 0x,
// everything else decimal; text is hex of its UTF-16 units, "-" where there is none.
// All references have the element type 18 (class).
//
// heap:
//   I  NAME VALUE                        server, heaps, regions, walkable (no GC in progress)
//   S  HEAP KIND BEGIN END COMMITTED RESERVED   segment; KIND 0 1 2 loh poh nongc ephemeral
//   G  BEGIN GEN2END GEN1BEGIN GEN1END GEN0BEGIN GEN0END   generations of an ephemeral segment
//   A  POINTER LIMIT                     allocation context that is not empty
//   O  ADDRESS MT SIZE GENERATION        every object, Free blocks too; GENERATION 0 1 2 l p n
//   N  MT NAME                           every type that has an object
//   R  ADDRESS OFFSET TARGET             every reference inside an object; OFFSET from the object's address
//   T  ADDRESS LENGTH UTF16              every string, at most 1000 units of it
//   P  ADDRESS RANK LENGTHS BOUNDS       every array; comma-separated
//   F  MT NAME OFFSET ELEMENT TOKEN TYPE instance field of a type of N, inherited ones too
//   Q  MT NAME OFFSET ELEMENT TOKEN ADDRESS TYPE   static field of a type of N that is not collectible
//   L  ADDRESS OWNER RECURSION           thin lock; OWNER is the managed thread id
//   B  ADDRESS INDEX                     object with a sync block
//   K  INDEX OBJECT HELD OWNER RECURSION WAITERS   sync block that is in use; OWNER the address of the Thread
//   H  MTHREAD OSTHREAD ADDRESS STATE    managed thread
//   X  ADDRESS HRESULT INNER MESSAGE     exception; MESSAGE in UTF-8
//   D  ADDRESS TARGET TOKEN METHOD       delegate with one target
//   M  ADDRESS TARGET,TARGET...          delegate with several
//   E  ADDRESS TEXT                      what could not be read
// roots:
//   h  ADDRESS OBJECT TYPE SECONDARY     handle that is not null; TYPE is the runtime's number; SECONDARY of a
//                                        dependent handle
//   y  OBJECT                            in a finalizer queue
//   z  OBJECT                            ready for finalization
// statics, threadstatics, collectible (thread statics of collectible types):
//   n  MT NAME                           type with such a field
//   q  MT TOKEN NAME ADDRESS             slot of a static field that holds a reference, or a boxed struct; NAME of an
//                                        automatic property is the property's
//   t  MT TOKEN NAME OSTHREAD ADDRESS    of a thread-static one
// stacks:
//   c  OSTHREAD SP IP                    managed frame
//   m  OSTHREAD SP SIGNATURE             its method
//   s  OSTHREAD SLOT OBJECT FLAGS        root on a stack; SLOT 0: a register; OBJECT: the containing one of an
//                                        interior pointer; FLAGS 1 interior, 2 pinned
// names (check_names.py):
//   u  MODULE IMAGE ASSEMBLY NAME GUID   module; GUID of its PDB
//   e  METHODDESC TOKEN CODE HOW SIZE NAME   method that a loaded type declares; CODE 0: none; HOW: Jit, Ngen, None
//   g  IP METHODDESC NAME                managed frame
// modules (check_modules.py):
//   U  MODULE ASSEMBLY IMAGE SIZE LAYOUT DYNAMIC METADATA LENGTH NAME ASSEMBLYNAME GUID   module
//   d  DOMAIN KIND NAME                  application domain; KIND system or domain
//   v  DOMAIN MODULE                     module of a domain
//   a  MT CONTEXT                        type that has an object, and its AssemblyLoadContext, 0: the default one
//   o  HEAP REASON ALLOC GC FAILURE SIZE AVAILABLE LARGE   the last allocation that failed
// native (check_native_heaps.py):
//   j  START SIZE KIND ACTIVE            memory of the runtime outside of the GC heap, as ClrMD lists it: often several times
//   J  ADDRESS                           JIT manager
//   x  START SIZE KIND JIT               of these, what a JIT manager has
// il (check_il.py):
//   i  MODULE TOKEN SIZE MAXSTACK HASH   method with IL; HASH of its instructions and clauses
// signatures (check_signatures.py):
//   S  MODULE OFFSET LENGTH TEXT         signature; OFFSET in the metadata; TEXT in SOS's words
//   M  MODULE TOKEN OFFSET               method, and where its signature is
//   T  MODULE OFFSET LENGTH TEXT         the same of a type without a first byte (TypeSpec)
// words (check_objects.py):
//   k  GENERATION SIZE FREE COUNT        objects, or with FREE 1 Free blocks; SIZE rounded up to 8
//   l  OSTHREAD RSP LAST                 stack pointer of a thread, and of its outermost frame
//   W  OSTHREAD SLOT OBJECT              word of a stack between these that is the address of an object
//   b  OSTHREAD NUMBER OBJECT            register of that kind
// live:
//   w  ADDRESS                           object that is reachable from the roots
//
// Exit status: 0 written, 1 failed, 77 there is no DAC.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using Microsoft.Diagnostics.Runtime;

internal static class Program
{
    public static Lines lines;
    public static ClrRuntime runtime;
    public static ClrHeap heap;

    public static void Error(ulong address, string what) =>
        lines.Begin('E').Hex(address).Text(what.Split('\n')[0].Replace('\t', ' ')).End();

    // One strange object must not end the program.
    public static void Try(ulong address, Action action)
    {
        try { action(); }
        catch (Exception e) { Error(address, e.GetType().Name + ": " + e.Message); }
    }

    private static void Part(string name, string types)
    {
        switch (name)
        {
            case "heap": HeapFacts.Write(); break;
            case "roots": RootFacts.Handles(); RootFacts.Finalizers(); break;
            case "statics": StaticFacts.Statics(types); break;
            case "threadstatics": StaticFacts.ThreadStatics(types, isCollectible: false); break;
            case "collectible": StaticFacts.ThreadStatics(types, isCollectible: true); break;
            case "stacks": RootFacts.Stacks(); break;
            case "names": NameFacts.Write(); break;
            case "modules": ModuleFacts.Write(); break;
            case "words": WordFacts.Write(); break;
            case "native": NativeFacts.Write(); break;
            case "il": IlFacts.Write(); break;
            case "signatures": SignatureFacts.Write(); break;
            case "live": Live.Write(types); break;
            default: throw new ArgumentException("no part " + name);
        }
    }

    private static int Main(string[] arguments)
    {
        if (arguments.Length < 4)
        {
            Console.Error.WriteLine("usage: clrmd CORE OUT PARTS TYPES [DAC]");
            return 1;
        }
        CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        using DataTarget dump = DataTarget.LoadDump(arguments[0]);
        using var reader = new MappedFiles(dump.DataReader, arguments[0]);
        using var target = new DataTarget(reader, new DataTargetOptions());
        if (target.ClrVersions.Length == 0)
        {
            Console.Error.WriteLine("clrmd: no runtime in this core");
            return 1;
        }
        ClrInfo info = target.ClrVersions[0];
        string dac = arguments.Length > 4 ? arguments[4] : Path.Combine(Path.GetDirectoryName(info.ModuleInfo.FileName), "libmscordaccore.so");
        if (!File.Exists(dac))
        {
            Console.Error.WriteLine("clrmd: no " + dac);
            return 77;
        }
        runtime = info.CreateRuntime(dac, ignoreMismatch: true);
        heap = runtime.Heap;
        foreach (string part in arguments[2].Split(','))
        {
            string path = arguments[1] + "." + part;
            using (lines = new Lines(path + ".part"))
                Part(part, arguments[3]);
            File.Move(path + ".part", path, overwrite: true);
        }
        return 0;
    }
}
