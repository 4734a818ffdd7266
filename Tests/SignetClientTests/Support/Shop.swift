import Foundation
import SignetClient
import SignetJSON
import SignetPinning
import SignetVault
import TestSupport

/// A program's configuration for one orders host, from the files of `Examples/shop`.
enum Shop {
    static func schema() throws -> Schema {
        try Schema(parsing: [UInt8](example("schema.json")))
    }

    static func configuration(
        for host: OrdersHost, pins: [String]? = nil, changes: JSONObject = [:]
    ) throws -> GlobalConfiguration {
        let authority = try TestAuthority.trusted.get()
        let pins = pins ?? [authority.intermediate.pin, authority.root.pin]
        let pinList = JSONValue.array(pins.map(JSONValue.string))
        var fetched: JSONObject = [
            "services.orders.baseURL": .string("\(host.url)/rpc"),
            "services.catalog.baseURL": .string(host.url),
            "services.orders.pins": pinList, "services.catalog.pins": pinList,
            "partner.token": "ZZZZZZZZZZZZZZZZZZZZZZZZ",
        ]
        for (name, value) in changes { fetched[name] = value }
        return try GlobalConfiguration(
            schema: schema(), defaults: .json([UInt8](example("defaults.json"))),
            fetched: .values(fetched))
    }

    static func options() throws -> NetworkSystem.Options {
        var options = NetworkSystem.Options()
        options.caFile = try TestAuthority.trusted.get().caFile
        return options
    }

    /// A running system for a host, with the host's own key unless another set is given.
    static func system(
        for host: OrdersHost, keys: KeySet? = nil, pins: [String]? = nil, changes: JSONObject = [:]
    ) async throws -> NetworkSystem {
        let own = try KeySource(host.keyFile).load()
        return try await NetworkSystem.start(
            configuration(for: host, pins: pins, changes: changes), keys: keys ?? own,
            options: options())
    }

    private static func example(_ name: String) throws -> Data {
        try Data(contentsOf: PackageLayout.url("Examples/shop/\(name)"))
    }
}

/// The orders host's `orders.create`.
struct CreateOrder: Endpoint {
    var service: ServiceName { "orders" }
    var method: RPCMethod { "orders.create" }
    var item: String
    var quantity: Int

    struct Success: Decodable, Sendable, Equatable {
        var id: Int
        var item: String
        var quantity: Int
        var status: String
    }
}

/// The orders host's `GET /orders/ID`.
struct ReadOrder: RESTEndpoint {
    typealias Success = CreateOrder.Success
    var service: ServiceName { "catalog" }
    var httpMethod: HTTPRequest.Method { .get }
    var path: PathTemplate { "/orders/{id}" }
    var id: Int
}
