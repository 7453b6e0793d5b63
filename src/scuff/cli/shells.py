"""Scripts for bash, zsh and fish that complete the words of a command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Values:
    """What a word can be: one of some words, or the name of a file."""

    words: tuple[str, ...] = ()
    files: bool = False


@dataclass(frozen=True)
class Flag:
    """A flag, by all its names. takes: how many values follow: 0, 1, or 2 for several."""

    names: tuple[str, ...]
    about: str
    values: Values
    takes: int


@dataclass(frozen=True)
class Command:
    """A command by its path, such as ("judge", "export"), () for `scuff` itself. below: the commands that can follow it."""

    path: tuple[str, ...]
    below: dict[str, str]
    flags: tuple[Flag, ...]
    values: Values

    @property
    def key(self) -> str:
        """The path as the scripts have it: scuff/judge/export."""
        return "/".join(("scuff", *self.path))


def _arms(commands: list[Command]) -> dict[tuple[int, Values], list[str]]:
    """Returns the flags that take values as `path flag`, those with the same values together, for a `case` of a shell."""
    arms: dict[tuple[int, Values], list[str]] = {}
    for command in commands:
        for flag in command.flags:
            if flag.takes:
                arms.setdefault((flag.takes, flag.values), []).extend(f"{command.key} {name}" for name in flag.names)
    return arms


def bash(commands: list[Command]) -> str:
    """Returns a script for bash 3.2 and newer, which needs no other package."""
    flags = []
    for (takes, values), places in _arms(commands).items():
        pattern = "|".join(f'"{place}"' for place in places)
        flags.append(f'        {pattern}) takes={takes} words="{" ".join(values.words)}" files={int(values.files)} ;;')
    arguments = []
    for command in commands:
        names = " ".join(name for flag in command.flags for name in flag.names)
        words = " ".join((*command.below, *command.values.words))
        arguments.append(
            f'        "{command.key}") words="{words}" files={int(command.values.files)} flags="{names}" ;;'
        )
    return BASH.format(
        commands=" ".join(command.key for command in commands), flags="\n".join(flags), arguments="\n".join(arguments)
    )


BASH = r"""# Completes the words of `scuff` in bash: source this file, or put it where bash-completion looks.
_scuff() {{
    local line="${{COMP_LINE:0:COMP_POINT}}" at="scuff" flag="" count=0 takes=0 words="" files=0 flags="" current="" part
    local -a parts=()
    read -ra parts <<< "$line"
    if [[ "$line" != *[[:space:]] ]]; then
        current="${{parts[${{#parts[@]}}-1]}}"
        unset "parts[${{#parts[@]}}-1]"
    fi
    for part in "${{parts[@]:1}}"; do
        if [[ "$part" == -* ]]; then
            flag="$part" count=0
        elif [[ " {commands} " == *" $at/$part "* ]]; then
            at="$at/$part" flag=""
        else
            count=$((count + 1))
        fi
    done
    if [[ "$current" == --*=* ]]; then
        flag="${{current%%=*}}" count=0 current="${{current#*=}}"
    fi
    case "$at" in
{arguments}
    esac
    local own_words="$words" own_files=$files
    case "$at $flag" in
{flags}
    esac
    if [[ $takes == 0 || ( $takes == 1 && $count -gt 0 ) ]]; then
        words="$own_words" files=$own_files
    fi
    [[ "$current" == -* ]] && words="$flags" files=0
    COMPREPLY=()
    while IFS= read -r part; do
        COMPREPLY+=("$part")
    done < <(compgen -W "$words" -- "$current"; [[ $files == 1 ]] && compgen -f -- "$current")
    if [[ "$current" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then  # bash has taken these letters for a word of their own
        local before="${{current%"${{current##*:}}"}}" at_word
        for at_word in "${{!COMPREPLY[@]}}"; do
            COMPREPLY[at_word]="${{COMPREPLY[at_word]#"$before"}}"
        done
    fi
}}
complete -o filenames -F _scuff scuff
"""


def zsh(commands: list[Command]) -> str:
    """Returns a script for zsh, with explanations beside commands and flags."""
    flags = []
    for (takes, values), places in _arms(commands).items():
        pattern = "|".join(f'"{place}"' for place in places)
        flags.append(
            f"        ({pattern}) takes={takes}; found=({_quoted(values.words)}); files={int(values.files)} ;;"
        )
    arguments = []
    for command in commands:
        options = [f"{name}:{flag.about}" for flag in command.flags for name in flag.names]
        below = [f"{name}:{about}" for name, about in command.below.items()]
        arguments.append(
            f'        ("{command.key}") below=({_quoted(below)}); own=({_quoted(command.values.words)}); '
            f"own_files={int(command.values.files)}; options=({_quoted(options)}) ;;"
        )
    return ZSH.format(
        commands=" ".join(command.key for command in commands), flags="\n".join(flags), arguments="\n".join(arguments)
    )


ZSH = r"""#compdef scuff
# Completes the words of `scuff` in zsh: a file _scuff in $fpath, or `eval` below compinit.
_scuff() {{
    local at="scuff" flag="" count=0 takes=0 files=0 own_files=0 part current
    local -a found own below options
    for part in "${{(@)words[2,CURRENT-1]}}"; do
        if [[ "$part" == -* ]]; then
            flag="$part" count=0
        elif [[ " {commands} " == *" $at/$part "* ]]; then
            at="$at/$part" flag=""
        else
            count=$((count + 1))
        fi
    done
    current="$words[CURRENT]"
    if [[ "$current" == --*=* ]]; then
        flag="${{current%%=*}}" count=0
        compset -P '*='
    fi
    case "$at" in
{arguments}
    esac
    case "$at $flag" in
{flags}
    esac
    if [[ "$current" == -* && "$current" != --*=* ]]; then
        _describe -o flag options
        return
    fi
    if [[ $takes == 0 || ( $takes == 1 && $count -gt 0 ) ]]; then
        found=("$own[@]") files=$own_files
        (( $#below )) && _describe command below
    fi
    (( $#found )) && compadd -a found
    (( files )) && _files
}}
if [[ "$funcstack[1]" == "_scuff" ]]; then
    _scuff "$@"
else
    compdef _scuff scuff
fi
"""


def fish(commands: list[Command]) -> str:
    """Returns a script for fish, with explanations beside commands and flags."""
    lines = [FISH.format(commands=" ".join(command.key for command in commands))]
    for command in commands:
        here = f"complete -c scuff -n '__scuff_at {command.key}'"
        for name, about in command.below.items():
            lines.append(f"{here} -f -a {name} -d {_quoted([about])}")
        for flag in command.flags:
            named = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names)
            lines.append(f"{here} {named} -d {_quoted([flag.about])}{_fish_values(flag.values) if flag.takes else ''}")
            if flag.takes == 2:  # the second value and those behind it, which fish takes for arguments of the command
                more = f"__scuff_at {command.key}; and __scuff_behind {' '.join(flag.names)}"
                if flag.values.words:
                    lines.append(f"complete -c scuff -n '{more}' -a {_quoted([' '.join(flag.values.words)])}")
        words = " ".join(command.values.words)
        lines += [f"{here} -a {_quoted([words])}"] if words else []
        lines += [f"{here} -F"] if command.values.files else []
    return "\n".join(lines) + "\n"


def _fish_values(values: Values) -> str:
    words = f" -a {_quoted([' '.join(values.words)])}" if values.words else ""
    return f" -r{' -F' if values.files else ' -f'}{words}"


FISH = r"""# Completes the words of `scuff` in fish: ~/.config/fish/completions/scuff.fish
function __scuff_at -a wanted
    set -l at scuff
    for part in (commandline -opc)[2..]
        if contains -- "$at/$part" {commands}
            set at "$at/$part"
        end
    end
    test "$at" = "$wanted"
end
function __scuff_behind
    set -l flag ""
    for part in (commandline -opc)[2..]
        string match -q -- '-*' $part; and set flag $part
    end
    contains -- "$flag" $argv
end
complete -c scuff -f"""


def _quoted(words: list[str] | tuple[str, ...]) -> str:
    """Returns words in single quotes, which zsh and fish take as they are."""
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


SHELLS: dict[str, Callable[[list[Command]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
