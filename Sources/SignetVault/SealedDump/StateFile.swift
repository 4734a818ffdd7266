internal import SignetBase
import SignetCrypto
internal import SignetSystem

/// A file that holds the highest sequences seen, changed under its lock and replaced whole.
struct StateFile: Sendable {
    let path: String

    /// Holds a dump that was opened against the file, and notes its sequence when it is higher than
    /// what was seen.
    ///
    /// - Parameters:
    ///   - opened: The dump.
    ///   - root: What it was opened with, which must vouch for the file.
    ///   - recording: Whether the file is made or changed; else it is only read.
    /// - Throws: `state-tampered`, `unreadable-file`, `unwritable-file`.
    func check(
        _ opened: OpenedDump, under root: DumpRoot, recording: Bool
    ) throws(VaultError) -> RollbackCheck {
        let state = try read(vouchedForBy: [root])
        let check = RollbackCheck(
            sequence: opened.sequence, highestSeen: state?.seen(opened.binding))
        guard recording, opened.sequence > check.highestSeen ?? 0 else { return check }
        try update(vouchedForBy: [root]) { state throws(VaultError) in
            try state.note(opened.sequence, of: opened.binding)
            try state.seal(under: [root])
        }
        return check
    }

    /// Reads the file.
    ///
    /// - Parameter roots: One of them must vouch for it.
    /// - Returns: nil where there is none.
    /// - Throws: `state-tampered`, `unreadable-file`.
    func read(vouchedForBy roots: [DumpRoot]) throws(VaultError) -> SequenceState? {
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try PrivateFile.read(
                path, limit: SequenceState.sizeLimit, requirePrivate: false)
        } catch {
            switch error.kind {
            case .notFound: return nil
            case .tooLarge: throw tampered("it is larger than a state file can be")
            default: throw VaultError(.unreadableFile, error.message)
            }
        }
        return try parsed(bytes, vouchedForBy: roots)
    }

    /// Changes the file under its lock, or makes it.
    ///
    /// - Throws: `state-tampered`, `unreadable-file`, `unwritable-file`, `file-busy`, and what
    ///   `change` throws.
    func update(
        vouchedForBy roots: [DumpRoot],
        _ change: (inout SequenceState) throws(VaultError) -> Void
    ) throws(VaultError) {
        while true {
            var lock = try lock()
            let old = try read(vouchedForBy: roots)
            var new = old ?? SequenceState()
            try change(&new)
            let bytes = new.bytes
            if bytes == old?.bytes { return }
            do throws(FileFailure) {
                return try lock.write(bytes)
            } catch {
                // Another process made it meanwhile: begin again with what it noted.
                guard lock.hasNoFile, error.kind == .alreadyExists else {
                    throw DumpFile.unwritable(error)
                }
            }
        }
    }

    private func lock() throws(VaultError) -> FileLock {
        do throws(FileFailure) {
            return try FileLock(guarding: path)
        } catch {
            throw DumpFile.unwritable(error)
        }
    }

    private func parsed(
        _ bytes: [UInt8], vouchedForBy roots: [DumpRoot]
    ) throws(VaultError) -> SequenceState {
        guard let state = SequenceState(parsing: bytes) else {
            throw tampered("it was changed or cut short")
        }
        for root in roots where try state.isAuthenticated(by: root) { return state }
        let names = roots.map { quoted($0.id) }.joined(separator: " or ")
        throw tampered("it was changed, or is of another root than \(names)")
    }

    private func tampered(_ what: String) -> VaultError {
        VaultError(
            .stateTampered,
            "\(printable(path)): \(what); when you know why and trust the dump that is there, "
                + "remove this file, and the next run begins it anew")
    }
}
