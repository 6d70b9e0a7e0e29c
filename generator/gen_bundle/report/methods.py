"""How the figures were computed, in sentences that can go into an overview paper, with their references."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from gen_bundle.plain_text import one_line
from gen_bundle.report.content import Report, plural, units_word

REFERENCES = {
    "efron": "B. Efron and R. J. Tibshirani. An Introduction to the Bootstrap. Chapman & Hall, 1993.",
    "noreen": "E. W. Noreen. Computer-Intensive Methods for Testing Hypotheses. Wiley, 1989.",
    "north": "B. V. North, D. Curtis and P. C. Sham. A note on the calculation of empirical P values from Monte Carlo "
    "procedures. American Journal of Human Genetics 71, 2002.",
    "holm": "S. Holm. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, "
    "1979.",
    "kendall": "M. G. Kendall. The treatment of ties in ranking problems. Biometrika 33, 1945.",
    "challenger": "M. Wiesenfarth, A. Reinke, B. A. Landman, M. Eisenmann, L. Aguilera Saiz, M. J. Cardoso, "
    "L. Maier-Hein and A. Kopp-Schneider. Methods and open-source toolkit for analyzing and visualizing challenge "
    "results. Scientific Reports 11, 2021.",
    "dror": "R. Dror, G. Baumer, S. Shlomov and R. Reichart. The hitchhiker's guide to testing statistical "
    "significance in natural language processing. ACL 2018.",
    "mogstad": "M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm. Inference for ranks with applications to "
    "mobility across neighbourhoods and academic achievement across countries. Review of Economic Studies 91, 2024.",
    "deutsch": "D. Deutsch, R. Dror and D. Roth. A statistical analysis of summarization evaluation metrics using "
    "resampling methods. Transactions of the ACL 9, 2021.",
    "bias": "L. Maier-Hein et al. BIAS: Transparent reporting of biomedical image analysis challenges. Medical Image "
    "Analysis 66, 2020.",
}


CITED = re.compile(r"\[@(\w+)\]")
"""Where a text cites a reference."""


def citation(name: str) -> str:
    """What stands for a citation until the text is set; see `CITED`."""
    return f"[@{name}]"


def cited(texts: Sequence[str]) -> list[str]:
    """The references that texts cite, in their order."""
    return list(dict.fromkeys(name for text in texts for name in CITED.findall(text)))


def methods(report: Report) -> list[str]:
    """A paragraph on each task, then those that hold for all."""
    paragraphs = [_task(task) for task in report.tasks.values()]
    tested = [task for task in report.tasks.values() if task["pairs"]]
    if tested:
        paragraphs += _statistics(tested[0], any(task["stability"]["wins"] for task in tested))
    if report.statistics["overall"] is not None:
        paragraphs.append(
            "Over all tasks, teams that entered every task were ranked by the mean of their ranks; equal scores share "
            "the mean of their places."
        )
    paragraphs.append(
        f"What is reported follows the recommendations for challenges {citation('bias')} {citation('challenger')}."
    )
    return paragraphs


def _task(task: Mapping[str, Any]) -> str:
    better = "higher" if task["sort"] == "desc" else "lower"
    teams = sum(team["rank"] is not None for team in task["teams"])
    text = f"{task['name']}: {plural('team', teams)} were ranked by {task['title']} ({better} is better). "
    if task["units"]:
        text += f"The unit of resampling was the {task['unit']}, of which the test set has {task['units']:,}. "
    return text + (task["without"] or "")


def _statistics(task: Mapping[str, Any], has_intervals: bool) -> list[str]:
    n = f"{task['resamples']:,}"
    intervals = (
        f"Intervals of 95 % are percentile intervals of a bootstrap {citation('efron')} with {n} resamples, drawn with "
        "replacement over whole units and the same for all teams; in each resample the metric was computed anew from "
        "the units' summed statistics. They are approximate. Where simulation found that they hold the true value in "
        "clearly fewer than 95 % of the test sets, none is given: with few units, with classes that more than 1 % of "
        "the resamples lack, and where more than 2.5 % of the resamples share the highest or lowest value. The rank "
        "interval of a team runs from the 2.5th to the 97.5th percentile of its rank in the resamples; it is no "
        f"confidence interval of the true rank {citation('mogstad')}, and may leave out a rank that equal teams share. "
        "Stability is the share of resamples in which a team is first (a shared first place counts in equal parts), "
        f"which is not the probability of being the best team, and the mean Kendall's tau-b {citation('kendall')} "
        "between the ranking of a resample and the published one."
    )
    tests = (
        f"Pairs of teams were compared by two-sided paired approximate randomisation {citation('noreen')}, which suits "
        f"metrics such as F1 and BLEU that are not means {citation('dror')}: in each of {n} trials the teams' answers "
        "were exchanged for each unit with probability 1/2, and p = (k + 1)/(n + 1), where k of n trials differ at "
        f"least as much as the teams do {citation('north')}. Answers to metrics that allow any scale were exchanged on "
        f"a scale of their own: z-scores for Pearson, ranks for other correlations and areas {citation('deutsch')}. "
        f"The p values of all pairs of a task were corrected with Holm's method {citation('holm')}, and differences "
        "with a corrected p below 0.05 are called significant. A tie group holds the best team that is in no earlier "
        "group, and the teams that do not differ significantly from it. The seed of all random numbers is "
        f"{task['seed']}."
    )
    return [intervals, tests] if has_intervals else [tests]


def missing_rule(report: Report) -> str:
    """What becomes of results that are not there, and which of several counts."""
    chosen = "the latest dated one counts."
    if report.fetched is not None:
        chosen = "the one on the platform's leaderboard counts: the latest, where several or none are there."
    return (
        "A team without a result in a task is not ranked there. A score beyond a column's worst value counts as that "
        f"value, and so does a metric that is undefined in a resample. Of several submissions of a team {chosen}"
    )


def lateness(report: Report) -> str:
    """Which submissions that count were late, as far as that is known."""
    late = report.statistics["late"]
    if report.fetched is None or report.fetched.end is None:
        return "Not known. It is known of submissions that gen-bundle fetch brought, where the phase has an end."
    end = f"{report.fetched.end.astimezone(UTC):%d %B %Y %H:%M} UTC"
    return f"After the end of the phase, {end}: {', '.join(map(one_line, late)) or 'none'}."


def failures(report: Report) -> str:
    """Why runs failed, as far as their pages and logs say."""
    if report.fetched is None:
        return "Not known. It is known of submissions that gen-bundle fetch brought."
    return "; ".join(f"{number}×: {one_line(reason)}" for reason, number in report.fetched.failures.items()) or "None."


def unit_words(task: Mapping[str, Any]) -> str:
    """The unit and how many there are."""
    return plural(task["unit"], task["units"]) if task["units"] else f"none known ({units_word(None)} are needed)"
