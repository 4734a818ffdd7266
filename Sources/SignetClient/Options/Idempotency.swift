/// Whether a call does no more if it reaches the server twice, so that a retry is allowed.
public enum Idempotency: Sendable, Hashable {
    /// The HTTP method decides: GET, HEAD, OPTIONS, PUT and DELETE are idempotent (RFC 9110,
    /// section 9.2.2). This is the default.
    case byMethod
    /// The call is idempotent whatever its method is, for example a search by POST.
    case always
    /// The call is sent once more only if no part of it can have reached the server.
    case never
}
