#!/usr/bin/env python3
"""Unpacks and packs the corpora of the fuzzer.

    fuzz/corpus.py unpack TARGET DIRECTORY    each input of fuzz/corpus/TARGET.txt becomes a file of DIRECTORY
    fuzz/corpus.py pack TARGET DIRECTORY      the files of DIRECTORY become fuzz/corpus/TARGET.txt

The fuzzer wants a file for each input, and a repository wants a few files. A packed corpus has one input a line, and is
sorted by their bytes. A printable ASCII character stands for itself, but for the backslash: that is `\\\\`. A line feed is
`\\n`, a carriage return `\\r`, a tab `\\t`, and each other byte is `\\x` with two lower-case hexadecimal digits. An empty line
is an empty input. `tests/corpora.rs` reads the same format.
"""

import hashlib
import pathlib
import re
import shutil
import sys

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
ESCAPES = {"\\": b"\\", "n": b"\n", "r": b"\r", "t": b"\t"}
NAMES = {value[0]: "\\" + name for name, value in ESCAPES.items()}


def escape(data):
    plain = lambda byte: chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"
    return "".join(NAMES.get(byte) or plain(byte) for byte in data)


def unescape(line):
    parts = re.findall(r"\\x([0-9a-f]{2})|\\([\\nrt])|([ -\[\]-~]+)", line)
    data = b"".join(bytes.fromhex(byte) or ESCAPES.get(name) or text.encode() for byte, name, text in parts)
    if escape(data) != line:
        sys.exit(f"not a line of a corpus: {line}")
    return data


def unpack(packed, directory):
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for line in packed.read_text("ascii").split("\n")[:-1] if packed.exists() else []:
        data = unescape(line)
        # The fuzzer names its inputs in this way.
        (directory / hashlib.sha1(data).hexdigest()).write_bytes(data)


def pack(packed, directory):
    inputs = sorted({path.read_bytes() for path in directory.iterdir()})
    packed.write_text("".join(escape(data) + "\n" for data in inputs), "ascii", newline="\n")
    print(f"{packed.name}: {len(inputs)} inputs, {sum(map(len, inputs))} bytes")


def main():
    commands = {"pack": pack, "unpack": unpack}
    if len(sys.argv) != 4 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    _, command, target, directory = sys.argv
    commands[command](CORPUS / f"{target}.txt", pathlib.Path(directory))


if __name__ == "__main__":
    main()
