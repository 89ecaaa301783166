"""Rivals in Python, as programs: run by the interpreter of ``.venv-bench``, which has what they import and no more.

They import only ``bursts`` of this package. A client behaves as ``peer_load ask`` does.
"""
