// A program that reads keys may need `MemoryDumps`; it need not import that module.
@_exported public import SignetSystem
