"""A run that was fused from others into a file."""

from __future__ import annotations

from rankscope.fusion.run import label_fusion, show_fusion
from rankscope.hints import Hinted
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


@record(frozen=True, slots=True, kw_only=True)
class FusedFile(Hinted):
    """A run that was fused from others into a file. Pass its `path` to `evaluate` as a run.

    Args:
        path: The file.
        names: The names of the runs.
        method: The method.
        parameters: Its parameter, if it has one.
        scale: How scores were scaled; empty for a method that goes by ranks.
        weights: The weight of each run.
        missing: For each run, the number of queries that others have and it doesn't.
        queries: The number of queries.
        documents: The number of documents in all lists.
    """

    path: str
    names: tuple[str, ...]
    method: str
    parameters: Mapping[str, float]
    scale: str
    weights: tuple[float, ...]
    missing: tuple[int, ...]
    queries: int
    documents: int

    @property
    def label(self) -> str:
        """The method with its parameter and scale, such as `rrf(k=60)`."""
        return label_fusion(self.method, self.parameters, self.scale)

    def __repr__(self) -> str:
        return f"{show_fusion(self)}, in {self.path}"
