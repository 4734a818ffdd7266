#if Tool
import SignetBase
import SignetClient
import SignetJSON
import SignetPinning
import SignetTransport
import Synchronization

/// The output of a call beside its result: its attempts if that is wanted, and warnings.
final class CallOutput: PinReportSink {
    let terminal: Terminal
    let trace = CallTrace()
    /// Whether the attempts are printed.
    private let isTracing: Bool
    private let warnings = Mutex<[JSONValue]>([])

    init(on terminal: Terminal, tracing: Bool) {
        self.terminal = terminal
        isTracing = tracing
    }

    var name: String { "standard error" }

    /// Prints a mismatch that a policy in report mode allowed.
    func receive(_ report: PinReport) async throws(PinError) {
        guard !report.isEnforced else { return }
        let rule = report.rule.map { " (rule \($0.pattern), mode report)" } ?? ""
        let found =
            "\(report.kind.name) at \(report.host.uriText):\(report.port)\(rule), the call wasn't "
            + "stopped"
        terminal.note(
            Terminal.wrapped("warning: \(found)", indent: 2)
                + PinText.lines(of: report.chain, titled: "found, leaf first")
                + PinText.lines(expecting: report.expected))
        let seen = report.chain.isEmpty ? "no verified chain" : pinsText(report.chain)
        let expected = report.expected.map(\.text).joined(separator: ", ")
        let warning: JSONValue = [
            "code": .string(report.kind.name),
            "message": .string(
                Terminal.printable("\(found): found \(seen); expected \(expected)")),
            "pin": .object(report.json),
        ]
        warnings.withLock { $0.append(warning) }
    }

    /// Runs a call, and prints its attempts, even if it fails.
    ///
    /// - Returns: The call's result, and the members that `--json` adds to it.
    func of<Result>(_ work: () async throws -> Result) async throws -> (Result, JSONObject) {
        do {
            let result = try await work()
            showTrace()
            return (result, members)
        } catch let error as any SignetError {
            showTrace()
            var failure = ToolError(error)
            failure.beside.append(members)
            throw failure
        }
    }

    private func showTrace() {
        if let stale { terminal.note("warning: \(stale)") }
        guard isTracing, !terminal.json else { return }
        terminal.show(trace.lines + trace.records.compactMap { $0.work.cache?.line })
    }

    /// Says that a stored response took the place of a failure; nil if none did.
    private var stale: String? {
        guard let use = trace.record?.work.cache, use.decision == .stale else { return nil }
        return "the response is a stored one" + (use.age.map { ", \($0) s old" } ?? "")
            + ", because the server failed" + (use.reason.map { " (\($0))" } ?? "")
    }

    private var members: JSONObject {
        var members = JSONObject()
        if isTracing {
            members["trace"] = trace.json
            members["cache"] = trace.record?.work.cache.map { .object($0.object) }
        }
        var warnings = warnings.withLock { $0 }
        if let stale {
            warnings.append(["code": "stale-response", "message": .string(stale)])
        }
        if !warnings.isEmpty { members["warnings"] = .array(warnings) }
        return members
    }
}

extension CallTrace {
    /// The attempts, each an array of its requests; times are microseconds since the request's
    /// start.
    fileprivate var json: JSONValue {
        .array(attempts.map { attempt in .array(attempt.hops.map { .object($0.object) }) })
    }

    /// A line for each request.
    fileprivate var lines: [String] {
        attempts.enumerated().flatMap { index, attempt in
            attempt.hops.map { "attempt \(index + 1): \($0.line)" }
        }
    }
}

extension CallRecord.Exchange {
    private var parts: [(String, Duration)] {
        [
            ("name", timings.nameResolved), ("connect", timings.connected),
            ("tunnel", timings.tunnelled), ("tls", timings.secured),
            ("firstByte", timings.firstByte), ("total", timings.total),
        ]
    }

    fileprivate var object: JSONObject {
        var object: JSONObject = [
            "method": .string(method.rawValue), "url": .string(url), "signed": .bool(isSigned),
            "status": status.map { .number(JSONNumber($0)) } ?? .null,
            "reused": .bool(timings.reusedConnection),
            "sent": .number(JSONNumber(Int(timings.bytesSent))),
            "received": .number(JSONNumber(Int(timings.bytesReceived))),
        ]
        if let httpVersion { object["version"] = .string("\(httpVersion)") }
        if let failure { object["failure"] = .string(failure) }
        var times = JSONObject()
        for (name, time) in parts { times[name] = .number(JSONNumber(Int(time.microseconds))) }
        object["microseconds"] = .object(times)
        return object
    }

    fileprivate var line: String {
        let outcome = status.map { "\($0)" } ?? failure ?? "no response"
        let times = parts.filter { $0.1 > .zero }.map { name, time in
            let tenths = time.microseconds / 100
            return "\(name) \(tenths / 10).\(tenths % 10)"
        }
        return "\(method.rawValue) \(url): \(outcome)"
            + (httpVersion.map { " over \($0)" } ?? "") + (isSigned ? ", signed" : "")
            + (timings.reusedConnection ? ", connection reused" : "")
            + "; ms: \(times.joined(separator: ", "))"
    }
}

extension Duration {
    /// Whole microseconds.
    fileprivate var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
#endif
