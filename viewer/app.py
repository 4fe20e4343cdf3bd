"""The viewer's entry: `streamlit run viewer/app.py -- --db DATABASE`. `spectrace view` starts it; draws nothing itself.

In a wheel this folder is called `spectrace/_viewer`, in a checkout `viewer`; its modules import each other as `viewer`
either way, so the package is loaded under that name from where this file lies, whatever else is called `viewer` there.
"""

import importlib
import importlib.util
import sys
from pathlib import Path

_INIT = Path(__file__).resolve().parent / "__init__.py"


def _load() -> None:
    """Make `import viewer` mean this folder."""
    known = sys.modules.get("viewer")
    if known is not None and known.__file__ == str(_INIT):
        return
    spec = importlib.util.spec_from_file_location("viewer", _INIT, submodule_search_locations=[str(_INIT.parent)])
    if spec is None or spec.loader is None:
        msg = f"{_INIT} is missing: this installation is damaged"
        raise ImportError(msg)
    package = importlib.util.module_from_spec(spec)
    sys.modules["viewer"] = package
    spec.loader.exec_module(package)


_load()
importlib.import_module("viewer.shell").draw()
