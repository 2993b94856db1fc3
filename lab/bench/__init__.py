"""The benchmark: what the operator costs, measured on the lab and put beside the budgets."""
