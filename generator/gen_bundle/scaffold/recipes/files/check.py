"""What makes a file no answer; it runs at home, too: the standard library and Python 3.9 alone."""


def check(rows):
    problems = []
    for row in rows:
        try:
            lines = row["events"].read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            problems.append(f"{row['clip']}: is not UTF-8")
            continue
        for number, line in enumerate(lines, 1):
            if len(line.split("\t")) != 2:
                problems.append(f"{row['clip']}, line {number}: expected second and event, with a tab between them")
    return problems
