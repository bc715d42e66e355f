#!/usr/bin/env python3
"""Slow, obvious reference of the `article` profile: documents, summaries and query traces.

    article_reference.py CORPUS_DIR QUESTION BUDGET...

reads the *.md files of CORPUS_DIR and prints one JSON object: `documents` (chunks and summaries) and
`traces`, one for each token budget. The golden tests compare the engine with it. Rules and constants:
docs/design.md, "The article profile". Standard library only.
"""

import collections
import json
import math
import pathlib
import re
import sys

CHUNK_SIZE = 420  # code points; separators are not counted
DOC_RETRIEVAL_K = 2
CHUNK_RETRIEVAL_K_PER_DOC = 2
SUMMARY_REDUCTION_INPUT_TOKEN_BUDGET = 90
CHUNK_SUMMARY_SENTENCES = 2
BATCH_SUMMARY_SENTENCES = 3
FINAL_SUMMARY_SENTENCES = 3
NO_SUMMARY = "No summary available."

IMPORTANT_TERMS = frozenset(
    "answer budget chunk chunks context embedding embeddings fail failure failures model prompt rag "
    "retrieval retrieves summaries summary window".split()
)
PRIORITY_TERMS = frozenset("budget fail failure failures".split())
STOPWORDS = frozenset(
    "a an and are as be because but by can for from if in is it of on or that the this to use with".split()
)

Chunk = collections.namedtuple("Chunk", "id index source text summary")
Document = collections.namedtuple("Document", "id source chunks summary")


def count_tokens(text):
    return max(1, len(text) // 4)


def split_words(text):
    words = re.findall(r"[a-z0-9]+", text.lower())
    return [word for word in words if len(word) > 1 and word not in STOPWORDS]


def split_chunks(text):
    """Packs paragraphs up to CHUNK_SIZE; a longer paragraph stays whole."""
    chunks, current, size = [], [], 0
    for paragraph in filter(None, (part.strip() for part in re.split(r"\n\s*\n", text))):
        if current and size + len(paragraph) > CHUNK_SIZE:
            chunks.append("\n\n".join(current))
            current, size = [], 0
        current.append(paragraph)
        size += len(paragraph)
    if current:
        chunks.append("\n\n".join(current))
    return chunks


def summarize(text, max_sentences):
    """The best sentences by important words, the first one preferred, in text order."""
    collapsed = " ".join(text.split())
    sentences = [part for part in re.split(r"(?<=[.!?])\s+", collapsed) if part]
    if len(sentences) <= max_sentences:
        return " ".join(sentences)

    def score(position):
        important = sum(word in IMPORTANT_TERMS for word in split_words(sentences[position]))
        return 3 * important + (position == 0)

    best = sorted(range(len(sentences)), key=score, reverse=True)[:max_sentences]
    return " ".join(sentences[position] for position in sorted(best))


def pack_summaries(summaries):
    """Batches under the input budget; pairs when every batch would hold one summary."""
    batches, used = [], 0
    for summary in summaries:
        tokens = count_tokens(summary)
        if not batches or used + tokens > SUMMARY_REDUCTION_INPUT_TOKEN_BUDGET:
            batches.append([])
            used = 0
        batches[-1].append(summary)
        used += tokens
    if len(batches) == len(summaries):
        batches = [summaries[i : i + 2] for i in range(0, len(summaries), 2)]
    return batches


def reduce_summaries(summaries):
    if not summaries:
        return NO_SUMMARY
    while len(summaries) > 1:
        batches = pack_summaries(summaries)
        summaries = [summarize(" ".join(batch), BATCH_SUMMARY_SENTENCES) for batch in batches]
    return summarize(summaries[0], FINAL_SUMMARY_SENTENCES)


def load_documents(corpus_dir):
    documents = []
    for number, path in enumerate(sorted(pathlib.Path(corpus_dir).glob("*.md")), start=1):
        doc_id = f"doc-{number:03d}-{path.stem}"
        source = f"data/{path.name}"
        chunks = []
        for index, text in enumerate(split_chunks(path.read_text(encoding="utf-8")), start=1):
            summary = f"Chunk {index} summary: " + summarize(text, CHUNK_SUMMARY_SENTENCES)
            chunks.append(Chunk(f"{doc_id}-chunk-{index:03d}", index, source, text, summary))
        document_summary = reduce_summaries([chunk.summary for chunk in chunks])
        documents.append(Document(doc_id, source, chunks, document_summary))
    return documents


def similarity(query, text):
    """Cosine of word counts, and bonuses for the important and the priority words in common."""
    left = collections.Counter(split_words(query))
    right = collections.Counter(split_words(text))
    if not left or not right:
        return 0.0
    product = sum(count * right[word] for word, count in left.items())
    cosine = product / (math.hypot(*left.values()) * math.hypot(*right.values()))
    shared = left.keys() & right.keys() & IMPORTANT_TERMS
    return cosine + 0.15 * len(shared) + 0.35 * len(shared & PRIORITY_TERMS)


def best_hits(question, items, k):
    """At most k (score, item), best first, in the order of `items` when scores are equal."""
    scored = [(similarity(question, item.summary), item) for item in items]
    scored.sort(key=lambda hit: hit[0], reverse=True)
    return [hit for hit in scored[:k] if hit[0] > 0]


def expand_neighbors(chunk_hits, chunks_of):
    """Each hit, then its next and its previous chunk; every chunk once."""
    candidates = {}
    for _, hit in chunk_hits:
        siblings = chunks_of[hit.source]
        for index in (hit.index, hit.index + 1, hit.index - 1):
            if 1 <= index <= len(siblings):
                chunk = siblings[index - 1]
                candidates.setdefault(chunk.id, chunk)
    return list(candidates.values())


def format_raw_chunk(chunk):
    return f"Source: {chunk.source}\nChunk ID: {chunk.id}\nChunk position: {chunk.index}\n\n{chunk.text}"


def pack_chunks(candidates, budget):
    """Takes what still fits, skips what does not, and goes on. (included, skipped, used tokens)."""
    included, skipped, used = [], [], 0
    for chunk in candidates:
        tokens = count_tokens(format_raw_chunk(chunk))
        if used + tokens <= budget:
            included.append((chunk, tokens))
            used += tokens
        else:
            skipped.append((chunk, tokens))
    included.sort(key=lambda entry: (entry[0].source, entry[0].index))
    return included, skipped, used


def trace_query(documents, question, budget):
    document_hits = best_hits(question, documents, DOC_RETRIEVAL_K)
    chunk_hits = []
    for _, document in document_hits:
        chunk_hits += best_hits(question, document.chunks, CHUNK_RETRIEVAL_K_PER_DOC)
    chunk_hits.sort(key=lambda hit: hit[0], reverse=True)
    candidates = expand_neighbors(chunk_hits, {doc.source: doc.chunks for doc in documents})
    included, skipped, used = pack_chunks(candidates, budget)
    return {
        "question": question,
        "budget": budget,
        "used": used,
        "document_hits": [[doc.id, doc.source, round(score, 6)] for score, doc in document_hits],
        "chunk_hits": [[chunk.id, round(score, 6)] for score, chunk in chunk_hits],
        "candidates": [chunk.id for chunk in candidates],
        "included": [[chunk.id, tokens] for chunk, tokens in included],
        "skipped": [[chunk.id, tokens] for chunk, tokens in skipped],
    }


def describe(document):
    return {
        "id": document.id,
        "source": document.source,
        "chunks": [chunk.text for chunk in document.chunks],
        "chunk_summaries": [chunk.summary for chunk in document.chunks],
        "document_summary": document.summary,
    }


def main(arguments):
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    corpus_dir, question, *budgets = arguments
    documents = load_documents(corpus_dir)
    result = {
        "documents": [describe(document) for document in documents],
        "traces": {budget: trace_query(documents, question, int(budget)) for budget in budgets},
    }
    print(json.dumps(result, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
