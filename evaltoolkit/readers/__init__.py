"""Readers: result files of any known tool in, the three tables out."""

from evaltoolkit.readers.loading import read_details, read_outputs, read_scores
from evaltoolkit.readers.registry import formats
from evaltoolkit.readers.report import ReadReport, read_report

__all__ = ["ReadReport", "formats", "read_details", "read_outputs", "read_report", "read_scores"]
