"""The report without a browser: what the page holds, and what it must never hold."""

import base64
import hashlib
import json
import math
import re
import stat
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from report_demo import FAILED, demo_report, demo_suite

from tollfree.errors import FileError
from tollfree.report import figures, render, write
from tollfree.report.axis import linear_axis, log_axis
from tollfree.report.charts import chart
from tollfree.report.markup import VOID_ELEMENTS, element, prose
from tollfree.report.model import (
    AxisTitle,
    Better,
    CaseRow,
    CaseState,
    Chart,
    Column,
    Estimate,
    Gain,
    GainChart,
    GainRow,
    LineChart,
    Point,
    RatioChart,
    RatioRow,
    Report,
    RunState,
    SampleChart,
    SampleRow,
    Samples,
    Series,
    Sheet,
    Table,
    Tick,
)
from tollfree.report.sheet import render_sheet, write_sheet

HOSTILE = "</script><script>alert(1)</script> & \"quoted\" 'single' <b>"
AWKWARD = (0.0, 1.0, -3.5, 5e-324, 1e308, math.inf, -math.inf, math.nan)


class Page(HTMLParser):
    """Elements in the order they open; refuses what is closed wrongly or left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"<{tag}> repeats an attribute: {names}"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID_ELEMENTS:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, wanted: str) -> Iterator[dict[str, str | None]]:
        return (attributes for tag, attributes in self.elements if tag == wanted)


@pytest.fixture(scope="module")
def page_text() -> str:
    return render(demo_report())


def embedded_data(page_text: str, suite: str) -> Any:
    block = re.search(
        rf'<script type="application/json" id="data-{suite}">(.*?)</script>', page_text
    )
    assert block
    return json.loads(block[1])


def hostile_report() -> Report:
    suite = demo_suite()
    row = replace(
        suite.cases.rows[0],
        testcase=HOSTILE,
        dimensions=dict.fromkeys(suite.cases.dimensions, HOSTILE),
        unit=HOSTILE,
    )
    failed = CaseRow(HOSTILE, row.dimensions, CaseState.FAILED, HOSTILE, HOSTILE)
    bars = RatioChart(HOSTILE, HOSTILE, HOSTILE, Better.LOWER, (RatioRow(HOSTILE, None),), HOSTILE)
    title = AxisTitle(HOSTILE, HOSTILE, ticks=(Tick(1.0, HOSTILE),))
    lines = LineChart(HOSTILE, title, title, (Series(HOSTILE, (Point(1.0, 1.0),)),))
    run = replace(
        suite.run,
        id=HOSTILE,
        command=HOSTILE,
        method=HOSTILE,
        durability=HOSTILE,
        fingerprint={HOSTILE: HOSTILE},
        settings={HOSTILE: {HOSTILE: HOSTILE}},
        size=HOSTILE,
    )
    suite = replace(
        suite,
        title=HOSTILE,
        intro=HOSTILE,
        verdicts=(HOSTILE,),
        run=run,
        charts=(bars, lines),
        tables=(Table(HOSTILE, (Column(HOSTILE, unit=HOSTILE),), ((HOSTILE,),), (HOSTILE,)),),
        cases=replace(suite.cases, quantity=HOSTILE, baseline=HOSTILE, rows=(row, failed)),
        samples=Samples((HOSTILE,), ((HOSTILE,),)),
        gains=GainChart(
            HOSTILE, HOSTILE, (HOSTILE,), (GainRow(HOSTILE, (Gain(Estimate(2.0)),), 3.0),), HOSTILE
        ),
    )
    return Report(HOSTILE, datetime(2020, 1, 1, tzinfo=UTC), HOSTILE, (suite,), (HOSTILE,))


def test_page_is_well_formed(page_text: str) -> None:
    page = Page(page_text)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert len(list(page.all("h1"))) == 1


def test_same_report_gives_same_bytes(page_text: str) -> None:
    assert render(demo_report()) == page_text


def test_all_text_is_escaped() -> None:
    text = render(hostile_report())
    assert "<b>" not in text
    assert "alert(1)</script>" not in text
    # One script of our own and one block of data: nothing came in with the text.
    assert len(list(Page(text).all("script"))) == 2
    assert embedded_data(text, "fdw")["samples"]["rows"] == [[HOSTILE]]


def test_markup_is_kept_and_text_is_not() -> None:
    inner = element("b", "1 < 2")
    assert element("p", inner, " & ", None, class_="x") == '<p class="x"><b>1 &lt; 2</b> &amp; </p>'
    assert element("p", title='"') == '<p title="&quot;"></p>'
    assert prose("use `<b>` & go") == "use <code>&lt;b&gt;</code> &amp; go"


def test_nothing_outside_the_file_is_named(page_text: str) -> None:
    page = Page(page_text)
    for tag, attributes in page.elements:
        assert "src" not in attributes
        assert "style" not in attributes, f"<{tag} style> would be refused by the policy"
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"https?:|url\(|@import", page_text)
    assert not {tag for tag, _ in page.elements} & {"link", "img", "iframe", "object", "base"}


def test_policy_allows_only_what_is_inlined(page_text: str) -> None:
    policy = next(
        str(attributes["content"])
        for attributes in Page(page_text).all("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    for pattern in (r"<style>(.*?)</style>", r"<script>(.*?)</script>"):
        inlined = re.search(pattern, page_text, re.DOTALL)
        assert inlined
        digest = base64.b64encode(hashlib.sha256(inlined[1].encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_failed_and_skipped_cases_say_why_and_have_no_figure(page_text: str) -> None:
    rows = re.findall(r'<tr class="(failed|skipped)">(.*?)</tr>', page_text)
    assert len(rows) == 5
    for state, row in rows:
        assert "data-value" not in row
        assert 'class="number"' not in row
        assert "TPS" not in row
        reason = re.search(r'class="reason">(.+?)</td>', row)
        assert reason and f'class="state {state}"' in row
    assert "1 failed</strong>: pgbench exited with 1" in page_text
    assert "4 skipped</strong>: the foreign tables" in page_text


def test_failed_case_has_no_figure_in_the_data(page_text: str) -> None:
    cases = embedded_data(page_text, "fdw")["cases"]
    rows = [dict(zip(cases["columns"], row, strict=True)) for row in cases["rows"]]
    failed = next(row for row in rows if row["testcase"] == FAILED)
    assert failed["state"] == "failed"
    assert failed["reason"].startswith("pgbench exited with 1")
    assert failed["median"] is failed["ratio"] is failed["told_apart"] is failed["p99"] is None


@pytest.mark.parametrize(
    "figure",
    [{"median": Estimate(1.0)}, {"ratio": Estimate(1.0)}, {"extra": {"p99": 0}}],
)
def test_failed_case_cannot_be_given_a_figure(figure: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must not carry a figure"):
        CaseRow("c", {}, CaseState.FAILED, "ms", "it broke", **figure)  # type: ignore[arg-type]


def test_failed_case_must_say_why() -> None:
    with pytest.raises(ValueError, match="must say why"):
        CaseRow("c", {}, CaseState.SKIPPED, "ms")


def test_model_refuses_what_cannot_be_shown() -> None:
    with pytest.raises(ValueError, match="2 cells"):
        Table("t", (Column("a"),), (("1", "2"),))
    with pytest.raises(ValueError, match="time zone"):
        replace(demo_report(), generated_at=datetime(2020, 1, 1))
    with pytest.raises(ValueError, match="anchor"):
        replace(demo_suite(), name="a b")
    with pytest.raises(ValueError, match="not distinct"):
        replace(demo_report(), suites=(demo_suite(), demo_suite()))


def awkward_charts() -> Iterator[Chart]:
    """Charts of nothing, of one value, of equal values, and of values no axis can hold."""
    sets: list[tuple[float, ...]] = [(), *((value,) for value in AWKWARD), (2.0, 2.0), AWKWARD]
    sets += [(0.0, 1e-9), (1e-90, 1e90), (0.999, 1.001)]
    for values in sets:
        estimates = [Estimate(value, value, value) for value in values]
        bars = [RatioRow("r", estimate, reference=estimate.value) for estimate in estimates]
        yield RatioChart("c", "time", "local", Better.LOWER, (*bars, RatioRow("none", None)))
        yield RatioChart("c", "time", "local", Better.LOWER, tuple(bars))
        dots = tuple(SampleRow("r", values, estimate) for estimate in estimates)
        yield SampleChart("c", "time", "ms", Better.LOWER, (*dots, SampleRow("none", (), None)))
        yield SampleChart("c", "time", "ms", Better.LOWER, dots)
        points = tuple(Point(value, value, value, value) for value in values)
        for log in (False, True):
            title = AxisTitle("x", log=log, ticks=(Tick(0.0, "zero"),) if log else ())
            yield LineChart("c", title, AxisTitle("y", "ms", log), (Series("s", points),) * 8)
    yield LineChart("c", AxisTitle("x"), AxisTitle("y"), ())
    gains = (GainRow("r", (Gain(Estimate(value)), None), value) for value in AWKWARD)
    yield GainChart("c", "local", ("stock", "ours"), tuple(gains))
    yield GainChart("c", "local", ("stock", "ours"), ())


@pytest.mark.parametrize("value", awkward_charts())
def test_coordinates_are_finite_and_inside(value: Chart) -> None:
    drawn = chart(value)
    assert not re.search(r'="[^"]*\b(nan|inf)\b', re.sub(r'aria-label="[^"]*"', "", drawn))
    width = 0.0
    for tag, attributes in Page(drawn).elements:
        if tag == "svg":
            width = float(attributes["width"] or 0)
        for name in ("x", "x1", "x2", "cx"):
            if name in attributes and tag != "text":
                assert -1 <= float(attributes[name] or "nan") <= width + 1
        for name in ("width", "height"):
            assert float(attributes.get(name) or 0) >= 0


def small_chart(caption: str, *labels: str, reach: tuple[float, ...] = ()) -> LineChart:
    points = (Point(1.0, 10.0, 9.0, 11.0), Point(100.0, 30.0, 29.0, 31.0))
    x, y = AxisTitle("share", "%", log=True), AxisTitle("duration", "ms", log=True, reach=reach)
    return LineChart(caption, x, y, tuple(Series(label, points) for label in labels))


def test_a_sheet_is_an_svg_file_with_one_key_and_every_chart(tmp_path: Path) -> None:
    left, right = (small_chart(f"<{side}>", "full", "system") for side in ("left", "right"))
    sheet = Sheet("Two < three", ((left, right), (None, right)), "a note")
    path = write_sheet(sheet, tmp_path / "sheet.svg")
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    written = [found.text for found in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [written.count(words) for words in ("<left>", "<right>", "full", "duration, ms")] == [
        *(1, 2, 1, 3)
    ]
    assert len(list(root.iter("{http://www.w3.org/2000/svg}svg"))) == 1 + 3
    assert render_sheet(sheet) + "\n" == path.read_text(encoding="utf-8")


def test_the_charts_of_a_sheet_have_the_same_series() -> None:
    with pytest.raises(ValueError, match="different series"):
        Sheet("s", ((small_chart("a", "full"), small_chart("b", "system")),))


def test_an_axis_reaches_what_it_is_told_to() -> None:
    assert ">10,000</text>" not in chart(small_chart("c", "s"))
    assert ">10,000</text>" in chart(small_chart("c", "s", reach=(10_000.0,)))


def test_empty_chart_says_so() -> None:
    drawn = chart(RatioChart("nothing", "time", "local", Better.LOWER, ()))
    assert "Nothing was measured." in drawn
    assert "viewBox" not in drawn


def test_the_page_begins_with_a_picture_and_folds_what_is_said(page_text: str) -> None:
    order = [page_text.index(x) for x in ("<h1", "Invented gains", "<details", "<table")]
    assert order == sorted(order)
    assert (
        "Lookup: postgres_fdw takes 6.9x the time of the local table, tollfree_postgres_fdw 1.90x."
    ) in page_text
    assert "<details open" not in page_text
    assert "Findings (2)" in page_text


def test_the_pictures_of_a_page_have_one_axis() -> None:
    suite = demo_suite()
    assert suite.gains
    slow = replace(suite.gains, rows=(GainRow("slow", (Gain(Estimate(900.0)), None)),))
    other = replace(suite, name="other", gains=slow)
    text = render(replace(demo_report(), suites=(suite, other)))
    assert ">1,000x</text>" not in render(demo_report())
    assert text.count(">1,000x</text>") == 4


def test_a_picture_has_a_gain_for_each_candidate() -> None:
    with pytest.raises(ValueError, match="has 1 gains, the chart has 2 candidates"):
        GainChart("c", "local", ("stock", "ours"), (GainRow("r", (None,)),))


def test_long_label_is_shortened_and_kept_whole_in_the_tooltip() -> None:
    label = "ODBC:lcl:ipc:sql001:0:50k:acc-n:p-all:null:" * 3
    rows = (RatioRow(label, Estimate(2.0)),)
    drawn = chart(RatioChart("see `x`", "time", "local", Better.LOWER, rows))
    shown = re.findall(r'class="label"[^>]*>([^<]*)<', drawn)
    assert [text[-1] for text in shown] == ["\N{HORIZONTAL ELLIPSIS}"] * 2
    assert f"<title>{label}: 2.0x</title>" in drawn
    assert 'aria-label="see x. ' in drawn


def test_ratio_axis_is_logarithmic_only_where_the_span_asks() -> None:
    def drawn(*ratios: float) -> str:
        rows = tuple(RatioRow("r", Estimate(ratio)) for ratio in ratios)
        return chart(RatioChart("c", "time", "local", Better.LOWER, rows))

    assert "logarithmic" not in drawn(0.9, 7.7)
    assert "logarithmic" in drawn(0.9, 300)
    assert "logarithmic" not in drawn(0.0, 300)


def test_noise_and_reference_are_marked_where_they_are() -> None:
    rows = (RatioRow("a", Estimate(1.01), told_apart=False), RatioRow("b", Estimate(6.3)))
    plain = RatioChart("c", "time", "local", Better.LOWER, rows[1:])
    assert figures.NOISE_MEANING not in chart(plain)
    assert "published" not in chart(plain)
    marked = chart(replace(plain, rows=(rows[0], replace(rows[1], reference=7.7))))
    assert f"a: 1.01x, {figures.NOISE_MEANING}" in marked
    assert "b: 6.3x, published 7.7x" in marked


def test_a_run_says_how_large_it_was_where_that_is_known(page_text: str) -> None:
    size = "quick, scale 10, seconds 1"
    assert f"<dt>Size</dt><dd>{size}</dd>" in page_text
    assert embedded_data(page_text, "fdw")["run"]["size"] == size
    suite = demo_suite()
    unknown = replace(demo_report(), suites=(replace(suite, run=replace(suite.run, size="")),))
    assert "<dt>Size</dt>" not in render(unknown)


def test_what_the_picture_must_not_be_read_without_stands_beside_it() -> None:
    warning = "NOT PRECISE: the machine was too busy."
    suite = replace(demo_suite(), warnings=(warning,), verdicts=(warning,))
    page = render(replace(demo_report(), suites=(suite,)))
    assert 0 < page.index(warning) < page.index("Findings (1)")


def test_interrupted_run_says_how_far_it_came() -> None:
    assert "This run was interrupted: 30 of 32 executions" in render(
        demo_report(RunState.INTERRUPTED)
    )
    assert "interrupted" not in visible_text(render(demo_report(RunState.COMPLETE)))


def visible_text(page_text: str) -> str:
    return re.sub(r"<(style|script)\b.*?</\1>|<[^>]*>", "", page_text, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("value", "written"),
    [(6.31, "6.3x"), (1.653, "1.65x"), (0.13, "0.130x"), (12.34, "12.3x"), (1234.5, "1,234x")],
)
def test_ratios_are_written_as_people_read_them(value: float, written: str) -> None:
    assert figures.ratio(value) == written


def test_numbers_are_written_with_four_significant_digits() -> None:
    written = [figures.significant(value) for value in (14200.4, 609.98, 0.06654, 0.0, 2e-7, 1e15)]
    assert written == ["14,200", "610.0", "0.06654", "0", "2.000e-07", "1.000e+15"]
    assert figures.significant(None) == figures.significant(math.nan) == figures.DASH
    assert figures.interval(Estimate(14200, 13987.2, 14370.9)) == f"13,987{figures.DASH}14,371"
    assert figures.interval(Estimate(14200)) == ""
    assert figures.ratio_interval(Estimate(6.9, 6.68, 7.21)) == f"6.7{figures.DASH}7.2"


def test_axes_have_round_ticks_over_all_values() -> None:
    linear = linear_axis([7.7], 0, 100)
    assert linear.ticks == (0, 2, 4, 6, 8)
    assert (linear.position(0), linear.position(4), linear.position(8)) == (0, 50, 100)
    log = log_axis([0.2, 300.0], 0, 100)
    assert (log.low, log.high) == (0.2, 500)
    assert log.ticks == (1, 10, 100)
    assert log.position(10) == pytest.approx(50)


def test_not_a_number_becomes_null_in_the_data() -> None:
    suite = replace(demo_suite(), samples=Samples(("tps",), ((math.nan,), (math.inf,), (1.5,))))
    text = render(replace(demo_report(), suites=(suite,)))
    assert embedded_data(text, "fdw")["samples"]["rows"] == [[None], [None], [1.5]]


def test_every_figure_has_an_accessible_name_and_every_heading_a_scope(page_text: str) -> None:
    page = Page(page_text)
    drawings = [svg for svg in page.all("svg") if svg.get("aria-hidden") != "true"]
    assert len(drawings) == 8
    for svg in drawings:
        assert svg["role"] == "img"
        assert len(svg["aria-label"] or "") > 40
    assert all(heading["scope"] in ("col", "row") for heading in page.all("th"))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_sufficient_contrast(scheme: int) -> None:
    style = (resources.files("tollfree.report") / "assets" / "style.css").read_text()
    palettes = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    palette = dict(re.findall(r"--([\w-]+): (#\w{6})", palettes[scheme]))
    for ground in ("paper", "panel"):
        for ink in ("ink", "muted", "accent", "failed"):
            assert contrast(palette[ink], palette[ground]) >= 4.5, (ink, ground)
    marks = ["noise", "published", *(f"series-{number}" for number in range(1, 7))]
    assert [mark for mark in marks if contrast(palette[mark], palette["paper"]) < 3] == []


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_write_replaces_the_file_and_leaves_no_draft(tmp_path: Path, page_text: str) -> None:
    path = tmp_path / "report" / "index.html"
    write(demo_report(RunState.COMPLETE), path)
    write(demo_report(), path)
    assert path.read_text(encoding="utf-8") == page_text
    assert list(path.parent.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) & stat.S_IRUSR


def test_write_names_the_file_it_could_not_write(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(FileError, match=re.escape(str(blocked / "index.html"))) as raised:
        write(demo_report(), blocked / "index.html")
    assert raised.value.remedy
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(FileError, match="is a folder"):
        write(demo_report(), folder)
    assert sorted(tmp_path.iterdir()) == [blocked, folder]
