#!/usr/bin/env python3
"""Makes small models of Hugging Face's `transformers` with random weights, and what they answer: the folder foreign/ beside this file.

    python3 make_foreign.py    # needs transformers, torch and safetensors; the stored files were made with transformers 5.24.0, torch 2.15.0

foreign/NAME.safetensors is what `save_pretrained` writes of the model whose twin is models/NAME.json, of gpt2_124m two files and their
index. foreign/answers.safetensors holds what each of them reads and answers, as NAME/INPUT and NAME/logits; its metadata say with
which --set the twin has the same sizes, one a line.
"""
import os
import pathlib
import shutil
import tempfile

import torch
from safetensors.torch import save_file

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
import transformers  # noqa: E402

FOLDER = pathlib.Path(__file__).parent / "foreign"
ROWS = 3


def draw_all(model):
    """Every parameter has random numbers: what transformers begins with would hide a bias or a norm that is not there."""
    for name, p in model.named_parameters():
        vector = p.dim() == 1
        gain = vector and name.endswith("weight")  # of a norm
        p.data = torch.randn(p.shape) * (0.2 if vector else 0.3) + (1 if gain else 0)
    return model.eval()


def tokens(vocab, length):
    return torch.randint(1, vocab, (ROWS, length))


def gpt2():
    sizes = {"layers": 2, "heads": 3, "d": 24, "ctx": 10, "vocab": 19}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=19, n_positions=10, n_embd=24, n_layer=2, n_head=3, bos_token_id=0, eos_token_id=0))
    x = tokens(19, 10)
    return model, sizes, {"tokens": x}, lambda: model(x).logits


def llama():
    sizes = {"layers": 2, "heads": 4, "kv_heads": 2, "d": 24, "ff": 40, "vocab": 17, "rope": 500}
    config = transformers.LlamaConfig(vocab_size=17, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                                      max_position_embeddings=10, rms_norm_eps=1e-5, rope_parameters={"rope_type": "default", "rope_theta": 500.0})
    model = transformers.LlamaForCausalLM(config)
    x = tokens(17, 10)
    return model, sizes, {"tokens": x}, lambda: model(x).logits


def vit():
    sizes = {"layers": 2, "heads": 3, "d": 24, "ff": 40, "size": 12, "patch": 4, "classes": 5}
    model = transformers.ViTForImageClassification(transformers.ViTConfig(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40,
                                                                          image_size=12, patch_size=4, num_labels=5))
    x = torch.randn(ROWS, 3, 12, 12)
    return model, sizes, {"image": x.permute(0, 2, 3, 1).contiguous()}, lambda: model(x).logits


def bert():
    sizes = {"layers": 2, "heads": 3, "d": 24, "ff": 40, "length": 9, "positions": 12, "vocab": 23, "separator": 22, "classes": 4}
    config = transformers.BertConfig(vocab_size=23, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40,
                                     max_position_embeddings=12, num_labels=4)
    model = transformers.BertForSequenceClassification(config)
    x = torch.tensor([[5, 9, 22, 7, 8, 3, 22, 0, 0], [1, 2, 3, 4, 5, 6, 7, 8, 9], [4, 22, 6, 6, 11, 12, 13, 14, 22]])
    segments = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 0, 0], [0] * 9, [0, 0] + [1] * 7])
    return model, sizes, {"tokens": x}, lambda: model(x, attention_mask=(x != 0).long(), token_type_ids=segments).logits


def t5():
    sizes = {"layers": 2, "heads": 3, "d": 24, "dk": 8, "ff": 40, "vocab": 17, "read": 40, "written": 24}
    config = transformers.T5Config(vocab_size=17, d_model=24, d_kv=8, d_ff=40, num_layers=2, num_heads=3, decoder_start_token_id=0)
    model = transformers.T5ForConditionalGeneration(config)
    x, y = tokens(17, 40), tokens(17, 24)
    x[0, 31:] = 0
    return model, sizes, {"tokens": x, "answer": y}, lambda: model(input_ids=x, attention_mask=(x != 0).long(), labels=y).logits


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    answers, metadata = {}, {}
    for name, make in {"gpt2_124m": gpt2, "llama_small": llama, "vit_small": vit, "bert_base": bert, "t5_small": t5}.items():
        torch.manual_seed(28)
        model, sizes, inputs, answer = make()
        draw_all(model)
        with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
            logits = answer()
            model.save_pretrained(folder, max_shard_size="40KB" if name == "gpt2_124m" else "10MB")
            for path in pathlib.Path(folder).glob("model*.safetensors*"):
                shutil.copy(path, FOLDER / path.name.replace("model", name, 1))
        index = FOLDER / f"{name}.safetensors.index.json"
        if index.exists():
            index.write_text(index.read_text().replace('"model-', f'"{name}-'))
        for key, value in inputs.items():
            answers[f"{name}/{key}"] = value.int() if value.dtype == torch.int64 else value
        answers[f"{name}/logits"] = logits
        own = ["data.map=null"] if name == "vit_small" else []  # pictures are as they are read
        metadata[name] = "\n".join([*own, *(f"let.{key}={value}" for key, value in sizes.items())])
        print(f"{name}: {sum(p.numel() for p in model.parameters())} parameters, logits {list(logits.shape)} of {logits.std():.3f}")
    save_file({k: v.contiguous() for k, v in answers.items()}, FOLDER / "answers.safetensors", metadata)


if __name__ == "__main__":
    main()
