"""Which architecture and hardware a run's models stand for: what is shipped by name. Counterpart of `profile_file`.

`paper` prices a log as if it had run in the paper's deployment, `local` is the pair of `spectrace demo`. Without a
profile each recorded model is looked up by its own name; one that is not known has no FLOPs and no bytes, not 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from spectrace.cost.architecture import Architecture
from spectrace.cost.hardware import Hardware

_QWEN35 = "model configuration classes and published configurations; totals agree with the makers' names"
_GGUF = "the checkpoint's configuration; bytes per weight: size of the Q4_K_M file over its parameters"

ARCHITECTURES: Mapping[str, Architecture] = {
    one.name: one
    for one in (
        Architecture(
            name="Qwen3.5-4B",
            source=_QWEN35,
            layers=32,
            full_layers=8,
            hidden=2560,
            heads=16,
            kv_heads=4,
            head_dim=256,
            gated=True,
            ffn=9216,
            vocab=248_320,
            tied=True,
            gdn_key_heads=16,
            gdn_value_heads=32,
            gdn_dim=128,
            gdn_conv=4,
        ),
        Architecture(
            name="Qwen3.5-397B-A17B",
            source=f"{_QWEN35}; its count of GDN heads is inferred from the total",
            layers=60,
            full_layers=15,
            hidden=4096,
            heads=32,
            kv_heads=2,
            head_dim=256,
            gated=True,
            ffn=1024,
            vocab=248_320,
            tied=False,
            experts=512,
            experts_per_token=10,
            shared_experts=1,
            gdn_key_heads=16,
            gdn_value_heads=64,
            gdn_dim=128,
            gdn_conv=4,
        ),
        Architecture(
            name="Qwen2.5-Coder-0.5B",
            source=_GGUF,
            layers=24,
            hidden=896,
            heads=14,
            kv_heads=2,
            head_dim=64,
            qkv_bias=True,
            ffn=4864,
            vocab=151_936,
            tied=True,
            bytes_per_weight=491_400_064 / 494_032_768,
        ),
        Architecture(
            name="Qwen2.5-Coder-1.5B",
            source=_GGUF,
            layers=28,
            hidden=1536,
            heads=12,
            kv_heads=2,
            head_dim=128,
            qkv_bias=True,
            ffn=8960,
            vocab=151_936,
            tied=True,
            bytes_per_weight=1_117_320_768 / 1_543_714_304,
        ),
        Architecture(
            name="SmolLM2-135M",
            source="the checkpoint's configuration, served as bf16",
            layers=30,
            hidden=576,
            heads=9,
            kv_heads=3,
            head_dim=64,
            ffn=1536,
            vocab=49_152,
            tied=True,
        ),
    )
}

HARDWARE: Mapping[str, Hardware] = {
    "H20": Hardware(
        name="H20",
        source="NVIDIA H20: 96 GB HBM3, published figures",
        bandwidth=4.0e12,
        flops={"bf16": 148e12, "fp16": 148e12, "fp8": 296e12},
    ),
    "CPU": Hardware(
        name="CPU",
        source="round figures of two server cores with AVX-512; measure your own",
        bandwidth=2.0e10,
        flops={"fp32": 1.0e11, "bf16": 1.0e11},
    ),
}

_NAMES: Mapping[str, str] = {
    "qwen2.5-coder-0.5b-q4_k_m": "Qwen2.5-Coder-0.5B",
    "qwen2.5-coder-1.5b-q4_k_m": "Qwen2.5-Coder-1.5B",
    "smollm2": "SmolLM2-135M",
    **{name.lower(): name for name in ARCHITECTURES},
}
"""Other names that servers give their models, in lower case and without `-instruct`."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """One of the two models as it is served."""

    architecture: Architecture
    hardware: Hardware | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """What the weak and the strong model are taken to be."""

    name: str
    source: str
    weak: Deployment
    strong: Deployment

    def deployment(self, who: str) -> Deployment | None:
        """Return that of `weak` or `strong`; the models inside an environment have none."""
        return {"weak": self.weak, "strong": self.strong}.get(who)


PROFILES: Mapping[str, Profile] = {
    "paper": Profile(
        "paper",
        "the paper's deployment: weak on one H20, strong split over 16",
        Deployment(ARCHITECTURES["Qwen3.5-4B"], HARDWARE["H20"]),
        Deployment(ARCHITECTURES["Qwen3.5-397B-A17B"], HARDWARE["H20"]),
    ),
    "local": Profile(
        "local",
        "the pair that `spectrace demo` runs in this process",
        Deployment(ARCHITECTURES["Qwen2.5-Coder-0.5B"], HARDWARE["CPU"]),
        Deployment(ARCHITECTURES["Qwen2.5-Coder-1.5B"], HARDWARE["CPU"]),
    ),
}


def architecture_of(name: str) -> Architecture | None:
    """Return the shipped architecture of a model by the name that it was recorded under, or None."""
    short = name.rsplit("/", 1)[-1].lower().removesuffix(".gguf").replace("-instruct", "")
    found = _NAMES.get(short)
    return None if found is None else ARCHITECTURES[found]
