import SignetJSON
import SignetRPC
import SignetTransport
import Synchronization

/// The pages of a list; each iteration begins with the first one.
///
/// Pages that are counted end with a page without items, or with fewer items than a full page has,
/// if the paging gives a size. A page that is the same as the one before it is a `paging-loop`: the
/// service ignores the number.
public struct ResponsePages<Element: Sendable>: AsyncSequence, Sendable {
    /// The error that ends a list early.
    public typealias Failure = ClientError

    let pipeline: CallPipeline
    /// Kept alive, so that its pin updates continue while pages are read.
    let system: any Sendable
    let target: CallTarget
    let paging: Paging
    let request: @Sendable (JSONConventions?) throws(ClientError) -> CallRequest
    let value: @Sendable (UnboxedResponse) throws(ClientError) -> Element

    /// Requests page after page.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pages: ResponsePages<Element>
        /// The request for the next page, or the reason why there is none.
        fileprivate var upcoming: Result<PageStep?, ClientError>
        fileprivate var seen: Set<[UInt8]> = []
        fileprivate var count = 0
        /// The call of the last page, to which an error between two pages belongs.
        fileprivate var last: (identity: CallIdentity, record: CallRecord?)?

        /// Returns the next page, or nil after the last one. An error that ends the list early is
        /// thrown after all pages that were read.
        ///
        /// - Throws: `ClientError`: that of the call, `malformed-response`, `paging-refused` for a
        ///   link to another origin, `paging-loop` for a page that was there before,
        ///   `too-many-pages`.
        public mutating func next() async throws(ClientError) -> Element? {
            let now = upcoming
            // A list ends after its first error.
            upcoming = .success(nil)
            let upcomingStep: PageStep?
            do throws(ClientError) {
                upcomingStep = try checked(now.get())
            } catch {
                throw last.map { error.of($0.identity, record: $0.record) } ?? error
            }
            guard let step = upcomingStep else { return nil }
            let (page, name, next, context) = try await pages.read(step)
            if case .first = step { seen.insert(Array(name.utf8)) }
            count += 1
            upcoming = next
            last = (context.identity, context.log.record)
            return page
        }

        /// Refuses a page that was there before, and one too many.
        private mutating func checked(_ step: PageStep?) throws(ClientError) -> PageStep? {
            guard let step else { return nil }
            if case .first = step { return step }
            guard seen.insert(Array(step.name.utf8)).inserted else {
                throw ClientError(
                    .pagingLoop, "the list leads back to a page that was there before")
            }
            guard count < pages.paging.maximumPages else {
                throw ClientError(
                    .tooManyPages, "the list has more pages than the limit of \(count)")
            }
            return step
        }

        /// Returns the next page, or nil after the last one.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ClientError) -> Element? {
            try await next()
        }
    }

    /// Begins with the first page.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pages: self, upcoming: .success(paging.firstStep))
    }
}

/// The way to request a page.
private enum PageStep: Sendable {
    case first
    case at(WebURL)
    /// A string or a number, and the status of the response that named it.
    case cursor(JSONValue, Int?)
    /// A page's number or offset, and the result of the page before it.
    case number(Int, after: [UInt8]?)

    /// A text that differs between any two pages.
    var name: String {
        switch self {
        case .first: ""
        case .at(let url): url.target
        case .cursor(let cursor, _): cursor.string ?? cursor.text
        case .number(let number, _): "\(number)"
        }
    }

    /// The value that goes into the request, and the status of the response that named it.
    var value: (value: JSONValue, status: Int?)? {
        switch self {
        case .first, .at: nil
        case .cursor(let cursor, let status): (cursor, status)
        case .number(let number, _): (.number(JSONNumber(number)), nil)
        }
    }
}

extension Paging {
    fileprivate var firstStep: PageStep {
        guard case .counted(let count) = way else { return .first }
        return .number(count.first, after: nil)
    }
}

extension CallRequest {
    /// Refuses calls that can't have pages, and adds the page's cursor or number to the request.
    fileprivate mutating func prepare(
        for step: PageStep, of paging: Paging, isREST: Bool
    ) throws(PayloadError) {
        switch self {
        case .procedure(var call, let path):
            try paging.check(call, isREST: isREST)
            if let (value, _) = step.value { try paging.set(value, in: &call) }
            self = .procedure(call, path: path)
        case .resource(var request):
            try paging.check(request)
            if let (value, status) = step.value {
                try paging.set(value, in: &request, status: status)
            }
            self = .resource(request)
        }
    }
}

extension ResponsePages {
    /// Asks for a page. Returns it with its name, the step to the next page, and its call.
    fileprivate func read(
        _ step: PageStep
    ) async throws(ClientError) -> (Element, String, Result<PageStep?, ClientError>, CallContext) {
        try await pipeline.admission.admit(target) { context throws(ClientError) in
            let asked = { @Sendable () throws(ClientError) in
                let whole = try request(context.options.json)
                let isREST = context.service.adapter is any RESTBoxing
                return try ClientError.rpc { () throws(PayloadError) in
                    var request = whole
                    try request.prepare(for: step, of: paging, isREST: isREST)
                    return request
                }
            }
            let sent = Mutex<WebURL?>(nil)
            let response = try await pipeline.response(to: asked, in: context) {
                request, context throws(ClientError) in
                let boxed = try box(request, for: step, in: context)
                let url = try Self.url(of: context.request(boxed))
                sent.withLock { $0 = url }
                return boxed
            }
            let page =
                if let url = sent.withLock({ $0 }) {
                    url
                } else {
                    // An interceptor responded itself.
                    try Self.url(of: context.request(box(asked(), for: step, in: context)))
                }
            if case .number(_, let previous?) = step, previous == response.result?.bytes {
                throw ClientError(
                    .pagingLoop, "a page is the same as the one before it, expected the next one")
            }
            // The first page has no cursor, and no later cursor is empty.
            let name = if case .link = paging.way { page.target } else { "" }
            let value = try value(response)
            do throws(ClientError) {
                let next = try next(
                    after: response, of: step, at: page,
                    redirects: context.log.attempts.last?.redirects ?? [])
                return (value, name, .success(next), context)
            } catch {
                return (value, name, .failure(error), context)
            }
        }
    }

    /// Boxes the request for a page.
    private func box(
        _ request: CallRequest, for step: PageStep, in context: CallContext
    ) throws(ClientError) -> BoxedCall {
        var boxed = try context.box(request)
        if let (value, status) = step.value {
            try ClientError.rpc { () throws(PayloadError) in
                try paging.set(value, in: &boxed.request, status: status)
            }
        }
        if case .at(let url) = step {
            (boxed.request.path, boxed.request.query) = (nil, nil)
            boxed.base = try WebURL("\(url.origin)\(url.target)")
        }
        return boxed
    }

    /// Returns the step to the next page, or nil after the last one.
    ///
    /// A link counts from the URL of the response that has it (RFC 8288, section 3.2). If the call
    /// left its origin, another server chose that URL: its link is refused, because the request
    /// would carry the service's credential and signature.
    private func next(
        after response: UnboxedResponse, of step: PageStep, at asked: WebURL,
        redirects: [CallRecord.Redirect]
    ) throws(ClientError) -> PageStep? {
        let reference: String?
        switch paging.way {
        case .cursor(let source, _):
            return try ClientError.rpc { () throws(PayloadError) in
                try Paging.cursor(from: source, in: response).map { .cursor($0, response.status) }
            }
        case .counted(let count):
            guard case .number(let number, _) = step else { return nil }
            return try ClientError.rpc { () throws(PayloadError) in
                try count.next(after: number, in: response).map {
                    .number($0, after: response.result?.bytes)
                }
            }
        case .link(let relation):
            reference = try ClientError.rpc { () throws(PayloadError) in
                try LinkField(response.raw.fields, status: response.status).target(
                    of: relation, status: response.status)
            }
        }
        guard let reference else { return nil }
        let url = try base(asked, after: redirects)
        var next: WebURL
        do throws(TransportError) {
            next = try url.resolving(reference)
        } catch {
            throw ClientError(
                .pagingRefused, "the link to the list's next page is not an http or https URL")
        }
        if paging.staysOnHTTPS { next = next.stayingOnHTTPS(of: url) }
        guard next.origin == url.origin else {
            throw ClientError(.pagingRefused, "the list's next page is of another origin")
        }
        return .at(next)
    }

    /// Returns the URL of the response, from which a link counts.
    private func base(
        _ asked: WebURL, after redirects: [CallRecord.Redirect]
    ) throws(ClientError) -> WebURL {
        var url = asked
        for redirect in redirects {
            guard let next = try? WebURL(parsing: redirect.to), next.origin == asked.origin else {
                throw ClientError(
                    .pagingRefused,
                    "a redirect left the list's origin, so its link to the next page is refused")
            }
            url = next
        }
        return url
    }

    private static func url(of call: OutgoingCall) throws(ClientError) -> WebURL {
        do throws(TransportError) {
            return try WebURL(call.request)
        } catch {
            throw ClientError(error)
        }
    }
}
