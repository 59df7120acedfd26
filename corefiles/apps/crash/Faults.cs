// SPDX-License-Identifier: MIT
// What a processor or the runtime finds.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using static Crash.Truth;

namespace Crash
{
    public static class Faults
    {
        private const MethodImplOptions Apart = MethodImplOptions.NoInlining;
        private static Tag nothing;

        [MethodImpl(Apart)]
        private static long Dereference(Tag tag, Tag argument)
        {
            Tag local = Make("Dereference.local");
            long number = tag.number;
            Keep(local, argument);
            return number;
        }

        [MethodImpl(Apart)]
        public static void NullReference(Tag argument)
        {
            Tag local = Make("NullReference.local");
            Dereference(nothing, argument);
            Keep(local, argument);
        }

        [MethodImpl(Apart)]
        private static long DereferenceInTry(Tag tag, Tag argument)
        {
            Tag local = Make("DereferenceInTry.local");
            try { return tag.number; }
            finally { Keep(local, argument); }
        }

        [MethodImpl(Apart)]
        public static void NullReferenceInTry(Tag argument)
        {
            Tag local = Make("NullReferenceInTry.local");
            try { DereferenceInTry(nothing, argument); }
            finally { Keep(local, argument); }
        }

        [MethodImpl(Apart)]
        public static void NullInMarshal(Tag argument)
        {
            Tag local = Make("NullInMarshal.local");
            Marshal.ReadIntPtr(0);
            Keep(argument, local);
        }

        [MethodImpl(Apart)]
        public static void FailFast(Tag argument, int depth)
        {
            Tag local = Make("FailFast.local " + depth);
            if (depth > 0)
            {
                FailFast(local, depth - 1);
            }
            else
            {
                Report("failfast");
                Environment.FailFast("the end");
            }
            Keep(argument, local);
        }

        [MethodImpl(Apart)]
        public static int Overflow(Tag argument, int depth)
        {
            Tag local = depth < 8 ? Make("Overflow.local " + depth) : argument;
            if (depth == 7)
                Report("overflow");
            int result = Overflow(local, depth + 1);
            Keep(argument, local);
            return result + 1;
        }

        [MethodImpl(Apart)]
        public static void OutOfMemory(Tag argument)
        {
            Tag local = Make("OutOfMemory.local");
            var blocks = new List<byte[]>();
            while (Exceptions.yes)
                blocks.Add(new byte[4 << 20]);
            Keep(argument, local, blocks);
        }
    }
}
