import CFloor
import Foundation
import SignetJSON
import SignetRPC

/// Unboxing a response of 1 KiB beside one memchr pass and beside Foundation's JSON, and Codable beside
/// Foundation's.
struct PayloadRows {
    private struct Order: Codable, Equatable {
        struct Line: Codable, Equatable {
            var item: String
            var quantity: Int
            var price: Double
            var isGift: Bool
        }
        var id: Int
        var customer: String
        var note: String?
        var lines: [Line]
    }

    private static let order = Order(
        id: 4711, customer: "Ada Example", note: nil,
        lines: (0..<13).map {
            .init(item: "Darjeeling No. \($0)", quantity: $0 + 1, price: 12.5, isGift: $0 == 3)
        })

    static func rows() throws -> [Row] {
        let json = try StrictJSONEncoder().encode(order)
        try require((900...1200).contains(json.count), "the text has \(json.count) bytes")
        return try unbox(json) + [decode(json), encode(json)]
    }

    private static func unbox(_ json: [UInt8]) throws -> [Row] {
        let body = Array(#"{"jsonrpc":"2.0","id":1,"result":"#.utf8) + json + Array("}".utf8)
        let adapter = JSONRPCAdapter()
        let request = try adapter.box(RPCCall("orders.read"))
        let response = RawResponse(status: 200, body: body)
        func unboxed() throws {
            let result = try adapter.unbox(response, to: request).result
            try require(result?.bytes.count == json.count, "wrong result")
        }
        let data = Data(body)
        func unboxedByFoundation() throws {
            let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            try require(object?["id"] as? Int == 1, "wrong id")
            let result = try JSONSerialization.data(withJSONObject: object?["result"] ?? "")
            try require(result.count > 900, "wrong result")
        }
        return [
            Row(
                name: "rpc-unbox-1k", unit: .microseconds, goal: .value(3),
                ours: { try seconds(5000, unboxed) * 1e6 },
                floor: { seconds(5000) { _ = floor_memchr(body, body.count, 1) } * 1e6 }),
            Row(
                name: "rpc-unbox-foundation", unit: .perSecond, goal: .ratio(5),
                ours: { 1 / (try seconds(1000, unboxed)) },
                floor: { 1 / (try seconds(1000, unboxedByFoundation)) }),
        ]
    }

    private static func decode(_ json: [UInt8]) throws -> Row {
        let data = Data(json)
        return Row(
            name: "json-decode-1k", unit: .perSecond, goal: .ratio(5),
            ours: {
                1
                    / (try seconds(1000) {
                        let decoded = try StrictJSONDecoder().decode(Order.self, from: json)
                        try require(decoded.id == order.id, "wrong value")
                    })
            },
            floor: {
                1
                    / (try seconds(1000) {
                        let decoded = try JSONDecoder().decode(Order.self, from: data)
                        try require(decoded.id == order.id, "wrong value")
                    })
            })
    }

    private static func encode(_ json: [UInt8]) throws -> Row {
        Row(
            name: "json-encode-1k", unit: .perSecond, goal: .ratio(5),
            ours: {
                1
                    / (try seconds(1000) {
                        let encoded = try StrictJSONEncoder().encode(order)
                        try require(encoded.count == json.count, "wrong text")
                    })
            },
            floor: {
                1
                    / (try seconds(1000) {
                        let encoded = try JSONEncoder().encode(order)
                        try require(!encoded.isEmpty, "wrong text")
                    })
            })
    }
}
