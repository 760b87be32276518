"""Hold the memory that a step is calculated to take against what it allocates on fake tensors of real shapes.

Fake tensors have shapes but no bytes, so a 70B model costs nothing. Steps are those of the programs, by the
same functions of the library where these do not look at values. Layers are alike: each phase of a step is
measured at two and three layers, and continued to the model's number. Prints a table for docs/results/gpu.md
with GB that are allocated and calculated, and the GPUs of 80 GB that this needs.
"""

import argparse
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    LlamaConfig,
    Olmo2Config,
    PretrainedConfig,
    Qwen2Config,
)

from fathom.config.tuning import Lora
from fathom.jobs.program import run_program
from fathom.layers.projection import Translators, diverge
from fathom.models.adapters import add_adapter
from fathom.models.memory import (
    GB,
    Memory,
    Training,
    count_needed_gpus,
    measure_layers,
    measure_lens,
    measure_scoring,
    measure_training,
)
from fathom.models.shapes import Shape, parse_shape
from fathom.models.training import sum_losses
from fathom.scoring.logits import Float32OutputLayer, count_rows

CARD = 80 * GB
DIVIDED = ("scoring", "layers")  # steps that can spread a model over several GPUs
POSITIONS = 256
CONFIGS: dict[str, Callable[[int], PretrainedConfig]] = {
    "GPT-2 XL": lambda layers: GPT2Config(
        n_embd=1600, n_layer=layers, n_head=25, attn_pdrop=0, resid_pdrop=0, embd_pdrop=0
    ),
    "Llama-2-7B": lambda layers: LlamaConfig(num_hidden_layers=layers, max_position_embeddings=4096),
    "OLMo-2-7B": lambda layers: Olmo2Config(
        num_hidden_layers=layers, vocab_size=100352, max_position_embeddings=4096
    ),
    "Qwen2.5-14B": lambda layers: Qwen2Config(
        num_hidden_layers=layers, hidden_size=5120, intermediate_size=13824, num_attention_heads=40,
        num_key_value_heads=8, vocab_size=152064, tie_word_embeddings=False,
    ),
    "Llama-2-70B": lambda layers: LlamaConfig(
        num_hidden_layers=layers, hidden_size=8192, intermediate_size=28672, num_attention_heads=64,
        num_key_value_heads=8, max_position_embeddings=4096,
    ),
}  # fmt: skip
LAYERS = {"GPT-2 XL": 48, "Llama-2-7B": 32, "OLMo-2-7B": 32, "Qwen2.5-14B": 48, "Llama-2-70B": 80}


class Tracker(TorchDispatchMode):
    """Counts the bytes of tensors that are alive, each storage once, and the most of them in each phase."""

    def __init__(self, tensors: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self._known: Any = weakref.WeakKeyDictionary()
        self._live = 0
        self.peaks: dict[str, int] = {}
        self.phase = ""
        for tensor in tensors:
            self._add(tensor)

    def _add(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        if storage not in self._known:
            size = storage.nbytes()
            self._known[storage] = True
            self._live += size
            weakref.finalize(storage, self._remove, size)
        if self.phase:
            self.peaks[self.phase] = max(self.peaks.get(self.phase, 0), self._live)

    def _remove(self, size: int) -> None:
        self._live -= size

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
        result = function(*arguments, **(named or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self._add(leaf)
        return result


@contextmanager
def cast_as_on_gpu() -> Iterator[None]:
    """Let autocast cast to float32 what it does on a GPU alone: powers, as in GPT-2's GELU."""

    def widen(function: Any) -> Any:
        def run(value: Any, *others: Any, **named: Any) -> Any:
            low = torch.is_autocast_enabled("cpu") and value.dtype == torch.bfloat16
            return function(value.float() if low else value, *others, **named)

        return run

    with ExitStack() as stack:
        for name in ("pow", "exp", "log", "rsqrt", "reciprocal"):
            for place in (torch, torch.Tensor):
                stack.enter_context(patch.object(place, name, widen(getattr(place, name))))
        yield


@contextmanager
def fake_model(config: PretrainedConfig, dtype: str, rank: int = 0) -> Iterator[Any]:
    """Give a model of fake tensors, with an adapter if it has a rank."""
    with FakeTensorMode():
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config, dtype=getattr(torch, dtype))
            if rank:
                add_adapter(model, Lora(rank=rank))
        made: dict[int, torch.Tensor] = {}
        for module in model.modules():
            for tensors in (module._parameters, module._buffers, vars(module)):
                for name, tensor in list(tensors.items()):
                    if isinstance(tensor, torch.Tensor):
                        tensors[name] = made.setdefault(id(tensor), _imitate(tensor))
        yield model


def _imitate(tensor: torch.Tensor) -> torch.Tensor:
    """Return a fake tensor of the same shape on the CPU."""
    empty = torch.empty(tensor.shape, dtype=tensor.dtype)
    return (
        torch.nn.Parameter(empty, tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter) else empty
    )


def list_tensors(model: Any) -> list[torch.Tensor]:
    """Return the weights and buffers of a model."""
    return [*model.parameters(), *model.buffers()]


def track_scoring(config: PretrainedConfig, dtype: str, tokens: int, layers: bool = False) -> dict[str, int]:
    """Return the peak of scoring a batch of one sequence, and of reading all its layers if asked for."""
    with fake_model(config, dtype) as model, torch.no_grad():
        model.eval()
        ids = torch.zeros(1, tokens, dtype=torch.long)
        with Tracker(list_tensors(model)) as tracker:
            tracker.phase = "check"
            model(input_ids=ids, use_cache=False)
            tracker.phase = "forward"
            output_layer: Any = Float32OutputLayer(model)
            n_layers = model.config.num_hidden_layers
            width = output_layer.weight.shape[1]
            if layers:
                kept = torch.empty(n_layers + 1, tokens, width, dtype=model.dtype)
                lens = torch.empty(n_layers, width, width)
            places = (torch.zeros(tokens, dtype=torch.long), torch.arange(tokens))
            hidden = output_layer.run(ids, None, places)
            tracker.phase = "logits"
            for rows in hidden.split(count_rows(output_layer.entries, "cuda")):
                logits = output_layer.to_logits(rows)
                own = logits[:, :1]
                (logits > own).sum(1)
                logits.sub_(logits.amax(1, keepdim=True)).exp_().sum(1)
                del logits, own
            if layers:
                del kept, lens
        return tracker.peaks


def track_lens(config: PretrainedConfig, dtype: str, tokens: int) -> dict[str, int]:
    """Return the peak of a step of training the tuned lens."""
    with fake_model(config, dtype) as model:
        model.requires_grad_(False)
        layers, output_layer = model.config.num_hidden_layers, Float32OutputLayer(model)
        width = output_layer.weight.shape[1]
        matrices = [torch.zeros(layers, width, width), torch.zeros(layers, width)]
        parameters = [each.requires_grad_() for each in matrices]
        optimizer = torch.optim.Adam(parameters)
        translators = Translators(*matrices)
        with Tracker([*list_tensors(model), output_layer.weight, *matrices]) as tracker:
            for phase in ("", "step"):
                tracker.phase = phase
                states = torch.empty(layers + 1, POSITIONS, width, dtype=model.dtype)
                last = output_layer.to_logits(states[-1]).log_softmax(1)
                for layer in range(layers):
                    diverge(
                        last, output_layer.to_logits(translators.apply(states[layer], layer))
                    ).mean().backward()
                torch.nn.utils.clip_grad_norm_(parameters, 1.0)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
        return tracker.peaks


def track_training(config: PretrainedConfig, how: Training, sequence: int = 512) -> dict[str, int]:
    """Return the peaks of a step of training: up to the gradient of the last hidden state, and after it."""
    with fake_model(config, how.dtype, how.rank) as model:
        model.train()
        if how.checkpointing:
            model.gradient_checkpointing_enable({"use_reentrant": False})
            model.get_input_embeddings().register_forward_hook(lambda *run: run[-1].requires_grad_())
        parameters = [each for each in model.parameters() if each.requires_grad]
        optimizer = torch.optim.AdamW(parameters, fused=True)
        ids = torch.zeros(how.tokens // sequence, sequence, dtype=torch.long)
        with Tracker(list_tensors(model)) as tracker, cast_as_on_gpu():

            def leave_loss(gradient: torch.Tensor) -> None:
                tracker.phase = tracker.phase and "blocks"

            model.base_model.register_forward_hook(
                lambda *run: run[-1].last_hidden_state.register_hook(leave_loss) and None
            )
            for phase in ("", "loss"):
                tracker.phase = phase
                with torch.autocast("cpu", torch.bfloat16) if how.autocast else nullcontext():
                    loss = sum_losses(model, ids) / (ids.numel() - len(ids))
                loss.backward()
                del loss
                tracker.phase = tracker.phase and "step"
                torch.nn.utils.clip_grad_norm_(parameters, 1.0)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
        return tracker.peaks


def continue_layers(track: Callable[[int], dict[str, int]], layers: int) -> float:
    """Return the peak of a step at a number of layers, from what it is at two and three."""
    two, three = track(2), track(3)
    return max(value + (three[phase] - value) * (layers - 2) for phase, value in two.items())


def list_cases(config: Callable[[int], PretrainedConfig], shape: Shape) -> Iterator[tuple[str, Any, Memory]]:
    """Yield each step's name, what tracks it at a number of layers, and the calculation."""
    for dtype in ("float32", "bfloat16"):
        for tokens in (1024, 8192):
            yield (
                f"scoring, {tokens:,} tokens, {dtype}",
                lambda n, dtype=dtype, tokens=tokens: track_scoring(config(n), dtype, tokens),
                measure_scoring(shape, dtype, tokens, tokens),
            )
    yield (
        "layers, 1,024 tokens, bfloat16",
        lambda n: track_scoring(config(n), "bfloat16", 1024, layers=True),
        measure_layers(shape, "bfloat16", 1024, 1024),
    )
    yield (
        "tuned lens, bfloat16",
        lambda n: track_lens(config(n), "bfloat16", 1024),
        measure_lens(shape, "bfloat16", 1024, POSITIONS),
    )
    for name, how in (
        ("tuning by LoRA, 8,192 tokens, bfloat16", Training(8192, "bfloat16", rank=8)),
        ("the same, blocks run again", Training(8192, "bfloat16", False, True, 8)),
        ("adaptation, 8,192 tokens, float32", Training(8192)),
        ("the same, autocast", Training(8192, autocast=True)),
        ("the same, autocast, blocks run again", Training(8192, "float32", True, True)),
        ("adaptation by LoRA, autocast, blocks run again", Training(8192, "bfloat16", True, True, 8)),
    ):
        yield name, lambda n, how=how: track_training(config(n), how), measure_training(shape, how)


def main(arguments: argparse.Namespace) -> None:
    """Print a line for each model and step; fail if a calculation is off by more than 20 %."""
    print("| model | step | allocated GB | calculated GB | GPUs of 80 GB |\n|---|---|---|---|---|")
    wrong = []
    for name in arguments.models:
        config = CONFIGS[name](LAYERS[name])
        shape = parse_shape(config.to_dict())
        for step, track, memory in list_cases(CONFIGS[name], shape):
            if not any(word in step for word in arguments.only):
                continue
            peak = continue_layers(track, LAYERS[name])
            gpus = count_needed_gpus(memory, CARD)
            if not gpus or (gpus > 1 and not step.startswith(DIVIDED)):
                gpus = "more than 80 GB on one"
            print(f"| {name} | {step} | {peak / GB:.1f} | {memory.total / GB:.1f} | {gpus} |", flush=True)
            if abs(memory.total / peak - 1) > 0.2:
                wrong.append(f"{name}, {step}: {memory.total / peak - 1:+.0%}")
    if wrong:
        raise RuntimeError("; ".join(wrong))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="*", default=list(CONFIGS), help="names of the models to measure")
    parser.add_argument("--only", nargs="*", default=[""], help="steps whose name contains one of these")
    run_program(parser, main)
