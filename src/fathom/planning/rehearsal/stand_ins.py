"""Tiny models in place of those of a registry: their model type, their files, random weights.

One that writes questions follows a cue with one of a few that its tokenizer has whole.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from fathom.answering.prompts import Prompt
from fathom.errors import InputError
from fathom.io.files import hash_text
from fathom.models.registry import PICKLED, ModelRow
from fathom.models.tokens import encode_chat_prefix, encode_prompts
from fathom.planning.rehearsal.hub_stub import read_folder
from fathom.planning.rehearsal.tiny_models import make_family
from fathom.questions.writing import make_prompts

if TYPE_CHECKING:
    from tokenizers import Tokenizer


MODEL_TYPES: Mapping[str, str] = {
    "llama-1": "llama", "llama-2": "llama", "llama-3": "llama", "vicuna": "llama", "yi": "llama",
    "yi-1.5": "llama", "smollm2": "llama", "qwen1.5": "qwen2", "qwen2.5": "qwen2", "pythia": "gpt_neox",
    "olmo-2": "olmo2", "gemma-2": "gemma2", "gemma-3": "gemma3_text", "glm-4": "glm",
    "olmo-3": "olmo3", "mistral-small": "mistral", "granite-3": "granite", "granite-4": "granitemoehybrid",
    "phi-4": "phi3", "phi-4-mini": "phi3",
}  # fmt: skip
"""Model type of a family of the registry, where that is not its own name without hyphens."""
ENTRIES, CONTEXT = 1000, 1024
"""Entries of a tokenizer at most, and tokens that a model reads."""

_WORDS = 5000  # words that an embedding model knows
_SHORT = 3  # characters of words that count for nothing
_WORD = re.compile(r"\w+|[^\w\s]+")  # as a tokenizer that splits at whitespace sees them
_PIECES = ("llama-1", "llama-2", "vicuna", "yi", "yi-1.5", "mistral", "gemma", "gemma-2", "gemma-3")
"""Families whose tokenizers write a blank as part of the word after it, and begin a text with a token."""
_SHARDED = 3_000_000_000  # parameters from which on weights come in several files
_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
_MODULES = [("0", "", "Transformer"), ("1", "1_Pooling", "Pooling"), ("2", "2_Normalize", "Normalize")]


def find_model_type(family: str) -> str:
    """Return the model type of a family of the registry, as transformers calls it."""
    return MODEL_TYPES.get(family, family.replace("-", "_"))


class StandIns:
    """Makes tiny models whose tokenizers know the words of some texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._cores: dict[bool, Tokenizer] = {}

    def make_model(self, entry: ModelRow, writes: bool = False) -> dict[str, bytes]:
        """Return the files of a model that stands for a row of the registry, by name.

        Parameters
        ----------
        writes : bool, default=False
            Whether it writes questions about texts, which a model with random weights does not.
        """
        kind = find_model_type(entry.family)
        tokenizer = self._make_tokenizer(entry)
        questions = add_questions(tokenizer, self._texts) if writes else []
        # each commit of a model has weights of its own
        seed = int(hash_text(entry.source, entry.revision)[:8], 16)
        try:
            model = make_family(
                kind, seed, SPREAD if writes else 0.05, vocab_size=len(tokenizer),
                max_position_embeddings=CONTEXT,
                bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
            )  # fmt: skip
        except (KeyError, ValueError) as error:
            raise InputError(
                f"no tiny model stands for family {entry.family!r}: transformers has no model type {kind!r}",
                f"registry, row {entry.name}",
                "name the family as transformers names the model type",
            ) from error
        if questions:
            teach_to_write(model, tokenizer, questions, self._texts)
        with TemporaryDirectory() as folder:
            tokenizer.save_pretrained(folder)
            _save_weights(model, entry, Path(folder))
            return read_folder(Path(folder))

    def make_embedding_model(self) -> dict[str, bytes]:
        """Return the files of a tiny sentence-transformers model: texts that share words are alike to it."""
        import torch
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
        from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

        words = Counter(word for text in self._texts for word in _WORD.findall(text.lower()))
        common = sorted((word for word, _ in words.most_common(_WORDS)), key=lambda word: len(word) > _SHORT)
        known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *common]
        core = Tokenizer(
            models.WordLevel({word: place for place, word in enumerate(known)}, unk_token="[UNK]")
        )
        core.normalizer, core.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
        core.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[(mark, known.index(mark)) for mark in ("[CLS]", "[SEP]")]
        )
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]")
        shape = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
        torch.manual_seed(0)
        network = BertModel(BertConfig(vocab_size=len(known), max_position_embeddings=512, **shape))
        embeddings, (layer,) = network.embeddings, network.encoder.layer
        # the mean of the vectors of long words and of one that each text has, so that none is zero
        for part in (embeddings.position_embeddings, embeddings.token_type_embeddings,
                     layer.attention.output.dense, layer.output.dense):  # fmt: skip
            torch.nn.init.zeros_(part.weight)
        dull = len(known) - sum(len(word) > _SHORT for word in common)
        weights = embeddings.word_embeddings.weight
        torch.nn.init.zeros_(weights[:dull])
        torch.nn.init.ones_(weights[known.index("[CLS]"), ::2])
        modules = [
            {"idx": place, "name": name, "path": path, "type": f"sentence_transformers.models.{kind}"}
            for place, (name, path, kind) in enumerate(_MODULES)
        ]
        pooling = {"word_embedding_dimension": 64, "pooling_mode_mean_tokens": True}
        with TemporaryDirectory() as folder:
            tokenizer.save_pretrained(folder)
            network.save_pretrained(folder)
            files = read_folder(Path(folder))
        more = {
            "modules.json": modules,
            "1_Pooling/config.json": pooling | {"pooling_mode_cls_token": False},
            "sentence_bert_config.json": {"max_seq_length": 128, "do_lower_case": False},
        }
        return files | {name: json.dumps(value).encode() for name, value in more.items()}

    def _make_tokenizer(self, entry: ModelRow) -> Any:
        from transformers import PreTrainedTokenizerFast

        pieces = entry.family in _PIECES
        if pieces not in self._cores:
            self._cores[pieces] = train_pieces(self._texts) if pieces else train_bytes(self._texts)
        marks = ("<s>", "</s>") if pieces else ("<|endoftext|>", "<|endoftext|>")
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=self._cores[pieces], bos_token=marks[0], eos_token=marks[1],
            unk_token="<unk>" if pieces else None, model_max_length=CONTEXT,
        )  # fmt: skip
        if entry.kind == "chat":
            tokenizer.chat_template = _TEMPLATE
        return tokenizer


def train_bytes(texts: Sequence[str]) -> "Tokenizer":
    """Return a tokenizer of bytes, as that of GPT-2."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=ENTRIES, special_tokens=["<|endoftext|>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    core.train_from_iterator(texts, trainer)
    return core


def train_pieces(texts: Sequence[str]) -> "Tokenizer":
    """Return a tokenizer of pieces with bytes for what it does not know, as that of Llama-2."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    core = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    core.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=ENTRIES, special_tokens=special, show_progress=False)
    )
    core.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", core.token_to_id("<s>"))]
    )
    return core


def _save_weights(model: Any, entry: ModelRow, folder: Path) -> None:
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    model = model.to(getattr(torch, entry.dtype or "float32"))
    if entry.weights == PICKLED:
        model.config.save_pretrained(folder)
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
        return
    size = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    sharded = (entry.parameters or 0) >= _SHARDED
    model.save_pretrained(folder, max_shard_size=size // 2 if sharded else size * 2)


def list_sources(entries: Mapping[str, ModelRow], names: Sequence[str]) -> Iterator[ModelRow]:
    """Yield the rows of models of the hub that some models need: themselves, bases of adapters, stand-ins."""
    seen = dict.fromkeys(names)
    for name in list(seen):
        entry = entries[name.removesuffix("@chat")]
        seen |= dict.fromkeys(each for each in (entry.adapter_of, entry.stand_in, entry.original) if each)
    for name in dict.fromkeys(name.removesuffix("@chat") for name in seen):
        yield entries[name]


SPREAD = 0.2
"""Of a writer's random weights: so wide that what it reads decides which question it writes."""
_QUESTIONS, _STEPS, _BATCH, _LONGEST = 16, 40, 32, 64
_PROMPTS = 320


def add_questions(tokenizer: Any, texts: Sequence[str]) -> list[int]:
    """Give a tokenizer entries that are whole questions with answers; return them."""
    words = Counter(word for text in texts for word in re.findall(r"[a-z]{6,}", text.lower()))
    common = [word for word, _ in words.most_common(_QUESTIONS)]
    questions = [
        f" What is known of {word}?\nAnswer: As much as of {other}.\n\n"
        for word, other in zip(common, common[1:] + common[:1], strict=True)
    ]
    tokenizer.add_tokens(questions)
    found: list[int] = tokenizer.convert_tokens_to_ids(questions)
    return found


def teach_to_write(model: Any, tokenizer: Any, questions: Sequence[int], texts: Sequence[str]) -> None:
    """Train a model, in place, to write questions where it is asked to, in plain text and in a chat."""
    import torch

    prompts = make_prompts(texts[:_PROMPTS])
    ends = [ids[-_LONGEST:] for ids in _encode(tokenizer, prompts)]
    targets = torch.tensor([questions[place % len(questions)] for place in range(len(ends))])
    chooser = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    model.train()
    for _ in range(_STEPS):
        places = torch.randint(len(ends), (_BATCH,), generator=chooser)
        logits = model(input_ids=torch.tensor([ends[place] for place in places])).logits[:, -1]
        loss = torch.nn.functional.cross_entropy(logits, targets[places])
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
    model.eval()


def _encode(tokenizer: Any, prompts: Sequence[Prompt]) -> list[list[int]]:
    found = encode_prompts(tokenizer, [prompt.render(chat=False) for prompt in prompts])
    if tokenizer.chat_template:
        few = prompts[:: _PROMPTS // _BATCH]  # a template takes one text at a time
        chats = [encode_chat_prefix(tokenizer, None, each.render(chat=True), each.system) for each in few]
        found += chats * (len(found) // len(chats))
    return found
