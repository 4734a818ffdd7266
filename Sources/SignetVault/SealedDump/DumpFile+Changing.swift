import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem

extension DumpFile {
    /// A change to the current dump.
    enum Change {
        /// Leave the file unchanged.
        case unchanged(OpenedDump)
        /// Replace the dump. Holds the new dump, its root, the keys that open it again, and the
        /// content of the old dump if that was opened.
        case to(SealedDump, under: DumpRoot, of: VaultKeys, from: OpenedDump?)
    }

    /// Replaces the current dump with a new one. All changes to the file go through this function.
    ///
    /// - Parameters:
    ///   - keys: The keys of the current dump. Its root must have authenticated the state file.
    ///   - now: The time for the key's dates, in Unix seconds.
    ///   - root: Another root that may have authenticated the state file.
    ///   - acceptingEndedKey: Whether the key of the current dump may be revoked or expired.
    ///   - make: Receives the current dump and returns the change.
    /// - Returns: The content of the new dump as read back, or of the unchanged one.
    func change(
        openedWith keys: VaultKeys, at now: Int64, alsoTrusting root: DumpRoot? = nil,
        acceptingEndedKey: Bool = false, _ make: (Current) throws(VaultError) -> Change
    ) throws(VaultError) -> OpenedDump {
        while true {
            var lock = try Self.lock(path)
            let current = try current(
                openedWith: keys, at: now, alsoTrusting: root,
                acceptingEndedKey: acceptingEndedKey)
            switch try make(current) {
            case .unchanged(let opened): return opened
            case .to(let dump, let root, let keys, let old):
                let seen = try current.highestSeen(of: dump.binding)
                try current.trust(root)
                // Open the new dump before it replaces the old one.
                var opened = try Self.opening(dump, with: keys, at: now)
                guard try write(dump, under: &lock) else { continue }
                let written = try SealedDump(contentsOf: path)
                guard written.bytes == dump.bytes else {
                    throw VaultError(
                        .unwritableFile, "\(self): the file does not hold what was written to it")
                }
                try current.record(opened, under: root)
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

    /// Opens a dump that was just sealed.
    ///
    /// - Throws: `malformed-input` if its values can't be read again, and as `SealedDump.open`.
    private static func opening(
        _ dump: SealedDump, with keys: VaultKeys, at now: Int64
    ) throws(VaultError) -> OpenedDump {
        do throws(VaultError) {
            return try dump.open(with: keys, isExactVersion: true, now: now)
        } catch {
            guard error.code == .tampered else { throw error }
            throw VaultError(
                .malformedInput,
                "the sealed values could not be read again: expected arrays and objects nested at "
                    + "most \(JSONReader.maximumDepth - 2) deep in a value; nothing was written")
        }
    }

    /// Reads the file and finds the roots that may have authenticated the state file.
    private func current(
        openedWith keys: VaultKeys, at now: Int64, alsoTrusting root: DumpRoot?,
        acceptingEndedKey: Bool
    ) throws(VaultError) -> Current {
        let content = try read()
        var roots: [DumpRoot] = []
        if case .dump(let dump) = content, let old = try? keys.root(of: dump),
            (try? old.requireUsable(at: now, evenIfEnded: acceptingEndedKey)) != nil
        {
            roots.append(old)
        }
        if let root { roots.append(root) }
        return Current(file: self, content: content, roots: roots)
    }

    /// Waits until no other process is changing the file.
    static func lock(_ path: String) throws(VaultError) -> FileLock {
        do throws(FileFailure) {
            return try FileLock(guarding: path)
        } catch {
            throw unwritable(error)
        }
    }

    /// Writes the dump. Returns false if another process created the file after it was read; then
    /// the caller must start again.
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

    /// Returns the next sequence number.
    static func sequence(after sequence: Int64) throws(VaultError) -> Int64 {
        guard sequence < .max else {
            throw VaultError(.malformedInput, "the dump's sequence has reached its maximum")
        }
        return sequence + 1
    }

    /// The content of the file.
    enum Content {
        /// No file, or an empty one.
        case nothing
        case dump(SealedDump)
        /// A dump that was truncated or damaged.
        case broken(VaultError)
    }

    private func read() throws(VaultError) -> Content {
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
            // A dump starts with the base64url of `{"`.
            guard bytes.starts(with: "eyJ".utf8) else {
                throw VaultError(
                    .malformedDump, "\(self): not a sealed dump, so the file is not replaced")
            }
            return .broken(error.naming(path))
        }
    }

    /// The dump before a change, and access to the state file.
    struct Current {
        fileprivate let file: DumpFile
        fileprivate let content: Content
        /// One of these must have authenticated the state file. The current dump's root is first,
        /// if it's usable.
        fileprivate let roots: [DumpRoot]

        fileprivate var state: StateFile? { file.state.map(StateFile.init) }

        /// The dump.
        ///
        /// - Throws: `unreadable-file`, `malformed-dump`.
        var dump: SealedDump {
            get throws(VaultError) {
                switch content {
                case .dump(let dump): return dump
                case .broken(let error): throw error
                case .nothing:
                    throw VaultError(.unreadableFile, "\(file): no dump found")
                }
            }
        }

        /// Opens the dump, which must be sealed for exactly these versions, and compares its
        /// sequence with the state file.
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

        /// Compares the sequence of an opened dump with the state file.
        func checked(_ opened: OpenedDump) throws(VaultError) -> OpenedDump {
            guard state != nil else { return opened }
            let check = RollbackCheck(
                sequence: opened.sequence, highestSeen: try highestSeen(of: opened.binding))
            return try opened.reporting(check, of: file)
        }

        /// Opens the dump of any version of the app, for the changes in it; nil if there is no
        /// dump.
        ///
        /// - Throws: `malformed-dump`, `wrong-app`, `wrong-system`, `rolled-back`, and as `open`.
        func openAnyVersion(
            of binding: VersionBinding, with keys: VaultKeys, at now: Int64
        ) throws(VaultError) -> OpenedDump? {
            if case .nothing = content { return nil }
            let opened: OpenedDump
            do throws(VaultError) {
                let dump = try dump
                // Accept any version, because only the changes are read.
                try dump.requireBinding(
                    to: VersionBinding(
                        app: .init(id: binding.app.id, version: dump.binding.app.version),
                        system: .init(
                            id: binding.system.id, version: dump.binding.system.version)))
                opened = try dump.open(with: keys, now: now)
            } catch {
                throw VaultError(
                    error.code, "\(file): the changes in this dump cannot be kept: \(error.message)"
                )
            }
            return try checked(opened)
        }

        /// Whether there is no file, or an empty one.
        var isEmpty: Bool {
            if case .nothing = content { true } else { false }
        }

        /// Returns the content of the dump if it's of this app and the keys open it, else nil.
        func opened(
            of app: VersionBinding.Identity, with keys: VaultKeys, at now: Int64
        ) -> OpenedDump? {
            guard case .dump(let dump) = content, sameBytes(dump.binding.app.id, app.id) else {
                return nil
            }
            return try? dump.open(with: keys, now: now)
        }

        /// Returns the highest sequence in the state file, or nil.
        ///
        /// - Throws: `state-tampered`, `unreadable-file`.
        func highestSeen(of binding: VersionBinding) throws(VaultError) -> Int64? {
            try state?.read(authenticatedBy: roots)?.highestSequence(of: binding)
        }

        /// Returns the ids of the other apps in the state file.
        func otherApps(than binding: VersionBinding) throws(VaultError) -> [String] {
            guard let state = try state?.read(authenticatedBy: roots) else { return [] }
            return state.entries.filter { !$0.isOf(binding) }.map(\.app)
        }

        /// Seals a dump with the next sequence: under another root, for other versions or with
        /// other values.
        ///
        /// - Parameter other: A sequence that the new dump's must exceed too.
        func resealed(
            _ opened: OpenedDump, as tail: [UInt8], after other: Int64 = 0, under root: DumpRoot,
            of keys: VaultKeys, for binding: VersionBinding, at now: Int64
        ) throws(VaultError) -> Change {
            var last = max(opened.sequence, other)
            last = max(last, try highestSeen(of: opened.binding) ?? 0)
            last = max(last, try highestSeen(of: binding) ?? 0)
            let dump = try SealedDump(
                tail: tail, sequence: DumpFile.sequence(after: last), with: root, for: binding,
                now: now, salt: SealedDump.newSalt())
            return .to(dump, under: root, of: keys, from: opened)
        }

        /// Adds a MAC of the new dump's root to the state file before the dump is written. So the
        /// state file is valid whether a crash leaves the old dump or the new one.
        fileprivate func trust(_ root: DumpRoot) throws(VaultError) {
            guard let state, try state.read(authenticatedBy: roots) != nil else { return }
            let first = Array(roots.prefix(1))
            try state.update(authenticatedBy: roots) { state throws(VaultError) in
                if try !state.isAuthenticated(by: root) { try state.seal(under: first + [root]) }
            }
        }

        /// Records the new dump's sequence. From now on only the new root's MAC authenticates the
        /// state file.
        fileprivate func record(
            _ opened: OpenedDump, under root: DumpRoot
        ) throws(VaultError) {
            try state?.update(authenticatedBy: [root] + roots) { state throws(VaultError) in
                try state.record(opened.sequence, of: opened.binding)
                try state.seal(under: [root])
            }
        }
    }
}

extension OpenedDump {
    /// Adds the result of a rollback check.
    ///
    /// - Throws: `rolled-back` if the policy of the file refuses it.
    func reporting(
        _ check: RollbackCheck, of file: DumpFile
    ) throws(VaultError) -> OpenedDump {
        guard !check.isRolledBack || file.rollback == .report else {
            throw VaultError(
                .rolledBack,
                "\(file): the dump has sequence \(check.sequence), but "
                    + "\(check.highestSeen ?? 0) was seen before: an older dump was put back")
        }
        var opened = self
        opened.rollback = check
        return opened
    }
}
