// Re-exports SignetBase, because codes of errors are part of this module's interface, and
// SignetSystem, because a program that reads keys may need `CoreDumps`.
@_exported public import SignetBase
@_exported public import SignetSystem
