public import HTTPTypes

/// A credential: the fields that each request of a call carries, such as Authorization. It is never
/// printed.
public struct Credential: Sendable, CustomStringConvertible, CustomReflectable {
    /// The fields. They replace fields of the same names.
    public let fields: HTTPFields

    /// Creates a credential.
    public init(fields: HTTPFields) { self.fields = fields }

    /// Creates a credential with the field `Authorization: Bearer TOKEN` (RFC 6750).
    public static func bearer(_ token: String) -> Credential {
        Credential(fields: [.authorization: "Bearer \(token)"])
    }

    /// Without the fields' values.
    public var description: String { "Credential(redacted)" }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A source of calls' credentials: asked before the first call, and again after a server has
/// rejected a credential with the status 401.
///
/// The system asks once, however many calls wait, and keeps the credential for later calls of the
/// same service and scope. A call whose credential was rejected is sent once more with a new one; a
/// 401 to that is final. A 401 of another origin is final too. If the call isn't idempotent, so is
/// a 401 after a redirect or after an interceptor's first request, because the server may have
/// processed the call. After three credentials in a row that no server has accepted, a 401 is final
/// without a new one for a second, and for twice as long after each further one, up to 64 s. If the
/// source fails, nothing is sent. A source may make calls through the same system: calls of the
/// service and scope that are being refreshed carry no credential then.
///
/// ```swift
/// struct SessionToken: CredentialSource {
///     let system: NetworkSystem
///     let scope: String  // the user
///
///     func credential(
///         replacing old: Credential?, for call: CallIdentity
///     ) async throws -> Credential {
///         let response = try await system.call(RPCCall("session.renew"), on: "login")
///         return .bearer(response.result?.value.string ?? "")
///     }
/// }
/// ```
public protocol CredentialSource: Sendable {
    /// The owner of the credentials, compared as bytes: a user, or any fixed text in a program that
    /// acts for one user. Calls of different scopes, and of sources of different types, never share
    /// a credential or a response. There is no default, because two users with one scope would get
    /// one credential. A call keeps the scope that it started with; if the source's has
    /// changed when it is asked, the call ends with `credential-failed`.
    var scope: String { get }

    /// Returns a credential.
    ///
    /// - Parameters:
    ///   - old: The credential that the server rejected; nil if there was none.
    ///   - call: The call that asked first.
    /// - Throws: A `ClientError` is passed on to every call that waits. Of any other error they get
    ///   the type's name, with the code `credential-failed`.
    func credential(replacing old: Credential?, for call: CallIdentity) async throws -> Credential
}
