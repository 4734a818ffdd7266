#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem
import SignetVault

/// `vault merge`: merges two dumps by their changes since a third; git's merge driver.
struct VaultMergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Join two dumps into OURS, as git's merge driver.",
        discussion: """
            In .gitattributes: *.signet merge=signet
            and once in each clone: git config merge.signet.driver \
            'signet vault merge %O %A %B --name %P --keys keys'

            The side that changed a key wins. If both changed it in different ways, the key is \
            named, OURS stays unchanged and the exit is 1; --prefer or --take chooses a side. No \
            value and no conflict marker is written in the clear. The result has a new salt and a \
            higher sequence than both. An empty BASE counts as no base.
            """,
        examples: [
            "signet vault merge base.dump shop.dump theirs.dump -k keys"
        ])

    @Argument(
        help: ArgumentHelp("The common ancestor.", valueName: "BASE"), completion: .file())
    var base: String

    @Argument(
        help: ArgumentHelp("Our dump, which is replaced.", valueName: "OURS"), completion: .file())
    var ours: String

    @Argument(
        help: ArgumentHelp("Their dump.", valueName: "THEIRS"), completion: .file())
    var theirs: String

    @OptionGroup var key: VaultKeyOptions

    @Option(help: ArgumentHelp("The app that the dumps must be of.", valueName: "ID"))
    var appID: String?

    @Option(help: ArgumentHelp("The app version that both must be of.", valueName: "V"))
    var appVersion: String?

    @Option(help: ArgumentHelp("The system version that both must be of.", valueName: "V"))
    var systemVersion: String?

    @Option(
        help: ArgumentHelp("The schema that the result is checked against.", valueName: "FILE"),
        completion: .file())
    var schema: String?

    @Option(
        help: ArgumentHelp("The side that wins a conflict.", valueName: "ours|theirs"))
    var prefer: String?

    @Option(
        help: ArgumentHelp(
            "The side that wins for one key; may be repeated.", valueName: "KEY=ours|theirs"))
    var take: [String] = []

    @Option(
        help: ArgumentHelp("The name of OURS in messages, such as git's %P.", valueName: "PATH"))
    var name: String?

    @OptionGroup var state: VaultStateOptions
    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        // Keys alone: the project's versions may be newer than those of older branches.
        let project = try project.load().acting.keysAlone
        let schema = try schema.map { try Schema(contentsOf: $0) }
        let preferred = try prefer.map { try Self.side($0, of: "--prefer") }
        let taken = try taken()
        let keys = try key.load(project, notingOn: common.terminal)
        let ourDump = try SealedDump(contentsOf: ToolError.file(ours, subject: "a dump"))
        let binding = wanted(ourDump.binding)
        let theirs = try openTheirs(beside: ourDump, for: binding, keys)
        let old = try openBase(binding, keys: keys)
        let new = DumpContents(theirs)

        var merge: DumpMerge?
        var before = DumpContents()
        var unknown: String?
        let file = try state.dump(ours, in: project)
        let opened = try file.update(with: keys, for: binding) {
            opened throws(VaultError) in
            before = DumpContents(opened)
            unknown = taken.memberNames.first { name in
                [old, before, new].allSatisfy { $0[name] == nil }
            }
            guard unknown == nil else { return nil }
            let merged = DumpMerge(base: old, ours: before, theirs: new) { name, isConflict in
                taken[name].flatMap { $0.string.flatMap(DumpMerge.Side.init) }
                    ?? (isConflict ? preferred : nil)
            }
            merge = merged
            guard merged.conflicts.isEmpty, opened.dump.bytes != theirs.dump.bytes else {
                return nil
            }
            try schema.map { schema throws(VaultError) in
                try merged.merged.requireAllowed(by: schema)
            }
            let contents = schema.map(merged.merged.ordered) ?? merged.merged
            return (contents, after: theirs.sequence)
        }
        state.note(opened, on: common.terminal, of: file)
        if let unknown {
            throw ToolError.usage("--take: no side has the key \(quoted(unknown))")
        }
        if let conflicts = merge?.conflicts, !conflicts.isEmpty { throw conflict(conflicts) }
        try tell(DumpDiff(from: before, to: DumpContents(opened)), opened: opened)
    }

    private var shownName: String { printable(name ?? ours) }

    // MARK: - What is merged

    private func wanted(_ found: VersionBinding) -> VersionBinding {
        VersionBinding(
            app: .init(id: appID ?? found.app.id, version: appVersion ?? found.app.version),
            system: .init(id: found.system.id, version: systemVersion ?? found.system.version))
    }

    /// Their dump, which must be of our versions and under our key: the result can be of one only.
    private func openTheirs(
        beside our: SealedDump, for binding: VersionBinding, _ keys: VaultKeys
    ) throws -> OpenedDump {
        let their = try SealedDump(contentsOf: theirs)
        guard our.isPassphraseSealed == their.isPassphraseSealed,
            sameBytes(our.keyID, their.keyID)
        else {
            throw ToolError(
                .otherKey,
                "\(shownName): ours is sealed with \(Self.key(our)), theirs with "
                    + "\(Self.key(their)); bring both under one with vault rekey first")
        }
        do throws(VaultError) {
            return try their.open(with: keys, for: binding)
        } catch {
            throw VaultError(error.code, "\(shownName), theirs: \(error.message)")
        }
    }

    private static func key(_ dump: SealedDump) -> String {
        (dump.isPassphraseSealed ? "a passphrase, as " : "key ") + quoted(dump.keyID)
    }

    /// Opens the ancestor, which may be of any version of the app and empty.
    private func openBase(
        _ binding: VersionBinding, keys: VaultKeys
    ) throws -> DumpContents {
        let bytes = try InputFile.read(base)
        if bytes.isEmpty { return DumpContents() }
        do throws(VaultError) {
            let dump = try SealedDump(parsing: bytes)
            return DumpContents(
                try dump.open(
                    with: keys,
                    for: VersionBinding(
                        app: .init(id: binding.app.id, version: dump.binding.app.version),
                        system: .init(id: binding.system.id, version: dump.binding.system.version)))
            )
        } catch {
            throw VaultError(error.code, "\(shownName), ancestor: \(error.message)")
        }
    }

    // MARK: - The side that wins

    private static func side(
        _ text: String, of option: String
    ) throws(ToolError) -> DumpMerge.Side {
        guard let side = DumpMerge.Side(rawValue: text) else {
            throw .usage("\(option): expected ours or theirs")
        }
        return side
    }

    /// The sides that were named for single keys.
    private func taken() throws(ToolError) -> JSONObject {
        var taken = JSONObject()
        for text in take {
            guard let equals = text.utf8.lastIndex(of: UInt8(ascii: "=")),
                equals > text.startIndex
            else { throw .usage("--take: expected KEY=ours or KEY=theirs") }
            let name = String(text[..<equals])
            let side = try Self.side(
                String(text[text.utf8.index(after: equals)...]), of: "--take \(printable(name))")
            guard taken[name] == nil else {
                throw .usage("--take: \(quoted(name)) is given twice")
            }
            taken[name] = .string(side.rawValue)
        }
        return taken
    }

    // MARK: - Outcome

    private func conflict(_ conflicts: [DumpMerge.Conflict]) -> ToolError {
        if !common.json {
            for conflict in conflicts { common.terminal.note("conflict: \(conflict.words)") }
        }
        let keys = conflicts.count == 1 ? "1 key is" : "\(conflicts.count) keys are"
        return ToolError(
            .mergeConflict,
            "\(shownName): \(keys) in conflict and nothing was written; --take KEY=ours|theirs or "
                + "--prefer ours|theirs chooses the side",
            details: [
                "conflicts": .array(
                    conflicts.map {
                        [
                            "key": .string($0.name), "ours": .string($0.ours.rawValue),
                            "theirs": .string($0.theirs.rawValue),
                        ]
                    })
            ])
    }

    private func tell(_ diff: DumpDiff, opened: OpenedDump) throws(ToolError) {
        try common.terminal.result(
            [
                "out": .string(ours), "sequence": .number(JSONNumber(opened.sequence)),
                "changes": .array(
                    diff.changes.map {
                        ["key": .string($0.name), "change": .string($0.kind.rawValue)]
                    }),
            ],
            lines: diff.changes.map { "\($0.kind.rawValue) \(printable($0.name))" } + [
                "merged \(shownName) (sequence \(opened.sequence))"
            ])
    }
}
#endif
