/// The origin of a response.
public enum ResponseSource: String, Sendable, Hashable {
    /// A server.
    case server
    /// A cache.
    case cache
    /// A stub in place of the server, for debugging or for the program's own purposes.
    case stub
    /// A recording that is replayed.
    case replay
    /// A mock of the server, in a test.
    case mock
    /// An interceptor or the program's own code, and no server was asked.
    case interceptor
}
