"""Suite `custom`: commands that a person put into `lab.custom_cases`."""

from tollfree.report.model import SuiteSection
from tollfree.store import Profile
from tollfree.suites.base import Bench, Suite
from tollfree.suites.presentation import Findings, plain_section


class CustomSuite(Suite):
    """Nothing to prepare; one plain section."""

    name = "custom"
    in_demo = False

    def disk_bytes(self, profile: Profile) -> int:
        """Need no room."""
        return 0

    def prepare(self, bench: Bench, *, resumed: bool) -> None:
        """Prepare nothing: the commands are the user's own."""

    def section(self, run: Findings) -> SuiteSection:
        """Return the cases and their ratios to the baselines that the user named."""
        return plain_section(
            run,
            title="Commands of your own",
            intro="Wall-clock seconds of each command in `lab.custom_cases`.",
        )


SUITE = CustomSuite()
