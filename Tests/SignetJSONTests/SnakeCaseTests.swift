import SignetJSON
import TestSupport
import Testing

/// Members in snake case.
struct SnakeCaseTests {
    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// A property with any name.
    private struct Named: Codable, Equatable {
        static let name = CodingUserInfoKey(rawValue: "name")
        var value: Int

        init(_ value: Int) { self.value = value }

        private static func key(_ info: [CodingUserInfoKey: Any]) -> AnyKey {
            AnyKey(stringValue: name.flatMap { info[$0] as? String } ?? "")
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            value = try container.decode(Int.self, forKey: Self.key(decoder.userInfo))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(value, forKey: Self.key(encoder.userInfo))
        }
    }

    private static let snake = JSONConventions(keys: .snakeCase)

    @Test(arguments: [
        ("createdAt", "created_at"), ("id", "id"), ("userID", "user_id"), ("userId", "user_id"),
        ("userIDs", "user_ids"), ("imageURLsByID", "image_urls_by_id"),
        ("httpURLPath", "http_url_path"),
        ("HTTPStatus", "http_status"), ("URL", "url"), ("aB", "a_b"), ("line2Text", "line2_text"),
        ("address2", "address2"), ("sha256", "sha256"), ("sha256Hash", "sha256_hash"),
        ("base64URL", "base64_url"), ("oauth2Token", "oauth2_token"), ("isIPv6", "is_i_pv6"),
        ("created_at", "created_at"), ("_links", "_links"), ("_selfLink", "_self_link"),
        ("already_Mixed", "already_mixed"), ("x", "x"), ("größeÄndern", "größe\u{c4}ndern"),
        ("", ""),
        ("$ref", "$ref"), ("content-Type", "content-_type"), ("URLSession", "url_session"),
    ])
    func membersAreNamedByTheRule(_ property: String, _ member: String) throws {
        let key = try #require(Named.name)
        var encoder = StrictJSONEncoder(conventions: Self.snake)
        var decoder = StrictJSONDecoder(conventions: Self.snake)
        encoder.userInfo[key] = property
        decoder.userInfo[key] = property
        let text = try encoder.encode(Named(7))
        #expect(String(decoding: text, as: UTF8.self) == "{\"\(member)\":7}")
        #expect(try decoder.decode(Named.self, from: text) == Named(7))
        #expect(try encoder.encodeValue(Named(7)) == .object([member: 7]))
    }

    enum Colour: String, Codable, CodingKeyRepresentable { case darkRed, green }

    struct Order: Codable, Equatable {
        struct Line: Codable, Equatable {
            var unitPrice: Double
            var maxCount: Int?
        }

        var orderID: Int
        var isPaid: Bool
        var shippedTo: String?
        var allLines: [Line]
        var pricesByName: [String: Line]
        var countsByColour: [Colour: Int]
        var extraValues: JSONValue
        var explicitName: Int

        enum CodingKeys: String, CodingKey {
            case orderID, isPaid, shippedTo, allLines, pricesByName, countsByColour, extraValues
            case explicitName = "explicit_name"
        }
    }

    static let order = Order(
        orderID: 7, isPaid: true, shippedTo: nil,
        allLines: [.init(unitPrice: 0.5, maxCount: 2), .init(unitPrice: 1, maxCount: nil)],
        pricesByName: ["greenTea": .init(unitPrice: 2, maxCount: 1)], countsByColour: [.darkRed: 3],
        extraValues: ["asItIs": ["inHere": 1]], explicitName: 9)

    @Test func propertiesAreRenamedAndDataIsNot() throws {
        let text = try StrictJSONEncoder(conventions: Self.snake).encode(Self.order)
        #expect(
            String(decoding: text, as: UTF8.self)
                == #"{"order_id":7,"is_paid":true,"#
                + #""all_lines":[{"unit_price":0.5,"max_count":2},{"unit_price":1}],"#
                + #""prices_by_name":{"greenTea":{"unit_price":2,"max_count":1}},"#
                + #""counts_by_colour":{"darkRed":3},"extra_values":{"asItIs":{"inHere":1}},"#
                + #""explicit_name":9}"#)
        let decoder = StrictJSONDecoder(conventions: Self.snake)
        #expect(try decoder.decode(Order.self, from: text) == Self.order)
        let tree = try StrictJSONEncoder(conventions: Self.snake).encodeValue(Self.order)
        #expect(try decoder.decode(Order.self, from: tree) == Self.order)
        #expect(throws: JSONError.self) { try StrictJSONDecoder().decode(Order.self, from: text) }
    }

    @Test(arguments: [
        (#"{"unitPrice":1}"#, "$.unit_price"), (#"{"Unit_price":1}"#, "$.unit_price"),
        (#"{"unit-price":1}"#, "$.unit_price"), (#"{"unit_price":"1"}"#, "$.unit_price"),
        (#"{"unit_price":1,"max_count":true}"#, "$.max_count"), (#"{}"#, "$.unit_price"),
    ])
    func namesTheMemberOfTheText(_ text: String, _ path: String) {
        let error = #expect(throws: JSONError.self) {
            try StrictJSONDecoder(conventions: Self.snake).decode(
                Order.Line.self, from: bytes(text))
        }
        #expect(error?.path == path)
    }

    /// Its conformance asks for all keys of the object.
    enum Event: Codable, Equatable {
        case userID(Int)
        case pagesByURL(count: Int)
        case orderIDs([Int])
        case done
    }

    @Test(arguments: [
        (Event.userID(1), #"{"user_id":{"_0":1}}"#),
        (.pagesByURL(count: 2), #"{"pages_by_url":{"count":2}}"#),
        (.orderIDs([3]), #"{"order_ids":{"_0":[3]}}"#), (.done, #"{"done":{}}"#),
    ])
    func casesWithValuesComeBack(_ event: Event, _ text: String) throws {
        let written = try StrictJSONEncoder(conventions: Self.snake).encode(event)
        #expect(String(decoding: written, as: UTF8.self) == text)
        let decoder = StrictJSONDecoder(conventions: Self.snake)
        #expect(try decoder.decode(Event.self, from: written) == event)
    }

    /// Lists the keys that lead to a member.
    private struct AllKeys: Decodable {
        var names: [String] = []
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            for key in container.allKeys {
                #expect(container.contains(key))
                names.append(key.stringValue)
            }
        }
    }

    @Test(arguments: [
        (#"{"created_at":1,"id":2}"#, ["createdAt", "id"]), (#"{"createdAt":1}"#, []),
        (#"{"a__b":1,"_x_y":2,"x_":3}"#, ["a__b", "_xY", "x_"]), (#"{"item_2":1}"#, ["item_2"]),
        (#"{"user_id":1}"#, ["userId"]), (#"{"a_b_c_d_e_f_g_h":1}"#, ["a_b_c_d_e_f_g_h"]),
    ])
    func allKeysLeadToTheirMembers(_ text: String, _ names: [String]) throws {
        let decoder = StrictJSONDecoder(conventions: Self.snake)
        #expect(try decoder.decode(AllKeys.self, from: bytes(text)).names == names)
    }
}
