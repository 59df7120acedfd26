// SPDX-License-Identifier: MIT
// What Microsoft.Diagnostics.NETCore.Client finds and gets over the diagnostics sockets:
//
//   ipc ps                              "all" or "local", then the process ids, one a line; local:
//                                       those with a socket in TMPDIR
//   ipc environment PID                 its variables, "NAME=VALUE" ended by zero bytes
//   ipc collect PID FILE KEYWORDS RUNDOWN MEGABYTES
//                                       the stream of a session for heap snapshots, to a file
//
// Keywords are hexadecimal.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Diagnostics.Tracing;

/// <summary>Passes a stream on, and writes what is read into a file.</summary>
sealed class Tee : Stream
{
	private readonly Stream from, to;
	private long last = Environment.TickCount64;

	/// <summary>Since when nothing has come, in milliseconds.</summary>
	public long Silence => Environment.TickCount64 - Volatile.Read(ref last);

	public Tee(Stream from, Stream to)
	{
		this.from = from;
		this.to = to;
	}

	public override int Read(byte[] buffer, int offset, int count)
	{
		int got = from.Read(buffer, offset, count);
		to.Write(buffer, offset, got);
		Volatile.Write(ref last, Environment.TickCount64);
		return got;
	}

	public override bool CanRead => true;
	public override bool CanSeek => false;
	public override bool CanWrite => false;
	public override long Length => throw new NotSupportedException();
	public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }
	public override void Flush() { }
	public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();
	public override void SetLength(long value) => throw new NotSupportedException();
	public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}

static class Program
{
	private const int SilenceMax = 2000;

	private static long Hexadecimal(string text) => long.Parse(text, NumberStyles.HexNumber, CultureInfo.InvariantCulture);

	private static void Collect(string[] arguments)
	{
		var client = new DiagnosticsClient(int.Parse(arguments[1]));
		var provider = new EventPipeProvider("Microsoft-Windows-DotNETRuntime", System.Diagnostics.Tracing.EventLevel.Verbose, Hexadecimal(arguments[3]));
		var configuration = new EventPipeSessionConfiguration(new[] { provider }, int.Parse(arguments[5]), Hexadecimal(arguments[4]), false);
		using EventPipeSession session = client.StartEventPipeSession(configuration);
		using var file = new FileStream(arguments[2], FileMode.Create);
		using var tee = new Tee(session.EventStream, file);
		using var source = new EventPipeEventSource(tee);
		bool hasNodes = false;
		int stopped = 0;
		void Stop()
		{
			// On a thread of its own: the stream is read on meanwhile.
			if (Interlocked.Exchange(ref stopped, 1) == 0)
				Task.Run(session.Stop);
		}
		// The end of a lossy stream may be lost, too.
		using var timer = new Timer(_ => { if (tee.Silence > SilenceMax) Stop(); }, null, SilenceMax, 100);
		source.Clr.GCBulkNode += _ => hasNodes = true;
		source.Clr.GCStop += _ =>
		{
			if (hasNodes)
				Stop();
		};
		source.Process();
	}

	private static void Processes()
	{
		IEnumerable<int> found;
		string which = "all";
		try {
			found = DiagnosticsClient.GetPublishedProcesses();
		} catch (IOException) {
			// It reads the environment of every process, and fails at what root may open and not read.
			var local = typeof(DiagnosticsClient).GetMethod("GetLocalPublishedProcesses", BindingFlags.NonPublic | BindingFlags.Static);
			found = (IEnumerable<int>)local.Invoke(null, null);
			which = "local";
		}
		Console.WriteLine(which);
		foreach (int pid in found.Distinct())
			Console.WriteLine(pid);
	}

	static int Main(string[] arguments)
	{
		switch (arguments[0]) {
		case "ps":
			Processes();
			return 0;
		case "environment":
			foreach (var entry in new DiagnosticsClient(int.Parse(arguments[1])).GetProcessEnvironment())
				Console.Write($"{entry.Key}={entry.Value}\0");
			return 0;
		case "collect":
			Collect(arguments);
			return 0;
		default:
			return 2;
		}
	}
}
