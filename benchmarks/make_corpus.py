#!/usr/bin/env python3
"""Writes a synthetic corpus that is the same on every machine, and questions about it.

    make_corpus.py OUT --documents 100000 --chunks 20 --seed 1

writes OUT/00/00/doc-000000.md and so on, 100 documents a folder, and OUT/../queries.ndjson. A
document has a title and `chunks` paragraphs of 240 to 360 characters, rarely more, each of which
makes one chunk.

Words are built from syllables. Every document belongs to a topic; its words are drawn from common
words, the topic's words (both with Zipf's frequencies) and the whole vocabulary, so that documents
of a topic resemble each other and none equals another. A document depends on the seed and its
number only: the first 1000 of 100,000 documents are those of a corpus of 1000.

A question is made of rare words of one paragraph; its id is the path of the document that has them.
"""
import argparse
import json
import pathlib
import random
import sys

VOCABULARY_SIZE = 50_000
COMMON_WORDS = 300
TOPICS = 300
WORDS_PER_TOPIC = 2_000
# Shares of a document's words; the rest comes from the whole vocabulary.
COMMON_SHARE = 0.45
TOPIC_SHARE = 0.50
# How flat the frequencies begin: no word of a topic is in every paragraph about it.
COMMON_SHIFT = 2.7
TOPIC_SHIFT = 30.0
POOL_SIZE = 1 << 14
MIN_PARAGRAPH_CHARS = 240
PARAGRAPHS_PER_HEADING = 5
WORDS_PER_QUESTION = 4

ONSETS = "b br c d dr f g gl h j k l m n p pr qu r s st t tr v w z".split()
NUCLEI = "a e i o u ai ea io ou".split()
CODAS = ["", "", "", "l", "n", "r", "s", "t", "nd", "x"]


def make_vocabulary(rng: random.Random) -> list[str]:
    """Distinct pseudo-words, the shortest first, as frequent words are short."""
    syllables = [onset + nucleus + coda for onset in ONSETS for nucleus in NUCLEI for coda in CODAS]
    words: set[str] = set()
    while len(words) < VOCABULARY_SIZE:
        words.add("".join(rng.choices(syllables, k=rng.choice((1, 2, 2, 3, 3, 3, 4)))))
    # Sets have no stable order, so sort before anything is drawn.
    return sorted(words, key=lambda word: (len(word), word))


def zipf_pool(rng: random.Random, words: list[str], shift: float, size: int) -> list[str]:
    """`size` draws in which the n-th word has weight 1 / (n + shift), Mandelbrot's form of Zipf's
    law. Drawing evenly from the pool is far cheaper than a weighted draw for each word written."""
    weights = [1 / (rank + shift) for rank in range(1, len(words) + 1)]
    return rng.choices(words, weights, k=size)


class Topic:
    """The words of one subject: a pool to draw running text from, and names for titles."""

    def __init__(self, vocabulary: list[str], rng: random.Random):
        own = rng.sample(vocabulary[COMMON_WORDS:], WORDS_PER_TOPIC)
        common_size = int(POOL_SIZE * COMMON_SHARE)
        topic_size = int(POOL_SIZE * TOPIC_SHARE)
        self.own = own
        self.pool: list[str | None] = []
        self.pool += zipf_pool(rng, vocabulary[:COMMON_WORDS], COMMON_SHIFT, common_size)
        self.pool += zipf_pool(rng, own, TOPIC_SHIFT, topic_size)
        # None stands for a word of the whole vocabulary: few enough to be drawn one by one.
        self.pool += [None] * (POOL_SIZE - len(self.pool))


class Corpus:
    def __init__(self, seed: int, paragraphs: int):
        self.seed = seed
        self.paragraphs = paragraphs
        rng = random.Random(f"{seed}/vocabulary")
        self.vocabulary = make_vocabulary(rng)
        self.topics = [Topic(self.vocabulary, rng) for _ in range(TOPICS)]

    def document(self, number: int) -> tuple[str, list[str]]:
        """The text of a document and the rare words of one of its paragraphs."""
        rng = random.Random(f"{self.seed}/{number}")
        topic = self.topics[int(rng.random() * TOPICS)]
        parts = ["# " + " ".join(rng.choices(topic.own, k=4)).capitalize()]
        asked_paragraph = int(rng.random() * self.paragraphs)
        rare: list[str] = []
        for index in range(self.paragraphs):
            if index % PARAGRAPHS_PER_HEADING == 0 and index > 0:
                parts.append("## " + " ".join(rng.choices(topic.own, k=3)).capitalize())
            text, rare_of_paragraph = self.paragraph(rng, topic)
            parts.append(text)
            if index == asked_paragraph:
                rare = rare_of_paragraph
        parts.append("")
        return "\n\n".join(parts)[:-1], rare

    def paragraph(self, rng: random.Random, topic: Topic) -> tuple[str, list[str]]:
        vocabulary = self.vocabulary
        draw = rng.random
        sentences: list[str] = []
        rare: list[str] = []
        missing = MIN_PARAGRAPH_CHARS
        while missing > 0:
            words = rng.choices(topic.pool, k=7 + int(draw() * 5))
            while None in words:
                word = vocabulary[int(draw() * VOCABULARY_SIZE)]
                rare.append(word)
                words[words.index(None)] = word
            sentence = " ".join(words).capitalize()
            sentences.append(sentence)
            missing -= len(sentence) + 2
        return ". ".join(sentences) + ".", rare


def relative_path(number: int) -> str:
    return f"{number // 10_000:02d}/{number // 100 % 100:02d}/doc-{number:06d}.md"


def make_question(number: int, rare: list[str], title_words: list[str]) -> str:
    """One JSON line. A paragraph with too few rare words is helped out by its document's title."""
    words = list(dict.fromkeys(rare + title_words))[:WORDS_PER_QUESTION]
    return json.dumps({"id": relative_path(number), "question": f"What is {' '.join(words)}?"})


def write_corpus(out: pathlib.Path, queries: pathlib.Path, options: argparse.Namespace) -> int:
    corpus = Corpus(options.seed, options.chunks)
    stride = max(1, options.documents // max(1, options.questions))
    total_bytes = 0
    questions: list[str] = []
    for number in range(options.documents):
        path = out / relative_path(number)
        if number % 100 == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
        text, rare = corpus.document(number)
        encoded = text.encode("ascii")
        with open(path, "wb", buffering=0) as file:
            file.write(encoded)
        total_bytes += len(encoded)
        if number % stride == stride // 2 and len(questions) < options.questions:
            title_words = text[2 : text.index("\n")].lower().split()
            questions.append(make_question(number, rare, title_words))
        if number % 10_000 == 9_999:
            print(f"make_corpus: {number + 1} documents, {total_bytes >> 20} MiB", file=sys.stderr)
    queries.write_text("\n".join(questions) + "\n", encoding="ascii")
    return total_bytes


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes a corpus of pseudo-words and questions.")
    parser.add_argument("out", type=pathlib.Path, help="folder to write to; must be new or empty")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--chunks", type=int, default=20, help="paragraphs a document")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--queries", type=pathlib.Path, help="default: OUT/../queries.ndjson")
    options = parser.parse_args()
    if min(options.documents, options.chunks) < 1 or options.questions < 0:
        parser.error("--documents and --chunks must be at least 1, --questions at least 0")
    options.out.mkdir(parents=True, exist_ok=True)
    if any(options.out.iterdir()):
        parser.error(f"{options.out} is not empty")
    queries = options.queries or options.out.resolve().parent / "queries.ndjson"
    total_bytes = write_corpus(options.out, queries, options)
    print(f"make_corpus: {options.documents} documents, {total_bytes} bytes in {options.out}")
    print(f"make_corpus: questions in {queries}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
