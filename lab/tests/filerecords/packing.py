"""Compresses files, the same on every machine.

Python before 3.14 has no zstd and none has lz4. Their formats can hold blocks as they are, and such
frames are written here: frames of one or more blocks, without checksums.
"""

import bz2
import gzip
import lzma
import struct
import zlib
from collections.abc import Callable, Iterator

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZSTD_HEAD = b"\xa0"
"""A single segment: four bytes with the size of the content follow."""
LZ4_HEAD = b"\x04\x22\x4d\x18\x60\x40\x82"
"""Magic number, independent blocks, of up to 64 kB, and the checksum of these two bytes."""
LZ4_PLAIN = 1 << 31
"""Set in the size of a block that is not compressed."""
BGZF_HEAD = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0"
"""An extra field of six bytes, two of which follow: the member's length less one."""
BLOCK = 50_000


def _blocks(text: bytes) -> Iterator[bytes]:
    for place in range(0, len(text), BLOCK):
        yield text[place : place + BLOCK]


def _zstd(text: bytes) -> bytes:
    blocks = list(_blocks(text)) or [b""]
    heads = [(len(block) << 3).to_bytes(3, "little") for block in blocks]
    heads[-1] = (len(blocks[-1]) << 3 | 1).to_bytes(3, "little")
    body = b"".join(head + block for head, block in zip(heads, blocks, strict=True))
    return ZSTD_MAGIC + ZSTD_HEAD + struct.pack("<I", len(text)) + body


def _lz4(text: bytes) -> bytes:
    body = b"".join(struct.pack("<I", len(x) | LZ4_PLAIN) + x for x in _blocks(text))
    return LZ4_HEAD + body + struct.pack("<I", 0)


def bgzf_member(text: bytes) -> bytes:
    """Return a member of gzip as BGZF has it: an extra field says how long it is."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    body = packer.compress(text) + packer.flush()
    length = len(BGZF_HEAD) + 2 + len(body) + 8
    head = BGZF_HEAD + struct.pack("<H", length - 1)
    return head + body + struct.pack("<II", zlib.crc32(text), len(text))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda text: gzip.compress(text, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": _zstd,
    "lz4": _lz4,
    "none": bytes,
}
"""By the value of the option `compression`."""
SUFFIXES = {"gzip": ".gz", "bz2": ".bz2", "xz": ".xz", "zstd": ".zst", "lz4": ".lz4", "none": ""}
MEMBER_BYTES = 700
"""Longer texts are compressed in two members, one after the other."""


def packed(text: bytes, compression: str) -> bytes:
    """Return a text as a file of that compression has it."""
    pack = PACKERS[compression]
    middle = len(text) // 2
    if len(text) > MEMBER_BYTES and compression != "none":
        return pack(text[:middle]) + pack(text[middle:])
    return pack(text)
