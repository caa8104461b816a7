"""Charts show themselves safely, save the same bytes twice, and leave pyplot alone."""

from __future__ import annotations

import base64
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import pytest
from PIL import Image

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.plots import Chart, correction_ladder, distributions, paired_deltas
from evaltoolkit.results import Comparison

FUNCTIONS = [paired_deltas, distributions, correction_ladder]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_same_chart_gives_the_same_bytes(
    function: object, scales_mixed: Comparison, tmp_path: Path
) -> None:
    first = function(scales_mixed).save(tmp_path / "one")
    chart = function(scales_mixed)
    chart.save(tmp_path / "warm")
    second = chart.save(tmp_path / "two")
    assert [path.suffix for path in first] == [".svg", ".pdf", ".png"]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_hostile_names_survive_every_format(
    function: object, named_to_hurt: Comparison, tmp_path: Path
) -> None:
    chart = function(named_to_hurt)
    svg, pdf, png = chart.save(tmp_path / "hostile")
    root = ET.parse(svg).getroot()
    texts = "".join(root.itertext())
    assert "<script>alert(1)</script>" in texts
    assert not [node for node in root.iter() if node.tag.endswith("script")]
    assert pdf.read_bytes().startswith(b"%PDF")
    with Image.open(png) as picture:
        assert picture.size[0] == round(chart.figure.get_size_inches()[0] * 200)
    assert "<script" not in chart.to_html().replace("&lt;script", "")


def test_svg_text_is_text_and_pdf_fonts_are_embedded(usual: Comparison, tmp_path: Path) -> None:
    svg, pdf, _ = paired_deltas(usual).save(tmp_path / "x")
    assert ">correctness</text>" in svg.read_text(encoding="utf-8")
    assert b"/CIDFontType2" in pdf.read_bytes() or b"/TrueType" in pdf.read_bytes()
    assert b"CreationDate" not in pdf.read_bytes()


def test_files_carry_title_and_description(usual: Comparison, tmp_path: Path) -> None:
    chart = paired_deltas(usual)
    svg, _, png = chart.save(tmp_path / "x")
    assert chart.alt in "".join(ET.parse(svg).getroot().itertext())
    with Image.open(png) as picture:
        assert picture.info["Title"] == "v2 against v1"
        assert picture.info["Description"] == chart.alt


def test_paths_name_the_formats(usual: Comparison, tmp_path: Path) -> None:
    chart = paired_deltas(usual)
    assert [p.name for p in chart.save(tmp_path / "new" / "run.v1.5", formats=["png"])] == [
        "run.v1.5.png"
    ]
    assert [p.name for p in chart.save(tmp_path / "a.svg")] == ["a.svg"]
    assert [p.name for p in chart.save(str(tmp_path / "a.png"), formats=("pdf",))] == ["a.pdf"]
    widths = []
    for dpi in (50, 100):
        with Image.open(chart.save(tmp_path / f"{dpi}.png", dpi=dpi)[0]) as picture:
            widths.append(picture.size[0])
    assert widths == [275, 550]


@pytest.mark.parametrize("formats", [["gif"], "png"])
def test_unknown_formats_are_refused(usual: Comparison, tmp_path: Path, formats: object) -> None:
    with pytest.raises(EvalToolkitError, match="'svg', 'pdf', 'png'"):
        paired_deltas(usual).save(tmp_path / "x", formats=formats)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


class _Images(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.images: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "img":
            self.images.append(dict(attrs))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_notebooks_show_picture_caption_and_alt(
    function: object, named_to_hurt: Comparison
) -> None:
    chart = function(named_to_hurt)
    bundle, metadata = chart._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/png"}
    page = _Images()
    page.feed(bundle["text/html"])
    assert page.tags == ["figure", "img", "figcaption"]
    assert page.images[0]["alt"] == chart.alt
    picture = Image.open(BytesIO(base64.b64decode(bundle["image/png"])))
    assert picture.size[0] == 2 * metadata["image/png"]["width"]
    assert chart.caption in bundle["text/plain"]


def test_notebooks_may_ask_for_some_forms_only(usual: Comparison) -> None:
    chart = paired_deltas(usual)
    assert set(chart._repr_mimebundle_(include=["text/plain"])[0]) == {"text/plain"}
    assert "image/png" not in chart._repr_mimebundle_(exclude=["image/png"])[0]


def test_a_chart_without_alt_text_is_refused(usual: Comparison) -> None:
    chart = paired_deltas(usual)
    with pytest.raises(EvalToolkitError, match="alt text of a chart is empty"):
        replace(chart, alt=" ")
    assert isinstance(chart, Chart)


def test_the_readers_own_settings_neither_change_nor_matter(usual: Comparison) -> None:
    plain = paired_deltas(usual).to_bytes("svg")
    with mpl.rc_context(
        {"axes.grid": True, "font.size": 20, "text.parse_math": True, "savefig.bbox": "tight"}
    ):
        before = dict(mpl.rcParams)
        assert paired_deltas(usual).to_bytes("svg") == plain
        assert dict(mpl.rcParams) == before


def test_pyplot_is_never_loaded() -> None:
    code = (
        "import sys, pathlib, importlib.util\n"
        "spec = importlib.util.spec_from_file_location('made', sys.argv[1])\n"
        "made = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(made)\n"
        "from evaltoolkit import plots\n"
        "result = made.build(made.mixed())\n"
        "for name in ('paired_deltas', 'distributions', 'correction_ladder'):\n"
        "    getattr(plots, name)(result)._repr_mimebundle_()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    made = Path(__file__).with_name("conftest.py")
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(made)], capture_output=True, text=True,
        check=False, cwd=made.parents[2],
    )  # fmt: skip
    assert run.returncode == 0, run.stderr


def test_importing_the_room_loads_no_matplotlib() -> None:
    code = "import sys, evaltoolkit.plots.forest; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
