import java.io.IOException;
import java.sql.PreparedStatement;
import java.sql.SQLException;

import com.impossibl.postgres.api.jdbc.PGConnection;

/** A connection of pgjdbc-ng. It requests binary results by default. */
final class NgSession extends Session {
    NgSession(String conninfo) throws SQLException, IOException {
        super(conninfo);
    }

    @Override
    String driver() {
        return "pgjdbc-ng";
    }

    @Override
    PreparedStatement prepare(String sql) throws SQLException {
        return connection.prepareStatement(sql);
    }

    @Override
    void binary(Execution execution) throws SQLException, IOException {
        normal(execution);
    }

    @Override
    void copy(Execution execution) throws SQLException {
        execution.sent();
        connection
                .unwrap(PGConnection.class)
                .copyTo("COPY (" + execution.sql + ") TO STDOUT", new Lines(execution));
        execution.allRows();
    }
}
