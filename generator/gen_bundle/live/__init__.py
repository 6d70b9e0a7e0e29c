"""The live platform: logging in, uploading a bundle, watching a competition, and fetching what participants sent.

Whatever asks the server may raise an AnswerError; docstrings name what else is raised.
"""
