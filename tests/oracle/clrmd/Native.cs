// SPDX-License-Identifier: MIT
using System.Linq;
using Microsoft.Diagnostics.Runtime;
using static Program;

// Loader heaps and code heaps.
internal static class NativeFacts
{
    private static Lines Heap(char letter, ClrNativeHeapInfo heap)
    {
        MemoryRange range = heap.MemoryRange;
        return lines.Begin(letter).Hex(range.Start).Hex(range.Length).Text(heap.Kind.ToString());
    }

    public static void Write()
    {
        foreach (ClrNativeHeapInfo heap in runtime.EnumerateClrNativeHeaps())
            Heap('j', heap).Number(heap.State == ClrNativeHeapState.Active ? 1 : 0).End();
        foreach (ClrJitManager jit in runtime.EnumerateJitManagers())
        {
            lines.Begin('J').Hex(jit.Address).End();
            foreach (ClrNativeHeapInfo heap in jit.EnumerateNativeHeaps())
                Heap('x', heap).Hex(jit.Address).End();
        }
    }
}
