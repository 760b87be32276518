"""Questions about structured records, proved by queries, and rounds that fill gaps."""
