"""What a run reads, makes and needs, known before any job starts. Knows no Snakemake."""
