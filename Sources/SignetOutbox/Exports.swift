// The errors of an outbox are those of its store.
#if Storage
@_exported public import SignetStorage
#endif
