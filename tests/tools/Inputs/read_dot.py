"""Reads Graphviz's language from standard input by its grammar and prints what it holds: python3 read_dot.py

A small parser of what is needed of https://graphviz.org/doc/info/lang.html: graphs, subgraphs, nodes, edges and lists of attributes.
An edge must join nodes that are declared, and a node is declared once.
"""
import re
import sys

TOKEN = re.compile(r'\s*(?:("(?:[^"\\\x00-\x1f]|\\.)*")|(->|[{}\[\];=,])|([A-Za-z_][A-Za-z_0-9]*))')
text = sys.stdin.buffer.read().decode()
tokens, at = [], 0
while text[at:].strip():
    match = TOKEN.match(text, at)
    assert match, text[at : at + 60]
    tokens.append(match.group(1) or match.group(2) or match.group(3))
    at = match.end()
nodes, edges, clusters = {}, [], 0


def take(*expected):
    token = tokens.pop(0)
    assert not expected or token in expected, (token, expected)
    return token


def attributes():
    found = {}
    if tokens[0] != "[":
        return found
    take("[")
    while tokens[0] != "]":
        key = take()
        take("=")
        found[key] = take()
        if tokens[0] == ",":
            take(",")
    take("]")
    return found


def statements():
    global clusters
    while tokens[0] != "}":
        first = take()
        if first == "subgraph":
            clusters += 1
            take()
            take("{")
            statements()
            take("}")
            continue
        if tokens[0] == "=":
            take("=")
            take()
        elif tokens[0] == "->":
            take("->")
            edges.append((first, take()))
            attributes()
        else:
            found = attributes()
            if first not in ("node", "edge", "graph"):
                assert first not in nodes, first
                nodes[first] = found
        take(";")


take("digraph")
take()
take("{")
statements()
take("}")
assert not tokens
for begin, end in edges:
    assert begin in nodes and end in nodes, (begin, end)
print(f"{clusters} graphs, {len(nodes)} nodes, {len(edges)} edges")
