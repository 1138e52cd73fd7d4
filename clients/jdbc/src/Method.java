import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The ways to get at the rows; what they do is in {@link Session}. */
enum Method {
    NORMAL("normal", "native", Session::normal),
    CURSOR("cursor", "nothing", Session::cursor),
    COPY("copy", "nothing", Session::copy),
    BINARY("binary", "native", Session::binary),
    PREPARED("prepared", "native", Session::prepared),
    SERVER_FILE("server-file", "file", Session::serverFile);

    /** As -m names it. */
    final String label;

    /** What the program holds when all rows are there. */
    final String held;

    final Body body;

    Method(String label, String held, Body body) {
        this.label = label;
        this.held = held;
        this.body = body;
    }

    /** Runs the statement and takes its rows. */
    interface Body {
        void execute(Session session, Execution execution) throws Exception;
    }

    /** Whether cells are read while rows arrive. */
    boolean streams() {
        return !held.equals("native");
    }

    /** Returns the method of a name. */
    static Method named(String label) throws Failure {
        for (Method method : values()) {
            if (method.label.equals(label)) {
                return method;
            }
        }
        throw Failure.usage("-m \"" + label + "\" is not known: give one of " + labels());
    }

    /** All names, for messages. */
    static String labels() {
        return Stream.of(values()).map(m -> m.label).collect(Collectors.joining(", "));
    }
}
