import Foundation
import SignetJSON
import SignetRPC
import TestSupport
import Testing

/// Parameters, bodies and results in an API's conventions.
struct PayloadConventionTests {
    private struct Order: Codable, Equatable {
        var orderID: Int
        var createdAt: Date
    }

    private static let order = Order(orderID: 7, createdAt: Date(timeIntervalSince1970: 60))
    private static let conventions = JSONConventions(dates: .unixSeconds, keys: .snakeCase)
    private static let written = #"{"order_id":7,"created_at":60}"#

    @Test func parametersAndBodiesAreWrittenSo() throws {
        let parameters = try RPCParameters(encoding: Self.order, conventions: Self.conventions)
        #expect(parameters.json.text == Self.written)
        let body = try RESTBody.json(encoding: Self.order, conventions: Self.conventions)
        #expect(text(body.bytes) == Self.written)
        #expect(
            try RPCParameters(encoding: Self.order).json.text
                == #"{"orderID":7,"createdAt":"1970-01-01T00:01:00Z"}"#)
    }

    @Test func aResultIsReadSo() throws {
        var result = try RPCResult(parsing: bytes(Self.written))
        let error = #expect(throws: JSONError.self) { try result.decode(Order.self) }
        #expect(error?.path == "$.orderID")
        result.conventions = Self.conventions
        #expect(try result.decode(Order.self) == Self.order)
    }

    @Test func anErrorsDataIsReadSo() throws {
        let error = RPCServerError(
            code: JSONNumber(1), message: "", data: try JSONValue(parsing: Self.written))
        #expect(
            try error.decodeData(Order.self, conventions: Self.conventions) == Self.order)
        #expect(throws: JSONError.self) { try error.decodeData(Order.self) }
    }

    @Test func aTimeBeyondTheYearsIsNoParameter() {
        let late = Order(orderID: 7, createdAt: .distantFuture + 1e12)
        let error = #expect(throws: PayloadError.self) { try RPCParameters(encoding: late) }
        #expect(error?.code == .invalidParameters)
        #expect(error?.message.contains("$.createdAt") == true)
        #expect(throws: PayloadError.self) { try RESTBody.json(encoding: late) }
    }
}
