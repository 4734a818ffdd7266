public import HTTPTypes
public import SignetTransport

/// A call on its way, as call interceptors see it: before its parameters are checked and its
/// request is made.
public struct PendingCall: Sendable, CustomReflectable {
    /// The request of a call without a payload protocol, such as `exchange` makes it.
    public struct Exchange: Sendable {
        /// The HTTP method.
        public var method: HTTPRequest.Method
        /// Path and query as they are to be sent, beginning with `/`. The service decides the
        /// origin.
        public var target: String
        /// The body. `isReplayable` says whether it can be sent again.
        public var body: HTTPRequestBody
    }

    /// The content of the call.
    enum Content: Sendable {
        /// A request that an adapter boxes; made when it is first needed.
        case payload(@Sendable () throws(ClientError) -> CallRequest, isReplayable: Bool = true)
        case exchange(Exchange)
        /// Several calls in one request.
        case batch
    }

    let call: AdmittedCall
    private(set) var content: Content
    private(set) var addedFields: HTTPFields?

    /// Which call it is.
    public var identity: CallIdentity { call.identity }
    /// The call's merged options.
    public var options: RequestOptions { call.options }
    /// The run mode of the configuration that the call began with.
    public var mode: RunMode { call.mode }

    init(_ call: AdmittedCall, _ content: Content) {
        self.call = call
        self.content = content
    }

    /// Fields that interceptors add, at first none. They replace those of the same names of the
    /// configuration, the service, the options and the request, but not the Content-Type of a
    /// boxed call.
    public var fields: HTTPFields {
        get { addedFields ?? [:] }
        set { addedFields = newValue }
    }

    /// The request of an exchange, a raw stream or a download; nil for other calls, whose request
    /// an adapter boxes, and for a batch.
    public var exchange: Exchange? {
        get { if case .exchange(let exchange) = content { exchange } else { nil } }
        set {
            guard case .exchange = content, let newValue else { return }
            content = .exchange(newValue)
        }
    }

    /// Checks the call's values and returns its request, before the service's adapter boxes it.
    ///
    /// - Throws: `invalid-params` and what the call's `validate()` throws; `unsupported-call` for
    ///   an exchange, a raw stream, a download and a batch.
    public func request() throws(ClientError) -> CallRequest {
        guard case .payload(let make, _) = content else {
            throw ClientError(
                .unsupportedCall,
                "found an exchange or a batch, expected a call that an adapter boxes")
        }
        return try make()
    }

    /// Sends another request in place of the call's own, if an adapter boxes it.
    public mutating func setRequest(_ request: CallRequest) {
        guard case .payload(_, let isReplayable) = content else { return }
        content = .payload({ () throws(ClientError) in request }, isReplayable: isReplayable)
    }

    /// Whether `next` may be called with it more than once.
    var isReplayable: Bool {
        switch content {
        case .payload(_, let isReplayable): isReplayable
        case .exchange(let exchange): exchange.body.isReplayable
        case .batch: true
        }
    }

    /// Call and, of an exchange, its method; neither fields nor the request.
    public var customMirror: Mirror {
        Mirror(self, children: ["call": identity, "method": exchange?.method as Any])
    }
}
