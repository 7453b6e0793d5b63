"""Recommend dimensions, tags, access and degrees for a use, and explain how to read the report.

scuff guide               a short table and the topics
scuff guide moderation    a recommendation, with the command
"""

from __future__ import annotations

import argparse
import re

ROOMS = ("resources",)  # all that this command needs


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "topic", nargs="?", metavar="TOPIC", help="default: a list of all topics; `all`: the whole guide"
    )


def run(args: argparse.Namespace) -> None:
    from difflib import get_close_matches

    from ..resources import load

    text = load("guide.md").decode()
    start, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    topics = {part.split(":")[0]: f"## {part}" for part in parts}
    args.topic = {"settings": "access"}.get(args.topic, args.topic)  # the name of the topic in older reports
    if args.topic == "all":
        print(text.rstrip())
    elif args.topic is None:
        lines = [part.splitlines()[0].partition(": ") for part in parts]
        print(start.rstrip(), "", *(f"  scuff guide {name:14}{what}" for name, _, what in lines), sep="\n")
    elif args.topic in topics:
        print(topics[args.topic].rstrip())
    else:
        near = get_close_matches(args.topic, topics, 1, 0.5)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(topics)}"
        raise ValueError(f"expected a topic, got {args.topic!r}; {hint}")
