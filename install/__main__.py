"""python -m install: write everything that the operator is installed from."""

from __future__ import annotations

from install import bundle, deployed

if __name__ == "__main__":
    for path, content in {**deployed.files(), **bundle.files()}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
