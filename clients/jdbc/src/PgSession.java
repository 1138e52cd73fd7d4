import java.io.IOException;
import java.sql.PreparedStatement;
import java.sql.SQLException;

import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.copy.CopyOut;

/** A connection of pgjdbc. It requests text unless a statement has been prepared on the server. */
final class PgSession extends Session {
    /** pgjdbc's word for binary results from the first execution on. */
    private static final int FORCE_BINARY = -1;

    private static final int PREPARE_AT_ONCE = 1;

    private PreparedStatement binary;

    PgSession(String conninfo) throws SQLException, IOException {
        super(conninfo);
    }

    @Override
    String driver() {
        return "pgjdbc";
    }

    @Override
    PreparedStatement prepare(String sql) throws SQLException {
        return prepare(sql, PREPARE_AT_ONCE);
    }

    private PreparedStatement prepare(String sql, int threshold) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        statement.unwrap(PGStatement.class).setPrepareThreshold(threshold);
        return statement;
    }

    @Override
    void binary(Execution execution) throws SQLException, IOException {
        execution.sent();
        if (binary == null) {
            binary = prepare(execution.sql, FORCE_BINARY);
        }
        executePrepared(binary, execution);
    }

    @Override
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
}
