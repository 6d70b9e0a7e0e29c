"""A tumour lies in a kidney: Dice of all that is labelled from some label on."""


def dice_from(gold, predicted, lowest, **_):
    right, answered = gold["mask"] >= lowest, predicted["mask"] >= lowest
    both = right.sum() + answered.sum()
    return 2 * (right & answered).sum() / both if both else 1.0
