internal import SignetBase

/// A key's values, at most one for each origin. The highest origin wins.
struct Setting: Sendable {
    private var defaults: CheckedValue?
    private var launch: CheckedValue?
    private var fetched: CheckedValue?

    /// The value of one origin, which a higher one may override.
    subscript(origin: ConfigurationOrigin) -> CheckedValue? {
        get {
            switch origin {
            case .defaults: defaults
            case .launch: launch
            case .fetched: fetched
            }
        }
        set {
            switch origin {
            case .defaults: defaults = newValue
            case .launch: launch = newValue
            case .fetched: fetched = newValue
            }
        }
    }

    /// The value of the highest origin.
    var winner: (value: CheckedValue, origin: ConfigurationOrigin)? {
        if let fetched { return (fetched, .fetched) }
        if let launch { return (launch, .launch) }
        return defaults.map { ($0, .defaults) }
    }
}

/// A public key that the program reads, and that every later configuration must have.
struct RequiredKey: Sendable {
    let check: @Sendable (PublicView) throws(VaultError) -> Void
    private let name: ByteName
    private let type: ObjectIdentifier

    init<Value>(_ key: ConfigurationKey<Value, Public>) {
        name = ByteName(key.name)
        type = ObjectIdentifier(Value.self)
        check = { view throws(VaultError) in _ = try view.value(for: key) }
    }

    /// Returns whether both require the same key as the same type.
    func isSame(as other: RequiredKey) -> Bool { name == other.name && type == other.type }

    static func all<each Value: ConfigurationValue>(
        _ keys: repeat ConfigurationKey<each Value, Public>
    ) -> [RequiredKey] {
        var all: [RequiredKey] = []
        repeat all.append(RequiredKey(each keys))
        return all
    }
}
