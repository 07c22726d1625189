"""Rankscope: how good are ranked lists, and why.

Examples:
    >>> import rankscope as rs
    >>> from rankscope import AP, nDCG
    >>> qrels = {"q1": {"d1": 2, "d2": 0, "d3": 1}}
    >>> run = {"q1": {"d2": 0.9, "d1": 0.8, "d3": 0.7}}
    >>> rs.evaluate(qrels, run, [nDCG @ 10, AP])["nDCG@10"]
    0.6696...
"""

from __future__ import annotations

from rankscope._core import __version__ as __version__
from rankscope.api import Letor as Letor
from rankscope.api import Rankings as Rankings
from rankscope.api import agreement_of_orders as agreement_of_orders
from rankscope.api import attribute as attribute
from rankscope.api import cg as cg
from rankscope.api import combine_judges as combine_judges
from rankscope.api import compare as compare
from rankscope.api import compare_discounts as compare_discounts
from rankscope.api import compare_table as compare_table
from rankscope.api import compare_values as compare_values
from rankscope.api import correct_sampled_ranks as correct_sampled_ranks
from rankscope.api import dcg as dcg
from rankscope.api import dcg_from_clicks as dcg_from_clicks
from rankscope.api import dcg_score as dcg_score
from rankscope.api import diff as diff
from rankscope.api import estimate_dcg as estimate_dcg
from rankscope.api import estimate_examination as estimate_examination
from rankscope.api import evaluate as evaluate
from rankscope.api import evaluate_judges as evaluate_judges
from rankscope.api import evaluate_off_policy as evaluate_off_policy
from rankscope.api import evaluate_table as evaluate_table
from rankscope.api import evaluate_with_model_judge as evaluate_with_model_judge
from rankscope.api import explain as explain
from rankscope.api import gate as gate
from rankscope.api import idcg as idcg
from rankscope.api import jaccard as jaccard
from rankscope.api import judge_agreement as judge_agreement
from rankscope.api import kendall_tau as kendall_tau
from rankscope.api import ndcg as ndcg
from rankscope.api import ndcg_score as ndcg_score
from rankscope.api import overlap as overlap
from rankscope.api import power as power
from rankscope.api import rbo as rbo
from rankscope.api import read_letor as read_letor
from rankscope.api import read_qrels as read_qrels
from rankscope.api import reconcile_table as reconcile_table
from rankscope.api import report as report
from rankscope.api import report_table as report_table
from rankscope.api import sql as sql
from rankscope.api import sql_table as sql_table
from rankscope.api import tabulate_discounts as tabulate_discounts
from rankscope.api import tau_ap as tau_ap
from rankscope.api.agreement.runs import agreement
from rankscope.api.reconciliation.reconcile import reconcile
from rankscope.compare.gate import Budget as Budget
from rankscope.compare.gate import GateResult as GateResult
from rankscope.data import Diagnostic as Diagnostic
from rankscope.data import Interval as Interval
from rankscope.data import Policy as Policy
from rankscope.data.qrels import Qrels as Qrels
from rankscope.errors import DuplicateError as DuplicateError
from rankscope.errors import EmptyError as EmptyError
from rankscope.errors import FileError as FileError
from rankscope.errors import FormatError as FormatError
from rankscope.errors import InputError as InputError
from rankscope.errors import LimitError as LimitError
from rankscope.errors import MeasureError as MeasureError
from rankscope.errors import OutOfMemoryError as OutOfMemoryError
from rankscope.errors import PolicyError as PolicyError
from rankscope.errors import RankscopeError as RankscopeError
from rankscope.errors import UsageError as UsageError
from rankscope.explain import Explanation as Explanation
from rankscope.explain import RelevanceExplanation as RelevanceExplanation
from rankscope.file import File as File
from rankscope.measures import Measure as Measure
from rankscope.measures import objects as _measures
from rankscope.measures import parse as parse
from rankscope.measures.objects import *  # noqa: F403 - the measures
from rankscope.report import Report as Report
from rankscope.results import Bounds as Bounds
from rankscope.results import Compared as Compared
from rankscope.results import Comparison as Comparison
from rankscope.results import Counts as Counts
from rankscope.results import Evaluation as Evaluation
from rankscope.results import Evaluations as Evaluations
from rankscope.results import JudgeAgreement as JudgeAgreement
from rankscope.results import Losses as Losses
from rankscope.results import ModelJudgedEvaluation as ModelJudgedEvaluation
from rankscope.results import Regrets as Regrets
from rankscope.results import RunDifference as RunDifference
from rankscope.results import SqlStatements as SqlStatements
from rankscope.results import Table as Table
from rankscope.results import TieAudit as TieAudit

__all__ = [
    "Bounds",
    "Budget",
    "Compared",
    "Comparison",
    "Counts",
    "Diagnostic",
    "DuplicateError",
    "EmptyError",
    "Evaluation",
    "Evaluations",
    "Explanation",
    "File",
    "FileError",
    "FormatError",
    "GateResult",
    "InputError",
    "Interval",
    "JudgeAgreement",
    "Letor",
    "LimitError",
    "Losses",
    "Measure",
    "MeasureError",
    "ModelJudgedEvaluation",
    "OutOfMemoryError",
    "Policy",
    "PolicyError",
    "Qrels",
    "Rankings",
    "RankscopeError",
    "Regrets",
    "RelevanceExplanation",
    "Report",
    "RunDifference",
    "SqlStatements",
    "Table",
    "TieAudit",
    "UsageError",
    "__version__",
    "agreement",
    "agreement_of_orders",
    "attribute",
    "cg",
    "combine_judges",
    "compare",
    "compare_discounts",
    "compare_table",
    "compare_values",
    "correct_sampled_ranks",
    "dcg",
    "dcg_from_clicks",
    "dcg_score",
    "diff",
    "estimate_dcg",
    "estimate_examination",
    "evaluate",
    "evaluate_judges",
    "evaluate_off_policy",
    "evaluate_table",
    "evaluate_with_model_judge",
    "explain",
    "gate",
    "idcg",
    "jaccard",
    "judge_agreement",
    "kendall_tau",
    "ndcg",
    "ndcg_score",
    "overlap",
    "parse",
    "power",
    "rbo",
    "read_letor",
    "read_qrels",
    "reconcile",
    "reconcile_table",
    "report",
    "report_table",
    "sql",
    "sql_table",
    "tabulate_discounts",
    "tau_ap",
]
__all__ += _measures.__all__
