import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.sql.DatabaseMetaData;
import java.util.Locale;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * jdbctest: measures the ways of JDBC's drivers to get at the rows of a statement. The virtual machine's start is
 * no part of any figure, and -w warms it up.
 */
final class JdbcTest {
    private static final int OUTPUT_BUFFER = 1024 * 1024;

    private JdbcTest() {}

    public static void main(String[] arguments) {
        // What the driver would log is in the exception, too, and standard error is for one line.
        Logger.getLogger("").setLevel(Level.OFF);
        try {
            if (Request.wantsHelp(arguments)) {
                help();
            } else {
                measure(Request.parse(arguments));
            }
        } catch (Failure failure) {
            System.err.println("jdbctest: " + failure.getMessage().replaceAll("\\s+", " "));
            System.exit(failure.exitCode);
        }
    }

    private static void help() {
        System.out.printf(
                """
                jdbctest: runs a statement and prints how long its rows took

                Usage: jdbctest -c CONNINFO -s SQL [-p 0|1] [-o FILE] [-k 0|1] [-n N]
                       [-w N] [-t SECONDS] [-f FILE] [-a | -y | -m METHOD]

                What these mean is in clients/CONTRACT.md.  Methods: %s
                """,
                Method.labels());
    }

    /** Warms up, measures, checks and prints the figures. */
    private static void measure(Request request) throws Failure {
        try {
            close(new Measurement(request).run(new Sink(), request.warmup(), Request.UNLIMITED, null));
            try (OutputStream output = output(request)) {
                timed(request, output);
            }
        } catch (Failure failure) {
            throw failure;
        } catch (Exception failed) {
            throw Failure.of(failed);
        }
    }

    private static void timed(Request request, OutputStream output) throws Exception {
        Sink sink = request.output() == null ? new Sink() : new Sink.Printer(output);
        Measurement timed = new Measurement(request);
        long startCpuNs = Measurement.cpuNs();
        long startNs = System.nanoTime();
        Session session = timed.run(sink, request.executions(), request.limitNs(), null);
        output.flush();
        timed.totalNs = System.nanoTime() - startNs;
        timed.cpuNs = Measurement.cpuNs() - startCpuNs;

        if (session == null) {
            session = Session.open(request.conninfo());
        }
        DatabaseMetaData about = session.connection.getMetaData();
        String driver = "\"driver\": \"%s\", \"driver_version\": \"%s\"";
        driver = driver.formatted(session.driver(), about.getDriverVersion());
        Sink.Checker checker = new Sink.Checker();
        close(new Measurement(request).run(checker, 1, Request.UNLIMITED, session));
        print(driver, request, timed, sink, checker);
    }

    private static OutputStream output(Request request) throws Failure {
        if (request.output() == null) {
            return OutputStream.nullOutputStream();
        }
        try {
            return new BufferedOutputStream(
                    new FileOutputStream(request.output()), OUTPUT_BUFFER);
        } catch (IOException impossible) {
            throw Failure.usage("cannot write -o " + impossible.getMessage());
        }
    }

    private static void close(Session session) throws Exception {
        if (session != null) {
            session.close();
        }
    }

    private static void print(
            String driver, Request request, Measurement timed, Sink sink, Sink.Checker checked) {
        Method method = request.method();
        System.out.printf(
                Locale.ROOT,
                "{%s, \"method\": \"%s\", \"held\": \"%s\", \"executions\": %d"
                        + ", \"connections\": %d, \"rows\": %d, \"bytes\": %d"
                        + ", \"checksum\": \"%s\", \"connect_ns\": %d, \"first_row_ns\": %d"
                        + ", \"all_rows_ns\": %d, \"materialise_ns\": %s, \"total_ns\": %d"
                        + ", \"cpu_ns\": %d, \"wire_bytes\": null, \"execution_us\": %.3f}%n",
                driver,
                method.label,
                method.held,
                timed.executions,
                timed.connections,
                sink.rows,
                checked.bytes,
                checked.checksum(),
                timed.connectNs,
                timed.firstRowNs,
                timed.allRowsNs,
                method.streams() ? "null" : timed.materialiseNs,
                timed.totalNs,
                timed.cpuNs,
                timed.totalNs / 1000.0 / timed.executions);
    }
}
