"""Measures every claim about speed: arms in processes of their own, interleaved, compared with stock llama.cpp.

`suites` declares what is compared, `schedule` runs it (each arm through `process`, which starts `measuring` in a child
under a memory limit), `results` keeps one line for each run, `figures`, `statistics` and `claims` turn them into
numbers and `report` into tables. Nothing that is learned from earlier runs of a model is used.
"""
