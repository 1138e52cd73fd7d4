/** What ends the program with one line and an exit code. */
final class Failure extends Exception {
    static final int FAILURE = 1;
    static final int USAGE = 2;

    private static final long serialVersionUID = 1L;

    final int exitCode;

    private Failure(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    /** An option is missing or bad. */
    static Failure usage(String message) {
        return new Failure(USAGE, message);
    }

    /** Connecting, the statement or writing failed. */
    static Failure of(Exception cause) {
        String message = cause.getMessage();
        return new Failure(FAILURE, message == null ? cause.toString() : message);
    }
}
