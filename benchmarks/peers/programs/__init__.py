"""Rivals in Python, as programs: run by the interpreter of ``.venv-bench``, which has what they import and no more.

They import nothing of ours but ``bursts``, beside them. A client behaves as ``peer_load ask`` does.
"""
