"""What a run reads, makes and needs, known before any job starts; independent of Snakemake."""
