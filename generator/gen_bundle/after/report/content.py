"""The report's content before it is written in any form: figures, how they were computed, and BIAS's checklist.

The methods are sentences that can go into an overview paper, with their references; the checklist is what a challenge
report should say (BIAS, Maier-Hein et al. 2020), filled in as far as the declaration knows it.
"""

import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from gen_bundle.build.package.power import difference
from gen_bundle.build.render.rankings import Ranking, RankingTable
from gen_bundle.declaration.dates import shown
from gen_bundle.declaration.model import BETTER, DeclaredCompetition, DeclaredPhase
from gen_bundle.ground.fetched import Fetched
from gen_bundle.ground.plain_text import one_line, units_word
from scoring_kit.base.power_settings import FOUND_IN

FIXED = (
    *("name", "column", "title", "sort", "unit", "units", "resamples", "seed", "without", "winner", "not_ranked"),
    *("teams", "pairs", "stability"),
)
"""A task in report.json: a contract."""
ALPHA = 0.05
MINUS = "−"
HIGH = {"desc": "high", "asc": "low"}
"""How a score that is better than the truth is."""
WAYS = {
    "mean": "mean over {units}",
    "share": "share of {units} with the better value",
    "median": "median over {units}",
    "mean_rank": "mean rank over {units}",
    "column": "by {title}",
    "with_baselines": "with the baselines ranked",
    "without_late": "without late submissions",
}

TEMPLATES = Path(__file__).resolve().parent / "templates"
REFERENCES: Mapping[str, str] = yaml.safe_load((TEMPLATES / "references.yaml").read_text(encoding="utf-8"))
CITED = re.compile(r"\[@(\w+)\]")
"""Where a text cites a reference."""
OPEN = "To be added by the organisers."
RULES = {
    "all": "All submissions are on the leaderboard.",
    "last": "Each participant's last submission is on the leaderboard.",
    "best": "Each participant's best submission is on the leaderboard.",
}


@dataclass(frozen=True)
class FinalReport:
    """A final report.

    Attributes:
        declaration: the competition's.
        phase: whose submissions were ranked; None where a table of scores was.
        ranking: the ranking as it is printed.
        statistics: what `scoring_kit.resampling.final_report` gives.
        baselines: the systems without a rank.
        command: that makes the same report.
        fetched: what is known of submissions that `gen-bundle fetch` brought.
    """

    declaration: DeclaredCompetition
    phase: DeclaredPhase | None
    ranking: Ranking
    statistics: Mapping[str, Any]
    baselines: Sequence[str]
    command: str
    fetched: Fetched | None = None

    @property
    def tasks(self) -> Mapping[str, Mapping[str, Any]]:
        """Return what is known of each task, by its id."""
        tasks: Mapping[str, Mapping[str, Any]] = self.statistics["tasks"]
        return tasks

    @property
    def teams(self) -> list[str]:
        """The names of the teams, as often as a task has them."""
        names: list[str] = []
        for task in self.tasks.values():
            names += [team["team"] for team in task["teams"]]
        return names

    @property
    def own_rankings(self) -> list[RankingTable]:
        """Rankings by a rule of the competition's own, such as over several tasks."""
        known = {task["name"] for task in self.tasks.values()}
        return [table for table in self.ranking.tables if table.header[0] == "Rank" and table.title not in known]


def figure(value: float | None, decimals: int) -> str:
    """Return a number as the board shows it, with a minus and without one before zero; nothing where there is none."""
    if value is None:
        return ""
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", MINUS)


def interval(low: float | None, high: float | None, decimals: int) -> str:
    """Both ends of an interval; nothing where there is none."""
    if low is None or high is None:
        return ""
    return f"{figure(low, decimals)} to {figure(high, decimals)}"


def place(task: Mapping[str, Any], team: Mapping[str, Any]) -> str:
    """Return a team's rank; with `=` where it is shared, and nothing where there is none."""
    if team["rank"] is None:
        return ""
    same = sum(other["rank"] == team["rank"] for other in task["teams"])
    return f"{team['rank']}=" if same > 1 else str(team["rank"])


def resting_on(task: Mapping[str, Any]) -> str:
    """Return the units and resamples that intervals and tests rest on, for a caption; nothing where there are none."""
    if not task["units"]:
        return ""
    return f" ({plural(task['unit'], task['units'])}, {task['resamples']:,} resamples)"


def probability(p: float | None) -> str:
    """Return a p value to three decimals; nothing where there is none."""
    if p is None:
        return ""
    if p < 0.001:
        return "< 0.001"
    return f"{p:.3f}"


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{100 * share:.1f} %"


def plural(unit: str | None, number: int) -> str:
    """Return a number of units, such as `40 timelines`."""
    return f"{number:,} {units_word(unit)}"


def way_words(way: Mapping[str, Any], unit: str | None) -> str:
    """Another way to rank, in words."""
    return WAYS[way["way"]].format(units=units_word(unit), title=way["title"])


def cited(texts: Sequence[str]) -> list[str]:
    """Return the references that texts cite, in their order."""
    return list(dict.fromkeys(CITED.findall(" ".join(texts))))


def summary(task: Mapping[str, Any]) -> str:
    """Return two or three sentences: who won a task, by how much, who is no worse for sure, and on what that rests."""
    winner, title, decimals = task["winner"], task["title"], task["decimals"]
    if winner is None:
        return ""
    (score,) = {team["score"] for team in task["teams"] if team["team"] == winner["teams"][0]}
    first = listed(winner["teams"])
    verb = "share the best" if winner["teams"][1:] else "has the best"
    text = f"{first} {verb} {title}, {figure(score, decimals)}"
    if winner["next"]:
        text += f", {figure(winner['ahead'], decimals)} ahead of {listed(winner['next'])}"
    rest = f"on {plural(task['unit'], task['units'])}"
    if winner["alike"]:
        text += f". Not to be told apart from first place, {rest} (p after Holm at least {ALPHA}): "
        text += listed(winner["alike"])
    elif winner["alike"] is not None and winner["next"]:
        text += f", and differs significantly from every other team, {rest}"
    elif not task["units"]:
        text += ". Whether that is more than chance is not known: nothing is known of single units"
    text += "."
    if winner["optimism"] is not None:
        by = figure(max(winner["optimism"], 0.0), decimals)
        text += (
            f" Whoever comes first is partly lucky: in the mean over {task['resamples']:,} resamples, a first place "
            f"among these {_ranked(task)} teams looks {by} too good, so that the score is probably at least as much "
            f"too {HIGH[task['sort']]}."
        )
    return text


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them."""
    *others, last = [one_line(name) for name in names]
    return f"{', '.join(others)} and {last}" if others else last


def methods(report: FinalReport) -> list[str]:
    """Return a paragraph on each task, then those that hold for all."""
    paragraphs, tested, has_intervals = [], [], False
    for task in report.tasks.values():
        paragraphs.append(_ranked_by(task))
        if task["pairs"]:
            tested.append(task)
            has_intervals |= bool(task["stability"]["wins"])
    if tested:
        paragraphs += _statistics(tested[0], has_intervals)
    if report.statistics["overall"] is not None:
        paragraphs.append(
            "Over all tasks, teams that entered every task were ranked by the mean of their ranks; equal scores share "
            "the mean of their places."
        )
    paragraphs.append("What is reported follows the recommendations for challenges [@bias] [@challenger].")
    return paragraphs


def _ranked(task: Mapping[str, Any]) -> int:
    """How many teams have a rank."""
    return sum(team["rank"] is not None for team in task["teams"])


def _ranked_by(task: Mapping[str, Any]) -> str:
    teams = plural("team", _ranked(task))
    text = f"{task['name']}: {teams} were ranked by {task['title']} ({BETTER[task['sort']]} is better). "
    if task["units"]:
        text += f"Results were resampled over the {plural(task['unit'], task['units'])} of the test set. "
    if task["smallest"]:
        text += (
            f"The smallest difference that these {plural(task['unit'], task['units'])} would have found in {FOUND_IN} "
            f"(p below 0.05, before Holm's correction) is about {difference(task['smallest'])}: 2.8 standard errors of "
            "a difference, the median over pairs. Teams that cannot be told apart are not thereby equal. "
        )
    return text + (task["without"] or "")


def _statistics(task: Mapping[str, Any], has_intervals: bool) -> list[str]:
    n = f"{task['resamples']:,}"
    intervals = (
        f"Intervals of 95 % are percentile intervals of a bootstrap [@efron] with {n} resamples, drawn with "
        "replacement over whole units and the same for all teams; in each resample the metric was computed anew from "
        "the units' summed statistics. They are approximate. Where simulation found that they hold the true value in "
        "clearly fewer than 95 % of the test sets, none is given: with few units, with classes that more than 1 % of "
        "the resamples lack, and where more than 2.5 % of the resamples share the highest or lowest value. The rank "
        "interval of a team runs from the 2.5th to the 97.5th percentile of its rank in the resamples; it is no "
        f"confidence interval of the true rank [@mogstad], and may leave out a rank that equal teams share. "
        "Stability is the share of resamples in which a team is first (a shared first place counts in equal parts), "
        f"which is not the probability of being the best team, and the mean Kendall's tau-b [@kendall] "
        "between the ranking of a resample and the published one."
    )
    tests = (
        f"Pairs of teams were compared by two-sided paired approximate randomisation [@noreen], which suits "
        f"metrics such as F1 and BLEU that are not means [@dror]: in each of {n} trials the teams' answers "
        "were exchanged for each unit with probability 1/2, and p = (k + 1)/(n + 1), where k of n trials differ at "
        f"least as much as the teams do [@north]. Answers to metrics that allow any scale were exchanged on "
        f"a scale of their own: z-scores for Pearson, ranks for other correlations and areas [@deutsch]; "
        "exchanged values of Pearson and Spearman are wider by the square root of u/(u - 2), for u units, as residuals "
        f"are [@davison]. "
        f"The p values of all pairs of a task were corrected with Holm's method [@holm], and differences "
        "with a corrected p below 0.05 are called significant. A tie group holds the best team that is in no earlier "
        "group, and the teams that do not differ significantly from it. The seed of all random numbers is "
        f"{task['seed']}."
    )
    return [intervals, tests] if has_intervals else [tests]


def missing_rule(report: FinalReport) -> str:
    """Return what becomes of results that are not there, and which of several counts."""
    chosen = "the latest dated one counts."
    if report.fetched is not None:
        chosen = "the one on the platform's leaderboard counts: the latest, where several or none are there."
    return (
        "A team without a result in a task is not ranked there. A score beyond a column's worst value counts as that "
        f"value, and so does a metric that is undefined in a resample. Of several submissions of a team {chosen}"
    )


def lateness(report: FinalReport) -> str:
    """Return which submissions that count were late, as far as that is known."""
    late = report.statistics["late"]
    if report.fetched is None or report.fetched.end is None:
        return "Not known. It is known of submissions that gen-bundle fetch brought, where the phase has an end."
    end = f"{report.fetched.end.astimezone(UTC):%d %B %Y %H:%M} UTC"
    return f"After the end of the phase, {end}: {', '.join(map(one_line, late)) or 'none'}."


def failures(report: FinalReport) -> str:
    """Return why runs failed, as far as their pages and logs say."""
    if report.fetched is None:
        return "Not known. It is known of submissions that gen-bundle fetch brought."
    return "; ".join(f"{number}×: {one_line(reason)}" for reason, number in report.fetched.failures.items()) or "None."


def unit_words(task: Mapping[str, Any]) -> str:
    """Return the unit and how many there are."""
    if not task["units"]:
        return "none known (units are needed)"
    return plural(task["unit"], task["units"])


def checklist(report: FinalReport) -> list[tuple[str, str]]:
    """(item, what is known); `OPEN` where nothing is."""
    declared = report.declaration
    dates, limits, metrics, units, seeds = [], [], [], [], set()
    for phase in declared.phases:
        end = shown(phase.end, UTC) if phase.end else "open"
        dates.append(f"{phase.name}: {shown(phase.start, UTC)} to {end}")
        limits.append(f"{phase.name}: {phase.max_submissions or 'any number of'} submissions")
    for task in declared.tasks:
        if task.id in report.tasks:
            for column in task.columns:
                metrics.append(f"{column.title} ({BETTER[column.sort]} is better): {column.meaning}")
    for known in report.tasks.values():
        units.append(f"{known['name']}: {unit_words(known)}")
        seeds.add(str(known["seed"]))
    rule = RULES.get(declared.submission_rule, "Participants choose which submission is on the leaderboard.")
    return [
        ("Name of the challenge", declared.title),
        ("Objective", declared.description),
        ("Organisers and contact", declared.contact or OPEN),
        ("Life cycle and dates", "; ".join(dates)),
        ("Participation", f"Registration: {declared.registration}. Reward: {declared.reward or 'none declared'}."),
        ("Submission", f"{rule} {'; '.join(limits)}."),
        ("Test data: origin, sampling, ethics", OPEN),
        ("Annotation: who, how, agreement", OPEN),
        ("Conflicts of interest", OPEN),
        ("Metrics", "; ".join(metrics)),
        ("Why these metrics", OPEN),
        ("Ranking", f"Each task by its first column; {_ties(declared)}"),
        ("Missing results", missing_rule(report)),
        ("Late submissions", lateness(report)),
        ("Failed submissions", failures(report)),
        ("Unit of analysis", "; ".join(units)),
        ("Uncertainty of scores and ranks", "Bootstrap intervals; see Methods."),
        ("Significance", "Paired approximate randomisation with Holm's correction; see Methods."),
        ("Robustness of the ranking", "Resampling, other aggregations, other metrics; see above."),
        ("Baselines", ", ".join(report.baselines) or "none named"),
        ("Availability of the scoring program", OPEN),
        ("Software", ", ".join(versions())),
        ("Seed", ", ".join(sorted(seeds))),
        ("Command", report.command),
    ]


def versions() -> Iterator[str]:
    """Versions of what computed and drew the report."""
    yield f"gen-bundle {metadata.version('gen-bundle')}"
    yield f"Python {platform.python_version()}"
    for name in ("numpy", "matplotlib"):
        yield f"{name} {metadata.version(name)}"


def _ties(declared: DeclaredCompetition) -> str:
    board = declared.leaderboard
    if board.ties == "columns":
        return "equal scores are ordered by the following columns."
    if board.tie_break:
        return f"equal scores are ordered by {', '.join(board.tie_break)}."
    return "equal scores share a rank."
