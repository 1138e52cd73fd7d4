"""The sentences that the section `file` begins with."""

from tollfree import stats
from tollfree.suites.file.findings import (
    COLD_SHARE,
    ENGINE_NAMES,
    FORM_WORDS,
    HEAP,
    KEPT,
    OURS,
    SETTINGS,
    STOCK,
    FileFindings,
    is_published,
    setting,
)
from tollfree.suites.presentation import NOT_TOLD_APART, noise_sentence, ratio_words


def verdicts(file: FileFindings) -> tuple[str, ...]:
    """Return sentences that a person can act on."""
    sentences: list[str | None] = []
    for candidate in file.candidates():
        sentences += [_queries(file, candidate, *each) for each in SETTINGS]
        sentences += [_scanning(file, candidate), _analysing(file, candidate)]
    sentences += [_kept(file), _forms(file), _caches(file), _noise(file)]
    return tuple(filter(None, sentences))


def _queries(file: FileFindings, candidate: str, engine: str, workers: int) -> str | None:
    """Summarise the article's queries, and all of TPC-H's if there are more."""
    cases = file.tpch_cases(candidate, engine, workers)
    published = {query: cases[query] for query in cases if (query, engine) in file.published}
    first = published or cases
    mean = _mean(file, first)
    if mean is None:
        return None
    sentence = (
        f"Through {candidate}, {setting(engine, workers)}, {len(first)} queries take {mean} as "
        f"long as on a regular table, in the geometric mean: {_span(file, first)}"
    )
    if published and candidate == STOCK and is_published(engine, workers):
        mean_then = file.published_mean(engine, published)
        sentence += f"; published, on {ENGINE_NAMES[engine]}: {mean_then:.1f}x"
    if len(cases) > len(first) and (mean := _mean(file, cases)):
        sentence += f"; all {len(cases)} that were measured: {mean}"
    return sentence + "."


def _mean(file: FileFindings, cases: dict[str, str]) -> str | None:
    """Return the geometric mean of the ratios of cases, in words; None if no round has them all."""
    mean = file.run.mean_ratio(cases.values())
    if mean is None:
        return None
    return ratio_words(mean, told_apart=stats.told_apart(mean, file.run.noise))


def _span(file: FileFindings, cases: dict[str, str]) -> str:
    """Return the least and the largest of the ratios of cases by query."""
    ratios = [(ratio.median, query) for query, case in cases.items() if (ratio := file.ratio(case))]
    (low, best), (high, worst) = min(ratios), max(ratios)
    return f"{best} {low:.2f}x to {worst} {high:.2f}x"


def _scanning(file: FileFindings, candidate: str) -> str | None:
    """Say how fast the text is gone through, and whether a table would be faster."""
    case = file.case("Q6", candidate, "plain", 0)
    rate, ratio = file.megabytes_a_second(case), file.ratio(case)
    if case is None or rate is None or ratio is None:
        return None
    if not file.run.told_apart(case):
        advice = f"{NOT_TOLD_APART}, so this run cannot say whether loading the file pays"
    elif ratio.median > 1:
        advice = "loading the file pays when it is queried often"
    else:
        advice = "there is no need to load the file first"
    return (
        f"{candidate} goes through {rate:.0f} MB of text a second and core on Q6, "
        f"{ratio.median:.2f}x the time of a regular table: {advice}."
        + (" (Published: 36 MB/s.)" if candidate == STOCK else "")
    )


def _kept(file: FileFindings) -> str | None:
    """Say what keeping an index and columns of the files makes of the article's queries."""
    by_state = [file.tpch_cases(name, "plain", 0) for name in (OURS, *KEPT)]
    common = set.intersection(*map(set, by_state))
    common = {query for query in common if (query, "plain") in file.published}
    without, first, second, appended = (
        _mean(file, {query: cases[query] for query in common}) for cases in by_state
    )
    if None in (without, first, second, appended):
        return None
    return (
        f"Where {OURS} keeps an index and columns of the files, {len(common)} queries take "
        f"{second} as long as on a regular table, in the geometric mean; {first} the first "
        f"time; {appended} when the file has grown by a hundredth; {without} where nothing is kept."
    )


def _forms(file: FileFindings) -> str | None:
    """Say what the stored forms of the records take beside the stock wrapper, on Q6."""
    parts = []
    for form in file.forms(query="Q6", engine="plain", workers=0):
        ours, stock = (file.case("Q6", name, "plain", 0, form) for name in (OURS, STOCK))
        ratio = file.run.ratio(ours, stock) if ours and stock else None
        if ratio is not None:
            words = ratio_words(ratio, told_apart=stats.told_apart(ratio, file.run.noise))
            parts.append(f"{FORM_WORDS.get(form, form)} {words}")
    if not parts:
        return None
    return f"Q6 through {OURS}, of the time through {STOCK}: {', '.join(parts)}."


def _analysing(file: FileFindings, candidate: str) -> str | None:
    seconds = file.mean_s(file.case("ANALYZE", candidate, "plain", 0))
    heap = file.mean_s(file.case("ANALYZE", HEAP, "plain", 0))
    if seconds is None or heap is None:
        return None
    return (
        f"ANALYZE of lineitem takes {seconds:.2f} s through {candidate}, {heap:.2f} s on the table."
    )


def _caches(file: FileFindings) -> str | None:
    """Say whether the run was one of warm caches."""
    told = [name for name in file.run.cases if file.disk_share(name) is not None]
    cold = sum(file.is_cold(name) for name in told)
    if not told:
        return None
    if cold == 0:
        return f"What was scanned came from the page cache, in every execution{_that_tell(file)}."
    return (
        f"{cold} of {len(told)} cases are cold: an execution of theirs read more than "
        f"{COLD_SHARE:.0%} of the text's size from the disk. Memory for text and tables both, or a "
        "smaller scale, makes them warm."
    )


def _that_tell(file: FileFindings) -> str:
    """Return of how many executions it is known what they read from the disk, if not of all."""
    executions = sum(len(file.run.values(name)) for name in file.run.cases)
    told = sum(len(file.run.figures(name, "disk_bytes")) for name in file.run.cases)
    return "" if told == executions else f" that tells, {told} of {executions}"


def _noise(file: FileFindings) -> str | None:
    noise = file.run.noise
    return noise_sentence(noise, "the regular table") if noise else None
