"""What the name of a column says of its use."""

import re


def _names(words: str, *, after: str = " _.-") -> re.Pattern[str]:
    """Names of columns that are one of these words, or end in one: `gold label`, `doc_id`."""
    return re.compile(rf"(?i)(.*[{after}])?({words})")


ID = "_?id|ids|idx|index|uid|uuid|guid|key|file|filename|item|doc|docid|document|query|qid|sentence|sent|line|row|nr|no"
ID_NAME = re.compile(rf"(?i:(.*[_ .-])?({ID})[0-9]?)|.*[a-z](Id|ID)[0-9]?")
POSITION_NAME = re.compile(
    r"(?i)(word|token|segment|turn|utterance|post|step)?[_ .-]?"
    r"(position|pos_?id|index|place|turn|number|annotator|rater|coder|worker)([_ .-]?(id|no|nr))?"
)
"""A place in what the key names: with it, rows that are labelled are told apart."""
PLACE_NAME = re.compile(
    r"(?i)(.*[_ .-])?(start|begin|end|stop|offset|from|to|span)s?([_ .-]?(char|token|offset|index|pos))?"
)
"""Where something is found: such rows are what participants answer."""
ANNOTATOR_NAME = re.compile(
    r"(?i)(annotat(or|ion)|ann|rater|rating|coder|judge|expert|worker|label|gold|a)[_ .-]?([0-9]{1,2}|[a-e])"
)
QUERY_NAME = re.compile(r"(?i)(query|question|topic|q)([_ .-]?(id|no|nr))?")
RELEVANCE = _names("relevance|rel|qrel|grade|judg(e?)ment")
"""A ranking's gold: how relevant an item is for a query, with many items a query."""
CLUSTER_NAME = re.compile(
    r"(?i)(.*[_ .-])?(doc|document|article|essay|conversation|dialog(ue)?|thread|debate|interview|session|video"
    r"|user|author|speaker|patient|subject|person|timeline|page|url|source|group|cluster)([_ .-]?(id|no|nr|name))?"
    r"|.*[_ -]id"
)
ANSWER_NAME = _names(
    "labels?|class(es)?|gold|golds|target|truth|answers?|categor(y|ies)|sentiment|stance|emotions?|tags|spans"
    "|references?|tag|summary|translation|output|score|rating|relevance|intensity|polarity|intent"
)
INPUT_NAME = _names(
    "(text|texts|tokens?|words?|form|headline|claim|sentence|sentences|sent|tweet|post|title|body|content|context|question|query|document"
    "|passage|paragraph|source|src|input|premise|hypothesis|url|image|audio|dialogue|utterance|prompt)[0-9]?"
)
GROUP_NAME = _names("lang|language|locale|dialect|domain|genre|topic|corpus|dataset|year|register|medium|platform")
PRIVATE_NAME = re.compile(
    r"(?i).*(gold|label|answer|target|truth|reference|annot|comment|note|rationale|explan|score|rating|vote|worker"
    r"|confidence|agreement|correct|solution).*"
)
