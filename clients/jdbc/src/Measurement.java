import java.lang.management.ManagementFactory;

import com.sun.management.OperatingSystemMXBean;

/** The loop: connects, executes, disconnects, and keeps the times. */
final class Measurement {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final Request request;

    long executions;
    long connections;
    long connectNs;
    long firstRowNs;
    long allRowsNs;
    long materialiseNs;
    long totalNs;
    long cpuNs;

    Measurement(Request request) {
        this.request = request;
    }

    /** The processor time that the process has used. */
    static long cpuNs() {
        return SYSTEM.getProcessCpuTime();
    }

    /**
     * Runs the statement so often, or until the limit has passed, but at least once; returns the
     * connection when it is still open, or null.
     */
    Session run(Sink sink, long atMost, long limitNs, Session open) throws Exception {
        long startNs = System.nanoTime();
        Session session = open;
        while (executions < atMost
                && (executions == 0 || System.nanoTime() - startNs < limitNs)) {
            if (session == null) {
                session = connect();
            }
            execute(session, sink);
            if (!request.connectOnce()) {
                session.close();
                session = null;
            }
        }
        return session;
    }

    private Session connect() throws Exception {
        long startNs = System.nanoTime();
        Session session = Session.open(request.conninfo());
        connectNs += System.nanoTime() - startNs;
        connections++;
        return session;
    }

    private void execute(Session session, Sink sink) throws Exception {
        Execution execution = new Execution(request, sink);
        request.method().body.execute(session, execution);
        executions++;
        firstRowNs += execution.firstRowNs - execution.sentNs;
        allRowsNs += execution.allRowsNs - execution.sentNs;
        if (!request.method().streams()) {
            materialiseNs += System.nanoTime() - execution.allRowsNs;
        }
    }
}
