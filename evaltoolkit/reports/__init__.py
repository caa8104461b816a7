"""Results as files: figures, tables and the write-up."""

from evaltoolkit.reports.writing import write_report

__all__ = ["write_report"]
