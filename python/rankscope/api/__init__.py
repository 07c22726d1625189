"""The public functions and classes."""

from __future__ import annotations

from rankscope.api.agreement.lists import jaccard as jaccard
from rankscope.api.agreement.lists import kendall_tau as kendall_tau
from rankscope.api.agreement.lists import overlap as overlap
from rankscope.api.agreement.lists import rbo as rbo
from rankscope.api.agreement.lists import tau_ap as tau_ap
from rankscope.api.agreement.orders import agreement_of_orders as agreement_of_orders
from rankscope.api.attribute import attribute as attribute
from rankscope.api.compare import compare as compare
from rankscope.api.compare import compare_table as compare_table
from rankscope.api.compare_values import compare_values as compare_values
from rankscope.api.dcg_from_clicks import dcg_from_clicks as dcg_from_clicks
from rankscope.api.diff import diff as diff
from rankscope.api.discounts import compare_discounts as compare_discounts
from rankscope.api.discounts import tabulate_discounts as tabulate_discounts
from rankscope.api.document_judge import estimate_dcg as estimate_dcg
from rankscope.api.evaluate import evaluate as evaluate
from rankscope.api.evaluate import read_qrels as read_qrels
from rankscope.api.evaluate_off_policy import evaluate_off_policy as evaluate_off_policy
from rankscope.api.evaluate_table import evaluate_table as evaluate_table
from rankscope.api.examination import estimate_examination as estimate_examination
from rankscope.api.explain import explain as explain
from rankscope.api.gate import gate as gate
from rankscope.api.grades import cg as cg
from rankscope.api.grades import dcg as dcg
from rankscope.api.grades import idcg as idcg
from rankscope.api.grades import ndcg as ndcg
from rankscope.api.judged_evaluation import evaluate_judges as evaluate_judges
from rankscope.api.judges import combine_judges as combine_judges
from rankscope.api.judges import judge_agreement as judge_agreement
from rankscope.api.letor import Letor as Letor
from rankscope.api.letor import read_letor as read_letor
from rankscope.api.model_judge import evaluate_with_model_judge as evaluate_with_model_judge
from rankscope.api.power import power as power
from rankscope.api.rankings import Rankings as Rankings
from rankscope.api.reconciliation.reconcile import reconcile as reconcile
from rankscope.api.reconciliation.reconcile import reconcile_table as reconcile_table
from rankscope.api.report import report as report
from rankscope.api.report import report_table as report_table
from rankscope.api.sampled_ranks import correct_sampled_ranks as correct_sampled_ranks
from rankscope.api.score import dcg_score as dcg_score
from rankscope.api.score import ndcg_score as ndcg_score
from rankscope.api.sql import sql as sql
from rankscope.api.sql import sql_table as sql_table
