/** One execution: what it is to do, and when it did what. */
final class Execution {
    final String sql;
    final Sink sink;

    /** Where the server writes, or null. */
    final String file;

    long sentNs;
    long firstRowNs;
    long allRowsNs;

    Execution(Request request, Sink sink) {
        this.sql = request.sql();
        this.file = request.file();
        this.sink = sink;
    }

    /** To be called when the statement is about to be sent. */
    void sent() {
        sentNs = System.nanoTime();
    }

    /** To be called, as often as is convenient, when a row is there. */
    void firstRow() {
        if (firstRowNs == 0) {
            firstRowNs = System.nanoTime();
        }
    }

    /** To be called when all rows are there. */
    void allRows() {
        allRowsNs = System.nanoTime();
        if (firstRowNs == 0) {
            firstRowNs = allRowsNs;
        }
    }
}
