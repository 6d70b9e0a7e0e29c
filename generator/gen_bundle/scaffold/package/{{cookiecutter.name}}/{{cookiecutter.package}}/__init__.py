"""Scoring of {{ cookiecutter.title }}."""
