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
from rankscope.api import attribute as attribute
from rankscope.api import cg as cg
from rankscope.api import compare_discounts as compare_discounts
from rankscope.api import dcg as dcg
from rankscope.api import dcg_score as dcg_score
from rankscope.api import diff as diff
from rankscope.api import estimate_examination as estimate_examination
from rankscope.api import evaluate as evaluate
from rankscope.api import evaluate_table as evaluate_table
from rankscope.api import explain as explain
from rankscope.api import idcg as idcg
from rankscope.api import ndcg as ndcg
from rankscope.api import ndcg_score as ndcg_score
from rankscope.api import read_letor as read_letor
from rankscope.api import read_qrels as read_qrels
from rankscope.api import reconcile_table as reconcile_table
from rankscope.api import report as report
from rankscope.api import report_table as report_table
from rankscope.api import tabulate_discounts as tabulate_discounts
from rankscope.api.reconciliation.reconcile import reconcile
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
from rankscope.measures import AP as AP
from rankscope.measures import CG as CG
from rankscope.measures import DCG as DCG
from rankscope.measures import ERR as ERR
from rankscope.measures import GMAP as GMAP
from rankscope.measures import IDCG as IDCG
from rankscope.measures import RBP as RBP
from rankscope.measures import RR as RR
from rankscope.measures import Bpref as Bpref
from rankscope.measures import F as F
from rankscope.measures import GMBpref as GMBpref
from rankscope.measures import IPrec as IPrec
from rankscope.measures import Judged as Judged
from rankscope.measures import Measure as Measure
from rankscope.measures import NumQ as NumQ
from rankscope.measures import NumRel as NumRel
from rankscope.measures import NumRelRet as NumRelRet
from rankscope.measures import NumRet as NumRet
from rankscope.measures import OrderingLoss as OrderingLoss
from rankscope.measures import P as P
from rankscope.measures import R as R
from rankscope.measures import RBPResidual as RBPResidual
from rankscope.measures import RetrievalLoss as RetrievalLoss
from rankscope.measures import Rprec as Rprec
from rankscope.measures import SetAP as SetAP
from rankscope.measures import SetF as SetF
from rankscope.measures import SetP as SetP
from rankscope.measures import SetR as SetR
from rankscope.measures import Success as Success
from rankscope.measures import TruncationLoss as TruncationLoss
from rankscope.measures import infAP as infAP
from rankscope.measures import nDCG as nDCG
from rankscope.measures import parse as parse
from rankscope.report import Report as Report
from rankscope.results import Bounds as Bounds
from rankscope.results import Counts as Counts
from rankscope.results import Evaluation as Evaluation
from rankscope.results import Losses as Losses
from rankscope.results import Regrets as Regrets
from rankscope.results import RunDifference as RunDifference
from rankscope.results import Table as Table
from rankscope.results import TieAudit as TieAudit

__all__ = [
    "AP",
    "CG",
    "DCG",
    "ERR",
    "GMAP",
    "IDCG",
    "RBP",
    "RR",
    "Bounds",
    "Bpref",
    "Counts",
    "Diagnostic",
    "DuplicateError",
    "EmptyError",
    "Evaluation",
    "Explanation",
    "F",
    "File",
    "FileError",
    "FormatError",
    "GMBpref",
    "IPrec",
    "InputError",
    "Interval",
    "Judged",
    "Letor",
    "LimitError",
    "Losses",
    "Measure",
    "MeasureError",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "OrderingLoss",
    "OutOfMemoryError",
    "P",
    "Policy",
    "PolicyError",
    "Qrels",
    "R",
    "RBPResidual",
    "Rankings",
    "RankscopeError",
    "Regrets",
    "RelevanceExplanation",
    "Report",
    "RetrievalLoss",
    "Rprec",
    "RunDifference",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "Success",
    "Table",
    "TieAudit",
    "TruncationLoss",
    "UsageError",
    "__version__",
    "attribute",
    "cg",
    "compare_discounts",
    "dcg",
    "dcg_score",
    "diff",
    "estimate_examination",
    "evaluate",
    "evaluate_table",
    "explain",
    "idcg",
    "infAP",
    "nDCG",
    "ndcg",
    "ndcg_score",
    "parse",
    "read_letor",
    "read_qrels",
    "reconcile",
    "reconcile_table",
    "report",
    "report_table",
    "tabulate_discounts",
]
