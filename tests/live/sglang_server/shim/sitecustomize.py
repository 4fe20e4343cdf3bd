"""Loaded by every Python of the server: lets torchvision's Python side be imported beside a torch without CUDA.

torchvision's compiled part wants CUDA libraries and does not load; its Python side only insists that two operators
are declared. SGLang imports torchvision but calls nothing of it for a text model.
"""

import importlib.abc
import sys

_LIBRARIES = []


class _BeforeTorchvision(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if fullname == "torchvision":
            sys.meta_path.remove(self)
            import torch

            library = torch.library.Library("torchvision", "DEF")
            for operator in ("nms", "qnms"):
                library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
            _LIBRARIES.append(library)


sys.meta_path.insert(0, _BeforeTorchvision())
