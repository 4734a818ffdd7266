internal import HTTPTypes
internal import SignetJSON
public import SignetRPC
internal import SignetTransport

extension NetworkSystem {
    /// The pages of a list, each asked for when the one before it was taken.
    ///
    /// ```swift
    /// struct Order: Decodable { var item: String }
    ///
    /// func printItems(with system: NetworkSystem) async throws {
    ///     for try await page in system.pages(
    ///         of: RESTRequest(.get, "/orders"), on: "shop", by: .link())
    ///     {
    ///         for order in try page.result?.decode([Order].self) ?? [] { print(order.item) }
    ///     }
    /// }
    /// ```
    ///
    /// A link may lead only to the service's own origin, and only once to the same page. A list with more
    /// pages than the limit is an error. So a server can't send the program to another host, and can't keep
    /// it in an endless list.
    ///
    /// - Parameters:
    ///   - request: The first page's request, with GET; with POST if the cursor is in the body.
    ///   - service: The service that responds; its adapter is one for REST.
    ///   - paging: How the list continues.
    ///   - options: The options of each page's call.
    public func pages(
        of request: RESTRequest, on service: Service, by paging: Paging,
        options: CallOptions = CallOptions()
    ) -> Pages {
        Pages(system: self, service: service, request: request, paging: paging, options: options)
    }
}

/// The pages of a list; each iteration begins with the first one.
public struct Pages: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = UnboxedResponse
    /// The error that ends a list early.
    public typealias Failure = ClientError

    fileprivate let system: NetworkSystem
    fileprivate let service: Service
    fileprivate let request: RESTRequest
    fileprivate let paging: Paging
    fileprivate let options: CallOptions

    /// Asks for page after page.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pages: Pages
        /// How the next page is asked for, or why it is not.
        fileprivate var upcoming: Result<PageStep?, ClientError> = .success(.first)
        fileprivate var seen: Set<[UInt8]> = []
        fileprivate var count = 0

        /// Returns the next page, or nil after the last one. An error that ends the list early is thrown after
        /// all pages that were read.
        ///
        /// - Throws: `ClientError`: that of the call, `malformed-reply`, `paging-refused` for a link to
        ///   another origin, `paging-loop` for a page that was there before, `too-many-pages`.
        public mutating func next() async throws(ClientError) -> UnboxedResponse? {
            let now = upcoming
            // A list ends after its first error.
            upcoming = .success(nil)
            guard let step = try now.get() else { return nil }
            if case .first = step {
            } else {
                guard seen.insert(Array(step.name.utf8)).inserted else {
                    throw Pages.failure(
                        .pagingLoop, message: "the list leads back to a page that was there before")
                }
                guard count < pages.paging.maximumPages else {
                    throw Pages.failure(
                        .tooManyPages,
                        message: "the list has more pages than the limit of \(count)")
                }
            }
            let (reply, page, next) = try await pages.read(step)
            if case .first = step { seen.insert(Array(page.utf8)) }
            count += 1
            upcoming = next
            return reply
        }

        /// Returns the next page, or nil after the last one.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ClientError) -> UnboxedResponse? {
            try await next()
        }
    }

    /// Begins with the first page.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self) }
}

/// How a page is asked for.
private enum PageStep: Sendable {
    case first
    case at(WebURL)
    /// A string or a number, and the status of the reply that named it.
    case cursor(JSONValue, Int?)

    /// A text that differs between any two pages.
    var name: String {
        switch self {
        case .first: ""
        case .at(let url): url.target
        case .cursor(let cursor, _): cursor.string ?? cursor.text
        }
    }
}

extension Pages {
    /// Asks for a page. Returns it with its name, and the step to the next page.
    fileprivate func read(
        _ step: PageStep
    ) async throws(ClientError) -> (UnboxedResponse, String, Result<PageStep?, ClientError>) {
        let asked = CallTarget(
            service: service, method: request.method.rawValue, options: options)
        return try await system.admitted(asked) { admission throws(ClientError) in
            var request = request
            try NetworkSystem.rpc { () throws(RPCError) in
                try paging.check(request)
                if case .cursor(let cursor, let status) = step {
                    try paging.set(cursor, in: &request, status: status)
                }
            }
            var boxed = try admission.service.box(request)
            var base = admission.service.url
            if case .at(let url) = step {
                (boxed.path, boxed.query) = (nil, nil)
                base = try RequestURL("\(url.origin)\(url.target)")
            }
            let url = try boxed.path.map { path throws(ClientError) in
                try base.appending(path: path)
            }
            let asked = try Self.webURL(url ?? base, for: boxed)
            let reply = try await system.complete(boxed, at: base, for: admission)
            // A first page has no cursor; none that comes is empty.
            let name = if case .link = paging.way { asked.target } else { "" }
            do throws(ClientError) {
                return (reply, name, .success(try next(after: reply, at: asked)))
            } catch {
                return (reply, name, .failure(error))
            }
        }
    }

    private func next(
        after reply: UnboxedResponse, at url: WebURL
    ) throws(ClientError) -> PageStep? {
        let reference: String?
        switch paging.way {
        case .cursor(let source, _):
            return try NetworkSystem.rpc { () throws(RPCError) in
                try Paging.cursor(from: source, in: reply).map { .cursor($0, reply.status) }
            }
        case .link(let relation):
            reference = try NetworkSystem.rpc { () throws(RPCError) in
                try LinkField(reply.fields, status: reply.status).target(
                    of: relation, status: reply.status)
            }
        }
        guard let reference else { return nil }
        let next: WebURL
        do throws(TransportError) {
            next = try url.resolving(reference)
        } catch {
            throw Self.failure(
                .pagingRefused,
                message: "the link to the list's next page is not an http or https URL")
        }
        guard next.origin == url.origin else {
            throw Self.failure(.pagingRefused, message: "the list's next page is of another origin")
        }
        return .at(next)
    }

    fileprivate static func failure(
        _ code: ClientError.Code, message: String
    ) -> ClientError {
        ClientError(code, message)
    }

    private static func webURL(
        _ url: RequestURL, for boxed: BoxedRequest
    ) throws(ClientError) -> WebURL {
        do throws(TransportError) {
            return try WebURL(
                HTTPRequest(
                    method: boxed.method, scheme: url.scheme, authority: url.authority,
                    path: boxed.target(joinedTo: url.target)))
        } catch {
            throw ClientError(error)
        }
    }
}
