import SignetBase
import SignetCrypto
import SignetSystem

/// A file with the highest sequences seen. It is changed under its lock and always replaced whole.
struct StateFile: Sendable {
    let path: String

    /// Compares the sequence of an opened dump with the file, and records a higher one.
    ///
    /// - Parameters:
    ///   - opened: The dump.
    ///   - root: The dump's root, which must have authenticated the file.
    ///   - recording: Whether to create or change the file.
    /// - Throws: `state-tampered`, `unreadable-file`, `unwritable-file`.
    func check(
        _ opened: OpenedDump, under root: DumpRoot, recording: Bool
    ) throws(VaultError) -> RollbackCheck {
        let state = try read(authenticatedBy: [root])
        let check = RollbackCheck(
            sequence: opened.sequence, highestSeen: state?.highestSequence(of: opened.binding))
        guard recording, opened.sequence > check.highestSeen ?? 0 else { return check }
        try update(authenticatedBy: [root]) { state throws(VaultError) in
            try state.record(opened.sequence, of: opened.binding)
            try state.seal(under: [root])
        }
        return check
    }

    /// Reads the file.
    ///
    /// - Parameter roots: One of these must have authenticated the file.
    /// - Returns: nil if there is no file.
    /// - Throws: `state-tampered`, `unreadable-file`.
    func read(authenticatedBy roots: [DumpRoot]) throws(VaultError) -> SequenceState? {
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try PrivateFile.read(
                path, limit: SequenceState.sizeLimit, requirePrivate: false)
        } catch {
            switch error.kind {
            case .notFound: return nil
            case .tooLarge: throw tampered("the file is larger than a state file can be")
            default: throw VaultError(.unreadableFile, error.message)
            }
        }
        return try parsed(bytes, authenticatedBy: roots)
    }

    /// Changes or creates the file under its lock.
    ///
    /// - Throws: `state-tampered`, `unreadable-file`, `unwritable-file`, `file-busy`, and the
    ///   errors of `change`.
    func update(
        authenticatedBy roots: [DumpRoot],
        _ change: (inout SequenceState) throws(VaultError) -> Void
    ) throws(VaultError) {
        while true {
            var lock = try DumpFile.lock(path)
            let old = try read(authenticatedBy: roots)
            var new = old ?? SequenceState()
            try change(&new)
            let bytes = new.bytes
            if bytes == old?.bytes { return }
            do throws(FileFailure) {
                return try lock.write(bytes)
            } catch {
                // Another process created the file meanwhile, so repeat the change on its content.
                guard lock.hasNoFile, error.kind == .alreadyExists else {
                    throw DumpFile.unwritable(error)
                }
            }
        }
    }

    private func parsed(
        _ bytes: [UInt8], authenticatedBy roots: [DumpRoot]
    ) throws(VaultError) -> SequenceState {
        guard let state = SequenceState(parsing: bytes) else {
            throw tampered("the file was changed or truncated")
        }
        for root in roots where try state.isAuthenticated(by: root) { return state }
        // Name each id once: a root that replaces another one may have the same id.
        var names: [String] = []
        for root in roots where !names.contains(quoted(root.id)) { names.append(quoted(root.id)) }
        throw tampered(
            "the file was changed, or belongs to another root than "
                + names.joined(separator: " or "))
    }

    private func tampered(_ problem: String) -> VaultError {
        VaultError(
            .stateTampered,
            "\(printable(path)): \(problem); if you know the cause and trust the current dump, "
                + "remove this file, and the next run creates a new one")
    }
}
