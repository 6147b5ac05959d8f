"""Names of the programs that a command starts, parsed from its words.

    ip netns exec left nice -n 5 ping 10.0.0.1      ip, nice, ping
    sh -c "cat file | sort >sorted" sh iperf3 -s     sh, cat, sort, iperf3

Wrappers and shell scripts are parsed as far as tests need; names computed by a script are not
found. Words after the script of `sh -c` are taken as a command, as `exec "$@"` runs it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

# Whether a word is the name or the path of a program.
IsProgram: TypeAlias = Callable[[str], bool]

SHELLS = frozenset({"bash", "dash", "sh"})


def words_of(text: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(text.split())


# Wrappers: the command starts at the first argument that is not an option, an assignment or the
# value of an option.
WRAPPERS = words_of("env ibsim-run nice nohup setpriv setsid sudo timeout unshare xargs")
BUILTINS = words_of("""
    . : [ [[ alias break cd command continue declare echo eval exit export false jobs kill local
    printf pwd read readonly return set shift shopt source test times trap true type ulimit umask
    unset wait
""")
# A command starts after these words of the shell.
BEFORE_COMMANDS = words_of("! do elif else exec if then time until while {")
# These words are not commands, and no command follows before the next separator.
NO_COMMANDS = words_of("case done esac fi for function }")
ARITHMETIC = re.compile(r"\$\(\(.*?\)\)")
SEPARATORS = "();<>|&\n"


def started(words: Sequence[str], is_program: IsProgram) -> Iterator[str]:
    """Yield the program of a command, and those that it starts in turn.

    `is_program` distinguishes the command of a wrapper from the values of its options.
    """
    program, *rest = words
    yield program
    name = program.rpartition("/")[2]
    if name == "ip" and {"netns", "exec"} <= set(rest):
        # Skip the name of the namespace.
        inner = rest[rest.index("exec") + 2 :]
        yield from started(inner, is_program) if inner else ()
    elif name == "capsh" and "--" in rest:
        # The remaining words are arguments of a shell.
        yield from started_by_shell(rest[rest.index("--") + 1 :], is_program)
    elif name in SHELLS:
        yield from started_by_shell(rest, is_program)
    elif name in WRAPPERS:
        yield from wrapped(rest, is_program)


def wrapped(words: Sequence[str], is_program: IsProgram) -> Iterator[str]:
    """Yield the programs of the command that follows the options of a wrapper."""
    for place, word in enumerate(words):
        if not word.startswith("-") and not is_assignment(word) and is_program(word):
            yield from started(words[place:], is_program)
            return


def started_by_shell(words: Sequence[str], is_program: IsProgram) -> Iterator[str]:
    """Yield the programs of the script after `-c`, and those of the script's arguments."""
    if "-c" not in words:
        return
    script, *arguments = words[words.index("-c") + 1 :] or [""]
    for command in commands(script):
        if command[0] not in BUILTINS and is_program(command[0]):
            yield from started(command, is_program)
    # The first argument is the script's own name.
    yield from wrapped(arguments[1:], is_program)


def commands(script: str) -> Iterator[list[str]]:
    """Yield the simple commands of a shell script as words; none if it cannot be read."""
    plain = ARITHMETIC.sub("0", script.replace("\\\n", " "))
    lexer = shlex.shlex(plain, posix=True, punctuation_chars=SEPARATORS)
    lexer.whitespace_split, lexer.whitespace, lexer.commenters = True, " \t\r", ""
    try:
        tokens = list(lexer)
    except ValueError:
        return
    command: list[str] = []
    # Whether the next word starts a command, and whether words are parsed at all.
    begins, is_file, is_comment = True, False, False
    for token in [*tokens, "\n"]:
        if token and set(token) <= set(SEPARATORS):
            is_file = bool(set(token) & set("<>"))
            if is_file and "(" not in token:
                continue
            if command:
                yield command
            command, begins, is_file = [], True, False
            is_comment = is_comment and "\n" not in token
        elif is_comment or is_file:
            is_file = False
        elif token.startswith("#"):
            is_comment = True
        elif command:
            command.append(token)
        elif begins and token not in BEFORE_COMMANDS and not is_assignment(token):
            begins = token not in NO_COMMANDS
            command = [token] if begins else []


def is_assignment(word: str) -> bool:
    """Whether a word sets a variable for the command after it."""
    name, sign, _ = word.partition("=")
    return bool(sign) and name.isidentifier()
