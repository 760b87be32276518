"""Questions about structured records, proved by queries, in rounds that fill gaps."""
