using System.Globalization;
using System.IO;
using System.Text;

/// <summary>
/// Takes rows and looks at every cell of them. Where their text is wanted, it is printed, or added to
/// the checksum.
/// </summary>
sealed class Sink
{
    static readonly uint[] crcTable = MakeCrcTable();

    readonly Stream output;
    readonly bool checking;
    readonly StringBuilder text = new StringBuilder();
    long seen;

    public long Rows { get; private set; }
    public long Bytes { get; private set; }
    public uint Checksum { get; private set; }

    /// <summary>A sink that reads rows, or prints them when there is an output, or checks them.</summary>
    public Sink(Stream output = null, bool checking = false)
    {
        this.output = output;
        this.checking = checking;
    }

    public bool WantsText { get { return checking || output != null; } }

    public void Take(long value) { seen += value; }

    public void Take(string value) { seen += value.Length; }

    /// <summary>Ends a row whose cells have been taken.</summary>
    public void EndRow() { Rows++; }

    /// <summary>Takes a row's values, null for a null one.</summary>
    public void TakeText(object[] cells)
    {
        text.Clear();
        for (int i = 0; i < cells.Length; i++)
        {
            if (i > 0)
                text.Append('\t');
            text.Append(cells[i] == null ? "\\N"
                : System.Convert.ToString(cells[i], CultureInfo.InvariantCulture));
        }
        TakeLine(text.Append('\n').ToString());
    }

    /// <summary>
    /// Takes a row as COPY writes it, its line feed included; to read its cells is to find where they
    /// end.
    /// </summary>
    public void TakeLine(string line)
    {
        Rows++;
        if (!WantsText)
        {
            foreach (char c in line)
                if (c == '\t')
                    seen++;
            return;
        }
        byte[] bytes = Encoding.UTF8.GetBytes(line);
        if (output != null)
        {
            output.Write(bytes, 0, bytes.Length);
            return;
        }
        Bytes += bytes.Length;
        Checksum = unchecked(Checksum + Crc32(bytes));
    }

    static uint Crc32(byte[] bytes)
    {
        uint crc = 0xFFFFFFFF;
        foreach (byte b in bytes)
            crc = crcTable[(crc ^ b) & 0xFF] ^ (crc >> 8);
        return ~crc;
    }

    /// <summary>The remainders of all bytes; the framework has no CRC-32 of its own.</summary>
    static uint[] MakeCrcTable()
    {
        var table = new uint[256];
        for (uint i = 0; i < table.Length; i++)
        {
            uint remainder = i;
            for (int bit = 0; bit < 8; bit++)
                remainder = (remainder & 1) != 0 ? 0xEDB88320 ^ (remainder >> 1) : remainder >> 1;
            table[i] = remainder;
        }
        return table;
    }
}
