import SignetClient

extension ServiceName {
    /// JSON-RPC 2.0, by `services.orders.…` of the configuration.
    static let orders: ServiceName = "orders"
    /// REST, by `services.catalog.…` of the configuration.
    static let catalog: ServiceName = "catalog"
}

/// An order, as both services write it.
struct Order: Decodable, Sendable, CustomStringConvertible {
    var id: Int
    var item: String
    var quantity: Int

    var description: String { "order \(id): \(quantity) x \(item)" }
}

/// The procedures of the orders service: an enum with a case for each. A case's values are the parameters.
enum Orders: Endpoint {
    case create(item: String, quantity: Int)
    case list
    case renewSession

    var service: ServiceName { .orders }

    var method: RPCMethod {
        switch self {
        case .create: "orders.create"
        case .list: "orders.list"
        case .renewSession: "session.renew"
        }
    }

    /// Refuses wrong values before anything is sent.
    func validate() throws {
        if case .create(_, let quantity) = self, quantity < 1 {
            throw PayloadError(
                .invalidParameters, "the quantity is \(quantity), expected 1 or more")
        }
    }
}

/// `GET /orders/ID` of the catalog: a struct for one resource, which says what its response is.
struct ReadOrder: RESTEndpoint {
    typealias Success = Order
    var service: ServiceName { .catalog }
    var httpMethod: HTTPRequest.Method { .get }
    var path: PathTemplate { "/orders/{id}" }
    var id: Int
}

/// `GET /orders/ID/receipt` of the catalog, which needs the token of a ``Session``.
struct ReadReceipt: RESTEndpoint {
    var service: ServiceName { .catalog }
    var httpMethod: HTTPRequest.Method { .get }
    var path: PathTemplate { "/orders/{id}/receipt" }
    var id: Int

    struct Success: Decodable, Sendable {
        var order: Int
        var text: String
    }
}
