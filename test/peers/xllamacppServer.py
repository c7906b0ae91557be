"""
llama.cpp's server as the package xllamacpp ships it, started with those of llama-server's arguments that the tests
use: python xllamacppServer.py -m FILE --host 127.0.0.1 --port N -c TOKENS -np SLOTS -t THREADS -a NAME [--special]
"""

import argparse
import signal

import xllamacpp

parser = argparse.ArgumentParser()
parser.add_argument("-m", required=True)
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, required=True)
parser.add_argument("-c", type=int, default=4096)
parser.add_argument("-np", type=int, default=1)
parser.add_argument("-t", type=int, default=1)
parser.add_argument("-a", default="tiny")
parser.add_argument("--special", action="store_true")
given = parser.parse_args()

params = xllamacpp.CommonParams()
params.model.path = given.m
params.hostnames = [given.host]
params.port = given.port
params.n_ctx = given.c
params.n_parallel = given.np
params.cpuparams.n_threads = given.t
params.cpuparams_batch.n_threads = given.t
params.model_alias = {given.a}
params.special = given.special
params.endpoint_slots = True
params.n_gpu_layers = 0

server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
signal.pause()
