"""What each variation does to a question, and to nothing else."""

from tests.answering.conftest import CAPITALS, make_item
from tests.answering.planted import STYLES

from fathom.answering.variations import AS_SHIPPED, list_variations, vary
from fathom.config.choices import Choices
from fathom.config.yaml_files import read_values

SETTINGS = Choices(factors=["examples", "options", "styles"])


def _items():
    items = [make_item(country) for country in CAPITALS]
    return [item._replace(examples=tuple(each for each in items if each != item)) for item in items]


def _vary(item, name: str, chat: bool = False, settings: Choices = SETTINGS):
    (variation,) = [each for each in list_variations(settings, chat, list(STYLES), 4) if each.name == name]
    return vary(item, variation, chat, STYLES, settings)


def test_the_papers_conditions_are_the_default():
    names = [each.name for each in list_variations(Choices(orders=False), False, list(STYLES), 4)]
    assert names == [AS_SHIPPED, *(f"examples-{letter}" for letter in "ABCD"),
                     *(f"examples-shuffled-{number}" for number in (1, 2, 3))]  # fmt: skip
    chat = [each.name for each in list_variations(Choices(orders=False), True, list(STYLES), 4)]
    assert chat == [AS_SHIPPED, *(f"options-shuffled-{number}" for number in (1, 2, 3)),
                    *(f"right-{letter}" for letter in "ABCD"), "style-minimal", "style-shouting"]  # fmt: skip


def test_right_options_of_examples_are_swapped_to_one_letter():
    for item in _items():
        asked = _vary(item, "examples-C")
        assert asked.order == (0, 1, 2, 3)
        assert asked.item.options == item.options
        assert [each.strip()[-1] for each in asked.prompt.examples] == ["C"] * 4
        for before, after in zip(item.examples, asked.item.examples, strict=True):
            moved = [place for place in range(4) if before.options[place] != after.options[place]]
            assert after.options[2] == CAPITALS[before.item_id]
            assert set(moved) in (set(), {2, before.right[0]}), "a swap of two"


def test_the_letter_of_all_examples_is_never_right_if_the_preset_says_so():
    published = read_values("config/papers/raw-corpora-choices.yaml")["choices"]
    settings = Choices(exchange_biased=published["exchange_biased"])
    places = set()
    for item in _items():
        for letter in "ABCD":
            kept, asked = (
                _vary(item, f"examples-{letter}"),
                _vary(item, f"examples-{letter}", settings=settings),
            )
            assert asked.item.right_letters != letter and asked.prompt.examples == kept.prompt.examples
            assert asked.item.options[asked.item.right[0]] == CAPITALS[item.item_id]
            assert [item.options[place] for place in asked.order] == list(asked.item.options)
            moved = [place for place in range(4) if asked.order[place] != place]
            assert len(moved) == (2 if item.right_letters == letter else 0), "two options are exchanged"
            places.update(asked.item.right)
    assert len(places) > 1


def test_shuffles_differ_and_are_the_same_again():
    item = _items()[0]
    orders = [_vary(item, f"options-shuffled-{number}", chat=True).order for number in (1, 2, 3)]
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    assert len(set(orders)) > 1
    assert orders == [_vary(item, f"options-shuffled-{number}", chat=True).order for number in (1, 2, 3)]
    examples = [_vary(item, f"examples-shuffled-{number}").prompt.examples for number in (1, 2, 3)]
    assert len({item.examples, *examples}) > 2


def test_the_right_option_moves_to_a_letter_and_orders_are_cyclic():
    for item in _items():
        asked = _vary(item, "right-D", chat=True)
        assert asked.item.right == (3,)
        assert asked.item.options[3] == CAPITALS[item.item_id]
        assert asked.prompt.examples == ()
        seen = [_vary(item, f"order-{number}").item.options for number in (1, 2, 3)]
        assert seen[0] == (*item.options[1:], item.options[0])
        assert {options.index(CAPITALS[item.item_id]) for options in (item.options, *seen)} == {0, 1, 2, 3}


def test_a_chat_is_asked_in_a_style_and_plain_text_with_examples():
    item = _items()[0]
    chat, plain = _vary(item, AS_SHIPPED, chat=True).prompt, _vary(item, AS_SHIPPED).prompt
    assert chat.render(chat=True).startswith("On geography:\nWhat is the capital of France?\nA. ")
    assert chat.system == "Reply with a letter."
    assert plain.render(chat=False).startswith(
        "The following are multiple choice questions (with answers) about"
    )
    assert plain.render(chat=False).count("Answer:") == 5
    style = _vary(item, "style-shouting").prompt.render(chat=False)
    assert style == f"ANSWER!\n\n{_vary(item, 'style-minimal').prompt.question}\nNOW!\nAnswer:"
