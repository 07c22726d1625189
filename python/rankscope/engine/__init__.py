"""Evaluation: turns arguments into one call of the core, and its answer into a result."""

from __future__ import annotations

from rankscope.engine.clusters import check_cluster_column as check_cluster_column
from rankscope.engine.clusters import number_clusters as number_clusters
from rankscope.engine.clusters import read_clusters as read_clusters
from rankscope.engine.clusters import refuse_cluster_alone as refuse_cluster_alone
from rankscope.engine.evaluating import describe_answer as describe_answer
from rankscope.engine.evaluating import evaluate_run as evaluate_run
from rankscope.engine.evaluating import make_evaluation as make_evaluation
from rankscope.engine.evaluating import make_plan as make_plan
from rankscope.engine.evaluating import rank_run as rank_run
from rankscope.engine.evaluating import rank_table as rank_table
from rankscope.engine.evaluating import refuse_diagnostics as refuse_diagnostics
from rankscope.engine.fusing import Fusion as Fusion
from rankscope.engine.fusing import fuse_text as fuse_text
from rankscope.engine.items import check_items as check_items
from rankscope.engine.items import load_items as load_items
from rankscope.engine.items import read_items_for as read_items_for
from rankscope.engine.items import refuse_known_items as refuse_known_items
from rankscope.engine.judgments import load_qrels as load_qrels
from rankscope.engine.judgments import load_qrels_for as load_qrels_for
from rankscope.engine.memory import Room as Room
from rankscope.engine.memory import read_memory as read_memory
from rankscope.engine.progress import follow as follow
from rankscope.engine.progress import tick as tick
from rankscope.engine.progress import watch as watch
from rankscope.engine.query_order import order_queries as order_queries
from rankscope.engine.query_values import line_up as line_up
from rankscope.engine.query_values import name_queries as name_queries
from rankscope.engine.query_values import read_series as read_series
from rankscope.engine.requests import DUPLICATES as DUPLICATES
from rankscope.engine.requests import ENCODINGS as ENCODINGS
from rankscope.engine.requests import SCORE_TYPES as SCORE_TYPES
from rankscope.engine.requests import Request as Request
from rankscope.engine.requests import count_threads as count_threads
from rankscope.engine.requests import find_second as find_second
from rankscope.engine.requests import read_columns as read_columns
from rankscope.engine.requests import read_measure as read_measure
from rankscope.engine.requests import read_measures as read_measures
from rankscope.engine.requests import read_policy as read_policy
from rankscope.engine.requests import read_request as read_request
from rankscope.engine.requests import refuse_one_stdin_for_both as refuse_one_stdin_for_both
from rankscope.engine.samples import evaluate_samples as evaluate_samples
from rankscope.engine.slices import join_groups as join_groups
from rankscope.engine.spilling import evaluate_spilled as evaluate_spilled
from rankscope.engine.streaming import StreamSettings as StreamSettings
from rankscope.engine.streaming import can_stream as can_stream
from rankscope.engine.streaming import evaluate_stream as evaluate_stream
from rankscope.engine.weights import are_weights as are_weights
from rankscope.engine.weights import read_weights as read_weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.engine.clusters import Clusters as Clusters
    from rankscope.engine.requests import Measures as Measures
    from rankscope.engine.slices import Groups as Groups
