// Re-exports SignetBase, because `HostName` is part of this module's interface.
@_exported public import SignetBase
