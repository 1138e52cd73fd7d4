using System;
using System.IO;

using Npgsql;

/// <summary>A way to get at the rows. Npgsql gives them one by one, so none of them holds any.</summary>
sealed class Method
{
    public static readonly Method[] All =
    {
        new Method("normal", null, Normal),
        new Method("copy", "-y", Copy),
        new Method("prepared", null, Prepared),
    };

    public readonly string Name;

    /// <summary>The switch that means it too, or null.</summary>
    public readonly string Switch;

    public readonly Action<NpgsqlConnection, Execution> Execute;

    Method(string name, string letter, Action<NpgsqlConnection, Execution> execute)
    {
        Name = name;
        Switch = letter;
        Execute = execute;
    }

    /// <summary>The rows as they arrive, in binary form as everywhere here.</summary>
    static void Normal(NpgsqlConnection connection, Execution execution)
    {
        execution.Sent();
        using (var command = new NpgsqlCommand(execution.Sql, connection))
            TakeRows(command, execution);
    }

    /// <summary>
    /// The same of a statement that the server has prepared; what is prepared already Npgsql knows.
    /// </summary>
    static void Prepared(NpgsqlConnection connection, Execution execution)
    {
        execution.Sent();
        using (var command = new NpgsqlCommand(execution.Sql, connection))
        {
            command.Prepare();
            TakeRows(command, execution);
        }
    }

    /// <summary>COPY's lines.</summary>
    static void Copy(NpgsqlConnection connection, Execution execution)
    {
        execution.Sent();
        using (TextReader lines = connection.BeginTextExport("COPY (" + execution.Sql + ") TO STDOUT"))
        {
            string line;
            while ((line = lines.ReadLine()) != null)
            {
                execution.FirstRow();
                execution.Sink.TakeLine(line + "\n");
            }
        }
        execution.AllRows();
    }

    static void TakeRows(NpgsqlCommand command, Execution execution)
    {
        using (NpgsqlDataReader rows = command.ExecuteReader())
        {
            var types = new Type[rows.FieldCount];
            for (int i = 0; i < types.Length; i++)
                types[i] = rows.GetFieldType(i);
            while (rows.Read())
            {
                execution.FirstRow();
                if (execution.Sink.WantsText)
                    TakeText(rows, execution.Sink);
                else
                    TakeCells(rows, types, execution.Sink);
            }
        }
        execution.AllRows();
    }

    static void TakeCells(NpgsqlDataReader rows, Type[] types, Sink sink)
    {
        for (int i = 0; i < types.Length; i++)
        {
            if (rows.IsDBNull(i))
                continue;
            if (types[i] == typeof(int))
                sink.Take(rows.GetInt32(i));
            else if (types[i] == typeof(long))
                sink.Take(rows.GetInt64(i));
            else
                sink.Take(rows.GetString(i));
        }
        sink.EndRow();
    }

    static void TakeText(NpgsqlDataReader rows, Sink sink)
    {
        var cells = new object[rows.FieldCount];
        for (int i = 0; i < cells.Length; i++)
            cells[i] = rows.IsDBNull(i) ? null : rows.GetValue(i);
        sink.TakeText(cells);
    }
}
