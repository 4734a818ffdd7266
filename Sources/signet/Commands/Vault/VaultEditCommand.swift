#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem
import SignetVault

/// `vault edit`: the values of a sealed dump in a person's editor.
struct VaultEditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change the values of a sealed dump in your editor.",
        discussion: """
            Runs $VISUAL, else $EDITOR, else vi on the values as a JSON object KEY:VALUE. It needs \
            a terminal: a script uses vault set. Removing \
            a member removes its value. The file is in a private folder, in memory if the machine \
            has such a file system, and is wiped as soon as the editor ends, with all other files \
            in the folder. Files that the editor writes elsewhere (undo, history, registers) may \
            stay.

            The saved values are checked against the schema. If they do not pass, you are asked \
            whether to edit them again. With --json, the dump stays unchanged. \
            Origins are kept as by vault set. The dump is not locked meanwhile: other changes are \
            merged, and if both changed a key, both values are kept.
            """,
        examples: [
            "signet vault edit shop.dump --schema schema.json \\",
            "  -k keys --app-id com.example.shop --app-version 1.4.2",
        ])

    @Argument(
        help: ArgumentHelp(
            "The dump, which is replaced; optional if a project names it.", valueName: "FILE"),
        completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp("The schema of the configuration.", valueName: "FILE"),
        completion: .file())
    var schema: String?

    @OptionGroup var key: VaultKeyOptions
    @OptionGroup var binding: VaultBindingOptions
    @OptionGroup var state: VaultStateOptions
    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let project = try project.load().acting
        let target = Target(
            file: try state.dump(project.changedDump(file), in: project),
            binding: try binding.binding(project),
            schema: try Schema(contentsOf: project.schema(schema)),
            keys: try key.load(project, notingOn: common.terminal))
        try Self.requireTerminal()
        var draft = Draft(of: try target.file.open(with: target.keys, for: target.binding))
        while true {
            let outcome = try ScratchEditor.fromEnvironment().edit(
                draft.text, named: "values.json", limit: ConfigurationInput.sizeLimit)
            if let folder = outcome.diskFolder {
                common.terminal.note(
                    "found no folder in memory: the values were in \(folder), and a disk may keep "
                        + "deleted data")
            }
            draft.text = outcome.bytes
            let edited: DumpContents
            do throws(VaultError) {
                edited = try draft.contents(target.schema)
                if edited != draft.base { try edited.requireAllowed(by: target.schema) }
            } catch {
                try editAgain(after: error)
                continue
            }
            if try seal(edited, replacing: &draft, in: target) { return }
        }
    }

    /// Refuses to run without a terminal, because an editor would print the values, secrets too,
    /// into a file or a log.
    private static func requireTerminal() throws {
        // The editor's output goes to standard error if standard output isn't a terminal.
        guard StandardStreams.isInteractive else {
            throw KeyError(
                .noTerminal,
                "vault edit needs a terminal, found none on standard input and standard error; a script "
                    + "changes values with signet vault set KEY@SOURCE")
        }
    }

    /// The dump that is changed, and the values that the change needs.
    private struct Target {
        let file: DumpFile
        let binding: VersionBinding
        let schema: Schema
        let keys: VaultKeys
    }

    // MARK: - Sealing

    /// Seals what was edited, joined with what others have changed meanwhile.
    ///
    /// - Returns: Whether it is done; false to edit `draft` again.
    private func seal(
        _ edited: DumpContents, replacing draft: inout Draft, in target: Target
    ) throws -> Bool {
        var before = draft.base
        var merge: DumpMerge?
        var current: OpenedDump?
        let base = draft.base
        let opened = try target.file.update(with: target.keys, for: target.binding) {
            opened throws(VaultError) in
            current = opened
            before = DumpContents(opened)
            let merged = DumpMerge(base: base, ours: edited, theirs: before)
            merge = merged
            guard merged.conflicts.isEmpty, merged.merged != before else { return nil }
            try merged.merged.requireAllowed(by: target.schema)
            return (merged.merged.ordered(by: target.schema), after: 0)
        }
        guard let merge, let current, !merge.conflicts.isEmpty else {
            try common.terminal.tell(
                DumpDiff(from: before, to: DumpContents(opened)), of: target.file.path,
                opened: opened)
            return true
        }
        let names = merge.conflicts.map { quoted($0.name) }.joined(separator: ", ")
        let changed = ToolError(
            .dumpChanged,
            "\(target.file) was changed while you edited it, and so were your values of \(names)"
        )
        guard asksAgain(changed.message + "; edit again, with the other changes and your values?")
        else { throw try putAside(edited, of: draft, after: changed, in: target) }
        draft = Draft(of: current, showing: merge.merged)
        return false
    }

    /// Seals the edited values, and the values before the edit, into files next to the dump, so
    /// that neither change is lost.
    private func putAside(
        _ edited: DumpContents, of draft: Draft, after changed: ToolError, in target: Target
    ) throws -> ToolError {
        let file = target.file.path
        var mine = file + ".edited"
        for number in 2... {
            if (try? InputFile.read(mine)) == nil { break }
            mine = "\(file).edited-\(number)"
        }
        let base = mine + "-base"
        try DumpFile(mine).seal(
            edited.ordered(by: target.schema), of: target.schema, with: target.keys,
            keyID: draft.opened.keyID, for: target.binding)
        try PrivateFile.writeAtomically(draft.opened.dump.bytes, to: base)
        var told = changed
        told.message += """
            ; nothing was changed. Yours is sealed in \(printable(mine)): \
            signet vault merge \(printable(base)) \(printable(file)) \(printable(mine)) joins them
            """
        told.details = ["edited": .string(mine), "base": .string(base)]
        return told
    }

    // MARK: - Asking

    private func editAgain(after error: VaultError) throws {
        guard asksAgain("\(error.message); edit again?") else { throw error }
    }

    /// Asks a person, if there is one; the usual answer is yes.
    private func asksAgain(_ question: String) -> Bool {
        guard !common.json, StandardStreams.isInteractive else { return false }
        common.terminal.note("\(question) [Y/n]")
        guard let answer = readLine() else { return false }
        return answer.isEmpty || answer.lowercased().startsWithBytes(of: "y")
    }
}

/// A dump that is being edited, and the text of its values.
private struct Draft {
    let opened: OpenedDump
    let base: DumpContents
    /// The text as the editor is shown it, and then as it left it.
    var text: [UInt8]

    init(of opened: OpenedDump, showing contents: DumpContents? = nil) {
        self.opened = opened
        self.base = DumpContents(opened)
        self.text = JSONValue.object((contents ?? base).values).serialized(.pretty) + [0x0A]
    }

    /// Returns the values of the text.
    ///
    /// - Throws: `malformed-input`, naming the line.
    func contents(_ schema: Schema) throws(VaultError) -> DumpContents {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: text)
        } catch {
            let line = 1 + text.prefix(error.offset ?? 0).count { $0 == 0x0A }
            throw VaultError(
                .malformedInput,
                "what was saved is not JSON, line \(line): \(error.messageWithoutNames)")
        }
        guard let object = value.object else {
            throw VaultError(.malformedInput, "the saved text is not a JSON object KEY:VALUE")
        }
        return base.replacing(with: object, schema: schema)
    }
}
#endif
