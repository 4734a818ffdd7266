import Foundation

/// Servers on loopback in Python, over TCP or TLS: nothing between the wire and the test puts in
/// order what either says.
package enum SocketServer {
    /// Starts a server of `Servers/NAME.py`, which uses the functions of `Servers/servers.py`.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the script itself.
    ///   - tls: Its TLS certificates; nil is TCP.
    ///   - version: The only TLS version, such as `TLSv1_2`; if empty, Python's own choice.
    package static func start(
        _ name: String, _ arguments: [String] = [], tls: TestAuthority.Certificate? = nil,
        version: String = ""
    ) async throws -> (server: ServerProcess, port: Int) {
        let port = freePort()
        let script = PackageLayout.url("Tests/TestSupport/Servers/\(name).py").path
        let server = try await ServerProcess.start(
            "python3",
            // -S: without the packages of the system, Python starts in half the time. -I would hide
            // the module beside the script.
            ["-E", "-s", "-S", "-B", script, "\(port)", tls?.chain ?? "", tls?.key ?? "", version]
                + arguments,
            ready: .listening(port: port))
        return (server, port)
    }

    /// Starts a server that does with each connection what the steps say.
    package static func start(
        _ steps: [ServerStep], tls: TestAuthority.Certificate? = nil, version: String = ""
    ) async throws -> (server: ServerProcess, port: Int) {
        try await start("steps", [ServerStep.json(steps)], tls: tls, version: version)
    }
}

/// One act of a server with a connection, which it closes after the last.
///
/// Characters up to U+00FF stand for the bytes that are sent.
package enum ServerStep: Sendable, Encodable {
    /// Reads a request up to the empty line and prints it as `GOT …` in hexadecimal; ends if the
    /// client is gone.
    case head
    /// Reads and prints a request with its body of a Content-Length in the same way.
    case request
    /// Reads what comes first, such as a ClientHello.
    case hello
    case send(String, times: Int = 1)
    /// Sends a text without end: at once, or every 0.1 seconds.
    case flood(String)
    case drip(String)
    case say(String)
    /// Sends bytes without the connection's TLS, which ends there.
    case raw(String)
    /// Sends close_notify and waits for the client's.
    case notify
    /// Ends the server's output (FIN), or lets the close that follows be a reset.
    case fin
    case reset
    /// Reads until the client is gone, or does nothing more.
    case drain
    case stall
    /// Begins with the first step again.
    case again

    package func encode(to encoder: any Encoder) throws {
        let (word, text, times) =
            switch self {
            case .send(let text, let times): ("send", text, times)
            case .flood(let text): ("flood", text, 1)
            case .drip(let text): ("drip", text, 1)
            case .say(let text): ("say", text, 1)
            case .raw(let text): ("raw", text, 1)
            default: ("\(self)", "", 1)
            }
        var list = encoder.unkeyedContainer()
        try list.encode(word)
        try list.encode(text)
        try list.encode(times)
    }

    static func json(_ steps: [ServerStep]) throws -> String {
        String(decoding: try JSONEncoder().encode(steps), as: UTF8.self)
    }

    /// Sends a response of status 200 with a Content-Length.
    package static func ok(_ body: String = "ok") -> ServerStep {
        .send("HTTP/1.1 200 OK\r\nContent-Length: \(body.unicodeScalars.count)\r\n\r\n\(body)")
    }
}
