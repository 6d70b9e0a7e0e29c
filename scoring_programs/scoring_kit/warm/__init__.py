"""A scoring program that stays: gold, modules and models are loaded once, then many submissions are scored.

`python3 score.py --serve REF` reads requests and writes answers, one JSON object a line (`worker`). Each submission is
scored in a fork of the process (`job`), by the code of a single run, so that nothing of one submission reaches another.
Models run in a process of their own
(`model_process`), which remembers what it has computed. Linux only.
"""
