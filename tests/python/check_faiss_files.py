#!/usr/bin/env python3
"""Checks that plain FAISS (the Python package, 1.7.3 or newer) reads and searches our FAISS files.

usage: check_faiss_files.py DOCS.faiss CHUNKS.faiss HITS.json

HITS.json is a list of {"file": "chunks" or "docs" (default "chunks"), "list": number, "query": [...],
"ids": [...], "scores": [...]}: our best rows of that list, best first. Exit status 0 when all agrees.
"""

import json
import sys

import faiss
import numpy as np
from faiss.contrib import ivf_tools  # the same call in 1.7.3, where the method takes pointers, and later

TOP = 4
TOLERANCE = 1e-4


def open_mapped(path):
    index = faiss.read_index(path, faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
    assert isinstance(index, faiss.IndexIVFScalarQuantizer), type(index)
    assert index.metric_type == faiss.METRIC_INNER_PRODUCT
    assert index.sq.qtype == faiss.ScalarQuantizer.QT_8bit_uniform
    assert index.code_size == index.d
    assert index.is_trained and not index.by_residual
    quantizer = faiss.downcast_index(index.quantizer)
    assert isinstance(quantizer, faiss.IndexFlat), type(quantizer)
    assert quantizer.metric_type == faiss.METRIC_INNER_PRODUCT
    lists = faiss.downcast_InvertedLists(index.invlists)
    assert isinstance(lists, faiss.OnDiskInvertedLists), "lists were loaded, not mapped"
    lists.prefetch_nthread = 0
    assert sum(lists.list_size(i) for i in range(index.nlist)) == index.ntotal
    return index


def search_lists(index, query, list_numbers, k):
    """The best k rows of some lists: scores and ids, as long as there are rows."""
    index.nprobe = len(list_numbers)
    lists = np.array([list_numbers], dtype="int64")
    scores, ids = ivf_tools.search_preassigned(index, query.reshape(1, -1), k, lists)
    return scores[0][ids[0] >= 0], ids[0][ids[0] >= 0]


def close(a, b):
    return np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE)


def check_hit(index, hit):
    query = np.array(hit["query"], dtype="float32")
    scores, ids = search_lists(index, query, [hit["list"]], TOP)
    ours = hit["scores"][:TOP]
    assert len(ours) == len(scores), (hit["list"], ours, scores)
    assert close(ours, scores), (hit["list"], ours, scores)
    for row, score in zip(hit["ids"], ours):
        # Equal scores at the last place may be cut in another order.
        assert row in ids or close(score, scores[-1]), (hit["list"], row, ids)


def check_documents_are_an_ordinary_index(index, queries):
    assert index.quantizer.ntotal == index.nlist
    index.nprobe = index.nlist
    for query in queries:
        everywhere, _ = search_lists(index, query, list(range(index.nlist)), TOP)
        scores, _ = index.search(query.reshape(1, -1), TOP)
        assert close(scores[0][: len(everywhere)], everywhere), (scores, everywhere)


def check_chunks_take_a_quantizer(index, queries):
    """Our quantizer is empty; with a real one the file is an ordinary IVF index."""
    assert index.quantizer.ntotal == 0
    quantizer = faiss.IndexFlatIP(index.d)
    quantizer.add(np.random.RandomState(7).randn(index.nlist, index.d).astype("float32"))
    index.quantizer = quantizer
    index.own_fields = False
    for query in queries:
        for nprobe in (1, index.nlist):
            _, nearest = quantizer.search(query.reshape(1, -1), nprobe)
            expected, _ = search_lists(index, query, list(nearest[0]), TOP)
            index.nprobe = nprobe
            scores, ids = index.search(query.reshape(1, -1), TOP)
            assert close(scores[0][ids[0] >= 0], expected), (nprobe, scores, expected)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    indexes = {"docs": open_mapped(sys.argv[1]), "chunks": open_mapped(sys.argv[2])}
    with open(sys.argv[3], encoding="utf-8") as file:
        hits = json.load(file)
    assert hits, "no hits to compare"
    queries = {"docs": [], "chunks": []}
    for hit in hits:
        name = hit.get("file", "chunks")
        check_hit(indexes[name], hit)
        queries[name].append(np.array(hit["query"], dtype="float32"))
    check_documents_are_an_ordinary_index(indexes["docs"], queries["docs"])
    check_chunks_take_a_quantizer(indexes["chunks"], queries["chunks"])
    print(f"faiss {faiss.__version__}: {len(hits)} searches agree")


if __name__ == "__main__":
    main()
