"""The files that targets ask for, by what the configuration names, and the report of a whole run."""

RANKING_TABLES = [
    "agreement",
    "pairwise",
    "means",
    "categories",
    "perplexity",
    "pca",
    "pc1",
    "alignment",
]
# a note stands in a figure for which a table has no standard errors, corpora or sizes
RANKING_FIGURES = {
    "alignment": ["alignment"],
    "agreement": [
        "mean-tau",
        "mean-tau-significant",
        "categories",
        "categories-significant",
        *(f"tau.{condition}" for condition in CONDITIONS),
        *(f"tau-significant.{condition}" for condition in CONDITIONS),
    ],
    "perplexity": ["perplexity", *(["perplexity-before"] if len(CONDITIONS) > 1 else [])],
    "components": [
        "pca",
        *(["pca-family"] if CONFIG.ranking.one_family else []),
        "pc1-compute",
        "pc1-scores",
    ],
}


def layer_figures():
    """Return the figures by layer, for each domain and family of models."""
    return expand(
        f"results/{RUN}/figures/{{domain}}.layers.{{model}}.{{figure}}.png",
        domain=CONFIG.benchmark_domains,
        model=CONFIG.layer_families,
        figure=LAYER_FIGURES,
    )


def cards():
    """Return the cards of all benchmarks."""
    return [
        f"results/{RUN}/{domain}/benchmark/{variant}/README.md"
        for domain in CONFIG.benchmark_domains
        for variant in variants(domain)
    ]


def changes():
    """Return the report on what changed since the earlier run, where one is named."""
    return [f"results/{RUN}/changes.csv"] if CONFIG.previous else []


def exports():
    """Return the task folders of all benchmarks."""
    return [f"{Path(card).parent}/lm-eval" for card in cards()]


def rank_figures():
    """Return the figures of models by rank, one for each benchmark's domain."""
    return expand(
        f"results/{RUN}/figures/{{domain}}.model-ranks.png",
        domain=CONFIG.benchmark_domains,
    )


def summaries():
    """Return what a run says of its models beside figures; nothing without domains."""
    names = ["corpus/join_report.json", "summary.csv", "comparisons.csv"]
    return [f"results/{RUN}/{name}" for name in names] if CONFIG.domains else []


def has_rankings():
    """Say whether there is enough to rank models by: a folder of scores, or domains and models of this run."""
    if TASKS:
        return len(TASKS) > 1 and len(TUNED_MODELS) > 2
    return CONFIG.scores is not None or (
        len(CONFIG.benchmark_domains) > 1 and len(CONFIG.models.scored) > 2
    )


def tunings(ending):
    """Return a file of every model with every task."""
    return [
        f"results/{RUN}/tuning/{task}/{model}{ending}"
        for model in TUNED_MODELS
        for task in TASKS
    ]


def rankings():
    """Return the tables of how far rankings agree."""
    return expand(f"results/{RUN}/ranking/{{name}}.csv", name=RANKING_TABLES)


def ranking_figures():
    """Return the figures of rankings, and the page of tables."""
    return [
        *expand(
            f"results/{RUN}/figures/ranking.{{figure}}.png",
            figure=[figure for some in RANKING_FIGURES.values() for figure in some],
        ),
        f"results/{RUN}/ranking/tables.md",
    ]


def finished():
    """Return what a whole run makes, but for the table of its time and memory."""
    return [
        *summaries(),
        *cards(),
        *exports(),
        *(changes() if CONFIG.domains else []),
        *rank_figures(),
        *([*rankings(), *ranking_figures()] if has_rankings() else []),
    ]


def write_report(workflow):
    """Write the Snakemake report of a whole run; say so, and go on, when it cannot be written."""
    path = f"results/{RUN}/report.html"
    if not all(
        Path(name).exists()
        for name in [
            *summaries(),
            f"results/{RUN}/resources.csv",
            *cards(),
            *rank_figures(),
            *(ranking_figures() if has_rankings() else []),
        ]
    ):
        return  # only some target was asked for
    files = [str(file) for file in workflow.overwrite_configfiles]
    values = [
        f"{key}={dump_json(value)}"
        for key, value in workflow.config_settings.config.items()
    ]
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        workflow.main_snakefile,
        "--report",
        path,
    ]
    command += ["--configfile", *files] if files else []
    command += ["--config", *values] if values else []
    done = subprocess.run([*command, "--nolock"], capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(
            f"The report could not be written to {path}:\n{done.stderr[-2000:]}\n"
        )
