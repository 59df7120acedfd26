// SPDX-License-Identifier: MIT
// The same content again and again, and a collection for each row of a table.
using System;
using System.Collections.Generic;
using System.Linq;

namespace Leaks
{
    /// <summary>A product in a shop: each has the opening hours of the shop, a copy of them.</summary>
    public sealed class Offer
    {
        public int Number;
        public double[] Hours;
    }

    /// <summary>A point on a map, with the same symbol as all others of its kind.</summary>
    public readonly struct Symbol
    {
        public readonly byte[] Pixels;
        public Symbol(byte[] pixels) => Pixels = pixels;
    }

    public static class Repeating
    {
        private static readonly List<Offer> offers = new();
        private static readonly Dictionary<int, Symbol> symbols = new();
        private static readonly List<Dictionary<string, object>> rows = new();
        private static readonly Dictionary<int, List<int>> neighbours = new();
        private static readonly Dictionary<int, string> owners = new();

        public static void Hours()
        {
            double[][] shops = Enumerable.Range(0, 20).Select(shop =>
                Enumerable.Range(0, 56).Select(i => shop + i * 0.25).ToArray()).ToArray();
            const int count = 30000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                offers.Add(new Offer { Number = i, Hours = (double[])shops[i % 20].Clone() });
            GC.Collect();
            Truth.ExpectName("Offer.Hours|equal Double[]", count);
        }

        public static void Symbols()
        {
            const int count = 30000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
            {
                byte[] pixels = new byte[400];
                pixels.AsSpan().Fill((byte)(1 + i % 9));
                symbols[i] = new Symbol(pixels);
            }
            GC.Collect();
            Truth.ExpectName("equal Byte[]", count);
        }

        /// <summary>A table in which each row is a dictionary from the name of the column to the value.</summary>
        public static void Rows()
        {
            const int count = 20000;
            string[] columns = { "id", "name", "amount", "when", "open" };
            for (int i = 0; i < count; i = Noise.Next(i, count))
            {
                var row = new Dictionary<string, object>();
                foreach (string column in columns)
                    row[column] = i;
                rows.Add(row);
            }
            GC.Collect();
            Truth.ExpectName("small Dictionary", count);
        }

        public static void Neighbours()
        {
            const int count = 120000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                neighbours[i] = new List<int> { i + 1, i + 2 };
            GC.Collect();
            Truth.ExpectName("small List", count);
        }

        /// <summary>Strings that are held by nothing but the table of the framework that they are in.</summary>
        public static void Owners()
        {
            const int count = 120000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                owners[i] = new string("the office of town number " + i % 50);
            GC.Collect();
            Truth.ExpectName("equal strings", count);
        }
    }
}
