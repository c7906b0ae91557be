"""
Writes a language model whose probabilities are known: what follows a token depends on that token only.

Usage: python3 tinyModel.py gguf FILE < habits.json     for llama.cpp
       python3 tinyModel.py hf FOLDER < habits.json      for vLLM and others that read Hugging Face's format

The model is a Llama of one layer that adds nothing, whose embeddings are one-hot, and whose output matrix holds the
logarithms of the probabilities. Its vocabulary is the 256 bytes, as GPT-2 writes them, and control tokens.
Only Python's own library is needed.

habits.json: {"control": [text, ...], "begin": text, "end": text, "follows": {token: {token: probability}},
"otherwise": {token: probability}}: what follows each token, and those that are not named; what is left of 1 is
spread evenly over all other tokens. The tokens of bytes are named by the characters of those numbers.
"""

import array
import json
import math
import os
import struct
import sys

HEADS, HEAD = 5, 64
WIDTH, INNER = HEADS * HEAD, 32
CONTEXT = 4096
EPSILON = 1e-5
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"


def byte_names():
    """The bytes' names in GPT-2's vocabulary: printable ones stand for themselves, others for letters from 256 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    names = {byte: chr(byte) for byte in printable}
    names.update({byte: chr(256 + index) for index, byte in enumerate(others)})
    return [names[byte] for byte in range(256)]


def output_matrix(habits, size):
    """One row a token to be written, one column a token before it; the last columns are for no token."""
    ids = {chr(byte): byte for byte in range(256)}
    ids.update({text: 256 + index for index, text in enumerate(habits["control"])})
    scale = 1 / math.sqrt(1 / WIDTH + EPSILON)
    matrix = [array.array("f", [0.0]) * WIDTH for _ in range(size)]
    for before in range(size):
        name = chr(before) if before < 256 else habits["control"][before - 256]
        named = {ids[text]: p for text, p in habits["follows"].get(name, habits["otherwise"]).items()}
        rest = (1 - sum(named.values())) / (size - len(named))
        for after in range(size):
            matrix[after][before] = math.log(named.get(after, rest)) / scale
    return b"".join(row.tobytes() for row in matrix)


def tensors(habits, size):
    """The tensors by their names in either format: (name in GGUF, name elsewhere, shape with rows first, bytes)."""
    one_hot = [array.array("f", [0.0]) * WIDTH for _ in range(size)]
    for token, row in enumerate(one_hot):
        row[token] = 1.0
    ones = array.array("f", [1.0] * WIDTH).tobytes()
    zeros = lambda *shape: bytes(4 * math.prod(shape))
    square, wide, narrow = (WIDTH, WIDTH), (INNER, WIDTH), (WIDTH, INNER)
    block = "model.layers.0."
    yield "token_embd", "model.embed_tokens", (size, WIDTH), b"".join(row.tobytes() for row in one_hot)
    yield "output_norm", "model.norm", (WIDTH,), ones
    yield "output", "lm_head", (size, WIDTH), output_matrix(habits, size)
    yield "blk.0.attn_norm", block + "input_layernorm", (WIDTH,), ones
    yield "blk.0.ffn_norm", block + "post_attention_layernorm", (WIDTH,), ones
    for short, long in (("q", "q_proj"), ("k", "k_proj"), ("v", "v_proj"), ("output", "o_proj")):
        yield f"blk.0.attn_{short}", f"{block}self_attn.{long}", square, zeros(*square)
    yield "blk.0.ffn_gate", block + "mlp.gate_proj", wide, zeros(*wide)
    yield "blk.0.ffn_up", block + "mlp.up_proj", wide, zeros(*wide)
    yield "blk.0.ffn_down", block + "mlp.down_proj", narrow, zeros(*narrow)


def write_gguf(path, habits):
    names = byte_names() + habits["control"]
    size = len(names)

    def text(value):
        data = value.encode()
        return struct.pack("<Q", len(data)) + data

    def value(kind, content):
        """A value with its type before it, as GGUF's version 3 numbers the types."""
        if kind == "u32":
            return struct.pack("<II", 4, content)
        if kind == "f32":
            return struct.pack("<If", 6, content)
        if kind == "bool":
            return struct.pack("<I?", 7, content)
        if kind == "text":
            return struct.pack("<I", 8) + text(content)
        if kind == "texts":
            return struct.pack("<IIQ", 9, 8, len(content)) + b"".join(map(text, content))
        return struct.pack("<IIQ", 9, 5, len(content)) + struct.pack(f"<{len(content)}i", *content)

    normal, control = 1, 3
    pairs = [
        ("general.architecture", "text", "llama"),
        ("general.name", "text", "tiny"),
        ("general.file_type", "u32", 0),
        ("llama.context_length", "u32", CONTEXT),
        ("llama.embedding_length", "u32", WIDTH),
        ("llama.block_count", "u32", 1),
        ("llama.feed_forward_length", "u32", INNER),
        ("llama.attention.head_count", "u32", HEADS),
        ("llama.attention.head_count_kv", "u32", HEADS),
        ("llama.attention.layer_norm_rms_epsilon", "f32", EPSILON),
        ("llama.rope.dimension_count", "u32", HEAD),
        ("llama.rope.freq_base", "f32", 10000.0),
        ("llama.vocab_size", "u32", size),
        ("tokenizer.ggml.model", "text", "gpt2"),
        ("tokenizer.ggml.pre", "text", "gpt-2"),
        ("tokenizer.ggml.tokens", "texts", names),
        ("tokenizer.ggml.token_type", "i32s", [normal] * 256 + [control] * (size - 256)),
        ("tokenizer.ggml.merges", "texts", []),
        ("tokenizer.ggml.bos_token_id", "u32", names.index(habits["begin"])),
        ("tokenizer.ggml.eos_token_id", "u32", names.index(habits["end"])),
        ("tokenizer.ggml.add_bos_token", "bool", True),
        ("tokenizer.chat_template", "text", TEMPLATE),
    ]
    contents = list(tensors(habits, size))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(contents), len(pairs))
    head += b"".join(text(key) + value(kind, content) for key, kind, content in pairs)
    at, data = 0, b""
    for name, _, shape, content in contents:
        head += text(name + ".weight") + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", length) for length in reversed(shape))
        head += struct.pack("<IQ", 0, at)
        data += content + bytes(-len(content) % 32)
        at = len(data)
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32) + data)


def write_hf(folder, habits):
    names = byte_names() + habits["control"]
    size = len(names)
    begin, end = habits["begin"], habits["end"]
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": size,
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_hidden_layers": 1,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "head_dim": HEAD,
        "hidden_act": "silu",
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": EPSILON,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "bos_token_id": names.index(begin),
        "eos_token_id": names.index(end),
        "torch_dtype": "float32",
    }
    added = [
        {
            "id": 256 + index,
            "content": content,
            "special": True,
            "normalized": False,
            "lstrip": False,
            "rstrip": False,
            "single_word": False,
        }
        for index, content in enumerate(habits["control"])
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": begin, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {begin: {"id": begin, "ids": [names.index(begin)], "tokens": [begin]}},
        },
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {name: index for index, name in enumerate(names)},
            "merges": [],
        },
    }
    about = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": begin,
        "eos_token": end,
        "clean_up_tokenization_spaces": False,
        "model_max_length": CONTEXT,
        "chat_template": TEMPLATE,
    }
    os.makedirs(folder, exist_ok=True)
    for name, content in (("config", config), ("tokenizer", tokenizer), ("tokenizer_config", about)):
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(content, file)
    entries, data = {"__metadata__": {"format": "pt"}}, b""
    for _, name, shape, content in tensors(habits, size):
        offsets = [len(data), len(data) + len(content)]
        entries[name + ".weight"] = {"dtype": "F32", "shape": shape, "data_offsets": offsets}
        data += content
    head = json.dumps(entries).encode()
    head += b" " * (-len(head) % 8)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + data)


if __name__ == "__main__":
    writers = {"gguf": write_gguf, "hf": write_hf}
    writers[sys.argv[1]](sys.argv[2], json.load(sys.stdin))
