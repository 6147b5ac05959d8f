"""What counts as a long sentence of a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sentences import WORDS_MAX, Long, long_sentences, main


def words(count: int, last: str = "end.") -> str:
    return " ".join(["Word", *["word"] * (count - 2), last])


def found(page: str) -> list[Long]:
    return list(long_sentences(page))


def test_as_many_words_as_may_be_are_not_too_many() -> None:
    assert not found(words(WORDS_MAX))
    assert [(long.line, long.words) for long in found(words(WORDS_MAX + 1))] == [(1, WORDS_MAX + 1)]


def test_the_line_is_that_on_which_the_sentence_begins() -> None:
    page = f"# Heading\n\nShort.\n{words(20, 'more')}\n{words(20)} Short.\n"
    assert [(long.line, long.words) for long in found(page)] == [(4, 40)]


@pytest.mark.parametrize(
    "page",
    [
        f"{words(30)} {words(30)}",
        f"{words(30, '(end.)')} {words(30)}",
        f"{words(30)} `code` {words(30)}",
        f"{words(30, 'end?')} *{words(30)}*",
        f"- {words(30, 'end')}\n- {words(30)}",
        f"{words(30, 'here:')}\n\n1. {words(30)}",
        f"| {words(30)} | {words(30)} |\n|---|---|\n| {words(30)} | {words(30)} |",
        f"```sh\n{words(60)}\n```",
        f"<!-- {words(60)} -->",
        f"`{words(60)}` is code",
        f"${words(60)}$ is a formula",
    ],
)
def test_these_are_no_long_sentences(page: str) -> None:
    assert not found(page)


@pytest.mark.parametrize(
    "page",
    [
        words(30, "et al.") + " 2002 " + words(30),
        words(30, "e.g.") + " " + words(30),
        words(30, "No.") + " 7 " + words(30),
        words(30, "approx.") + " word " + words(30),
        words(30, "0.5") + " " + words(30),
        words(30, "end;") + " " + words(30),
        "a [link](somewhere) " + words(40),
        f"- item\n\n  {words(40)}",
        f"> {words(40)}",
    ],
)
def test_these_are_one_sentence(page: str) -> None:
    assert len(found(page)) == 1


def test_it_names_file_line_and_how_it_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"Short.\n\n{words(40)}\n")
    assert main([str(page)]) == 1
    assert capsys.readouterr().out == (
        f"{page}:3: 40 words, at most 35: Word word word word word word word word ...\n"
    )
    page.write_text("Short.\n")
    assert main([str(page)]) == 0
