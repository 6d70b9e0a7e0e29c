"""How sure a ranking is: intervals, tests and ties by resampling the units of the test set.

Numpy alone, over all resamples at a time. Only the organisers' final report uses it; it is in no scoring program.
"""
