"""The errors a person can cause or mend, and the exit code of each kind.

Every failure that is not a defect of ours is a `LabError`: one sentence that names the thing,
one that says what to do about it. `tollfree.cli` prints both and exits with the code; nothing
else in the package decides on exit codes.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of `tollfree`; the command reference lists them."""

    OK = 0
    CASES_FAILED = 1
    USAGE = 2
    ENVIRONMENT = 3
    LAB_STATE = 4
    FILES = 5
    NOT_FOUND = 6
    WORSE = 7
    DEFECT = 70
    INTERRUPTED = 130


class LabError(Exception):
    """A failure with a remedy.

    `message` names the thing and its value; `remedy` is a full sentence that says what to do;
    `detail` is optional evidence, such as the tail of a log.
    """

    code = ExitCode.ENVIRONMENT

    def __init__(self, message: str, remedy: str, detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.detail = detail


class UsageError(LabError):
    """A request that cannot be meant: two settings that exclude each other, a bad pattern."""

    code = ExitCode.USAGE


class EnvironmentLacksError(LabError):
    """Something is not installed, too old, or not readable by the servers' user."""

    code = ExitCode.ENVIRONMENT


class LabStateError(LabError):
    """The lab is running, not running, or something else has its port or its lock."""

    code = ExitCode.LAB_STATE


class FileError(LabError):
    """A file cannot be read or written, or the disk is full."""

    code = ExitCode.FILES


class NotFoundError(LabError):
    """No suite, run or case has that name."""

    code = ExitCode.NOT_FOUND
