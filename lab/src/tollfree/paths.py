"""Where things are: the checkout that is being run, and the home of the lab's data.

The home holds servers' data and must be readable by the servers' user; the checkout need not be.
"""

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
"""The root of the source tree; the lab is always run from one, never from a wheel."""

BUILD = CHECKOUT / "build"

HOME_VARIABLE = "TOLLFREE_HOME"


def lab_home() -> Path:
    """Return the folder that holds everything the lab keeps, from TOLLFREE_HOME or the default.

    Root's is /var/lib/tollfree, an ordinary user's is under XDG_STATE_HOME.
    """
    chosen = os.environ.get(HOME_VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/tollfree")
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "tollfree"
