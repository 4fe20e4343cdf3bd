"""A stand-in in pure PyTorch for the one compiled kernel that SGLang calls on a CPU without AMX."""

__version__ = "0.0.0+python"


def assign_req_to_token_pool_cpu(req_pool_indices, req_to_token, start, end, out_cache_loc, pool_len):  # noqa: PLR0913 - the kernel's signature
    offset = 0
    for row, first, last in zip(req_pool_indices.tolist(), start.tolist(), end.tolist(), strict=True):
        count = last - first
        req_to_token[row, first:last] = out_cache_loc[offset : offset + count].to(req_to_token.dtype)
        offset += count


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def missing(*_args, **_options):
        raise NotImplementedError(f"sgl_kernel.{name} has no stand-in in pure PyTorch")

    return missing
