"""The sentences that the section `shards` begins with."""

from tollfree.suites.presentation import noise_sentence, ratio_words
from tollfree.suites.shards.findings import DOINGS, STOCK, ShardsFindings


def verdicts(shards: ShardsFindings) -> tuple[str, ...]:
    """Return sentences that a person can act on."""
    sentences: list[str] = []
    for name in shards.ordered():
        if _is_cited(shards, name):
            sentences += filter(None, (_sentence(shards, name),))
    noise = shards.run.noise
    if noise:
        sentences.append(noise_sentence(noise, "the local table"))
    return tuple(sentences)


def _is_cited(shards: ShardsFindings, name: str) -> bool:
    """Return whether a case is ours, or Citus's, on the most servers of its operation and link."""
    dims = shards.dims(name)
    same = shards.ordered(
        **{key: dims[key] for key in ("operation", "content", "link", "wrapper")},
    )
    return dims["wrapper"] != STOCK and same[-1] == name


def _sentence(shards: ShardsFindings, name: str) -> str | None:
    dims = shards.dims(name)
    stock = shards.beside(name, STOCK)
    ours, slower = shards.run.ratio(name), shards.run.ratio(stock, name) if stock else None
    if ours is None:
        return None
    servers = "1 server" if dims["servers"] == 1 else f"{dims['servers']} servers"
    words = ratio_words(ours, told_apart=shards.run.told_apart(name))
    text = " on text files" if dims["content"] == "text" else ""
    sentence = (
        f"{DOINGS[dims['operation']]}{text}, sharded over {servers} at the end of {dims['link']},"
        f" takes {words} as long as on local tables through {shards.means(name)}"
    )
    if stock and slower:
        beside = ratio_words(slower, told_apart=shards.run.told_apart(stock, name))
        sentence += f"; {STOCK} takes {beside} as long as that"
    return sentence + "."
