using System;
using System.Diagnostics;

using Npgsql;

/// <summary>One execution: what it is to do, and when it did what, by the stopwatch's clock.</summary>
sealed class Execution
{
    public readonly string Sql;
    public readonly Sink Sink;
    long sent, firstRow, allRows;

    public Execution(string sql, Sink sink)
    {
        Sql = sql;
        Sink = sink;
    }

    public long FirstRowTicks { get { return firstRow - sent; } }

    public long AllRowsTicks { get { return allRows - sent; } }

    public void Sent() { sent = Stopwatch.GetTimestamp(); }

    /// <summary>To be called at each row.</summary>
    public void FirstRow()
    {
        if (firstRow == 0)
            firstRow = Stopwatch.GetTimestamp();
    }

    public void AllRows()
    {
        allRows = Stopwatch.GetTimestamp();
        if (firstRow == 0)
            firstRow = allRows;
    }
}

/// <summary>The loop: connects, executes, disconnects, and keeps the times.</summary>
sealed class Measurement
{
    readonly Request request;
    long connect, firstRow, allRows;

    public Measurement(Request request)
    {
        this.request = request;
    }

    public long Executions { get; private set; }

    public long Connections { get; private set; }

    public long ConnectNs { get { return Nanoseconds(connect); } }

    public long FirstRowNs { get { return Nanoseconds(firstRow); } }

    public long AllRowsNs { get { return Nanoseconds(allRows); } }

    public static long Nanoseconds(long ticks)
    {
        return (long) (ticks * (1e9 / Stopwatch.Frequency));
    }

    /// <summary>
    /// Runs the statement so often, or until the limit in seconds has passed, but at least once;
    /// returns the connection when it is still open, or null.
    /// </summary>
    public NpgsqlConnection Run(Sink sink, long atMost, long limit, NpgsqlConnection open)
    {
        Stopwatch watch = Stopwatch.StartNew();
        NpgsqlConnection connection = open;
        while (Executions < atMost
            && (Executions == 0 || watch.Elapsed.TotalSeconds < limit))
        {
            if (connection == null)
                connection = Connect();
            var execution = new Execution(request.Sql, sink);
            request.Method.Execute(connection, execution);
            Executions++;
            firstRow += execution.FirstRowTicks;
            allRows += execution.AllRowsTicks;
            if (!request.ConnectOnce)
            {
                connection.Close();
                connection = null;
            }
        }
        return connection;
    }

    NpgsqlConnection Connect()
    {
        long start = Stopwatch.GetTimestamp();
        var connection = new NpgsqlConnection(request.Conninfo);
        connection.Open();
        connect += Stopwatch.GetTimestamp() - start;
        Connections++;
        return connection;
    }
}
