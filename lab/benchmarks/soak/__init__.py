"""Work for hours on private servers while they and their links fail, checked each minute.

    world       the servers, the links, the tables, and what is known of them
    expected    which rows must be there, and which may be
    faults      which faults there were, and which errors they explain
    gate        holds the workers while is checked
    worker      a session that carries out operations, one after the other
    operations  the operations
    harm        the faults themselves
    checks      what is looked at between two minutes
    soak        the minutes
    record      lines and summary

`tools/soak` starts it. The same seed draws the same operations and faults, but no two runs meet
them at the same moments.
"""
