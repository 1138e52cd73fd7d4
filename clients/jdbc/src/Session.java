import java.io.IOException;
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

import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.copy.CopyOut;

/** One connection, and what its methods ask of pgjdbc. */
final class Session implements AutoCloseable {
    private static final int CHUNK_ROWS = 1000;

    /** pgjdbc's word for binary results from the first execution on. */
    private static final int FORCE_BINARY = -1;

    private static final int PREPARE_AT_ONCE = 1;

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

    @Override
    public void close() throws SQLException {
        connection.close();
    }

    /** The whole result, in text form. */
    void normal(Execution execution) throws SQLException, IOException {
        execution.sent();
        try (Statement plain = connection.createStatement();
                ResultSet rows = plain.executeQuery(execution.sql)) {
            execution.allRows();
            takeRows(rows, execution);
        }
    }

    /** The whole result, in binary form as far as pgjdbc knows the types. */
    void binary(Execution execution) throws SQLException, IOException {
        executePrepared(execution, FORCE_BINARY);
    }

    /** A statement that the server has prepared; pgjdbc then asks for binary form as well. */
    void prepared(Execution execution) throws SQLException, IOException {
        executePrepared(execution, PREPARE_AT_ONCE);
    }

    /** A thousand rows at a time, asked for, which takes a transaction. */
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

    /** COPY's lines. */
    void copy(Execution execution) throws SQLException, IOException {
        execution.sent();
        CopyOut copy =
                connection
                        .unwrap(PGConnection.class)
                        .getCopyAPI()
                        .copyOut("COPY (" + execution.sql + ") TO STDOUT");
        byte[] line;
        while ((line = copy.readFromCopy()) != null) {
            execution.firstRow();
            execution.sink.takeLine(line);
        }
        execution.allRows();
    }

    private void executePrepared(Execution execution, int threshold)
            throws SQLException, IOException {
        execution.sent();
        if (statement == null) {
            statement = connection.prepareStatement(execution.sql);
            statement.unwrap(PGStatement.class).setPrepareThreshold(threshold);
        }
        try (ResultSet rows = statement.executeQuery()) {
            execution.allRows();
            takeRows(rows, execution);
        }
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
