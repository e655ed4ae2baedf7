"""Measures a machine and a model, and chooses the engine's settings with the evidence beside them.

`probes` measure parts of the machine, `machine` predicts from them what a setting would do (pure), `candidates`
turns that into arms (pure), `tuner` runs the arms on the loaded model, `halving` decides between them (pure),
`presets` and `store` keep what came out. `result` declares everything that leaves this package.
"""
