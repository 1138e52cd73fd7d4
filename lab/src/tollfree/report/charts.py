"""The charts of the report; each becomes one `<figure>`."""

from typing import assert_never

from tollfree.report.gain_chart import gain_figure
from tollfree.report.line_chart import line_figure
from tollfree.report.markup import Markup
from tollfree.report.model import Chart, GainChart, LineChart, RatioChart, SampleChart
from tollfree.report.ratio_chart import ratio_figure
from tollfree.report.sample_chart import sample_figure


def chart(value: Chart) -> Markup:
    """Return a chart as a figure with its caption and its key."""
    match value:
        case GainChart():
            return gain_figure(value)
        case RatioChart():
            return ratio_figure(value)
        case SampleChart():
            return sample_figure(value)
        case LineChart():
            return line_figure(value)
        case _:
            assert_never(value)
