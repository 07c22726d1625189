"""The public functions and classes."""

from __future__ import annotations

from rankscope.api.attribute import attribute as attribute
from rankscope.api.diff import diff as diff
from rankscope.api.discounts import compare_discounts as compare_discounts
from rankscope.api.discounts import tabulate_discounts as tabulate_discounts
from rankscope.api.evaluate import evaluate as evaluate
from rankscope.api.evaluate import read_qrels as read_qrels
from rankscope.api.evaluate_table import evaluate_table as evaluate_table
from rankscope.api.examination import estimate_examination as estimate_examination
from rankscope.api.explain import explain as explain
from rankscope.api.grades import cg as cg
from rankscope.api.grades import dcg as dcg
from rankscope.api.grades import idcg as idcg
from rankscope.api.grades import ndcg as ndcg
from rankscope.api.letor import Letor as Letor
from rankscope.api.letor import read_letor as read_letor
from rankscope.api.rankings import Rankings as Rankings
from rankscope.api.reconciliation.reconcile import reconcile as reconcile
from rankscope.api.reconciliation.reconcile import reconcile_table as reconcile_table
from rankscope.api.report import report as report
from rankscope.api.report import report_table as report_table
from rankscope.api.score import dcg_score as dcg_score
from rankscope.api.score import ndcg_score as ndcg_score
