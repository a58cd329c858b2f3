"""Answers of semble, as JSON lines: one object a request, in the order asked.

The first line names our table, which becomes a model2vec model in memory. With "prepare" texts go through
our preparation of words before they are tokenised, so that both sides know the same tokens of a text.
"""

import json
import os
import re
import struct
import sys
import tempfile
import time
from pathlib import Path

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def table(path):
    """The tokens and rows of our format; crates/index/src/table/format.rs tells what it is."""
    import numpy

    body = Path(path).read_bytes()
    dimensions, rows, letters = struct.unpack_from("<III", body, 12)
    factor = struct.unpack_from("<f", body, 36)[0]
    tokens, before, at = [], b"", 40
    while at < 40 + letters:
        shared, length = body[at], body[at + 1]
        before = before[:shared] + body[at + 2 : at + 2 + length]
        tokens.append(before.decode())
        at += 2 + length
    values = numpy.frombuffer(body, numpy.int8, rows * dimensions, 40 + letters).reshape(rows, dimensions)
    return tokens, values.astype(numpy.float32) * factor


def model(path, is_prepared):
    import numpy
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokens, rows = table(path)
    rows = numpy.vstack([rows, numpy.zeros((1, rows.shape[1]), numpy.float32)])
    vocabulary = {token: number for number, token in enumerate(tokens)}
    vocabulary["[UNK]"] = len(tokens)
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=96))
    if is_prepared:
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    else:
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made = StaticModel(rows, tokenizer, normalize=True)
    if is_prepared:
        plain = made.encode
        made.encode = lambda texts, **rest: plain([words(text, vocabulary) for text in texts], **rest)
    return made


def words(text, vocabulary, most=300):
    found, count = [], 0
    for word in WORD.findall(text):
        small = word.lower()
        parts = PART.findall(word) if "_" not in word else [part for one in word.split("_") for part in PART.findall(one)]
        count += 1
        if len(parts) > 1:
            count += len(parts)
            found.extend([small] if small in vocabulary else [])
            found.extend(part.lower() for part in parts)
        else:
            found.append(small)
        if count >= most:
            break
    return " ".join(found)


def answer(request, encoder):
    from semble.index import create
    from semble.index.index import SembleIndex
    from semble.types import ContentType

    root = Path(request["root"]).resolve()
    content = (ContentType.CODE,)
    started, began = time.perf_counter(), time.process_time()
    bm25, vectors, chunks, manifest = create.create_index_from_path(root, encoder, content, root)
    index = SembleIndex(encoder, bm25, vectors, chunks, "ours", root=None, content=content)
    index_ms = (time.perf_counter() - started) * 1000
    index_cpu_ms = (time.process_time() - began) * 1000
    answers, query_ms = [], []
    for query in request["queries"]:
        times = []
        for _ in range(request["runs"]):
            started = time.perf_counter()
            hits = index.search(query, top_k=request["limit"])
            times.append((time.perf_counter() - started) * 1000)
        query_ms.append(sorted(times)[len(times) // 2])
        answers.append([[hit.chunk.file_path, hit.chunk.start_line, hit.chunk.end_line] for hit in hits])
    figures = {"chunks": len(chunks), "files": len(manifest), "index_ms": index_ms, "index_cpu_ms": index_cpu_ms, "query_ms": query_ms}
    return {**figures, "answers": answers}


def main():
    setup = json.loads(sys.stdin.readline())
    with tempfile.TemporaryDirectory(prefix="burin-semble-") as folder:
        os.environ.update(HOME=folder, XDG_CACHE_HOME=folder, SEMBLE_CACHE_LOCATION=folder, HF_HUB_OFFLINE="1")
        encoder = model(setup["table"], setup["prepare"])
        print(json.dumps({"dimensions": int(encoder.dim)}), flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line), encoder)), flush=True)


main()
