// A program that reads keys may need `CoreDumps`; it need not import that module.
@_exported public import SignetSystem
