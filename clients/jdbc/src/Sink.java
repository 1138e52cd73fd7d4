import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/**
 * Takes rows and looks at every cell of them. What else becomes of the rows' text, the subclasses
 * say: written, or added to the checksum.
 */
class Sink {
    private static final byte TAB = '\t';

    long rows;
    private long seen;

    /** Whether rows are wanted as text, and not only their cells. */
    boolean wantsText() {
        return false;
    }

    /** Reads an integer. */
    final void take(long value) {
        seen += value;
    }

    /** Reads a text; a null reference is a null value. */
    final void take(String value) {
        if (value != null) {
            seen += value.length();
        }
    }

    /** Ends a row whose cells have been read. */
    final void endRow() {
        rows++;
    }

    /** Takes a row as COPY writes it, its line feed included, and finds where its cells end. */
    void takeLine(byte[] line) throws IOException {
        for (byte b : line) {
            if (b == TAB) {
                seen++;
            }
        }
        rows++;
    }

    /** Takes a row's text. */
    final void takeText(CharSequence row) throws IOException {
        takeLine(row.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Writes every row. */
    static final class Printer extends Sink {
        private final OutputStream output;

        Printer(OutputStream output) {
            this.output = output;
        }

        @Override
        boolean wantsText() {
            return true;
        }

        @Override
        void takeLine(byte[] line) throws IOException {
            output.write(line);
            rows++;
        }
    }

    /** Adds every row to the checksum. */
    static final class Checker extends Sink {
        long bytes;
        private int checksum;
        private final CRC32 crc = new CRC32();

        @Override
        boolean wantsText() {
            return true;
        }

        @Override
        void takeLine(byte[] line) {
            crc.reset();
            crc.update(line);
            checksum += (int) crc.getValue();
            bytes += line.length;
            rows++;
        }

        /** The sum as eight hexadecimal digits. */
        String checksum() {
            return "%08x".formatted(checksum);
        }
    }
}
