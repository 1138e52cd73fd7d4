using System;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Text.RegularExpressions;

using Npgsql;

/// <summary>
/// npgsqltest: measures Npgsql's ways to get at the rows of a statement. The virtual machine's start
/// is no part of any figure, and -w warms it up.
/// </summary>
static class Program
{
    const int ExitFailure = 1;
    const int ExitUsage = 2;
    const int OutputBuffer = 1024 * 1024;

    static int Main(string[] arguments)
    {
        try
        {
            if (Array.IndexOf(arguments, "--help") >= 0)
                Help();
            else
                Measure(new Request(arguments));
            return 0;
        }
        catch (UsageException wrong)
        {
            return Fail(ExitUsage, wrong);
        }
        catch (Exception failure)
        {
            return Fail(ExitFailure, failure);
        }
    }

    static int Fail(int code, Exception failure)
    {
        string message = failure.InnerException == null ? failure.Message
            : failure.Message + ": " + failure.InnerException.Message;
        Console.Error.WriteLine("npgsqltest: " + Regex.Replace(message, "\\s+", " "));
        return code;
    }

    static void Help()
    {
        Console.WriteLine("npgsqltest: runs a statement and prints how long its rows took\n\n"
            + "Usage: npgsqltest -c CONNINFO -s SQL [-p 0|1] [-o FILE] [-k 0|1] [-n N]\n"
            + "       [-w N] [-t SECONDS] [-f FILE] [-a | -y | -m METHOD]\n\n"
            + "What these mean is in clients/CONTRACT.md.  Methods:");
        foreach (Method method in Method.All)
            Console.WriteLine("  " + method.Name);
    }

    static Stream Open(string path)
    {
        try
        {
            return path == null ? null
                : new BufferedStream(new FileStream(path, FileMode.Create), OutputBuffer);
        }
        catch (Exception impossible) when (impossible is IOException || impossible is UnauthorizedAccessException)
        {
            throw new UsageException("cannot write -o: " + impossible.Message);
        }
    }

    static void Close(NpgsqlConnection connection)
    {
        if (connection != null)
            connection.Close();
    }

    /// <summary>Warms up, measures, checks and prints the figures.</summary>
    static void Measure(Request request)
    {
        Close(new Measurement(request).Run(new Sink(), request.Warmup, Request.Unlimited, null));
        using (Stream output = Open(request.Output))
        {
            var sink = new Sink(output);
            var timed = new Measurement(request);
            Process self = Process.GetCurrentProcess();
            TimeSpan startCpu = self.TotalProcessorTime;
            long start = Stopwatch.GetTimestamp();
            NpgsqlConnection connection = timed.Run(sink, request.Executions, request.Limit, null);
            if (output != null)
                output.Flush();
            long totalNs = Measurement.Nanoseconds(Stopwatch.GetTimestamp() - start);
            self.Refresh();
            TimeSpan cpu = self.TotalProcessorTime - startCpu;

            var checker = new Sink(checking: true);
            Close(new Measurement(request).Run(checker, 1, Request.Unlimited, connection));
            Print(request, timed, sink, checker, totalNs, cpu);
        }
    }

    static void Print(
        Request request, Measurement timed, Sink sink, Sink checker, long totalNs, TimeSpan cpu)
    {
        Console.WriteLine(string.Format(
            CultureInfo.InvariantCulture,
            "{{\"driver\": \"npgsql\", \"driver_version\": \"{0}\", \"method\": \"{1}\""
            + ", \"held\": \"nothing\", \"executions\": {2}, \"connections\": {3}, \"rows\": {4}"
            + ", \"bytes\": {5}, \"checksum\": \"{6:x8}\", \"connect_ns\": {7}"
            + ", \"first_row_ns\": {8}, \"all_rows_ns\": {9}, \"materialise_ns\": null"
            + ", \"total_ns\": {10}, \"cpu_ns\": {11}, \"wire_bytes\": null"
            + ", \"execution_us\": {12}}}",
            typeof(NpgsqlConnection).Assembly.GetName().Version.ToString(3), request.Method.Name,
            timed.Executions, timed.Connections, sink.Rows, checker.Bytes, checker.Checksum,
            timed.ConnectNs, timed.FirstRowNs, timed.AllRowsNs, totalNs,
            (long) (cpu.TotalMilliseconds * 1e6),
            (totalNs / 1000.0 / timed.Executions).ToString("F3", CultureInfo.InvariantCulture)));
    }
}
