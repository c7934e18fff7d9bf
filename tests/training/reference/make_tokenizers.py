"""Draws the reference of the tokenizers from PyPI's `tokenizers` (0.23.3): python3 make_tokenizers.py FOLDER

Writes small tokenizers of every kind and cases.json: texts, and the ids and the decoded text that the package makes of
them. tests/unit/tokenizer_test.cpp reads both from tests/unit/Inputs/tokenizers. Special tokens are plain text unless a case
says `special`; `template` adds what the tokenizer puts around a text.

Known differences, which are not drawn: U+180E as a space; special tokens in plain text of a Unigram or a WordLevel tokenizer,
which the package finds in the vocabulary.
"""
import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

WORDS = """the cat sat on a mat and then it's that they'll we've 1234 2026 don't stop low lower lowest newer wider
Привет мир как дела Γειά σου Κόσμε नमस्ते दुनिया สวัสดี 你好世界 こんにちは 안녕하세요 مرحبا שלום café naïve Ünïcödé straße ﬁn ½ Ⅷ
😀 👨‍👩‍👧 e\u0301 İ""".split()
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
RANGES = [(0x20, 0x7F), (0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x500), (0x590, 0x600), (0x900, 0x970), (0x1E00, 0x2000),
          (0x2000, 0x2070), (0x2190, 0x2200), (0x3040, 0x30FF), (0x4E00, 0x4F00), (0xAC00, 0xAD00), (0x1F600, 0x1F640)]
PARTS = [" ", "  ", "\n", "\t", "\u3000", "<s>", "[CLS]", "<|endoftext|>", "foo bar", " Zwolf  ", "<mask>", "<0x41>", "##", "▁", "'s", "\u200d", "👨‍👩‍👧"]


def tokenizers(text):
    def trained(model, trainer, normalizer=None, pre_tokenizer=None, decoder=None, post_processor=None):
        made = Tokenizer(model)
        for name, part in (("normalizer", normalizer), ("pre_tokenizer", pre_tokenizer), ("decoder", decoder), ("post_processor", post_processor)):
            if part is not None:
                setattr(made, name, part)
        made.train_from_iterator(text, trainer)
        return made

    bpe, quiet = models.BPE, {"show_progress": False}
    bytes_ = trained(bpe(), trainers.BpeTrainer(vocab_size=420, special_tokens=["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **quiet),
                     None, pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel(), processors.ByteLevel())
    yield "bpe_bytes", bytes_
    yield "bpe_fallback", trained(
        bpe(byte_fallback=True, unk_token="<unk>", fuse_unk=True), trainers.BpeTrainer(vocab_size=420, special_tokens=["<unk>", "<s>", "</s>", *BYTES], limit_alphabet=60, **quiet),
        normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), pre_tokenizers.Metaspace(),
        decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]),
        processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]))
    yield "bpe_suffix", trained(
        bpe(unk_token="[UNK]", end_of_word_suffix="</w>"), trainers.BpeTrainer(vocab_size=300, special_tokens=["[UNK]"], end_of_word_suffix="</w>", limit_alphabet=60, **quiet),
        normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]), pre_tokenizers.BertPreTokenizer(), decoders.BPEDecoder())
    for name, lower in (("wordpiece_lower", True), ("wordpiece_cased", False)):
        yield name, trained(
            models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(vocab_size=300, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], limit_alphabet=80, **quiet),
            normalizers.BertNormalizer(lowercase=lower), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece(), processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2)))
    unigram = trained(models.Unigram(), trainers.UnigramTrainer(vocab_size=260, special_tokens=["<unk>"], unk_token="<unk>", **quiet),
                      normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.NFKD()]), pre_tokenizers.Metaspace(), decoders.Metaspace())
    unigram.add_tokens([AddedToken("foo bar", lstrip=True, single_word=True), AddedToken("Zwolf", normalized=True, rstrip=True)])
    yield "unigram", unigram
    parts = json.loads(unigram.to_str())
    parts["added_tokens"] = parts["added_tokens"][:1]
    parts["normalizer"] = {"type": "NFC"}
    parts["model"]["vocab"] = parts["model"]["vocab"][:150] + [[byte, -12.0] for byte in BYTES]
    parts["model"]["byte_fallback"] = True
    first = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
    parts["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, first]}
    parts["decoder"] = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, first]}
    yield "unigram_bytes", Tokenizer.from_str(json.dumps(parts))
    words = trained(models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(vocab_size=100, special_tokens=["<unk>"], **quiet),
                    normalizers.Sequence([normalizers.Strip(), normalizers.Replace(Regex(r"\s+"), " ")]), pre_tokenizers.Whitespace())
    words.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    yield "word_level", words
    # Every behaviour of a split, over the first vocabulary.
    for behavior in ("isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"):
        parts = json.loads(bytes_.to_str())
        made = Tokenizer.from_str(json.dumps({**parts, "model": {**parts["model"], "vocab": {k: v for k, v in parts["model"]["vocab"].items() if v < 257}, "merges": []}}))
        made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Punctuation(behavior), pre_tokenizers.Split(Regex("[aeiou ]"), behavior, invert=behavior == "removed"),
                                                      pre_tokenizers.ByteLevel(add_prefix_space=True)])
        yield "split_" + behavior, made


def drawn(draw):
    out = []
    for _ in range(draw.randint(1, 5)):
        low, high = draw.choice(RANGES)
        some = "".join(chr(draw.randrange(low, high)) for _ in range(draw.randint(1, 5)))
        out.append(draw.choice([draw.choice(WORDS), draw.choice(PARTS), some.encode("utf-8", "ignore").decode()]))
        out.append(draw.choice(["", " "]))
    return "".join(out)


def main():
    folder, draw = pathlib.Path(sys.argv[1]), random.Random(7)
    text = [" ".join(draw.choice(WORDS) for _ in range(8)) for _ in range(400)]
    cases = []
    for name, made in tokenizers(text):
        (folder / f"{name}.json").write_text(json.dumps(json.loads(made.to_str()), ensure_ascii=False, separators=(",", ":")) + "\n")
        made = Tokenizer.from_file(str(folder / f"{name}.json"))
        for i in range(24):
            case, special = drawn(draw), i % 2 == 0
            if not special and any(word in case for word in ("<s>", "<unk>", "<mask>")):
                continue
            made.encode_special_tokens = not special
            ids = made.encode(case, add_special_tokens=i % 4 == 0).ids
            cases.append({"tokenizer": name, "text": case, "special": special, "template": i % 4 == 0, "ids": ids, "decoded": made.decode(ids)})
    (folder / "cases.json").write_text("[\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "\n]\n")
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
