"""Names that metrics and types have elsewhere, and how a declaration writes them."""

import re
from collections.abc import Iterable

AVERAGES = ("macro", "micro", "weighted", "samples")
METRICS = {
    **dict.fromkeys(("acc", "accuracyscore"), "accuracy"),
    **dict.fromkeys(("bacc", "balancedacc", "uar", "unweightedaveragerecall"), "balanced_accuracy"),
    **dict.fromkeys(("f", "fscore", "fmeasure", "f1score", "f1measure"), "f1"),
    **dict.fromkeys(("p", "prec", "ppv"), "precision"),
    **dict.fromkeys(("r", "rec", "sensitivity", "tpr"), "recall"),
    **dict.fromkeys(("matthews", "matthewscorrcoef", "phi"), "mcc"),
    **dict.fromkeys(("cohen", "cohenkappa", "cohenskappa", "cohenkappascore"), "kappa"),
    **dict.fromkeys(("qwk", "quadraticweightedkappa", "quadratickappa"), "{name: kappa, weights: quadratic}"),
    **dict.fromkeys(("em", "exact", "exactmatchratio", "subsetaccuracy"), "exact_match"),
    **dict.fromkeys(("jaccardscore", "jaccardindex"), "jaccard"),
    **dict.fromkeys(("dsc", "dicecoefficient", "softdice"), "dice"),
    **dict.fromkeys(("miou", "meaniou", "intersectionoverunion"), "iou"),
    **dict.fromkeys(("pearsonr", "pcc", "pearsoncorrelation", "corr", "correlation"), "pearson"),
    **dict.fromkeys(("spearmanr", "spearmanrho", "spearmancorrelation", "rho", "srcc"), "spearman"),
    **dict.fromkeys(("kendalltau", "tau", "kendallstau", "kendalltaub"), "kendall"),
    **dict.fromkeys(("lincc", "concordance", "cccscore"), "ccc"),
    **dict.fromkeys(("meansquarederror",), "mse"),
    **dict.fromkeys(("rootmeansquarederror", "rmsd"), "rmse"),
    **dict.fromkeys(("meanabsoluteerror", "l1"), "mae"),
    **dict.fromkeys(("meanabsolutepercentageerror",), "mape"),
    **dict.fromkeys(("rsquared", "r2score", "coefficientofdetermination"), "r2"),
    **dict.fromkeys(("auc", "auroc", "rocaucscore", "aucroc", "roc"), "roc_auc"),
    **dict.fromkeys(("auprc", "prauc", "aucpr", "averageprecisionscore"), "average_precision"),
    **dict.fromkeys(("crossentropy", "logloss", "nll"), "log_loss"),
    **dict.fromkeys(("brierscore", "brierscoreloss"), "brier"),
    **dict.fromkeys(("map", "meanaverageprecision"), "ap"),
    **dict.fromkeys(("mrr", "meanreciprocalrank", "reciprocalrank"), "rr"),
    **dict.fromkeys(("ndcgscore", "dcg"), "ndcg"),
    **dict.fromkeys(("sacrebleu", "bleu4", "bleuscore", "corpusbleu"), "bleu"),
    **dict.fromkeys(("chrf++", "chrfpp"), "{name: chrf, word_order: 2}"),
    "rouge1": "{name: rouge, type: rouge1}",
    "rouge2": "{name: rouge, type: rouge2}",
    "rougel": "{name: rouge, type: rougeL}",
    "rougelsum": "{name: rouge, type: rougeLsum}",
    **dict.fromkeys(("levenshtein", "editdist"), "edit_distance"),
    **dict.fromkeys(("squadf1", "tokenf1score"), "token_f1"),
    **dict.fromkeys(("seqeval", "entityf1", "nerf1", "conllf1"), "span_f1"),
    **dict.fromkeys(("bertscoref1",), "bertscore"),
}
"""The name that people write, in small letters and without signs → what a declaration writes."""
BETAS = {".5": "0.5", "05": "0.5"}
CUT = {
    **dict.fromkeys(("p", "prec", "precision"), "precision_at"),
    **dict.fromkeys(("r", "rec", "recall"), "recall_at"),
    **dict.fromkeys(("map",), "ap"),
    **dict.fromkeys(("mrr",), "rr"),
    "ndcg": "ndcg",
}
"""Of rankings, before `@10`."""
SHOWN = "docs/any-file.md"
NOT_BUILT_IN = {
    **dict.fromkeys(("meteor", "gleu", "nist"), "nltk"),
    **dict.fromkeys(("cider", "spice"), "pycocoevalcap"),
    **dict.fromkeys(("comet", "xcomet"), "unbabel-comet"),
    **dict.fromkeys(("psnr", "ssim", "hd95", "map05", "map50", "las"), SHOWN),
    **dict.fromkeys(("hd", "hausdorff", "hausdorffdistance", "assd"), "medpy"),
    **dict.fromkeys(("map5095", "boxap", "maskap"), "pycocotools"),
    **dict.fromkeys(("hamming", "hammingloss", "coverageerror", "labelrankingloss"), "scikit-learn"),
    **dict.fromkeys(("bleurt", "mover", "bart", "sari", "perplexity", "fid", "der", "jer", "eer", "uas"), ""),
    **dict.fromkeys(("muc", "bcubed", "ceaf", "ceafe", "lea", "pck", "oks", "hits", "hit", "windowdiff"), ""),
}
"""Well-known metrics that a declaration has no name for → the package that computes them, where one is at hand, or the
page that has them as functions of numpy and SciPy."""
USUAL_TYPES = {
    **dict.fromkeys(("float", "int", "integer", "double", "numeric", "real"), "number"),
    **dict.fromkeys(("str", "id"), "string"),
    **dict.fromkeys(("category", "categorical", "class", "enum", "bool", "boolean", "choice"), "label"),
    **dict.fromkeys(("list", "set", "multilabel", "classes"), "labels"),
    **dict.fromkeys(("span", "entities"), "spans"),
    **dict.fromkeys(("probability", "probs", "proba"), "probabilities"),
}


def usual_metric(name: str, known: Iterable[str]) -> str:
    """Return what to write for a metric that is called so elsewhere; nothing where it is not known."""
    cut = re.fullmatch(r"([a-z]+)[-_ ]?(?:@|at)[-_ ]?([0-9]+)", name.lower())
    if cut is not None and cut[1] in CUT:
        return f"{{name: {CUT[cut[1]]}, cutoff: {cut[2]}}}"
    beta = re.fullmatch(r"f[-_]?(0?\.5|05|2)(?:[-_ ]?score)?", name.lower())
    if beta is not None:
        return f"{{name: fbeta, beta: {BETAS.get(beta[1], beta[1])}}}"
    words = re.findall(r"[a-z0-9+]+", name.lower())
    average, rest = [], ""
    for word in words:
        if word in AVERAGES:
            average.append(word)
        else:
            rest += word
    of_signs = {one.replace("_", ""): one for one in known}
    meant = of_signs.get(rest) or METRICS.get(rest, "") or of_signs.get(rest.removesuffix("score"), "")
    if average and meant in ("f1", "precision", "recall", "jaccard", "fbeta"):
        return f"{{name: {meant}, average: {average[0]}}}"
    return meant if meant.startswith("{") or not meant else f"{{name: {meant}}}"


def not_built_in(name: str) -> str:
    """Return what to do about a well-known metric that a declaration has no name for; nothing about any other."""
    without_cutoff = re.sub(r"@[0-9]+$", "", name.lower())
    function = re.sub("[^a-z0-9]+", "_", without_cutoff).strip("_")
    package = NOT_BUILT_IN.get(function.replace("_", "").removesuffix("score"))
    if package is None:
        return ""
    if package == SHOWN:
        return f"It is not built in: {SHOWN} has it as a function to copy."
    with_package = f" with the package {package} under requirements," if package else ""
    return f"It is not built in: write it as a function ({SHOWN}),{with_package} and name it metrics.py:{function}."
