import pytest

from fathom.numerics.matrix_products import has_bfloat16_units


@pytest.mark.parametrize(
    ("flags", "there"),
    [
        ("fpu avx512_bf16 amx_bf16 amx_tile", True),
        ("fpu avx512f avx512_bf16", False),
        ("fpu avx2", False),
    ],
)
def test_units_are_read_from_the_flags(tmp_path, flags, there):
    (tmp_path / "cpuinfo").write_text(f"model name\t: amx_bf16 in a name\nflags\t\t: {flags}\n")
    assert has_bfloat16_units(tmp_path / "cpuinfo") is there


def test_unknown_flags_are_none(tmp_path):
    assert not has_bfloat16_units(tmp_path / "nothing")
