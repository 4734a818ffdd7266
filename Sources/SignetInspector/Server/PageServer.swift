#if Inspector
import FlyingFox
import FlyingSocks
import Foundation
import SignetSystem
import Synchronization

// FlyingFox's messages have the names of HTTPTypes', so no file imports both.

/// Serves the page at 127.0.0.1.
final class PageServer: Sendable {
    typealias Answer = @Sendable (PageRequest) async -> PageAnswer

    /// The port.
    let port: UInt16
    private let server: HTTPServer
    private let task: Task<Void, any Error>
    private let handler: Handler

    /// The largest body of a request, in bytes.
    private static let bodyLimit = 1 << 20

    private init(
        _ server: HTTPServer, at port: UInt16, task: Task<Void, any Error>, handler: Handler
    ) {
        (self.server, self.port, self.task, self.handler) = (server, port, task, handler)
    }

    /// Begins to listen at a free port.
    ///
    /// - Throws: `cannot-listen`.
    static func start() async throws(InspectorError) -> PageServer {
        do {
            return try await listen()
        } catch {
            throw InspectorError(.cannotListen, "127.0.0.1 refused a port: \(error)")
        }
    }

    private static func listen() async throws -> PageServer {
        let handler = Handler()
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: 0), timeout: 60, logger: .disabled,
            handler: handler)
        // FlyingFox reads a head byte by byte without a pause, so a flood of bytes must not take
        // the threads on which the program's own work runs.
        let thread = ThreadExecutor(label: "signet.inspector")
        let task = Task(executorPreference: thread) { try await server.run() }
        do {
            try await server.waitUntilListening()
            guard case .ip4(_, let port)? = await server.listeningAddress else {
                throw SocketError.unsupportedAddress
            }
            return PageServer(server, at: port, task: task, handler: handler)
        } catch {
            task.cancel()
            throw error
        }
    }

    /// Answers the requests from now on; before, all are refused.
    func begin(_ answer: @escaping Answer) {
        handler.begin(at: port, answer)
    }

    /// Ends the connections, and listens no more.
    func stop() async {
        await server.stop()
        task.cancel()
    }

    /// Turns messages of FlyingFox into the page's.
    private final class Handler: HTTPHandler {
        private let state = Mutex<(port: UInt16, answer: Answer)?>(nil)

        func begin(at port: UInt16, _ answer: @escaping Answer) {
            state.withLock { $0 = (port, answer) }
        }

        func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
            // The body is framed before anything else is decided: one that isn't read would be
            // taken for the next request.
            guard let count = request.bodySequence.count, count <= PageServer.bodyLimit else {
                return Self.refusal
            }
            guard let (port, answer) = state.withLock({ $0 }) else {
                return Self.response(.text(403, "403: the page isn't ready"))
            }
            var page = PageRequest(
                method: request.method.rawValue, path: request.target.path(),
                query: request.target.query())
            for (name, value) in request.headers { page.fields[name.rawValue.lowercased()] = value }
            if case .ip4("127.0.0.1", let peer)? = request.remoteAddress {
                page.user = PeerUser.user(at: peer, connectedTo: port)
            }
            page.body = Array(try await request.bodyData)
            return Self.response(await answer(page))
        }

        private static func response(_ answer: PageAnswer) -> HTTPResponse {
            var response = HTTPResponse(
                statusCode: HTTPStatusCode(answer.status, phrase: "Signet"), body: Data(answer.body)
            )
            for (name, value) in answer.fields { response.headers[HTTPHeader(name)] = value }
            return response
        }

        /// Refuses a request whose body is too long or has no length. Its connection is closed, so
        /// that what follows is never read as a request.
        private static let refusal: HTTPResponse = {
            let answer = PageAnswer.text(
                413, "413: expected a length of the body, of at most 1 MiB")
            var refusal = Handler.response(answer)
            refusal.headers[.connection] = "close"
            refusal.payload = .httpBody(
                HTTPBodySequence(from: LastBytes(answer.body), count: answer.body.count))
            return refusal
        }()
    }
}
#endif
