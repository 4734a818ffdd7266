public import SignetJSON

/// The outcome of a fetch of values.
public struct FetchReport: Sendable, Hashable {
    /// The source of the fetched values that the system runs with.
    public enum Source: String, Sendable, Hashable {
        /// From the service.
        case fetched
        /// From the sealed dump of the last good ones.
        case lastGood = "last-good"
        /// From nowhere: the system runs with defaults and launch values.
        case none
    }

    /// The reason for a failure.
    public struct Failure: Sendable, Hashable {
        /// The code in kebab-case.
        public var code: String
        /// One line for people, without a value of the configuration.
        public var message: String

        init(_ error: ClientError) {
            self.code = error.code.name
            self.message = error.message
        }

        var json: JSONValue { ["code": .string(code), "message": .string(message)] }
    }

    /// A dump of the last good values that was used or written.
    public struct StoredDump: Sendable, Hashable {
        /// The dump's sequence.
        public var sequence: Int64
        /// The time at which these values were first kept (RFC 3339).
        public var sealedAt: String
        /// The seconds since then; nil if the dump's time isn't in UTC.
        public var age: Int64?

        var json: JSONValue {
            var object: JSONObject = [
                "sequence": .number(JSONNumber(sequence)), "sealedAt": .string(sealedAt),
            ]
            object["age"] = age.map { .number(JSONNumber($0)) }
            return .object(object)
        }
    }

    /// The source of the values.
    public internal(set) var source: Source
    /// The time of the last fetch (Unix seconds).
    public internal(set) var askedAt: Int64
    /// Why the last fetch failed; nil if it succeeded.
    public internal(set) var failure: Failure?
    /// The current dump of the last good values; nil if there is none, or if it can't be read.
    public internal(set) var kept: StoredDump?
    /// Why the last good values could not be read, or new values could not be kept.
    public internal(set) var keepingFailure: Failure?

    /// The report as JSON.
    public var json: JSONObject {
        var object: JSONObject = [
            "source": .string(source.rawValue), "askedAt": .number(JSONNumber(askedAt)),
        ]
        object["failure"] = failure?.json
        object["kept"] = kept?.json
        object["keepingFailure"] = keepingFailure?.json
        return object
    }
}
