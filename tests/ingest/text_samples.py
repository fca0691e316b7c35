"""Small texts in many formats, and what must hold of everything that is read."""

from __future__ import annotations

from itertools import pairwise

from ingest.chunk import chunk_document
from ingest.types import Chunk, ReadResult

CSV = 'name,city,note\r\nAnn,Paris,"likes ""tea"", and\r\ntwo lines"\r\nBob,Rome,\r\n王伟,北京,喜欢喝茶\r\n'
RST = """.. _start:

============
The handbook
============

:Date: 2024-05-01

Leave
=====

24 days. 年假为二十四天。

+------+------+
| days | pay  |
+======+======+
| 1    | all  |
+------+------+
| 2    | half |
+------+------+

====  ====
name  city
====  ====
Ann   Paris
Bob   Rome
====  ====

病假
~~~~

::

    not a title
    ===========

Travel
======

- one
- two
"""
LATEX = r"""% \section{Not this}
\documentclass[a4paper]{article}
\title{The \emph{ferry} of \textbf{Alder}\\ and more}
\date{2024-05-01}
\begin{document}
\section{Oil changes}\label{sec:oil}
Every 500 hours.

\subsection*{换油 \& more}
每五百小时换油。

\begin{verbatim}
\section{Nor this}
\end{verbatim}
\begin{tabular}{l|r}
\hline
ship & hours \\
\hline
Kittiwake & 500 \\
Luyu Star & 400 \\
\end{tabular}
\end{document}
"""
PYTHON = '''"""The module."""

import os


# How far?
@cached
def distance(one, other):
    """Return it. 返回距离。"""
    return abs(one - other)


class Ship:
    speed = 3

    async def sail(self):
        if self.speed:
            return 1
'''
GO = """package main

// Sail sails.
func (s *Ship) Sail(days int) error {
\tif days > 3 {
\t\treturn nil
\t}
}

type Ship struct {
\tname string
}
"""
C = """#include <stdio.h>

/* Adds. */
static int add(int a, int b)
{
    if (a) {
        return add(b, a);
    }
}

struct ship {
    int speed;
};
"""
SCRIPT = """export default class Ship extends Boat {
  sail(days) {
    for (const day of days) {
    }
  }
}
const far = async (a) => {
}
function near(a) {
}
"""
RTF = (
    rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss Arial;}{\f1\fnil\fcharset134 \'cb\'ce\'cc\'e5;}"
    rb"{\f2\fcharset128 MS Gothic;}}{\colortbl;\red0\green0\blue0;}"
    rb"{\stylesheet{\s1\outlinelevel0 heading 1;}{\s2 Normal;}}{\info{\title The \'e9tude}{\author X}}"
    rb"{\header Page header\par}"
    rb"\pard\s1 Leave \f1\'c4\'ea\'bc\'d9\f0\par\pard "
    rb"Caf\'e9 \u24180?\u-10179?\u-8704? {\v secret}{\*\hidden gone}{\deleted old}end\emdash{\b bold}"
    rb"{\footnote\pard A note.}\par"
    rb"\f2 \'82\'a0\'83\\\f0\par"
    rb"\trowd\cellx1\cellx2\pard\intbl ship\cell hours\cell\row"
    rb"\trowd\pard\intbl Kittiwake\par two\cell 500\cell\row\pard{\field{\*\fldinst HYPERLINK x}{\fldrslt link}}"
    rb"{\pict\bin5 }}}}}} shown{\shp{\*\shpinst{\shptxt Box\par}}}\par}"
)


PROSE = "Dear reader, this is prose.\nIt has a comma, and another line.\nAnd so on, until the end.\n"
MAIL = "From: a@b.c\nTo: d@e.f\nMessage-ID: <1@b.c>\nSubject: Hi\n\nBody.\n"
MEMO = "From: the office\nTo: all\nSubject: leave\n\nThere are 24 days.\n"


FRONT = """---
# about
title: "Leave: the rules"  # official
date: 2024-05-01
tags: [hr, "年假", hr]
---
# Head
"""


def blocks(result: ReadResult) -> list[str]:
    return [block.of(result.text) for block in result.blocks]


def headings(result: ReadResult) -> list[tuple[int, str]]:
    return [(one.level, one.title) for one in result.headings]


def check_chunks(result: ReadResult) -> list[Chunk]:
    chunks = chunk_document("d", 1, result)
    assert all(chunk.text == chunk.span.of(result.text) for chunk in chunks)
    assert all(one.end <= other.start for one, other in pairwise(result.blocks))
    assert all(block.of(result.text).strip() for block in result.blocks)
    assert all(one.start < other.start for one, other in pairwise(result.headings))
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(result.text.split())
    return chunks
