import HTTPTypes
import SignetBase
import SignetJSON

/// The server of the public suite http-tests/cache-tests, as its handle-test describes it, for one
/// case.
struct SuiteServer: Sendable {
    /// A request that arrived, for the checks after the case.
    struct Seen: Sendable {
        let number: Int?
        let request: HTTPRequest
        /// The fields that the client must get, each with its lines joined.
        let fields: [(name: String, value: String)]
    }

    static let identifier = "c0ffee00-0000-4000-8000-000000000001"

    private let requests: [JSONValue]
    /// The fields of each response, with dates in place of offsets once it was sent.
    private var fields: [[[String]]]
    private(set) var seen: [Seen] = []

    init(_ requests: [JSONValue]) {
        self.requests = requests
        fields = requests.map { request in
            (request["response_headers"]?.array ?? []).map { ($0.array ?? []).map(\.suiteText) }
        }
    }

    /// Returns nil if the case wants the connection closed.
    mutating func reply(to request: HTTPRequest, now: Int64) -> OriginReply? {
        let number = request.headerFields[HTTPField.Name("Req-Num")!].flatMap { Int($0) }
        let index = (number ?? seen.count + 1) - 1
        let step = requests[index]
        // A pause before the response is a pause before its dates too.
        let now = now + (step["response_pause"]?.number?.int64 ?? 0)
        let status = status(of: step, at: index, for: request)
        let path = request.path ?? "/"
        var response = HTTPResponse(status: status)
        func set(_ name: String, _ value: String) {
            response.headerFields.append(HTTPField(name: HTTPField.Name(name)!, value: value))
        }
        set("Server-Base-Url", path)
        set("Server-Request-Count", String(seen.count + 1))
        set("Client-Request-Count", number.map(String.init) ?? "NaN")
        set("Server-Now", String(now * 1000))
        var saved: [(name: String, value: String)] = []
        for (position, field) in (step["response_headers"]?.array ?? []).enumerated() {
            let name = fields[index][position][0]
            let value = fixed(field, step, base: path, now: now)
            fields[index][position][1] = value
            set(name, value)
            let flag = field.array?.count == 3 ? field.array?[2].bool : true
            guard flag == true else { continue }
            saved.removeAll { $0.name == name }
            saved.append((name, response.headerFields[HTTPField.Name(name)!] ?? ""))
        }
        if response.headerFields[.contentType] == nil { set("Content-Type", "text/plain") }
        // Node adds Date.
        if response.headerFields[.date] == nil { set("Date", UnixTime.httpDate(now)) }
        seen.append(Seen(number: number, request: request, fields: saved))
        set("Request-Numbers", seen.map { $0.number.map(String.init) ?? "" }.joined(separator: " "))
        if step["disconnect"]?.bool == true { return nil }
        let content = content(of: step, request, &response)
        return OriginReply(
            response: response, content: content,
            interim: interim(of: step), delay: step["response_pause"]?.number?.int64 ?? 0)
    }

    private func status(of step: JSONValue, at index: Int, for request: HTTPRequest)
        -> HTTPResponse.Status
    {
        let code = step["response_status"]?.array?[0].number?.int64
        let configured = HTTPResponse.Status(code: Int(code ?? 200))
        guard step["expected_type"]?.string?.contains("validated") == true else {
            return configured
        }
        let previous = fields[index - 1]
        func last(_ name: String) -> String? {
            previous.last { $0[0].lowercased() == name }?[1]
        }
        let sent = request.headerFields
        if let date = last("last-modified"), sent[.ifModifiedSince] == date { return .notModified }
        if let tag = last("etag"), sent[.ifNoneMatch] == tag { return .notModified }
        return HTTPResponse.Status(code: 999, reasonPhrase: "304 Not Generated")
    }

    private func fixed(_ field: JSONValue, _ step: JSONValue, base: String, now: Int64) -> String {
        SuiteServer.fixed(field.array ?? [], step, base: base, now: now)
    }

    /// Replaces offsets by dates, and names of locations by paths.
    static func fixed(_ field: [JSONValue], _ step: JSONValue, base: String, now: Int64) -> String {
        let name = field[0].string?.lowercased() ?? ""
        let value = field[1]
        let dates = [
            "date", "expires", "last-modified", "if-modified-since", "if-unmodified-since",
        ]
        if dates.contains(name), let offset = value.number?.int64 {
            let isOld = step["rfc850date"]?.array?.contains { $0.string == name } == true
            return isOld ? rfc850(now + offset) : UnixTime.httpDate(now + offset)
        }
        if ["location", "content-location"].contains(name), step["magic_locations"]?.bool == true {
            return value.suiteText.isEmpty ? base : "\(base)/\(value.suiteText)"
        }
        return value.suiteText
    }

    private static func rfc850(_ time: Int64) -> String {
        let parts = UnixTime.httpDate(time).split(separator: " ")
        let days = [
            "Mon,": "Monday", "Tue,": "Tuesday", "Wed,": "Wednesday", "Thu,": "Thursday",
            "Fri,": "Friday", "Sat,": "Saturday", "Sun,": "Sunday",
        ]
        let day = days[String(parts[0])] ?? ""
        return "\(day), \(parts[1])-\(parts[2])-\(parts[3].suffix(2)) \(parts[4]) GMT"
    }

    /// The bytes of the content, and its length on the wire.
    private func content(
        of step: JSONValue, _ request: HTTPRequest, _ response: inout HTTPResponse
    ) -> [UInt8] {
        guard ![204, 304].contains(response.status.code) else { return [] }
        let text = step["response_body"]?.string ?? Self.identifier
        var content = Array(text.utf8)
        if let length = response.headerFields[.contentLength].flatMap({ Int($0) }) {
            // A client reads no more than the field says.
            content = Array(content.prefix(length))
        } else if response.headerFields[.transferEncoding] == nil {
            // Node adds it, but not beside Transfer-Encoding.
            response.headerFields[.contentLength] = String(content.count)
        }
        return request.method == .head ? [] : content
    }

    private func interim(of step: JSONValue) -> [HTTPResponse] {
        (step["interim_responses"]?.array ?? []).map { interim in
            let code = interim.array?[0].number?.int64 ?? 0
            var response = HTTPResponse(status: .init(code: Int(code)))
            for field in interim.array?.dropFirst().first?.array ?? [] {
                let name = HTTPField.Name(field.array?[0].string ?? "")!
                response.headerFields[name] = field.array?[1].string
            }
            return response
        }
    }
}

extension JSONValue {
    /// The text of a string or a number.
    var suiteText: String { string ?? number?.text ?? "" }
}
