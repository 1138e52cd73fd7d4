"""What a signal that ends a command does: the same as Ctrl-C, so that nothing is left behind."""

import signal
from types import FrameType


def interrupt_on_signals() -> None:
    """Have SIGTERM, and SIGHUP unless it is ignored, raise KeyboardInterrupt from now on."""
    signal.signal(signal.SIGTERM, _interrupt)
    # Under nohup it is ignored, and stays so.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _interrupt)


def _interrupt(received: int, _frame: FrameType | None) -> None:
    # The shell and the kernel may both say that the terminal is gone; once is to be acted on.
    if received == signal.SIGHUP:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise KeyboardInterrupt
