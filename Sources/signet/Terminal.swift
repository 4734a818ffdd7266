import ArgumentParser
internal import SignetBase
import SignetCrypto
import SignetJSON
internal import SignetSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// All that the tool says, and all its exits.
struct Terminal: Sendable {
    /// Whether results and failures are one JSON object on standard output.
    let json: Bool

    /// Tells whether the raw arguments hold `--json`, also when they do not parse.
    static func asksForJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }

    /// Whether a person reads the output as it comes; scripts get the same lines as ever.
    var isForPeople: Bool { !json && StandardStreams.isTerminal(.standardOutput) }

    /// Whether output may be coloured: a terminal that is not dumb, and no NO_COLOR.
    var allowsColor: Bool {
        StandardStreams.isTerminal(.standardOutput) && Environment["NO_COLOR"] == nil
            && Environment["TERM"] != "dumb"
    }

    /// Prints a result: with `--json` the object, else the text as it stands.
    ///
    /// - Throws: `ToolError` where the output was cut short.
    func result(_ object: @autoclosure () -> JSONObject, text: @autoclosure () -> [UInt8])
        throws(ToolError)
    {
        try write(json ? JSONValue.object(object()).serialized() + [0x0A] : text())
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

    /// Says a line to the person on standard error; control characters are escaped.
    func note(_ line: String) {
        _ = StandardStreams.write(
            Array("signet: \(Terminal.printable(line))\n".utf8), to: .standardError)
    }

    /// Prints a text of several lines on standard error as it stands, for a person to read or to
    /// compare; control characters but the newline are escaped.
    func show(_ lines: [String]) {
        let text = lines.map { Terminal.printable($0) + "\n" }.joined()
        _ = StandardStreams.write(Array(text.utf8), to: .standardError)
    }

    /// The text with every control character but the newline written as an escape.
    static func printable(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { SignetBase.printable(String($0)) }.joined(separator: "\n")
    }

    /// Ends the process.
    func exit(_ status: ExitStatus) -> Never {
        Glibc.exit(status.rawValue)
    }

    /// Tells a failure and ends the process; help and version that were asked for are no failure.
    func exit(reporting error: any Error, as root: any ParsableCommand.Type) -> Never {
        if let status = error as? ExitStatus { exit(status) }
        if let error = error as? any CodedError { exit(reporting: ToolError(error)) }
        if root.exitCode(for: error) == .success {
            exit(
                StandardStreams.write(
                    Array((root.fullMessage(for: error) + "\n").utf8),
                    to: .standardOutput) == nil ? .done : .usage)
        }
        let words = json ? root.message(for: error) : root.fullMessage(for: error)
        exit(reporting: .usage(words.hasPrefix("Error: ") ? String(words.dropFirst(7)) : words))
    }

    private func exit(reporting failure: ToolError) -> Never {
        if json {
            var told: JSONObject = [
                "code": .string(failure.errorCode.name),
                "message": .string(Terminal.printable(failure.message)),
            ]
            for (name, value) in failure.details { told[name] = value }
            var object = failure.beside
            object.append(["error": .object(told)])
            let reason = StandardStreams.write(object.close(), to: .standardOutput)
            // Else nobody would be told why.
            if reason != nil { note(failure.message) }
        } else {
            note(failure.message)
        }
        exit(failure.status)
    }
}

extension ExitStatus: Error {}
