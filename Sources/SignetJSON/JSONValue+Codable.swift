extension JSONNumber: Codable {
    /// Decodes a number. `StrictJSONDecoder` keeps its text, another decoder only its value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let decoder = decoder as? ValueDecoder {
            let document = decoder.document
            guard document.kind(at: decoder.index) == .number else {
                throw document.mismatch("a number", at: decoder.index)
            }
            self = document.reader.number(at: decoder.index)
        } else if let value = try? container.decode(Int64.self) {
            self.init(value)
        } else if let value = try? container.decode(UInt64.self) {
            self.init(value)
        } else if let value = JSONNumber(try container.decode(Double.self)) {
            self = value
        } else {
            throw JSONError(.notFinite, "found a number that is not finite")
        }
    }

    /// Encodes a number. `StrictJSONEncoder` writes its text, another encoder its value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let encoder = encoder as? ValueEncoder {
            try encoder.encode(self)
        } else if let value = int64 {
            try container.encode(value)
        } else if let value = uint64 {
            try container.encode(value)
        } else if let value = double {
            try container.encode(value)
        } else {
            throw JSONError(.notFinite, "found a number without a finite Double")
        }
    }
}

extension JSONValue: Codable {
    /// Decodes any value. With `StrictJSONDecoder`, numbers keep their texts.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? ValueDecoder {
            var index = decoder.index
            self = decoder.document.reader.value(at: &index)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(JSONNumber.self) {
            self = .number(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            let members = try container.decode([String: JSONValue].self)
            self = .object(JSONObject(members.lazy.map { (name: $0.key, value: $0.value) }))
        }
    }

    /// Encodes the value. With `StrictJSONEncoder`, numbers keep their texts.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case _ where encoder is ValueEncoder: try container.encode(self)
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let object):
            var members = encoder.container(keyedBy: AnyCodingKey.self)
            for (name, value) in object {
                try members.encode(value, forKey: AnyCodingKey(stringValue: name))
            }
        }
    }
}
