"""What a run costs: two propositions, estimators from token counts, a prefix-cache model, profiles and prices.

Beside the store and the models: imports `core` only. What is read from a log comes through `audit.costing`.
"""
