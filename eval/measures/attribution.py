"""Do the cited passages carry the claims, and is every citation needed?

Citation recall and precision of ALCE (Gao et al. 2023, arXiv 2305.14627, section 3), with a judge in place of its NLI
model:

- recall of a claim is 1 if it has citations and the cited passages, concatenated, entail it; that of an answer is the
  mean over its claims;
- a citation is precise if the recall of its claim is 1 and it is not irrelevant, which it is if it alone does not
  entail the claim while the others without it do; precision of an answer is the share of precise citations, 0 of none.

A passage cited twice for a claim (two quotations) is one citation. Sentences that say what the documents do not cover
(verdict `gap`) are no claims: no passage can entail them. A refusal has no claims, so it has no value: with 0 the right
refusal of an unanswerable question would look like bad citing, with 1 refusing everything would look like perfect
citing. What a refusal costs is in `false_refusal` and `useful`.
"""

from __future__ import annotations

from eval.judge import Judge
from eval.measures.definition import Measure, every_question, was_answered
from eval.types import Outcome, Question

Claim = tuple[str, tuple[str, ...]]


def cited_claims(outcome: Outcome) -> list[Claim]:
    """Return each claim with the passages that it cites, each once, in the order of the citations."""
    found = []
    for number, text in enumerate(outcome.claims):
        if number < len(outcome.verdicts) and outcome.verdicts[number] == "gap":
            continue
        passages = {one.number: one.passage for one in outcome.cited if one.claim == number}
        found.append((text, tuple(passages.values())))
    return found


def citation_recall(outcome: Outcome, judge: Judge) -> float:
    """Return the share of the claims that their cited passages entail, in [0, 1]; 0 without claims."""
    carried = [_is_carried(claim, judge) for claim in cited_claims(outcome)]
    return sum(carried) / len(carried) if carried else 0.0


def citation_precision(outcome: Outcome, judge: Judge) -> float:
    """Return the share of the citations that are precise, in [0, 1]; 0 without citations."""
    claims = cited_claims(outcome)
    total = sum(len(passages) for _, passages in claims)
    return sum(_precise(claim, judge) for claim in claims) / total if total else 0.0


def _is_carried(claim: Claim, judge: Judge) -> bool:
    text, passages = claim
    return bool(passages) and judge.entails("\n".join(passages), text)


def _precise(claim: Claim, judge: Judge) -> int:
    """Return how many citations of a claim are precise."""
    text, passages = claim
    if not _is_carried(claim, judge):
        return 0
    if len(passages) == 1:
        return 1
    return sum(judge.entails(one, text) or not _others_carry(claim, at, judge) for at, one in enumerate(passages))


def _others_carry(claim: Claim, at: int, judge: Judge) -> bool:
    text, passages = claim
    return judge.entails("\n".join(passages[:at] + passages[at + 1 :]), text)


def attribution(judge: Judge) -> tuple[Measure, ...]:
    """Return the two measures by a judge."""

    def recall(question: Question, outcome: Outcome) -> float:
        return citation_recall(outcome, judge)

    def precision(question: Question, outcome: Outcome) -> float:
        return citation_precision(outcome, judge)

    return (
        Measure(
            "citation_recall", "high", "answer", "Of an answer's claims, those that their cited passages carry (ALCE).",
            every_question, recall, given=was_answered, failed=None,
        ),
        Measure(
            "citation_precision", "high", "answer", "Of an answer's citations, those that its claims need (ALCE).",
            every_question, precision, given=was_answered, failed=None,
        ),
    )  # fmt: skip
