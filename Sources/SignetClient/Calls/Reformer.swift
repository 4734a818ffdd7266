public import SignetRPC

/// Converts responses into what one part of a program needs, such as the rows of a view.
///
/// An endpoint makes the value that most callers want; a caller that wants another one gives a
/// reformer. So several conversions of one response, and one view's data from several endpoints,
/// need no further endpoints:
///
/// ```swift
/// struct OrderRow: Sendable { var title: String }
///
/// struct OrderRows: Reformer {
///     var titleMember: String
///     func reform(_ response: UnboxedResponse) throws -> [OrderRow] {
///         (response.result?.value.array ?? []).map { order in
///             OrderRow(title: order[titleMember]?.string ?? "")
///         }
///     }
/// }
///
/// func rows(with system: NetworkSystem) async throws -> [OrderRow] {
///     try await system.send(.get("/orders", on: "shop"), as: OrderRows(titleMember: "item"))
///         + system.send(.get("/v2/orders", on: "shop"), as: OrderRows(titleMember: "name"))
/// }
/// ```
///
/// A reformer changes nothing: reforming a response twice returns the same value.
public protocol Reformer<Output>: Sendable {
    /// The type of the value.
    associatedtype Output: Sendable
    /// The content that the reformer can read. Defaults to JSON.
    var responseContent: ResponseContent { get }
    /// Makes a value of a response.
    ///
    /// - Throws: As an endpoint's `success(from:)`.
    func reform(_ response: UnboxedResponse) throws -> Output
    /// Makes a value of the response to a call, for a reformer that serves several endpoints:
    /// `call is ListOrders`. By default it makes the value of the response alone.
    ///
    /// - Throws: As `reform(_:)`.
    func reform(_ response: UnboxedResponse, to call: any TypedCall) throws -> Output
}

extension Reformer {
    /// Makes a value of the response alone.
    public func reform(_ response: UnboxedResponse, to call: any TypedCall) throws -> Output {
        try reform(response)
    }

    /// JSON alone.
    public var responseContent: ResponseContent { .json }
}

/// A reformer made of a function. `.raw`, `.bytes`, `.text` and `.nothing` are reformers of this
/// type.
///
/// ```swift
/// let status = ClosureReformer { response in response.status }
///
/// func read(with system: NetworkSystem) async throws {
///     let page = try await system.send(.get("/help", on: "shop"), as: .text)
///     let code = try await system.send(.get("/help", on: "shop"), as: status)
///     print(page.count, code)
/// }
/// ```
public struct ClosureReformer<Output: Sendable>: Reformer {
    /// The content that the function can read.
    public let responseContent: ResponseContent
    private let function: @Sendable (UnboxedResponse) throws -> Output

    /// Creates a reformer.
    public init(
        responseContent: ResponseContent = .json,
        _ function: @escaping @Sendable (UnboxedResponse) throws -> Output
    ) {
        self.responseContent = responseContent
        self.function = function
    }

    /// Calls the function.
    public func reform(_ response: UnboxedResponse) throws -> Output { try function(response) }
}

extension Reformer where Self == ClosureReformer<RawResponse> {
    /// The raw response, unchanged: status, fields and body. A 304 isn't an error.
    public static var raw: Self { Self(responseContent: .message) { $0.raw } }
}

extension Reformer where Self == ClosureReformer<[UInt8]> {
    /// The body's bytes.
    public static var bytes: Self { Self(responseContent: .any) { $0.raw.body } }
}

extension Reformer where Self == ClosureReformer<String> {
    /// The body as text. A body that isn't valid UTF-8 is a `type-mismatch`.
    public static var text: Self {
        Self(responseContent: .any) { response in
            guard let text = response.raw.text else {
                throw ClientError(
                    .typeMismatch, "the body is not valid UTF-8", status: response.status)
            }
            return text
        }
    }
}

extension Reformer {
    /// The result, decoded as a type.
    public static func decoding<Value: Decodable & Sendable>(
        _ type: Value.Type
    ) -> ClosureReformer<Value> where Self == ClosureReformer<Value> {
        ClosureReformer { try $0.decode(type) }
    }
}

extension Reformer where Self == ClosureReformer<Void> {
    /// No value: a response that isn't an error is enough.
    public static var nothing: Self { Self(responseContent: .any) { _ in } }
}
