"""convert_gguf.py SOURCE.gguf FOLDER: GGUF to a Hugging Face folder in bfloat16; on a CPU SGLang reads no GGUF."""

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig


def convert(source: Path, folder: Path) -> None:
    where = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    dequantised = GgufConfig(gguf_file=source.name, dequantize=True)
    AutoTokenizer.from_pretrained(**where).save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.bfloat16, quantization_config=dequantised)
    model.save_pretrained(folder)


convert(Path(sys.argv[1]).absolute(), Path(sys.argv[2]))
