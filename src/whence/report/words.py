"""What the words mean that a reader may not know, a sentence each."""

from __future__ import annotations

import re

from whence.report.html import Html, fill, join

WORDS = {
    "alpha": "How strictly the expert goes for the best: 0 is blind chance, and at a large one it "
    "never takes an action that is worth less.",
    "lapse": "The share of actions that the expert takes blindly, whatever they are worth.",
    "kind of expert": "A Boltzmann expert knows the best plan and errs while following it; a soft "
    "one plans with its own errors in mind, and keeps to where an error costs little.",
    "discount": "What a reward is worth a step later, as a share of what it is worth now.",
    "label sequence": "The labels of the states that were entered, in their order, blanks left "
    "out: all that a machine knows of an episode.",
    "nat": "The unit of logarithms to the base e: 3 nats more are odds of 20 to 1.",
    "ladder": "An independent sampler of machines; where two of them agree, chance is no longer "
    "what decides.",
    "plan": "The labels that an agent heads for, in their order, if a machine pays it.",
}
_KNOWN = re.compile(r"\b(alpha|lapse|discount)\b")


def words() -> Html:
    """Return the list of words."""
    rows = (
        fill(
            '<dt id="word-{anchor}">{word}</dt><dd>{text}</dd>',
            anchor=anchor_of(word),
            word=word,
            text=text,
        )
        for word, text in WORDS.items()
    )
    return fill('<h3 id="words">Words</h3><dl class="words">{all}</dl>', all=join(rows))


def word(shown: str, name: str) -> Html:
    """Return a text that leads to what a word means."""
    return fill('<a href="#word-{anchor}">{shown}</a>', anchor=anchor_of(name), shown=shown)


def explained(text: str) -> Html:
    """Return a text in which the words that are explained lead there."""
    parts = _KNOWN.split(text)
    return join(word(part, part) if at % 2 else part for at, part in enumerate(parts))


def anchor_of(name: str) -> str:
    """Return the name of the place where a word is explained."""
    assert name in WORDS
    return name.replace(" ", "-")
