import HTTPTypes
import SignetJSON
import SignetRPC
import SignetVault

/// The response checks that lists of rules in a configuration can name.
struct NamedChecks {
    private let own: [String: any ResponseCheck]?
    private let businessCode: BusinessCodeCheck?
    /// Whether the service has a business code of its own, which is checked unless a list says
    /// otherwise.
    let hasOwnCode: Bool

    /// - Parameter own: The program's checks; nil accepts every name.
    /// - Throws: `invalid-service` or `invalid-configuration`, naming the key.
    init(_ reader: SettingsReader, own: [String: any ResponseCheck]?) throws(ClientError) {
        self.own = own
        let ownCode = try BusinessCodeCheck(reader)
        self.hasOwnCode = ownCode != nil
        if let ownCode {
            self.businessCode = ownCode
        } else {
            self.businessCode = try BusinessCodeCheck(SettingsReader(reader.configuration))
        }
    }

    /// Reads a list of rules; nil if no input sets it.
    func checks(
        _ key: String, from reader: SettingsReader
    ) throws(ClientError) -> [any ResponseCheck]? {
        guard let names = try reader.read(key, as: [String].self) else { return nil }
        var checks: [any ResponseCheck] = []
        for name in names {
            switch name {
            case "business-code":
                guard let businessCode else {
                    throw reader.invalid(
                        key,
                        reason: "names business-code, but no responseChecks.codeField has a value")
                }
                checks.append(businessCode)
            case "result": checks.append(ResultCheck())
            default:
                let given = own?.first { sameBytes($0.key, name) }?.value
                guard given != nil || own == nil else {
                    let known = ["business-code", "result"] + (own?.keys.sorted() ?? [])
                    throw reader.invalid(
                        key,
                        reason: "names a rule that is not one of \(known.joined(separator: ", "))")
                }
                if let given { checks.append(given) }
            }
        }
        return checks
    }
}

extension ServiceConfiguration {
    /// Reads what holds for calls, and not for the host: conventions of JSON, checks, limits of
    /// methods and scenarios, sets, cookies.
    ///
    /// - Throws: The reader's code, naming the key.
    mutating func readCalls(_ reader: SettingsReader, checks: NamedChecks) throws(ClientError) {
        options.cache = try CachePolicy(reader.below("cache"))
        options.merging = try CallMerging(reader.below("merging"))
        if let dates = try reader.choice("json.dates", of: JSONConventions.Dates.self) {
            options.json = JSONConventions(dates: dates)
        }
        if let keys = try reader.choice("json.keys", of: JSONConventions.Keys.self) {
            options.json = JSONConventions(
                dates: options.json?.dates ?? JSONConventions().dates, keys: keys)
        }
        options.responseChecks = try checks.checks("responseChecks.rules", from: reader)
        if options.responseChecks == nil, checks.hasOwnCode {
            options.responseChecks = try BusinessCodeCheck(reader).map { [$0] }
        }
        if let size = try reader.positive("responseChecks.maximumBytes") {
            options.maximumResponseSize = size
        }
        for (name, reader) in try reader.named("methods", settings: RequestOptions.settings) {
            methods[RPCMethod(name)] = try RequestOptions(reader, checks: checks)
        }
        for (name, reader) in try reader.named("scenarios", settings: RequestOptions.settings) {
            scenarios[Scenario(name)] = try RequestOptions(reader, checks: checks)
        }
        for (name, reader) in try reader.named("sets", settings: ["fields", "parameters"]) {
            sets[name] = RequestDefaults(
                fields: try reader.fields("fields") ?? [:],
                parameters: try reader.read("parameters", as: JSONObject.self) ?? [:])
        }
        options.waitsForConnectivity = try reader.read("waitsForConnectivity", as: Bool.self)
        if let maximum = try reader.positive("maximumCalls") { maximumCalls = maximum }
        defaultSets = try reader.read("defaultSets", as: [String].self) ?? defaultSets
        if try reader.read("cookies", as: Bool.self) == true { cookies = CookieStore() }
    }
}

extension RequestOptions {
    /// The settings that a method or a scenario of a service can have in a configuration.
    fileprivate static let settings = [
        "timeout", "attempts", "responseChecks", "cache", "cacheAge",
    ]

    fileprivate init(_ reader: SettingsReader, checks: NamedChecks) throws(ClientError) {
        self.init()
        timeout = try reader.positiveDuration("timeout")
        attempts = try reader.number("attempts", in: 1...10)
        responseChecks = try checks.checks("responseChecks", from: reader)
        cache = try CachePolicy(reader, rule: "cache", age: "cacheAge")
    }
}

extension SettingsReader {
    /// Returns the reader of the keys of a service's host in a mode: those below the mode's name if
    /// there is a `baseURL`, else these. A host's settings come all from one place.
    ///
    /// - Throws: The reader's code for a setting of an environment that has no `baseURL`.
    func ofHost(in mode: RunMode) throws(ClientError) -> SettingsReader {
        guard mode != .production else { return self }
        let environment = below(mode.rawValue)
        guard let stray = environment.names().first else { return self }
        guard environment.names().contains("baseURL") else {
            throw environment.invalid(
                stray, reason: "has a value without \(environment.prefix)baseURL")
        }
        return environment
    }

    /// Returns the names that keys `WORD.NAME.SETTING` have, each with the reader of its settings.
    /// A name may hold dots.
    ///
    /// - Throws: The reader's code for another setting.
    fileprivate func named(
        _ word: String, settings: [String]
    ) throws(ClientError) -> [(name: String, reader: SettingsReader)] {
        let all = below(word)
        var names: [String] = []
        for key in all.names() {
            let parts = key.split(separator: ".", omittingEmptySubsequences: false)
            guard let setting = parts.last, parts.count > 1, settings.contains(String(setting))
            else {
                throw all.invalid(
                    key, reason: "is not one of NAME.\(settings.joined(separator: ", NAME."))")
            }
            let name = parts.dropLast().joined(separator: ".")
            if !names.contains(name) { names.append(name) }
        }
        return names.map { (name: $0, reader: all.below($0)) }
    }

    /// A value out of a list of texts, or nil if no input sets it.
    func choice<Value: RawRepresentable & CaseIterable>(
        _ name: String, of type: Value.Type
    ) throws(ClientError) -> Value? where Value.RawValue == String {
        guard let text = try read(name, as: String.self) else { return nil }
        guard let value = Value(rawValue: text) else {
            let all = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw invalid(name, reason: "is not one of \(all)")
        }
        return value
    }

    /// An object of HTTP fields, or nil if no input sets it.
    func fields(_ name: String) throws(ClientError) -> HTTPFields? {
        guard let object = try read(name, as: JSONObject.self) else { return nil }
        var fields = HTTPFields()
        for (field, value) in object {
            guard let field = HTTPField.Name(field), let text = value.string,
                HTTPField.isValidValue(text)
            else { throw invalid(name, reason: "contains an invalid HTTP field") }
            fields.append(HTTPField(name: field, value: text))
        }
        return fields
    }
}
