import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.Properties;

/**
 * One connection, with the methods by JDBC. The subclasses have the code for each driver.
 */
abstract class Session implements AutoCloseable {
    private static final int CHUNK_ROWS = 1000;

    /** How a URL of pgjdbc-ng begins; any other is pgjdbc's. */
    private static final String NG_URL = "jdbc:pgsql:";

    final Connection connection;
    private PreparedStatement statement;

    Session(String conninfo) throws SQLException, IOException {
        Properties properties = new Properties();
        String file = System.getenv("PGPASSFILE");
        if (file != null && Files.isReadable(Path.of(file))) {
            String line = Files.readString(Path.of(file)).strip();
            properties.setProperty("password", line.substring(line.lastIndexOf(':') + 1));
        }
        connection = DriverManager.getConnection(conninfo, properties);
    }

    /** Connects by the driver whose URL it is. */
    static Session open(String conninfo) throws SQLException, IOException {
        return conninfo.startsWith(NG_URL) ? new NgSession(conninfo) : new PgSession(conninfo);
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }

    /** The driver's name. */
    abstract String driver();

    /** The whole result, in binary form as far as the driver knows the types. */
    abstract void binary(Execution execution) throws Exception;

    /** COPY's lines. */
    abstract void copy(Execution execution) throws Exception;

    /** A prepared statement that the server prepares at its first execution. */
    abstract PreparedStatement prepare(String sql) throws SQLException;

    /** The whole result, as the driver fetches it by default. */
    void normal(Execution execution) throws SQLException, IOException {
        execution.sent();
        try (Statement plain = connection.createStatement();
                ResultSet rows = plain.executeQuery(execution.sql)) {
            execution.allRows();
            takeRows(rows, execution);
        }
    }

    /** A statement that the server has prepared. */
    void prepared(Execution execution) throws SQLException, IOException {
        execution.sent();
        if (statement == null) {
            statement = prepare(execution.sql);
        }
        executePrepared(statement, execution);
    }

    /** Executes a prepared statement, whose whole result is held. */
    static void executePrepared(PreparedStatement statement, Execution execution)
            throws SQLException, IOException {
        try (ResultSet rows = statement.executeQuery()) {
            execution.allRows();
            takeRows(rows, execution);
        }
    }

    /** A thousand rows at a time, on request, which needs a transaction. */
    void cursor(Execution execution) throws SQLException, IOException {
        execution.sent();
        connection.setAutoCommit(false);
        try (Statement plain = connection.createStatement()) {
            plain.setFetchSize(CHUNK_ROWS);
            try (ResultSet rows = plain.executeQuery(execution.sql)) {
                execution.firstRow();
                takeRows(rows, execution);
            }
        }
        connection.commit();
        connection.setAutoCommit(true);
        execution.allRows();
    }

    /** The server writes the rows to a file, which is then read. */
    void serverFile(Execution execution) throws SQLException, IOException, Failure {
        if (execution.file == null) {
            throw Failure.usage("-f is missing: the method server-file needs a path to write to");
        }
        String target = "'" + execution.file.replace("'", "''") + "'";
        execution.sent();
        try (Statement plain = connection.createStatement()) {
            plain.execute("COPY (" + execution.sql + ") TO " + target);
        }
        try (InputStream file = Files.newInputStream(Path.of(execution.file))) {
            file.transferTo(new Lines(execution));
        }
        execution.allRows();
    }

    private static void takeRows(ResultSet rows, Execution execution)
            throws SQLException, IOException {
        ResultSetMetaData described = rows.getMetaData();
        int[] types = new int[described.getColumnCount()];
        for (int column = 0; column < types.length; column++) {
            types[column] = described.getColumnType(column + 1);
        }
        if (execution.sink.wantsText()) {
            takeTexts(rows, types.length, execution.sink);
        } else {
            takeCells(rows, types, execution.sink);
        }
    }

    private static void takeCells(ResultSet rows, int[] types, Sink sink) throws SQLException {
        while (rows.next()) {
            for (int column = 0; column < types.length; column++) {
                switch (types[column]) {
                    case Types.INTEGER -> sink.take(rows.getInt(column + 1));
                    case Types.BIGINT -> sink.take(rows.getLong(column + 1));
                    default -> sink.take(rows.getString(column + 1));
                }
            }
            sink.endRow();
        }
    }

    private static void takeTexts(ResultSet rows, int columns, Sink sink)
            throws SQLException, IOException {
        StringBuilder row = new StringBuilder();
        while (rows.next()) {
            row.setLength(0);
            for (int column = 1; column <= columns; column++) {
                String cell = rows.getString(column);
                row.append(cell == null ? "\\N" : cell).append(column < columns ? '\t' : '\n');
            }
            sink.takeText(row);
        }
    }
}
