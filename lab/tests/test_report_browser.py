"""The report in a real browser: what a person sees, clicks, links to, saves and prints."""

import base64
import csv
import io
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from report_demo import FAILED, SKIPPED, demo_report
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.ui import WebDriverWait

from tollfree.report import write

CHROMIUM = Path("/usr/bin/chromium")
CHROMEDRIVER = Path("/usr/bin/chromedriver")
SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def address(folder: Path) -> str:
    path = folder / "index.html"
    write(demo_report(), path)
    return path.as_uri()


@pytest.fixture(scope="module")
def driver(folder: Path) -> Iterator[webdriver.Chrome]:
    for program in (CHROMIUM, CHROMEDRIVER):
        if not program.exists():
            pytest.skip(f"{program} is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for switch in (*SWITCHES, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.add_experimental_option(
        "prefs", {"download.default_directory": str(folder), "download.prompt_for_download": False}
    )
    started = webdriver.Chrome(options=options, service=Service(str(CHROMEDRIVER)))
    try:
        yield started
    finally:
        started.quit()


@pytest.fixture
def page(driver: webdriver.Chrome, address: str) -> Iterator[webdriver.Chrome]:
    """A freshly loaded page, which has to have logged nothing by the end of the test."""
    visit(driver, address)
    yield driver
    assert logged(driver, "browser") == []


def visit(driver: webdriver.Chrome, url: str) -> None:
    # By way of an empty page: from the report itself, another fragment would not load anything.
    driver.get("about:blank")
    driver.get(url)


def logged(driver: webdriver.Chrome, log: str) -> list[str]:
    """Return what was logged since the last call."""
    entries = driver.get_log(log)  # type: ignore[no-untyped-call]
    return [entry["message"] for entry in entries]


def shown(page: webdriver.Chrome) -> list[str]:
    """Return the test cases in sight, in the order of the page."""
    found: list[str] = page.execute_script(
        "return [...document.querySelectorAll('.cases tbody tr')]"
        ".filter((row) => row.offsetParent !== null).map((row) => row.cells[0].textContent)"
    )
    return found


def column(page: webdriver.Chrome, label: str) -> list[str]:
    """Return the values of a column in the order of the page; empty where there is none."""
    found: list[str] = page.execute_script(
        "const heads = [...document.querySelectorAll('.cases thead button')];"
        "const at = heads.findIndex((head) => head.dataset.sort === arguments[0]);"
        "return [...document.querySelectorAll('.cases tbody tr')].map((row) => "
        "row.cells.length < heads.length ? '' : row.cells[at].dataset.value)",
        label,
    )
    return found


def heading(page: webdriver.Chrome, label: str) -> Any:
    return page.find_element(By.CSS_SELECTOR, f".cases thead button[data-sort='{label}']")


def sorted_as(page: webdriver.Chrome, label: str) -> str | None:
    order: str | None = heading(page, label).find_element(By.XPATH, "..").get_attribute("aria-sort")
    return order


def announced(page: webdriver.Chrome) -> str:
    return page.find_element(By.CSS_SELECTOR, "output[role=status]").text


def type_text(page: webdriver.Chrome, text: str) -> None:
    page.find_element(By.NAME, "text").send_keys(text)


def choose(page: webdriver.Chrome, dimension: str, value: str) -> None:
    # By keyboard, as the events are then the browser's own.
    page.find_element(By.NAME, f"where.{dimension}").send_keys(value)


def set_width(page: webdriver.Chrome, width: int) -> None:
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )


def test_no_request_leaves_the_file(page: webdriver.Chrome, address: str) -> None:
    logged(page, "performance")
    visit(page, address)
    messages = [json.loads(entry)["message"] for entry in logged(page, "performance")]
    requested = {
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    }
    assert requested - {"about:blank"} == {address}


def test_policy_is_enforced(page: webdriver.Chrome) -> None:
    page.execute_script(
        "const style = document.createElement('style'); style.textContent = 'body{display:none}';"
        "document.head.append(style)"
    )
    refusals = logged(page, "browser")
    assert any("Content Security Policy" in refusal for refusal in refusals)
    assert page.find_element(By.TAG_NAME, "h1").is_displayed()


def test_text_filter_reduces_the_rows_and_says_so(page: webdriver.Chrome) -> None:
    assert announced(page) == "32 of 32 cases"
    type_text(page, "FDW_local c5")
    assert len(shown(page)) == 4
    assert all("FDW_local:c5" in name for name in shown(page))
    assert announced(page) == "4 of 32 cases"


def test_a_picture_is_seen_first_and_findings_are_folded(page: webdriver.Chrome) -> None:
    picture = page.find_element(By.CSS_SELECTOR, ".overview figure")
    assert picture.is_displayed()
    assert picture.rect["y"] < 400
    sentence = page.find_element(By.CSS_SELECTOR, ".findings p")
    assert not sentence.is_displayed()
    page.find_element(By.CSS_SELECTOR, ".findings summary").click()
    assert sentence.is_displayed()


def test_selects_and_text_narrow_together(page: webdriver.Chrome) -> None:
    choose(page, "Type", "RO")
    choose(page, "Clients", "1")
    type_text(page, "PREPARED")
    assert shown(page) == [
        f"RO:{target}:c1:prepared"
        for target in ("local", "FDW_local", "FDW_external", "FDW_ext_ro")
    ]
    page.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    assert len(shown(page)) == 32


def test_failed_case_is_found_by_its_state_and_shows_its_reason(page: webdriver.Chrome) -> None:
    choose(page, "State", "failed")
    assert shown(page) == [FAILED]
    row = page.find_element(By.CSS_SELECTOR, "tr.failed")
    assert "could not connect to server <external>" in row.text
    assert "TPS" not in row.text
    choose(page, "State", "ok")
    assert "could not connect" in page.find_element(By.CSS_SELECTOR, ".unmeasured").text


def test_filter_that_matches_nothing_says_so(page: webdriver.Chrome) -> None:
    type_text(page, "no such case")
    assert shown(page) == []
    assert announced(page) == "0 of 32 cases"


@pytest.mark.parametrize("label", ["Median", "Ratio", "p99"])
def test_sort_is_numeric_toggles_and_puts_missing_values_last(
    page: webdriver.Chrome, label: str
) -> None:
    heading(page, label).click()
    ascending = column(page, label)
    numbers = [float(value) for value in ascending[:-5]]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) > 1
    assert ascending[-5:] == [""] * 5
    assert sorted_as(page, label) == "ascending"
    heading(page, label).click()
    descending = column(page, label)
    assert [float(value) for value in descending[:-5]] == sorted(numbers, reverse=True)
    assert descending[-5:] == [""] * 5
    assert sorted_as(page, label) == "descending"


def test_only_one_column_is_said_to_be_sorted(page: webdriver.Chrome) -> None:
    heading(page, "Median").click()
    heading(page, "Case").click()
    assert sorted_as(page, "Median") == "none"
    assert sorted_as(page, "Case") == "ascending"
    assert shown(page) == sorted(shown(page), key=str.lower)


def test_sort_works_from_the_keyboard(page: webdriver.Chrome) -> None:
    page.execute_script("arguments[0].focus()", heading(page, "Ratio"))
    page.switch_to.active_element.send_keys(" ")
    assert sorted_as(page, "Ratio") == "ascending"


def test_fragment_restores_filter_and_sort(page: webdriver.Chrome) -> None:
    choose(page, "Type", "RW")
    type_text(page, "c1")
    heading(page, "Median").click()
    heading(page, "Median").click()
    link, seen = page.current_url, shown(page)
    assert len(seen) == 8
    visit(page, link)
    assert shown(page) == seen
    assert sorted_as(page, "Median") == "descending"
    assert page.find_element(By.NAME, "text").get_attribute("value") == "c1"
    assert Select(page.find_element(By.NAME, "where.Type")).first_selected_option.text == "RW"


def test_anchor_does_not_disturb_the_filter(page: webdriver.Chrome) -> None:
    choose(page, "Type", "RW")
    page.find_element(By.CSS_SELECTOR, ".overview a").click()
    WebDriverWait(page, 5).until(lambda driver: driver.current_url.endswith("#fdw"))
    assert len(shown(page)) == 16


def test_fragment_of_another_page_is_ignored(page: webdriver.Chrome, address: str) -> None:
    visit(page, f"{address}#fdw.where.Type=gone&fdw.sort=gone&other.text=x")
    assert len(shown(page)) == 32


def saved(page: webdriver.Chrome, folder: Path, name: str) -> str:
    page.find_element(By.CSS_SELECTOR, f"a[download='{name}']").click()
    path = folder / name
    WebDriverWait(page, 10).until(lambda _: path.exists() and path.stat().st_size)
    return path.read_bytes().decode()


def test_csv_download_has_every_case(page: webdriver.Chrome, folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(saved(page, folder, "fdw-cases.csv"), newline="")))
    assert len(rows) == 32
    by_name = {row["testcase"]: row for row in rows}
    assert float(by_name["RO:local:c1:simple"]["median"]) == 14200.0
    assert by_name[FAILED]["median"] == ""
    assert (
        by_name[FAILED]["reason"] == "pgbench exited with 1: could not connect to server <external>"
    )


def test_csv_download_has_every_sample(page: webdriver.Chrome, folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(saved(page, folder, "fdw-samples.csv"), newline="")))
    assert len(rows) == 270
    expected = demo_report().suites[0].samples.rows[0]
    assert (rows[0]["testcase"], int(rows[0]["round"]), float(rows[0]["tps"])) == expected


def test_json_download_has_the_run(page: webdriver.Chrome, folder: Path) -> None:
    document = json.loads(saved(page, folder, "fdw.json"))
    assert document["run"]["command"] == "tollfree run fdw --quick --rounds 10"
    assert document["run"]["fingerprint"]["CPU"] == "Invented CPU <2 cores> & friends"
    assert len(document["samples"]["rows"]) == 270


@pytest.fixture
def narrow(page: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    set_width(page, 400)
    yield page
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_page_fits_400_pixels_and_tables_scroll_by_themselves(narrow: webdriver.Chrome) -> None:
    assert narrow.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    wide: list[bool] = narrow.execute_script(
        "return [...document.querySelectorAll('.scroll')].map((box) => "
        "box.scrollWidth > box.clientWidth && box.getBoundingClientRect().right <= innerWidth)"
    )
    assert wide == [True, True]


def test_charts_keep_their_text_legible_at_400_pixels(narrow: webdriver.Chrome) -> None:
    sizes: list[float] = narrow.execute_script(
        "return [...document.querySelectorAll('svg[role=img]')].filter((svg) => "
        "svg.clientWidth).map((svg) => 12 * svg.clientWidth / svg.viewBox.baseVal.width)"
    )
    assert len(sizes) == 4
    assert min(sizes) >= 11


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_follows_the_colour_scheme(page: webdriver.Chrome, scheme: str) -> None:
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    ground = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    brightness = sum(map(int, re.findall(r"\d+", ground))) / 3
    assert (brightness > 200) == (scheme == "light")


@pytest.fixture
def print_medium(page: webdriver.Chrome) -> Iterator[Callable[[str], str]]:
    """Give the text that an element shows when the page is printed."""
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})

    def text(selector: str) -> str:
        return "\n".join(element.text for element in page.find_elements(By.CSS_SELECTOR, selector))

    yield text
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_print_shows_everything_and_no_controls(
    page: webdriver.Chrome, print_medium: Callable[[str], str]
) -> None:
    assert "Lookup: postgres_fdw takes 6.9x" in print_medium(".overview")
    assert print_medium(".controls") == ""
    assert print_medium(".downloads") == ""
    page.execute_script(
        "const field = document.querySelector('[name=text]'); field.value = 'no such case';"
        "field.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    assert len(shown(page)) == 32


@pytest.fixture
def pdf(page: webdriver.Chrome, folder: Path) -> Path:
    printed = page.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    path = folder / "report.pdf"
    path.write_bytes(base64.b64decode(printed["data"]))
    return path


def test_page_prints_to_pdf(pdf: Path) -> None:
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes())) >= 3


@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
def test_pdf_has_the_folded_findings_and_every_case(pdf: Path) -> None:
    command = ["pdftotext", "-raw", str(pdf), "-"]
    text = subprocess.run(command, capture_output=True, check=True, timeout=30).stdout.decode()
    assert "Read-only lookups through postgres_fdw take 6.9x" in " ".join(text.split())
    assert SKIPPED in text.replace("\n", "")
