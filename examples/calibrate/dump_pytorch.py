"""Leaves the inputs of a module's layers where quantc calibrate finds them.

    dump(model.eval(), batches, "samples")    # batches: tensors, one by one
"""
import json
import os
import numpy as np
import torch
from torch import nn

KINDS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.Linear, nn.AvgPool2d)


def dump(model, batches, folder):
    index, hooks = {}, []
    os.makedirs(folder, exist_ok=True)
    for i, (name, module) in enumerate(model.named_modules()):
        def save(_, inputs, i=i, name=name):
            files = index.setdefault(name, [])
            files.append(f"{i}.{len(files)}.npy")
            np.save(os.path.join(folder, files[-1]), inputs[0].detach().float().cpu().numpy())
        if isinstance(module, KINDS):
            hooks.append(module.register_forward_pre_hook(save))
    with torch.no_grad():
        for x in batches:
            model(x)
    for hook in hooks:
        hook.remove()
    json.dump(index, open(os.path.join(folder, "index.json"), "w"), indent=1)
