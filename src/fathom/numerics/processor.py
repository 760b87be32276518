"""What the processor can multiply fast."""

from pathlib import Path

_FLAGS = Path("/proc/cpuinfo")


def has_bfloat16_units(flags: Path = _FLAGS) -> bool:
    """Return whether the processor has matrix units for bfloat16 (Intel's AMX); False if that is unknown.

    AVX-512's bfloat16 instructions do not count: they are at most twice as fast as float32, and computing
    close cases again takes most of that.

    Parameters
    ----------
    flags : Path, default=/proc/cpuinfo
        Where Linux lists the processor's flags.
    """
    if not flags.is_file():
        return False
    lines = flags.read_text(encoding="utf-8", errors="replace").splitlines()
    return any("amx_bf16" in line.split() for line in lines if line.startswith("flags"))


def multiplies_bfloat16() -> bool:
    """Return whether PyTorch's oneDNN multiplies bfloat16 on this processor, as it does from AVX-512 on."""
    import torch

    possible: bool = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return possible
