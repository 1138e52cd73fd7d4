"""The command reference, docs/reference/command-line.md, made from the commands themselves.

Run as a module it prints the page; a test fails while the committed page differs.
"""

import inspect
import re
import sys

import click

from tollfree.cli import EXIT_CODES, cli

INTRODUCTION = """\
# The command line

This page is made from the commands' own help: `python -m tollfree.reference`. So are the man
pages: `man -l man/tollfree.1`.
"""


def page() -> str:
    """Return the whole page as Markdown."""
    parts = [INTRODUCTION, _prose(cli.help or "")]
    parts += [_command(name, command) for name, command in sorted(cli.commands.items())]
    return "\n".join([*parts, _exit_codes()])


def _command(name: str, command: click.Command) -> str:
    arguments = [p.make_metavar(_context(command)) for p in command.params if _is_argument(p)]
    usage = " ".join(["tollfree", name, *arguments])
    lines = [f"## tollfree {name}\n", f"    {usage}\n", _prose(command.help or "")]
    options = [_option(p) for p in command.params if isinstance(p, click.Option)]
    if options:
        lines += ["| option | meaning |", "|---|---|", *options, ""]
    return "\n".join(lines)


def _context(command: click.Command) -> click.Context:
    return click.Context(command, info_name=command.name)


def _is_argument(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Argument)


def _option(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" {option.metavar or _value_name(option)}"
    return f"| {names}{value} | {option.help or ''} |"


def _value_name(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return " or ".join(f"`{choice}`" for choice in option.type.choices)
    return option.type.name.upper().removesuffix(" RANGE")


def _prose(help_text: str) -> str:
    """Return a help text as Markdown: blocks behind a backspace character are set as code."""
    paragraphs = inspect.cleandoc(help_text).split("\n\n")
    return "\n\n".join(map(_as_markdown, paragraphs)) + "\n"


def _as_markdown(paragraph: str) -> str:
    if not paragraph.startswith("\b"):
        return paragraph
    return "\n".join("    " + line.strip() for line in paragraph.splitlines()[1:])


def _exit_codes() -> str:
    rows = re.findall(r"^ +(\d+)  (.+)$", EXIT_CODES, re.MULTILINE)
    lines = [f"| {code} | {meaning} |" for code, meaning in rows]
    return "\n".join(["## Exit codes\n", "| code | meaning |", "|---|---|", *lines, ""])


if __name__ == "__main__":
    sys.stdout.write(page())
