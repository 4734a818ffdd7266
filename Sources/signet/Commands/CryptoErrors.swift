import SignetCrypto
internal import SignetSystem

extension KeyError: CodedError {
    var codeName: String { code.name }
}

extension FileFailure: CodedError {
    var codeName: String {
        switch (kind, operation) {
        case (.permissions, _): "key-file-permissions"
        case (.busy, _): "file-busy"
        case (_, "write"), (_, "create"), (_, "change"), (_, "wipe"), (_, "lock"): "unwritable-file"
        case (_, "edit"): "editor-failed"
        default: "unreadable-file"
        }
    }
}

extension CryptoFailure: CodedError {
    var codeName: String { "crypto-failure" }
    var message: String { description }
}

extension X509Failure: CodedError {
    var codeName: String { "malformed-input" }
}
