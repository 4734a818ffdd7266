// Re-exports SignetSystem, because a program that reads keys may need `CoreDumps`.
@_exported public import SignetSystem
