import SignetJSON

/// The texts inside a secret value of a configuration.
enum SecretLeaves {
    /// Returns the texts and numbers in a value, as bytes. Booleans and null aren't secret.
    static func of(_ value: JSONValue) -> [[UInt8]] {
        switch value {
        case .null, .bool: []
        case .number(let number): [Array(number.text.utf8)]
        case .string(let text): [Array(text.utf8)]
        case .array(let elements): elements.flatMap(of)
        case .object(let members): members.flatMap { of($0.value) }
        }
    }
}
