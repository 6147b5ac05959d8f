"""Counting of habits of unclear prose."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.prose import LIMITS, areas, density, matches, rust_comments, rust_messages, texts


@pytest.mark.parametrize(
    ("text", "habit"),
    [
        ("Returns what is sent.", "clause as a noun"),
        ("Whoever asks first", "person for software"),
        ("after so many rounds", "degree without measure"),
        ("Nothing, where it has none", "where for if"),
        ("the channel on which it came", "preposition before which"),
        ("The receiver is told of it", "speech of software"),
        ("There is no room", "is no"),
        ("The same of answers", "sentence by reference"),
    ],
)
def test_a_habit_is_counted_once(text: str, habit: str) -> None:
    assert [match.habit for match in matches(text)] == [habit]


@pytest.mark.parametrize(
    "text",
    [
        "Returns the packets in flight.",
        "so long as the link is up",
        "Sends the same packet on both channels.",
        "Folder where runs are kept",
        "Has no effect without a window.",
    ],
)
def test_plain_sentences_have_no_habits(text: str) -> None:
    assert not list(matches(text))


def test_density_is_per_thousand_words(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    # Two habits in eight words, and one in a block of code.
    page.write_text("What is sent, and who sends it now.\n\n```text\nwho asks\n```\n")
    assert density(texts(page)) == pytest.approx(1000 * 2 / 8)
    assert density([]) == 0


def test_comments_and_messages_of_rust_are_apart(tmp_path: Path) -> None:
    file = tmp_path / "file.rs"
    file.write_text(
        "/// Returns the length,\n/// in bytes.\nfn f() {\n"
        '    let _ = "a message of more than 25 characters \\\n             over two lines";\n'
        '    x.expect("an invariant that only developers read");\n}\n'
    )
    assert [(one.line, one.text) for one in rust_comments(file)] == [
        (1, "Returns the length, in bytes.")
    ]
    assert [one.text for one in rust_messages(file)] == [
        "a message of more than 25 characters over two lines"
    ]


def test_each_area_has_a_limit() -> None:
    limits = tomllib.loads(LIMITS.read_text())["limits"]
    assert set(limits) == {name for name, _ in areas()}
