"""The object of each measure. Type checkers and editors find their names here."""

from __future__ import annotations

from rankscope.measures.table import measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

nDCG: Final = measure("nDCG")  # noqa: N816 - its name in the field
DCG: Final = measure("DCG")
IDCG: Final = measure("IDCG")
CG: Final = measure("CG")
RetrievalLoss: Final = measure("RetrievalLoss")
TruncationLoss: Final = measure("TruncationLoss")
OrderingLoss: Final = measure("OrderingLoss")
AP: Final = measure("AP")
GMAP: Final = measure("GMAP")
RR: Final = measure("RR")
P: Final = measure("P")
R: Final = measure("R")
Rprec: Final = measure("Rprec")
Success: Final = measure("Success")
F: Final = measure("F")
IPrec: Final = measure("IPrec")
InterpolatedAP: Final = measure("InterpolatedAP")
YAAP: Final = measure("YAAP")
BinG: Final = measure("BinG")
G: Final = measure("G")
nDCGRel: Final = measure("nDCGRel")  # noqa: N816 - its name in the field
RnDCG: Final = measure("RnDCG")
SetP: Final = measure("SetP")
SetR: Final = measure("SetR")
SetF: Final = measure("SetF")
SetAP: Final = measure("SetAP")
SetRelP: Final = measure("SetRelP")
Utility: Final = measure("Utility")
Bpref: Final = measure("Bpref")
GMBpref: Final = measure("GMBpref")
infAP: Final = measure("infAP")  # noqa: N816 - its name in the field
Judged: Final = measure("Judged")
Unjudged: Final = measure("Unjudged")
ERR: Final = measure("ERR")
RBP: Final = measure("RBP")
RBPResidual: Final = measure("RBPResidual")
NumRet: Final = measure("NumRet")
NumRel: Final = measure("NumRel")
NumRelRet: Final = measure("NumRet")(rel=1)
NumNonrelRet: Final = measure("NumNonrelRet")
NumQ: Final = measure("NumQ")

__all__ = [
    "AP",
    "CG",
    "DCG",
    "ERR",
    "GMAP",
    "IDCG",
    "RBP",
    "RR",
    "YAAP",
    "BinG",
    "Bpref",
    "F",
    "G",
    "GMBpref",
    "IPrec",
    "InterpolatedAP",
    "Judged",
    "NumNonrelRet",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "OrderingLoss",
    "P",
    "R",
    "RBPResidual",
    "RetrievalLoss",
    "RnDCG",
    "Rprec",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "SetRelP",
    "Success",
    "TruncationLoss",
    "Unjudged",
    "Utility",
    "infAP",
    "nDCG",
    "nDCGRel",
]
