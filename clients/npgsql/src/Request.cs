using System;
using System.Collections.Generic;

/// <summary>An option is missing or bad; the message says what to give instead.</summary>
sealed class UsageException : Exception
{
    public UsageException(string message) : base(message) { }
}

/// <summary>The command line, as CONTRACT.md has it.</summary>
sealed class Request
{
    const long ExecutionsMax = 1000000000;
    const long WarmupMax = 1000000;
    const long LimitMax = 1000000;

    /// <summary>As a limit: none.</summary>
    public const long Unlimited = long.MaxValue;

    public string Conninfo { get; private set; }
    public string Sql { get; private set; }

    /// <summary>Where rows are written; null when they are only read.</summary>
    public string Output { get; private set; }

    public bool ConnectOnce { get; private set; }
    public long Executions { get; private set; }
    public long Warmup { get; private set; }

    /// <summary>In seconds: no execution begins later.</summary>
    public long Limit { get; private set; }

    public Method Method { get; private set; }

    public Request(string[] arguments)
    {
        string output = "/dev/null";
        bool printing = false;
        Executions = 1;
        Limit = Unlimited;
        Method = Method.All[0];
        var words = new Queue<string>(arguments);
        while (words.Count > 0)
        {
            string option = words.Dequeue();
            switch (option)
            {
                case "-c": Conninfo = Value(option, words); break;
                case "-s": Sql = Value(option, words); break;
                case "-o": output = Value(option, words); break;
                case "-f": Value(option, words); break;
                case "-p": printing = Number(option, words, 0, 1) == 1; break;
                case "-k": ConnectOnce = Number(option, words, 0, 1) == 1; break;
                case "-n": Executions = Number(option, words, 1, ExecutionsMax); break;
                case "-w": Warmup = Number(option, words, 0, WarmupMax); break;
                case "-t": Limit = Number(option, words, 1, LimitMax); break;
                case "-a":
                case "-y": Method = Find(option, method => method.Switch == option); break;
                case "-m":
                    string name = Value(option, words);
                    Method = Find("-m \"" + name + "\"", method => method.Name == name);
                    break;
                default: throw new UsageException("unknown option \"" + option + "\": see --help");
            }
        }
        if (Conninfo == null || Sql == null)
            throw new UsageException((Conninfo == null ? "-c" : "-s") + " is missing: see --help");
        Output = printing ? output : null;
    }

    static string Value(string option, Queue<string> words)
    {
        if (words.Count == 0)
            throw new UsageException(option + " has no value: see --help");
        return words.Dequeue();
    }

    static long Number(string option, Queue<string> words, long low, long high)
    {
        string text = Value(option, words);
        long number;
        if (!long.TryParse(text, out number) || number < low || number > high)
            throw new UsageException(string.Format(
                "{0} \"{1}\" is not valid: give a whole number from {2} to {3}",
                option, text, low, high));
        return number;
    }

    static Method Find(string asked, Predicate<Method> fits)
    {
        Method found = Array.Find(Method.All, fits);
        if (found == null)
            throw new UsageException(asked + " is nothing that this client has: see --help");
        return found;
    }
}
