import java.util.List;

/**
 * The command line, as CONTRACT.md has it. Every complaint names the option, the value and what to
 * give instead.
 */
record Request(
        String conninfo,
        String sql,
        String output,
        String file,
        boolean connectOnce,
        long executions,
        long warmup,
        long limitNs,
        Method method) {

    private static final long EXECUTIONS_MAX = 1_000_000_000;
    private static final long WARMUP_MAX = 1_000_000;
    private static final long LIMIT_MAX = 1_000_000;
    private static final long NS_PER_S = 1_000_000_000;

    /** As a limit: none. */
    static final long UNLIMITED = Long.MAX_VALUE;

    /** Whether the command line has --help. */
    static boolean wantsHelp(String[] arguments) {
        return List.of(arguments).contains("--help");
    }

    /** Parses the command line. */
    static Request parse(String[] arguments) throws Failure {
        String conninfo = null;
        String sql = null;
        String output = "/dev/null";
        String file = null;
        boolean print = false;
        boolean connectOnce = false;
        long executions = 1;
        long warmup = 0;
        long limitNs = UNLIMITED;
        Method method = Method.NORMAL;
        for (int i = 0; i < arguments.length; i++) {
            String option = arguments[i];
            switch (option) {
                case "-c" -> conninfo = value(arguments, ++i);
                case "-s" -> sql = value(arguments, ++i);
                case "-o" -> output = value(arguments, ++i);
                case "-f" -> file = value(arguments, ++i);
                case "-p" -> print = number(option, value(arguments, ++i), 0, 1) == 1;
                case "-k" -> connectOnce = number(option, value(arguments, ++i), 0, 1) == 1;
                case "-n" -> executions = number(option, value(arguments, ++i), 1, EXECUTIONS_MAX);
                case "-w" -> warmup = number(option, value(arguments, ++i), 0, WARMUP_MAX);
                case "-t" ->
                        limitNs = NS_PER_S * number(option, value(arguments, ++i), 1, LIMIT_MAX);
                case "-a" -> method = Method.CURSOR;
                case "-y" -> method = Method.COPY;
                case "-m" -> method = Method.named(value(arguments, ++i));
                default -> throw Failure.usage("unknown option \"" + option + "\": see --help");
            }
        }
        if (conninfo == null || sql == null) {
            throw Failure.usage((conninfo == null ? "-c" : "-s") + " is missing: see --help");
        }
        return new Request(
                conninfo,
                sql,
                print ? output : null,
                file,
                connectOnce,
                executions,
                warmup,
                limitNs,
                method);
    }

    private static String value(String[] arguments, int index) throws Failure {
        if (index == arguments.length) {
            throw Failure.usage(arguments[index - 1] + " has no value: see --help");
        }
        return arguments[index];
    }

    private static long number(String option, String text, long low, long high) throws Failure {
        try {
            long number = Long.parseLong(text);
            if (number >= low && number <= high) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // Said below, with the bounds.
        }
        throw Failure.usage(
                "%s \"%s\" is not valid: give a whole number from %d to %d"
                        .formatted(option, text, low, high));
    }
}
