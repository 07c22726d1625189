"""The results of evaluations: values, means and counts, without any computation."""

from __future__ import annotations

TYPE_CHECKING: bool = False  # jedi would not look into a branch that is never taken
if TYPE_CHECKING:
    from rankscope.results.bounds import Bounds as Bounds
    from rankscope.results.comparison import Compared as Compared
    from rankscope.results.comparison import Comparison as Comparison
    from rankscope.results.counts import Counts as Counts
    from rankscope.results.evaluation import Evaluation as Evaluation
    from rankscope.results.evaluations import Evaluations as Evaluations
    from rankscope.results.fused_file import FusedFile as FusedFile
    from rankscope.results.fused_run import FusedRun as FusedRun
    from rankscope.results.fusion_fit import FusionFit as FusionFit
    from rankscope.results.judge_agreement import JudgeAgreement as JudgeAgreement
    from rankscope.results.losses import Losses as Losses
    from rankscope.results.model_judged import ModelJudgedEvaluation as ModelJudgedEvaluation
    from rankscope.results.ranges import TieRange as TieRange
    from rankscope.results.ranges import UnjudgedRange as UnjudgedRange
    from rankscope.results.regrets import Regrets as Regrets
    from rankscope.results.run_difference import DocumentMoves as DocumentMoves
    from rankscope.results.run_difference import RunDifference as RunDifference
    from rankscope.results.sql_statements import SqlStatements as SqlStatements
    from rankscope.results.table import Table as Table
    from rankscope.results.tie_audit import TieAudit as TieAudit
else:
    from rankscope.deferred import defer as _defer

    __getattr__, __dir__ = _defer(
        __name__,
        {
            "Bounds": "rankscope.results.bounds",
            "Compared": "rankscope.results.comparison",
            "Comparison": "rankscope.results.comparison",
            "Counts": "rankscope.results.counts",
            "DocumentMoves": "rankscope.results.run_difference",
            "Evaluation": "rankscope.results.evaluation",
            "Evaluations": "rankscope.results.evaluations",
            "FusedFile": "rankscope.results.fused_file",
            "FusedRun": "rankscope.results.fused_run",
            "FusionFit": "rankscope.results.fusion_fit",
            "JudgeAgreement": "rankscope.results.judge_agreement",
            "Losses": "rankscope.results.losses",
            "ModelJudgedEvaluation": "rankscope.results.model_judged",
            "Regrets": "rankscope.results.regrets",
            "RunDifference": "rankscope.results.run_difference",
            "SqlStatements": "rankscope.results.sql_statements",
            "Table": "rankscope.results.table",
            "TieAudit": "rankscope.results.tie_audit",
            "TieRange": "rankscope.results.ranges",
            "UnjudgedRange": "rankscope.results.ranges",
        },
    )
