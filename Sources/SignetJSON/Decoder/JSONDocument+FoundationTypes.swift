import FoundationEssentials
import SignetBase

extension JSONDocument {
    /// Decodes a value of one of Foundation's types.
    @inline(never)
    func foundationValue<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
        if type == Decimal.self, let value = try decimal(at: index) as? Value { return value }
        if type == URL.self, let value = try url(at: index) as? Value { return value }
        if type == Data.self, let value = try data(at: index) as? Value { return value }
        if type == Date.self, let value = try date(at: index) as? Value { return value }
        return try Value(from: ValueDecoder(document: self, index: index))
    }

    private func decimal(at index: Int) throws(JSONError) -> Decimal {
        guard kind(at: index) == .number else { throw mismatch("a number", at: index) }
        guard let value = reader.number(at: index).decimal else {
            throw error(.outOfRange, "found a number that Decimal does not hold exactly", at: index)
        }
        return value
    }

    private func url(at index: Int) throws(JSONError) -> URL {
        let text = try string(at: index)
        guard let value = URL(string: text, encodingInvalidCharacters: false) else {
            throw error(
                .typeMismatch, "found a string that is not a URL, expected a URL", at: index)
        }
        return value
    }

    private func data(at index: Int) throws(JSONError) -> Data {
        let text = try string(at: index)
        // Foundation's decoder is lax, so compare the text with what its encoder writes.
        guard let value = Data(base64Encoded: text), sameBytes(value.base64EncodedString(), text)
        else {
            throw error(
                .typeMismatch, "found a string that is not base64, expected base64", at: index)
        }
        return value
    }
}
