"""scratch"""

import os, time
import pytest
from oracle.grammar import read_grammar
from oracle.oracle import Oracle
from test_oracle import world  # noqa


@pytest.mark.cluster
def test_scratch(world):
    grammar, oracle = read_grammar(), Oracle(world)
    seed = int(os.environ.get("SEED", "5"))
    end = time.monotonic() + float(os.environ.get("SECS", "120"))
    n = 0
    while time.monotonic() < end:
        s = grammar.session(seed, n, world.major)
        n += 1
        if os.environ.get("ONLY") and not any("shape" in x for x in s):
            continue
        d = oracle.run(s)
        if d:
            print(
                "DIFF",
                n - 1,
                d.position,
                d.session[d.position] if d.position < len(d.session) else "contents",
                "|",
                d.reason[:400].replace("\n", " "),
                flush=True,
            )
    print(oracle.tally)
