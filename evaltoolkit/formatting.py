"""How numbers and foreign text are written everywhere: one place for digits, p-values, escapes."""

from __future__ import annotations

import html
import math
import re

MINUS = "\u2212"
EN_DASH = "\u2013"

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    MINUS: "$-$",
    "\u0394": r"$\Delta$",
    "\u2265": r"$\geq$",
    "\u2264": r"$\leq$",
    "\u00b1": r"$\pm$",
    "\u00d7": r"$\times$",
}


def format_p(p: float) -> str:
    """Write a p-value: three decimals, two significant digits below .01, never zero.

    Example:
        >>> format_p(0.0421), format_p(0.00203), format_p(3e-9), format_p(float("nan"))
        ('.042', '.0020', '<.0001', '\u2013')
    """
    if math.isnan(p):
        return EN_DASH
    if p < 0.0001:
        return "<.0001"
    text = f"{p:.4f}" if p < 0.01 else f"{p:.3f}"
    return text.removeprefix("0")


def decimals_for(*values: float) -> int:
    """Choose decimals so that the largest of some numbers shows three significant digits.

    Example:
        >>> decimals_for(0.056, -0.02), decimals_for(12.3), decimals_for(5321.0)
        (3, 1, 0)
    """
    sizes = [abs(v) for v in values if math.isfinite(v) and v != 0]
    if not sizes:
        return 3
    magnitude = math.floor(math.log10(max(sizes)))
    return min(max(2 - magnitude, 0), 6) if magnitude >= 0 else min(2 - magnitude - 1, 6)


def format_number(value: float, *, decimals: int = 3, signed: bool = False) -> str:
    """Write a number with a true minus sign; an en dash where there is none.

    Example:
        >>> format_number(-0.05, signed=True), format_number(0.056, signed=True)
        ('\u22120.050', '+0.056')
        >>> format_number(3e-7), format_number(1e300)
        ('3e\u221207', '1e+300')
    """
    if math.isnan(value):
        return EN_DASH
    if value and not 0.5 * 10.0**-decimals <= abs(value) < 1e9:
        # Plain decimals would print a string of zeros, or of digits that mean nothing.
        return (f"{value:+.3g}" if signed else f"{value:.3g}").replace("-", MINUS)
    text = f"{value:+.{decimals}f}" if signed else f"{value:.{decimals}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", MINUS)


def format_interval(low: float, high: float, *, decimals: int = 3) -> str:
    """Write an interval in square brackets.

    Example:
        >>> format_interval(-0.01, 0.2, decimals=2)
        '[\u22120.01, 0.20]'
    """
    if math.isnan(low) or math.isnan(high):
        return EN_DASH
    numbers = [format_number(v, decimals=decimals) for v in (low, high)]
    return f"[{numbers[0]}, {numbers[1]}]"


def format_percent(share: float) -> str:
    """Write a share as a percentage without needless decimals.

    Example:
        >>> format_percent(0.95), format_percent(0.975)
        ('95 %', '97.5 %')
    """
    return f"{100 * share:.4g} %"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Write a count with its noun.

    Example:
        >>> counted(1, "pair"), counted(1200, "pair"), counted(2, "criterion", "criteria")
        ('1 pair', '1,200 pairs', '2 criteria')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def escape_html(text: object) -> str:
    """Escape foreign text for HTML, attributes included."""
    return html.escape(str(text), quote=True)


def escape_markdown(text: object) -> str:
    r"""Escape foreign text for one cell of a Markdown table.

    Example:
        >>> escape_markdown("a|b <i>")
        'a\\|b &lt;i&gt;'
    """
    one_line = " ".join(str(text).split())
    escaped = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", one_line)
    return escaped.replace("<", "&lt;").replace(">", "&gt;")


def escape_latex(text: object) -> str:
    r"""Escape foreign text for LaTeX.

    Example:
        >>> escape_latex("50 % of a_b")
        '50 \\% of a\\_b'
    """
    one_line = " ".join(str(text).split())
    return "".join(_LATEX.get(char, char) for char in one_line)
