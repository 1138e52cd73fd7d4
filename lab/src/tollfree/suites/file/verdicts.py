"""The sentences that the section `file` begins with."""

from tollfree.suites.file.findings import (
    ENGINE_NAMES,
    SETTINGS,
    STOCK,
    FileFindings,
    is_published,
    setting,
)
from tollfree.suites.presentation import noise_sentence


def verdicts(file: FileFindings) -> tuple[str, ...]:
    """Return sentences that a person can act on, failures first."""
    sentences = [_failures(file)]
    for candidate in file.candidates():
        sentences += [_eight(file, candidate, *each) for each in SETTINGS]
        sentences += [_scanning(file, candidate), _analysing(file, candidate)]
    sentences.append(_noise(file))
    return tuple(filter(None, sentences))


def _failures(file: FileFindings) -> str | None:
    failed = {r.testcase for r in file.run.failures() if r.state == "failed"}
    skipped = {r.reason for r in file.run.failures() if r.state == "skipped"}
    words = []
    if failed:
        words.append(
            f"{len(failed)} of {len(file.run.cases)} cases failed and have no figures: see the "
            "table of cases for the reasons."
        )
    words += [f"Skipped: {reason}." for reason in sorted(map(str, skipped))]
    return " ".join(words) or None


def _eight(file: FileFindings, candidate: str, engine: str, workers: int) -> str | None:
    """Say what becomes of the article's queries."""
    found = file.geometric_mean(candidate, engine, workers)
    if found is None:
        return None
    mean, count = found
    ratios = [
        (ratio.median, query)
        for query in file.queries(engine=engine, workers=workers)
        if (query, engine) in file.published
        and (ratio := file.ratio(file.case(query, candidate, engine, workers))) is not None
    ]
    (low, best), (high, worst) = min(ratios), max(ratios)
    sentence = (
        f"Through {candidate}, {setting(engine, workers)}, {count} queries take {mean:.2f}x as "
        f"long as on a regular table (geometric mean; {best} {low:.2f}x to {worst} {high:.2f}x)"
    )
    if candidate == STOCK and is_published(engine, workers):
        published = file.published_mean(engine)
        sentence += f"; published, on {ENGINE_NAMES[engine]}: {published:.1f}x"
    return sentence + "."


def _scanning(file: FileFindings, candidate: str) -> str | None:
    """Say how fast the text is gone through, and whether a table would be faster."""
    case = file.case("Q6", candidate, "plain", 0)
    rate, ratio = file.megabytes_a_second(case), file.ratio(case)
    if rate is None or ratio is None:
        return None
    advice = (
        "loading the file pays when it is queried often"
        if ratio.median > 1
        else "there is no need to load the file first"
    )
    return (
        f"{candidate} goes through {rate:.0f} MB of text a second and core on Q6, "
        f"{ratio.median:.2f}x the time of a regular table: {advice}."
        + (" (Published: 36 MB/s.)" if candidate == STOCK else "")
    )


def _analysing(file: FileFindings, candidate: str) -> str | None:
    seconds = file.mean_s(file.case("ANALYZE", candidate, "plain", 0))
    heap = file.mean_s(file.case("ANALYZE", "heap", "plain", 0))
    if seconds is None or heap is None:
        return None
    return (
        f"ANALYZE of lineitem takes {seconds:.2f} s through {candidate}, {heap:.2f} s on the table."
    )


def _noise(file: FileFindings) -> str | None:
    noise = file.run.noise
    return noise_sentence(noise, "the regular table") if noise else None
