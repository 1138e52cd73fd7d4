"""The man pages in man/, made from the commands themselves as docs/reference/command-line.md is.

Run as a module it writes them; a test fails while one differs.
"""

import inspect
import re
from collections.abc import Iterator

import click

from tollfree import __version__
from tollfree.cli import EXIT_CODES, cli
from tollfree.paths import CHECKOUT

MANUAL = CHECKOUT / "man"


def pages() -> dict[str, str]:
    """Return the text of each man page by the name of its file."""
    found = {"tollfree.1": _page("tollfree", cli, _all_commands())}
    for name, command in cli.commands.items():
        found[f"tollfree-{name}.1"] = _page(f"tollfree-{name}", command, ())
    return found


def _page(name: str, command: click.Command, more: Iterator[str] | tuple[str, ...]) -> str:
    help_text = inspect.cleandoc(command.help or "")
    context = click.Context(command, info_name=name.replace("-", " ", 1))
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH {escaped(name).upper()} 1 "" "tollfree {__version__}" "tollfree"',
        ".SH NAME",
        f"{escaped(name)} \\- {escaped(_summary(help_text))}",
        ".SH SYNOPSIS",
        f".B {escaped(str(context.info_name))}",
        escaped(usage),
        ".SH DESCRIPTION",
        *_prose(help_text),
        *_options(command),
        *more,
        ".SH EXIT STATUS",
        *_exit_codes(),
        ".SH SEE ALSO",
        *_others(name),
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Return text as roff sets it: backslashes and hyphens as they are, no line a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def _summary(help_text: str) -> str:
    """Return the first sentence without its stop."""
    first = " ".join(help_text.split("\n\n")[0].split())
    return re.split(r"(?<=[a-z])\. ", first)[0].removesuffix(".")


def _prose(help_text: str) -> Iterator[str]:
    """Yield paragraphs; blocks behind a backspace character are set as they are."""
    for paragraph in help_text.split("\n\n"):
        yield ".PP"
        if paragraph.startswith("\b"):
            yield from (".nf", escaped(paragraph.removeprefix("\b\n")), ".fi")
        else:
            yield escaped(" ".join(paragraph.split()))


def _options(command: click.Command) -> Iterator[str]:
    options = [x for x in command.params if isinstance(x, click.Option)]
    if options:
        yield ".SH OPTIONS"
    for option in options:
        names = ", ".join((*option.opts, *option.secondary_opts))
        metavar = option.make_metavar(click.Context(command)).removesuffix(" RANGE")
        value = "" if option.is_flag else f" {metavar}"
        yield ".TP"
        yield f".B {escaped(names + value)}"
        yield escaped(option.help or "")


def _all_commands() -> Iterator[str]:
    yield ".SH COMMANDS"
    for name, command in sorted(cli.commands.items()):
        yield ".TP"
        yield f".BR tollfree\\-{escaped(name)} (1)"
        yield escaped(_summary(inspect.cleandoc(command.help or "")))


def _exit_codes() -> Iterator[str]:
    for code, meaning in re.findall(r"^ +(\d+)  (.+)$", EXIT_CODES, re.MULTILINE):
        yield from (".TP", f".B {code}", escaped(meaning))


def _others(name: str) -> Iterator[str]:
    names = sorted({"tollfree", *(f"tollfree-{x}" for x in cli.commands)} - {name})
    yield "\n".join(f".BR {escaped(x)} (1)" + ("," if x != names[-1] else "") for x in names)


def write_pages() -> None:
    """Write every page, and remove all other files."""
    MANUAL.mkdir(exist_ok=True)
    written = pages()
    for path in MANUAL.iterdir():
        if path.name not in written:
            path.unlink()
    for name, text in written.items():
        (MANUAL / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages()
