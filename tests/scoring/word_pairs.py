"""Words of which no two are forms of one, and pairs whose prompts and targets are made of them."""

import polars as pl

WORDS = [f"{first}{second}{third}b" for first in "bcdfghk" for second in "aeiouy" for third in "dfgklmz"]
ENTRIES = len(WORDS) + 3


def make_pairs(name: str, targets: list[str]) -> pl.DataFrame:
    rows = [
        {
            "pair_id": f"{name}{number}",
            "keyword": f"k{number % 3}",
            "prompt": " ".join(
                WORDS[(number * 31 + place * place) % len(WORDS)] for place in range(1 + number % 9)
            ),
            "target": f" {target}",
        }
        for number, target in enumerate(targets)
    ]
    return pl.DataFrame(rows)
