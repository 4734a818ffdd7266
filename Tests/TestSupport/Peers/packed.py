"""Writes the value of an expression that may use `pack(bytes, window bits)`, which compresses."""
import sys, zlib

def pack(data, bits):
    compressor = zlib.compressobj(9, 8, bits)
    return compressor.compress(data) + compressor.flush()

sys.stdout.buffer.write(eval(sys.argv[1]))
