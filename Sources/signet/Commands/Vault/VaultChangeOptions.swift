#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem
import SignetVault

/// The dump that `vault set` or `vault unset` changes.
struct VaultChangeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The dump, which is replaced.", valueName: "FILE"), completion: .file())
    var dump: String?

    @Option(
        help: ArgumentHelp("The schema of the configuration.", valueName: "FILE"),
        completion: .file())
    var schema: String?

    @OptionGroup var key: VaultKeyOptions
    @OptionGroup var binding: VaultBindingOptions
    @OptionGroup var state: VaultStateOptions
    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    /// A dump that is named, but not opened yet.
    struct Dump {
        let project: Project
        let path: String
        let file: DumpFile
        let binding: VersionBinding
        /// The path of the schema.
        let schema: String
    }

    /// Finds the dump, and returns the arguments that don't name it.
    func dump(_ arguments: [String]) throws -> (dump: Dump, rest: [String]) {
        let project = try project.load().acting
        let (path, rest) = try project.dump(dump, before: arguments)
        let binding = try binding.binding(project)
        _ = try key.source(project)
        let dump = Dump(
            project: project, path: path,
            file: try state.dump(project.changedDump(path), in: project), binding: binding,
            schema: try project.schema(schema))
        return (dump, rest)
    }

    /// Changes the dump's content, seals it unless nothing changed, and says what changed.
    ///
    /// New keys are written into the schema first: if the process is killed in between, the schema
    /// has a key without a value, and the same command can be run again.
    func change(
        _ dump: Dump, schema: Schema, adding added: NewKeys = NewKeys(),
        _ edit: (inout DumpContents) throws(VaultError) -> Void
    ) throws {
        var before = DumpContents()
        let opened = try dump.file.update(
            with: try key.load(dump.project, notingOn: common.terminal), for: dump.binding
        ) {
            opened throws(VaultError) in
            before = DumpContents(opened)
            var contents = before
            try edit(&contents)
            guard contents != before || !added.isEmpty else { return nil }
            // Another process may have added keys since the schema was read. A pipe can't be read
            // again.
            let schema =
                Folder.permissions(ofFile: dump.schema) == nil
                ? schema : try added.schema(in: dump.schema)
            try contents.requireAllowed(by: schema)
            try added.write(to: dump.schema)
            guard contents != before else { return nil }
            return (contents.ordered(by: schema), after: 0)
        }
        state.note(opened, on: common.terminal, of: dump.file)
        if !added.isEmpty {
            common.terminal.note("added to \(dump.schema): \(added.summary)")
        }
        try common.terminal.tell(
            DumpDiff(from: before, to: DumpContents(opened)), of: dump.path, opened: opened)
        if self.dump == nil { common.terminal.note(dump.project.clearSecrets(by: schema)) }
    }
}

extension Project {
    /// The secrets that the project's defaults have in the clear; nil without any.
    func clearSecrets(by schema: Schema?) -> ClearSecrets? {
        guard let defaults = defaultsFile, let schema else { return nil }
        return ClearSecrets(in: defaults, schema: schema)
    }
}

extension Terminal {
    /// Says that a project's defaults have secrets in the clear.
    func note(_ clear: ClearSecrets?) {
        if let clear { note("\(clear); signet vault seal moves them into the dump") }
    }

    /// Tells which keys of a dump were changed by hand; never a value.
    func tell(_ diff: DumpDiff, of file: String, opened: OpenedDump) throws(ToolError) {
        try result(
            [
                "out": .string(file), "sequence": .number(JSONNumber(opened.sequence)),
                "changes": .array(
                    diff.changes.map {
                        ["key": .string($0.name), "change": .string($0.kind.rawValue)]
                    }),
            ],
            lines: diff.isEmpty
                ? [
                    "nothing to change in \(SignetBase.printable(file)) (sequence \(opened.sequence))"
                ]
                : diff.changes.map { "\($0.kind.rawValue) \(SignetBase.printable($0.name))" } + [
                    "sealed \(SignetBase.printable(file)) (sequence \(opened.sequence))"
                ])
    }
}
#endif
