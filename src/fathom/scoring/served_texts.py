"""Log-probabilities of the tokens of documents from a server, by the windows that a model here reads."""

from collections.abc import Sequence

from fathom.config.scoring import Perplexity
from fathom.errors import InputError
from fathom.jobs.resume import Resume
from fathom.models.served import Maker, ServedModel
from fathom.models.served_answers import Question
from fathom.models.tokens import Document
from fathom.scoring.perplexity import Cut, Windows, cut_documents, fill_nats, limit_windows
from fathom.scoring.served_ranks import ask_all, find_top_k, make_speller


def refuse_texts(model: ServedModel) -> None:
    """Raise `InputError` if a server gives nothing of a prompt's own tokens."""
    if model.statement.maker == Maker.LLAMACPP:
        raise InputError(
            "llama.cpp's server gives log-probabilities of what follows a prompt, and none of its own tokens",
            model.pointer.server,
            "name its GGUF file in the server's place, which is measured here; or serve the model with vLLM",
        )


def limit_served_windows(model: ServedModel, settings: Perplexity) -> Windows:
    """Return window and stride for a server, which reads the last token of a window, too, and writes one."""
    refuse_texts(model)
    context = model.statement.context
    if context is not None and context < 3:
        raise InputError(f"the server takes {context} tokens", model.pointer.server, "start it with more")
    return limit_windows(None if context is None else context - 2, settings)


def score_served_tokens(
    model: ServedModel,
    documents: Sequence[Document],
    doc_ids: Sequence[str],
    windows: Windows,
    resume: Resume | None = None,
) -> list[list[float]]:
    """Return what :func:`fathom.scoring.perplexity.score_tokens` does, from a server.

    vLLM is asked for `prompt_logprobs`, another server for an echo of the prompt with `logprobs`.
    """
    cuts = cut_documents(documents, doc_ids, windows)
    prompts = [(*cut.window.ids, cut.window.targets[-1][1]) for cut in cuts]
    top_k = find_top_k(model)
    spell = make_speller(model, prompts) if top_k else lambda _: ()
    questions = [
        Question(prompt, _find_places(cut), f"document {doc_ids[cut.row]!r}", spell(prompt))
        for prompt, cut in zip(prompts, cuts, strict=True)
    ]
    readings = ask_all(model, questions, top_k, resume)
    found = ((cut, each.log_probability) for cut, each in zip(cuts, readings, strict=True) if each)
    return fill_nats(documents, doc_ids, found, model.pointer.name)


def _find_places(cut: Cut) -> tuple[int, ...]:
    return tuple(place + 1 for place, _ in cut.window.targets)
