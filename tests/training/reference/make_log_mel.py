#!/usr/bin/env python3
"""Makes the numbers of public implementations for log-mel features: log_mel_torchaudio.safetensors and log_mel_librosa.safetensors.

    python3 make_log_mel.py torchaudio    # torchaudio 2.11.0 and torch 2.11.0 made the stored file
    python3 make_log_mel.py librosa       # librosa 0.11.0, in an environment of its own

Of each case the metadata hold the settings of a reader of sounds, with "bands". Tensors: CASE/sound i32[samples], to be divided by
32768; CASE/single and CASE/double f32[frames, bands], as the library computes it in 32 and in 64 bits.
"""
import json
import math
import pathlib
import random
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).parents[2] / "support"))
import safetensors_file  # noqa: E402

HERE = pathlib.Path(__file__).parent
CASES = [  # what is not said has the reader's default
    {"rate": 16000, "n_fft": 400, "hop": 160, "bands": 40},
    {"rate": 16000, "n_fft": 400, "hop": 160, "bands": 40, "scale": "slaney", "norm": True},
    {"rate": 8000, "n_fft": 512, "hop": 256, "bands": 40, "low": 60, "high": 3800, "log": "db"},
    {"rate": 22050, "n_fft": 1024, "window": 600, "hop": 301, "bands": 64, "scale": "slaney", "log": "db"},
    {"rate": 16000, "n_fft": 512, "window": 401, "hop": 160, "bands": 23, "power": 1, "log": "log10"},
    {"rate": 16000, "n_fft": 250, "hop": 100, "bands": 20, "center": False, "scale": "slaney", "norm": True, "power": 1, "log": "db"},
    {"rate": 12000, "n_fft": 330, "hop": 110, "bands": 30, "border": "zeros", "norm": True, "power": 3},
    {"rate": 44100, "n_fft": 2048, "hop": 512, "bands": 80, "low": 20, "high": 16000, "scale": "slaney", "norm": True, "log": "none"},
]


def sound_of(number, rate):
    """Tones that slide, and noise."""
    draw, samples = random.Random(number), rate // 5 + 7 * number
    out = []
    for t in range(samples):
        s = t / rate
        out.append(round(9000 * math.sin(2 * math.pi * (300 + 900 * s) * s) + 4000 * math.sin(2 * math.pi * 0.31 * rate * s) + draw.gauss(0, 900)))
    return numpy.array(out, dtype=numpy.int16)


def logarithm(mel, case):
    """The libraries have a function for dB alone."""
    kind, floor = case.get("log", "natural"), 1e-10
    if kind == "none":
        return mel
    clamped = numpy.maximum(mel, mel.dtype.type(floor))
    return numpy.log(clamped) if kind == "natural" else numpy.log10(clamped)


def of_torchaudio(x, case):
    import torch
    import torchaudio
    torch.set_default_dtype(torch.float32 if x.dtype == numpy.float32 else torch.float64)
    center = case.get("center", True)
    mel = torchaudio.transforms.MelSpectrogram(
        case["rate"], n_fft=case["n_fft"], win_length=case.get("window"), hop_length=case["hop"], f_min=float(case.get("low", 0)),
        f_max=case.get("high"), n_mels=case["bands"], power=float(case.get("power", 2)), center=center,
        pad_mode="constant" if case.get("border") == "zeros" else "reflect", norm="slaney" if case.get("norm") else None,
        mel_scale=case.get("scale", "htk"))(torch.from_numpy(x))
    if case.get("log") == "db":
        return torchaudio.transforms.AmplitudeToDB("power" if case.get("power", 2) == 2 else "magnitude")(mel).numpy().T
    return logarithm(mel.numpy(), case).T


def of_librosa(x, case):
    import librosa
    mel = librosa.feature.melspectrogram(
        y=x, sr=case["rate"], n_fft=case["n_fft"], win_length=case.get("window"), hop_length=case["hop"], fmin=float(case.get("low", 0)),
        fmax=case.get("high"), n_mels=case["bands"], power=float(case.get("power", 2)), center=case.get("center", True),
        pad_mode="constant" if case.get("border") == "zeros" else "reflect", norm="slaney" if case.get("norm") else None,
        htk=case.get("scale", "htk") == "htk", dtype=x.dtype)
    if case.get("log") == "db":
        if case.get("power", 2) == 2:
            return librosa.power_to_db(mel, top_db=None).T
        return librosa.amplitude_to_db(mel, amin=1e-10, top_db=None).T
    return logarithm(mel, case).T


def main():
    library = sys.argv[1]
    features = {"torchaudio": of_torchaudio, "librosa": of_librosa}[library]
    header, data, metadata = {}, b"", {}
    for number, case in enumerate(CASES):
        name = f"case_{number}"
        metadata[name] = json.dumps(case)
        sound = sound_of(number, case["rate"])
        tensors = {"sound": ("I32", sound.astype(numpy.int32))}
        for kind, dtype in (("single", numpy.float32), ("double", numpy.float64)):
            tensors[kind] = "F32", numpy.ascontiguousarray(features(sound.astype(dtype) / 32768, case), dtype=numpy.float32)
        for kind, (dtype, values) in tensors.items():
            content = values.tobytes()
            header[f"{name}/{kind}"] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(content)]}
            data += content
    (HERE / f"log_mel_{library}.safetensors").write_bytes(safetensors_file.join({"__metadata__": metadata, **header}, data))


main()
