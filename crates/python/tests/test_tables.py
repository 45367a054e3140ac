"""Tables of k-mers against counts that Python makes by the definition."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import gyrase
import numpy as np
import pytest
from conftest import letters

EDGES = [1, 15, 31, 32, 33, 63, 64, 65, 96, 97, 127]
OTHER = str.maketrans("ACGT", "TGCA")


def canonical(kmer):
    return min(kmer, kmer.translate(OTHER)[::-1])


def naive(sequences, k, form=canonical):
    words = (text.upper()[i : i + k] for text in sequences for i in range(len(text) - k + 1))
    return Counter(form(word) for word in words if set(word) <= set("ACGT"))


def naive_packed(kmer):
    value = 0
    for letter in kmer:
        value = value * 4 + "ACGT".index(letter)
    words = -(-len(kmer) // 32)
    return [value >> 64 * (words - 1 - i) & 0xFFFF_FFFF_FFFF_FFFF for i in range(words)]


@pytest.fixture(scope="module", params=EDGES)
def table(request, reads, tmp_path_factory):
    output = tmp_path_factory.mktemp("tables") / "x.gyk"
    return gyrase.count(reads, k=request.param, output=output)


def test_a_table_says_what_it_is(table, sequences):
    truth = naive(sequences, table.k)
    assert (len(table), table.canonical, table.stranded) == (len(truth), True, False)
    info = table.info()
    assert (info["distinct"], info["total"], info["k"]) == (len(truth), sum(truth.values()), table.k)
    assert info["largest"] == max(truth.values())
    table.verify()


def test_kmers_in_letters_and_packed_count_the_same(table, sequences):
    k, truth = table.k, naive(sequences, table.k)
    kmers = sorted(truth)[:200] + [letters(k, seed) for seed in range(200)]
    expected = [truth[canonical(kmer)] for kmer in kmers]
    other_strands = [kmer.translate(OTHER)[::-1].lower() for kmer in kmers]
    for asked in (kmers, other_strands, tuple(kmers), [kmer.encode() for kmer in kmers], np.array(kmers)):
        counts = table.lookup(asked)
        assert counts.dtype == np.uint32 and counts.tolist() == expected
    for packed in (table.encode(kmers), gyrase.encode(other_strands, k), gyrase.encode(kmers, canonical=False)):
        assert table.lookup(packed).tolist() == expected
    assert [table[kmer] for kmer in kmers[:20]] == expected[:20]
    assert all((kmer in table) == (count > 0) for kmer, count in zip(kmers, expected))


def test_packing_is_as_documented(table):
    k = table.k
    kmers = [canonical(letters(k, seed)) for seed in range(50)]
    packed = gyrase.encode(kmers)
    assert packed.dtype == np.uint64 and packed.shape == ((50,) if k <= 32 else (50, -(-k // 32)))
    assert packed.reshape(50, -1).tolist() == [naive_packed(kmer) for kmer in kmers]
    assert gyrase.decode(packed, k) == kmers
    assert gyrase.encode([], k).shape == packed[:0].shape and gyrase.decode(packed[:0], k) == []


def test_batches_hold_every_kmer_once(table, sequences):
    truth = naive(sequences, table.k)
    for size in (1, 500, 1 << 20):
        found = {}
        batches = list(table.batches(size))
        for kmers, counts in batches:
            assert len(kmers) == len(counts) > 0
            found.update(zip(gyrase.decode(kmers, table.k), counts.tolist()))
        assert found == truth and sum(len(counts) for _, counts in batches) == len(truth)
        assert all(len(counts) >= size for _, counts in batches[:-1])


def test_the_histogram_is_that_of_the_counts(table, sequences):
    truth = sorted(Counter(naive(sequences, table.k).values()).items())
    histogram = table.histogram()
    assert histogram.dtype == np.uint64 and [tuple(row) for row in histogram.tolist()] == truth
    frame = table.histogram_frame()
    assert list(frame) == ["count", "kmers"] and frame["kmers"].tolist() == [kmers for _, kmers in truth]


def test_a_stream_of_arrow_holds_every_kmer(table):
    pytest.importorskip("pyarrow")
    kmers, counts = next(table.batches(1 << 30))
    read = table.to_arrow(size=300).read_all()
    words = np.array(read["kmer"].to_pylist(), dtype=np.uint64)
    assert words.tolist() == kmers.tolist() and read["count"].to_pylist() == counts.tolist()


def test_stranded_kmers_are_two(reads, sequences, tmp_path):
    table = gyrase.count(reads, k=21, output=tmp_path / "x.gyk", stranded=True)
    truth = naive(sequences, 21, form=str)
    kmers = sorted(truth)[:100]
    others = [kmer.translate(OTHER)[::-1] for kmer in kmers]
    assert not table.canonical
    assert table.lookup(kmers + others).tolist() == [truth[kmer] for kmer in kmers + others]
    assert table.lookup(table.encode(kmers)).tolist() == [truth[kmer] for kmer in kmers]


@pytest.fixture(scope="module")
def of_31(reads, tmp_path_factory):
    return gyrase.count(reads, output=tmp_path_factory.mktemp("tables") / "x.gyk")


def test_arrays_are_read_in_place_and_any_layout_is_understood(of_31, sequences):
    from gyrase._packing import flat

    kmers = of_31.encode(sorted(naive(sequences, 31)))
    assert np.shares_memory(flat(kmers, 31), kmers)
    expected = of_31.lookup(kmers)
    assert (expected > 0).all()
    kmers.flags.writeable = False
    assert (of_31.lookup(kmers) == expected).all()
    assert (of_31.lookup(kmers[::-2]) == expected[::-2]).all()
    assert (of_31.lookup(kmers.reshape(-1, 1)) == expected).all()
    assert of_31.lookup(kmers[:0]).shape == (0,) and of_31.lookup([]).shape == (0,)


def test_threads_look_up_at_once(of_31, sequences):
    kmers = np.tile(of_31.encode(sorted(naive(sequences, 31))), 60)
    expected = of_31.lookup(kmers, threads=1)
    assert len(kmers) > 4 * (1 << 15)
    with ThreadPoolExecutor(4) as pool:
        for counts in pool.map(lambda threads: of_31.lookup(kmers, threads=threads), [1, 2, 3, None]):
            assert (counts == expected).all()


@pytest.mark.parametrize(
    "kmers, error",
    [
        (np.zeros(3, dtype=np.int64), TypeError),
        (np.zeros(3, dtype=">u8"), TypeError),
        (np.zeros((3, 2), dtype=np.uint64), ValueError),
        (np.uint64(1), ValueError),
        (np.full(3, 1 << 62, dtype=np.uint64), gyrase.Error),
        (["ACGT"], ValueError),
        (["N" * 31], ValueError),
        ([b"A" * 31, None], TypeError),
        ("A" * 31, TypeError),
        ([1.5], TypeError),
    ],
)
def test_what_is_no_kmer_is_refused(of_31, kmers, error):
    with pytest.raises(error):
        of_31.lookup(kmers)


def test_wrong_packing_is_refused():
    for wrong in (["AC", "ACG"], ["AN"], [""], ["A" * 128]):
        with pytest.raises(ValueError):
            gyrase.encode(wrong)
    with pytest.raises(ValueError):
        gyrase.encode([])
    with pytest.raises(ValueError):
        gyrase.decode(np.array([1 << 8], dtype=np.uint64), 4)


def test_opening_tells_what_is_wrong(of_31, reads, tmp_path):
    assert isinstance(gyrase.open(of_31.path), gyrase.KmerTable)
    with pytest.raises(gyrase.Error, match="nowhere.gyk") as missing:
        gyrase.open(tmp_path / "nowhere.gyk")
    assert missing.value.exit_code == 2
    with pytest.raises(gyrase.Error) as foreign:
        gyrase.open(str(reads))
    assert foreign.value.exit_code == 2
    damaged = tmp_path / "damaged.gyk"
    content = bytearray(of_31.path.read_bytes())
    content[4096] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(gyrase.Error, match="checksum") as corrupt:
        gyrase.open(damaged).verify()
    assert corrupt.value.exit_code == 2
