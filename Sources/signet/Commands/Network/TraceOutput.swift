import SignetClient
import SignetJSON
import SignetTransport

/// Runs a call, and prints its attempts if that is wanted, even if it fails.
///
/// - Returns: The call's result, and the members that `--json` adds to it.
func traced<Result>(
    if isWanted: Bool, on terminal: Terminal, _ work: (CallTrace?) async throws -> Result
) async throws -> (Result, JSONObject) {
    guard isWanted else { return (try await work(nil), [:]) }
    let trace = CallTrace()
    do {
        let result = try await work(trace)
        if !terminal.json { terminal.show(trace.lines) }
        return (result, ["trace": trace.json])
    } catch let error as any CodedError {
        if !terminal.json { terminal.show(trace.lines) }
        var failure = ToolError(error)
        failure.beside.append(["trace": trace.json])
        throw failure
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

extension CallRecord.Hop {
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
