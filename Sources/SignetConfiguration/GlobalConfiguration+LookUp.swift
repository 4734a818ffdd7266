#if Configuration
import Configuration
import SignetBase
import SignetCrypto
import SignetJSON
import SignetVault

extension GlobalConfiguration {
    /// Returns a key's value as swift-configuration expects it. The result has no value if the
    /// schema lacks the key, or if no input sets it. The value of a secret key is marked as
    /// secret.
    ///
    /// - Throws: `VaultError` with `not-public`, unless `sharesSecrets` is true, or
    ///   `wrong-type`. It names the key, never the value.
    func lookUp(
        _ key: AbsoluteConfigKey, as type: ConfigType, sharesSecrets: Bool
    ) throws(VaultError) -> LookupResult {
        let name = key.components.joined(separator: ".")
        let isSecret = schema.rule(named: name)?.isPublic == false
        let found =
            sharesSecrets && isSecret
            ? checkedSecret(named: name) : try self.public.checkedValue(named: name)
        guard let (value, valueType) = found else {
            return LookupResult(encodedKey: name, value: nil)
        }
        guard let content = ConfigContent(value, as: type) else {
            throw VaultError(
                .wrongType,
                "key \(quoted(name)): the value, of type \(valueType.rawValue), "
                    + "cannot be read as \(type.rawValue)")
        }
        return LookupResult(encodedKey: name, value: ConfigValue(content, isSecret: isSecret))
    }

    private func checkedSecret(named name: String) -> (value: CheckedValue, type: ValueType)? {
        guard let rule = schema.rule(named: name), let value = value(named: name)
        else { return nil }
        return (value, rule.type)
    }
}

extension ConfigContent {
    /// Converts a value to the requested type, or returns nil if it has another type.
    init?(_ value: CheckedValue, as type: ConfigType) {
        let content: ConfigContent? =
            switch type {
            case .string: Self.text(value).map(ConfigContent.string)
            case .int: Self.wholeNumber(value).map(ConfigContent.int)
            case .double: Self.number(value).map(ConfigContent.double)
            case .bool: Bool(value).map(ConfigContent.bool)
            case .bytes: [UInt8](value).map(ConfigContent.bytes)
            case .stringArray: [String](value).map(ConfigContent.stringArray)
            case .intArray: [Int](value).map(ConfigContent.intArray)
            case .doubleArray: [Double](value).map(ConfigContent.doubleArray)
            case .boolArray: [Bool](value).map(ConfigContent.boolArray)
            case .byteChunkArray:
                Self.byteChunks(value).map(ConfigContent.byteChunkArray)
            }
        guard let content else { return nil }
        self = content
    }

    private static func text(_ value: CheckedValue) -> String? {
        switch value.typed {
        case .string, .url: String(value)
        case .array, .object: value.json.text
        default: nil
        }
    }

    private static func wholeNumber(_ value: CheckedValue) -> Int? {
        guard let (seconds, attoseconds) = Duration(value)?.components else {
            return Int(value)
        }
        return attoseconds == 0 ? Int(exactly: seconds) : nil
    }

    private static func number(_ value: CheckedValue) -> Double? {
        Duration(value).map { $0 / .seconds(1) } ?? Double(value)
    }

    /// Returns a list of byte strings: `bytes` by the schema, or base64 if the elements have no
    /// rule.
    private static func byteChunks(_ value: CheckedValue) -> [[UInt8]]? {
        if let chunks = [[UInt8]](value) { return chunks }
        guard let texts = [String](value) else { return nil }
        let chunks = texts.compactMap(bytes)
        return chunks.count == texts.count ? chunks : nil
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        let encoded = Array(text.utf8)
        return Base64.decode(encoded.span, from: .standard)
    }
}
#endif
