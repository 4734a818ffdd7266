internal import SignetBase
import SignetCrypto
internal import SignetSystem

extension DumpFile {
    /// What becomes of the dump that is there.
    enum Change {
        /// Nothing; its inside.
        case unchanged(OpenedDump)
        /// Another takes its place: its root, what opens it again, and the inside of the old one
        /// where that was opened.
        case to(SealedDump, under: DumpRoot, of: VaultKeys, from: OpenedDump?)
    }

    /// Puts a new dump in the place of the one that is there: the one way in which a dump's file is
    /// changed.
    ///
    /// - Parameters:
    ///   - keys: What the dump that is there names its root in; that root vouches for the state file.
    ///   - now: Unix seconds for the key's dates.
    ///   - root: A further root that may vouch for the state file.
    ///   - acceptingEndedKey: Whether the key of the dump that is there may be revoked or expired.
    ///   - make: Gets what is there.
    /// - Returns: The inside of what was read back, or of what was left as it is.
    func change(
        openedWith keys: VaultKeys, at now: Int64, alsoVouching root: DumpRoot? = nil,
        acceptingEndedKey: Bool = false, _ make: (Present) throws(VaultError) -> Change
    ) throws(VaultError) -> OpenedDump {
        while true {
            var lock = try lock()
            let present = try present(openedWith: keys, at: now, root, acceptingEndedKey)
            switch try make(present) {
            case .unchanged(let opened): return opened
            case .to(let dump, let root, let keys, let old):
                let seen = try present.seen(dump.binding)
                try present.admit(root)
                guard try write(dump, under: &lock) else { continue }
                let written = try SealedDump(contentsOf: path)
                guard written.bytes == dump.bytes else {
                    throw VaultError(
                        .unwritableFile, "\(self): what was read back is not what was written")
                }
                var opened = try written.open(with: keys, isExactVersion: true, now: now)
                try present.record(opened, under: root)
                lock.release()
                if let old {
                    opened.rollback = old.rollback
                } else if state != nil {
                    opened.rollback = RollbackCheck(sequence: opened.sequence, highestSeen: seen)
                }
                return opened
            }
        }
    }

    /// What is at the path, and the roots that may vouch for the state file.
    private func present(
        openedWith keys: VaultKeys, at now: Int64, _ root: DumpRoot?, _ acceptingEndedKey: Bool
    ) throws(VaultError) -> Present {
        let found = try read()
        var roots: [DumpRoot] = []
        if case .dump(let dump) = found, let old = try? keys.root(of: dump),
            (try? old.requireUsable(at: now, evenIfEnded: acceptingEndedKey)) != nil
        {
            roots.append(old)
        }
        if let root { roots.append(root) }
        return Present(file: self, found: found, roots: roots)
    }

    /// Waits until no other process changes the file.
    private func lock() throws(VaultError) -> FileLock {
        do throws(FileFailure) {
            return try FileLock(guarding: path)
        } catch {
            throw Self.unwritable(error)
        }
    }

    /// Writes the dump; false where another process made the file between our look and our writing,
    /// and all is to be done again.
    private func write(
        _ dump: SealedDump, under lock: inout FileLock
    ) throws(VaultError) -> Bool {
        do throws(FileFailure) {
            try lock.write(dump.bytes)
            return true
        } catch {
            if lock.hasNoFile && error.kind == .alreadyExists { return false }
            throw Self.unwritable(error)
        }
    }

    static func unwritable(_ failure: FileFailure) -> VaultError {
        VaultError(failure.kind == .busy ? .fileBusy : .unwritableFile, failure.message)
    }

    /// The sequence behind another.
    static func sequence(after sequence: Int64) throws(VaultError) -> Int64 {
        guard sequence < .max else {
            throw VaultError(.malformedInput, "the dump's sequence cannot go on")
        }
        return sequence + 1
    }

    /// Gives a dump its check, or refuses it by the policy.
    func reported(
        _ check: RollbackCheck, of opened: OpenedDump
    ) throws(VaultError) -> OpenedDump {
        guard !check.isRolledBack || rollback == .report else {
            throw VaultError(
                .rolledBack,
                "\(self): the dump has sequence \(check.sequence), and "
                    + "\(check.highestSeen ?? 0) was seen before: an older dump was put back")
        }
        var opened = opened
        opened.rollback = check
        return opened
    }

    /// What a path leads to.
    enum Found {
        case nothing
        case dump(SealedDump)
        /// Cut short or damaged, but once a dump.
        case broken(VaultError)
    }

    private func read() throws(VaultError) -> Found {
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try PrivateFile.read(path, limit: SealedDump.sizeLimit, requirePrivate: false)
        } catch {
            if error.kind == .notFound { return .nothing }
            throw VaultError(
                error.kind == .wrongKind ? .unwritableFile : .unreadableFile, error.message)
        }
        if bytes.isEmpty { return .nothing }
        do {
            return .dump(try SealedDump(parsing: bytes))
        } catch {
            // A dump begins with the base64url of `{"`.
            guard bytes.starts(with: "eyJ".utf8) else {
                throw VaultError(
                    .malformedDump, "\(self): it is no sealed dump, so it is not replaced")
            }
            return .broken(error.naming(path))
        }
    }

    /// The dump that is there before a change, and what was seen of others before it.
    struct Present {
        fileprivate let file: DumpFile
        fileprivate let found: Found
        /// One of them must vouch for the state file; the first is that of the dump that is there.
        fileprivate let roots: [DumpRoot]

        fileprivate var state: StateFile? { file.state.map(StateFile.init) }

        /// The dump.
        ///
        /// - Throws: `unreadable-file`, `malformed-dump`.
        var dump: SealedDump {
            get throws(VaultError) {
                switch found {
                case .dump(let dump): return dump
                case .broken(let error): throw error
                case .nothing: throw VaultError(.unreadableFile, "\(file): no dump is there")
                }
            }
        }

        /// Opens the dump, which must be of this very version, and holds it against the state file.
        func open(
            with keys: VaultKeys, for binding: VersionBinding, acceptingEndedKey: Bool = false,
            at now: Int64
        ) throws(VaultError) -> OpenedDump {
            let dump = try dump
            try dump.requireBinding(to: binding)
            return try checked(
                try dump.open(
                    with: keys, isExactVersion: true, acceptingEndedKey: acceptingEndedKey, now: now
                ))
        }

        /// Holds a dump that was opened against the state file.
        func checked(_ opened: OpenedDump) throws(VaultError) -> OpenedDump {
            guard state != nil else { return opened }
            let check = RollbackCheck(
                sequence: opened.sequence, highestSeen: try seen(opened.binding))
            return try file.reported(check, of: opened)
        }

        /// The sequence of the dump, if it is of this app and the keys open it; else 0.
        func sequence(
            of app: VersionBinding.Identity, with keys: VaultKeys, at now: Int64
        ) -> Int64 {
            guard case .dump(let dump) = found, sameBytes(dump.binding.app.id, app.id),
                let opened = try? dump.open(with: keys, now: now)
            else { return 0 }
            return opened.sequence
        }

        /// The highest sequence that the state file knows, or nil.
        ///
        /// - Throws: `state-tampered`, `unreadable-file`.
        func seen(_ binding: VersionBinding) throws(VaultError) -> Int64? {
            try state?.read(vouchedForBy: roots)?.seen(binding)
        }

        /// The other apps that the state file knows.
        func otherApps(than binding: VersionBinding) throws(VaultError) -> [String] {
            guard let state = try state?.read(vouchedForBy: roots) else { return [] }
            return state.entries.filter { !$0.isOf(binding) }.map(\.app)
        }

        /// The dump's next sequence under another root, for other versions or with other values.
        ///
        /// - Parameter other: A sequence that the new one must be beyond too.
        func resealed(
            _ opened: OpenedDump, as tail: [UInt8], after other: Int64 = 0, under root: DumpRoot,
            of keys: VaultKeys, for binding: VersionBinding, at now: Int64
        ) throws(VaultError) -> Change {
            var last = max(opened.sequence, other)
            last = max(last, try seen(opened.binding) ?? 0)
            last = max(last, try seen(binding) ?? 0)
            let dump = try SealedDump(
                tail: tail, sequence: DumpFile.sequence(after: last), with: root, for: binding,
                now: now, salt: SealedDump.newSalt())
            return .to(dump, under: root, of: keys, from: opened)
        }

        /// Lets the new dump's root vouch for the state file too, before the dump is written: until
        /// that stands, either of the two may be what the next run finds.
        fileprivate func admit(_ root: DumpRoot) throws(VaultError) {
            guard let state, try state.read(vouchedForBy: roots) != nil else { return }
            let first = Array(roots.prefix(1))
            try state.update(vouchedForBy: roots) { state throws(VaultError) in
                if try !state.isAuthenticated(by: root) { try state.seal(under: first + [root]) }
            }
        }

        /// Notes the new dump's sequence, for which its root alone vouches from now on.
        fileprivate func record(
            _ opened: OpenedDump, under root: DumpRoot
        ) throws(VaultError) {
            try state?.update(vouchedForBy: [root] + roots) { state throws(VaultError) in
                try state.note(opened.sequence, of: opened.binding)
                try state.seal(under: [root])
            }
        }
    }
}
