#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetSystem

/// The file to which a command writes its result as a page.
struct PageOptions: ParsableArguments {
    @Option(
        name: .customLong("html"),
        help: ArgumentHelp(
            """
            Also write the result as one HTML page, with the times drawn. A page that signet \
            wrote is replaced, no other file. With - the page goes to standard output, and the \
            text isn't printed.
            """, valueName: "file"), completion: .file())
    var file: String?

    /// Whether a page is wanted.
    var isWanted: Bool { file != nil }

    private var isStandardOutput: Bool { file == "-" }

    /// Refuses the page and a JSON object on one standard output.
    func requireUsable(beside common: CommonOptions) throws(ValidationError) {
        guard !isStandardOutput || !common.json else {
            throw ValidationError("--html - and --json both write to standard output")
        }
        guard file?.isEmpty != true else { throw ValidationError("--html: the name is empty") }
    }

    /// Writes the page, if one is wanted.
    ///
    /// - Returns: Whether it is on standard output, which takes nothing more then.
    /// - Throws: `file-exists` for a file that is not a page of this tool, `unwritable-file`.
    func write(_ page: @autoclosure () -> StatusPage, on terminal: Terminal) throws -> Bool {
        try write(bytes: page().bytes(), on: terminal)
    }

    /// Writes the bytes of a page, which begin as every page of this tool does.
    ///
    /// - Returns: As ``write(_:on:)``.
    func write(bytes: @autoclosure () throws -> [UInt8], on terminal: Terminal) throws -> Bool {
        guard let file else { return false }
        let bytes = try bytes()
        if isStandardOutput {
            try terminal.write(bytes)
            return true
        }
        switch try Self.isPage(file) {
        case nil: try PrivateFile.createNew(bytes, at: file)
        case true?: try PrivateFile.writeAtomically(bytes, to: file)
        case false?:
            throw ToolError(
                .fileExists,
                "\(printable(file)) exists and is not a page that signet wrote")
        }
        terminal.note("wrote \(file)")
        return false
    }

    /// Whether a file is a page of this tool; nil if there is none.
    private static func isPage(_ file: String) throws -> Bool? {
        do throws(FileFailure) {
            let bytes = try PrivateFile.read(file, limit: 64 << 20, requirePrivate: false)
            return bytes.starts(with: StatusPage.mark.utf8)
        } catch {
            if error.kind == .notFound { return nil }
            if error.kind == .tooLarge { return false }
            throw error
        }
    }
}
#endif
