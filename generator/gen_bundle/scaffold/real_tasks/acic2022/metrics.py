"""Estimates of an effect, and their intervals."""


def difference(gold, predicted, **_):
    return predicted["satt"] - gold["satt"]


def covered(gold, predicted, **_):
    return float(predicted["lower90"] <= gold["satt"] <= predicted["upper90"])


def width(gold, predicted, **_):
    return predicted["upper90"] - predicted["lower90"]
