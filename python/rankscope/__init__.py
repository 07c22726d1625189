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
from rankscope.measures import objects as _measures
from rankscope.measures.objects import *  # noqa: F403 - the measures

TYPE_CHECKING: bool = False  # jedi would not look into a branch that is never taken
if TYPE_CHECKING:
    from rankscope.api.agreement.lists import jaccard as jaccard
    from rankscope.api.agreement.lists import kendall_tau as kendall_tau
    from rankscope.api.agreement.lists import overlap as overlap
    from rankscope.api.agreement.lists import rbo as rbo
    from rankscope.api.agreement.lists import tau_ap as tau_ap
    from rankscope.api.agreement.orders import agreement_of_orders as agreement_of_orders
    from rankscope.api.agreement.runs import agreement as agreement
    from rankscope.api.attribute import attribute as attribute
    from rankscope.api.compare import compare as compare
    from rankscope.api.compare_table import compare_table as compare_table
    from rankscope.api.compare_values import compare_values as compare_values
    from rankscope.api.dcg_from_clicks import dcg_from_clicks as dcg_from_clicks
    from rankscope.api.diff import diff as diff
    from rankscope.api.discounts import compare_discounts as compare_discounts
    from rankscope.api.discounts import tabulate_discounts as tabulate_discounts
    from rankscope.api.document_judge import estimate_dcg as estimate_dcg
    from rankscope.api.draw_queries import draw_queries as draw_queries
    from rankscope.api.evaluate import evaluate as evaluate
    from rankscope.api.evaluate import read_qrels as read_qrels
    from rankscope.api.evaluate_off_policy import evaluate_off_policy as evaluate_off_policy
    from rankscope.api.evaluate_samples import evaluate_samples as evaluate_samples
    from rankscope.api.evaluate_table import evaluate_table as evaluate_table
    from rankscope.api.examination import estimate_examination as estimate_examination
    from rankscope.api.explain import explain as explain
    from rankscope.api.fuse import fit_fusion as fit_fusion
    from rankscope.api.fuse import fuse as fuse
    from rankscope.api.fuse_to_file import fuse_to_file as fuse_to_file
    from rankscope.api.gate import gate as gate
    from rankscope.api.grades import cg as cg
    from rankscope.api.grades import dcg as dcg
    from rankscope.api.grades import idcg as idcg
    from rankscope.api.grades import ndcg as ndcg
    from rankscope.api.items import read_items as read_items
    from rankscope.api.judged_evaluation import evaluate_judges as evaluate_judges
    from rankscope.api.judges import combine_judges as combine_judges
    from rankscope.api.judges import judge_agreement as judge_agreement
    from rankscope.api.letor import Letor as Letor
    from rankscope.api.letor import read_letor as read_letor
    from rankscope.api.measure import RankedLists as RankedLists
    from rankscope.api.measure import measure as measure
    from rankscope.api.model_judge import evaluate_with_model_judge as evaluate_with_model_judge
    from rankscope.api.power import power as power
    from rankscope.api.reconciliation.reconcile import reconcile as reconcile
    from rankscope.api.reconciliation.reconcile import reconcile_table as reconcile_table
    from rankscope.api.report import report as report
    from rankscope.api.report import report_table as report_table
    from rankscope.api.sampled_ranks import correct_sampled_ranks as correct_sampled_ranks
    from rankscope.api.score import dcg_score as dcg_score
    from rankscope.api.score import ndcg_score as ndcg_score
    from rankscope.api.sql import sql as sql
    from rankscope.api.sql import sql_table as sql_table
    from rankscope.compare.gate import Budget as Budget
    from rankscope.compare.gate import GateResult as GateResult
    from rankscope.data import Diagnostic as Diagnostic
    from rankscope.data import Interval as Interval
    from rankscope.data import Policy as Policy
    from rankscope.data.items import Items as Items
    from rankscope.data.qrels import Qrels as Qrels
    from rankscope.errors import ArgumentError as ArgumentError
    from rankscope.errors import DuplicateError as DuplicateError
    from rankscope.errors import EmptyError as EmptyError
    from rankscope.errors import FileError as FileError
    from rankscope.errors import FormatError as FormatError
    from rankscope.errors import InputError as InputError
    from rankscope.errors import LimitError as LimitError
    from rankscope.errors import MeasureError as MeasureError
    from rankscope.errors import MissingAttributeError as MissingAttributeError
    from rankscope.errors import OutOfMemoryError as OutOfMemoryError
    from rankscope.errors import PolicyError as PolicyError
    from rankscope.errors import RankscopeError as RankscopeError
    from rankscope.errors import UsageError as UsageError
    from rankscope.explain import Explanation as Explanation
    from rankscope.explain import RelevanceExplanation as RelevanceExplanation
    from rankscope.file import File as File
    from rankscope.measures import Measure as Measure
    from rankscope.measures import parse as parse
    from rankscope.rankings import Rankings as Rankings
    from rankscope.report import Report as Report
    from rankscope.results import Bounds as Bounds
    from rankscope.results import Compared as Compared
    from rankscope.results import Comparison as Comparison
    from rankscope.results import Counts as Counts
    from rankscope.results import Evaluation as Evaluation
    from rankscope.results import Evaluations as Evaluations
    from rankscope.results import FusedFile as FusedFile
    from rankscope.results import FusedRun as FusedRun
    from rankscope.results import FusionFit as FusionFit
    from rankscope.results import JudgeAgreement as JudgeAgreement
    from rankscope.results import Losses as Losses
    from rankscope.results import ModelJudgedEvaluation as ModelJudgedEvaluation
    from rankscope.results import Regrets as Regrets
    from rankscope.results import RunDifference as RunDifference
    from rankscope.results import SqlStatements as SqlStatements
    from rankscope.results import Table as Table
    from rankscope.results import TieAudit as TieAudit
else:
    from rankscope.deferred import defer as _defer

    __getattr__, __dir__ = _defer(
        __name__,
        {
            "ArgumentError": "rankscope.errors",
            "Bounds": "rankscope.results",
            "Budget": "rankscope.compare.gate",
            "Compared": "rankscope.results",
            "Comparison": "rankscope.results",
            "Counts": "rankscope.results",
            "Diagnostic": "rankscope.data",
            "DuplicateError": "rankscope.errors",
            "EmptyError": "rankscope.errors",
            "Evaluation": "rankscope.results",
            "Evaluations": "rankscope.results",
            "Explanation": "rankscope.explain",
            "File": "rankscope.file",
            "FileError": "rankscope.errors",
            "FormatError": "rankscope.errors",
            "FusedFile": "rankscope.results",
            "FusedRun": "rankscope.results",
            "FusionFit": "rankscope.results",
            "GateResult": "rankscope.compare.gate",
            "InputError": "rankscope.errors",
            "Interval": "rankscope.data",
            "Items": "rankscope.data.items",
            "JudgeAgreement": "rankscope.results",
            "Letor": "rankscope.api.letor",
            "LimitError": "rankscope.errors",
            "Losses": "rankscope.results",
            "Measure": "rankscope.measures",
            "MeasureError": "rankscope.errors",
            "MissingAttributeError": "rankscope.errors",
            "ModelJudgedEvaluation": "rankscope.results",
            "OutOfMemoryError": "rankscope.errors",
            "Policy": "rankscope.data",
            "PolicyError": "rankscope.errors",
            "Qrels": "rankscope.data.qrels",
            "RankedLists": "rankscope.api.measure",
            "Rankings": "rankscope.rankings",
            "RankscopeError": "rankscope.errors",
            "Regrets": "rankscope.results",
            "RelevanceExplanation": "rankscope.explain",
            "Report": "rankscope.report",
            "RunDifference": "rankscope.results",
            "SqlStatements": "rankscope.results",
            "Table": "rankscope.results",
            "TieAudit": "rankscope.results",
            "UsageError": "rankscope.errors",
            "agreement": "rankscope.api.agreement.runs",
            "agreement_of_orders": "rankscope.api.agreement.orders",
            "attribute": "rankscope.api.attribute",
            "cg": "rankscope.api.grades",
            "combine_judges": "rankscope.api.judges",
            "compare": "rankscope.api.compare",
            "compare_discounts": "rankscope.api.discounts",
            "compare_table": "rankscope.api.compare_table",
            "compare_values": "rankscope.api.compare_values",
            "correct_sampled_ranks": "rankscope.api.sampled_ranks",
            "dcg": "rankscope.api.grades",
            "dcg_from_clicks": "rankscope.api.dcg_from_clicks",
            "dcg_score": "rankscope.api.score",
            "diff": "rankscope.api.diff",
            "draw_queries": "rankscope.api.draw_queries",
            "estimate_dcg": "rankscope.api.document_judge",
            "estimate_examination": "rankscope.api.examination",
            "evaluate": "rankscope.api.evaluate",
            "evaluate_judges": "rankscope.api.judged_evaluation",
            "evaluate_off_policy": "rankscope.api.evaluate_off_policy",
            "evaluate_samples": "rankscope.api.evaluate_samples",
            "evaluate_table": "rankscope.api.evaluate_table",
            "evaluate_with_model_judge": "rankscope.api.model_judge",
            "explain": "rankscope.api.explain",
            "fit_fusion": "rankscope.api.fuse",
            "fuse": "rankscope.api.fuse",
            "fuse_to_file": "rankscope.api.fuse_to_file",
            "gate": "rankscope.api.gate",
            "idcg": "rankscope.api.grades",
            "jaccard": "rankscope.api.agreement.lists",
            "judge_agreement": "rankscope.api.judges",
            "kendall_tau": "rankscope.api.agreement.lists",
            "measure": "rankscope.api.measure",
            "ndcg": "rankscope.api.grades",
            "ndcg_score": "rankscope.api.score",
            "overlap": "rankscope.api.agreement.lists",
            "parse": "rankscope.measures",
            "power": "rankscope.api.power",
            "rbo": "rankscope.api.agreement.lists",
            "read_items": "rankscope.api.items",
            "read_letor": "rankscope.api.letor",
            "read_qrels": "rankscope.api.evaluate",
            "reconcile": "rankscope.api.reconciliation.reconcile",
            "reconcile_table": "rankscope.api.reconciliation.reconcile",
            "report": "rankscope.api.report",
            "report_table": "rankscope.api.report",
            "sql": "rankscope.api.sql",
            "sql_table": "rankscope.api.sql",
            "tabulate_discounts": "rankscope.api.discounts",
            "tau_ap": "rankscope.api.agreement.lists",
        },
        functions=("compare", "explain", "report"),
        submodules=(
            *("array", "dask", "errors", "integrations", "measures", "monitor", "spark"),
            *("testing", "typing"),
        ),
    )

__all__ = [
    "ArgumentError",
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
    "FusedFile",
    "FusedRun",
    "FusionFit",
    "GateResult",
    "InputError",
    "Interval",
    "Items",
    "JudgeAgreement",
    "Letor",
    "LimitError",
    "Losses",
    "Measure",
    "MeasureError",
    "MissingAttributeError",
    "ModelJudgedEvaluation",
    "OutOfMemoryError",
    "Policy",
    "PolicyError",
    "Qrels",
    "RankedLists",
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
    "draw_queries",
    "estimate_dcg",
    "estimate_examination",
    "evaluate",
    "evaluate_judges",
    "evaluate_off_policy",
    "evaluate_samples",
    "evaluate_table",
    "evaluate_with_model_judge",
    "explain",
    "fit_fusion",
    "fuse",
    "fuse_to_file",
    "gate",
    "idcg",
    "jaccard",
    "judge_agreement",
    "kendall_tau",
    "measure",
    "ndcg",
    "ndcg_score",
    "overlap",
    "parse",
    "power",
    "rbo",
    "read_items",
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
