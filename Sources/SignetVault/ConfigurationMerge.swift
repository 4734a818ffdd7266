import SignetBase
import SignetJSON

/// The values of each key and origin while inputs are merged, and the problems that were found.
struct ConfigurationMerge {
    let schema: Schema
    /// One setting for each rule of the schema.
    private(set) var settings: [Setting]
    private(set) var problems: [VaultError] = []

    /// Creates a merge without values, or with the settings of a configuration.
    init(schema: Schema, settings: [Setting]? = nil) {
        self.schema = schema
        self.settings = settings ?? Array(repeating: [:], count: schema.rules.count)
    }

    /// Adds the checked values of an input, and its problems.
    mutating func add(_ input: ConfigurationInput, from origin: ConfigurationOrigin) {
        var reader = InputReader(schema: schema, place: origin.rawValue)
        reader.read(input)
        problems += reader.problems
        for entry in reader.entries { set(entry, from: origin) }
    }

    /// Checks a value and sets it, or adds the problem.
    mutating func set(_ entry: ConfigurationInput.Entry, from origin: ConfigurationOrigin) {
        do throws(VaultError) {
            let checked = try schema.checked(entry, from: origin)
            settings[checked.index][origin] = checked.value
        } catch {
            problems.append(error)
        }
    }

    /// Removes an origin's value of a key, or adds the problem.
    mutating func remove(_ entry: ConfigurationInput.Entry, from origin: ConfigurationOrigin) {
        do throws(VaultError) {
            settings[try schema.position(of: entry, from: origin)][origin] = nil
        } catch {
            problems.append(error)
        }
    }

    /// Removes all values of an origin.
    mutating func removeAll(from origin: ConfigurationOrigin) {
        for index in settings.indices { settings[index][origin] = nil }
    }
}

extension Schema {
    /// Checks a value of an input or an opened dump against its key's rule.
    func checked(
        _ entry: ConfigurationInput.Entry, from origin: ConfigurationOrigin
    ) throws(VaultError) -> (index: Int, value: CheckedValue) {
        let index = try position(of: entry, from: origin)
        let typed = try rules[index].checked(entry.value, from: entry.place)
        return (index, CheckedValue(typed: typed, json: entry.value))
    }

    /// Returns the position of a key in the schema, if the origin may set the key.
    fileprivate func position(
        of entry: ConfigurationInput.Entry, from origin: ConfigurationOrigin
    ) throws(VaultError) -> Int {
        guard let index = position(of: entry.name) else {
            throw .unknown(entry.name, in: entry.place)
        }
        let setBy = rules[index].setBy
        guard setBy.contains(origin) else {
            let allowed = ConfigurationOrigin.allCases.filter(setBy.contains)
                .map(\.rawValue).joined(separator: ", ")
            throw VaultError(
                .sourceNotAllowed,
                "\(quoted(entry.name)) in \(entry.place): the schema lets only \(allowed) set it"
                    + (rules[index].namesOrigins
                        ? ""
                        : "; a key that chooses servers, signatures or requests needs "
                            + "\"fetched\" in its \"setBy\""),
                key: entry.name)
        }
        return index
    }

    /// Returns the values that won and their origins, in the order of the schema.
    func winners(
        of settings: [Setting], where isIncluded: (KeyRule) -> Bool = { _ in true }
    ) -> (values: JSONObject, origins: JSONObject) {
        var values = JSONObject()
        var origins = JSONObject()
        for (rule, setting) in zip(rules, settings) where isIncluded(rule) {
            guard let winner = setting.winner else { continue }
            values[rule.name] = winner.value.json
            origins[rule.name] = .string(winner.origin.rawValue)
        }
        return (values, origins)
    }
}
