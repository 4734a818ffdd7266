public import SignetJSON
public import SignetPinning

/// The findings of a self-check, line by line.
public struct SelfCheckReport: Sendable, Hashable {
    /// The result of one check.
    public enum Status: String, Sendable, Hashable {
        /// As it should be.
        case good
        /// It works now, but an operator should look at it.
        case warning
        /// It does not work, or is not safe.
        case bad
        /// It was not checked; the detail says why.
        case skipped
    }

    /// One thing that was checked.
    public struct Line: Sendable, Hashable {
        /// The area of the check: `system`, `crypto`, `libcurl`, `keys`, `schema`, `dump`,
        /// `configuration`, `mode`, `fetch`, `pins`, `hosts`, or `probes` for the test calls of the
        /// configuration.
        public var area: String
        /// The thing that was checked.
        public var subject: String
        /// The result of the check.
        public var status: Status
        /// The finding; never a value of the configuration or a key.
        public var detail: String
        /// The next step for the user; nil if there is nothing to do.
        public var remedy: String?
        /// The refusal of the pin policy, with which the detail ends; nil if the line has none.
        public var pinRefusal: PinRefusal?
    }

    /// The lines in the order of the checks.
    public private(set) var lines: [Line] = []

    /// Whether no line is bad.
    public var isGood: Bool { !lines.contains { $0.status == .bad } }

    /// The report as JSON: `{"good":…,"checks":[{"area","subject","status","detail","remedy"}]}`.
    public var json: JSONObject {
        let checks = lines.map { line in
            var object: JSONObject = [
                "area": .string(line.area), "subject": .string(line.subject),
                "status": .string(line.status.rawValue), "detail": .string(line.detail),
            ]
            object["remedy"] = line.remedy.map(JSONValue.string)
            return JSONValue.object(object)
        }
        return ["good": .bool(isGood), "checks": .array(checks)]
    }

    package mutating func add(
        area: String, subject: String, status: Status, detail: String,
        remedy: String? = nil, pinRefusal: PinRefusal? = nil
    ) {
        lines.append(
            Line(
                area: area, subject: subject, status: status, detail: detail, remedy: remedy,
                pinRefusal: pinRefusal))
    }
}
