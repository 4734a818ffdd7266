import FoundationEssentials
internal import SignetBase
internal import SignetJSON
internal import SignetSystem

/// The values that a program finds out about itself and its machine; see `ConfigurationInput.detected`.
package struct DetectedValues {
    /// Unix seconds.
    let startedAt: Int64?
    let appVersion: String?
    let hostName: String
    let locale: String?
    let operatingSystem: String

    init(appVersion: String?, variables: [String: String]) {
        self.startedAt = Self.processStart()
        self.appVersion = appVersion
        self.hostName = ProcessInfo.processInfo.hostName
        self.locale = Self.locale(in: variables)
        self.operatingSystem = ProcessInfo.processInfo.operatingSystemVersionString
    }

    /// Returns the values that were found, of keys that the schema has.
    func entries(
        for schema: Schema, prefix: String, place: String
    ) -> [ConfigurationInput.Entry] {
        let texts = [
            ("appVersion", appVersion), ("hostName", hostName), ("locale", locale),
            ("operatingSystem", operatingSystem),
        ]
        var values = texts.compactMap { name, text in
            text.flatMap { $0.isEmpty ? nil : (prefix + name, JSONValue.string($0)) }
        }
        if let startedAt {
            let name = prefix + "startedAt"
            let isNumber = schema.rule(named: name)?.type == .integer
            values.append(
                (
                    name,
                    isNumber
                        ? .number(JSONNumber(startedAt)) : .string(UnixTime.rfc3339(startedAt))
                ))
        }
        return values.compactMap { name, value in
            schema.position(of: name).map { _ in
                ConfigurationInput.Entry(name: name, value: value, place: place)
            }
        }
    }

    /// Returns a language tag; nil where no variable names a language.
    package static func locale(in variables: [String: String]) -> String? {
        let set = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { variables[$0] }
        guard
            let name = set.first(where: { !$0.isEmpty })?.prefix(while: { $0 != "." && $0 != "@" })
        else { return nil }
        let tag = String(name.replacing("_", with: "-"))
        let isTag = tag.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"): true
            default: false
            }
        }
        return isTag && (2...35).contains(tag.utf8.count) && tag != "POSIX" ? tag : nil
    }

    private static func processStart() -> Int64? {
        guard let stat = try? InputFile.read("/proc/self/stat", limit: 1 << 16),
            let uptime = try? InputFile.read("/proc/uptime", limit: 1 << 16)
        else { return nil }
        return processStart(
            stat: String(decoding: stat, as: UTF8.self),
            uptime: String(decoding: uptime, as: UTF8.self), now: UnixTime.now())
    }

    /// Reads when a process started (proc(5)).
    ///
    /// - Parameters:
    ///   - stat: The text of `/proc/self/stat`, whose second field may hold spaces and parentheses.
    ///   - uptime: The text of `/proc/uptime`.
    ///   - now: Unix seconds.
    /// - Returns: Unix seconds; nil for texts of another form, or that contradict each other, as in containers
    ///   that make up one of them.
    package static func processStart(stat: String, uptime: String, now: Int64) -> Int64? {
        guard let name = stat.lastIndex(of: ")"),
            let up = uptime.split(separator: " ").first.flatMap({ Double($0) })
        else { return nil }
        let fields = stat[name...].dropFirst().split(separator: " ")
        // Field 22 of all. The kernel counts in hundredths of a second for programs.
        guard fields.count > 19, let ticks = UInt64(fields[19]) else { return nil }
        let age = up - Double(ticks) / 100
        guard age >= -1, age < Double(now) else { return nil }
        return now - Int64(max(0, age))
    }
}
