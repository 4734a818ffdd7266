import HTTPTypes
import SignetBase
import SignetCache
import SignetJSON

/// A client with a cache, whose clock the suite moves.
protocol SuiteClient: AnyObject {
    var now: Int64 { get }
    /// The server of the case.
    var server: SuiteServer { get set }
    func pass(seconds: Int64) async
    /// Sends a request, and returns when a renewal that it began has ended.
    func receive(_ request: HTTPRequest) async -> ClientReply
}

/// One case of the public suite, played against a client as the suite's client does:
/// `client/test.mjs`, in its mode for a cache that is part of the client.
struct SuiteRun {
    /// Why a case fails.
    struct Failure: Error, CustomStringConvertible {
        /// Whether a precondition failed, and not what the case is about.
        let isSetup: Bool
        let message: String

        var description: String { (isSetup ? "setup: " : "") + message }
    }

    let requests: [JSONValue]
    let client: any SuiteClient
    private var server: SuiteServer { client.server }
    private var replies: [ClientReply] = []

    init(_ requests: [JSONValue], client: any SuiteClient) {
        self.requests = requests
        self.client = client
        client.server = SuiteServer(requests)
    }

    mutating func run() async throws(Failure) {
        for (index, step) in requests.enumerated() {
            let reply = await client.receive(request(step, at: index))
            replies.append(reply)
            try checkType(reply, step, number: index + 1)
            try checkStatus(reply, step, number: index + 1)
            try checkFields(reply, step, number: index + 1)
            try checkInterim(reply, step)
            try checkContent(reply, step, number: index + 1)
            if step["pause_after"]?.bool == true { await client.pass(seconds: 3) }
        }
        try checkServer()
    }

    private func request(_ step: JSONValue, at index: Int) -> HTTPRequest {
        let file = step["filename"]?.string.map { "/\($0)" } ?? ""
        let query = step["query_arg"]?.string.map { "?\($0)" } ?? ""
        var request = HTTPRequest(
            method: HTTPRequest.Method(step["request_method"]?.string ?? "GET")!, scheme: "http",
            authority: "localhost:8000", path: "/test/\(SuiteServer.identifier)\(file)\(query)")
        func add(_ name: String, _ value: String) {
            request.headerFields.append(HTTPField(name: HTTPField.Name(name)!, value: value))
        }
        for field in step["request_headers"]?.array ?? [] {
            let field = field.array ?? []
            let previous = replies.last?.response.headerFields[HTTPField.Name("Server-Now")!]
            let then = previous.flatMap { Int64($0) }.map { $0 / 1000 } ?? client.now
            let isMagic = step["magic_ims"]?.bool == true
            let value =
                isMagic && field[0].string?.lowercased() == "if-modified-since"
                ? SuiteServer.fixed(field, step, base: "", now: then) : field[1].suiteText
            add(field[0].suiteText, value)
        }
        // What fetch adds for its mode no-cache.
        if step["cache"]?.string == "no-cache" { add("Cache-Control", "max-age=0") }
        add("Req-Num", String(index + 1))
        return request
    }

    private func isSetup(_ step: JSONValue, _ check: String) -> Bool {
        step["setup"]?.bool == true
            || step["setup_tests"]?.array?.contains { $0.string == check } == true
    }

    private func require(
        _ condition: Bool, setup: Bool, _ message: @autoclosure () -> String
    ) throws(Failure) {
        if !condition { throw Failure(isSetup: setup, message: message()) }
    }

    private func field(_ name: String, of reply: ClientReply) -> String? {
        reply.response.headerFields[HTTPField.Name(name)!]
    }

    private func checkType(_ reply: ClientReply, _ step: JSONValue, number: Int) throws(Failure) {
        let count = field("Server-Request-Count", of: reply).flatMap { Int($0) }
        let numbers = field("Request-Numbers", of: reply)?.split(separator: " ") ?? []
        try require(numbers.count == Set(numbers).count, setup: true, "retry")
        let setup = isSetup(step, "expected_type")
        switch step["expected_type"]?.string {
        case "cached":
            if reply.response.status == .notModified, count == nil { return }
            try require(count.map { $0 < number } == true, setup: setup, "\(number) is not cached")
        case "not_cached":
            try require(count == number, setup: setup, "\(number) is cached")
        default: break
        }
    }

    private func checkStatus(_ reply: ClientReply, _ step: JSONValue, number: Int) throws(Failure) {
        let status = reply.response.status.code
        if let expected = step["expected_status"] {
            guard let expected = expected.number?.int64 else { return }
            try require(
                status == expected, setup: isSetup(step, "expected_status"),
                "\(number) has the status \(status), not \(expected)")
        } else if let expected = step["response_status"]?.array?[0].number?.int64 {
            try require(status == expected, setup: true, "\(number) has the status \(status)")
        } else {
            try require(
                status != 999, setup: isSetup(step, "expected_type"), "\(number) is not conditional"
            )
            try require(status == 200, setup: true, "\(number) has the status \(status)")
        }
    }

    private func checkFields(_ reply: ClientReply, _ step: JSONValue, number: Int) throws(Failure) {
        let setup = isSetup(step, "expected_response_headers")
        let now = field("Server-Now", of: reply).flatMap { Int64($0) }.map { $0 / 1000 } ?? 0
        for expected in step["expected_response_headers"]?.array ?? [] {
            let parts = expected.array ?? [expected]
            let name = parts[0].suiteText
            let value = field(name, of: reply)
            var isMet = value != nil
            if parts.count > 2, let value {
                isMet =
                    parts[1].string == "="
                    ? value == field(parts[2].suiteText, of: reply)
                    : (Int64(value) ?? .min) > (parts[2].number?.int64 ?? 0)
            } else if parts.count == 2 {
                let base = field("Server-Base-Url", of: reply) ?? ""
                isMet = value == SuiteServer.fixed(parts, step, base: base, now: now)
            }
            try require(isMet, setup: setup, "\(number): \(name) is \(value ?? "missing")")
        }
        for expected in step["expected_response_headers_missing"]?.array ?? [] {
            // The suite's own client never fails for a name with a value: it reads the value
            // from a property that doesn't exist. Here it does.
            let name = expected.string ?? expected.array?[0].string ?? ""
            let value = expected.array?[1].string
            let isMissing = field(name, of: reply).map { found in
                value.map { !found.contains($0) } ?? false
            }
            try require(
                isMissing ?? true, setup: isSetup(step, "expected_response_headers_missing"),
                "\(number) has the field \(name)")
        }
    }

    private func checkInterim(_ reply: ClientReply, _ step: JSONValue) throws(Failure) {
        guard let expected = step["expected_interim_responses"]?.array else { return }
        let setup = isSetup(step, "expected_interim_responses")
        try require(expected.count == reply.interim.count, setup: setup, "interim responses")
        for (wanted, found) in zip(expected, reply.interim) {
            let code = wanted.array?[0].number?.int64
            try require(code == Int64(found.status.code), setup: setup, "an interim status")
            for field in wanted.array?.dropFirst().first?.array ?? [] {
                let name = HTTPField.Name(field.array?[0].string ?? "")!
                try require(found.headerFields[name] != nil, setup: setup, "an interim field")
            }
        }
    }

    private func checkContent(_ reply: ClientReply, _ step: JSONValue, number: Int) throws(Failure)
    {
        if step["check_body"]?.bool == false { return }
        var expected: String? = SuiteServer.identifier
        var setup = true
        if let text = step["expected_response_text"] {
            expected = text.string
            setup = isSetup(step, "expected_response_text")
        } else if let text = step["response_body"]?.string {
            expected = text
        } else if [204, 304].contains(reply.response.status.code)
            || step["request_method"]?.string == "HEAD"
        {
            expected = nil
        }
        guard let expected else { return }
        try require(
            reply.text == expected, setup: setup,
            "\(number) has the content \(reply.text), not \(expected)")
    }

    private func checkServer() throws(Failure) {
        var position = 0
        for (index, step) in requests.enumerated() {
            let type = step["expected_type"]?.string
            if type == "cached" { continue }
            let seen = position < server.seen.count ? server.seen[position] : nil
            position += 1
            let setup = isSetup(step, "expected_type")
            if type == "not_cached" {
                try require(seen?.number == index + 1, setup: setup, "\(index + 1) was not sent")
            }
            let conditions = [
                "etag_validated": "If-None-Match", "lm_validated": "If-Modified-Since",
            ]
            if let type, let name = conditions[type] {
                let value = seen?.request.headerFields[HTTPField.Name(name)!]
                try require(value != nil, setup: setup, "\(index + 1) was sent without \(name)")
            }
            try checkRequest(seen, step, number: index + 1)
            for field in seen?.fields ?? [] where field.name.lowercased() != "date" {
                let received = self.field(field.name, of: replies[index])
                try require(
                    received == field.value, setup: true,
                    "\(index + 1): \(field.name) is \(received ?? "missing")")
            }
            if let method = step["expected_method"]?.string {
                try require(
                    seen?.request.method.rawValue == method,
                    setup: isSetup(step, "expected_method"), "\(index + 1) had another method")
            }
        }
    }

    private func checkRequest(
        _ seen: SuiteServer.Seen?, _ step: JSONValue, number: Int
    ) throws(Failure) {
        for expected in step["expected_request_headers"]?.array ?? [] {
            let name = expected.string ?? expected.array?[0].string ?? ""
            let value = seen?.request.headerFields[HTTPField.Name(name)!]
            let wanted = expected.array?[1].string
            try require(
                wanted == nil ? value != nil : value == wanted,
                setup: isSetup(step, "expected_request_headers"),
                "\(number) was sent with \(name): \(value ?? "missing")")
        }
    }
}
