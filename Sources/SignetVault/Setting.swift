import SignetBase

/// A key's values, at most one for each origin. The highest origin wins.
typealias Setting = [ConfigurationOrigin: CheckedValue]

extension Setting {
    /// The value of the highest origin.
    var winner: (value: CheckedValue, origin: ConfigurationOrigin)? {
        for origin in ConfigurationOrigin.allCases.reversed() {
            if let value = self[origin] { return (value, origin) }
        }
        return nil
    }
}

/// A public key that the program reads, and that every later configuration must have.
struct RequiredKey: Sendable {
    let check: @Sendable (PublicView) throws(VaultError) -> Void
    private let name: ByteName
    private let type: ObjectIdentifier

    init<Value>(_ key: ConfigurationKey<Value, PublicValue>) {
        name = ByteName(key.name)
        type = ObjectIdentifier(Value.self)
        check = { view throws(VaultError) in _ = try view.value(for: key) }
    }

    /// Returns whether both require the same key as the same type.
    func isSame(as other: RequiredKey) -> Bool { name == other.name && type == other.type }

    static func all<each Value: ConfigurationValue>(
        _ keys: repeat ConfigurationKey<each Value, PublicValue>
    ) -> [RequiredKey] {
        var all: [RequiredKey] = []
        repeat all.append(RequiredKey(each keys))
        return all
    }
}
