"""Faults of the wrapper that are known and not yet mended: what is not compared for them.

Each has the smallest cases that show it. When it is mended these agree, a test says so, and the
entry has to go.
"""

from filerecords.checker import Exceptions
from filerecords.drawing import Case
from filerecords.questions import COPYS_PARSER, Question
from filerecords.rules import Column, File, Rules, Table

KNOWN: Exceptions = {}


def case_of(content: bytes, rules: Rules, *types: str, by_copy: bool = False) -> Case:
    """Return a case of one file that is read as a whole, by COPY's parser if that is wanted."""
    columns = tuple(
        Column(name, kind) for name, kind in zip("ab"[: len(types)], types, strict=True)
    )
    names = tuple(column.name for column in columns)
    question = Question("SELECT * FROM t", names, COPYS_PARSER if by_copy else {})
    return Case(Table(columns, rules, (File("case/one", content),)), (), (question,))


EXAMPLES: dict[str, tuple[str, Case]] = {}
"""Cases, with the names of the entries in `KNOWN` that leave them out."""

EDGES = {
    "the line of an error before a comment of a file of CR": case_of(
        b"x\r#c\r1\r", Rules(comment="#"), "integer"
    ),
    "the line of an error before a field that is left out of a file of CR": case_of(
        b'x\r1,"\r"\r', Rules(cuts_extra=True), "integer"
    ),
    "the line of an error behind comments of a file of CR": case_of(
        b"1\r#c\r2\r#c\rx\r#c\r", Rules(comment="#"), "integer", by_copy=True
    ),
    "a backslash at the end of a record that lacks a field": case_of(
        b"1\\", Rules("text", "\t", null="\\N", pads_missing=True), "text", "text"
    ),
    "a backslash at the end of a record that has too many fields": case_of(
        b"1\t2\\", Rules("text", "\t", null="\\N", cuts_extra=True), "text"
    ),
    "a comment behind the header of a file of CR, before a line feed": case_of(
        b'd\r"\r\n', Rules(header="true", comment='"'), "text", by_copy=True
    ),
    "a further null string in quotes, which both options are about": Case(
        Table(
            (Column("a", "text", {"force_null": "true", "force_not_null": "true"}),),
            Rules(null_strings=("1",)),
            (File("case/one", b'"1"\n1\n""\n\n'),),
        ),
        (),
        (Question("SELECT * FROM t", ("a",), COPYS_PARSER),),
    ),
    "a backslash alone": case_of(
        b"\\", Rules("text", "\t", null="\\N", pads_missing=True), "text", "text"
    ),
    "footer lines of another style than a line end within them": case_of(
        b"1\n2\nTotal\r: 2\n\n", Rules(skip_last_lines=2), "integer"
    ),
    "more footer lines than there are lines": case_of(b"1\n2", Rules(skip_last_lines=3), "text"),
    "a null string in quotes, and blanks around them": case_of(
        b'NA, "NA" \n "a,b",\t"c"x \n',
        Rules(null_strings=("NA",), skips_quote_blanks=True),
        *("text", "text"),
    ),
    "a line feed in a comment of a file of CR LF": case_of(
        b"1\r\n#c\n2\r\n3\r\n", Rules(comment="#"), "text"
    ),
    "a line feed alone in a file of CR LF": case_of(
        b"1\r\n\n3\r\n", Rules(skips_blank=True), "text"
    ),
    "CR LF alone in a file of line feeds": case_of(b"1\n\r\n3\n", Rules(skips_blank=True), "text"),
    "a line feed at the beginning of a line of a file of CR": case_of(
        b"1\r2\r3\r\n4\r5\r", Rules(skips_blank=True), "text"
    ),
    "an end-of-data marker, all that is left of a record": case_of(
        b'1\n\\.,"a"\n2\n', Rules(cuts_extra=True), "text", by_copy=True
    ),
    "a comment without a line end": case_of(b"1\n#x", Rules(comment="#"), "integer", by_copy=True),
    "an empty field, all that is read of the last record": case_of(
        b",", Rules(cuts_extra=True), "text", by_copy=True
    ),
}
"""Cases that were faults, or would be without a rule of their own."""
