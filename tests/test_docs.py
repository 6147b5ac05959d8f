"""The examples of all pages work as printed."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

from gingham import examples
from tests import pages

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    str(path.relative_to(ROOT)) for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
)
# Number of blocks that tests cannot run, by page; each states the reason.
SKIPPED = {
    "README.md": 2,
    "docs/concepts/routers.md": 2,
    "docs/concepts/striping-daemon.md": 1,
    "docs/how-to/cluster-dump.md": 1,
    "docs/how-to/cluster.md": 3,
    "docs/how-to/editors.md": 2,
    "docs/how-to/emulate-a-link.md": 5,
    "docs/how-to/jobs.md": 1,
    "docs/how-to/large-fabrics.md": 1,
    "docs/how-to/opensm.md": 4,
    "docs/how-to/own-topology.md": 1,
    "docs/how-to/scenarios.md": 1,
    "docs/how-to/striping-daemon.md": 15,
    "docs/how-to/striping-home.md": 4,
    "docs/how-to/striping-operation.md": 5,
    "docs/how-to/striping-site.md": 5,
    "docs/concepts/striping-peers.md": 1,
    "docs/concepts/striping-tcp.md": 2,
    "docs/concepts/striping-daemon-numbers.md": 1,
    "docs/how-to/stripe-a-stream.md": 1,
    "docs/studies/adiseshu1996.md": 1,
    "docs/studies/virtual_lanes.md": 1,
    "docs/studies/flich2001.md": 1,
    "docs/studies/kwan1996.md": 1,
    "docs/studies/santos2002.md": 1,
    "docs/studies/yum2002.md": 1,
    "docs/tutorial.md": 3,
}


def load(name: str) -> pages.Page:
    page = pages.read(name, (ROOT / name).read_text())
    if name.startswith("docs/adr/") and all(block.language == "text" for block in page.blocks):
        page.empty = "a decision needs no commands"
    return page


@pytest.mark.parametrize("name", PAGES)
def test_a_page_does_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    pages.run(load(name))


MAKER = runpy.run_path(str(ROOT / "docs" / "make_pages.py"))
GENERATED = MAKER["PAGES"]


@pytest.mark.parametrize("name", GENERATED)
def test_a_page_made_of_the_code_is_what_the_code_says(name: str) -> None:
    assert (ROOT / "docs" / "reference" / name).read_text() == GENERATED[name](), "make pages"


@pytest.mark.parametrize("name", MAKER["SITE"])
def test_a_page_of_the_site_alone_is_written_but_not_in_git(name: str) -> None:
    assert MAKER["SITE"][name]().startswith("# ")
    assert f"/docs/reference/{name}" in (ROOT / ".gitignore").read_text().splitlines()


def test_the_index_links_every_page_for_the_navigation_of_the_site_is_made_of_it() -> None:
    linked = set(re.findall(r"\]\(([^)]+)\)", (ROOT / "docs" / "index.md").read_text()))
    pages_below = {str(path.relative_to(ROOT / "docs")) for path in ROOT.glob("docs/*/*.md")}
    listed_elsewhere = {page for page in pages_below if re.match(r"adr/\d", page)}
    assert pages_below - listed_elsewhere <= linked


def test_few_blocks_are_skipped() -> None:
    skipped = {name: len(load(name).skipped) for name in PAGES}
    assert {name: count for name, count in skipped.items() if count} == SKIPPED


@pytest.mark.parametrize("name", examples.names())
def test_an_example_is_a_scenario_by_the_schema(name: str) -> None:
    path = examples.path(name)
    assert path is not None
    pages.check_schema(path.read_text())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Only words.", "nothing of it is run"),
        ("```text\na drawing\n```", "nothing of it is run"),
        ("<!-- nothing to run: words -->\n```sh\ntrue\n```", "but there is"),
        ("```perl\n1\n```", 'unknown language "perl"'),
        ("```\n1\n```", 'unknown language ""'),
        ("```csv\na,b\n```", 'unknown language "csv"'),
        ("<!-- skip: no -->\n```sh\nfalse\n```", "a skip without a reason"),
        ("```sh\nfalse\n```", "page:2: exit 1: false"),
        ("```sh\nfalse | true\n```", "exit 1"),
        ("```sh\ntrue # exit 3\n```", "exit 0"),
        ("```sh\ncd /\n```", "in the folder of the page"),
        ("```sh\ntrue\ngingham nothing\n```", "exit 2"),
        ("```python\nassert 1 == 2\n```", "page:2"),
        ("```console\n$ echo 1 2 3\n1 3\n```", "it prints\n1 2 3"),
        ("```console\n$ echo 1; echo 2\n1\n```", "it prints"),
        ("```console\n1\n```", "begins with a command"),
        ("```sh\necho 1\n```\n<!-- output -->\n```text\n2\n```", "page:6"),
        ("```toml\nx = 1\n```", "neither keys of a scenario"),
        ("```toml\n[stop]\ntmie = '1 ms'\n```", "did you mean `time`"),
        ("```toml\n[[traffic]]\nload = 2\nlength = { fixed = '1 B' }\n```", "at most 1"),
        (
            "```toml\ntopology = 1\nstop.time = '1 ms'\n[[traffic]]\nload = 1\n```",
            "is not valid under any",
        ),
    ],
)
def test_a_page_that_is_wrong_fails(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError) as failed:
        pages.run(pages.read("page", text))
    assert message in str(failed.value)


RIGHT = """
# first.toml, as a page would have it

```toml
# first.toml
topology.generate.star = { hosts = 3 }
stop.time = "20 us"
[[traffic]]
load = 0.1
length = { fixed = "64 B" }
```

- in a list:

  ```sh
  gingham run \\
    first.toml -o run   # a comment
  # nothing
  gingham run fist.toml  # exit 2
  ```

```toml
[[traffic]]
hosts = ["h2"]
load = 0.1
length = { fixed = "64 B" }
```

<!-- file: list.csv -->
```csv
a,b
1,2
```

```console
$ cat list.csv; echo end
a,b
...
end
$ gingham run \\
    fist.toml  # exit 2
gingham: ...: no such file; did you mean ...
$ echo "gingham: following flits: 90 %, 3 messages delivered"; echo 1
1
```

```python
from pathlib import Path
count = len(Path("list.csv").read_text().splitlines())
```

```python
print(f"{count}   lines")
```

<!-- output -->
```text
2 lines
```

<!-- skip: for the sake of the test -->
```sh
rm /first.toml
```
"""


def test_a_page_that_is_right_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = pages.read("page", RIGHT)
    pages.run(page)
    assert [block.line for block in page.skipped] == [
        RIGHT.splitlines().index("rm /first.toml") + 1
    ]
    assert (tmp_path / "run" / "manifest.json").exists()
    assert page.names["count"] == 2
