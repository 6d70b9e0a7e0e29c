"""The pinball loss of a quantile, over the scale of its series."""


def scaled_pinball(gold, predicted, **_):
    quantile, losses = float(gold["quantile"]), []
    for sold, forecast in zip(gold["sales"], predicted["sales"]):
        losses.append(max(quantile * (sold - forecast), (quantile - 1) * (sold - forecast)))
    return sum(losses) / len(losses) / float(gold["scale"])
