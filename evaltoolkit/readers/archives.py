"""Zip archives from strangers: bounded, read member by member into memory, never unpacked."""

from __future__ import annotations

import struct
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from evaltoolkit.errors import MissingDependencyError, ReadError
from evaltoolkit.readers.base import parse_json

# One member per sample: the largest published benchmarks times many epochs stay far below.
MAX_MEMBERS = 500_000
# One member is held in memory at a time; agent transcripts with images reach some 100 MiB.
MAX_MEMBER_BYTES = 1 << 30
# Repetitive JSON shrinks 20 to 100 times; small members may shrink more without doing harm. The
# same bound on the whole archive stops members that share their compressed bytes.
MAX_RATIO = 1_000
RATIO_COUNTS_FROM_BYTES = 1 << 24

ZSTANDARD = 93
_LOCAL_HEADER_BYTES = 30
_ENCRYPTED = 0x1


class Archive:
    """A zip archive whose members are JSON documents, opened for reading.

    Use it in a ``with`` statement. Members may be stored, deflated or compressed with Zstandard.

    Raises:
        ReadError: The archive is damaged, or has more members than any results file needs.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except zipfile.BadZipFile as error:
            raise self._damaged(str(error)) from error
        try:
            self._check_whole()
        except ReadError:
            self._zip.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        """Names of the members, each once: a log that was appended to can repeat a name."""
        return list(dict.fromkeys(self._zip.namelist()))

    def json(self, name: str) -> Any:  # noqa: ANN401 - any JSON value
        """Parse one member as JSON (the latest of that name).

        Raises:
            ReadError: The member is damaged, too large, or not JSON.
        """
        return parse_json(self.read(name), path=self.path, record=name)

    def read(self, name: str) -> bytes:
        """Decompress one member within the bounds of this module.

        Raises:
            ReadError: The member is damaged, encrypted, too large or absurdly compressed.
            MissingDependencyError: It is compressed with Zstandard and Python cannot do that.
        """
        info = self._zip.getinfo(name)
        self._check(info)
        try:
            return self._decompress(info)
        except (zipfile.BadZipFile, zlib.error, EOFError, struct.error) as error:
            raise self._damaged(f"{name}: {error}") from error

    def _check_whole(self) -> None:
        members = self._zip.infolist()
        size = sum(info.file_size for info in members)
        if len(members) > MAX_MEMBERS:
            found = f"has {len(members)} members; at most {MAX_MEMBERS} are read"
        elif size > max(RATIO_COUNTS_FROM_BYTES, MAX_RATIO * self.path.stat().st_size):
            found = f"would unpack to {size} bytes, more than {MAX_RATIO} times its own size"
        else:
            return
        raise ReadError(
            f"{self.path}: the archive {found}; check where the file comes from, or export the "
            "log again",
            code="unsafe_archive",
            path=str(self.path),
        )

    def _check(self, info: zipfile.ZipInfo) -> None:
        reasons = {
            "is encrypted": bool(info.flag_bits & _ENCRYPTED),
            f"would take more than {MAX_MEMBER_BYTES} bytes": info.file_size > MAX_MEMBER_BYTES,
            f"is compressed more than {MAX_RATIO} times": (
                info.file_size > RATIO_COUNTS_FROM_BYTES
                and info.file_size > MAX_RATIO * max(info.compress_size, 1)
            ),
        }
        for reason, holds in reasons.items():
            if holds:
                raise self._refused(info.filename, reason)

    def _decompress(self, info: zipfile.ZipInfo) -> bytes:
        try:
            with self._zip.open(info) as stream:
                return self._bounded(stream, info)
        except NotImplementedError:
            if info.compress_type != ZSTANDARD:
                raise self._refused(info.filename, "uses an unknown compression") from None
        content = self._zstandard(info)
        if zlib.crc32(content) != info.CRC:
            raise zipfile.BadZipFile("its checksum is wrong")
        return content

    def _zstandard(self, info: zipfile.ZipInfo) -> bytes:
        """Decompress what `zipfile` before Python 3.14 does not know."""
        try:
            import zstandard
        except ModuleNotFoundError as error:
            purpose = f"{self.path}: this Zstandard-compressed archive"
            raise MissingDependencyError("zstandard", extra="zstd", purpose=purpose) from error
        try:
            decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27)
            with decompressor.stream_reader(BytesIO(self._raw(info))) as stream:
                return self._bounded(stream, info)
        except zstandard.ZstdError as error:
            raise zipfile.BadZipFile(str(error)) from error

    def _raw(self, info: zipfile.ZipInfo) -> bytes:
        with self.path.open("rb") as stream:
            stream.seek(info.header_offset)
            header = stream.read(_LOCAL_HEADER_BYTES)
            name_bytes, extra_bytes = struct.unpack("<HH", header[26:30])
            stream.seek(name_bytes + extra_bytes, 1)
            return stream.read(info.compress_size)

    def _bounded(self, stream: IO[bytes], info: zipfile.ZipInfo) -> bytes:
        """Read what the directory promises and not one byte more: the promise may be a lie."""
        content = stream.read(info.file_size + 1)
        if len(content) > info.file_size:
            raise self._refused(info.filename, "holds more than the archive's directory says")
        return content

    def _refused(self, name: str, reason: str) -> ReadError:
        return ReadError(
            f"{self.path}: the member {name!r} {reason}; it is not read, so check where the file "
            "comes from or export the log again",
            code="unsafe_archive",
            path=f"{self.path}: {name}",
        )

    def _damaged(self, what: str) -> ReadError:
        return ReadError(
            f"{self.path}: the zip archive is cut off or damaged ({what}); copy the file again "
            "or re-export it from the tool that wrote it",
            code="damaged_archive",
            path=str(self.path),
        )
