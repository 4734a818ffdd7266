import SignetBase
import SignetCrypto
public import SignetJSON

/// The state of the updates of signed pin policies.
public struct PinUpdateReport: Sendable, Hashable {
    /// The source of the policy in use.
    public enum Source: String, Sendable, Hashable {
        /// From the web server.
        case fetched
        /// From the file that keeps the newest policy across restarts.
        case kept
        /// It is the program's own: no signed policy could be used.
        case builtIn = "built-in"
    }

    /// A problem that an operator should look at.
    public struct Finding: Sendable, Hashable {
        /// In kebab-case: `update-host-refused`, `update-host-locked-out`, `service-refused`,
        /// `expires-soon`, `expired`.
        public var code: String
        /// One line for people.
        public var message: String

        var json: JSONValue { ["code": .string(code), "message": .string(message)] }
    }

    /// The source of the policy in use.
    public internal(set) var source = Source.builtIn
    /// Its serial number; nil for the program's own.
    public internal(set) var serial: Int64?
    /// The expiration of the policy in Unix seconds. The policy stays in use after it, until a
    /// newer one is fetched.
    public internal(set) var expires: Int64?
    /// The time of the last fetch in Unix seconds.
    public internal(set) var askedAt: Int64?
    /// The number of times in a row that no usable policy was fetched.
    public internal(set) var failures = 0
    /// Why the last fetch brought no usable policy; nil if it brought one.
    public internal(set) var failure: FetchReport.Failure?
    /// Why the kept policy was not used at the start; nil if it was used, or if there was none.
    public internal(set) var keepingFailure: FetchReport.Failure?
    /// The problems that an operator should look at.
    public internal(set) var findings: [Finding] = []

    /// The report as JSON.
    public var json: JSONObject {
        var object: JSONObject = [
            "source": .string(source.rawValue), "failures": .number(JSONNumber(failures)),
            "findings": .array(findings.map(\.json)),
        ]
        object["serial"] = serial.map { .number(JSONNumber($0)) }
        object["expires"] = expires.map { .string(UnixTime.rfc3339($0)) }
        object["askedAt"] = askedAt.map { .number(JSONNumber($0)) }
        object["failure"] = failure?.json
        object["keepingFailure"] = keepingFailure?.json
        return object
    }
}
