"""A tiny model that writes questions: it follows a cue with one of a few that its tokenizer has whole."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from fathom.answering.prompts import Prompt
from fathom.models.tokens import encode_chat_prefix, encode_prompts
from fathom.questions.writing import make_prompts

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
