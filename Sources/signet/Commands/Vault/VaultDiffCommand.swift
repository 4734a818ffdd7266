#if Tool
import ArgumentParser
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetSystem
import SignetVault

/// `vault diff`: the differences between two dumps, or between a dump and the inputs of another.
struct VaultDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Print what differs between two dumps: keys and origins.",
        discussion: """
            Prints the values of keys that --schema makes public, and all with --show-secrets. \
            Exit 0: no difference; 1: differences.

            Both dumps must have the first one's app and version, or the versions that are given. If \
            they lie in two folders, the signet.json of each folder gives that dump's app, version, \
            keys and schema, unless an option does or --project is given. \
            With --defaults (and --schema), the one dump is compared with the dump that sealing \
            these inputs would make.

            --textconv lists one dump of any version as lines for git diff. A dump that does not \
            open is one line that says why, and the exit status is 0. A secret appears as a \
            fingerprint that only the root can make, and so does a public value without --schema: \
            git config diff.signet.textconv 'signet vault diff --textconv --schema schema.json \
            --keys keys'.
            """,
        examples: [
            "signet vault diff old.dump shop.dump --schema schema.json -k keys"
        ])

    @Argument(help: ArgumentHelp("The dump before.", valueName: "FILE"), completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("The dump after.", valueName: "OTHER"), completion: .file())
    var other: String?

    @OptionGroup var key: VaultKeyOptions

    @Option(help: ArgumentHelp("The app that the dumps must be of.", valueName: "ID"))
    var appID: String?

    @Option(
        help: ArgumentHelp(
            "An app version that a dump may be of; may be repeated.", valueName: "V"))
    var appVersion: [String] = []

    @Option(
        help: ArgumentHelp(
            "A system version that a dump may be of; may be repeated.", valueName: "V"))
    var systemVersion: [String] = []

    @Option(
        help: ArgumentHelp(
            "Compare with these built-in values in place of OTHER.", valueName: "FILE"),
        completion: .file())
    var defaults: String?

    @Option(
        help: ArgumentHelp(
            "Beside --defaults, a launch value.", valueName: "KEY=VALUE|KEY@SOURCE"))
    var launch: [String] = []

    @Option(
        help: ArgumentHelp("Beside --defaults, the fetched values.", valueName: "FILE"),
        completion: .file())
    var fetched: String?

    @Flag(help: "List one dump as lines to be compared.")
    var textconv = false

    @OptionGroup var disclosure: VaultDisclosureOptions
    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        let ways = [other != nil, defaults != nil, textconv].count(where: \.self)
        guard ways == 1 else {
            throw ValidationError("expected one of OTHER, --defaults FILE and --textconv")
        }
        guard defaults == nil || disclosure.schema != nil else {
            throw ValidationError("--defaults needs --schema FILE")
        }
        guard defaults != nil || (launch.isEmpty && fetched == nil) else {
            throw ValidationError("--launch and --fetched need --defaults FILE")
        }
    }

    func run() throws {
        common.terminal.awaitInput("a sealed dump", from: file)
        if textconv { return try printForGit() }
        let project = try project.load()
        let (own, otherOwn) = try ownProjects()
        _ = try key.source(own ?? project)
        if let other { common.terminal.awaitInput("the other dump", from: other) }
        let dump = try SealedDump(contentsOf: file)
        let keys = try key.load(own ?? project, notingOn: common.terminal)
        let before = try side(dump, of: own, like: dump, keys: keys)
        var after = Side(contents: DumpContents(), disclosure: before.disclosure)
        if let other {
            let dump = (first: dump, second: try SealedDump(contentsOf: other))
            let isSameSource =
                try key.source(own ?? project) == key.source(otherOwn ?? project)
            after = try side(
                dump.second, of: otherOwn, like: dump.first,
                keys: isSameSource ? keys : key.load(otherOwn ?? project, notingOn: common.terminal)
            )
        } else if let defaults, let schema = before.disclosure.schema {
            after.contents = DumpContents(
                try .merging(schema: schema, defaults: defaults, launch: launch, fetched: fetched))
        }
        let diff = DumpDiff(from: before.contents, to: after.contents)
        let disclosures = [before.disclosure, after.disclosure]
        try common.terminal.result(
            [
                "equal": .bool(diff.isEmpty),
                "changes": .array(diff.changes.map { Self.object($0, disclosures: disclosures) }),
            ],
            lines: Self.table(diff.changes.map { Self.row($0, disclosures: disclosures) }))
        if !diff.isEmpty { throw ExitStatus.refused }
    }

    /// One of the two configurations, and which of its values may be printed.
    private struct Side {
        var contents: DumpContents
        let disclosure: VaultDisclosure
    }

    /// Returns the projects of the folders of both dumps, unless it is one folder or a project was
    /// named.
    private func ownProjects() throws -> (Project?, Project?) {
        let folders = [file, other].map { path in
            path.flatMap { $0 == "-" ? nil : Folder.resolved(InputFile.folder(of: $0)) }
        }
        guard other != nil, project.project == nil,
            try Project.variable("SIGNET_PROJECT") == nil, folders[0] != folders[1]
        else { return (nil, nil) }
        let projects = try folders.map { folder -> Project? in
            guard let folder, Folder.exists(folder + "/signet.json") else { return nil }
            return try Project.found(folder + "/signet.json")
        }
        return (projects[0], projects[1])
    }

    private func side(
        _ dump: SealedDump, of own: Project?, like first: SealedDump, keys: VaultKeys
    ) throws -> Side {
        var binding = first.binding
        if let own, let id = own.file.appID, let version = own.file.appVersion {
            binding = VersionBinding(
                app: id, version: version,
                systemVersion: own.systemVersion ?? SignetVersion.current)
        }
        return Side(
            contents: DumpContents(try open(dump, for: binding, keys: keys)),
            disclosure: try disclosure.load(own))
    }

    /// Opens a dump of the versions that were named, else of those of a binding.
    private func open(
        _ dump: SealedDump, for binding: VersionBinding, keys: VaultKeys
    ) throws(VaultError) -> OpenedDump {
        func wanted(_ found: String, named: [String], otherwise other: String) -> String {
            named.isEmpty ? other : named.first { sameBytes($0, found) } ?? named[0]
        }
        let (app, system) = (binding.app, binding.system)
        return try dump.open(
            with: keys,
            for: VersionBinding(
                app: .init(
                    id: appID ?? app.id,
                    version: wanted(
                        dump.binding.app.version, named: appVersion, otherwise: app.version)),
                system: .init(
                    id: system.id,
                    version: wanted(
                        dump.binding.system.version, named: systemVersion, otherwise: system.version
                    ))))
    }

    // MARK: - Two dumps

    private static func object(
        _ change: DumpDiff.Change, disclosures: [VaultDisclosure]
    ) -> JSONValue {
        var object: JSONObject = [
            "key": .string(change.name), "change": .string(change.kind.rawValue),
        ]
        let sides = zip([("before", change.before), ("after", change.after)], disclosures)
        for ((name, entry), disclosure) in sides {
            guard let entry else { continue }
            var told: JSONObject = ["origin": .string(entry.origin.rawValue)]
            if disclosure.allows(change.name, value: entry.value) { told["value"] = entry.value }
            object[name] = .object(told)
        }
        return .object(object)
    }

    /// Kind, key, origin and value, with an arrow if before and after differ.
    private static func row(
        _ change: DumpDiff.Change, disclosures: [VaultDisclosure]
    ) -> [String] {
        let sides = zip([change.before, change.after], disclosures).compactMap { side in
            side.0.map { (entry: $0, disclosure: side.1) }
        }
        let origins = sides.map(\.entry.origin.rawValue)
        let values = sides.map { entry, disclosure in
            disclosure.allows(change.name, value: entry.value)
                ? printable(entry.value.text) : "secret"
        }
        let isOneValue = change.kind == .origin || Set(values) == ["secret"]
        return [
            change.kind.rawValue, printable(change.name),
            (Set(origins).count == 1 ? [origins[0]] : origins).joined(separator: " -> "),
            (isOneValue ? [values[0]] : values).joined(separator: " -> "),
        ]
    }

    private static func table(_ rows: [[String]]) -> [String] {
        let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { text, width in
                text + String(repeating: " ", count: width - text.count)
            }.joined(separator: "  ") + "  " + row[3]
        }
    }

    // MARK: - One dump

    /// Prints the dump as lines, or one line that says why it doesn't open: an error would end
    /// `git diff` and `git log -p`, also for other files.
    private func printForGit() throws {
        let listing: (object: JSONObject, lines: [String])
        do {
            listing = try list(project.load())
        } catch let error as any SignetError where error.code != .outputFailed {
            let failure = ToolError(error)
            let reason = Terminal.printable(failure.message).split(separator: "\n").joined(
                separator: "; ")
            listing = (
                [
                    "entries": [],
                    "problem": [
                        "code": .string(failure.code.name), "message": .string(reason),
                    ],
                ], [reason]
            )
        }
        try common.terminal.result(listing.object, lines: listing.lines)
    }

    private func list(_ project: Project) throws -> (object: JSONObject, lines: [String]) {
        let dump = try SealedDump(contentsOf: file)
        let disclosure = try disclosure.load()
        let keys = try key.load(project, notingOn: common.terminal)
        let opened: OpenedDump
        do throws(VaultError) {
            opened = try open(dump, for: dump.binding, keys: keys)
        } catch {
            guard error.code == .unknownKey, key.passphrase == nil else { throw error }
            throw VaultError(
                error.code, "sealed with key \(printable(dump.keyID)), which is not in the set")
        }
        let contents = DumpContents(opened)
        let fingerprint = try ValueFingerprint(of: opened.dump, with: keys)
        var entries: [JSONValue] = []
        let (app, system) = (opened.binding.app, opened.binding.system)
        var lines = [
            "app \(printable(app.id)) \(printable(app.version))",
            "system \(printable(system.id)) \(printable(system.version))",
            "key \(printable(opened.keyID))", "sequence \(opened.sequence)",
        ]
        let names = contents.names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for name in names {
            guard let entry = contents[name] else { continue }
            var told: JSONObject = [
                "key": .string(name), "origin": .string(entry.origin.rawValue),
            ]
            let shown: String
            if disclosure.allows(name, value: entry.value) {
                told["value"] = entry.value
                shown = printable(entry.value.text)
            } else {
                let text = try fingerprint.text(of: entry.value, named: name)
                told["fingerprint"] = .string(text)
                shown = "secret \(text)"
            }
            entries.append(.object(told))
            lines.append("\(printable(name)) (\(entry.origin.rawValue)) \(shown)")
        }
        return (
            ["sequence": .number(JSONNumber(opened.sequence)), "entries": .array(entries)], lines
        )
    }
}
#endif
