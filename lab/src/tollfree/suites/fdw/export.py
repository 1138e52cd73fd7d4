"""The published experiment's own result files, made from a run.

For each bench and target one file, `benchRO.local` and so on, `_5` appended for five clients: a
line an execution with latency average in ms, transactions per second with the time it took to
connect, and without it, as its command line cut them out of pgbench's output.
"""

from pathlib import Path

from tollfree.suites.presentation import Findings

PUBLISHED_TARGETS = ("local", "FDW_local", "FDW_external", "FDW_ext_ro")


def write_published_files(findings: Findings, folder: Path) -> list[Path]:
    """Write the files of a run for PostgreSQL's own wrapper; return those that have lines."""
    written = []
    for name, case in sorted(findings.cases.items()):
        dims = case.dims
        published = (dims["measure"], dims["protocol"], dims["isolation"]) == (
            "tps",
            "simple",
            "rr",
        )
        short = dims["link"] in ("lcl:ipc", "lcl:tcp")
        stock = dims["wrapper"] in ("none", "postgres_fdw")
        if not (published and short and stock and dims["target"] in PUBLISHED_TARGETS):
            continue
        lines = [
            f"{r.figures['latency_mean_ms']},{r.figures['tps_including']:.6f},{r.figures['tps']}\n"
            for _, r in sorted(findings.by_case.get(name, {}).items())
            if r.state == "ok"
        ]
        if lines:
            suffix = f"_{dims['clients']}" if dims["clients"] > 1 else ""
            path = folder / f"bench{dims['bench']}.{dims['target']}{suffix}"
            path.write_text("".join(lines), encoding="utf-8")
            written.append(path)
    return written
