"""What the operator is installed from, written from one source: `deploy/` for kubectl and kustomize, `bundle/` for OLM.

`python -m install` writes the files anew; a test fails when one is stale. Not shipped: it needs the checkout.
"""
