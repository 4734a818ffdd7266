// A policy is asked about a `HostName`; a program need not import the module that has it.
@_exported public import SignetBase
