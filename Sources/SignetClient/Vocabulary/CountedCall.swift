public import SignetTransport

/// A call as programs look at it: what was asked, what the system did, and what came back.
public protocol DescribedCall: Sendable {
    /// Which call it was.
    var identity: CallIdentity { get }
    /// The request as the caller asked for it.
    var request: CallRecord.Request { get }
    /// The work of the system.
    var work: CallRecord.Processing { get }
    /// The last response; nil if there was none.
    var response: CallRecord.Response? { get }
    /// How the call ended.
    var outcome: CallRecord.Outcome { get }
}

extension CallRecord: DescribedCall {}

/// A call that was counted: a request, the work of the system, a response, and the counting part.
///
/// In the run modes staging and development, and if ``RequestOptions/keepsContents`` asks for it by
/// name, the counting part has what the call carried before and after each stage. It is redacted
/// when it is written down: fields, parameters and members whose name or form is a secret's have a
/// mark in place of their values, and bodies that are neither JSON nor a form only their size.
///
/// ```swift
/// func look(_ system: NetworkSystem) async throws {
///     let trace = CallTrace()
///     _ = try await system.call(
///         RPCCall("orders.list"), on: "orders", options: RequestOptions(trace: trace))
///     for change in trace.record?.counted.contents ?? [] {
///         print(change.stage, change.before ?? "", change.after ?? "")
///     }
/// }
/// ```
public struct CountedCall: DescribedCall, Hashable {
    /// The record that is counted.
    public let record: CallRecord
    /// The number of the call among those of its service and method, from 1; nil unless contents
    /// are kept.
    public let ordinal: Int?
    /// The contents of the call before and after its stages; empty unless they are kept.
    public let contents: [StageContents]

    /// Which call it was.
    public var identity: CallIdentity { record.identity }
    /// The request as the caller asked for it.
    public var request: CallRecord.Request { record.request }
    /// The work of the system.
    public var work: CallRecord.Processing { record.work }
    /// The last response; nil if there was none.
    public var response: CallRecord.Response? { record.response }
    /// How the call ended.
    public var outcome: CallRecord.Outcome { record.outcome }
    /// The mode that the system ran in.
    public var mode: RunMode { work.mode }
    /// The origin of the response; nil if there was none.
    public var source: ResponseSource? { response?.source }
    /// Whether a switch `simulation.…` failed an attempt.
    public var isSimulated: Bool { work.isSimulated }
    /// The stubs that changed something.
    public var stubs: [CallRecord.StubUse] { work.stubs }
}

/// The contents of a call before and after a stage, redacted.
public struct StageContents: Sendable, Hashable {
    /// The stage.
    public let stage: CallRecord.Stage.Name
    /// Before the stage; nil if there was nothing yet.
    public let before: Message?
    /// After the stage; nil if it failed.
    public internal(set) var after: Message?
    /// The bytes that were signed; only of the stage `signing`, and nil if it signed nothing.
    public internal(set) var base: SignatureBase?

    /// How much of a body was written down.
    public enum BodyKind: String, Sendable, Hashable {
        /// All of it, as it was.
        case exact
        /// All but its secrets, in whose places are marks. JSON is written again, so that spaces
        /// and escapes may differ.
        case redacted
        /// Only its size: it is too long, a stream, or neither JSON nor a form.
        case omitted
    }

    /// A request or a response.
    public struct Message: Sendable, Hashable, CustomStringConvertible {
        /// The request's method and URL, the response's status, or the procedure's name.
        public let head: String
        /// Names and values of the fields.
        public let fields: [Field]
        /// The parameters, the result or the body as text.
        public let body: String
        /// How much of the body the text has.
        public let bodyKind: BodyKind

        /// The head, the fields and the body as lines.
        public var description: String {
            ([head] + fields.map { "\($0.name): \($0.value)" } + (body.isEmpty ? [] : ["", body]))
                .joined(separator: "\n")
        }
    }

    /// A field.
    public struct Field: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The value, or a mark in place of a secret.
        public let value: String
    }
}

/// Contents with their secrets, of which no description shows anything.
struct SecretContents: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    let contents: [StageContents]

    init(_ contents: [StageContents] = []) { self.contents = contents }

    var description: String { "SecretContents(redacted)" }

    var customMirror: Mirror { Mirror(self, children: []) }
}
