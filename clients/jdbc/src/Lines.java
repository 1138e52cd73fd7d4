import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;

/** Takes COPY's blocks, which end where they like, and gives their lines to an execution's sink. */
final class Lines extends OutputStream {
    private final Execution execution;

    /** What has come of a line that has not ended. */
    private final ByteArrayOutputStream begun = new ByteArrayOutputStream();

    Lines(Execution execution) {
        this.execution = execution;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] block, int offset, int length) throws IOException {
        int start = offset;
        for (int at = offset; at < offset + length; at++) {
            if (block[at] == '\n') {
                takeLine(block, start, at + 1);
                start = at + 1;
            }
        }
        begun.write(block, start, offset + length - start);
    }

    private void takeLine(byte[] block, int start, int end) throws IOException {
        execution.firstRow();
        if (begun.size() == 0) {
            execution.sink.takeLine(Arrays.copyOfRange(block, start, end));
            return;
        }
        begun.write(block, start, end - start);
        execution.sink.takeLine(begun.toByteArray());
        begun.reset();
    }
}
