// SPDX-License-Identifier: MIT
// packages: Spectre.Console 0.57.2, System.CommandLine 3.0.0, Humanizer.Core 3.0.10
// A tool with commands that draws what it has found.
using System;
using System.Collections.Generic;
using System.CommandLine;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using Humanizer;
using Spectre.Console;

namespace Tool
{
    public record Job(int Id, string Name, TimeSpan Took);
    public class Board { public Table Table; public Spectre.Console.Tree Tree; public readonly Dictionary<int, Job> Jobs = new(); public Board Parent; }
    public sealed class Painter { public int Painted; public string Last; public StringWriter Out = new(); }
    public struct Cell { public Job Job; public int Row; public object Extra; }

    public static class Program
    {
        static readonly RootCommand s_root = new("a tool"); static readonly Board s_board = new(); static ParseResult s_parsed; static Cell[] s_cells = new Cell[40]; static Painter s_painter;
        static readonly SemaphoreSlim s_slots = new(0, 3); static readonly TaskCompletionSource<int> s_end = new();

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Paint(ManualResetEventSlim ready)
        {
            var job = Tell.OnlyHere(new Job(-1, "painting", default));
            var scratch = Tell.OnlyHere(new Cell[3]);
            scratch[1].Job = job;
            Draw(scratch, ready);
            GC.KeepAlive(job);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Draw(Cell[] cells, ManualResetEventSlim ready)
        {
            ready.Set();
            s_slots.Wait();
            cells[0].Row++;
        }

        static async Task<int> Watch(int id) { var job = s_board.Jobs[id]; int n = await s_end.Task; return n + job.Id; }
        static async Task WatchAll() { var all = new List<Task<int>>(); for (int i = 0; i < 5; i++) all.Add(Watch(i)); foreach (var task in all) await task; }

        public static int Main(string[] args)
        {
            var count = new Option<int>("--count") { Description = "how many", DefaultValueFactory = _ => 40 };
            var names = new Argument<string[]>("names");
            var list = new Command("list", "list jobs") { count, names };
            s_root.Subcommands.Add(list);
            for (int i = 0; i < 7; i++) s_root.Subcommands.Add(new Command("do-" + i, "number " + i.ToWords()));
            s_parsed = s_root.Parse("list --count 40 alpha beta");
            int wanted = s_parsed.GetValue(count);
            s_board.Parent = new Board();
            s_board.Table = new Table().AddColumn("Id").AddColumn("Name").AddColumn("Took");
            s_board.Tree = new Spectre.Console.Tree("jobs");
            for (int i = 0; i < wanted; i++) {
                var job = new Job(i, "job " + i.ToOrdinalWords(), TimeSpan.FromSeconds(i * 61));
                s_board.Jobs[i] = job;
                s_board.Table.AddRow(i.ToString(), job.Name, job.Took.Humanize());
                TreeNode node = s_board.Tree.AddNode(job.Name);
                if (i % 4 == 0) node.AddNode("part of " + i);
                s_cells[i] = new Cell { Job = job, Row = i, Extra = i % 2 == 0 ? job.Name : null };
            }
            s_painter = new Painter();
            IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings { Ansi = AnsiSupport.No, Out = new AnsiConsoleOutput(s_painter.Out) });
            console.Write(s_board.Table);
            console.Write(s_board.Tree);
            s_painter.Painted = s_painter.Out.ToString().Length;
            s_painter.Last = "painted " + s_painter.Painted;
            Task watching = WatchAll();
            Tell.Start("painter", Paint);
            Thread.Sleep(200);
            Tell.Begin();
            Tell.Say("own", "Tool.Program.");
            Tell.Count("Tool.Job", 41); Tell.Count("Tool.Board", 2); Tell.Count("Tool.Painter", 1); Tell.Count("Spectre.Console.TableColumn", 3); Tell.Count("Spectre.Console.Table", 1); Tell.Count("Spectre.Console.TreeNode", 1 + 40 + 10); Tell.Count("System.CommandLine.Command", 8); Tell.Count("System.CommandLine.RootCommand", 1);
            Tell.Obj("root", s_root); Tell.Obj("list", list); Tell.Obj("count", count); Tell.Obj("names", names); Tell.Obj("parsed", s_parsed); Tell.Obj("table", s_board.Table); Tell.Obj("tree", s_board.Tree); Tell.Obj("board", s_board); Tell.Obj("cells", s_cells); Tell.Obj("console", console); Tell.Obj("painter", s_painter);
            foreach (Job job in s_board.Jobs.Values) { Tell.Field(job, "<Id>k__BackingField", job.Id); Tell.Field(job, "<Name>k__BackingField", job.Name); Tell.Refers(job, job.Name); }
            Tell.Field(s_board, "Table", s_board.Table); Tell.Field(s_board, "Parent", s_board.Parent); Tell.Refers(s_board, s_board.Tree); Tell.Known(s_board.Jobs, "_count", 40); Tell.Field(s_painter, "Painted", s_painter.Painted); Tell.Field(s_painter, "Last", s_painter.Last);
            Tell.Static("Tool.Program", "s_root", ref Unsafe.AsRef(in s_root)); Tell.Static("Tool.Program", "s_board", ref Unsafe.AsRef(in s_board)); Tell.Static("Tool.Program", "s_parsed", ref s_parsed); Tell.Static("Tool.Program", "s_cells", ref s_cells); Tell.Static("Tool.Program", "s_painter", ref s_painter); Tell.Static("Tool.Program", "s_slots", ref Unsafe.AsRef(in s_slots)); Tell.Static("Tool.Program", "s_end", ref Unsafe.AsRef(in s_end));
            Tell.Text(s_painter.Last); Tell.Text("job thirty-ninth");
            Tell.Frames("painter", "Program.Draw", "Program.Paint"); Tell.Frames("main", "Program.Main"); Tell.Waits("painter", "SemaphoreSlim", s_slots, "-");
            Tell.Say("methods", "Program.Watch", 5); Tell.Say("methods", "Program.WatchAll", 1);
            GC.KeepAlive(watching);
            Tell.End(args[0]);
            return 0;
        }
    }
}
