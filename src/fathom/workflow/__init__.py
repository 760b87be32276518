"""What the rules compute: inputs, programs' settings, names of outputs. Knows no Snakemake."""
