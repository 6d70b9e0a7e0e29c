"""Real shared tasks: gold and submissions as they look there, made up, and the scores computed without our scorer.

A task is a folder of `gen_bundle/scaffold/real_tasks/` and a function here that is called like it.
"""
