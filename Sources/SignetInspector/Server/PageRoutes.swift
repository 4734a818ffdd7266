#if Inspector
import SignetJSON

/// The calls that a page shows.
protocol PageSource: Sendable {
    /// The words of the page about the program, and its switches.
    func about() async -> JSONObject
    /// The calls that came or changed after a revision, or some of them; waits a little for them.
    func changes(after revision: Int) async -> PageChanges
    /// All that is known of a call; nil if there is none.
    func detail(of id: String) async -> JSONValue?
    /// Switches something, or sends a call again.
    ///
    /// - Throws: `invalid-action`, `not-switchable`.
    func act(_ action: JSONObject) async throws(InspectorError)
}

/// A part of the calls.
struct PageChanges: Sendable {
    var rows: [JSONValue] = []
    /// The revision after which the next part begins.
    var revision = 0
    /// Whether no further calls will come.
    var isEnded = false
    /// The number of calls that were dropped because of a limit.
    var dropped = 0
    /// The number of the oldest call that is kept; rows with lower ones are gone.
    var oldest = 0
}

/// Answers the requests of the page.
struct PageRoutes: Sendable {
    let access: PageAccess
    let source: any PageSource

    func answer(_ request: PageRequest) async -> PageAnswer {
        switch access.decide(request) {
        case .refused(let reason): .text(403, "403: \(reason)")
        case .welcome(let cookie):
            PageAnswer(
                303, type: "text/plain; charset=utf-8", [],
                fields: [("Location", "/"), ("Set-Cookie", cookie)])
        case .page: part(at: request.path)
        case .data: await data(request)
        }
    }

    private func part(at path: String) -> PageAnswer {
        switch path {
        case "/":
            PageAnswer(
                200, type: "text/html; charset=utf-8",
                PageDocument.served(token: access.pageToken))
        case "/page.css": PageAnswer(200, type: "text/css; charset=utf-8", PageDocument.style)
        case "/page.js":
            PageAnswer(200, type: "text/javascript; charset=utf-8", PageDocument.script)
        case "/favicon.ico": PageAnswer(204, type: "image/x-icon", [])
        default: .text(404, "404: the page has no such part")
        }
    }

    private func data(_ request: PageRequest) async -> PageAnswer {
        switch (request.method, request.path) {
        case ("GET", "/api/calls"):
            let revision = request.parameter("after").flatMap { Int($0) } ?? 0
            let changes = await source.changes(after: revision)
            return Self.json([
                "revision": .number(JSONNumber(changes.revision)), "calls": .array(changes.rows),
                "isEnded": .bool(changes.isEnded), "dropped": .number(JSONNumber(changes.dropped)),
                "oldest": .number(JSONNumber(changes.oldest)),
                "about": .object(await source.about()),
            ])
        case ("GET", "/api/call"):
            guard let id = request.parameter("id"), let detail = await source.detail(of: id) else {
                return Self.failure(404, code: "not-found", "the call isn't kept any longer")
            }
            return Self.json(detail)
        case ("POST", "/api/act"):
            do throws(InspectorError) {
                guard let action = try? JSONValue(parsing: request.body).object else {
                    throw InspectorError(.invalidAction, "expected a JSON object")
                }
                try await source.act(action)
                return Self.json(["about": .object(await source.about())])
            } catch {
                return Self.failure(400, code: error.code.name, error.message)
            }
        default: return Self.failure(404, code: "not-found", "there is no such request")
        }
    }

    private static func json(_ value: JSONValue) -> PageAnswer {
        PageAnswer(200, type: "application/json", value.serialized())
    }

    private static func failure(_ status: Int, code: String, _ message: String) -> PageAnswer {
        PageAnswer(
            status, type: "application/json",
            JSONValue.object(["error": ["code": .string(code), "message": .string(message)]])
                .serialized())
    }
}
#endif
