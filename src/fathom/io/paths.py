"""Where the files of a run lie: the one list of all paths below `results/{run}/`.

Rules, programs, readers and the documentation take paths from here. A path says what its file belongs to:
that of a table of scores names domain, variant and model, so programs learn them from it.
"""

from pathlib import PurePath

from fathom.io.run_path import RunPath

# the run

PAGE = RunPath("index.html", "the page: start here; the answer, and every pair behind it, in one file")
CONTENTS = RunPath("contents.json", "hashes of the files that the page was made from, which readers check")
SUMMARY = RunPath("summary.csv", "every metric of every model on every benchmark, with intervals")
COMPARISONS = RunPath("comparisons.csv", "every two models: who is ahead, how far, and how surely")
GROUPS = RunPath("groups.csv", "models in order, with letters for those that do not differ significantly")
CORRELATIONS = RunPath("correlations.csv", "how far benchmarks and metrics agree on the order of models")
REFERENCES = RunPath("references.csv", "every model on references that do not lead")
DATES = RunPath("dates.csv", "ranks on pairs before and after the last day of a model's training text")
RESOURCES = RunPath("resources.csv", "time and memory of the run by rule")
CHANGES = RunPath("changes.md", "what changed since the run that `previous` names")
CHANGES_TABLE = RunPath("changes.csv", "the same as a table, by domain")
KEYWORD_CHANGES = RunPath("keyword_changes.csv", "keywords that are new or gone")
FIGURE = RunPath("figures/{figure}.png", "a figure; beside it the same as PDF, and its numbers as CSV")
EXAMPLES = RunPath("examples/tables.md", "keywords, targets, tokens and pairs of all domains to read")
EXAMPLE_TABLE = RunPath("examples/{table}.csv", "one of the tables in tables.md")

# corpus

METADATA = RunPath("corpus/metadata.parquet", "records of an arXiv dump's metadata")
DOCUMENTS = RunPath("corpus/documents/{part}.parquet", "documents of one part of the corpus")
KEPT_FILES = RunPath("corpus/files/{part}.jsonl.gz", "what was read of a folder's files, by content")
SKETCHES = RunPath("corpus/sketches/{part}.parquet", "hashes that find documents which share text")
SPLITS = RunPath("corpus/splits.parquet", "groups of documents that share text, and their split")
INDEX = RunPath("corpus/index.parquet", "one row for each document")
JOIN_REPORT = RunPath("corpus/join_report.json", "what was read, matched, left out")
PIPELINE = RunPath("corpus/pipeline", "the spaCy pipeline that splits sentences, if it was fetched")
EMBEDDER = RunPath("corpus/embedder.json", "the embedding model, if it was fetched: id, commit, hash")
SENTENCES = RunPath("corpus/sentences/{slice}.parquet", "sentences of a slice of the documents")
SENTENCE_COUNTS = RunPath("corpus/sentence_counts/{slice}.parquet", "how many sentences each document has")
DRAWN = RunPath("corpus/drawn.parquet", "with sentences.limit, the documents that were drawn")
EMBEDDINGS = RunPath("corpus/embeddings/{slice}.npy", "embeddings of the sentences of a slice")
NAMED = RunPath("corpus/named/{slice}.parquet", "with matches.named, sentences that name a keyword")
NAMED_EMBEDDINGS = RunPath("corpus/named_embeddings/{slice}.npy", "embeddings of these sentences")
TEXTS = RunPath("corpus/texts/{domain}.parquet", "text of a domain that models learn from")
TRAINING_TEXTS = RunPath("corpus/training/{domain}.parquet", "the same, from elsewhere (`models.texts`)")
HELD_OUT_TEXTS = RunPath(
    "corpus/held-out/{domain}.parquet", "held-out text of a domain, from elsewhere (`perplexity.texts`)"
)

# benchmark

KEYWORDS = RunPath("{domain}/keywords.tsv", "keywords; beside it keywords.json, counts of each step")
KEYWORD_VECTORS = RunPath("{domain}/keywords.npy", "embeddings of the keywords")
MATCHES = RunPath("{domain}/matches/{slice}.parquet", "sentences of a slice that match keywords")
MATCHED = RunPath("{domain}/sentences.parquet", "matched sentences by keyword")
HELD_OUT_OVERLAP = RunPath(
    "{domain}/held-out.overlap.parquet", "held-out text that occurs in training text; beside it counts"
)
SENTENCE_OVERLAP = RunPath(
    "{domain}/sentences.overlap.parquet", "matched sentences that occur in training text"
)
CHANGED_TEXTS = RunPath(
    "{domain}/texts/{text}.parquet", "a domain's text with its terms exchanged, or another control of it"
)
ASSOCIATIONS = RunPath("{domain}/associations.parquet", "terms that belong to the words before them")
VOCABULARY = RunPath("{domain}/benchmark/{variant}/vocabulary.tsv", "targets by keyword")
PAIRS = RunPath("{domain}/benchmark/{variant}/pairs.parquet", "the benchmark: prompts and targets")
PAIR_LINES = RunPath("{domain}/benchmark/{variant}/pairs.jsonl", "the same as JSON lines")
OVERLAP = RunPath("{domain}/benchmark/{variant}/overlap.parquet", "pairs that occur in training text")
CARD = RunPath("{domain}/benchmark/{variant}/README.md", "the benchmark's card")
CROISSANT = RunPath("{domain}/benchmark/{variant}/croissant.json", "its metadata for catalogues of data sets")
MANIFEST = RunPath("{domain}/benchmark/{variant}/manifest.json", "how the benchmark was made")
TASK = RunPath("{domain}/benchmark/{variant}/lm-eval", "the benchmark as a task of other programs")

# coverage

COVERAGE = RunPath("{domain}/benchmark/{variant}/coverage.json", "how far a benchmark covers its domain")
COVERAGE_MAP = RunPath("{domain}/benchmark/{variant}/coverage.parquet", "sentences on a map, by coverage")
EXPANSION = RunPath("{domain}/coverage/expansion.parquet", "documents of a corpus that holds nothing twice")
EXPANSION_MAP = RunPath("{domain}/coverage/expansion-map.parquet", "its sentences on a map")
OTHERS_MAP = RunPath("{domain}/coverage/others.parquet", "benchmarks that others made, on one map")
THRESHOLDS = RunPath("{domain}/coverage/correlations.csv", "expansions with several thresholds")

# models

MODELS = RunPath(
    "models.tsv", "with models named by id, path or address: the table of models, with their rows, pinned"
)
POINTER = RunPath("models/{model}/model.json", "where a model's weights lie, and their fingerprint")
TOKENIZER = RunPath("models/{model}/tokenizer", "the tokenizer of a model that is trained here")
WEIGHTS = RunPath("models/{model}/weights", "the weights of a model that is trained here")
CURVE = RunPath("models/{model}/training.csv", "loss over the steps of a training")
CHECKPOINTS = RunPath("models/{model}/checkpoints", "checkpoints that are followed, until they are scored")

# scores

SCORES = RunPath("{domain}/scores/{variant}/{model}.parquet", "rank and probability of every pair")
PERPLEXITY = RunPath("{domain}/scores/perplexity/{model}.parquet", "likelihood of held-out documents")
RATES = RunPath("{domain}/scores/attribute-rate/{model}.parquet", "attribute rate by keyword")
TOKEN_LISTS = RunPath("{domain}/scores/attribute-rate/{model}.token-lists.parquet", "tokens of keywords")

# studies of training

FOLLOWING = RunPath("following/following.parquet", "metrics of models over their training")
FOLLOWED_MODELS = RunPath("following/checkpoints.csv", "models that are followed")
RELATIONS = RunPath("following/{track}.relations.csv", "metrics after stages of continual pretraining")
CONTROLS = RunPath("following/controls.csv", "knowledge or style: gains by controls of the text")
CONTROL_CONTRASTS = RunPath("following/control-contrasts.csv", "differences between controls")
CONTROL_SHARES = RunPath(
    "following/control-shares.csv", "differences between metrics in what controls keep of the gain"
)
CLAIMS = RunPath("following/claims.csv", "the papers' claims, one by one")
CLAIM_CORRELATIONS = RunPath("following/claim-correlations.csv", "correlations behind the claims")
CLAIM_MODELS = RunPath("following/claim-models.csv", "metrics of the models behind the claims")
TARGET_CHANGES = RunPath("{domain}/targets/changes.parquet", "targets that adapted models predict better")
TARGET_GROUPS = RunPath("{domain}/targets/target-groups.csv", "best and worst targets by similarity")
BEST_AND_WORST = RunPath("{domain}/targets/best-and-worst.csv", "best and worst targets to read")
ORDER = RunPath("orders/{study}.parquet", "domains by similarity to the evaluation domain")
ORDER_KEYS = RunPath("orders/{study}.yaml", "the same as configuration")
MEAN_VECTORS = RunPath("orders/means/{domain}.{abstracts}.npy", "mean embedding of a domain's abstracts")

# layers

LAYER_TOKENS = RunPath("{domain}/layers/{model}.tokens.parquet", "most likely tokens by layer")
LAYER_RATES = RunPath("{domain}/layers/{model}.rates.parquet", "attribute rates by layer")
LAYER_LISTS = RunPath("{domain}/layers/{model}.token-lists.parquet", "tokens of keywords")
LAYER_TARGETS = RunPath("{domain}/layers/{model}.targets.parquet", "ranks of targets by layer")
LAYER_EXAMPLES = RunPath("{domain}/layers/{model}.examples.tsv", "most likely tokens to read")
LENS = RunPath("{domain}/layers/{model}.lens.safetensors", "tuned lenses")
LAYERS = RunPath("{domain}/layers/layers.csv", "rates and ranks by layer, with intervals")
LAYER_CHANGES = RunPath("{domain}/layers/layer-changes.csv", "what adaptation changes by layer")
LAYER_ONSETS = RunPath("{domain}/layers/layer-onsets.csv", "the layer at which a change begins")

# tuning and rankings

TASK_EXAMPLES = RunPath("tuning/examples/{task}.parquet", "examples of a task")
TUNED = RunPath("tuning/{task}/{model}.parquet", "scores of a model before and after it is tuned for a task")
PREPARED = RunPath("tuning/preparations/{preparation}/{task}/{model}.parquet", "the same, tuned shorter")
TUNING = RunPath("tuning.csv", "every model before and after tuning, by task")
TUNED_SCORES = RunPath("tuning/scores", "the same as a folder of scores, by condition")
RANKED_SCORES = RunPath("ranking/scores.parquet", "scores of models by benchmarks that are ranked")
RANKED_PAIRS = RunPath("ranking/paired.parquet", "paired tests between models")
RANKED_MODELS = RunPath("ranking/models.csv", "the models that are ranked")
RANKED_BENCHMARKS = RunPath("ranking/benchmarks.csv", "the benchmarks that rank them")
RANKING = RunPath("ranking/{table}.csv", "how far rankings agree: agreement.csv first")
RANKING_PAGE = RunPath("ranking/tables.md", "tables of what was ranked, to read")

# questions

ONTOLOGY = RunPath("questions/{set}/ontology.nt", "what records say, as triples")
ENTITIES = RunPath("questions/{set}/entities.parquet", "what questions can be about")
CHUNKS = RunPath("questions/{set}/chunks.parquet", "records as text")
CHUNK_VECTORS = RunPath("questions/{set}/chunks.npy", "embeddings of the records")
QUESTIONS = RunPath("questions/{set}/questions.parquet", "questions; beside it questions.json")
QUESTION_VECTORS = RunPath("questions/{set}/questions.npy", "embeddings of the questions")
PERCENTILES = RunPath(
    "questions/{set}/percentiles.csv", "how many questions other t_d give, and what gaps they leave"
)
PERCENTILE_MAP = RunPath("questions/{set}/percentiles-map.parquet", "their questions on a map")
PERCENTILE_QUESTIONS = RunPath("questions/{set}/percentiles-questions.parquet", "questions with every t_d")
PERCENTILE_VECTORS = RunPath("questions/{set}/percentiles-questions.npy", "embeddings of these questions")
RECORD_CORPORA = RunPath("questions/{set}/correlations-records.parquet", "records that each t_c keeps")
PROOF = RunPath("questions/{set}/proof.json", "what was proved of the answers")
QUESTION_TASKS = RunPath("questions/{set}/lm-eval", "the questions as tasks of other programs")
QUESTION_TEXTS = RunPath("questions/{set}/texts/{kind}.parquet", "records or questions as training text")
WRITTEN = RunPath("questions/{set}/written.jsonl", "open questions that a model wrote")
WRITTEN_FAULTS = RunPath("questions/{set}/written-faults.csv", "what was wrong with others that it wrote")
QUESTION_ANSWERS = RunPath("questions/{set}/answers/{model}.parquet", "answers of a model")
QUESTION_SCORES = RunPath("question-scores.csv", "scores of models on questions")
QUESTION_THRESHOLDS = RunPath("question-thresholds.csv", "scores of models with each threshold")
QUESTION_DIFFERENCES = RunPath("question-differences.csv", "paired differences between models")
SIZES = RunPath("sizes.csv", "sizes and redundancy of corpora and questions")

# multiple choice

CHOICE_QUESTIONS = RunPath("choices/questions/{questions}.parquet", "multiple-choice questions")
CHOICE_ANSWERS = RunPath("choices/answers/{questions}/{model}.parquet", "answers in all variations")
CHOICES = RunPath("choices/{table}.csv", "accuracy, orders of options, rankings and diagnosis")

ALL = {name: each for name, each in list(globals().items()) if isinstance(each, RunPath)}
"""All templates by name, in the order of the file."""


def find_named_folder(weights: PurePath) -> PurePath:
    """Return the folder that has a model's name: the one above `weights`, as in a run, else the same."""
    return weights.parent if weights.name == PurePath(WEIGHTS).name and weights.parent.name else weights
