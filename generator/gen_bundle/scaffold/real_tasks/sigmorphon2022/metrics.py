"""The mean edit distance of words in which a boundary of morphemes is one character."""


def distance(gold, predicted, **_):
    pairs = zip(gold, predicted)
    found = [
        levenshtein(one["segments"].replace(" @@", "|"), other["segments"].replace(" @@", "|")) for one, other in pairs
    ]
    return sum(found) / len(found)


def levenshtein(one, other):
    costs = list(range(len(other) + 1))
    for row, char in enumerate(one, start=1):
        before, costs[0] = costs[0], row
        for at, char_of_other in enumerate(other, start=1):
            replaced = before + (char != char_of_other)
            before, costs[at] = costs[at], min(costs[at] + 1, costs[at - 1] + 1, replaced)
    return costs[-1]
