"""k-mers between letters and packed words."""

from __future__ import annotations

from typing import Any, Iterable, List, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _gyrase

Letters = Union[str, bytes]


def words_of(k: int) -> int:
    """Words of 64 bits that a k-mer takes."""
    return -(-k // 32)


def shaped(words: NDArray[np.uint64], k: int) -> NDArray[np.uint64]:
    """Words one behind the other as the array of their k-mers; no copy."""
    return words if k <= 32 else words.reshape(-1, words_of(k))


def flat(kmers: Any, k: int) -> NDArray[np.uint64]:
    """Packed k-mers as words one behind the other; no copy of an array that is contiguous."""
    array = np.asarray(kmers)
    width = words_of(k)
    if array.dtype != np.uint64:
        raise TypeError(f"packed k-mers are uint64, not {array.dtype}: convert them, as by .astype('uint64')")
    if width == 1 and array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != (1 if width == 1 else 2) or width > 1 and array.shape[1] != width:
        wanted = "(n,)" if width == 1 else f"(n, {width})"
        raise ValueError(f"{k}-mers are an array of shape {wanted}, not {array.shape}")
    return np.ascontiguousarray(array).reshape(-1)


def encode(kmers: Iterable[Letters], k: Optional[int] = None, *, canonical: bool = True) -> NDArray[np.uint64]:
    """Packs k-mers of `k` letters (default: the length of the first).

    A base takes two bits (A 0, C 1, G 2, T and U 3), the last base the lowest; upper and lower case are one. With
    `canonical` the smaller of a k-mer and its reverse complement is packed, as tables keep them.

    Gives uint64 of shape (n,) for k up to 32, else (n, words) with words = k / 32 rounded up, the most significant word
    first. Raises ValueError for what is no k-mer: another length, another letter, k outside 1 to 127.
    """
    kmers = [kmers] if isinstance(kmers, (str, bytes)) else list(kmers)
    if k is None:
        if not kmers:
            raise ValueError("no k-mers: name k")
        k = len(kmers[0])
    return shaped(_gyrase.encode(kmers, k, not canonical), k)


def decode(kmers: NDArray[np.uint64], k: int) -> List[str]:
    """The letters of packed k-mers, in the shape that `encode` gives.

    Raises TypeError for another dtype, ValueError for another shape or for bits beyond the k bases.
    """
    return _gyrase.decode(flat(kmers, k), k)
