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
Q: Final = measure("Q")
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
SetRelP: Final = measure("SetP")(relative=True)
SetR: Final = measure("SetR")
SetF: Final = measure("SetF")
SetAP: Final = measure("SetAP")
Utility: Final = measure("Utility")
Bpref: Final = measure("Bpref")
GMBpref: Final = measure("GMBpref")
infAP: Final = measure("infAP")  # noqa: N816 - its name in the field
Judged: Final = measure("Judged")
Unjudged: Final = measure("Unjudged")
infNDCG: Final = measure("infNDCG")  # noqa: N816 - its name in the field
xinfAP: Final = measure("xinfAP")  # noqa: N816 - its name in the field
ERR: Final = measure("ERR")
RBP: Final = measure("RBP")
RBPResidual: Final = measure("RBPResidual")
SDCG: Final = measure("SDCG")
BPM: Final = measure("BPM")
INST: Final = measure("INST")
INSQ: Final = measure("INSQ")
NERR8: Final = measure("NERR8")
NERR9: Final = measure("NERR9")
NERR10: Final = measure("NERR10")
NERR11: Final = measure("NERR11")
P_CWL: Final = measure("P_CWL")
RR_CWL: Final = measure("RR_CWL")
AP_CWL: Final = measure("AP_CWL")
RBP_CWL: Final = measure("RBP_CWL")
TBG: Final = measure("TBG")
U: Final = measure("U")
IFT: Final = measure("IFT")
Accuracy: Final = measure("Accuracy")
EEL: Final = measure("EEL")
EED: Final = measure("EED")
EER: Final = measure("EER")
Compat: Final = measure("Compat")
alpha_nDCG: Final = measure("alpha_nDCG")  # noqa: N816 - its name in the field
alpha_DCG: Final = measure("alpha_DCG")  # noqa: N816 - its name in the field
ERR_IA: Final = measure("ERR_IA")
nERR_IA: Final = measure("nERR_IA")  # noqa: N816 - its name in the field
NRBP: Final = measure("NRBP")
nNRBP: Final = measure("nNRBP")  # noqa: N816 - its name in the field
AP_IA: Final = measure("AP_IA")
P_IA: Final = measure("P_IA")
StRecall: Final = measure("StRecall")
AUC: Final = measure("AUC")
PAP: Final = measure("PAP")
Novelty: Final = measure("Novelty")
AvgPopularity: Final = measure("AvgPopularity")
ILD: Final = measure("ILD")
Serendipity: Final = measure("Serendipity")
Miscalibration: Final = measure("Miscalibration")
AWRF: Final = measure("AWRF")
Coverage: Final = measure("Coverage")
Gini: Final = measure("Gini")
Entropy: Final = measure("Entropy")
Personalization: Final = measure("Personalization")
NumRet: Final = measure("NumRet")
NumRel: Final = measure("NumRel")
NumRelRet: Final = measure("NumRet")(rel=1)
NumNonrelRet: Final = measure("NumNonrelRet")
NumQ: Final = measure("NumQ")

__all__ = [
    "AP",
    "AP_CWL",
    "AP_IA",
    "AUC",
    "AWRF",
    "BPM",
    "CG",
    "DCG",
    "EED",
    "EEL",
    "EER",
    "ERR",
    "ERR_IA",
    "GMAP",
    "IDCG",
    "IFT",
    "ILD",
    "INSQ",
    "INST",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "NRBP",
    "PAP",
    "P_CWL",
    "P_IA",
    "RBP",
    "RBP_CWL",
    "RR",
    "RR_CWL",
    "SDCG",
    "TBG",
    "YAAP",
    "Accuracy",
    "AvgPopularity",
    "BinG",
    "Bpref",
    "Compat",
    "Coverage",
    "Entropy",
    "F",
    "G",
    "GMBpref",
    "Gini",
    "IPrec",
    "InterpolatedAP",
    "Judged",
    "Miscalibration",
    "Novelty",
    "NumNonrelRet",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "OrderingLoss",
    "P",
    "Personalization",
    "Q",
    "R",
    "RBPResidual",
    "RetrievalLoss",
    "RnDCG",
    "Rprec",
    "Serendipity",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "SetRelP",
    "StRecall",
    "Success",
    "TruncationLoss",
    "U",
    "Unjudged",
    "Utility",
    "alpha_DCG",
    "alpha_nDCG",
    "infAP",
    "infNDCG",
    "nDCG",
    "nDCGRel",
    "nERR_IA",
    "nNRBP",
    "xinfAP",
]
