// SPDX-License-Identifier: MIT
// packages: Markdig 1.6.0, AngleSharp 1.10.3
// Manuals in Markdown, their HTML, and a search over both.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using AngleSharp.Dom;
using AngleSharp.Html.Dom;
using AngleSharp.Html.Parser;
using Markdig;
using Markdig.Syntax;

namespace Manuals
{
    public class Page { public int Number; public string Title; public MarkdownDocument Source; public IHtmlDocument Html; public List<Hit> Hits = new(); }
    public class Hit { public Page On; public int Line; public string Word; }
    public class Index<T> where T : class { public Dictionary<string, List<T>> Words = new(StringComparer.OrdinalIgnoreCase); public static Index<T> Whole; public void Add(string word, T of) { if (!Words.TryGetValue(word, out var list)) Words[word] = list = new(); list.Add(of); } }
    public class Query { public string Word; public int Found; }

    public static class Program
    {
        static readonly List<Page> s_pages = new();
        static Page s_first; static IHtmlElement s_title; static readonly object s_gate = new();
        static readonly MarkdownPipeline s_pipeline = new MarkdownPipelineBuilder().UsePipeTables().UseEmphasisExtras().Build();

        static string Text(int n)
        {
            var text = new StringBuilder($"# Manual {n}\n\nWords of **page {n}** with `code` and [a link](page{n}.md).\n\n");
            for (int i = 0; i <= n % 4; i++)
                text.Append($"## Part {i}\n\n* one of {n}\n* two, ~~not~~ three\n\n```\nrun {i}\n```\n\n");
            return text.Append("| a | b |\n| --- | --- |\n| 1 | 2 |\n").ToString();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Search(ManualResetEventSlim ready)
        {
            var query = Tell.OnlyHere(new Query { Word = "page" });
            foreach (Page page in s_pages)
                query.Found += Look(page, query, ready);
            GC.KeepAlive(query);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int Look(Page page, Query query, ManualResetEventSlim ready)
        {
            int found = page.Title.Contains(query.Word) ? 1 : 0;
            if (page.Number == 30) {
                ready.Set();
                lock (s_gate) found++;
            }
            return found + page.Hits.Count;
        }

        public static int Main(string[] args)
        {
            var parser = new HtmlParser();
            Index<Hit>.Whole = new();
            for (int n = 0; n < 60; n++) {
                string text = Text(n);
                var page = new Page { Number = n, Title = "Manual " + n, Source = Markdown.Parse(text, s_pipeline) };
                page.Html = parser.ParseDocument(Markdown.ToHtml(text, s_pipeline));
                foreach (ParagraphBlock block in page.Source.Descendants<ParagraphBlock>()) {
                    var hit = new Hit { On = page, Line = block.Line, Word = "word" + n % 7 };
                    page.Hits.Add(hit);
                    Index<Hit>.Whole.Add(hit.Word, hit);
                }
                s_pages.Add(page);
            }
            s_first = s_pages[0];
            s_title = (IHtmlElement)s_first.Html.QuerySelector("h1");
            lock (s_gate) {
                Tell.Start("search", Search);
                Thread.Sleep(200);
                Tell.Begin();
                Tell.Say("own", "Manuals.Program.");
                Tell.Count("Manuals.Page", 60); Tell.Count("Manuals.Hit", s_pages.Sum(page => page.Hits.Count)); Tell.Count("Manuals.Query", 1); Tell.Count("Markdig.Syntax.MarkdownDocument", 60);
                Tell.Counts(s_pages.SelectMany(page => page.Source.Descendants()).Where(node => node is HeadingBlock or FencedCodeBlock or ListItemBlock or Markdig.Syntax.Inlines.CodeInline or Markdig.Syntax.Inlines.EmphasisInline));
                Tell.Counts(s_pages.SelectMany(page => page.Html.All).Where(e => e.LocalName is "h1" or "h2" or "li" or "td" or "th" or "tr" or "pre" or "table" or "a"));
                Tell.Obj("first", s_first); Tell.Obj("source", s_first.Source); Tell.Obj("html", s_first.Html); Tell.Obj("title", s_title); Tell.Obj("index", Index<Hit>.Whole); Tell.Obj("pipeline", s_pipeline); Tell.Obj("heading", s_first.Source[0]);
                foreach (Page page in s_pages.Take(20)) {
                    Tell.Field(page, "Number", page.Number); Tell.Field(page, "Title", page.Title); Tell.Field(page, "Source", page.Source); Tell.Refers(page, page.Html); Tell.Refers(page, page.Source); Tell.Known(page.Hits, "_size", page.Hits.Count);
                }
                Tell.Field(s_first.Source, "LineCount", s_first.Source.LineCount);
                Tell.Known(Index<Hit>.Whole.Words, "_count", Index<Hit>.Whole.Words.Count);
                Tell.Static("Manuals.Program", "s_pages", ref Unsafe.AsRef(in s_pages)); Tell.Static("Manuals.Program", "s_first", ref s_first); Tell.Static("Manuals.Program", "s_title", ref s_title); Tell.Static("Manuals.Program", "s_pipeline", ref Unsafe.AsRef(in s_pipeline)); Tell.Static("Manuals.Index<Manuals.Hit>", "Whole", ref Index<Hit>.Whole);
                Tell.Text("Manual 59"); Tell.Text("word6");
                Tell.Frames("search", "Program.Look", "Program.Search"); Tell.Frames("main", "Program.Main");
                Tell.Waits("search", "Monitor.Enter", s_gate, "main");
                Tell.End(args[0]);
            }
            return 0;
        }
    }
}
