"""Fathom: the workflow is workflow/Snakefile; this file is what `snakemake` finds at the root."""


include: "workflow/Snakefile"


# the first rule of an included file is no default target
workflow.default_target = "all"
