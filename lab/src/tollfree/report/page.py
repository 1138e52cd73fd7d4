"""The page: a `Report` becomes one HTML file without external references.

Styles and script are inlined and named in the Content-Security-Policy by their hashes, so nothing
else can run and nothing can be fetched. The same report gives the same bytes.
"""

import base64
import hashlib
import os
from collections.abc import Mapping
from datetime import UTC
from importlib import resources
from pathlib import Path

from tollfree.errors import FileError
from tollfree.report.charts import chart
from tollfree.report.data import data_block
from tollfree.report.gain_chart import gain_figure, gain_sentence
from tollfree.report.markup import Markup, element, fragment, prose
from tollfree.report.model import GainChart, Report, Run, RunState, SuiteSection
from tollfree.report.tables import case_table, table


def render(report: Report) -> str:
    """Return the whole page."""
    style, script = _asset("style.css"), _asset("script.js")
    policy = (
        f"default-src 'none'; style-src {_source(style)}; script-src {_source(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", report.title),
        element("style", style),
    )
    body = element(
        "body",
        element("main", _opening(report), map(_section, report.suites)),
        map(data_block, report.suites),
        element("script", script),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def write(report: Report, path: Path) -> None:
    """Write the page so that the file at `path` is the old one or the new one, never a part.

    Raises FileError, and leaves nothing behind, when the folder cannot be written.
    """
    page = render(report).encode()
    try:
        if path.is_dir() or not path.name:
            raise FileError(f"{path} is a folder", "Name a file, such as report/index.html.")
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(page)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(
            f"cannot write the report {path}: {error.strerror}",
            "Name a file in a folder that you may write, on a disk with room.",
        ) from error


def _asset(name: str) -> Markup:
    return Markup((resources.files(__package__) / "assets" / name).read_text(encoding="utf-8"))


def _source(inlined: str) -> str:
    digest = hashlib.sha256(inlined.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _opening(report: Report) -> Markup:
    made = report.generated_at.astimezone(UTC)
    stamp = element("time", f"{made:%Y-%m-%d %H:%M} UTC", datetime=made.isoformat())
    return element(
        "header",
        element("h1", report.title),
        element("p", f"tollfree {report.tollfree_version}, ", stamp, class_="made"),
        map(_sentence, report.verdicts),
        _overview(report),
    )


def _overview(report: Report) -> Markup:
    """Return a picture of each suite, all on one axis, with a sentence under it."""
    pictures = [suite.gains for suite in report.suites if suite.gains]
    return element(
        "section",
        element("h2", "At a glance", id="overview"),
        (_picture(suite, pictures) for suite in report.suites),
        class_="overview",
        aria_labelledby="overview",
    )


def _picture(suite: SuiteSection, pictures: list[GainChart]) -> Markup:
    return fragment(
        element("h3", element("a", suite.title, href=f"#{suite.name}")),
        _interruption(suite.run),
        gain_figure(suite.gains, pictures) if suite.gains else None,
        _sentence(gain_sentence(suite.gains)) if suite.gains else None,
        (element("p", prose(warning), class_="warning") for warning in suite.warnings),
    )


def _sentence(sentence: str) -> Markup | None:
    return element("p", prose(sentence), class_="sentence") if sentence else None


def _findings(verdicts: tuple[str, ...]) -> Markup | None:
    """Return the sentences about a suite, folded: the pictures come first."""
    if not verdicts:
        return None
    return element(
        "details",
        element("summary", f"Findings ({len(verdicts)})"),
        (element("p", prose(verdict)) for verdict in verdicts),
        class_="findings",
    )


def _interruption(run: Run) -> Markup | None:
    if run.state is RunState.COMPLETE:
        return None
    return element(
        "p",
        f"This run {'is still running' if run.state is RunState.RUNNING else 'was interrupted'}: "
        f"{run.executions_done} of {run.executions_planned} executions were measured. "
        "What follows is about those only.",
        class_="warning",
    )


def _section(suite: SuiteSection) -> Markup:
    heading = f"{suite.name}-heading"
    return element(
        "section",
        element("h2", suite.title, id=heading),
        element("p", prose(suite.intro), class_="intro"),
        _findings(suite.verdicts),
        map(chart, suite.charts),
        map(table, suite.tables),
        case_table(suite),
        element("h3", "How this was measured"),
        _method(suite.run),
        id=suite.name,
        aria_labelledby=heading,
    )


def _method(run: Run) -> Markup:
    state = f"{run.state}, {run.executions_done} of {run.executions_planned} cases"
    facts = {
        "Run": f"{run.id} ({state})",
        **({"Size": run.size} if run.size else {}),
        "Durability": run.durability,
        **run.fingerprint,
    }
    return element(
        "div",
        element("p", prose(run.method)),
        element("p", "To repeat it:"),
        element("pre", element("code", run.command)),
        _facts(facts),
        (
            fragment(
                element("h4", f"Settings of {server} that are not PostgreSQL's defaults"),
                _facts(settings) if settings else element("p", "None."),
            )
            for server, settings in run.settings.items()
        ),
        class_="method",
    )


def _facts(facts: Mapping[str, str]) -> Markup:
    return element(
        "dl",
        (
            element("div", element("dt", name), element("dd", value))
            for name, value in facts.items()
        ),
    )
