#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The tool's output and its exits.
struct Terminal: Sendable {
    /// Whether results and failures are one JSON object on standard output.
    let json: Bool
    /// Whether notes on standard error are left out.
    var isQuiet = false

    /// Returns whether the raw arguments contain `--json`, also if they don't parse.
    static func asksForJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }

    /// Whether a person reads the output as it comes; scripts get the same lines as ever.
    var isForPeople: Bool { !json && StandardStreams.isTerminal(.standardOutput) }

    /// Whether output may be coloured: a terminal that is not dumb, and no NO_COLOR.
    var allowsColor: Bool {
        StandardStreams.isTerminal(.standardOutput) && !Environment.contains("NO_COLOR")
            && (try? Environment["TERM"]) != "dumb"
    }

    /// Whether a person watches standard error, on a terminal on which a line can be drawn again.
    var showsProgress: Bool {
        !isQuiet && StandardStreams.isTerminal(.standardError)
            && (try? Environment["TERM"]) != "dumb"
    }

    /// Prints a result: with `--json` the object, else the text unchanged.
    ///
    /// - Throws: `ToolError` if the output was cut short.
    func result(_ object: @autoclosure () -> JSONObject, text: @autoclosure () -> [UInt8])
        throws(ToolError)
    {
        guard json else { return try write(text()) }
        try write(json: JSONValue.object(object()).serialized() + [0x0A])
    }

    /// Writes JSON to standard output; on a terminal without characters that could control it.
    func write(json bytes: [UInt8]) throws(ToolError) {
        try write(StandardStreams.isTerminal(.standardOutput) ? terminalJSON(bytes) : bytes)
    }

    /// Prints a JSON Schema unchanged; it is itself one JSON object.
    func result(documentSchema text: String) throws {
        let bytes = Array((text + "\n").utf8)
        let object = try JSONValue(parsing: bytes).object ?? [:]
        try result(object, text: bytes)
    }

    /// Prints a result whose text is lines for people and for scripts; each gets its newline.
    func result(_ object: @autoclosure () -> JSONObject, lines: @autoclosure () -> [String])
        throws(ToolError)
    {
        try result(object(), text: Array(lines().map { $0 + "\n" }.joined().utf8))
    }

    /// Writes bytes to standard output.
    func write(_ bytes: [UInt8]) throws(ToolError) { try write(bytes.span) }

    /// Writes bytes to standard output.
    func write(_ bytes: Span<UInt8>) throws(ToolError) {
        if let reason = StandardStreams.write(bytes, to: .standardOutput) {
            throw ToolError(.outputFailed, "standard output was cut short: \(reason)")
        }
    }

    /// Prints a line for the person on standard error, unless they want none; control characters
    /// are escaped.
    func note(_ line: String) { note([line]) }

    /// Prints lines for the person on standard error, unless they want none.
    func note(_ lines: [String]) {
        if !isQuiet { say(lines) }
    }

    /// Says on a terminal what the command waits for, if it is about to read standard input.
    func awaitInput(_ subject: String, from file: String?) {
        guard file == nil || file == "-", StandardStreams.isInteractive else { return }
        note("reading \(subject) from standard input; Ctrl-D ends it")
    }

    private func say(_ lines: [String]) {
        let text = Terminal.printable(lines.joined(separator: "\n"))
        _ = StandardStreams.write(Array("signet: \(text)\n".utf8), to: .standardError)
    }

    /// Prints several lines on standard error, for a person to read or to compare; control
    /// characters except the newline are escaped.
    func show(_ lines: [String]) {
        let text = lines.map { Terminal.printable($0) + "\n" }.joined()
        _ = StandardStreams.write(Array(text.utf8), to: .standardError)
    }

    /// The text with every control character but the newline written as an escape.
    static func printable(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { SignetBase.printable(String($0)) }.joined(separator: "\n")
    }

    /// Returns a text in lines of 80 columns, the second and further ones indented.
    ///
    /// A word is never divided, so a long host name makes a longer line.
    static func wrapped(_ text: String, firstIndent: Int = 0, indent: Int) -> [String] {
        var lines: [String] = []
        var line = String(repeating: " ", count: firstIndent)
        var isEmpty = true
        for word in SignetBase.printable(text).split(separator: " ") {
            // The name of the program precedes a first line that isn't indented.
            let width = lines.isEmpty && firstIndent == 0 ? 72 : 80
            if !isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                (line, isEmpty) = (String(repeating: " ", count: indent), true)
            }
            line += isEmpty ? String(word) : " " + word
            isEmpty = false
        }
        return lines + [line]
    }

    /// Ends the process.
    func exit(_ status: ExitStatus) -> Never {
        Glibc.exit(status.rawValue)
    }

    /// Prints a failure and ends the process. Help and version that were asked for are not
    /// failures.
    func exit(reporting error: any Error, as root: any ParsableCommand.Type) -> Never {
        if let status = error as? ExitStatus { exit(status) }
        if let error = error as? any SignetError { exit(reporting: ToolError(error)) }
        if root.exitCode(for: error) == .success {
            do {
                try write(Array((root.fullMessage(for: error) + "\n").utf8))
                exit(.done)
            } catch {
                exit(reporting: error)
            }
        }
        let words = json ? root.message(for: error) : root.fullMessage(for: error)
        exit(
            reporting: .usage(
                words.startsWithBytes(of: "Error: ") ? String(words.dropFirst(7)) : words))
    }

    private func exit(reporting failure: ToolError) -> Never {
        if json {
            var told: JSONObject = [
                "code": .string(failure.code.name),
                "message": .string(Terminal.printable(failure.message)),
            ]
            for (name, value) in failure.details { told[name] = value }
            var object = failure.beside
            object.append(["error": .object(told)])
            let reason = StandardStreams.write(object.close(), to: .standardOutput)
            // Without standard output, standard error is left.
            if reason != nil { say([failure.message]) }
        } else if let errors = failure.details["errors"]?.array, errors.count > 1 {
            for error in errors { say([error["message"]?.string ?? ""]) }
            say(["\(errors.count) errors\(failure.remedy.map { "; \($0)" } ?? "")"])
        } else {
            say(failure.lines ?? [failure.message])
        }
        exit(failure.status)
    }
}

extension ExitStatus: Error {}
#endif
