#if Configuration
    import Configuration
    import SignetCrypto
    import SignetJSON
    import SignetVault

    extension PublicView {
        /// The value of a key in swift-configuration's form; none where the schema does not have the
        /// key or no input sets it.
        ///
        /// - Throws: `not-public` and `wrong-type`, naming the key and never the value.
        func lookUp(
            _ key: AbsoluteConfigKey, as type: ConfigType
        ) throws(VaultError) -> LookupResult {
            let name = key.components.joined(separator: ".")
            guard let value = try checkedValue(named: name) else {
                return LookupResult(encodedKey: name, value: nil)
            }
            guard let content = ConfigContent(value, as: type) else {
                throw VaultError(
                    .wrongType,
                    "key \(quoted(name)): the value, of type \(value.typed.type.rawValue), "
                        + "cannot be read as \(type.rawValue)")
            }
            return LookupResult(encodedKey: name, value: ConfigValue(content, isSecret: false))
        }
    }

    extension ConfigContent {
        /// A value as the type that is asked for, or nil where it is of another.
        init?(_ value: CheckedValue, as type: ConfigType) {
            let content: ConfigContent? =
                switch type {
                case .string: Self.text(value).map(ConfigContent.string)
                case .int: Self.wholeNumber(value).map(ConfigContent.int)
                case .double: Self.number(value).map(ConfigContent.double)
                case .bool: Bool(value).map(ConfigContent.bool)
                case .bytes: [UInt8](value).map(ConfigContent.bytes)
                case .stringArray: Self.list(value) { $0.string }.map(ConfigContent.stringArray)
                case .intArray:
                    Self.list(value) { $0.number.flatMap(Self.integer) }
                        .map(ConfigContent.intArray)
                case .doubleArray:
                    Self.list(value) { $0.number?.double }.map(ConfigContent.doubleArray)
                case .boolArray: Self.list(value) { $0.bool }.map(ConfigContent.boolArray)
                case .byteChunkArray:
                    Self.list(value) { $0.string.flatMap(Self.bytes) }
                        .map(ConfigContent.byteChunkArray)
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

        private static func list<Element>(
            _ value: CheckedValue, _ element: (JSONValue) -> Element?
        ) -> [Element]? {
            guard case .array(let values) = value.typed else { return nil }
            let elements = values.compactMap(element)
            return elements.count == values.count ? elements : nil
        }

        private static func integer(_ number: JSONNumber) -> Int? {
            number.isInteger ? number.int64.flatMap(Int.init(exactly:)) : nil
        }

        private static func bytes(_ text: String) -> [UInt8]? {
            let encoded = Array(text.utf8)
            return Base64.decode(encoded.span, .standard)
        }
    }
#endif
