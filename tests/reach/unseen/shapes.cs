// SPDX-License-Identifier: MIT
// packages: NetTopologySuite 2.6.0, NodaTime 3.3.7, MathNet.Numerics 5.0.0
// Places, when they are open, and the distances between them.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using MathNet.Numerics.LinearAlgebra;
using NetTopologySuite.Geometries;
using NetTopologySuite.Index.Strtree;
using NodaTime;

namespace Places
{
    public struct Hours { public LocalTime Opens, Closes; public Duration Rest; }
    public class Place { public string Name; public Point At; public Polygon Ground; public Hours Week, Sunday; public Instant Since; public Zone In; }
    public class Zone { public DateTimeZone Clock; public Place[] Places; public Dictionary<(int, int), float> Near = new(); public Zone Next; }
    public class Walk<T> { public LinkedList<T> Stops = new(); public T First; public class Step { public Walk<T> Of; public T From, To; } public Step[] Steps; }

    public static class Program
    {
        static readonly GeometryFactory s_factory = new(new PrecisionModel(1000), 4326); static readonly STRtree<Place> s_tree = new(); static Zone s_zone; static Matrix<double> s_distances; static Walk<Place> s_walk; static LineString s_line; static double[,] s_grid = new double[7, 9];
        static readonly AutoResetEvent s_end = new(false);

        static Place Make(int i, Zone zone)
        {
            var at = new Coordinate(i * 3 % 50, i * 7 % 40);
            var ring = new[] { at, new Coordinate(at.X + 1, at.Y), new Coordinate(at.X + 1, at.Y + 1), new Coordinate(at.X, at.Y + 1), at };
            return new Place { Name = "place " + i, In = zone, At = s_factory.CreatePoint(at.Copy()), Ground = s_factory.CreatePolygon(ring), Since = Instant.FromUnixTimeSeconds(1_000_000L * i),
                Week = new Hours { Opens = new LocalTime(8, i % 60), Closes = new LocalTime(18, 0), Rest = Duration.FromMinutes(i) } };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Wander(ManualResetEventSlim ready)
        {
            var walk = Tell.OnlyHere(new Walk<Point>());
            for (int i = 0; i < 3; i++) walk.Stops.AddLast(s_factory.CreatePoint(new Coordinate(i, i)));
            Rest(walk, 3, ready);
            GC.KeepAlive(walk);
        }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static int Rest<T>(Walk<T> walk, int times, ManualResetEventSlim ready)
        {
            if (times > 0) return Rest(walk, times - 1, ready) + walk.Stops.Count;
            ready.Set();
            s_end.WaitOne();
            return walk.Stops.Count;
        }

        public static int Main(string[] args)
        {
            s_zone = new Zone { Clock = DateTimeZone.ForOffset(Offset.FromHours(2)), Next = new Zone { Clock = DateTimeZone.Utc } };
            s_zone.Places = Enumerable.Range(0, 150).Select(i => Make(i, s_zone)).ToArray();
            foreach (Place place in s_zone.Places) s_tree.Insert(place.Ground.EnvelopeInternal, place);
            s_tree.Build();
            s_distances = Matrix<double>.Build.Dense(150, 150, (a, b) => s_zone.Places[a].At.Distance(s_zone.Places[b].At));
            s_walk = new Walk<Place> { First = s_zone.Places[0] };
            foreach (Place place in s_tree.Query(new Envelope(0, 20, 0, 20)).OrderBy(place => place.Name)) s_walk.Stops.AddLast(place);
            var stops = s_walk.Stops.ToArray();
            s_walk.Steps = stops.Zip(stops.Skip(1), (a, b) => new Walk<Place>.Step { Of = s_walk, From = a, To = b }).ToArray();
            s_line = s_factory.CreateLineString(stops.Select(place => place.At.Coordinate).ToArray());
            for (int i = 0; i < 40; i++) s_zone.Near[(i, i + 1)] = (float)s_distances[i, i + 1];
            Tell.Start("wander", Wander);
            Thread.Sleep(200);
            Tell.Begin();
            Tell.Say("own", "Places.Program.");
            Tell.Count("Places.Place", 150); Tell.Count("Places.Zone", 2); Tell.Count("NetTopologySuite.Geometries.Polygon", 150); Tell.Count("NetTopologySuite.Geometries.LinearRing", 150); Tell.Count("NetTopologySuite.Geometries.LineString", 1); Tell.Count("Places.Walk<Places.Place>", 1); Tell.Count("Places.Walk<Places.Place>+Step", stops.Length - 1);
            Tell.Obj("zone", s_zone); Tell.Obj("tree", s_tree); Tell.Obj("distances", s_distances); Tell.Obj("walk", s_walk); Tell.Obj("line", s_line); Tell.Obj("steps", s_walk.Steps); Tell.Obj("near", s_zone.Near); Tell.Obj("grid", s_grid); Tell.Obj("clock", s_zone.Clock); Tell.Obj("sequence", s_line.CoordinateSequence); Tell.Obj("places", s_zone.Places); Tell.Obj("storage", s_distances.Storage);
            foreach (Place place in s_zone.Places.Take(25)) { Tell.Field(place, "Name", place.Name); Tell.Field(place, "At", place.At); Tell.Field(place, "In", s_zone); Tell.Refers(place, place.Ground); Tell.Refers(place, place.At); Tell.Field(place.At.Coordinate, "_x", place.At.X); }
            Tell.Known(s_walk.Stops, "count", s_walk.Stops.Count); Tell.Known(s_zone.Near, "_count", 40); Tell.Field(s_walk, "First", s_walk.First);
            Tell.Static("Places.Program", "s_factory", ref Unsafe.AsRef(in s_factory)); Tell.Static("Places.Program", "s_tree", ref Unsafe.AsRef(in s_tree)); Tell.Static("Places.Program", "s_zone", ref s_zone); Tell.Static("Places.Program", "s_distances", ref s_distances); Tell.Static("Places.Program", "s_walk", ref s_walk); Tell.Static("Places.Program", "s_line", ref s_line); Tell.Static("Places.Program", "s_grid", ref s_grid); Tell.Static("Places.Program", "s_end", ref Unsafe.AsRef(in s_end));
            Tell.Text("place 149");
            Tell.Frames("wander", "Program.Rest", "Program.Rest", "Program.Rest", "Program.Rest", "Program.Wander"); Tell.Frames("main", "Program.Main"); Tell.Waits("wander", "WaitHandle", s_end, "-");
            Tell.End(args[0]);
            return 0;
        }
    }
}
