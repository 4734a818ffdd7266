public import SignetBase
public import SignetJSON
public import SignetRPC
import SignetSigning
package import SignetTransport
import SignetVault

/// An error of the network system: why a call has no value to return.
///
/// The message says what was found, what was expected and where. It names hosts and paths of
/// requests, but never contains a key, a signature, a query, another value of the configuration or
/// the `data` of a remote error.
///
/// ```swift
/// func printOrders(with system: NetworkSystem) async {
///     do throws(ClientError) {
///         print(try await system.call(RPCCall("orders.list"), on: "orders").status)
///     } catch {
///         switch error.kind {
///         case .noResponse: print("no response")
///         case .refused: print(error.message)
///         case .malformed, .local: print(error.code)
///         }
///     }
/// }
/// ```
public struct ClientError: SignetError, Sendable, Hashable, CustomStringConvertible,
    CustomReflectable
{
    /// The type of `code`.
    public typealias Code = SignetErrorCode
    /// The four kinds of failure. A code has one kind, wherever the failure is noticed.
    public typealias Kind = SignetErrorCode.Kind

    /// The code.
    public var code: Code { storage.contents.code }
    /// One line for people.
    public var message: String { storage.contents.message }
    /// The HTTP status, if a response arrived.
    public var status: Int? { storage.contents.status }
    /// The error that the service responded with, if it did.
    public var serverError: RPCServerError? { storage.contents.serverError }
    /// The error's description in `application/problem+json` (RFC 9457), if the response has one.
    public var problem: ProblemDetails? { storage.contents.problem }
    /// The response's body if its status isn't 2xx and it isn't a response of the protocol. It is
    /// never printed.
    public var responseBody: [UInt8] { storage.contents.responseBody }
    /// The response that a response check refused; only with code `business-code`. It is never
    /// printed.
    public var response: UnboxedResponse? { storage.contents.response }
    /// The details of a pin policy's refusal, if a policy refused the host.
    public var pinRefusal: PinRefusal? { storage.contents.pinRefusal }
    /// The identity of the call that failed; nil for an error of the system itself.
    public var identity: CallIdentity? { storage.contents.identity }
    /// The conventions of the call; nil for those of `JSONConventions()`.
    private var json: JSONConventions? { storage.contents.json }
    /// The record of the call that failed; nil if the call wasn't admitted.
    public var record: CallRecord? { storage.contents.record }
    /// The call's URL without its query, if the call got that far.
    public var url: String? { record?.url }
    /// The number of the call's attempts; 0 if it failed before the first one.
    public var attempts: Int { record?.attempts.count ?? 0 }

    private struct Contents: Sendable, Hashable {
        let code: Code
        var message: String
        let status: Int?
        var serverError: RPCServerError?
        var problem: ProblemDetails?
        let responseBody: [UInt8]
        let response: UnboxedResponse?
        let pinRefusal: PinRefusal?
        var identity: CallIdentity?
        var json: JSONConventions?
        var record: CallRecord?
    }

    private final class Storage: Sendable {
        let contents: Contents
        init(_ contents: Contents) { self.contents = contents }
    }

    /// One reference, because every stage can throw the error, and its frame has room for one.
    private let storage: Storage

    private init(_ contents: Contents) { storage = Storage(contents) }

    package init(
        _ code: Code, _ message: String, status: Int? = nil, serverError: RPCServerError? = nil,
        problem: ProblemDetails? = nil, responseBody: [UInt8] = [],
        response: UnboxedResponse? = nil, pinRefusal: PinRefusal? = nil
    ) {
        self.init(
            Contents(
                code: code, message: message, status: status, serverError: serverError,
                problem: problem, responseBody: responseBody, response: response,
                pinRefusal: pinRefusal))
    }

    /// Whether two errors have the same contents.
    public static func == (left: ClientError, right: ClientError) -> Bool {
        left.storage === right.storage || left.storage.contents == right.storage.contents
    }

    /// Hashes the contents.
    public func hash(into hasher: inout Hasher) { hasher.combine(storage.contents) }

    /// The kind of the failure, which its code decides.
    public var kind: Kind { code.kind }

    /// Whether the server refused because of the credentials: status 401, they are missing or
    /// invalid, or 403, they are not enough (RFC 9110, sections 15.5.2 and 15.5.4).
    public var isUnauthorized: Bool { kind == .refused && (status == 401 || status == 403) }

    /// Code and message.
    public var description: String { "\(code.name): \(message)" }

    /// Code, message, status, service, method, URL and attempts; not the response's body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "code": code.name, "message": message, "status": status as Any,
                "service": identity?.service as Any, "method": identity?.method as Any,
                "url": url as Any, "attempts": attempts,
            ])
    }

    /// Decodes the body of an error response, for an API whose errors have a shape of their own.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - conventions: The forms of dates and of members' names; nil for the call's
    ///     ``RequestOptions/json``.
    /// - Throws: `JSONError` if the body isn't strict JSON, or of another type.
    public func decodeResponse<Value: Decodable>(
        _ type: Value.Type, conventions: JSONConventions? = nil
    ) throws(JSONError) -> Value {
        try StrictJSONDecoder(conventions: conventions ?? json ?? JSONConventions())
            .decode(type, from: responseBody)
    }

    /// Returns the error with the call that it belongs to, unless it belongs to one already.
    ///
    /// - Parameter json: The call's conventions, by which the caller decodes what the server sent.
    func of(
        _ identity: CallIdentity, record: CallRecord?, json: JSONConventions? = nil
    ) -> ClientError {
        guard self.identity == nil else { return self }
        var contents = storage.contents
        (contents.identity, contents.record, contents.json) = (identity, record, json)
        if code == .httpStatus, let request = record?.request, let method = request.method,
            let url = request.url
        {
            contents.message = "\(method) \(url): \(contents.message)"
        }
        contents.serverError?.conventions = json
        contents.problem?.conventions = json
        return ClientError(contents)
    }

    /// Returns the error with another message.
    func withMessage(_ message: String) -> ClientError {
        var contents = storage.contents
        contents.message = message
        return ClientError(contents)
    }

    /// Whether the server can't have seen the call, so that a retry does nothing twice.
    var neverReachedTheServer: Bool {
        [.unresolvedHost, .offline, .connect, .proxy].contains(code)
    }
}

extension ClientError {
    /// Creates the client's error with the code and message of another module's.
    init(_ error: some SignetError) {
        self.init(error.code, error.message)
    }

    package init(_ error: TransportError, status: Int? = nil) {
        self.init(
            error.code, error.message, status: status, pinRefusal: error.pinRefusal)
    }

    package init(_ error: PayloadError) {
        self.init(
            error.code, error.message, status: error.status,
            serverError: error.server, problem: error.problem, responseBody: error.body)
    }
}

extension ClientError {
    /// Runs work of the adapters, and turns its error into the client's.
    static func rpc<Value>(
        _ work: () throws(PayloadError) -> Value
    ) throws(ClientError) -> Value {
        do {
            return try work()
        } catch {
            throw ClientError(error)
        }
    }
}

extension ClientError {
    static let notRunning = ClientError(.notRunning, "the network system is shut down")
    static let cancelledByCaller = ClientError(.cancelled, "the call was cancelled")
    static let deadlinePassed = ClientError(.timeout, "the deadline of the call passed")
}
