"""make_tiny.py SOURCE FOLDER: a Llama of two layers with random weights and the tokenizer of another model.

It says nothing, fast: 240 tokens a second where the weak model has 28. The seed is fixed, so two folders are equal.
"""

import sys

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM


def make(source: str, folder: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(source)
    config = LlamaConfig(
        vocab_size=-(-len(tokenizer) // 64) * 64,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=32768,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(0)
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


make(sys.argv[1], sys.argv[2])
